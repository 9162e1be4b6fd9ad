//! T01, T03, T05, T06: requests that a browser sends for someone else's page.
//!
//! Invariant: a foreign page gets no answer from any route but the empty page itself, and no answer ever carries a
//! cross-origin header.

use crate::support::TestServer;

#[tokio::test]
async fn origin_is_one_exact_value() {
    let server = TestServer::open().await;
    for (name, origin, expected) in [
        ("our page", "Origin: http://localhost:PORT", "200"),
        ("foreign page", "Origin: http://evil.example", "403 origin_not_allowed"),
        ("other port of this host", "Origin: http://localhost:1", "403 origin_not_allowed"),
        ("other name of this host", "Origin: http://127.0.0.1:PORT", "403 origin_not_allowed"),
        ("other scheme", "Origin: https://localhost:PORT", "403 origin_not_allowed"),
        ("opaque origin", "Origin: null", "403 origin_not_allowed"),
        ("empty", "Origin:", "403 origin_not_allowed"),
        ("longer", "Origin: http://localhost:PORT.evil.example", "403 origin_not_allowed"),
        ("with a path", "Origin: http://localhost:PORT/", "403 origin_not_allowed"),
        ("with a user", "Origin: http://localhost:PORT@evil.example", "403 origin_not_allowed"),
        ("twice", "Origin: http://localhost:PORT\nOrigin: http://localhost:PORT", "403 origin_not_allowed"),
        ("a list", "Origin: http://localhost:PORT http://evil.example", "403 origin_not_allowed"),
    ] {
        for path in ["/", "/healthz", "/api/who"] {
            let request = format!("GET {path}\nHost: localhost:PORT\nAuthorization: Bearer person-token\n{origin}");
            server.check(&[(name, &request, expected)]).await;
        }
    }
    server.close().await;
}

#[tokio::test]
async fn fetch_metadata_decides_by_site() {
    let navigation = "Sec-Fetch-Mode: navigate\nSec-Fetch-Dest: document";
    let server = TestServer::open().await;
    for (name, target, metadata, expected) in [
        ("our page", "GET /api/who", "Sec-Fetch-Site: same-origin", "200"),
        ("typed address", "GET /api/who", "Sec-Fetch-Site: none", "200"),
        ("other port of this host", "GET /api/who", "Sec-Fetch-Site: same-site", "403 cross_site"),
        ("foreign page", "GET /api/who", "Sec-Fetch-Site: cross-site", "403 cross_site"),
        ("unknown word", "GET /api/who", "Sec-Fetch-Site: Same-Origin", "403 cross_site"),
        ("twice", "GET /api/who", "Sec-Fetch-Site: same-origin\nSec-Fetch-Site: cross-site", "403 cross_site"),
        (
            "JupyterHub's confusion",
            "GET /api/who",
            "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors",
            "403 cross_site",
        ),
        (
            "link to an API route",
            "GET /api/who",
            &format!("Sec-Fetch-Site: cross-site\n{navigation}"),
            "403 cross_site",
        ),
        (
            "link to an open route",
            "GET /healthz",
            &format!("Sec-Fetch-Site: cross-site\n{navigation}"),
            "403 cross_site",
        ),
        ("link to the page", "GET /", &format!("Sec-Fetch-Site: cross-site\n{navigation}"), "200"),
        ("link to a part of the page", "GET /s/1", &format!("Sec-Fetch-Site: same-site\n{navigation}"), "404"),
        ("form to the page", "POST /", &format!("Sec-Fetch-Site: cross-site\n{navigation}"), "403 cross_site"),
        (
            "page in a foreign frame",
            "GET /",
            "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: iframe",
            "403 cross_site",
        ),
        (
            "page as a script",
            "GET /",
            "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors\nSec-Fetch-Dest: script",
            "403 cross_site",
        ),
    ] {
        let request = format!("{target}\nHost: localhost:PORT\nAuthorization: Bearer person-token\n{metadata}");
        server.check(&[(name, &request, expected)]).await;
    }
    server.close().await;
}

#[tokio::test]
async fn preflights_get_nothing() {
    let asks = "Access-Control-Request-Method: POST\nAccess-Control-Request-Headers: authorization\nAccess-Control-Request-Private-Network: true";
    let server = TestServer::open().await;
    // Without a credential the response does not reveal which routes exist.
    let known = [
        ("/api/who", "401 unauthenticated"),
        ("/api/echo", "401 unauthenticated"),
        ("/api/live", "401 unauthenticated"),
    ];
    for (path, expected) in [("/", "405"), ("/healthz", "405"), ("/exchange", "405")].into_iter().chain(known) {
        let foreign = format!("OPTIONS {path}\nHost: localhost:PORT\nOrigin: http://evil.example\n{asks}");
        let own = format!("OPTIONS {path}\nHost: localhost:PORT\nOrigin: http://localhost:PORT\n{asks}");
        server
            .check(&[("foreign preflight", &foreign, "403 origin_not_allowed"), ("own preflight", &own, expected)])
            .await;
    }
    server.close().await;
}

#[tokio::test]
async fn a_handler_can_not_open_the_server_to_other_origins() {
    let server = TestServer::open().await;
    let answer = server.ask("GET /api/cors\nHost: localhost:PORT\nAuthorization: Bearer person-token").await;
    assert_eq!(answer.summary(), "200");
    answer.assert_hardened();
    server.close().await;
}

#[tokio::test]
async fn bodies_are_json_or_refused() {
    let server = TestServer::open().await;
    for (name, kind, expected) in [
        ("json", "Content-Type: application/json", "200"),
        ("json with charset", "Content-Type: Application/JSON; charset=utf-8", "200"),
        ("form", "Content-Type: application/x-www-form-urlencoded", "415 unsupported_media_type"),
        ("plain text", "Content-Type: text/plain", "415 unsupported_media_type"),
        ("plain text that mentions json", "Content-Type: text/plain; application/json", "415 unsupported_media_type"),
        ("longer", "Content-Type: application/jsonp", "415 unsupported_media_type"),
        ("none", "X: y", "415 unsupported_media_type"),
        ("two", "Content-Type: application/json\nContent-Type: text/plain", "415 unsupported_media_type"),
    ] {
        let request = format!(
            "POST /api/echo\nHost: localhost:PORT\nAuthorization: Bearer person-token\n{kind}\nContent-Length: 2\n\n{{}}"
        );
        server.check(&[(name, &request, expected)]).await;
    }
    server
        .check(&[
            ("nothing to describe", "POST /api/echo\nHost: localhost:PORT\nAuthorization: Bearer person-token", "200"),
            (
                "open route",
                "POST /exchange\nHost: localhost:PORT\nContent-Type: text/plain\nContent-Length: 2\n\n{}",
                "415 unsupported_media_type",
            ),
        ])
        .await;
    server.close().await;
}
