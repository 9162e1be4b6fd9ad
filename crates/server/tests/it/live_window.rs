//! Following a session from its newest turns on: what comes, and what is told of all that came before.

use serde_json::{Value, json};

use crate::client::Live;
use crate::live::{ended, follow_after, seqs};
use crate::support::{INCARNATION, World};

fn follow_newest(session: &str, turns: u32) -> Value {
    json!({ "type": "follow", "session": session, "turns": turns })
}

/// Follows the newest turns; gives the frames of that follow, `session` first.
async fn followed(live: &mut Live, session: &str, turns: u32) -> Vec<Value> {
    let ask = live.ask(follow_newest(session, turns)).await;
    live.answer(&ask).await;
    live.until("caught_up").await
}

/// The newest of what the log tells of an agent.
fn newest<'a>(entries: &'a [Value], kind: &str, field: &str) -> &'a Value {
    &entries.iter().rfind(|entry| entry["type"] == kind).unwrap()["data"][field]
}

#[tokio::test]
async fn it_begins_with_the_first_entry_of_a_turn_and_tells_what_was_before() {
    let world = World::on_disk().await;
    let session = world.session().await;
    for n in 1..=5 {
        world.turn(&session, &format!("say {n}")).await;
    }
    let entries = world.entries(&session).await;
    let mut live = Live::local(&world).await;
    for (turns, first) in [(1, 5), (2, 4), (4, 2)] {
        let frames = followed(&mut live, &session, turns).await;
        let begun = |entry: &Value| entry["type"] == "turn.started" && entry["data"]["turn"] == first;
        let first = entries.iter().position(begun).unwrap();
        let told: Vec<_> =
            frames.iter().filter(|frame| frame["type"] == "entry").map(|frame| &frame["entry"]).collect();
        assert_eq!(told, entries[first..].iter().collect::<Vec<_>>());
        let window = &frames[0]["window"];
        assert_eq!(window["after"], format!("{INCARNATION}.{first}"));
        assert_eq!(window["agent"]["state"], "ready");
        assert_eq!(&window["agent"]["commands"], newest(&entries, "agent.commands_changed", "commands"));
        assert_eq!(&window["agent"]["program"], &newest(&entries, "agent.state_changed", "attached")["program"]);
    }
    // It goes on from there as any other: from its cursor, and with what comes.
    let cut = entries.len() as u64 - 3;
    live.ask(follow_after(&session, &format!("{INCARNATION}.{cut}"))).await;
    let frames = live.until("caught_up").await;
    assert_eq!(seqs(&frames), [cut + 1, cut + 2, cut + 3]);
    let begun = frames.iter().find(|frame| frame["type"] == "session").unwrap();
    assert_eq!(begun.get("window"), None);
    world.close().await;
}

#[tokio::test]
async fn a_session_with_fewer_turns_is_followed_from_its_beginning() {
    let world = World::open().await;
    let session = world.session().await;
    let mut live = Live::local(&world).await;
    for turn in 0..=3 {
        let frames = followed(&mut live, &session, 3).await;
        assert_eq!(frames[0]["window"]["after"], format!("{INCARNATION}.0"), "with {turn} turns");
        assert_eq!(seqs(&frames)[0], 1);
        live.ask(json!({ "type": "prompt", "session": session, "text": "say it" })).await;
        let frames = live.until_that(ended).await;
        assert!(seqs(&frames).iter().zip(seqs(&frames).iter().skip(1)).all(|(one, next)| one + 1 == *next));
    }
    let frames = followed(&mut live, &session, 3).await;
    let first = frames.iter().find(|frame| frame["type"] == "entry").unwrap();
    assert_eq!(first["entry"]["data"]["turn"], 2);
    world.close().await;
}

/// What a live session offers is known however long ago it was told.
#[tokio::test]
async fn what_was_offered_long_ago_is_told_while_the_session_is_live() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let told = world.entries_count(&session).await;
    while world.entries_count(&session).await <= told + 256 {
        world.turn(&session, "say on").await;
    }
    let entries = world.entries(&session).await;
    let mut live = Live::local(&world).await;
    let frames = followed(&mut live, &session, 1).await;
    assert_eq!(&frames[0]["window"]["agent"]["commands"], newest(&entries, "agent.commands_changed", "commands"));
    // One that rests is as the end of its log tells.
    let world = world.restart().await;
    let mut live = Live::local(&world).await;
    let frames = followed(&mut live, &session, 1).await;
    let agent = &frames[0]["window"]["agent"];
    assert_eq!((&agent["state"], &agent["reason"]), (&json!("stopped"), &json!("server_shutdown")));
    assert_eq!(agent["commands"], json!([]));
    world.close().await;
}

#[tokio::test]
async fn a_number_of_turns_is_bounded_and_stands_alone() {
    let world = World::open().await;
    let session = world.session().await;
    let mut live = Live::local(&world).await;
    for (request, words) in [
        (follow_newest(&session, 0), "turns is a number from 1 to 200"),
        (follow_newest(&session, 201), "turns is a number from 1 to 200"),
        (
            json!({ "type": "follow", "session": session, "turns": 2, "after": format!("{INCARNATION}.2") }),
            "after and turns do not go together",
        ),
    ] {
        let refused = live.call(request).await;
        assert_eq!(refused["error"]["code"], "invalid_frame");
        assert!(refused["error"]["message"].as_str().unwrap().contains(words), "{refused}");
    }
    followed(&mut live, &session, 200).await;
    world.close().await;
}

/// A long log comes in few frames to whoever asks for that, and with the same entries.
#[tokio::test]
async fn entries_that_wait_together_come_together_where_it_is_asked_for() {
    let world = World::on_disk().await;
    let session = world.session().await;
    while world.entries_count(&session).await <= 256 {
        world.turn(&session, "say on").await;
    }
    let entries = world.entries(&session).await;
    let mut live = Live::local(&world).await;
    live.ask(json!({ "type": "follow", "session": session, "batch": true })).await;
    let frames = live.until("caught_up").await;
    let told: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == "entries").collect();
    let together: Vec<&Value> = told.iter().flat_map(|frame| frame["entries"].as_array().unwrap()).collect();
    let alone: Vec<&Value> =
        frames.iter().filter(|frame| frame["type"] == "entry").map(|frame| &frame["entry"]).collect();
    assert_eq!([together.as_slice(), alone.as_slice()].concat(), entries.iter().collect::<Vec<_>>());
    assert!(told.len() + alone.len() <= entries.len().div_ceil(256), "{} frames", told.len() + alone.len());
    for frame in told {
        let last = frame["entries"].as_array().unwrap().last().unwrap();
        assert_eq!(frame["cursor"], format!("{INCARNATION}.{}", last["seq"]));
    }
    // Its place is that of the last of them.
    live.ask(json!({ "type": "prompt", "session": session, "text": "say it" })).await;
    live.until_that(|frame| {
        ended(frame)
            || frame["entries"].as_array().is_some_and(|all| all.iter().any(|entry| entry["type"] == "turn.ended"))
    })
    .await;
    // Whoever does not ask has each by itself.
    live.ask(json!({ "type": "follow", "session": session })).await;
    let frames = live.until("caught_up").await;
    assert!(frames.iter().all(|frame| frame["type"] != "entries"));
    assert_eq!(seqs(&frames)[..entries.len()], (1..=entries.len() as u64).collect::<Vec<_>>());
    world.close().await;
}
