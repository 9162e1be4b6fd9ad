//! T03, T06, T08, T10, T30, T42: which credentials are accepted.
//!
//! Invariant: without a right credential no protected handler runs; every wrong way that looks like one is tested
//! here.

use doors::{Limits, Rate};

use crate::support::{BEARER, COOKIE, PROOF, TestServer, UPGRADE};

const SAME: &str = "Sec-Fetch-Site: same-origin";
const ORIGIN: &str = "Origin: http://localhost:PORT";
#[tokio::test]
async fn one_right_credential_gets_in() {
    let server = TestServer::open().await;
    for (name, lines, expected) in [
        ("nothing", "X: y".to_owned(), "401 unauthenticated"),
        ("bearer", BEARER.to_owned(), "200"),
        ("wrong bearer", "Authorization: Bearer person-tokem".to_owned(), "401 unauthenticated"),
        ("longer bearer", "Authorization: Bearer person-token0".to_owned(), "401 unauthenticated"),
        ("empty bearer", "Authorization: Bearer ".to_owned(), "401 unauthenticated"),
        ("other scheme", "Authorization: Basic person-token".to_owned(), "401 unauthenticated"),
        ("another header", "X-Api-Key: person-token".to_owned(), "401 unauthenticated"),
        ("bearer twice", format!("{BEARER}\n{BEARER}"), "400 ambiguous_credentials"),
        ("cookie and proof by fetch", format!("{COOKIE}\n{PROOF}\n{SAME}"), "200"),
        ("cookie and proof by origin", format!("{COOKIE}\n{PROOF}\n{ORIGIN}"), "200"),
        ("cookie and proof of nobody's page", format!("{COOKIE}\n{PROOF}"), "403 cross_site"),
        ("cookie and proof by typing", format!("{COOKIE}\n{PROOF}\nSec-Fetch-Site: none"), "403 cross_site"),
        ("cookie alone", format!("{COOKIE}\n{SAME}"), "401 proof_missing"),
        ("cookie alone of nobody's page", COOKIE.to_owned(), "403 cross_site"),
        ("cookie with a wrong proof", format!("{COOKIE}\nX-Throughline-Proof: bad\n{SAME}"), "401 unauthenticated"),
        ("proof alone", format!("{PROOF}\n{SAME}"), "401 unauthenticated"),
        ("proof twice", format!("{COOKIE}\n{PROOF}\n{PROOF}\n{SAME}"), "400 ambiguous_credentials"),
        ("both ways", format!("{BEARER}\n{COOKIE}\n{PROOF}\n{SAME}"), "400 ambiguous_credentials"),
        ("tossed cookie", format!("{COOKIE}\nCookie: tl_test=evil\n{PROOF}\n{SAME}"), "400 ambiguous_credentials"),
        ("another server's cookie", format!("Cookie: tl_test2=good-cookie\n{PROOF}\n{SAME}"), "401 unauthenticated"),
        ("claimed scopes are not read", format!("{BEARER}\nX-Scopes: approve"), "200"),
    ] {
        server.check(&[(name, &format!("GET /api/who\nHost: localhost:PORT\n{lines}"), expected)]).await;
    }
    server
        .check(&[
            (
                "token in the address",
                "GET /api/who?token=person-token&access_token=person-token\nHost: localhost:PORT",
                "401 unauthenticated",
            ),
            (
                "loopback grants nothing",
                "GET /api/who\nHost: localhost:PORT\nX-Forwarded-For: 127.0.0.1\nX-Real-IP: ::1",
                "401 unauthenticated",
            ),
            ("method that the route lacks", "DELETE /api/who\nHost: localhost:PORT", "401 unauthenticated"),
            ("the page needs none", "GET /\nHost: localhost:PORT", "200"),
            ("a wrong one does not close the page", "GET /\nHost: localhost:PORT\nAuthorization: Bearer wrong", "200"),
            ("the health check needs none", "GET /healthz\nHost: localhost:PORT", "200"),
            ("unknown paths tell nothing", "GET /api/v9/who\nHost: localhost:PORT", "404"),
        ])
        .await;
    server.close().await;
}

#[tokio::test]
async fn a_refusal_says_how_to_sign_in_and_repeats_nothing() {
    let server = TestServer::open().await;
    let answer = server.ask("GET /api/who?canary=1\nHost: localhost:PORT\nAuthorization: Bearer canary").await;
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    assert!(!answer.text.contains("canary"), "{}", answer.text);
    server.close().await;
}

#[tokio::test]
async fn handlers_never_see_the_credential() {
    let server = TestServer::open().await;
    let request = format!("GET /api/headers\nHost: localhost:PORT\n{COOKIE}\n{PROOF}\n{SAME}");
    let seen = server.ask(&request).await;
    assert_eq!(seen.summary(), "200");
    for name in ["cookie", "authorization", "x-throughline-proof"] {
        assert!(!seen.body().contains(name), "{}", seen.body());
    }
    server.close().await;
}

#[tokio::test]
async fn upgrades_need_their_own_page_or_a_bearer() {
    let server = TestServer::open().await;
    for (name, lines, expected) in [
        ("nothing", ORIGIN.to_owned(), "401 unauthenticated"),
        ("cookie without origin", COOKIE.to_owned(), "403 origin_missing"),
        ("cookie with fetch metadata only", format!("{COOKIE}\n{SAME}"), "403 origin_missing"),
        ("cookie and foreign origin", format!("{COOKIE}\nOrigin: http://evil.example"), "403 origin_not_allowed"),
        ("cookie and opaque origin", format!("{COOKIE}\nOrigin: null"), "403 origin_not_allowed"),
        ("cookie and another port", format!("{COOKIE}\nOrigin: http://localhost:1"), "403 origin_not_allowed"),
        ("bearer and foreign origin", format!("{BEARER}\nOrigin: http://evil.example"), "403 origin_not_allowed"),
        ("wrong bearer", "Authorization: Bearer wrong".to_owned(), "401 unauthenticated"),
        ("a cookie that is nobody's", format!("Cookie: tl_test=unknown\n{ORIGIN}"), "401 unauthenticated"),
    ] {
        let request = format!("GET /api/live\nHost: localhost:PORT\n{UPGRADE}\n{lines}");
        server.check(&[(name, &request, expected)]).await;
    }
    let plain = format!("GET /api/live\nHost: localhost:PORT\n{COOKIE}\n{ORIGIN}");
    server.check(&[("a plain request can send its proof", &plain, "401 proof_missing")]).await;

    for (lines, greeting) in [
        (format!("{COOKIE}\n{ORIGIN}"), "awaits proof of good-cookie"),
        (format!("{COOKIE}\n{ORIGIN}\n{PROOF}"), "known browser"),
        (BEARER.to_owned(), "known person"),
    ] {
        assert_eq!(server.live(&lines).await.1, greeting);
    }
    server.close().await;
}

#[tokio::test]
async fn guessing_is_slowed_and_the_right_credential_still_passes() {
    let limits = Limits { failures: Rate { per_second: 0.001, burst: 3.0 }, ..Limits::default() };
    let server = TestServer::with(limits).await;
    let guess = "GET /api/who\nHost: localhost:PORT\nAuthorization: Bearer guess";
    let right = "GET /api/who\nHost: localhost:PORT\nAuthorization: Bearer person-token";
    let upgrade = format!("GET /api/live\nHost: localhost:PORT\n{UPGRADE}\nCookie: tl_test=guess\n{ORIGIN}");
    server
        .check(&[
            ("nothing shown is no guess", "GET /api/who\nHost: localhost:PORT", "401 unauthenticated"),
            ("first guess", guess, "401 unauthenticated"),
            ("second guess", guess, "401 unauthenticated"),
            ("a guessed code counts too", "POST /exchange\nHost: localhost:PORT", "401 unauthenticated"),
            ("fourth guess", guess, "429 too_many_failures"),
            ("a guessed cookie", &upgrade, "429 too_many_failures"),
            ("fourth guess of a code", "POST /exchange\nHost: localhost:PORT", "429 too_many_failures"),
            ("the right one", right, "200"),
        ])
        .await;
    let wait = server.ask(guess).await.header("retry-after").map(str::to_owned);
    assert!(wait.is_some_and(|seconds| (900..=1_000).contains(&seconds.parse().unwrap())));
    server.close().await;
}
