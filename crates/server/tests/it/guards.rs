//! Every route of the real server behind every guard (T01–T08, T14, T29, T35).
//!
//! `doors` proves that the guards judge rightly; this proves that each route stands behind them. The routes come from
//! the API's description, so a new one is tried without being named here.

use doors::{Limits, Rate};
use hyper::body::Bytes;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::client::{Answer, Browser, Lines, bearer};
use crate::openapi;
use crate::support::{Way, World, roomy, within};

/// A route with its ids filled in.
struct Route {
    /// As described, with its method.
    name: String,
    request: String,
    body: Option<Bytes>,
}

impl Route {
    fn is_open(&self) -> bool {
        self.name == "POST /api/v1/auth/exchange" || self.is_ticket()
    }

    fn is_ticket(&self) -> bool {
        self.name == "GET /api/v1/tickets/{ticket}"
    }

    fn is_of_a_session(&self) -> bool {
        self.name.contains("/sessions/{id}")
    }

    fn only_reads(&self) -> bool {
        self.name.starts_with("GET ")
    }
}

/// A server with a session in which something runs and something waits, and all its routes on both paths.
struct Sweep {
    world: World,
    routes: Vec<Route>,
    session: String,
}

impl Sweep {
    async fn new(limits: Limits) -> Self {
        let world = World::with(limits).await;
        let session = world.session().await;
        world.prompt(&session, "slow 600").await;
        let waits = world.prompt(&session, "say later").await;
        let token = world.call("GET /api/v1/tokens", None).await.ok(200)["tokens"][0]["id"].clone();
        let mut routes = Vec::new();
        for (method, path, body) in openapi::routes() {
            let id = if path.contains("/tokens/") { token.as_str().unwrap() } else { &session };
            let filled = path.replace("{id}", id).replace("{interaction}", &waits);
            let filled = filled
                .replace("/changes/file", "/changes/file?path=/x")
                .replace("{request}", "p1")
                .replace("{option}", "pace");
            let filled = filled.replace("{name}", "guide").replace("{turn}", "1").replace("{block}", "t1.n1");
            let filled = filled.replace("{output}", "out_00000000000000000000000000000000").replace("{ticket}", "0000");
            let filled = filled.replace("{applet}", "counter").replace("{version}", "1");
            let mut filled = filled.replace("{sha256}", &"0".repeat(64));
            if path.ends_with("/storage/applet/{applet}/ticket") {
                filled = format!("{filled}?session={session}");
            }
            if path.contains("/export") {
                filled.push_str("?as=markdown");
            }
            assert!(!filled.contains('{'), "an id in {path} is not known to this test");
            let unversioned = filled.replacen("/api/v1/", "/api/", 1);
            for path_as_sent in [&filled, &unversioned] {
                routes.push(Route {
                    name: format!("{method} {path}"),
                    request: format!("{method} {path_as_sent}"),
                    body: body.as_ref().map(|body| serde_json::to_vec(body).unwrap().into()),
                });
            }
        }
        let metrics = "GET /metrics".to_owned();
        routes.push(Route { name: metrics.clone(), request: metrics, body: None });
        assert!(routes.len() > 40, "only {} routes", routes.len());
        Self { world, routes, session }
    }

    /// Sends every route with these header lines and compares each summary; nothing may be written.
    async fn check(&self, what: &str, lines: &Lines, expected: impl Fn(&Route) -> Option<&'static str>) {
        let before = self.world.position().await;
        for route in &self.routes {
            let Some(expected) = expected(route) else { continue };
            let answer = self.world.send(Way::Port, lines.clone(), &route.request, route.body.clone()).await;
            assert_eq!(answer.summary(), expected, "{what}: {}: {}", route.request, answer.text());
            assert_closed_to_others(&answer);
        }
        assert_eq!(self.world.position().await, before, "{what}: something was written");
    }
}

/// No answer of the API may be kept, framed, sniffed or read by another origin.
fn assert_closed_to_others(answer: &Answer) {
    assert!(answer.headers.keys().all(|name| !name.as_str().starts_with("access-control-")), "{:?}", answer.headers);
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

fn with(mut lines: Lines, more: &[(&'static str, &str)]) -> Lines {
    lines.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
    lines
}

#[tokio::test]
async fn nobody_gets_in_without_a_credential() {
    let sweep = Sweep::new(roomy()).await;
    let world = &sweep.world;
    let unknown = |route: &Route| {
        Some(match route.is_open() {
            true if route.is_ticket() => "404 ticket_not_found",
            true => "401 invalid_code",
            false => "401 unauthenticated",
        })
    };
    let unreadable = [
        ("nothing", vec![]),
        ("a wrong bearer", bearer("0000000000000000000000000000000000000000000000000000000000000000")),
        ("half a bearer", bearer(&world.token[..32])),
        ("a bearer and more", bearer(&format!("{}0", world.token))),
        ("another scheme", vec![("authorization", format!("Basic {}", world.token))]),
        ("the token as a cookie", vec![("cookie", format!("token={}", world.token))]),
        ("forwarded headers", with(vec![], &[("x-forwarded-for", "127.0.0.1"), ("forwarded", "for=127.0.0.1")])),
    ];
    for (what, lines) in unreadable {
        sweep.check(what, &lines, unknown).await;
    }
    // Nor through the address: a credential in a link would be kept in histories and logs.
    let answer = world.call_as(vec![], &format!("GET /api/v1/sessions?token={}", world.token), None).await;
    assert_eq!(answer.summary(), "401 unauthenticated");
    sweep.world.close().await;
}

#[tokio::test]
async fn another_host_origin_or_site_is_refused_whatever_it_shows() {
    let sweep = Sweep::new(roomy()).await;
    let world = &sweep.world;
    let port = world.address.port();
    let browser = world.sign_in().await;
    for credential in [world.bearer(), world.page_lines(&browser)] {
        let plain: Lines = credential.iter().filter(|(name, _)| *name != "origin").cloned().collect();
        for host in [
            "evil.example".to_owned(),
            format!("evil.example:{port}"),
            format!("0.0.0.0:{port}"),
            format!("127.0.0.1.evil.example:{port}"),
            "127.0.0.1:1".to_owned(),
        ] {
            sweep.check(&host, &with(plain.clone(), &[("host", &host)]), |_| Some("403 host_not_allowed")).await;
        }
        for origin in [
            "null".to_owned(),
            "http://evil.example".to_owned(),
            "http://127.0.0.1:1".to_owned(),
            format!("https://127.0.0.1:{port}"),
            format!("http://localhost:{port}"),
            format!("http://127.0.0.1:{port}.evil.example"),
        ] {
            sweep
                .check(&origin, &with(plain.clone(), &[("origin", &origin)]), |_| Some("403 origin_not_allowed"))
                .await;
        }
        let plain: Lines = plain.into_iter().filter(|(name, _)| *name != "sec-fetch-site").collect();
        for site in ["cross-site", "same-site", "nonsense"] {
            sweep.check(site, &with(plain.clone(), &[("sec-fetch-site", site)]), |_| Some("403 cross_site")).await;
        }
    }
    sweep.world.close().await;
}

#[tokio::test]
async fn a_cookie_opens_nothing_without_its_own_proof() {
    let sweep = Sweep::new(roomy()).await;
    let world = &sweep.world;
    let (one, two) = (world.sign_in().await, world.sign_in().await);
    let open_or = |code: &'static str| move |route: &Route| (!route.is_open()).then_some(code);
    let cookie =
        with(vec![], &[("cookie", &one.cookie), ("origin", &world.origin()), ("sec-fetch-site", "same-origin")]);
    sweep.check("no proof", &cookie, open_or("401 proof_missing")).await;
    let another = Browser { cookie: one.cookie.clone(), proof: two.proof.clone() };
    sweep.check("another's proof", &world.page_lines(&another), open_or("401 unauthenticated")).await;
    let empty = with(cookie.clone(), &[("x-throughline-proof", "")]);
    sweep.check("an empty proof", &empty, open_or("401 unauthenticated")).await;
    let proof = with(vec![], &[("x-throughline-proof", &one.proof)]);
    sweep.check("a proof alone", &proof, open_or("401 unauthenticated")).await;
    let value = one.cookie.split_once('=').unwrap().1;
    sweep.check("the cookie as bearer", &bearer(value), open_or("401 unauthenticated")).await;
    sweep.check("the proof as bearer", &bearer(&one.proof), open_or("401 unauthenticated")).await;
    let both = with(world.page_lines(&one), &[("authorization", &format!("Bearer {}", world.token))]);
    sweep.check("two credentials", &both, open_or("400 ambiguous_credentials")).await;
    // Whole, it opens.
    let answer = world.call_as(world.page_lines(&one), "GET /api/v1/sessions", None).await;
    assert_eq!(answer.ok(200)["sessions"].as_array().unwrap().len(), 1);
    sweep.world.close().await;
}

/// T29, T35: an agent reads its own session; another's does not exist for it, and it changes nothing.
#[tokio::test]
async fn an_agents_token_reads_its_own_session_and_no_more() {
    let sweep = Sweep::new(roomy()).await;
    let world = &sweep.world;
    let other = world.session().await;
    let (own, foreign) = (world.agent_token(&sweep.session).await, world.agent_token(&other).await);
    let beyond = |route: &Route| match route.name.as_str() {
        "GET /api/v1/whoami" => Some("200"),
        // A prompt that waits is no turn; nor is another session's.
        "GET /api/v1/interactions/{interaction}" => Some("404 interaction_not_found"),
        "GET /api/v1/outputs/{output}" | "GET /api/v1/outputs/{output}/lines" => Some("404 output_not_found"),
        _ if route.is_open() => None,
        _ => Some("403 forbidden"),
    };
    let of_another = |route: &Route| match route.name.as_str() {
        // What is missing in the address is said before anything is looked at.
        "GET /api/v1/sessions/{id}/turns" => Some("400 invalid_query"),
        "POST /api/v1/storage/applet/{applet}/ticket" => Some("404 session_not_found"),
        _ if route.is_of_a_session() => Some("404 session_not_found"),
        _ => beyond(route),
    };
    sweep.check("another session's agent", &bearer(&foreign), of_another).await;
    let of_its_own = |route: &Route| {
        // It has tools of its own to look at files; what is not sent yet is the person's.
        let is_the_persons =
            ["/files", "/changes", "/changes/file", "/unsent"].iter().any(|end| route.name.ends_with(end));
        if route.name.contains("/outputs/{output}") && !route.name.starts_with("DELETE ") {
            return Some("404 output_not_found");
        }
        if route.name.ends_with("/bodies/{sha256}") {
            return Some("404 body_not_found");
        }
        // An address of what it may read anyway.
        if route.name.ends_with("/export/ticket") || route.name.ends_with("/applet/{applet}/ticket") {
            return Some("201");
        }
        if route.name.ends_with("/turns") || route.name.ends_with("{id}/search") {
            return Some("400 invalid_query");
        }
        if route.is_of_a_session() && route.only_reads() && !is_the_persons { Some("200") } else { beyond(route) }
    };
    sweep.check("the session's own agent", &bearer(&own), of_its_own).await;

    let who = world.call_as(bearer(&own), "GET /api/v1/whoami", None).await.ok(200);
    assert_eq!((&who["role"], &who["session"]), (&json!("agent"), &json!(sweep.session)));
    // Nothing the caller says widens it.
    for line in [("x-role", "person"), ("x-throughline-session", other.as_str()), ("x-scope", "manage")] {
        let answer = world.call_as(with(bearer(&own), &[line]), "GET /api/v1/tokens", None).await;
        assert_eq!(answer.summary(), "403 forbidden");
    }
    sweep.world.close().await;
}

/// The Unix socket knows its peer by its uid; a browser's headers there mean that somebody relays one.
#[tokio::test]
async fn the_socket_lets_the_person_in_and_no_browser() {
    let sweep = Sweep::new(roomy()).await;
    let world = &sweep.world;
    let ask = async |lines: Lines, request: &str| world.send(Way::Socket, lines, request, None).await;
    assert_eq!(ask(vec![], "GET /api/v1/whoami").await.ok(200)["role"], "person");
    assert_eq!(ask(bearer("wrong"), "GET /api/v1/whoami").await.summary(), "401 unauthenticated");
    let browser = world.sign_in().await;
    for route in &sweep.routes {
        for (lines, expected) in [
            (with(vec![], &[("origin", "http://localhost")]), "403 origin_not_allowed"),
            (with(vec![], &[("referer", "http://localhost/")]), "403 origin_not_allowed"),
            (with(vec![], &[("sec-fetch-site", "cross-site")]), "403 cross_site"),
            (with(vec![], &[("host", "evil.example")]), "403 host_not_allowed"),
        ] {
            let answer = world.send(Way::Socket, lines, &route.request, route.body.clone()).await;
            assert_eq!(answer.summary(), expected, "{}", route.request);
        }
        if !route.is_open() {
            let lines = with(vec![], &[("cookie", &browser.cookie)]);
            let answer = world.send(Way::Socket, lines, &route.request, route.body.clone()).await;
            assert_eq!(answer.summary(), "400 ambiguous_credentials", "{}", route.request);
        }
    }
    sweep.world.close().await;
}

/// Methods and addresses that no route has are behind the same guards: what exists is not told to strangers.
#[tokio::test]
async fn what_does_not_exist_is_guarded_too() {
    let world = World::open().await;
    let session = world.session().await;
    for request in [
        format!("PUT /api/v1/sessions/{session}"),
        "DELETE /api/v1/sessions".to_owned(),
        format!("GET /api/v1/sessions/{session}/cancel"),
        "GET /api/v1/live".to_owned(),
        "GET /api/live".to_owned(),
        "POST /api/live".to_owned(),
    ] {
        assert_eq!(world.call_as(vec![], &request, None).await.summary(), "401 unauthenticated", "{request}");
        let foreign = with(world.bearer(), &[("origin", "http://evil.example")]);
        assert_eq!(world.call_as(foreign, &request, None).await.summary(), "403 origin_not_allowed", "{request}");
    }
    for request in ["GET /", "GET /api/v1/nothing", "GET /healthz", "GET /assets/x.js"] {
        let host = with(vec![], &[("host", "evil.example")]);
        assert_eq!(world.call_as(host, request, None).await.summary(), "403 host_not_allowed", "{request}");
        let origin = with(vec![], &[("origin", "null")]);
        assert_eq!(world.call_as(origin, request, None).await.summary(), "403 origin_not_allowed", "{request}");
    }
    world.close().await;
}

/// T13: bodies that never end, on the one route that anybody may post to, take no memory and nobody's place.
#[tokio::test]
async fn unfinished_bodies_without_a_credential_are_refused_at_once() {
    let world = World::open().await;
    let mut waiting = Vec::new();
    for length in [12 << 20, 4_096] {
        for _ in 0..300 {
            let mut stream = world.connect(Way::Port).await.unwrap();
            let head = format!(
                "POST /api/v1/auth/exchange HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
                 Content-Length: {length}\r\n\r\n{{",
                world.address.port()
            );
            stream.write_all(head.as_bytes()).await.unwrap();
            waiting.push(stream);
        }
    }
    let mut large = waiting.swap_remove(0);
    let mut answer = Vec::new();
    let _closed = within("the refusal", large.read_to_end(&mut answer)).await;
    assert!(answer.starts_with(b"HTTP/1.1 413"), "{}", String::from_utf8_lossy(&answer));
    world.get("/api/v1/whoami").await.ok(200);
    assert_eq!(world.call_as(vec![], "GET /healthz", None).await.status, 200);
    world.sign_in().await;
    drop(waiting);
    world.close().await;
}

/// What is not there is not kept by anybody either: it may be there tomorrow.
#[tokio::test]
async fn what_is_not_found_is_not_cached() {
    let world = World::open().await;
    for path in ["/api/v1/nothing", "/api/nothing", "/api", "/assets/none.js"] {
        let answer = world.get(path).await;
        assert_eq!((answer.status, answer.header("cache-control")), (404, Some("no-store")), "{path}");
    }
    world.close().await;
}

/// T10: guesses are counted, and a right credential is never held back by somebody's wrong ones.
#[tokio::test]
async fn wrong_credentials_are_limited_and_right_ones_pass() {
    let failures = Rate { per_second: 0.001, burst: 5.0 };
    let world = World::with(Limits { failures, ..roomy() }).await;
    let mut summaries = Vec::new();
    for _ in 0..7 {
        summaries.push(world.call_as(bearer("wrong"), "GET /api/v1/whoami", None).await.summary());
    }
    assert_eq!(summaries[..5], ["401 unauthenticated"; 5]);
    assert_eq!(summaries[5..], ["429 too_many_failures"; 2]);
    let limited = world.call_as(bearer("wrong"), "GET /api/v1/whoami", None).await;
    assert!(limited.header("retry-after").is_some(), "{:?}", limited.headers);
    world.get("/api/v1/whoami").await.ok(200);
    let wrong_code = world.call_as(vec![], "POST /api/v1/auth/exchange", json!({ "code": "wrong" })).await;
    assert_eq!(wrong_code.summary(), "429 too_many_failures");
    world.sign_in().await;
    world.close().await;
}

/// What an address says about the caller grants nothing, and nothing is believed that a caller says of itself.
#[tokio::test]
async fn a_principal_that_asks_too_often_is_told_when_to_come_back() {
    let requests = Rate { per_second: 0.001, burst: 4.0 };
    let world = World::with(Limits { requests, ..roomy() }).await;
    let mut summaries = Vec::new();
    for _ in 0..6 {
        summaries.push(world.get("/api/v1/whoami").await.summary());
    }
    assert_eq!(summaries[..4], ["200"; 4]);
    assert_eq!(summaries[4..], ["429 rate_limited"; 2]);
    // The command line has its own way in and its own count.
    let local: Value = world.send(Way::Socket, vec![], "GET /api/v1/whoami", None).await.ok(200);
    assert_eq!(local["role"], "person");
    world.close().await;
}
