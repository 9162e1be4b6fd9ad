//! R18: a damaged session is read up to its damage and takes no more; it is told everywhere, and the others do not notice.

use serde_json::{Value, json};

use crate::client::Live;
use crate::live::{follow, follow_after};
use crate::support::{INCARNATION, World};

const WHAT: &str = "its checksum does not match";

/// A session with an entry that is no longer what was written, one that is sound, and the seq of the bad entry.
async fn damaged() -> (World, String, String, u64) {
    let world = World::on_disk().await;
    let (bad, sound) = (world.session().await, world.session().await);
    for text in ["say before", "say hurt", "say after"] {
        world.turn(&bad, text).await;
    }
    world.turn(&sound, "say sound").await;
    let entries = world.entries(&bad).await;
    let seq = entries.iter().find(|entry| entry["data"]["text"] == "hurt").unwrap()["seq"].as_u64().unwrap();
    // The answer, which is stored once; the prompt's words are also in other tables.
    let world = world.restart_damaged("\"text\":\"hurt\"").await;
    (world, bad, sound, seq)
}

fn refusal(seq: u64) -> (u16, Value, Value) {
    (409, json!("session_damaged"), json!({ "seq": seq, "what": WHAT }))
}

async fn refused(world: &World, request: &str, body: Option<Value>) -> (u16, Value, Value) {
    let answer = world.call(request, body).await;
    let error = &answer.json()["error"];
    (answer.status, error["code"].clone(), error["details"].clone())
}

/// How the list and the session itself show it.
async fn shown(world: &World, session: &str) -> [Value; 2] {
    let one = world.get(&format!("/api/v1/sessions/{session}")).await.ok(200)["readOnly"].clone();
    let list = world.get("/api/v1/sessions").await.ok(200);
    let row = list["sessions"].as_array().unwrap().iter().find(|row| row["id"] == session).unwrap();
    [one, row["readOnly"].clone()]
}

#[tokio::test]
async fn a_damaged_session_is_read_up_to_its_damage_and_takes_no_more() {
    let (world, bad, sound, seq) = damaged().await;
    // Up to the damage everything is there, and the page says that it is not the end.
    let page = world.get(&format!("/api/v1/sessions/{bad}/entries")).await.ok(200);
    assert_eq!(page["entries"].as_array().unwrap().len() as u64, seq - 1);
    assert_eq!(page["nextCursor"], format!("{INCARNATION}.{}", seq - 1));
    let on = format!("GET /api/v1/sessions/{bad}/entries?after={INCARNATION}.{}", seq - 1);
    assert_eq!(refused(&world, &on, None).await, refusal(seq));

    let mut world = world;
    for _life in 0..2 {
        assert_eq!(shown(&world, &bad).await, ["damaged", "damaged"]);
        assert_eq!(shown(&world, &sound).await, [Value::Null, Value::Null]);
        for (request, body) in [
            (format!("POST /api/v1/sessions/{bad}/prompts"), json!({ "text": "say more" })),
            (format!("PATCH /api/v1/sessions/{bad}"), json!({ "name": "new" })),
        ] {
            assert_eq!(refused(&world, &request, Some(body)).await, refusal(seq), "{request}");
        }
        let before = world.position().await;
        world.turn(&sound, "say more").await;
        assert!(world.position().await > before);
        world = world.restart().await;
    }

    // Whoever has it can be rid of it.
    world.call(&format!("DELETE /api/v1/sessions/{bad}?now=true"), None).await.ok(204);
    assert_eq!(world.get(&format!("/api/v1/sessions/{bad}")).await.summary(), "404 session_not_found");
    let list = world.get("/api/v1/sessions").await.ok(200);
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1);
    world.close().await;
}

#[tokio::test]
async fn a_follower_gets_what_is_sound_then_the_damage_and_no_end() {
    let (world, bad, sound, seq) = damaged().await;
    let mut live = Live::local(&world).await;
    // The first follow finds the damage, the second knows of it, the third begins where it is.
    for after in [0, 0, seq - 1] {
        live.ask(follow_after(&bad, &after.to_string())).await;
        let frames = live.until("error").await;
        let seqs: Vec<u64> = frames.iter().filter_map(|frame| frame["entry"]["seq"].as_u64()).collect();
        assert_eq!(seqs, (after + 1..seq).collect::<Vec<_>>());
        assert!(frames.iter().all(|frame| frame["type"] != "caught_up"), "{frames:?}");
        let error = frames.last().unwrap();
        assert_eq!((&error["session"], &error["error"]["code"]), (&json!(bad), &json!("session_damaged")));
        assert_eq!(error["error"]["details"], json!({ "seq": seq, "what": WHAT }));
    }
    // The socket goes on with the others.
    live.ask(follow(&sound)).await;
    live.until("caught_up").await;
    world.turn(&sound, "say more").await;
    live.until_that(|frame| frame["entry"]["type"] == "turn.ended").await;
    world.close().await;
}

/// Recovery: one that is damaged and claims a running turn is left as it is, shown as cut off, and holds nobody up.
#[tokio::test]
async fn a_damaged_session_that_claims_a_turn_does_not_hold_up_the_start() {
    let (world, bad, sound, seq) = damaged().await;
    world.prompt(&sound, "slow 600").await;
    // Nobody has met the damage yet, so a turn begins.
    world.prompt(&bad, "slow 600").await;
    let on = format!("GET /api/v1/sessions/{bad}/entries?after={INCARNATION}.{}", seq - 1);
    assert_eq!(refused(&world, &on, None).await, refusal(seq));
    let world = world.restart().await;
    for (session, read_only) in [(&bad, json!("damaged")), (&sound, Value::Null)] {
        let session = world.get(&format!("/api/v1/sessions/{session}")).await.ok(200);
        assert_eq!((&session["state"], &session["readOnly"]), (&json!("interrupted"), &read_only));
    }
    world.turn(&sound, "say on").await;
    world.call(&format!("DELETE /api/v1/sessions/{bad}?now=true"), None).await.ok(204);
    world.close().await;
}

/// What is found in a damaged session is left out, with a word; the rest is found.
#[tokio::test]
async fn a_damaged_session_keeps_nobody_from_finding_words_in_others() {
    let (world, bad, sound, _) = damaged().await;
    world.turn(&sound, "say hurt").await;
    let found = world.get("/api/v1/search?q=hurt").await.ok(200);
    let sessions: Vec<_> = found["results"].as_array().unwrap().iter().map(|hit| hit["session_id"].clone()).collect();
    assert!(sessions.contains(&json!(sound)), "{found}");
    // The prompt of the turn can be read, what was answered can not.
    let found = world.get("/api/v1/search?q=hurt%20role:answer").await.ok(200);
    assert!(!found.to_string().contains(&bad) && found.to_string().contains(&sound), "{found}");
    assert!(found["notes"].to_string().contains("can not be read to its end"), "{found}");
}
