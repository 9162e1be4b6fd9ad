//! The API's description: committed as it is, and true of what is answered.

use serde_json::{Value, json};

use crate::client::Live;
use crate::support::{CWD, World};

pub(crate) const COMMITTED: &str = include_str!("../../../../openapi.json");

#[test]
fn the_committed_description_is_fresh() {
    let fresh = server::openapi();
    assert!(fresh == COMMITTED, "openapi.json is not what the code says; run `cargo xtask codegen`");
}

/// Bytes that are no text in a path are refused like everything else, whichever parameter they stand for.
#[tokio::test]
async fn a_path_that_is_no_text_is_refused_in_the_usual_shape() {
    let world = World::open().await;
    let document: Value = serde_json::from_str(COMMITTED).unwrap();
    let mut asked = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        let Some((before, parameter)) = path.split_once('{') else { continue };
        for bad in ["%ff", "%00", "%zz", "..%2f"] {
            let rest = parameter.split_once('}').unwrap().1.replace(['{', '}'], "");
            for method in methods.as_object().unwrap().keys() {
                let request = format!("{} {before}{bad}{rest}", method.to_uppercase());
                let answer = world.call(&request, None).await;
                assert!((400..500).contains(&answer.status), "{request}: {}", answer.status);
                // It looks at the shape as well.
                assert!(answer.summary().len() > 4, "{request}");
                asked += 1;
            }
        }
    }
    assert!(asked > 100, "{asked}");
    world.close().await;
}

/// Every route needs one of the two credentials, but for the one that gives the first; every change takes a key, but for
/// those that make or end credentials, those that begin work which is never done twice, those that change nothing when they
/// are repeated, and those that have conditions instead.
#[test]
fn credentials_and_keys_are_described() {
    let document: Value = serde_json::from_str(COMMITTED).unwrap();
    assert_eq!(document["security"], json!([{ "bearer": [] }, { "cookie": [], "proof": [] }]));
    let schemes = &document["components"]["securitySchemes"];
    assert_eq!((&schemes["bearer"]["type"], &schemes["bearer"]["scheme"]), (&json!("http"), &json!("bearer")));
    assert_eq!(schemes["cookie"]["in"], "cookie");
    assert_eq!((&schemes["proof"]["in"], &schemes["proof"]["name"]), (&json!("header"), &json!("x-throughline-proof")));
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, route) in methods.as_object().unwrap() {
            let open = path.ends_with("/auth/exchange") || path.contains("/tickets/");
            let security = if open { json!([{}]) } else { Value::Null };
            assert_eq!(route["security"], security, "{method} {path}");
            let unkeyed = [
                "/tokens",
                "/imports",
                "/summaries",
                "/agents/{name}/test",
                "/unsent",
                "/storage/file",
                "/storage/applet",
                "/outputs/prune",
                "/ticket",
            ];
            let keyed = method != "get" && !open && !unkeyed.iter().any(|part| path.contains(part));
            let mut parameters = route["parameters"].as_array().into_iter().flatten();
            assert_eq!(parameters.any(|param| param["name"] == "Idempotency-Key"), keyed, "{method} {path}");
        }
    }
}

/// Of every route: what it answers has words, and what the doors or the store may answer it is described as well.
#[test]
fn every_answer_has_words_and_every_common_refusal_is_described() {
    let document: Value = serde_json::from_str(COMMITTED).unwrap();
    assert_eq!(document["servers"][0]["url"], "/");
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, route) in methods.as_object().unwrap() {
            let answers = route["responses"].as_object().unwrap();
            for (status, answer) in answers {
                let words = resolve(&document, answer)["description"].as_str().unwrap_or_default();
                assert!(!words.is_empty(), "{method} {path}: {status} has no description");
            }
            let open = path.ends_with("/auth/exchange") || path.contains("/tickets/");
            let mut statuses = vec!["400", "403", "414", "429", "500"];
            statuses.extend((!open).then_some(["401", "404", "409", "503"]).into_iter().flatten());
            statuses.extend((method != "get").then_some(["408", "413", "415", "507"]).into_iter().flatten());
            for status in statuses {
                assert!(answers.contains_key(status), "{method} {path}: {status} is not described");
            }
        }
    }
    for path in ["/api/v1/search", "/api/v1/sessions/{id}/search"] {
        let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap();
        let words = parameters.iter().find(|parameter| parameter["name"] == "q").unwrap();
        assert_eq!(words["required"], true, "{path}");
    }
}

/// Every route of the description: method, path, and what a body must hold at least.
pub(crate) fn routes() -> Vec<(String, String, Option<Value>)> {
    let document: Value = serde_json::from_str(COMMITTED).unwrap();
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, route) in methods.as_object().unwrap() {
            let schema = &route["requestBody"]["content"]["application/json"]["schema"];
            let body = schema.is_object().then(|| example(&document, schema));
            routes.push((method.to_uppercase(), path.clone(), body));
        }
    }
    routes
}

/// The smallest value that has the required shape.
fn example(document: &Value, schema: &Value) -> Value {
    let schema = resolve(document, schema);
    if let Some(alternatives) = schema["oneOf"].as_array() {
        return example(document, &alternatives[0]);
    }
    if let Some(values) = schema["enum"].as_array() {
        return values[0].clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let fields = required.iter().map(|name| {
                let name = name.as_str().unwrap();
                (name.to_owned(), example(document, &schema["properties"][name]))
            });
            Value::Object(fields.collect())
        }
        Some("string") if schema["format"] == "uuid" => json!("0190a8c0-0000-7000-8000-00000000000f"),
        Some("string") => json!("x"),
        Some("integer") => json!(1),
        Some("boolean") => json!(true),
        other => panic!("no example for {other:?}"),
    }
}

fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.strip_prefix('#').unwrap()).unwrap(),
        None => schema,
    }
}

/// Whether a value has the shape that a schema gives: types, required and known fields, one of the alternatives.
fn conforms(document: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let schema = resolve(document, schema);
    for part in schema["allOf"].as_array().into_iter().flatten() {
        conforms_open(document, part, value)?;
    }
    if let Some(alternatives) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        let refusals: Vec<String> =
            alternatives.iter().filter_map(|part| conforms(document, part, value).err()).collect();
        return if refusals.len() < alternatives.len() { Ok(()) } else { Err(refusals.join(" | ")) };
    }
    conforms_open(document, schema, value)?;
    if let (Some(known), Some(found)) = (schema["properties"].as_object(), value.as_object())
        && schema["allOf"].is_null()
        && let Some(unknown) = found.keys().find(|key| !known.contains_key(*key))
    {
        return Err(format!("{unknown} is not described"));
    }
    Ok(())
}

fn conforms_open(document: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let schema = resolve(document, schema);
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        return Err(format!("{value} is none of {values:?}"));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !types.is_empty() && !types.contains(&kind) {
        return Err(format!("{value} is no {types:?}"));
    }
    for item in value.as_array().into_iter().flatten() {
        conforms(document, &schema["items"], item)?;
    }
    let Some(fields) = value.as_object() else { return Ok(()) };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        fields.get(name).ok_or_else(|| format!("{name} is missing in {value}"))?;
    }
    for (name, part) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = fields.get(name) {
            conforms(document, part, value).map_err(|err| format!("{name}: {err}"))?;
        }
    }
    Ok(())
}

/// Every answer of a life's run is as it is described, and has a status that is.
#[tokio::test]
async fn answers_are_as_described() {
    let world = World::open().await;
    let document: Value = serde_json::from_str(COMMITTED).unwrap();
    let new = json!({ "agent": "guide", "cwd": CWD, "name": "x" });
    let session = world.session().await;
    world.turn(&session, "say hello").await;
    world.prompt(&session, "slow 600").await;
    let waits = world.prompt(&session, "say two").await;
    let code = json!({ "code": world.engine.offer_code().expose() });
    let at = |path: &str| path.replace("{id}", &session).replace("{interaction}", &waits);
    for (method, path, body) in [
        ("GET", "/agents", None),
        ("GET", "/directories", None),
        ("GET", "/whoami", None),
        ("POST", "/auth/exchange", Some(code.clone())),
        ("POST", "/auth/exchange", Some(code)),
        ("POST", "/sessions", Some(new)),
        ("POST", "/sessions", Some(json!({ "agent": "guide", "cwd": "/" }))),
        ("GET", "/sessions", None),
        ("GET", "/sessions/{id}", None),
        ("GET", "/sessions/{id}/entries", None),
        ("PATCH", "/sessions/{id}", Some(json!({ "name": "y" }))),
        ("POST", "/sessions/{id}/prompts", Some(json!({ "text": "say three" }))),
        ("PATCH", "/sessions/{id}/prompts/{interaction}", Some(json!({ "text": "say 2" }))),
        ("DELETE", "/sessions/{id}/prompts/{interaction}", None),
        ("DELETE", "/sessions/{id}/prompts/{interaction}", None),
        ("DELETE", "/sessions/{id}", None),
        ("POST", "/sessions/{id}/observe", None),
        ("POST", "/sessions/{id}/cancel", None),
        ("GET", "/deleted-sessions", None),
        ("POST", "/sessions/{id}/restore", None),
        ("GET", "/meta-contexts", None),
        ("GET", "/tokens", None),
        ("POST", "/tokens", Some(json!({ "name": "x" }))),
        ("POST", "/tokens/link", None),
        ("POST", "/tokens/rotate", None),
    ] {
        let answer = world.call(&format!("{method} /api/v1{}", at(path)), body).await;
        let described = &document["paths"][format!("/api/v1{path}")][method.to_lowercase()]["responses"];
        let described = resolve(&document, &described[answer.status.to_string()]);
        assert!(described.is_object(), "{method} {path}: {} is not described", answer.status);
        let schema = &described["content"]["application/json"]["schema"];
        if schema.is_null() {
            assert!(answer.body.is_empty(), "{method} {path}");
        } else if let Err(err) = conforms(&document, schema, &answer.json()) {
            panic!("{method} {path}: {err}");
        }
    }
    world.close().await;
}

#[tokio::test]
async fn frames_are_as_described() {
    let world = World::open().await;
    let document: Value = serde_json::from_str(COMMITTED).unwrap();
    let session = world.session().await;
    let mut live = Live::local(&world).await;
    live.ask(json!({ "type": "follow", "session": session })).await;
    live.ask(json!({ "type": "list" })).await;
    live.ask(json!({ "type": "nonsense" })).await;
    live.ask(json!({ "type": "prompt", "session": session, "text": "say hello" })).await;
    let mut frames = live.until_that(|frame| frame["entry"]["type"] == "turn.ended").await;
    live.ask(json!({ "type": "observe", "session": session })).await;
    world.call(&format!("DELETE /api/v1/sessions/{session}"), None).await.ok(204);
    frames.extend(live.until("reset").await);
    world.stopping.cancel();
    frames.extend(live.until_closed().await.0);
    let schema = json!({ "$ref": "#/components/schemas/ServerFrame" });
    for frame in &frames {
        conforms(&document, &schema, frame).unwrap_or_else(|err| panic!("{frame}: {err}"));
    }
    let kinds =
        ["ack", "session", "session.context", "entry", "caught_up", "list", "error", "preview", "row", "reset", "bye"];
    for kind in kinds {
        assert!(frames.iter().any(|frame| frame["type"] == kind), "no {kind} came");
    }
    world.close().await;
}
