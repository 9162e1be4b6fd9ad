//! T13: how much one caller may request.
//!
//! Invariant: each limit refuses with its own code, and the refusal reaches a caller that is still sending.

use doors::{Limits, Rate};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{BEARER, DEADLINE, HttpResponse, SHORT, TestServer, happens};

const ECHO: &str =
    "POST /api/echo\nHost: localhost:PORT\nAuthorization: Bearer person-token\nContent-Type: application/json";

#[tokio::test]
async fn bodies_end_at_the_limit_however_they_are_sent() {
    let server = TestServer::with(Limits { max_body_bytes: 1_000, ..Limits::default() }).await;
    let chunk = |bytes: usize| format!("{bytes:x}\r\n{}\r\n", "x".repeat(bytes));
    let (fits, over) = ("x".repeat(1_000), "x".repeat(1_001));
    server
        .check(&[
            ("at the limit", &format!("{ECHO}\nContent-Length: 1000\n\n{fits}"), "200"),
            ("over it", &format!("{ECHO}\nContent-Length: 1001\n\n{over}"), "413 body_too_large"),
            ("announced only", &format!("{ECHO}\nContent-Length: 99999999999\n\nx"), "413 body_too_large"),
            (
                "chunked at the limit",
                &format!("{ECHO}\nTransfer-Encoding: chunked\n\n{}{}0\r\n\r\n", chunk(600), chunk(400)),
                "200",
            ),
            (
                "chunked over it",
                &format!("{ECHO}\nTransfer-Encoding: chunked\n\n{}{}0\r\n\r\n", chunk(600), chunk(401)),
                "413 body_too_large",
            ),
            (
                "chunked without an end",
                &format!("{ECHO}\nTransfer-Encoding: chunked\n\n{}", chunk(5_000)),
                "413 body_too_large",
            ),
        ])
        .await;
    server.close().await;
}

/// A connection that is closed on unread bytes is reset, and clients that write before they read lose the response.
#[tokio::test]
async fn a_refusal_reaches_a_caller_that_sends_on() {
    let server =
        TestServer::with(Limits { max_body_bytes: 1_000, linger_timeout: DEADLINE, ..Limits::default() }).await;
    let mut request = server.bytes(&format!("{ECHO}\nContent-Length: 20000000"));
    request.resize(request.len() + 10_000_000, b'x');
    let mut stream = server.connect().await;
    stream.write_all(&request).await.expect("the server takes what is still sent");
    stream.shutdown().await.unwrap();
    assert_eq!(HttpResponse::read(&mut stream).await.summary(), "413 body_too_large");
    server.close().await;
}

#[tokio::test]
async fn the_limit_is_ours_alone_whatever_reads_the_body() {
    let body = "x".repeat(12 * 1024 * 1024 + 1);
    let request = format!("{ECHO}\nContent-Length: {}\n\n{body}", body.len());
    let server = TestServer::open().await;
    server.check(&[("over the default of 12 MiB", &request, "413 body_too_large")]).await;
    server.close().await;
    let server = TestServer::with(Limits { max_body_bytes: 13 * 1024 * 1024, ..Limits::default() }).await;
    server.check(&[("over axum's default, under ours", &request, "200")]).await;
    server.close().await;
}

/// T13: a caller without a credential may send a few KiB in a few seconds, and takes no request slot meanwhile.
#[tokio::test]
async fn without_a_credential_bodies_are_small_and_hold_no_place() {
    let exchange = "POST /exchange\nHost: localhost:PORT\nContent-Type: application/json";
    let with = |bytes: usize| format!("{exchange}\nContent-Length: {bytes}\n\n{}", "x".repeat(bytes));
    let chunked = format!("{exchange}\nTransfer-Encoding: chunked\n\n1388\r\n{}\r\n", "x".repeat(5_000));
    let limits = Limits { max_in_flight_per_principal: 1, ..Limits::default() };
    let server = TestServer::with(limits).await;
    // As many as there are slots, and one more: none of them has sent its whole body.
    let mut unfinished = Vec::new();
    for _ in 0..3 {
        let mut stream = server.connect().await;
        stream.write_all(&server.bytes(&format!("{exchange}\nContent-Length: 4000\n\n{{"))).await.unwrap();
        unfinished.push(stream);
    }
    server
        .check(&[
            ("what fits", &with(4_096), "401 unauthenticated"),
            ("what does not", &with(4_097), "413 body_too_large"),
            ("announced only", &format!("{exchange}\nContent-Length: 12000000\n\nx"), "413 body_too_large"),
            ("in chunks", &chunked, "413 body_too_large"),
            ("to the page", &with(5_000).replace("/exchange", "/"), "413 body_too_large"),
            ("the page itself", "GET /\nHost: localhost:PORT", "200"),
            ("with a credential", &format!("{ECHO}\nContent-Length: 5000\n\n{}", "x".repeat(5_000)), "200"),
        ])
        .await;
    server.close().await;

    let server = TestServer::with(Limits { open_body_timeout: SHORT, ..Limits::default() }).await;
    let slow = format!("{exchange}\nContent-Length: 100\n\n{{");
    let mut stream = server.connect().await;
    stream.write_all(&server.bytes(&slow)).await.unwrap();
    assert_eq!(HttpResponse::read(&mut stream).await.summary(), "408 body_timeout");
    server.close().await;
}

#[tokio::test]
async fn heads_are_bounded() {
    let server = TestServer::open().await;
    let with = |lines: String| format!("GET /api/who\nHost: localhost:PORT\n{BEARER}\n{lines}");
    let many = |count: usize| (0..count).map(|n| format!("x{n}: y")).collect::<Vec<_>>().join("\n");
    server
        .check(&[
            ("90 headers", &with(many(90)), "200"),
            ("200 headers", &with(many(200)), "431"),
            ("10,000 headers", &with(many(10_000)), "431"),
            ("large header", &with(format!("x: {}", "y".repeat(50_000))), "200"),
            ("huge header", &with(format!("x: {}", "y".repeat(70_000))), "431"),
            ("header without an end", &with(format!("x: {}", "y".repeat(1_000_000))), "431"),
            ("long address", &format!("GET /api/who?{}\nHost: localhost:PORT\n{BEARER}", "q".repeat(8_000)), "200"),
            (
                "too long address",
                &format!("GET /api/who?{}\nHost: localhost:PORT\n{BEARER}", "q".repeat(9_000)),
                "414 uri_too_long",
            ),
        ])
        .await;
    server.close().await;
}

#[tokio::test]
async fn one_caller_has_a_rate_and_others_do_not_share_it() {
    let server =
        TestServer::with(Limits { requests: Rate { per_second: 0.001, burst: 2.0 }, ..Limits::default() }).await;
    let who = |token: &str| format!("GET /api/who\nHost: localhost:PORT\nAuthorization: Bearer {token}-token");
    let (person, agent) = (who("person"), who("agent"));
    server
        .check(&[
            ("first", &person, "200"),
            ("second", &person, "200"),
            ("third", &person, "429 rate_limited"),
            ("another caller", &agent, "200"),
            ("a caller without a name", "GET /healthz\nHost: localhost:PORT", "200"),
        ])
        .await;
    assert!(server.ask(&person).await.header("retry-after").is_some());
    server.close().await;
}

#[tokio::test]
async fn one_caller_runs_so_many_requests_at_once() {
    let server = TestServer::with(Limits { max_in_flight_per_principal: 1, ..Limits::default() }).await;
    let hold = format!("GET /api/hold\nHost: localhost:PORT\n{BEARER}");
    let who = format!("GET /api/who\nHost: localhost:PORT\n{BEARER}");
    let other = "GET /api/who\nHost: localhost:PORT\nAuthorization: Bearer agent-token";
    let (held, ()) = tokio::join!(server.ask(&hold), async {
        happens(&server.events.entered).await;
        server.check(&[("second", &who, "429 too_many_in_flight"), ("another caller", other, "200")]).await;
        server.events.release.add_permits(1);
    });
    assert_eq!(held.summary(), "200");
    server.check(&[("after it", &who, "200")]).await;
    server.close().await;
}

/// An agent that reads none of its responses holds few of them, and takes nobody's slot.
#[tokio::test]
async fn an_agent_runs_fewer_requests_at_once_than_a_person() {
    let server = TestServer::with(Limits { max_in_flight_per_agent: 1, ..Limits::default() }).await;
    let ask = |path: &str, who: &str| format!("GET {path}\nHost: localhost:PORT\n{who}");
    let agent = "Authorization: Bearer agent-token";
    let hold = ask("/api/hold", agent);
    let (held, ()) = tokio::join!(server.ask(&hold), async {
        happens(&server.events.entered).await;
        let (agents, persons) = (ask("/api/who", agent), ask("/api/who", BEARER));
        server
            .check(&[("an agent's second", &agents, "429 too_many_in_flight"), ("a person's", &persons, "200")])
            .await;
        server.events.release.add_permits(1);
    });
    assert_eq!(held.summary(), "200");
    server.close().await;
}

/// T13: the memory for bodies is bounded for each caller, and lower for an agent.
#[tokio::test]
async fn the_bodies_of_one_caller_are_bounded_together() {
    let limits = Limits {
        max_body_bytes: 6_000,
        max_body_bytes_in_flight: 8_000,
        max_agent_body_bytes: 3_000,
        ..Limits::default()
    };
    let server = TestServer::with(limits).await;
    let agent = "Authorization: Bearer agent-token";
    let post = |path: &str, who: &str, bytes: usize| {
        let head = format!("POST {path}\nHost: localhost:PORT\n{who}\nContent-Type: application/json");
        format!("{head}\nContent-Length: {bytes}\n\n{}", "x".repeat(bytes))
    };
    let (person, agents) = (post("/api/hold", BEARER, 5_000), post("/api/hold", agent, 2_000));
    let (first, second, ()) = tokio::join!(server.ask(&person), server.ask(&agents), async {
        happens(&server.events.entered).await;
        happens(&server.events.entered).await;
        server
            .check(&[
                ("what fits beside it", &post("/api/echo", BEARER, 3_000), "200"),
                ("what does not", &post("/api/echo", BEARER, 3_001), "429 too_much_in_flight"),
                ("without a body", &format!("GET /api/who\nHost: localhost:PORT\n{BEARER}"), "200"),
                ("an agent's that fits", &post("/api/echo", agent, 1_000), "200"),
                ("an agent's that does not", &post("/api/echo", agent, 1_001), "429 too_much_in_flight"),
                ("an agent's, by itself", &post("/api/echo", agent, 3_001), "413 body_too_large"),
            ])
            .await;
        server.events.release.add_permits(2);
    });
    assert_eq!([first.summary(), second.summary()], ["200", "200"]);
    server.check(&[("after them", &post("/api/echo", BEARER, 6_000), "200")]).await;
    server.close().await;
}

#[tokio::test]
async fn an_answer_that_is_still_being_sent_keeps_its_place() {
    let server = TestServer::with(Limits { max_in_flight_per_principal: 1, ..Limits::default() }).await;
    let who = format!("GET /api/who\nHost: localhost:PORT\n{BEARER}");
    let mut endless = server.connect().await;
    endless.write_all(&server.bytes(&format!("GET /api/endless\nHost: localhost:PORT\n{BEARER}"))).await.unwrap();
    endless.read_u8().await.unwrap();
    server.check(&[("while it is sent", &who, "429 too_many_in_flight")]).await;
    drop(endless);
    happens(&server.events.dropped).await;
    server.check(&[("after it", &who, "200")]).await;
    server.close().await;
}

#[tokio::test]
async fn a_panic_is_an_answer_and_the_connection_goes_on() {
    let server = TestServer::open().await;
    let panic = format!("GET /api/panic\nHost: localhost:PORT\n{BEARER}");
    server.check(&[("panic", &panic, "500 internal"), ("after it", "GET /healthz\nHost: localhost:PORT", "200")]).await;
    assert!(!server.ask(&panic).await.text.contains("on purpose"));
    server.close().await;
}
