//! The embedded page: no credential, no data, nothing that others may frame or script.

use crate::support::World;

#[tokio::test]
async fn the_page_is_served_at_every_address_that_it_draws() {
    let world = World::open().await;
    let index = world.call_as(vec![], "GET /", None).await;
    assert_eq!((index.status, index.header("content-type")), (200, Some("text/html")));
    assert_eq!(index.header("cache-control"), Some("no-cache"));
    for path in ["/s/0190a8c0-0000-7000-8000-000000000001", "/?applet=x", "/anything", "/apiary", "/index.html"] {
        let answer = world.call_as(vec![], &format!("GET {path}"), None).await;
        let expected = if path == "/index.html" { 404 } else { 200 };
        assert_eq!(answer.status, expected, "{path}");
        assert!(expected == 404 || answer.body == index.body, "{path}");
    }
    for path in ["/missing.js", "/assets/missing.js", "/assets/%2e%2e/index.html", "/../Cargo.toml"] {
        let answer = world.call_as(vec![], &format!("GET {path}"), None).await;
        assert_eq!(answer.summary(), "404 not_found", "{path}");
    }
    world.close().await;
}

#[tokio::test]
async fn the_page_lets_nothing_in_from_elsewhere() {
    let world = World::open().await;
    let answer = world.call_as(vec![], "GET /", None).await;
    let policy = answer.header("content-security-policy").unwrap();
    for rule in
        ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"]
    {
        assert!(policy.split("; ").any(|found| found == rule), "{rule} is not in {policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    assert!(answer.headers.keys().all(|name| !name.as_str().starts_with("access-control-")));
    world.close().await;
}

#[tokio::test]
async fn a_head_request_is_answered_like_a_get_without_its_body() {
    let world = World::open().await;
    let (get, head) = (world.call_as(vec![], "GET /", None).await, world.call_as(vec![], "HEAD /", None).await);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), get.header("content-length"));
    let (get, head) = (world.get("/api/v1/sessions").await, world.call("HEAD /api/v1/sessions", None).await);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), get.header("content-length"));
    world.close().await;
}
