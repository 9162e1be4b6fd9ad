//! Tickets: an address of one output, or of a session as a file, that opens it for our own page, for a minute, and nothing else.

use std::fs;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::{Browser, Lines, bearer};
use crate::mcp::Client;
use crate::outputs::{listed, session_in, showing};
use crate::support::{OutputRoom, World};

const HTML: &str = "<script>alert(1)</script>";

/// A session that showed a text, and the text's id.
async fn shown(world: &World) -> (String, String, Client) {
    let (session, cwd, agent) = showing(world).await;
    fs::write(cwd.join("seite 1.html"), HTML).unwrap();
    agent.call("render_file_contents", json!({ "path": "seite 1.html" })).await;
    let id = listed(world, &session).await[0]["id"].as_str().unwrap().to_owned();
    (session, id, agent)
}

async fn ticket(world: &World, browser: &Browser, session: &str, output: &str) -> Value {
    let request = format!("POST /api/v1/sessions/{session}/outputs/{output}/ticket");
    world.call_as(world.page_lines(browser), &request, None).await.ok(201)
}

/// What a browser sends for an element of our own page.
fn fetched_for(destination: &str, browser: &Browser) -> Lines {
    [("cookie", browser.cookie.as_str()), ("sec-fetch-site", "same-origin"), ("sec-fetch-dest", destination)]
        .map(|(name, value)| (name, value.to_owned()))
        .into()
}

#[tokio::test]
async fn a_ticket_opens_one_output_for_the_page_alone() {
    let world = World::open().await;
    let (session, id, _agent) = shown(&world).await;
    let browser = world.sign_in().await;
    let offered = ticket(&world, &browser, &session, &id).await;
    let url = offered["url"].as_str().unwrap();
    assert!(url.len() > "/api/v1/tickets/".len() + 32 && offered["expiresAt"].is_string(), "{offered}");
    assert!(!url.contains(&session) && !url.contains(&id), "{url}");

    for destination in ["image", "document", "iframe", "empty"] {
        let answer = world.call_as(fetched_for(destination, &browser), &format!("GET {url}"), None).await;
        assert_eq!((answer.status, answer.text().as_str()), (200, HTML), "{destination}");
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let policy = "default-src 'none'; sandbox; frame-ancestors 'self'";
        assert_eq!(answer.header("content-security-policy"), Some(policy));
        let named = format!("inline; filename=\"{id}.txt\"; filename*=UTF-8''seite%201.html");
        assert_eq!(answer.header("content-disposition"), Some(named.as_str()));
    }
    // A program that has the address needs nothing else; a range and a head are read too.
    let range: Lines = vec![("range", "bytes=1-6".to_owned())];
    let part = world.call_as(range, &format!("GET {url}"), None).await;
    assert_eq!((part.status, part.text().as_str()), (206, "script"));
    assert_eq!(world.call_as(vec![], &format!("HEAD {url}"), None).await.status, 200);

    // Other sites, other uses, other methods, other names.
    let refused = async |lines: &[(&'static str, &str)], request: &str| {
        let lines = lines.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        world.call_as(lines, request, None).await.summary()
    };
    let get = format!("GET {url}");
    for site in ["cross-site", "same-site", "none"] {
        assert_eq!(refused(&[("sec-fetch-site", site), ("sec-fetch-dest", "image")], &get).await, "403 cross_site");
    }
    for destination in ["script", "style", "worker", "serviceworker", "object", "embed", "font", "manifest"] {
        let lines = [("sec-fetch-site", "same-origin"), ("sec-fetch-dest", destination)];
        assert_eq!(refused(&lines, &get).await, "403 cross_site", "{destination}");
    }
    assert_eq!(refused(&[("host", "evil.example")], &get).await, "403 host_not_allowed");
    assert_eq!(refused(&[("origin", "http://evil.example")], &get).await, "403 origin_not_allowed");
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        assert_eq!(refused(&[], &format!("{method} {url}")).await, "405 method_not_allowed");
    }
    assert_eq!(refused(&[], &format!("GET {url}0")).await, "404 ticket_not_found");
    assert_eq!(refused(&[], &format!("GET {}", &url[..url.len() - 1])).await, "404 ticket_not_found");
    // It is a credential for nothing else.
    let secret = url.rsplit('/').next().unwrap();
    let answer = world.call_as(bearer(secret), &format!("GET /api/v1/sessions/{session}"), None).await;
    assert_eq!(answer.summary(), "401 unauthenticated");
    world.close().await;
}

#[tokio::test]
async fn a_ticket_is_made_for_who_may_read_and_ends_with_the_credential() {
    let world = World::open().await;
    let (session, id, _agent) = shown(&world).await;
    let request = format!("POST /api/v1/sessions/{session}/outputs/{id}/ticket");
    let (other, _) = session_in(&world).await;
    let stranger = world.agent_token(&other).await;
    assert_eq!(world.call_as(bearer(&stranger), &request, None).await.summary(), "404 session_not_found");
    let elsewhere = format!("POST /api/v1/sessions/{other}/outputs/{id}/ticket");
    assert_eq!(world.call(&elsewhere, None).await.summary(), "404 output_not_found");
    assert_eq!(world.call_as(vec![], &request, None).await.summary(), "401 unauthenticated");
    let browser = world.sign_in().await;
    // Neither half of a browser's credential is enough.
    let cookie: Lines =
        world.page_lines(&browser).into_iter().filter(|(name, _)| *name != "x-throughline-proof").collect();
    assert_eq!(world.call_as(cookie, &request, None).await.summary(), "401 proof_missing");

    let url = ticket(&world, &browser, &session, &id).await["url"].as_str().unwrap().to_owned();
    let mine = world.call(&request, None).await.ok(201)["url"].as_str().unwrap().to_owned();
    let tokens = world.call("GET /api/v1/tokens", None).await.ok(200);
    let own = tokens["tokens"].as_array().unwrap().iter().find(|token| token["kind"] == "browser").unwrap();
    world.call(&format!("DELETE /api/v1/tokens/{}", own["id"].as_str().unwrap()), None).await.ok(204);
    assert_eq!(world.call_as(vec![], &format!("GET {url}"), None).await.summary(), "404 ticket_not_found");
    assert_eq!(world.call_as(vec![], &format!("GET {mine}"), None).await.status, 200);

    // With the output goes what its ticket opens, and none is made for bytes that are gone.
    world.call(&format!("DELETE /api/v1/sessions/{session}/outputs/{id}"), None).await.ok(204);
    assert_eq!(world.call_as(vec![], &format!("GET {mine}"), None).await.summary(), "404 output_not_found");
    assert_eq!(world.call(&request, None).await.summary(), "404 output_not_found");
    world.close().await;
}

/// A reader that takes its time gets no more once its credential is revoked.
#[tokio::test]
async fn a_download_ends_with_the_credential() {
    // More than the buffers between the two hold.
    const BYTES: u64 = 24 << 20;
    let room = OutputRoom { max_bytes: BYTES, session_bytes: BYTES, ..OutputRoom::default() };
    let world = World::with_room(room).await;
    let (session, cwd, agent) = showing(&world).await;
    fs::write(cwd.join("long.txt"), vec![b'x'; BYTES as usize]).unwrap();
    agent.call("render_file_contents", json!({ "path": "long.txt" })).await;
    let id = listed(&world, &session).await[0]["id"].as_str().unwrap().to_owned();
    let browser = world.sign_in().await;
    let url = ticket(&world, &browser, &session, &id).await["url"].as_str().unwrap().to_owned();
    let host = world.origin().replace("http://", "");
    let mut slow = TcpStream::connect(&host).await.unwrap();
    slow.write_all(format!("GET {url} HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes()).await.unwrap();
    let mut start = [0; 1_000];
    slow.read_exact(&mut start).await.unwrap();
    assert!(start.starts_with(b"HTTP/1.1 200"));

    let tokens = world.call("GET /api/v1/tokens", None).await.ok(200);
    let own = tokens["tokens"].as_array().unwrap().iter().find(|token| token["kind"] == "browser").unwrap();
    world.call(&format!("DELETE /api/v1/tokens/{}", own["id"].as_str().unwrap()), None).await.ok(204);
    let mut rest = Vec::new();
    // Whether it ends or breaks off: what was on its way is all that comes.
    drop(slow.read_to_end(&mut rest).await);
    assert!(((start.len() + rest.len()) as u64) < BYTES, "{} bytes came", rest.len());
    world.close().await;
}

#[tokio::test]
async fn a_session_is_saved_by_the_address_of_a_ticket() {
    let world = World::open().await;
    let (session, _, _agent) = shown(&world).await;
    let browser = world.sign_in().await;
    let wish = |session: &str, kind: &str| format!("POST /api/v1/sessions/{session}/export/ticket?as={kind}");
    let offered = async |kind: &str| {
        let offered = world.call_as(world.page_lines(&browser), &wish(&session, kind), None).await.ok(201);
        assert!(offered["expiresAt"].is_string(), "{offered}");
        offered["url"].as_str().unwrap().to_owned()
    };
    for kind in ["markdown", "html", "bundle"] {
        let url = offered(kind).await;
        assert!(url.starts_with("/api/v1/tickets/") && !url.contains(&session), "{url}");
        let expected = world.get(&format!("/api/v1/sessions/{session}/export?as={kind}")).await;
        let answer = world.call_as(fetched_for("empty", &browser), &format!("GET {url}"), None).await;
        assert_eq!((answer.status, &answer.body), (200, &expected.body), "{kind}");
        for name in ["content-type", "content-disposition", "content-security-policy", "x-content-type-options"] {
            assert!(answer.header(name).is_some(), "{name}");
            assert_eq!(answer.header(name), expected.header(name), "{kind}: {name}");
        }
        assert!(answer.header("content-disposition").unwrap().starts_with("attachment; "));
        let elsewhere: Lines =
            vec![("sec-fetch-site", "cross-site".to_owned()), ("sec-fetch-dest", "empty".to_owned())];
        assert_eq!(world.call_as(elsewhere, &format!("GET {url}"), None).await.summary(), "403 cross_site");
        for method in ["POST", "PUT", "DELETE", "PATCH"] {
            let answer = world.call_as(vec![], &format!("{method} {url}"), None).await;
            assert_eq!(answer.summary(), "405 method_not_allowed");
        }
    }

    // It is made for whoever may read the session, of a sort that there is, and not under a key.
    let (other, _) = session_in(&world).await;
    let stranger = world.agent_token(&other).await;
    let refused = world.call_as(bearer(&stranger), &wish(&session, "html"), None).await;
    assert_eq!(refused.summary(), "404 session_not_found");
    assert_eq!(world.call_as(vec![], &wish(&session, "html"), None).await.summary(), "401 unauthenticated");
    assert_eq!(world.call(&wish(&session, "pdf"), None).await.summary(), "400 invalid_query");
    let nobody = "0190a8c0-0000-7000-8000-0000000000ff";
    assert_eq!(world.call(&wish(nobody, "html"), None).await.summary(), "404 session_not_found");

    // It ends with the credential.
    let url = offered("bundle").await;
    let tokens = world.call("GET /api/v1/tokens", None).await.ok(200);
    let own = tokens["tokens"].as_array().unwrap().iter().find(|token| token["kind"] == "browser").unwrap();
    world.call(&format!("DELETE /api/v1/tokens/{}", own["id"].as_str().unwrap()), None).await.ok(204);
    assert_eq!(world.call_as(vec![], &format!("GET {url}"), None).await.summary(), "404 ticket_not_found");
    world.close().await;
}

#[tokio::test]
async fn no_ticket_is_made_for_bytes_that_are_gone() {
    let world = World::open().await;
    let (session, id, _agent) = shown(&world).await;
    let folder = world.directory.path().join("sessions").join(&session).join("outputs");
    fs::remove_file(folder.join(format!("{id}.txt"))).unwrap();
    let request = format!("POST /api/v1/sessions/{session}/outputs/{id}/ticket");
    assert_eq!(world.call(&request, None).await.summary(), "410 output_gone");
    world.close().await;
}
