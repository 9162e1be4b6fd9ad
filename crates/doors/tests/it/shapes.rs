//! Requests that two parsers could read differently.
//!
//! Invariant: bytes after an odd request never become a second request, and what hyper can not parse is refused
//! before any handler runs.

use tokio::io::AsyncWriteExt as _;

use crate::support::{HttpResponse, TestServer};

/// Sends the bytes, with `PORT` filled in, and returns the status of every response.
async fn statuses(server: &TestServer, bytes: &str) -> String {
    let bytes = bytes.replace("PORT", &server.address.port().to_string());
    let answer = server.send(bytes.as_bytes()).await;
    answer.text.split("HTTP/1.1 ").skip(1).map(|one| &one[..3]).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn odd_lengths_smuggle_nothing() {
    let head = "POST /api/unread HTTP/1.1\r\nHost: localhost:PORT\r\nAuthorization: Bearer person-token\r\nContent-Type: application/json\r\n";
    let hidden = "GET /healthz HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n";
    let server = TestServer::open().await;
    for (name, lines, body, expected) in [
        ("length then chunked", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n\r\n", "400"),
        ("chunked then length", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n", "0\r\n\r\n", "400"),
        ("a line that ends with LF alone", "X: y\n\r\n", "", "400"),
        ("a head that ends with LF alone", "X: y\r\n\n", "", "400"),
        ("CR alone", "X: y\rZ: a\r\n\r\n", "", "400"),
        ("two lengths", "Content-Length: 2\r\nContent-Length: 4\r\n\r\n", "{}", "400"),
        ("a list of lengths", "Content-Length: 2, 4\r\n\r\n", "{}", "400"),
        ("signed length", "Content-Length: +2\r\n\r\n", "{}", "400"),
        ("negative length", "Content-Length: -1\r\n\r\n", "{}", "400"),
        ("hexadecimal length", "Content-Length: 0x2\r\n\r\n", "{}", "400"),
        ("chunked is not last", "Transfer-Encoding: chunked, identity\r\n\r\n", "0\r\n\r\n", "400"),
        ("unknown encoding", "Transfer-Encoding: xchunked\r\n\r\n", "0\r\n\r\n", "400"),
        ("folded line", "X: a\r\n b\r\n\r\n", "", "400"),
        ("space before the colon", "Transfer-Encoding : chunked\r\n\r\n", "0\r\n\r\n", "400"),
        ("line without a colon", "nonsense\r\n\r\n", "", "400"),
        ("NUL in a value", "X: a\0b\r\n\r\n", "", "400"),
    ] {
        let got = statuses(&server, &format!("{head}{lines}{body}{hidden}")).await;
        assert_eq!(got, expected, "{name}");
    }
    server.close().await;
}

/// A chunk whose size or end could be read in two ways: the handler gets no body, and nothing after it is a request.
#[tokio::test]
async fn odd_chunks_smuggle_nothing() {
    let head = "POST /api/echo HTTP/1.1\r\nHost: localhost:PORT\r\nAuthorization: Bearer person-token\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let hidden = "GET /healthz HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n";
    let server = TestServer::open().await;
    for (name, body) in [
        ("LF alone after the size", "2\n{}\r\n0\r\n\r\n"),
        ("LF alone after the chunk", "2\r\n{}\n0\r\n\r\n"),
        ("a prefix", "0x2\r\n{}\r\n0\r\n\r\n"),
        ("a sign", "+2\r\n{}\r\n0\r\n\r\n"),
        ("a space", "2 \r\n{}\r\n0\r\n\r\n"),
        ("no size", "\r\n{}\r\n0\r\n\r\n"),
        ("too many digits", "000000002\r\n{}\r\n0\r\n\r\n"),
        ("a long extension", &format!("2;{}\r\n{{}}\r\n0\r\n\r\n", "x".repeat(1_000))),
    ] {
        assert_eq!(statuses(&server, &format!("{head}{body}{hidden}")).await, "400", "{name}");
    }
    server.close().await;
}

#[tokio::test]
async fn other_protocols_are_closed() {
    let server = TestServer::open().await;
    for (name, bytes, expected) in [
        ("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ""),
        ("TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\x7c\x03\x03\r\n\r\n", "400"),
        ("nonsense", "hello\r\n\r\n", "400"),
        ("empty target", "GET  HTTP/1.1\r\n\r\n", "400"),
    ] {
        assert_eq!(statuses(&server, bytes).await, expected, "{name}");
    }
    server.close().await;
}

#[tokio::test]
async fn pipelined_requests_are_each_guarded_and_answered_in_order() {
    let server = TestServer::open().await;
    let mut stream = server.connect().await;
    let host = format!("Host: localhost:{}", server.address.port());
    let requests = [
        format!("GET /healthz HTTP/1.1\r\n{host}\r\n\r\n"),
        format!("GET /api/who HTTP/1.1\r\n{host}\r\nAuthorization: Bearer person-token\r\n\r\n"),
        // The credential of the request before grants nothing here.
        format!("GET /api/who HTTP/1.1\r\n{host}\r\n\r\n"),
        "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_owned(),
        format!("GET /api/who HTTP/1.1\r\n{host}\r\nAuthorization: Bearer agent-token\r\nConnection: close\r\n\r\n"),
    ];
    stream.write_all(requests.concat().as_bytes()).await.unwrap();
    let mut got = Vec::new();
    for _ in &requests {
        got.push(HttpResponse::read_one(&mut stream).await.summary());
    }
    assert_eq!(got.join(", "), "200, 200, 401 unauthenticated, 403 host_not_allowed, 200");
    server.close().await;
}
