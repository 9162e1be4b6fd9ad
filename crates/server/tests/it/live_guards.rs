//! The guards of the WebSocket: who may open it, and who hears anything on it (T03).

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use crate::client::{Lines, Live, bearer};
use crate::support::{Way, World, within};

const PATHS: [&str; 2] = ["/api/v1/live", "/api/live"];

#[tokio::test]
async fn an_upgrade_passes_the_same_guards_as_a_request() {
    let world = World::open().await;
    let browser = world.sign_in().await;
    let port = world.address.port();
    let with = |lines: Lines, name: &'static str, value: &str| -> Lines {
        let mut lines: Lines = lines.into_iter().filter(|(known, _)| *known != name).collect();
        lines.push((name, value.to_owned()));
        lines
    };
    let cookie: Lines = vec![("cookie", browser.cookie.clone())];
    let page = world.upgrade_lines(&browser);
    let nobodys = format!("{}={}", browser.cookie.split_once('=').unwrap().0, "0".repeat(64));
    let rows: Vec<(&str, Lines, &str)> = vec![
        ("nothing", vec![], "401 unauthenticated"),
        ("a wrong bearer", bearer("wrong"), "401 unauthenticated"),
        ("a cookie without Origin", cookie.clone(), "403 origin_missing"),
        ("a foreign Origin", with(cookie.clone(), "origin", "http://evil.example"), "403 origin_not_allowed"),
        ("no Origin at all", with(cookie.clone(), "origin", "null"), "403 origin_not_allowed"),
        ("another port", with(cookie.clone(), "origin", "http://127.0.0.1:1"), "403 origin_not_allowed"),
        ("a foreign Host", with(page.clone(), "host", "evil.example"), "403 host_not_allowed"),
        ("a rebound Host", with(page.clone(), "host", &format!("evil.example:{port}")), "403 host_not_allowed"),
        ("another site", with(page.clone(), "sec-fetch-site", "cross-site"), "403 cross_site"),
        ("a bearer from a page", with(world.bearer(), "origin", "http://evil.example"), "403 origin_not_allowed"),
        (
            "two credentials",
            with(page.clone(), "authorization", &format!("Bearer {}", world.token)),
            "400 ambiguous_credentials",
        ),
        ("a cookie that is nobody's", with(page.clone(), "cookie", &nobodys), "401 unauthenticated"),
        ("a wrong proof along", with(page.clone(), "x-throughline-proof", "wrong"), "401 unauthenticated"),
    ];
    for path in PATHS {
        for (what, lines, expected) in &rows {
            let Err(refusal) = Live::open_at(&world, Way::Port, path, lines.clone()).await else {
                panic!("{what} opened {path}")
            };
            assert_eq!(refusal.summary(), *expected, "{what} at {path}");
        }
        for lines in [world.bearer(), world.page_lines(&browser)] {
            let mut live = Live::open_at(&world, Way::Port, path, lines).await.unwrap();
            assert_eq!(live.next().await["type"], "hello");
        }
    }
    world.close().await;
}

#[tokio::test]
async fn a_browser_hears_something_once_it_has_shown_the_proof() {
    let world = World::open().await;
    let browser = world.sign_in().await;
    let mut live = Live::open(&world, Way::Port, world.upgrade_lines(&browser)).await.unwrap();
    live.ask(json!({ "type": "auth", "proof": browser.proof })).await;
    assert_eq!(live.next().await, json!({ "type": "ack", "id": "r1" }));
    let hello = json!({
        "type": "hello",
        "incarnation": crate::support::INCARNATION,
        "version": env!("CARGO_PKG_VERSION"),
        "specsLabel": "Threads",
    });
    assert_eq!(live.next().await, hello);
    assert_eq!(live.next().await["type"], "list");
    let again = live.call(json!({ "type": "auth", "proof": browser.proof })).await;
    assert_eq!((&again["type"], &again["error"]["code"]), (&json!("error"), &json!("already_signed_in")));
    world.close().await;
}

#[tokio::test]
async fn a_first_frame_that_is_no_right_proof_ends_the_socket() {
    let world = World::open().await;
    let session = world.session().await;
    let (browser, other) = (world.sign_in().await, world.sign_in().await);
    let first_frames = [
        Message::text(json!({ "id": "a", "type": "auth", "proof": "wrong" }).to_string()),
        Message::text(json!({ "id": "a", "type": "auth", "proof": "" }).to_string()),
        Message::text(json!({ "id": "a", "type": "auth", "proof": other.proof }).to_string()),
        Message::text(json!({ "id": "a", "type": "auth" }).to_string()),
        Message::text(json!({ "id": "a", "type": "ping" }).to_string()),
        Message::text(json!({ "id": "a", "type": "list" }).to_string()),
        Message::text(json!({ "id": "a", "type": "follow", "session": session }).to_string()),
        Message::text("not json"),
        Message::text(""),
        Message::binary(json!({ "id": "a", "type": "auth", "proof": browser.proof }).to_string().into_bytes()),
        Message::Ping("x".into()),
    ];
    for first in first_frames {
        let mut live = Live::open(&world, Way::Port, world.upgrade_lines(&browser)).await.unwrap();
        live.send(first.clone()).await;
        assert_eq!(live.until_closed().await, (vec![], 4001), "{first:?}");
    }
    world.close().await;
}

/// The clock is moved by hand once the upgrade is through, so nobody waits five real seconds.
#[tokio::test]
async fn a_browser_that_says_nothing_for_five_seconds_is_closed() {
    let world = World::open().await;
    let browser = world.sign_in().await;
    let mut live = Live::open(&world, Way::Port, world.upgrade_lines(&browser)).await.unwrap();
    let opened_at = Instant::now();
    tokio::time::pause();
    tokio::time::advance(Duration::from_millis(4_900)).await;
    tokio::time::advance(Duration::from_millis(200)).await;
    tokio::time::resume();
    assert_eq!(live.until_closed().await, (vec![], 4001));
    assert!(opened_at.elapsed() >= Duration::from_secs(5), "closed after {:?}", opened_at.elapsed());
    world.close().await;
}

/// A proof that is guessed over the socket counts like any other guess.
#[tokio::test]
async fn wrong_proofs_are_limited() {
    let failures = doors::Rate { per_second: 0.001, burst: 3.0 };
    let world = World::with(doors::Limits { failures, ..crate::support::roomy() }).await;
    let browser = world.sign_in().await;
    for _ in 0..3 {
        let mut live = Live::open(&world, Way::Port, world.upgrade_lines(&browser)).await.unwrap();
        live.ask(json!({ "type": "auth", "proof": "wrong" })).await;
        assert_eq!(live.until_closed().await.1, 4001);
    }
    let answer = world.call_as(bearer("wrong"), "GET /api/v1/whoami", None).await;
    assert_eq!(answer.summary(), "429 too_many_failures");
    Live::browser(&world, &browser).await;
    world.close().await;
}

/// T29: an agent's socket shows its own session and nothing else: no list, no rows, no other session, no changes.
#[tokio::test]
async fn an_agents_socket_reaches_its_own_session_only() {
    let world = World::open().await;
    let (own, other) = (world.session().await, world.session().await);
    let token = world.agent_token(&own).await;
    let mut live = Live::open(&world, Way::Port, bearer(&token)).await.unwrap();
    assert_eq!(live.next().await["type"], "hello");
    let refused = |frame: Value| (frame["type"].clone(), frame["error"]["code"].clone());
    for (request, code) in [
        (json!({ "type": "follow", "session": other }), "session_not_found"),
        (json!({ "type": "prompt", "session": other, "text": "x" }), "session_not_found"),
        (json!({ "type": "cancel", "session": other }), "session_not_found"),
        (json!({ "type": "observe", "session": other }), "session_not_found"),
        (json!({ "type": "prompt", "session": own, "text": "x" }), "forbidden"),
        (json!({ "type": "cancel", "session": own }), "forbidden"),
        (json!({ "type": "observe", "session": own }), "forbidden"),
        (json!({ "type": "list" }), "forbidden"),
    ] {
        assert_eq!(refused(live.call(request.clone()).await), (json!("error"), json!(code)), "{request}");
    }
    live.ask(json!({ "type": "follow", "session": own })).await;
    live.until("caught_up").await;
    world.turn(&other, "say not for you").await;
    world.turn(&own, "say for you").await;
    let frames = live.until_that(|frame| frame["entry"]["type"] == "turn.ended").await;
    assert!(frames.iter().all(|frame| frame["session"] == own.as_str()), "{frames:?}");
    world.close().await;
}

/// What breaks the rules of WebSocket is closed with the code that says which.
#[tokio::test]
async fn a_violation_is_closed_with_its_own_code() {
    let world = World::open().await;
    let masked = |first: u8, payload: &[u8]| {
        let mut frame = vec![first, 0x80 | u8::try_from(payload.len()).unwrap(), 0, 0, 0, 0];
        frame.extend_from_slice(payload);
        frame
    };
    let mut huge = vec![0x81, 0xff];
    huge.extend_from_slice(&(64_u64 << 20).to_be_bytes());
    huge.extend_from_slice(&[0; 4]);
    for (what, frame, code) in [
        ("a frame without a mask", vec![0x81, 0x01, b'x'], 1002),
        ("a reserved opcode", masked(0x83, b"x"), 1002),
        ("a reserved bit", masked(0xc1, b"x"), 1002),
        ("a ping in pieces", masked(0x09, b"x"), 1002),
        ("a going on from nothing", masked(0x80, b"x"), 1002),
        ("a text that is not UTF-8", masked(0x81, &[0xff, 0xfe]), 1007),
        ("a message that is too large", huge, 1009),
    ] {
        let mut stream = world.connect(Way::Port).await.unwrap();
        let head = format!(
            "GET /api/v1/live HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            world.address.port(),
            world.token
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // The greeting has come once the list has, so that what follows is the answer to the frame.
        let mut heard = Vec::new();
        while !String::from_utf8_lossy(&heard).contains("unobservedCount") {
            let mut some = [0; 4_096];
            let read = within(what, stream.read(&mut some)).await.unwrap();
            assert!(read > 0, "{what}: closed before its greeting");
            heard.extend_from_slice(&some[..read]);
        }
        stream.write_all(&frame).await.unwrap();
        let mut rest = Vec::new();
        within(what, stream.read_to_end(&mut rest)).await.unwrap();
        let close =
            rest.windows(4).find(|bytes| bytes[0] == 0x88).map(|bytes| u16::from_be_bytes([bytes[2], bytes[3]]));
        assert_eq!(close, Some(code), "{what}: {rest:?}");
    }
    world.close().await;
}
