//! T02, T04, T14: which host names a listener accepts.
//!
//! Invariant: the Host rule holds on every group of routes, and comes before every other rule.

use doors::{Limits, Transport};

use crate::support::TestServer;

#[tokio::test]
async fn only_names_of_this_server_are_served() {
    let server = TestServer::open().await;
    server
        .check(&[
            ("loopback address", "GET /\nHost: 127.0.0.1:PORT", "200"),
            ("loopback name in capitals", "GET /\nHost: LOCALHOST:PORT", "200"),
            ("loopback address of IPv6", "GET /\nHost: [::1]:PORT", "200"),
            ("configured name", "GET /\nHost: desk.example", "200"),
            ("configured name at its port", "GET /\nHost: desk.example:8443", "200"),
            ("rebound name", "GET /\nHost: evil.example:PORT", "403 host_not_allowed"),
            ("name that starts like ours", "GET /\nHost: localhost.evil.example:PORT", "403 host_not_allowed"),
            ("name that ends like ours", "GET /\nHost: evil-desk.example", "403 host_not_allowed"),
            ("wildcard address", "GET /\nHost: 0.0.0.0:PORT", "403 host_not_allowed"),
            ("other port", "GET /\nHost: localhost:1", "403 host_not_allowed"),
            ("no port", "GET /\nHost: localhost", "403 host_not_allowed"),
            ("trailing dot", "GET /\nHost: localhost.:PORT", "403 host_not_allowed"),
            ("user before the name", "GET /\nHost: localhost@evil.example:PORT", "403 host_not_allowed"),
            ("empty", "GET /\nHost:", "403 host_not_allowed"),
            ("absent", "GET /\nX-Forwarded-Host: localhost:PORT", "400 host_missing"),
            ("twice", "GET /\nHost: localhost:PORT\nHost: localhost:PORT", "400 host_ambiguous"),
            (
                "forwarded headers are not read",
                "GET /\nHost: evil.example\nX-Forwarded-Host: localhost:PORT\nForwarded: host=localhost:PORT",
                "403 host_not_allowed",
            ),
            ("same host in the target", "GET http://localhost:PORT/\nHost: localhost:PORT", "200"),
            ("other host in the target", "GET http://evil.example/\nHost: localhost:PORT", "400 host_ambiguous"),
            ("our host in the target only", "GET http://localhost:PORT/\nHost: evil.example", "400 host_ambiguous"),
            ("proxy request", "CONNECT localhost:PORT\nHost: localhost:PORT", "400 target_not_allowed"),
            ("whole-server target", "OPTIONS *\nHost: localhost:PORT", "400 target_not_allowed"),
        ])
        .await;
    server.close().await;
}

#[tokio::test]
async fn the_rule_comes_first_on_every_group_of_routes() {
    let server = TestServer::open().await;
    for path in ["/", "/unknown", "/healthz", "/exchange", "/api/who", "/api/echo", "/api/live"] {
        for method in ["GET", "POST", "OPTIONS", "BREW"] {
            let request = format!(
                "{method} {path}\nHost: evil.example:PORT\nOrigin: http://evil.example:PORT\nAuthorization: Bearer person-token"
            );
            server.check(&[(path, &request, "403 host_not_allowed")]).await;
        }
    }
    server.close().await;
}

#[tokio::test]
async fn old_http_without_a_host_is_refused() {
    let server = TestServer::open().await;
    let bare = server.send(b"GET /healthz HTTP/1.0\r\n\r\n").await;
    assert_eq!(bare.summary(), "400 host_missing");
    let named = format!("GET /healthz HTTP/1.0\r\nHost: localhost:{}\r\n\r\n", server.address.port());
    assert_eq!(server.send(named.as_bytes()).await.summary(), "200");
    server.close().await;
}

#[tokio::test]
async fn behind_a_proxy_the_same_names_hold_and_pages_are_https() {
    let server = TestServer::behind(Limits::default(), Transport::BehindProxy).await;
    server
        .check(&[
            (
                "page of the proxy",
                "GET /api/who\nHost: desk.example\nOrigin: https://desk.example\nAuthorization: Bearer person-token",
                "200",
            ),
            (
                "its unencrypted twin",
                "GET /api/who\nHost: desk.example\nOrigin: http://desk.example\nAuthorization: Bearer person-token",
                "403 origin_not_allowed",
            ),
            (
                "loopback is no credential",
                "GET /api/who\nHost: desk.example\nX-Forwarded-For: 127.0.0.1",
                "401 unauthenticated",
            ),
            ("unknown name", "GET /\nHost: evil.example\nX-Forwarded-Host: desk.example", "403 host_not_allowed"),
        ])
        .await;
    server.close().await;
}
