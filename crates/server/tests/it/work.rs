//! `/sessions/{id}/next` and `/meta-contexts`: steps that agents offer, taken once, and the pieces of work they make.

use std::collections::BTreeSet;

use engine::TokenWish;
use futures_util::future::join_all;
use model::TokenKind;
use serde_json::{Value, json};

use crate::client::{Live, bearer};
use crate::mcp::{Client, Era};
use crate::support::{CWD, Way, World, id};

const OFFER: &str = "next Go on | say on and on | loom";

impl World {
    /// A session with these turns.
    async fn offering(&self, words: &[&str]) -> String {
        let session = self.session().await;
        for text in words {
            self.turn(&session, text).await;
        }
        session
    }

    async fn blocks(&self, session: &str) -> Vec<Value> {
        let page = self.get(&format!("/api/v1/sessions/{session}/next")).await.ok(200);
        assert_eq!(page["nextCursor"], Value::Null);
        page["blocks"].as_array().unwrap().clone()
    }

    /// Takes a step; gives the work and the session that it led to.
    async fn take(&self, session: &str, block: &str) -> (String, String) {
        led(&self.call(&click(session, block), None).await.ok(200))
    }

    /// The same, and waits until the new agent has done what it was sent.
    async fn take_and_finish(&self, session: &str, block: &str) -> (String, String) {
        let (work, begun) = self.take(session, block).await;
        self.until_entry(&begun, |entry| entry["type"] == "turn.ended").await;
        (work, begun)
    }

    async fn works(&self) -> Vec<Value> {
        let page = self.get("/api/v1/meta-contexts").await.ok(200);
        page["metaContexts"].as_array().unwrap().clone()
    }

    async fn count(&self, session: &str, kind: &str) -> usize {
        self.entries(session).await.iter().filter(|entry| entry["type"] == kind).count()
    }

    async fn session_ids(&self) -> BTreeSet<String> {
        let list = self.get("/api/v1/sessions").await.ok(200);
        list["sessions"].as_array().unwrap().iter().map(|row| text(&row["id"])).collect()
    }
}

fn click(session: &str, block: &str) -> String {
    format!("POST /api/v1/sessions/{session}/next/{block}")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn led(clicked: &Value) -> (String, String) {
    assert_eq!(clicked.as_object().unwrap().len(), 2, "{clicked}");
    (text(&clicked["metaContextId"]), text(&clicked["sessionId"]))
}

fn ids(works: &[Value]) -> Vec<String> {
    works.iter().map(|work| text(&work["id"])).collect()
}

#[tokio::test]
async fn offers_are_listed_with_what_became_of_them() {
    let world = World::open().await;
    let session = world.offering(&[OFFER]).await;
    let mut expected = json!({
        "id": "t1.n1",
        "turn": 1,
        "label": "Go on",
        "command": "say on and on",
        "metaContext": "loom",
        "state": "open",
        "offeredAt": "2025-11-15T03:00:00.000Z",
        "metaContextId": null,
        "sessionId": null,
        "supersededBy": null,
    });
    assert_eq!(world.blocks(&session).await, [expected.clone()]);
    let (work, begun) = world.take(&session, "t1.n1").await;
    expected["state"] = json!("used");
    expected["metaContextId"] = json!(work);
    expected["sessionId"] = json!(begun);
    assert_eq!(world.blocks(&session).await, [expected]);

    for words in
        ["next Again | say a | loom", "next Other | say o | loop", "next Lost | say l | ", "next B | say b | loop"]
    {
        world.turn(&session, words).await;
    }
    let states: Vec<Value> = world
        .blocks(&session)
        .await
        .iter()
        .map(|block| json!([block["id"], block["metaContext"], block["state"], block["supersededBy"]]))
        .collect();
    assert_eq!(
        states,
        [
            json!(["t5.n1", "loop", "open", null]),
            json!(["t4.n1", null, "incomplete", null]),
            json!(["t3.n1", "loop", "superseded", 5]),
            json!(["t2.n1", "loom", "open", null]),
            // Where it led stays, whatever is offered later.
            json!(["t1.n1", "loom", "used", 2]),
        ]
    );

    let path = format!("/api/v1/sessions/{session}/next");
    let mut paged = Vec::new();
    let mut address = format!("{path}?limit=2");
    loop {
        let page = world.get(&address).await.ok(200);
        let blocks = page["blocks"].as_array().unwrap();
        assert!(blocks.len() <= 2);
        paged.extend(blocks.iter().map(|block| text(&block["id"])));
        let Some(before) = page["nextCursor"].as_str() else { break };
        address = format!("{path}?limit=2&before={before}");
    }
    assert_eq!(paged, ["t5.n1", "t4.n1", "t3.n1", "t2.n1", "t1.n1"]);
    for query in ["limit=0", "limit=201", "limit=x", "after=t1.n1"] {
        assert_eq!(world.get(&format!("{path}?{query}")).await.summary(), "400 invalid_query", "{query}");
    }
    for before in ["", "t1", "t01.n1", "n1", "1"] {
        assert_eq!(world.get(&format!("{path}?before={before}")).await.summary(), "400 invalid_cursor", "{before}");
    }
    assert_eq!(world.get(&format!("/api/v1/sessions/{}/next", id(99))).await.summary(), "404 session_not_found");
    world.close().await;
}

#[tokio::test]
async fn a_click_begins_a_session_of_the_work_and_sends_the_command() {
    let world = World::on_disk().await;
    let session = world.offering(&[OFFER]).await;
    let (work, begun) = world.take_and_finish(&session, "t1.n1").await;

    let shown = world.get(&format!("/api/v1/sessions/{begun}")).await.ok(200);
    let about = json!([shown["agent"], shown["cwd"], shown["metaContextId"], shown["metaContext"], shown["from"]]);
    let from = json!({ "session": session, "block": "t1.n1" });
    assert_eq!(about, json!(["guide", CWD, work, { "id": work, "name": "loom" }, from]));
    assert_eq!((&shown["previous"], &shown["queue"]), (&json!(session), &json!([])));
    let kinds: Vec<String> = world.entries(&begun).await.iter().map(|entry| text(&entry["type"])).collect();
    assert_eq!(kinds[..2], ["session.created", "prompt.queued"], "what the click wrote stands first, and whole");
    let sent = world.until_entry(&begun, |entry| entry["type"] == "prompt.sent").await;
    let by = json!({ "type": "step", "session": session, "block": "t1.n1" });
    assert_eq!((&sent["data"]["text"], &sent["data"]["by"]), (&json!("say on and on"), &by));
    let noted = world.until_entry(&session, |entry| entry["type"] == "next.clicked").await;
    assert_eq!((&noted["data"]["session"], &noted["data"]["work"]), (&json!(begun), &json!(work)));

    let known = world.get(&format!("/api/v1/meta-contexts/{work}")).await.ok(200);
    let expected = json!({
        "id": work,
        "name": "loom",
        "project": CWD,
        "sessionIds": [begun],
        "createdAt": "2025-11-15T03:00:00.000Z",
        "addedAt": "2025-11-15T03:00:00.000Z",
    });
    assert_eq!(known, expected);
    assert_eq!(world.works().await, std::slice::from_ref(&expected));
    assert_eq!(world.get("/api/v1/sessions").await.ok(200)["metaContexts"], json!([expected]));

    // The next step of the same work is added to it.
    world.turn(&begun, "next More | say more | loom").await;
    let (same, second) = world.take(&begun, "t2.n1").await;
    assert_eq!(same, work);
    let known = world.get(&format!("/api/v1/meta-contexts/{work}")).await.ok(200);
    assert_eq!(known["sessionIds"], json!([begun, second]));
    let shown = world.get(&format!("/api/v1/sessions/{second}")).await.ok(200);
    assert_eq!(shown["previous"], json!(begun));
    world.close().await;
}

/// From both doors, with keys and without: one work, one session, one prompt, one answer, now and in the next life.
#[tokio::test(flavor = "multi_thread")]
async fn many_clicks_at_once_are_one() {
    let world = World::on_disk().await;
    let session = world.offering(&[OFFER]).await;
    let over_http = async |n: u32| {
        let request = click(&session, "t1.n1");
        let answer = match n % 3 {
            0 => world.call(&request, None).await,
            1 => world.keyed("one", &request, None).await,
            _ => world.keyed(&format!("key-{n}"), &request, json!({})).await,
        };
        led(&answer.ok(200))
    };
    let over_socket = async || {
        let mut live = Live::local(&world).await;
        let ack = live.call(json!({ "type": "next_block_click", "session": session, "block": "t1.n1" })).await;
        assert_eq!(ack["type"], "ack", "{ack}");
        led(&ack["result"])
    };
    let (http, sockets) = tokio::join!(join_all((0..12).map(over_http)), join_all((0..8).map(|_| over_socket())));
    let answers: BTreeSet<_> = http.into_iter().chain(sockets).collect();
    assert_eq!(answers.len(), 1, "{answers:?}");
    let (work, begun) = answers.into_iter().next().unwrap();
    world.until_entry(&begun, |entry| entry["type"] == "turn.ended").await;

    let world = world.restart().await;
    world.engine.start_unbegun().await.unwrap();
    let before = world.position().await;
    for answer in [
        world.call(&click(&session, "t1.n1"), None).await,
        world.keyed("one", &click(&session, "t1.n1"), None).await,
        world.keyed("a-new-one", &click(&session, "t1.n1"), Value::Null).await,
    ] {
        assert_eq!(led(&answer.ok(200)), (work.clone(), begun.clone()));
    }
    assert_eq!(world.position().await, before, "a repeat was written down");
    assert_eq!(world.session_ids().await, BTreeSet::from([session.clone(), begun.clone()]));
    assert_eq!(ids(&world.works().await), [work]);
    for (of, kind) in [(&begun, "prompt.sent"), (&begun, "prompt.queued"), (&session, "next.clicked")] {
        assert_eq!(world.count(of, kind).await, 1, "{kind}");
    }
    let other = world.keyed("one", &click(&session, "t1.n1"), json!({ "agent": "guide" })).await;
    assert_eq!(other.summary(), "409 key_reused");
    world.close().await;
}

#[tokio::test]
async fn only_a_person_takes_a_step() {
    let world = World::open().await;
    let (session, other) = (world.offering(&[OFFER]).await, world.session().await);
    let (own, foreign) = (world.agent_token(&session).await, world.agent_token(&other).await);
    let wish =
        TokenWish { kind: TokenKind::Applet, name: "applet".to_owned(), session: Some(session.parse().unwrap()) };
    let applet = world.engine.issue_token(wish).await.unwrap().secret.expose().to_owned();
    let before = world.position().await;
    for (token, expected) in [(&own, "403 forbidden"), (&foreign, "404 session_not_found"), (&applet, "403 forbidden")]
    {
        let answer = world.call_as(bearer(token), &click(&session, "t1.n1"), None).await;
        assert_eq!(answer.summary(), expected);
    }
    // An agent may see what it offers, and no more of the work.
    let offers = world.call_as(bearer(&own), &format!("GET /api/v1/sessions/{session}/next"), None).await.ok(200);
    assert_eq!(offers["blocks"][0]["state"], "open");
    assert_eq!(world.call_as(bearer(&own), "GET /api/v1/meta-contexts", None).await.summary(), "403 forbidden");
    let mut live = Live::open(&world, Way::Port, bearer(&own)).await.unwrap();
    let refused = live.call(json!({ "type": "next_block_click", "session": session, "block": "t1.n1" })).await;
    assert_eq!((&refused["type"], &refused["error"]["code"]), (&json!("error"), &json!("forbidden")));
    assert_eq!(world.position().await, before);
    world.take(&session, "t1.n1").await;
    world.close().await;
}

#[tokio::test]
async fn what_is_not_offered_can_not_be_taken() {
    let world = World::with_agents().await;
    let session = world.offering(&[OFFER, "next Lost | say l | ", OFFER]).await;
    let before = world.position().await;
    let mut live = Live::local(&world).await;
    for (block, status, code) in [
        ("t1.n2", 404, "next_not_found"),
        ("t9.n1", 404, "next_not_found"),
        ("t1", 404, "next_not_found"),
        ("t01.n1", 404, "next_not_found"),
        ("t1.n0", 404, "next_not_found"),
        ("t1.n4294967296", 404, "next_not_found"),
        ("nonsense", 404, "next_not_found"),
        ("t1.n1", 409, "next_superseded"),
        ("t2.n1", 409, "next_incomplete"),
    ] {
        let answer = world.call(&click(&session, block), None).await;
        assert_eq!(answer.summary(), format!("{status} {code}"), "{block}");
        let error = live.call(json!({ "type": "next_block_click", "session": session, "block": block })).await;
        assert_eq!(error["error"]["code"], code, "{block}");
    }
    assert_eq!(world.call(&click(&id(99), "t1.n1"), None).await.summary(), "404 session_not_found");
    for body in [json!({ "agent": "nobody" }), json!({ "agent": "" })] {
        assert_eq!(world.call(&click(&session, "t3.n1"), body).await.summary(), "400 unknown_agent");
    }
    for body in [json!({ "surprise": 1 }), json!([]), json!("t3.n1"), json!({ "model": 5 })] {
        assert_eq!(world.call(&click(&session, "t3.n1"), body).await.summary(), "400 invalid_body");
    }
    assert_eq!(world.position().await, before, "a refused click was written down");
    assert_eq!((world.works().await.len(), world.session_ids().await.len()), (0, 1));

    world.call(&format!("DELETE /api/v1/sessions/{session}"), None).await.ok(204);
    assert_eq!(world.call(&click(&session, "t3.n1"), None).await.summary(), "404 session_deleted");
    world.close().await;
}

/// The person may want another agent, model or mode than the session has that offers the step.
#[tokio::test]
async fn a_step_may_be_taken_with_another_agent_model_and_mode() {
    let world = World::with_agents().await;
    let session = world.offering(&[OFFER, "next B | say b | loop"]).await;
    let wish = json!({ "agent": "codex", "model": "large", "mode": "careful" });
    let (_, begun) = led(&world.call(&click(&session, "t1.n1"), wish).await.ok(200));
    // The guide has neither models nor modes: it works as it does.
    world.until_entry(&begun, |entry| entry["type"] == "turn.ended").await;
    let created = world.entries(&begun).await[0]["data"].clone();
    assert_eq!(created["agent"], "codex");
    assert_eq!(created["options"], json!({ "model": "large", "mode": "careful" }));

    let mut live = Live::local(&world).await;
    let frame = json!({ "type": "next_block_click", "session": session, "block": "t2.n1", "model": "small" });
    let (_, begun) = led(&live.call(frame).await["result"]);
    let created = world.entries(&begun).await[0]["data"].clone();
    assert_eq!((&created["agent"], &created["options"]), (&json!("guide"), &json!({ "model": "small" })));
    world.close().await;
}

#[tokio::test]
async fn a_step_is_taken_while_a_turn_runs_and_after_a_remark() {
    let world = World::open().await;
    let session = world.offering(&[OFFER, "say by the way"]).await;
    assert_eq!(world.blocks(&session).await[0]["state"], "open");
    world.prompt(&session, "slow 600").await;
    world.until_entry(&session, |entry| entry["type"] == "turn.started" && entry["data"]["turn"] == 3).await;
    let (_, begun) = world.take_and_finish(&session, "t1.n1").await;
    assert_eq!(world.count(&begun, "prompt.sent").await, 1);
    let shown = world.get(&format!("/api/v1/sessions/{session}")).await.ok(200);
    assert_eq!(shown["state"], "running", "the session that offered it goes on");
    world.close().await;
}

#[tokio::test]
async fn a_name_leads_to_one_work_of_its_project() {
    let world = World::on_disk().await;
    let mut works = Vec::new();
    for name in ["Loom", "loom", "  Loom", "Lo\u{200b}om", "Cafe\u{301}", "Café"] {
        let session = world.offering(&[&format!("next Go | say on | {name}")]).await;
        works.push(world.take(&session, "t1.n1").await.0);
    }
    assert_eq!((&works[0], &works[0], &works[4]), (&works[2], &works[3], &works[5]));
    assert!(works[0] != works[1] && works[1] != works[4] && works[0] != works[4]);

    let other = world.directory.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let new = |cwd: &str, name: &str| json!({ "agent": "guide", "cwd": cwd, "metaContext": name });
    let there = world.call("POST /api/v1/sessions", new(other.to_str().unwrap(), "Loom")).await.ok(201);
    assert_ne!(text(&there["metaContextId"]), works[0], "another project's work of that name is another one");
    let here = world.call("POST /api/v1/sessions", new(CWD, " Loom ")).await.ok(201);
    assert_eq!((text(&here["metaContextId"]), &here["metaContext"]["name"]), (works[0].clone(), &json!("Loom")));
    let projects: BTreeSet<String> =
        world.works().await.iter().filter(|work| work["name"] == "Loom").map(|work| text(&work["project"])).collect();
    assert_eq!(projects.len(), 2, "{projects:?}");
    let before = (world.works().await, world.session_ids().await);
    for name in ["", " \u{200b} ", &"x".repeat(201)] {
        let answer = world.call("POST /api/v1/sessions", new(CWD, name)).await;
        assert_eq!(answer.summary(), "400 meta_context_name_invalid", "{name:?}");
    }
    assert_eq!((world.works().await, world.session_ids().await), before);
    world.close().await;
}

/// One that is begun by the API is like one that is begun by a click, without a prompt.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_may_begin_in_a_work() {
    let world = World::on_disk().await;
    let new = json!({ "agent": "guide", "cwd": CWD, "metaContext": "loom" });
    let answers = join_all((0..20).map(|_| world.keyed("k", "POST /api/v1/sessions", new.clone()))).await;
    let distinct: BTreeSet<(u16, String)> = answers.iter().map(|answer| (answer.status, answer.text())).collect();
    assert_eq!(distinct.len(), 1, "{distinct:?}");
    let first = answers[0].ok(201);
    assert_eq!((&first["state"], &first["from"], &first["previous"]), (&json!("starting"), &Value::Null, &Value::Null));
    let session = text(&first["id"]);
    world.turn(&session, "say hello").await;
    let second = world.call("POST /api/v1/sessions", new.clone()).await.ok(201);
    assert_eq!((&second["metaContextId"], &second["previous"]), (&first["metaContextId"], &first["id"]));
    let works = world.works().await;
    assert_eq!(works.len(), 1);
    assert_eq!(works[0]["sessionIds"], json!([first["id"], second["id"]]));
    let unknown = json!({ "agent": "nobody", "cwd": CWD, "metaContext": "other" });
    assert_eq!(world.call("POST /api/v1/sessions", unknown).await.summary(), "400 unknown_agent");
    assert_eq!(world.works().await.len(), 1);

    let world = world.restart().await;
    assert_eq!(world.keyed("k", "POST /api/v1/sessions", new).await.ok(201)["id"], first["id"]);
    assert_eq!(world.works().await, works);
    world.close().await;
}

#[tokio::test]
async fn a_deleted_member_is_out_until_it_is_restored() {
    let world = World::open().await;
    let session = world.offering(&[OFFER]).await;
    let (work, begun) = world.take_and_finish(&session, "t1.n1").await;
    let path = format!("/api/v1/sessions/{begun}");
    let mut live = Live::local(&world).await;
    world.call(&format!("DELETE {path}"), None).await.ok(204);
    assert_eq!(world.works().await, Vec::<Value>::new(), "a work without sessions is not offered");
    let known = world.get(&format!("/api/v1/meta-contexts/{work}")).await.ok(200);
    assert_eq!(known["sessionIds"], json!([]));
    let list = world.get("/api/v1/sessions").await.ok(200);
    assert_eq!(list["metaContexts"], json!([]));
    let told = live.until_that(|frame| frame["removedWork"] == json!(work)).await;
    assert!(told.iter().any(|frame| frame["removed"] == json!(begun)), "{told:?}");
    // The block has led there, and leads nowhere else.
    assert_eq!(world.take(&session, "t1.n1").await, (work.clone(), begun.clone()));

    world.call(&format!("POST {path}/restore"), None).await.ok(200);
    live.until_that(|frame| frame["work"]["sessionIds"] == json!([begun])).await;
    assert_eq!(ids(&world.works().await), [work]);
    world.close().await;
}

#[tokio::test]
async fn a_work_is_renamed() {
    let world = World::on_disk().await;
    let session = world.offering(&[OFFER, "next Other | say o | loop"]).await;
    let (loom, first) = world.take_and_finish(&session, "t1.n1").await;
    let (_, other) = world.take_and_finish(&session, "t2.n1").await;
    let rename = format!("PATCH /api/v1/meta-contexts/{loom}");
    let before = world.position().await;
    assert_eq!(world.call(&rename, json!({ "name": "loop" })).await.summary(), "409 meta_context_name_taken");
    for name in ["", "  ", "\u{200b}", &"x".repeat(201)] {
        let answer = world.call(&rename, json!({ "name": name })).await;
        assert_eq!(answer.summary(), "400 meta_context_name_invalid", "{name:?}");
    }
    for body in [json!({}), json!({ "name": 5 }), json!({ "name": "x", "project": "/" })] {
        assert_eq!(world.call(&rename, body).await.summary(), "400 invalid_body");
    }
    let nowhere = world.call(&format!("PATCH /api/v1/meta-contexts/{}", id(99)), json!({ "name": "x" })).await;
    assert_eq!(nowhere.summary(), "404 meta_context_not_found");
    assert_eq!(world.call(&rename, json!({ "name": "loom" })).await.ok(200)["name"], "loom");
    assert_eq!(world.position().await, before);

    let mut live = Live::local(&world).await;
    let renamed = world.keyed("k", &rename, json!({ "name": " the loom " })).await.ok(200);
    assert_eq!((&renamed["name"], &renamed["sessionIds"]), (&json!("the loom"), &json!([first])));
    live.until_that(|frame| frame["work"]["name"] == "the loom").await;
    let before = world.position().await;
    assert_eq!(world.keyed("k", &rename, json!({ "name": " the loom " })).await.ok(200), renamed);
    assert_eq!(world.keyed("k", &rename, json!({ "name": "x" })).await.summary(), "409 key_reused");
    assert_eq!(world.position().await, before);

    // Who knows an old name still means it, until the name is another's.
    world.turn(&first, "next More | say m | loom").await;
    assert_eq!(world.take(&first, "t2.n1").await.0, loom);
    let shown = world.get(&format!("/api/v1/sessions/{first}")).await.ok(200);
    assert_eq!(shown["metaContext"], json!({ "id": loom, "name": "the loom" }));
    let other = text(&world.get(&format!("/api/v1/sessions/{other}")).await.ok(200)["metaContextId"]);
    world.call(&format!("PATCH /api/v1/meta-contexts/{other}"), json!({ "name": "loom" })).await.ok(200);
    world.turn(&first, "next Again | say a | loom").await;
    assert_eq!(world.take(&first, "t3.n1").await.0, other);
    // A repeat of the first request has the first answer, and does not take the name back.
    world.call(&rename, json!({ "name": "third" })).await.ok(200);
    assert_eq!(world.keyed("k", &rename, json!({ "name": " the loom " })).await.ok(200), renamed);
    assert_eq!(world.get(&format!("/api/v1/meta-contexts/{loom}")).await.ok(200)["name"], "third");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_work_is_taken_apart_and_its_sessions_stay() {
    let world = World::on_disk().await;
    let session = world.offering(&[OFFER]).await;
    let (work, begun) = world.take_and_finish(&session, "t1.n1").await;
    let delete = format!("DELETE /api/v1/meta-contexts/{work}");
    let mut live = Live::local(&world).await;
    let answers = join_all((0..20).map(|_| world.keyed("k", &delete, None))).await;
    assert!(answers.iter().all(|answer| answer.status == 204), "{answers:?}");
    live.until_that(|frame| frame["removedWork"] == json!(work)).await;
    assert_eq!(world.call(&delete, None).await.summary(), "404 meta_context_not_found");
    assert_eq!(world.get(&format!("/api/v1/meta-contexts/{work}")).await.summary(), "404 meta_context_not_found");
    let toc = world.get(&format!("/api/v1/meta-contexts/{work}/toc")).await;
    assert_eq!(toc.summary(), "404 meta_context_not_found");

    assert_eq!(world.session_ids().await, BTreeSet::from([session.clone(), begun.clone()]));
    assert_eq!(world.get("/api/v1/sessions").await.ok(200)["metaContexts"], json!([]));
    let shown = world.get(&format!("/api/v1/sessions/{begun}")).await.ok(200);
    assert_eq!((&shown["metaContext"], &shown["previous"]), (&Value::Null, &json!(session)));
    world.turn(&begun, "next More | say m | loom").await;
    // The name is free: what uses it now begins anew.
    let (anew, second) = world.take(&begun, "t2.n1").await;
    assert_ne!(anew, work);
    let known = world.get(&format!("/api/v1/meta-contexts/{anew}")).await.ok(200);
    assert_eq!(known["sessionIds"], json!([second]));
    assert_eq!(world.take(&session, "t1.n1").await, (work, begun), "where a click led stays said");
    world.close().await;
}

#[tokio::test]
async fn the_contents_of_a_work_are_one_list() {
    let world = World::open().await;
    let session = world.offering(&[OFFER]).await;
    let (work, first) = world.take_and_finish(&session, "t1.n1").await;
    world.turn(&first, OFFER).await;
    let (_, second) = world.take_and_finish(&first, "t2.n1").await;
    world.turn(&second, "say the end").await;
    let path = format!("/api/v1/meta-contexts/{work}/toc");
    let toc = world.get(&path).await.ok(200);
    let line = |entry: &Value| json!([entry["number"], entry["session_id"], entry["turn"]]);
    let lines: Vec<Value> = toc["entries"].as_array().unwrap().iter().map(line).collect();
    let expected = [json!([1, first, 1]), json!([2, first, 2]), json!([3, second, 1]), json!([4, second, 2])];
    assert_eq!(lines, expected);
    assert_eq!((&toc["meta_context_id"], &toc["name"], &toc["total_turns"]), (&json!(work), &json!("loom"), &json!(4)));
    assert_eq!(toc["next_cursor"], Value::Null);
    let formatted = text(&toc["formatted"]);
    let heads: Vec<&str> = formatted.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(heads.len(), 2, "{formatted}");
    assert!(heads[0].ends_with(&format!("({first})")) && heads[1].ends_with(&format!("({second})")), "{formatted}");
    assert!(formatted.lines().any(|line| line.starts_with("4. ") && line.ends_with("[t2]")), "{formatted}");

    for size in 1..=4 {
        let mut paged = Vec::new();
        let mut address = format!("{path}?limit={size}");
        loop {
            let page = world.get(&address).await.ok(200);
            assert_eq!(page["total_turns"], 4);
            paged.extend(page["entries"].as_array().unwrap().iter().map(line));
            let Some(after) = page["next_cursor"].as_str() else { break };
            address = format!("{path}?limit={size}&after={after}");
        }
        assert_eq!(paged, expected, "in pages of {size}");
    }
    assert_eq!(world.get(&format!("{path}?after=4")).await.ok(200)["entries"], json!([]));
    for query in ["limit=0", "limit=501", "after=x", "after=-1"] {
        assert_eq!(world.get(&format!("{path}?{query}")).await.summary(), "400 invalid_query", "{query}");
    }
    // A member that is deleted takes its turns along.
    world.call(&format!("DELETE /api/v1/sessions/{first}"), None).await.ok(204);
    let toc = world.get(&path).await.ok(200);
    let lines: Vec<Value> = toc["entries"].as_array().unwrap().iter().map(line).collect();
    assert_eq!(lines, [json!([1, second, 1]), json!([2, second, 2])]);
    world.close().await;
}

#[tokio::test]
async fn works_are_listed_newest_first_and_paged() {
    let world = World::on_disk().await;
    let mut expected = Vec::new();
    for n in 0..5 {
        world.clock.advance(std::time::Duration::from_secs(1));
        let new = json!({ "agent": "guide", "cwd": CWD, "metaContext": format!("work {n}") });
        expected.push(text(&world.call("POST /api/v1/sessions", new).await.ok(201)["metaContextId"]));
    }
    world.clock.advance(std::time::Duration::from_secs(1));
    let new = json!({ "agent": "guide", "cwd": CWD, "metaContext": "work 2" });
    world.call("POST /api/v1/sessions", new).await.ok(201);
    let expected: Vec<&String> = [2, 4, 3, 1, 0].map(|n| &expected[n]).into();
    let mut paged = Vec::new();
    let mut address = "/api/v1/meta-contexts?limit=2".to_owned();
    loop {
        let page = world.get(&address).await.ok(200);
        paged.extend(ids(page["metaContexts"].as_array().unwrap()));
        let Some(after) = page["nextCursor"].as_str() else { break };
        address = format!("/api/v1/meta-contexts?limit=2&after={after}");
    }
    assert_eq!(paged.iter().collect::<Vec<_>>(), expected);
    for query in ["limit=0", "limit=201"] {
        assert_eq!(world.get(&format!("/api/v1/meta-contexts?{query}")).await.summary(), "400 invalid_query");
    }
    assert_eq!(world.get("/api/v1/meta-contexts?after=x").await.summary(), "400 invalid_cursor");
    for name in ["nonsense", &id(99)] {
        for rest in ["", "/toc"] {
            let answer = world.get(&format!("/api/v1/meta-contexts/{name}{rest}")).await;
            assert_eq!(answer.summary(), "404 meta_context_not_found");
        }
    }
    world.close().await;
}

/// A socket is told of works as of sessions: what there is when it connects, then each change.
#[tokio::test]
async fn a_socket_hears_of_works() {
    let world = World::open().await;
    let session = world.offering(&[OFFER, "next Other | say o | loop"]).await;
    let mut live = Live::local(&world).await;
    let (work, begun) = world.take(&session, "t1.n1").await;
    let frames = live.until_that(|frame| frame["work"].is_object()).await;
    let told = frames.last().unwrap();
    assert_eq!((&told["type"], &told["unobservedCount"]), (&json!("row"), &json!(1)));
    assert_eq!(told["work"], world.get(&format!("/api/v1/meta-contexts/{work}")).await.ok(200));
    let row = frames.iter().find(|frame| frame["session"]["id"] == json!(begun)).expect("the session comes first");
    assert_eq!(row["session"]["metaContextId"], json!(work));

    let mut live = Live::open(&world, Way::Socket, vec![]).await.unwrap();
    assert_eq!(live.next().await["type"], "hello");
    let page = live.next().await;
    assert_eq!((&page["type"], &page["metaContexts"]), (&json!("list"), &json!([told["work"]])));
    let ids: BTreeSet<String> = page["sessions"].as_array().unwrap().iter().map(|row| text(&row["id"])).collect();
    assert_eq!(ids, BTreeSet::from([session.clone(), begun.clone()]));

    // Whoever follows the session that offers it sees the click too.
    live.ask(json!({ "type": "follow", "session": session })).await;
    live.until("caught_up").await;
    world.take(&session, "t2.n1").await;
    live.until_that(|frame| frame["entry"]["type"] == "next.clicked").await;
    world.close().await;
}

/// The click's answer stands; the session says what is wrong and keeps its prompt until somebody sees to it.
#[tokio::test]
async fn an_agent_that_does_not_start_leaves_the_prompt_waiting() {
    let world = World::with_agents().await;
    let session = world.offering(&[OFFER]).await;
    let wish = json!({ "agent": "gemini" });
    let (work, begun) = led(&world.call(&click(&session, "t1.n1"), wish).await.ok(200));
    let failed = |entry: &Value| entry["type"] == "agent.state_changed" && entry["data"]["state"] == "failed";
    let first = world.until_entry(&begun, failed).await["seq"].clone();
    let path = format!("/api/v1/sessions/{begun}");
    let shown = world.get(&path).await.ok(200);
    assert_eq!((&shown["state"], &shown["turns"]), (&json!("failed"), &json!(0)));
    assert!(shown["failure"].as_str().is_some_and(|failure| !failure.is_empty()), "{shown}");
    assert_eq!(shown["queue"][0]["text"], "say on and on");
    assert_eq!(world.take(&session, "t1.n1").await, (work, begun.clone()));
    assert_eq!(world.count(&begun, "prompt.queued").await, 1);

    // Still not there.
    world.call(&format!("POST {path}/resume"), json!({})).await.ok(200);
    world.until_entry(&begun, |entry| failed(entry) && entry["seq"].as_u64() > first.as_u64()).await;
    assert_eq!(world.get(&path).await.ok(200)["queue"][0]["text"], "say on and on");
    // Another takes it up.
    let resumed = world.call(&format!("POST {path}/resume"), json!({ "agent": "guide" })).await;
    assert!(resumed.status < 300, "{}", resumed.text());
    world.until_entry(&begun, |entry| entry["type"] == "turn.ended").await;
    let shown = world.get(&path).await.ok(200);
    assert_eq!((&shown["state"], &shown["queue"]), (&json!("idle"), &json!([])));
    assert_eq!(world.count(&begun, "prompt.sent").await, 1);
    world.close().await;
}

#[tokio::test]
async fn words_are_found_in_the_sessions_of_a_work() {
    let world = World::on_disk().await;
    let session = world.offering(&["next Go | say a marmot | The Loom"]).await;
    let (work, begun) = world.take_and_finish(&session, "t1.n1").await;
    let page = async |query: &str| {
        let page =
            world.get(&format!("/api/v1/search?q={}", query.replace(' ', "%20").replace('"', "%22"))).await.ok(200);
        let found: BTreeSet<String> =
            page["results"].as_array().unwrap().iter().map(|result| text(&result["session_id"])).collect();
        (found, page["notes"].clone())
    };
    let (both, one) = (BTreeSet::from([session.clone(), begun.clone()]), BTreeSet::from([begun.clone()]));
    for (query, expected) in [
        ("marmot", both.clone()),
        ("marmot work:\"The Loom\"", one.clone()),
        ("marmot work:\"the loom\"", one.clone()),
        ("marmot work:nothing work:\"THE LOOM\"", one.clone()),
        ("marmot -work:\"The Loom\"", BTreeSet::from([session.clone()])),
        ("marmot -work:nothing", both),
        ("marmot work:nothing", BTreeSet::new()),
        ("marmot work:loo", BTreeSet::new()),
    ] {
        assert_eq!(page(query).await.0, expected, "{query}");
    }
    let notes = page("marmot work:nothing").await.1;
    assert_eq!(notes, json!(["there is no piece of work called nothing"]));
    let inside = async |of: &str, query: &str| {
        let address = format!("/api/v1/sessions/{of}/search?q={}", query.replace(' ', "%20").replace('"', "%22"));
        world.get(&address).await.ok(200)["entries"].as_array().unwrap().len()
    };
    assert_eq!(inside(&begun, "marmot work:\"The Loom\"").await, 1);
    assert_eq!(inside(&session, "marmot work:\"The Loom\"").await, 0);

    // By the names that it has and had, in every project.
    world.call(&format!("PATCH /api/v1/meta-contexts/{work}"), json!({ "name": "shuttle" })).await.ok(200);
    assert_eq!(page("marmot work:shuttle").await.0, one);
    assert_eq!(page("marmot work:\"The Loom\"").await.0, one);
    assert_eq!(inside(&begun, "marmot work:\"The Loom\"").await, 1);
    let other = world.directory.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let new = json!({ "agent": "guide", "cwd": other, "metaContext": "The Loom" });
    let there = world.call("POST /api/v1/sessions", new).await.ok(201);
    world.turn(&text(&there["id"]), "say a marmot").await;
    let there = (text(&there["id"]), text(&there["metaContextId"]));
    assert_eq!(page("marmot work:\"The Loom\"").await.0, BTreeSet::from([there.0.clone()]), "what is called so");
    world.call(&format!("PATCH /api/v1/meta-contexts/{}", there.1), json!({ "name": "warp" })).await.ok(200);
    assert_eq!(page("marmot work:\"The Loom\"").await.0, BTreeSet::from([begun.clone(), there.0]), "both had it");

    let named = async |query: &str| {
        let page = world.get(&format!("/api/v1/meta-contexts?{query}")).await.ok(200);
        (ids(page["metaContexts"].as_array().unwrap()), page["nextCursor"].clone())
    };
    let (all, cursor) = named("name=The%20Loom").await;
    assert_eq!((BTreeSet::from_iter(all.clone()), cursor), (BTreeSet::from([work.clone(), there.1]), Value::Null));
    let (first, cursor) = named("name=%20The%20Loom&limit=1").await;
    let (second, _) = named(&format!("name=The%20Loom&limit=1&after={}", text(&cursor))).await;
    assert_eq!([first, second].concat(), all);
    assert_eq!(named("name=shuttle").await.0, [work]);
    for none in ["name=", "name=the%20loom", "name=Loom"] {
        assert_eq!(named(none).await.0, Vec::<String>::new(), "{none}");
    }
    world.close().await;
}

/// An agent is told what its session is a part of, and where the work stood before.
#[tokio::test]
async fn tools_tell_of_the_work() {
    let world = World::open().await;
    let session = world.offering(&[OFFER]).await;
    let (work, first) = world.take_and_finish(&session, "t1.n1").await;
    world.turn(&first, OFFER).await;
    let (_, second) = world.take_and_finish(&first, "t2.n1").await;
    let client = Client::open(&world, Era::Stateless, &world.agent_token(&second).await).await;
    let lines = async |tool: &str, arguments: Value| -> Vec<String> {
        client.call(tool, arguments).await.lines().map(str::to_owned).collect()
    };
    let now = lines("current_session", json!({})).await;
    for line in [
        format!("Work {work} \"loom\": 2nd of 2 sessions"),
        format!("Started from session {first}, by its offer t2.n1"),
    ] {
        assert!(now.contains(&line), "{line} is not in {now:?}");
    }
    let toc = lines("session_toc", json!({})).await;
    assert_eq!(toc[1], format!("It goes on with the work \"loom\"; the session before it is {first}."));
    let toc = lines("session_toc", json!({ "session_id": first })).await;
    assert_eq!(toc[1], format!("It goes on with the work \"loom\"; the session before it is {session}."));
    let toc = lines("session_toc", json!({ "session_id": session })).await;
    assert!(!toc.iter().any(|line| line.contains("It goes on")), "{toc:?}");
    let listed = lines("list_sessions", json!({})).await;
    let named: Vec<&String> = listed.iter().filter(|line| line.contains(", work \"loom\"")).collect();
    assert_eq!(named.len(), 2, "{listed:?}");
    assert!(named[0].starts_with(&second) && named[1].starts_with(&first), "{listed:?}");

    world.call(&format!("DELETE /api/v1/meta-contexts/{work}"), None).await.ok(204);
    let now = lines("current_session", json!({})).await;
    assert!(!now.iter().any(|line| line.starts_with("Work ")), "{now:?}");
    world.close().await;
}
