//! `/auth/exchange` and `/whoami`: a one-time code becomes a cookie and a proof, and only both together open anything.

use futures_util::future::join_all;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::client::{Lines, Live, bearer};
use crate::openapi;
use crate::support::{CWD, INCARNATION, Way, World, within};

#[tokio::test]
async fn a_code_becomes_a_cookie_and_a_proof_once() {
    let world = World::open().await;
    let link = world.call("POST /api/v1/tokens/link", None).await.ok(201);
    let link = link["url"].as_str().unwrap();
    let (page, code) = link.split_once("/#code=").unwrap();
    assert_eq!(page, world.origin());
    let exchange = |code: &str| world.call_as(vec![], "POST /api/v1/auth/exchange", json!({ "code": code }));
    let answer = exchange(code).await;
    let proof = answer.ok(200);
    assert_eq!(proof.as_object().unwrap().keys().collect::<Vec<_>>(), ["proof"]);
    let cookie = answer.header("set-cookie").unwrap();
    let (pair, rest) = cookie.split_once("; ").unwrap();
    let (name, value) = pair.split_once('=').unwrap();
    assert_eq!(name, format!("throughline-{INCARNATION}"), "two servers on one host keep their cookies apart");
    assert_eq!(rest, "Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000");
    assert!(value.len() == 64 && proof["proof"].as_str().unwrap().len() == 64);
    assert_ne!(value, proof["proof"].as_str().unwrap());

    assert_eq!(exchange(code).await.summary(), "401 invalid_code");
    for wrong in ["", "x", &code.to_uppercase(), &code[1..], &world.token] {
        assert_eq!(exchange(wrong).await.summary(), "401 invalid_code");
    }
    world.close().await;
}

/// A browser that is signed in has no use for the code that led it here, and nobody else shall have.
#[tokio::test]
async fn a_discarded_code_opens_nothing() {
    let world = World::open().await;
    let code = world.engine.offer_code();
    let exchange = |discard: bool| {
        let body = json!({ "code": code.expose(), "discard": discard });
        world.call_as(vec![], "POST /api/v1/auth/exchange", body)
    };
    let before = world.position().await;
    let answer = exchange(true).await;
    assert_eq!((answer.summary().as_str(), answer.header("set-cookie")), ("204", None));
    for discard in [false, true] {
        assert_eq!(exchange(discard).await.summary(), "401 invalid_code");
    }
    assert_eq!(world.position().await, before, "no credential came of it");
    world.close().await;
}

/// T06: over TLS the cookie's name keeps every neighbour from planting one.
#[tokio::test]
async fn over_tls_the_cookie_is_bound_to_its_host() {
    let world = World::secure().await;
    let code = json!({ "code": world.engine.offer_code().expose() });
    let answer = world.call_as(vec![], "POST /api/v1/auth/exchange", code).await;
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with(&format!("__Host-throughline-{INCARNATION}=")), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000; Secure"), "{cookie}");
    let browser = world.sign_in().await;
    world.call_as(world.page_lines(&browser), "GET /api/v1/whoami", None).await.ok(200);
    world.close().await;
}

/// T11: used and checked in one step.
#[tokio::test(flavor = "multi_thread")]
async fn of_twenty_that_use_one_code_at_once_one_gets_in() {
    let world = World::on_disk().await;
    let code = json!({ "code": world.engine.offer_code().expose() });
    let exchanges = (0..20).map(|_| world.call_as(vec![], "POST /api/v1/auth/exchange", code.clone()));
    let answers = join_all(exchanges).await;
    let mut summaries: Vec<String> = answers.iter().map(crate::client::Answer::summary).collect();
    summaries.sort();
    assert_eq!(summaries[0], "200");
    assert_eq!(summaries[1..], vec!["401 invalid_code"; 19]);
    let tokens = world.get("/api/v1/tokens").await.ok(200);
    let browsers = tokens["tokens"].as_array().unwrap().iter().filter(|token| token["kind"] == "browser").count();
    assert_eq!(browsers, 1);
    world.close().await;
}

#[tokio::test]
async fn whoever_asks_learns_who_it_is() {
    let world = World::open().await;
    let session = world.session().await;
    let who = |role: &str, session: Option<&str>, directory: Option<&str>| {
        let version = env!("CARGO_PKG_VERSION");
        json!({
            "role": role, "session": session, "version": version, "incarnation": INCARNATION, "directory": directory,
            "tourDirectory": directory,
        })
    };
    assert_eq!(world.get("/api/v1/whoami").await.ok(200), who("person", None, Some(CWD)));
    let browser = world.sign_in().await;
    let answer = world.call_as(world.page_lines(&browser), "GET /api/v1/whoami", None).await;
    assert_eq!(answer.ok(200), who("person", None, Some(CWD)));
    let agent = bearer(&world.agent_token(&session).await);
    let answer = world.call_as(agent, "GET /api/v1/whoami", None).await;
    assert_eq!(answer.ok(200), who("agent", Some(&session), None));
    world.close().await;
}

/// A browser stays signed in over a restart; a code does not outlive its server.
#[tokio::test]
async fn a_browser_stays_signed_in_over_a_restart() {
    let world = World::on_disk().await;
    let browser = world.sign_in().await;
    let code = world.engine.offer_code();
    let world = world.restart().await;
    world.call_as(world.page_lines(&browser), "GET /api/v1/whoami", None).await.ok(200);
    let exchange = world.call_as(vec![], "POST /api/v1/auth/exchange", json!({ "code": code.expose() })).await;
    assert_eq!(exchange.summary(), "401 invalid_code");
    world.close().await;
}

/// What the browser would send to `http://127.0.0.1:{port}/`, as the program there reads it.
async fn visit_another_port(cookie: &str) -> Lines {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let browser = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // Cookies know hosts and no ports; SameSite counts both ports as one site.
        let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
    };
    let program = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = String::new();
        stream.read_to_string(&mut request).await.unwrap();
        request
    };
    let ((), request) = within("the visit", async { tokio::join!(browser, program) }).await;
    let stolen = request.lines().find_map(|line| line.strip_prefix("Cookie: ")).unwrap();
    vec![("cookie", stolen.to_owned())]
}

/// An agent starts a program on another port of the same host, and the person visits it. The program now holds the
/// cookie and can send us any header it likes. It must get nowhere, for the proof never leaves our page's origin.
#[tokio::test]
async fn a_cookie_seen_by_another_port_opens_nothing() {
    let world = World::open().await;
    let session = world.session().await;
    let browser = world.sign_in().await;
    let stolen = visit_another_port(&browser.cookie).await;
    let before = world.position().await;
    let origins = [None, Some(world.origin()), Some("null".to_owned()), Some("http://127.0.0.1:1".to_owned())];
    let sites = [None, Some("same-origin"), Some("none"), Some("same-site"), Some("cross-site")];
    let proofs = [None, Some("0".repeat(64)), Some(browser.cookie.split_once('=').unwrap().1.to_owned())];
    for (origin, site, proof) in origins
        .iter()
        .flat_map(|origin| sites.iter().flat_map(move |site| [0, 1, 2].map(|index| (origin.clone(), *site, index))))
    {
        let mut lines = stolen.clone();
        lines.extend(origin.clone().map(|origin| ("origin", origin)));
        lines.extend(site.map(|site| ("sec-fetch-site", site.to_owned())));
        lines.extend(proofs[proof].clone().map(|proof| ("x-throughline-proof", proof)));
        let what = format!("{origin:?} {site:?} proof {proof}");
        for (method, path, body) in openapi::routes() {
            // A ticket needs no cookie; it is one itself.
            if path.ends_with("/auth/exchange") || path.contains("/tickets/") {
                continue;
            }
            let path = path.replace("{id}", &session).replace("{interaction}", &session);
            let answer = world.call_as(lines.clone(), &format!("{method} {path}"), body).await;
            assert!([401, 403].contains(&answer.status), "{what}: {method} {path}: {}", answer.summary());
        }
        // The socket may open, since a browser could not send the proof along; nobody hears anything on it.
        let mut upgrade = lines.clone();
        upgrade.retain(|(name, _)| *name != "x-throughline-proof");
        if let Ok(mut live) = Live::open(&world, Way::Port, upgrade).await {
            live.ask(json!({ "type": "auth", "proof": proofs[proof].clone().unwrap_or_default() })).await;
            assert_eq!(live.until_closed().await, (vec![], 4001), "{what}");
        }
    }
    assert_eq!(world.position().await, before);
    world.close().await;
}
