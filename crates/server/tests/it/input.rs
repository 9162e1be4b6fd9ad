//! Input that is not what a route takes: a typed refusal each, and nothing written.

use hyper::body::Bytes;
use serde_json::{Value, json};

use crate::support::{CWD, Way, World, id};

/// Sends each row and expects its refusal; the log must not move.
async fn check(world: &World, rows: &[(String, Bytes, &str)]) {
    let before = world.position().await;
    for (request, body, expected) in rows {
        let body = Some(body.clone()).filter(|body| !body.is_empty());
        let answer = world.send(Way::Port, world.bearer(), request, body.clone()).await;
        let shown = body.map(|body| String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned());
        assert_eq!(answer.summary(), *expected, "{request} {shown:?}: {}", answer.text());
    }
    assert_eq!(world.position().await, before, "a refused request was written down");
}

fn bytes(body: &Value) -> Bytes {
    serde_json::to_vec(body).unwrap().into()
}

#[tokio::test]
async fn bodies_that_are_not_what_a_route_takes() {
    let world = World::on_disk().await;
    let session = world.session().await;
    world.prompt(&session, "slow 600").await;
    let waits = world.prompt(&session, "say later").await;
    let path = format!("/api/v1/sessions/{session}");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let mut rows = Vec::new();
    for request in [
        "POST /api/v1/sessions".to_owned(),
        "POST /api/sessions".to_owned(),
        format!("PATCH {path}"),
        format!("POST {path}/prompts"),
        format!("PATCH {path}/prompts/{waits}"),
        "POST /api/v1/tokens".to_owned(),
        "POST /api/v1/auth/exchange".to_owned(),
    ] {
        for body in [
            Bytes::new(),
            Bytes::from_static(b"{"),
            Bytes::from_static(b"not json"),
            Bytes::from_static(b"null"),
            Bytes::from_static(b"[]"),
            Bytes::from_static(b" [[]]"),
            Bytes::from_static(b"\n[\"guide\", \"/usr\", null, false, null]"),
            Bytes::from_static(b"[\"text\"]"),
            Bytes::from_static(b"\"text\""),
            Bytes::from_static(b"{} {}"),
            Bytes::from_static(b"{\"text\": \"\xff\xfe\", \"name\": \"\xff\", \"code\": \"\xff\"}"),
            Bytes::from_static(b"{\"name\": 5, \"text\": 5, \"code\": 5}"),
            Bytes::from_static(b"{\"name\": [\"a\"], \"text\": {\"a\": 1}, \"code\": [1]}"),
            Bytes::from_static(b"{\"name\": \"a\", \"name\": \"b\", \"text\": \"a\", \"text\": \"b\", \"code\": 1}"),
            Bytes::from_static(b"{\"surprise\": true}"),
            Bytes::from(deep.clone()),
            Bytes::from(format!("{{\"name\": {deep}}}")),
            Bytes::from(format!("{{\"surprise\": {deep}}}")),
        ] {
            // Nobody is listened to for that long without a credential.
            let too_long = request.ends_with("/auth/exchange") && body.len() > 4_096;
            let expected = if too_long { "413 body_too_large" } else { "400 invalid_body" };
            rows.push((request.clone(), body, expected));
        }
    }
    check(&world, &rows).await;
    world.close().await;
}

/// Requests that say everything in their address take no body, or one with a key.
#[tokio::test]
async fn bodies_where_there_is_nothing_to_say() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let token = world.call("POST /api/v1/tokens", json!({ "name": "x" })).await.ok(201);
    let path = format!("/api/v1/sessions/{session}");
    let mut rows = Vec::new();
    for request in [
        format!("POST {path}/observe"),
        format!("POST {path}/cancel"),
        format!("POST {path}/restore"),
        format!("DELETE {path}"),
        format!("DELETE {path}/prompts/{}", id(99)),
        "POST /api/v1/tokens/rotate".to_owned(),
        "POST /api/v1/tokens/link".to_owned(),
        format!("DELETE /api/v1/tokens/{}", token["token"]["id"].as_str().unwrap()),
    ] {
        for body in [
            "{",
            "not json",
            "null",
            "[]",
            "[\"k\"]",
            "\"text\"",
            "{} {}",
            "{\"surprise\": true}",
            "{\"key\": 5}",
            "{\"key\": \"a\", \"key\": \"b\"}",
            "{\"key\": \"a\", \"more\": 1}",
        ] {
            rows.push((request.clone(), Bytes::from_static(body.as_bytes()), "400 invalid_body"));
        }
    }
    // A name may be said here, or not: null says none.
    rows.retain(|(request, body, _)| !(request.ends_with("/link") && body == "null"));
    check(&world, &rows).await;
    for request in ["observe", "cancel"] {
        let answer = world.call(&format!("POST {path}/{request}"), json!({})).await;
        assert_ne!(answer.status, 400, "{request}: {}", answer.text());
    }
    for body in [json!({}), json!(null)] {
        world.call("POST /api/v1/tokens/link", body).await.ok(201);
    }
    world.close().await;
}

/// No route takes a parameter that it does not know.
#[tokio::test]
async fn parameters_that_a_route_does_not_know() {
    let world = World::open().await;
    let session = world.session().await;
    let waits = id(99);
    let mut rows = Vec::new();
    for query in ["surprise=1", "key=x", "token=x", "=", "now=true&surprise=1", "limit=1&surprise"] {
        for (method, path, body) in crate::openapi::routes() {
            let path = path.replace("{id}", &session).replace("{interaction}", &waits);
            let path = path.replace("{request}", "p1").replace("{option}", "pace");
            let path = path.replace("{name}", "guide").replace("{turn}", "1").replace("{block}", "t1.n1");
            let path = path.replace("{output}", "out_00000000000000000000000000000000").replace("{ticket}", "0000");
            let path = path.replace("{sha256}", &"0".repeat(64));
            let body = body.map(|body| bytes(&body)).unwrap_or_default();
            rows.push((format!("{method} {path}?{query}"), body, "400 invalid_query"));
        }
        for path in ["/api/v1/live", "/metrics", "/healthz"] {
            rows.push((format!("GET {path}?{query}"), Bytes::new(), "400 invalid_query"));
        }
    }
    check(&world, &rows).await;
    world.close().await;
}

/// What later features will take is refused until they exist, so that no client believes it was heard.
#[tokio::test]
async fn fields_of_later_features_are_refused() {
    let world = World::open().await;
    let session = world.session().await;
    let path = format!("/api/v1/sessions/{session}");
    let mut rows = Vec::new();
    for (request, whole, later) in [
        ("POST /api/v1/sessions".to_owned(), json!({ "agent": "guide", "cwd": CWD }), vec!["meta_context", "model"]),
        (format!("PATCH {path}"), json!({ "name": "x" }), vec!["env_hint"]),
        (format!("POST {path}/prompts"), json!({ "text": "x" }), vec!["images", "when_busy", "mode"]),
    ] {
        for field in later {
            for value in [json!("x"), json!(["x"]), json!({}), Value::Null] {
                let mut body = whole.clone();
                body[field] = value;
                rows.push((request.clone(), bytes(&body), "400 invalid_body"));
            }
        }
    }
    check(&world, &rows).await;
    let shown = world.get(&path).await.ok(200);
    assert_eq!((&shown["meta"]["name"], &shown["turns"]), (&json!(""), &json!(0)));
    world.close().await;
}

#[tokio::test]
async fn values_that_break_a_rule() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let file = world.directory.path().join("token");
    let path = format!("/api/v1/sessions/{session}");
    let new = |field: &str, value: Value| {
        let mut body = json!({ "agent": "guide", "cwd": CWD });
        body[field] = value;
        ("POST /api/v1/sessions".to_owned(), bytes(&body))
    };
    let patch = |body: Value| (format!("PATCH {path}"), bytes(&body));
    let prompt = |text: String| (format!("POST {path}/prompts"), bytes(&json!({ "text": text })));
    let token = |body: Value| ("POST /api/v1/tokens".to_owned(), bytes(&body));
    let rows = [
        (new("agent", json!("nobody")), "400 unknown_agent"),
        (new("agent", json!("")), "400 unknown_agent"),
        (new("agent", json!("guide\0")), "400 unknown_agent"),
        (new("cwd", json!("")), "400 directory_not_absolute"),
        (new("cwd", json!("usr")), "400 directory_not_absolute"),
        (new("cwd", json!("~nobody")), "400 directory_not_absolute"),
        (new("cwd", json!("~")), "409 confirm_required"),
        (new("cwd", json!("~/nowhere")), "400 directory_not_found"),
        (new("cwd", json!("/nowhere/at/all")), "400 directory_not_found"),
        (new("cwd", json!("/usr\0")), "400 directory_not_found"),
        (new("cwd", json!(file)), "400 directory_not_found"),
        (new("cwd", json!(format!("/{}", "x".repeat(5_000)))), "400 directory_not_found"),
        (new("name", json!("x".repeat(201))), "400 name_invalid"),
        (new("name", json!("x".repeat(1 << 20))), "400 name_invalid"),
        (new("name", json!("nul\0")), "400 name_invalid"),
        (new("name", json!("two\nlines")), "400 name_invalid"),
        (new("name", json!("\u{1b}[31m")), "400 name_invalid"),
        (new("confirm", json!("yes")), "400 invalid_body"),
        (patch(json!({ "name": "ä".repeat(201) })), "400 name_invalid"),
        (patch(json!({ "name": "a\u{7f}" })), "400 name_invalid"),
        (patch(json!({ "envHint": "x".repeat(2_001) })), "400 env_hint_invalid"),
        (patch(json!({ "envHint": "nul\0" })), "400 env_hint_invalid"),
        (patch(json!({ "name": "fine", "envHint": "nul\0" })), "400 env_hint_invalid"),
        (prompt(String::new()), "400 prompt_empty"),
        (prompt(" \n\t ".to_owned()), "400 prompt_empty"),
        (prompt("x".repeat((1 << 20) + 1)), "413 prompt_too_long"),
        (prompt("ä".repeat((1 << 19) + 1)), "413 prompt_too_long"),
        (prompt("x".repeat(12 << 20)), "413 body_too_large"),
        ((format!("POST {path}/prompts"), bytes(&json!({ "text": "x", "whenBusy": "wait" }))), "400 invalid_body"),
        (token(json!({ "name": "" })), "400 invalid_name"),
        (token(json!({ "name": "x".repeat(101) })), "400 invalid_name"),
        (token(json!({ "name": "a\nb" })), "400 invalid_name"),
        (token(json!({ "name": "x", "session": "nonsense" })), "400 invalid_body"),
        (token(json!({ "name": "x", "session": id(99) })), "404 session_not_found"),
    ];
    let rows: Vec<(String, Bytes, &str)> =
        rows.into_iter().map(|((request, body), expected)| (request, body, expected)).collect();
    check(&world, &rows).await;

    // The longest that are taken.
    world
        .call(&format!("PATCH {path}"), json!({ "name": "ä".repeat(200), "envHint": "x\n".repeat(1_000) }))
        .await
        .ok(200);
    let longest = format!("say {}", "x".repeat((1 << 20) - 4));
    world.turn(&session, &longest).await;
    world.close().await;
}

#[tokio::test]
async fn addresses_and_queries_that_lead_nowhere() {
    let world = World::open().await;
    let session = world.session().await;
    let path = format!("/api/v1/sessions/{session}");
    let upper = session.to_uppercase();
    let row = |request: &str, expected: &'static str| (request.to_owned(), Bytes::new(), expected);
    let mut rows = vec![
        row("GET /api/v1", "404 not_found"),
        row("GET /api", "404 not_found"),
        row("GET /api/", "404 not_found"),
        row("GET /api/v2/sessions", "404 not_found"),
        row("POST /api/v1/nothing", "404 not_found"),
        row("GET /api/v1/sessions/", "404 not_found"),
        row("GET /mcp", "400 -32600 session_not_named"),
        row("PUT /api/v1/sessions", "405 method_not_allowed"),
        row("DELETE /api/v1/sessions", "405 method_not_allowed"),
        row(&format!("POST {path}"), "405 method_not_allowed"),
        row(&format!("PUT {path}"), "405 method_not_allowed"),
        row(&format!("GET {path}/prompts"), "405 method_not_allowed"),
        row(&format!("POST {path}/entries"), "405 method_not_allowed"),
        row(&format!("GET {path}/cancel"), "405 method_not_allowed"),
        row("GET /api/v1/auth/exchange", "405 method_not_allowed"),
        row("POST /healthz", "405 method_not_allowed"),
        row("POST /metrics", "405 method_not_allowed"),
        row("OPTIONS /api/v1/sessions", "405 method_not_allowed"),
        row("TRACE /api/v1/sessions", "405 method_not_allowed"),
        row("BREW /api/v1/sessions", "405 method_not_allowed"),
        row("POST /", "405 method_not_allowed"),
        row("DELETE /s/anything", "405 method_not_allowed"),
        row("GET /api/v1/live", "426 upgrade_required"),
        row("POST /api/v1/live", "426 upgrade_required"),
        row("DELETE /api/v1/tokens/nonsense", "404 token_not_found"),
        row(&format!("DELETE /api/v1/tokens/{}", id(99)), "404 token_not_found"),
    ];
    for query in ["limit=0", "limit=201", "limit=-1", "limit=x", "limit=", "limit=99999999999", "limit=1&limit=2"] {
        rows.push(row(&format!("GET /api/v1/sessions?{query}"), "400 invalid_query"));
    }
    for query in ["limit=0", "limit=1001", "limit=1e3", "after=1&after=2", "before=1", "%ff=1"] {
        rows.push(row(&format!("GET {path}/entries?{query}"), "400 invalid_query"));
    }
    for query in ["now=yes", "now=1", "now", "now=", "later=true", "now=true&now=true"] {
        rows.push(row(&format!("DELETE {path}?{query}"), "400 invalid_query"));
    }
    for after in ["", "x", "1.x", "5", "9223372036854775808.x", &format!("-0.{session}"), &format!("1.{upper}")] {
        rows.push(row(&format!("GET /api/v1/sessions?after={after}"), "400 invalid_cursor"));
    }
    // An id has one spelling, and what is none names nothing.
    let long = "x".repeat(3_000);
    let ids = ["nonsense", "..", "%2e%2e", "%00", "%ff", "*", "'--", &upper, &session.replace('-', ""), &long, &id(99)];
    for name in ids {
        for (method, rest) in
            [("GET", ""), ("GET", "/entries"), ("POST", "/cancel"), ("POST", "/observe"), ("DELETE", "")]
        {
            let expected = if name == "%ff" { "404 not_found" } else { "404 session_not_found" };
            rows.push(row(&format!("{method} /api/v1/sessions/{name}{rest}"), expected));
        }
    }
    check(&world, &rows).await;

    // Extremes that are well-formed cursors of the list.
    for after in [format!("253370764800000.{session}"), format!("-1.{session}"), format!("0.{}", id(0))] {
        world.get(&format!("/api/v1/sessions?after={after}")).await.ok(200);
    }
    world.close().await;
}

/// T01, T06: only JSON, which no page can send to another site without being asked first.
#[tokio::test]
async fn bodies_of_another_type_are_refused() {
    let world = World::open().await;
    let before = world.position().await;
    let body = bytes(&json!({ "agent": "guide", "cwd": CWD }));
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp"]
    {
        let mut lines = world.bearer();
        lines.push(("content-type", kind.to_owned()));
        let answer = world.send(Way::Port, lines, "POST /api/v1/sessions", Some(body.clone())).await;
        assert_eq!(answer.summary(), "415 unsupported_media_type", "{kind}");
    }
    assert_eq!(world.position().await, before);
    world.close().await;
}
