//! T13: slow callers.
//!
//! Invariant: each test waits for the server to act, with a limit of 50 ms; none waits for time to pass.

use doors::Limits;
use tokio::io::AsyncWriteExt as _;

use crate::support::{BEARER, HttpResponse, SHORT, TestServer, happens};

/// Sends the bytes and nothing more, until the server closes.
async fn stall_after(server: &TestServer, bytes: &[u8]) -> String {
    let mut stream = server.connect().await;
    stream.write_all(bytes).await.unwrap();
    HttpResponse::read(&mut stream).await.summary()
}

#[tokio::test]
async fn silent_and_slow_heads_are_closed() {
    let server = TestServer::with(Limits { header_timeout: SHORT, ..Limits::default() }).await;
    for (name, bytes) in [
        ("no byte at all", &b""[..]),
        ("one byte", b"G"),
        ("half a line", b"GET /healthz HT"),
        ("no end of the head", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: y\r\n"),
    ] {
        assert_eq!(stall_after(&server, bytes).await, "closed", "{name}");
    }
    server.close().await;
}

#[tokio::test]
async fn a_head_that_drips_does_not_extend_its_time() {
    let server = TestServer::with(Limits { header_timeout: SHORT, ..Limits::default() }).await;
    let mut stream = server.connect().await;
    let (mut reading, mut writing) = stream.split();
    let mut ticks = tokio::time::interval(SHORT / 10);
    let drip = async {
        writing.write_all(b"GET / HTTP/1.1\r\nX: ").await?;
        loop {
            ticks.tick().await;
            writing.write_all(b"y").await?;
        }
    };
    let answer = tokio::select! {
        answer = HttpResponse::read(&mut reading) => answer,
        failed = drip => {
            let _closed: std::io::Result<()> = failed;
            HttpResponse { text: String::new() }
        }
    };
    assert_eq!(answer.summary(), "closed");
    server.close().await;
}

#[tokio::test]
async fn idle_connections_are_closed_after_their_answer() {
    let server = TestServer::with(Limits { header_timeout: SHORT, ..Limits::default() }).await;
    let request = String::from_utf8(server.bytes("GET /healthz\nHost: localhost:PORT")).unwrap();
    let kept_alive = request.replace("Connection: close\r\n", "");
    assert_eq!(stall_after(&server, kept_alive.as_bytes()).await, "200");
    server.close().await;
}

#[tokio::test]
async fn slow_bodies_are_refused() {
    let start = format!(
        "POST /api/echo\nHost: localhost:PORT\n{BEARER}\nContent-Type: application/json\nContent-Length: 100\n\n{{\"a\":"
    );
    let chunked = start.replace("Content-Length: 100", "Transfer-Encoding: chunked").replace("{\"a\":", "5\r\n{\"a\":");
    for limits in
        [Limits { body_idle_timeout: SHORT, ..Limits::default() }, Limits { body_timeout: SHORT, ..Limits::default() }]
    {
        let server = TestServer::with(limits).await;
        assert_eq!(stall_after(&server, &server.bytes(&start)).await, "408 body_timeout");
        assert_eq!(stall_after(&server, &server.bytes(&chunked)).await, "408 body_timeout");
        server.close().await;
    }
}

/// T13: bytes that arrive at the least rate extend the time; a slow drip does not.
#[tokio::test]
async fn a_body_that_drips_ends_in_time_and_a_large_one_is_waited_for() {
    let head = |bytes: usize| {
        format!(
            "POST /api/echo\nHost: localhost:PORT\n{BEARER}\nContent-Type: application/json\nContent-Length: {bytes}\n\n"
        )
    };
    let server = TestServer::with(Limits { body_timeout: SHORT, body_least_rate: 1 << 20, ..Limits::default() }).await;
    let mut stream = server.connect().await;
    let (mut reading, mut writing) = stream.split();
    let mut ticks = tokio::time::interval(SHORT / 10);
    let drip = async {
        writing.write_all(&server.bytes(&head(100_000))).await?;
        loop {
            ticks.tick().await;
            writing.write_all(b"x").await?;
        }
    };
    let answer = tokio::select! {
        answer = HttpResponse::read(&mut reading) => answer,
        failed = drip => {
            let _closed: std::io::Result<()> = failed;
            HttpResponse { text: String::new() }
        }
    };
    assert_eq!(answer.summary(), "408 body_timeout");
    server.close().await;

    // The least rate is one byte a second, so the first thousand bytes have extended the time by a quarter of an
    // hour.
    let server = TestServer::with(Limits { body_timeout: SHORT, body_least_rate: 1, ..Limits::default() }).await;
    let mut stream = server.connect().await;
    stream.write_all(&server.bytes(&head(2_000))).await.unwrap();
    stream.write_all(&[b'x'; 1_000]).await.unwrap();
    let mut ticks = tokio::time::interval(SHORT);
    for _ in 0..4 {
        ticks.tick().await;
        stream.write_all(&[b'x'; 250]).await.unwrap();
    }
    assert_eq!(HttpResponse::read(&mut stream).await.summary(), "200");
    server.close().await;
}

#[tokio::test]
async fn a_body_that_nobody_reads_holds_nothing() {
    let server = TestServer::open().await;
    let request = format!(
        "POST /api/unread\nHost: localhost:PORT\n{BEARER}\nContent-Type: application/json\nContent-Length: 100\n\n{{"
    );
    assert_eq!(stall_after(&server, &server.bytes(&request)).await, "200");
    server.close().await;
}

#[tokio::test]
async fn a_peer_that_does_not_read_loses_its_answer() {
    let server = TestServer::with(Limits { write_stall_timeout: SHORT, ..Limits::default() }).await;
    let mut stream = server.connect().await;
    stream.write_all(&server.bytes(&format!("GET /api/endless\nHost: localhost:PORT\n{BEARER}"))).await.unwrap();
    happens(&server.events.dropped).await;
    server.close().await;
}
