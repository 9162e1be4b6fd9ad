//! T42: what opens something is told to whoever it is for, once, and is found nowhere else.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::client::{Live, bearer};
use crate::support::{Way, World};

/// Everything that is logged in this process, at every level.
#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Captured {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

fn find(haystack: &[u8], needle: &str) -> Option<String> {
    let at = haystack.windows(needle.len()).position(|window| window == needle.as_bytes())?;
    let around = &haystack[at.saturating_sub(120)..(at + 120).min(haystack.len())];
    Some(String::from_utf8_lossy(around).into_owned())
}

#[tokio::test]
async fn no_secret_is_found_where_it_does_not_belong() {
    let log = Captured::default();
    // The WebSocket library writes frames to the log as they are; the binary turns that off, and its tests prove it.
    let all_of_ours = EnvFilter::new("trace,tungstenite=off,tokio_tungstenite=off");
    tracing_subscriber::fmt().with_env_filter(all_of_ours).with_writer(log.clone()).init();

    let world = World::on_disk().await;
    let session = world.session().await;
    // What issues a secret says it; from here on nothing may.
    let link = world.call("POST /api/v1/tokens/link", None).await.ok(201)["url"].as_str().unwrap().to_owned();
    let used = link.split_once("#code=").unwrap().1.to_owned();
    let exchange = world.call_as(vec![], "POST /api/v1/auth/exchange", json!({ "code": used })).await;
    let cookie = exchange.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let proof = exchange.ok(200)["proof"].as_str().unwrap().to_owned();
    let browser = crate::client::Browser { cookie: cookie.clone(), proof: proof.clone() };
    let agent = world.agent_token(&session).await;
    let revoked = world.call("POST /api/v1/tokens", json!({ "name": "short" })).await.ok(201);
    let code = world.engine.offer_code().expose().to_owned();
    world.heard.lock().unwrap().clear();

    busy(&world, &session, &browser, &agent, &code).await;
    world.call(&format!("DELETE /api/v1/tokens/{}", revoked["token"]["id"].as_str().unwrap()), None).await.ok(204);
    world.get("/metrics").await;
    world.get("/api/v1/tokens").await.ok(200);
    let heard = world.heard.lock().unwrap().clone();
    world.call("POST /api/v1/tokens/rotate", None).await.ok(200);
    let rotated = world.token_file();
    let token = world.token.clone();
    let directory = world.close().await;

    let mut files = Vec::new();
    for file in std::fs::read_dir(directory.path()).unwrap() {
        let path = file.unwrap().path();
        if path.file_name().unwrap() != "token" && path.is_file() {
            files.extend(std::fs::read(path).unwrap());
        }
    }
    let logged = log.0.lock().unwrap().clone();
    assert!(files.len() > 10_000 && heard.len() > 10_000 && !logged.is_empty(), "nothing was looked at");
    let cookie = cookie.split_once('=').unwrap().1;
    let secrets = [
        ("token", token.as_str()),
        ("rotated token", rotated.as_str()),
        ("revoked token", revoked["secret"].as_str().unwrap()),
        ("agent's token", agent.as_str()),
        ("cookie", cookie),
        ("proof", proof.as_str()),
        ("used code", used.as_str()),
        ("open code", code.as_str()),
    ];
    for (what, secret) in secrets {
        assert!(secret.len() >= 32, "the {what} is short");
        for (place, bytes) in [("an answer", &heard), ("a file", &files), ("the log", &logged)] {
            if let Some(around) = find(bytes, secret) {
                panic!("the {what} is in {place}: {around}");
            }
        }
    }
}

/// Shows every secret in every place where it can be shown, rightly and wrongly.
async fn busy(world: &World, session: &str, browser: &crate::client::Browser, agent: &str, code: &str) {
    let cookie = browser.cookie.split_once('=').unwrap().1;
    let path = format!("/api/v1/sessions/{session}");
    world.turn(session, "say hello").await;
    world.call_as(world.page_lines(browser), &format!("GET {path}"), None).await.ok(200);
    world.call_as(bearer(agent), &format!("GET {path}"), None).await.ok(200);
    let mut live = Live::browser(world, browser).await;
    live.ask(json!({ "type": "follow", "session": session })).await;
    live.until("caught_up").await;
    for secret in [world.token.as_str(), cookie, &browser.proof, agent, code] {
        // As a wrong credential, and where no credential belongs.
        world.call_as(vec![("authorization", format!("Basic {secret}"))], "GET /api/v1/whoami", None).await;
        world.call_as(vec![("authorization", format!("Bearer {secret}x"))], "GET /api/v1/whoami", None).await;
        world.call_as(vec![("x-throughline-proof", secret.to_owned())], "GET /api/v1/whoami", None).await;
        world.call_as(vec![("cookie", format!("other={secret}"))], "GET /api/v1/whoami", None).await;
        world.call_as(vec![("x-whatever", secret.to_owned())], "GET /api/v1/whoami", None).await;
        world.call(&format!("GET /api/v1/sessions/{secret}"), None).await;
        world.call(&format!("DELETE /api/v1/tokens/{secret}"), None).await;
        world.call(&format!("GET /api/v1/sessions?after={secret}"), None).await;
        world.call(&format!("GET /{secret}"), None).await;
        if secret != code {
            world.call_as(vec![], "POST /api/v1/auth/exchange", json!({ "code": secret })).await;
        }
        world.call("POST /api/v1/auth/exchange", json!({ "code": [secret] })).await;
        let key =
            vec![("authorization", format!("Bearer {}", world.token)), ("idempotency-key", format!("{secret} x"))];
        world.call_as(key, &format!("POST {path}/observe"), None).await;
        let mut upgrade = Live::open(world, Way::Port, world.upgrade_lines(browser)).await.unwrap();
        upgrade.ask(json!({ "type": "auth", "proof": format!("{secret}x") })).await;
        upgrade.until_closed().await;
    }
}
