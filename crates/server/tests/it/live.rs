//! `/live`: one socket, many follows. Everything once and in order, and a way back after every break.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::Message;

use crate::client::{Live, bearer};
use crate::support::{INCARNATION, Io, Way, World, id, nothing_proved};

fn kinds(frames: &[Value]) -> Vec<&str> {
    frames.iter().map(|frame| frame["type"].as_str().unwrap()).collect()
}

pub(crate) fn seqs(frames: &[Value]) -> Vec<u64> {
    frames.iter().filter_map(|frame| frame["entry"]["seq"].as_u64()).collect()
}

pub(crate) fn follow(session: &str) -> Value {
    json!({ "type": "follow", "session": session })
}

pub(crate) fn follow_after(session: &str, after: &str) -> Value {
    json!({ "type": "follow", "session": session, "after": after })
}

pub(crate) fn ended(frame: &Value) -> bool {
    frame["entry"]["type"] == "turn.ended"
}

#[tokio::test]
async fn a_follow_begins_with_how_things_stand_and_then_the_log() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let mut live = Live::local(&world).await;
    let ask = live.ask(follow(&session)).await;
    let frames = live.until("caught_up").await;
    assert_eq!(
        kinds(&frames),
        ["ack", "session", "session.context", "entry", "entry", "entry", "entry", "entry", "caught_up"]
    );
    assert_eq!(frames[0], json!({ "type": "ack", "id": ask }));
    let shown = world.get(&format!("/api/v1/sessions/{session}")).await.ok(200);
    assert_eq!(frames[1], json!({ "type": "session", "session": session, "snapshot": shown }));
    let context = json!({
        "type": "session.context",
        "session": session,
        "reason": "load",
        "context": {},
        "facts": nothing_proved(),
        "proofs": {},
    });
    assert_eq!(frames[2], context);
    for (frame, entry) in frames[3..8].iter().zip(world.entries(&session).await) {
        let cursor = format!("{INCARNATION}.{}", entry["seq"]);
        assert_eq!(*frame, json!({ "type": "entry", "session": session, "cursor": cursor, "entry": entry }));
    }
    let caught_up = json!({ "type": "caught_up", "session": session, "cursor": format!("{INCARNATION}.5") });
    assert_eq!(frames[8], caught_up);
    world.close().await;
}

/// Previews are the words before they are durable: joined, they are the text of the entries that follow them.
#[tokio::test]
async fn previews_come_before_their_entry_and_join_to_it() {
    let world = World::open().await;
    let session = world.session().await;
    let mut live = Live::local(&world).await;
    live.ask(follow(&session)).await;
    let frames = forty_words(&mut live, &session).await;
    assert_eq!(frames.iter().filter(|frame| frame["type"] == "preview").count(), 40);
    world.close().await;
}

/// Words that come quickly come together where that was asked for, and are the same words in the same order.
#[tokio::test]
async fn previews_are_joined_where_it_is_asked_for() {
    let world = World::open().await;
    let session = world.session().await;
    let mut live = Live::local(&world).await;
    live.ask(json!({ "type": "follow", "session": session, "batch": true })).await;
    let frames = forty_words(&mut live, &session).await;
    let previews = frames.iter().filter(|frame| frame["type"] == "preview").count();
    assert!((1..40).contains(&previews), "{previews} frames");
    world.close().await;
}

/// Has the guide say forty words to a follow that has just begun; every word is shown once before it is durable.
async fn forty_words(live: &mut Live, session: &str) -> Vec<Value> {
    live.until("caught_up").await;
    live.ask(json!({ "type": "prompt", "session": session, "text": "long 40" })).await;
    let frames = live.until_that(|frame| entries_of(frame).iter().any(|entry| entry["type"] == "turn.ended")).await;
    let (mut previewed, mut durable) = (String::new(), String::new());
    for frame in &frames {
        match frame["type"].as_str().unwrap() {
            "preview" => {
                assert_eq!((&frame["turn"], &frame["block"]), (&json!(1), &json!(0)));
                previewed.push_str(frame["text"].as_str().unwrap());
            }
            "entry" | "entries" => {
                for entry in entries_of(frame).iter().filter(|entry| entry["type"] == "text.part") {
                    durable.push_str(entry["data"]["text"].as_str().unwrap());
                    assert_eq!(previewed, durable, "every word was shown before it was durable, and no other");
                }
            }
            _ => (),
        }
    }
    assert!(durable.starts_with("word1 word2 ") && durable.ends_with("word40 "), "{durable}");
    frames
}

/// The entries of a frame, alone or together.
fn entries_of(frame: &Value) -> &[Value] {
    match &frame["entries"] {
        Value::Array(entries) => entries,
        _ if frame["type"] == "entry" => std::slice::from_ref(&frame["entry"]),
        _ => &[],
    }
}

/// What an earlier follow still had to say is not said after it was replaced. The client leaves off in the middle of
/// more than its socket holds, so the server has frames of the first follow ready when it hears of the second.
#[tokio::test]
async fn nothing_of_a_replaced_follow_comes_after_the_new_one_began() {
    let world = World::on_disk().await;
    let session = world.session().await;
    for _ in 0..4 {
        world.turn(&session, &format!("say {}", "x".repeat(1 << 18))).await;
    }
    let head = world.entries_count(&session).await;
    let mut live = Live::local(&world).await;
    for _ in 0..15 {
        live.ask(follow(&session)).await;
        live.until_that(|frame| frame["entry"]["type"] == "text.part").await;
        let second = live.ask(follow_after(&session, &(head - 2).to_string())).await;
        live.answer(&second).await;
        assert_eq!(seqs(&live.until("caught_up").await), [head - 1, head]);
    }
    // And nothing later either.
    world.turn(&session, "say end").await;
    let rest = live.until_that(ended).await;
    assert_eq!(seqs(&rest)[0], head + 1);
    world.close().await;
}

#[tokio::test]
async fn cursors_that_lead_nowhere_are_answered_with_a_reset() {
    let world = World::open().await;
    let session = world.session().await;
    let mut live = Live::local(&world).await;
    let snapshot = format!("{INCARNATION}.5");
    for (after, reason) in [
        ("00000000000000b2.1".to_owned(), "other_incarnation"),
        (format!("{INCARNATION}.6"), "ahead"),
        (u64::MAX.to_string(), "ahead"),
    ] {
        let ask = live.ask(follow_after(&session, &after)).await;
        let reset = json!({ "type": "reset", "session": session, "reason": reason, "snapshot": snapshot });
        assert_eq!(live.next().await, reset);
        let error = live.next().await;
        assert_eq!((&error["id"], &error["error"]["code"]), (&json!(ask), &json!("cursor_reset")));
    }
    let nonsense = live.call(follow_after(&session, "nonsense")).await;
    assert_eq!(nonsense["error"]["code"], "invalid_cursor");
    // What the reset names is a place to go on from.
    live.ask(follow_after(&session, &snapshot)).await;
    assert_eq!(kinds(&live.until("caught_up").await), ["ack", "session", "session.context", "caught_up"]);
    world.close().await;
}

#[tokio::test]
async fn two_sockets_see_the_same() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let browser = world.sign_in().await;
    let mut sockets = [Live::browser(&world, &browser).await, Live::bearer(&world, &world.token).await];
    for live in &mut sockets {
        live.ask(follow(&session)).await;
        live.until("caught_up").await;
    }
    sockets[0].ask(json!({ "type": "prompt", "session": session, "text": "long 30" })).await;
    let mut seen = Vec::new();
    for live in &mut sockets {
        let mut frames = live.until_that(ended).await;
        frames.retain(|frame| frame["type"] == "entry" || frame["type"] == "preview");
        seen.push(frames);
    }
    assert_eq!(seen[0], seen[1]);
    world.close().await;
}

#[tokio::test]
async fn nothing_of_a_session_comes_after_it_was_unfollowed() {
    let world = World::open().await;
    let (session, other) = (world.session().await, world.session().await);
    let mut live = Live::local(&world).await;
    for session in [&session, &other] {
        live.ask(follow(session)).await;
        live.until("caught_up").await;
    }
    world.prompt(&session, "slow 600").await;
    live.until("preview").await;
    let ack = live.call(json!({ "type": "unfollow", "session": session })).await;
    assert_eq!(ack["type"], "ack");
    world.call(&format!("POST /api/v1/sessions/{session}/cancel"), None).await.ok(202);
    world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;
    world.turn(&other, "say end").await;
    let frames = live.until_that(ended).await;
    let of_the_first = |frame: &&Value| frame["session"] == session.as_str() && frame["type"] != "row";
    assert_eq!(frames.iter().find(of_the_first), None);
    // Unfollowing what is not followed is no mistake.
    assert_eq!(live.call(json!({ "type": "unfollow", "session": id(99) })).await["type"], "ack");
    world.close().await;
}

#[tokio::test]
async fn sessions_that_are_not_there_cannot_be_followed() {
    let world = World::open().await;
    let session = world.session().await;
    world.call(&format!("DELETE /api/v1/sessions/{session}"), None).await.ok(204);
    let mut live = Live::local(&world).await;
    let error = live.call(follow(&id(99))).await;
    assert_eq!((&error["type"], &error["error"]["code"]), (&json!("error"), &json!("session_not_found")));
    // Whoever was away while it was deleted is told so.
    let asked = live.ask(follow(&session)).await;
    let reset = live.until("reset").await.pop().unwrap();
    assert_eq!((&reset["session"], &reset["reason"]), (&json!(session), &json!("deleted")));
    assert_eq!(live.answer(&asked).await["error"]["code"], "session_deleted");
    world.close().await;
}

#[tokio::test]
async fn a_session_deleted_under_its_followers_is_reset() {
    let world = World::open().await;
    for now in ["", "?now=true"] {
        let session = world.session().await;
        let mut live = Live::local(&world).await;
        live.ask(follow(&session)).await;
        live.until("caught_up").await;
        world.call(&format!("DELETE /api/v1/sessions/{session}{now}"), None).await.ok(204);
        let frames = live.until("reset").await;
        let reset = json!({ "type": "reset", "session": session, "reason": "deleted", "snapshot": null });
        assert_eq!(*frames.last().unwrap(), reset);
        assert_eq!(live.call(json!({ "type": "ping" })).await["type"], "ack", "the socket goes on");
    }
    world.close().await;
}

#[tokio::test]
async fn every_change_of_the_list_is_a_row() {
    let world = World::open().await;
    let mut live = Live::local(&world).await;
    let session = world.session().await;
    world.call(&format!("PATCH /api/v1/sessions/{session}"), json!({ "name": "named" })).await.ok(200);
    world.turn(&session, "say hi").await;
    world.call(&format!("POST /api/v1/sessions/{session}/observe"), None).await.ok(200);
    world.call(&format!("DELETE /api/v1/sessions/{session}"), None).await.ok(204);
    let rows = live.until_that(|frame| frame["removed"].is_string()).await;
    assert!(rows.iter().all(|frame| frame["type"] == "row"), "{rows:?}");
    let story: Vec<Value> = rows
        .iter()
        .map(|row| {
            let session = &row["session"];
            json!([session["state"], session["title"], session["unobserved"], row["unobservedCount"]])
        })
        .collect();
    assert_eq!(
        story,
        [
            json!(["starting", null, false, 0]),
            json!(["idle", null, false, 0]),
            json!(["idle", "named", false, 0]),
            json!(["running", "named", false, 0]),
            json!(["idle", "named", true, 1]),
            json!(["idle", "named", false, 0]),
            json!([null, null, null, 0]),
        ]
    );
    assert_eq!(
        rows.last().unwrap(),
        &json!({ "type": "row", "removed": session, "unobservedCount": 0, "needsYouCount": 0 })
    );
    world.close().await;
}

#[tokio::test]
async fn the_list_is_paged_over_the_socket_too() {
    let world = World::open().await;
    for _ in 0..3 {
        world.session().await;
    }
    let mut live = Live::local(&world).await;
    let page = live.call(json!({ "type": "list" })).await;
    let mut over_http = world.get("/api/v1/sessions").await.ok(200);
    over_http["type"] = json!("list");
    over_http["id"] = page["id"].clone();
    assert_eq!(page, over_http);
    let error = live.call(json!({ "type": "list", "after": "nonsense" })).await;
    assert_eq!(error["error"]["code"], "invalid_cursor");
    world.close().await;
}

#[tokio::test]
async fn frames_that_make_no_sense_are_refused_and_the_socket_goes_on() {
    let world = World::open().await;
    let session = world.session().await;
    let before = world.position().await;
    let mut live = Live::local(&world).await;
    let deep = format!("{{\"id\":\"x\",\"type\":{}", "[".repeat(100_000));
    let prompt = |more: Value| {
        let mut frame = json!({ "id": "x", "type": "prompt", "session": session, "text": "hi" });
        frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        frame.to_string()
    };
    let frames = [
        "".to_owned(),
        "not json".to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
        "{}".to_owned(),
        json!({ "id": "x" }).to_string(),
        json!({ "type": "ping" }).to_string(),
        json!({ "id": 5, "type": "ping" }).to_string(),
        json!({ "id": "x", "type": "answer", "option": "yes" }).to_string(),
        json!({ "id": "x", "type": "follow" }).to_string(),
        json!({ "id": "x", "type": "follow", "session": "nonsense" }).to_string(),
        json!({ "id": "x", "type": "prompt", "session": session }).to_string(),
        json!({ "id": "x", "type": "prompt", "session": session, "text": 5 }).to_string(),
        prompt(json!({ "whenBusy": "wait" })),
        prompt(json!({ "images": [{ "data": "aGk=" }] })),
        prompt(json!({ "when_busy": "reject" })),
        json!({ "id": "x", "type": "ping", "surprise": true }).to_string(),
        deep,
    ];
    for frame in frames {
        live.send_text(&frame).await;
        let error = live.next().await;
        assert_eq!(
            (&error["type"], &error["error"]["code"]),
            (&json!("error"), &json!("invalid_frame")),
            "{frame:.80}"
        );
        // Whoever has several under way knows which one it was, if the frame said so.
        let id = serde_json::from_str::<Value>(&frame).ok().and_then(|frame| frame["id"].as_str().map(str::to_owned));
        assert_eq!(error["id"].as_str(), id.as_deref(), "{frame:.80}");
    }
    live.send(Message::binary(b"{}".to_vec())).await;
    assert_eq!(live.next().await["error"]["code"], "invalid_frame");
    for (text, code) in [(" ".to_owned(), "prompt_empty"), ("x".repeat((1 << 20) + 1), "prompt_too_long")] {
        let error = live.call(json!({ "type": "prompt", "session": session, "text": text })).await;
        assert_eq!(error["error"]["code"], code);
    }
    let key = live.call(json!({ "type": "prompt", "session": session, "text": "x", "key": "two words" })).await;
    assert_eq!(key["error"]["code"], "invalid_key");
    let cancel = live.call(json!({ "type": "cancel", "session": session })).await;
    assert_eq!(cancel["error"]["code"], "no_turn_running");
    assert_eq!(world.position().await, before);
    assert_eq!(live.call(json!({ "type": "ping" })).await["type"], "ack");
    world.close().await;
}

#[tokio::test]
async fn a_socket_prompts_cancels_and_observes() {
    let world = World::open().await;
    let session = world.session().await;
    let mut live = Live::local(&world).await;
    live.ask(follow(&session)).await;
    live.until("caught_up").await;
    let ack = live.call(json!({ "type": "prompt", "session": session, "text": "slow 600" })).await;
    assert_eq!(ack["result"], json!({ "interactionId": id(3), "turn": 1 }));
    let busy = json!({ "type": "prompt", "session": session, "text": "x", "whenBusy": "reject" });
    assert_eq!(live.call(busy).await["error"]["code"], "turn_running");
    assert_eq!(live.call(json!({ "type": "cancel", "session": session })).await["type"], "ack");
    world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;
    let observed = live.call(json!({ "type": "observe", "session": session })).await;
    assert_eq!(observed["result"], json!({ "success": true, "wasUnobserved": true, "unobservedCount": 0 }));
    world.close().await;
}

/// Prompts of one socket are taken in the order in which they were sent.
#[tokio::test]
async fn prompts_of_one_socket_keep_their_order() {
    let world = World::open().await;
    let session = world.session().await;
    let mut live = Live::local(&world).await;
    for n in 0..20 {
        live.ask(json!({ "type": "prompt", "session": session, "text": format!("say {n}") })).await;
    }
    world.until_entry(&session, |entry| entry["type"] == "turn.ended" && entry["data"]["turn"] == 20).await;
    let entries = world.entries(&session).await;
    let sent = entries.iter().filter(|entry| entry["type"] == "prompt.sent").map(|entry| entry["data"]["text"].clone());
    assert!(sent.eq((0..20).map(|n| json!(format!("say {n}")))));
    world.close().await;
}

#[tokio::test]
async fn a_hundred_sessions_can_be_followed_and_no_more() {
    let world = World::open().await;
    let mut sessions = Vec::new();
    for _ in 0..101 {
        let created = world.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": "/usr" })).await.ok(201);
        sessions.push(created["id"].as_str().unwrap().to_owned());
    }
    let mut live = Live::local(&world).await;
    for session in &sessions[..100] {
        assert_eq!(live.call(follow(session)).await["type"], "ack");
    }
    assert_eq!(live.call(follow(&sessions[100])).await["error"]["code"], "too_many_follows");
    assert_eq!(live.call(follow(&sessions[5])).await["type"], "ack", "one that is followed may be followed anew");
    live.call(json!({ "type": "unfollow", "session": sessions[0] })).await;
    assert_eq!(live.call(follow(&sessions[100])).await["type"], "ack");
    world.close().await;
}

/// R28: a stopping server says where each follow is, so that the client can go on with the next one.
#[tokio::test]
async fn a_stopping_server_says_goodbye_with_the_cursors() {
    let world = World::on_disk().await;
    let session = world.session().await;
    world.turn(&session, "say hello").await;
    let mut sockets = [Live::local(&world).await, Live::bearer(&world, &world.token).await];
    for live in &mut sockets {
        live.ask(follow(&session)).await;
        live.until("caught_up").await;
    }
    let last = world.entries_count(&session).await;
    let cursor = format!("{INCARNATION}.{last}");
    world.stopping.cancel();
    for live in &mut sockets {
        let (frames, code) = live.until_closed().await;
        assert_eq!(code, 1001);
        let bye = json!({ "type": "bye", "reason": "the server is stopping", "cursors": { &session: cursor } });
        assert_eq!(*frames.last().unwrap(), bye);
    }
    let world = world.restart().await;
    let mut live = Live::local(&world).await;
    live.ask(follow_after(&session, &cursor)).await;
    let frames = live.until("caught_up").await;
    assert_eq!(seqs(&frames), [last + 1], "what the server wrote when it stopped");
    world.close().await;
}

/// R07: quiet follows are marked every fifteen seconds. The stream is inside this process and the clock is paused, so
/// a minute takes no time.
#[tokio::test(start_paused = true)]
async fn quiet_follows_are_marked_every_fifteen_seconds() {
    let world = World::open().await;
    let session = inside_session(&world).await;
    let mut live = Live::open(&world, Way::Inside, vec![]).await.unwrap();
    live.ask(follow(&session)).await;
    live.until("caught_up").await;
    let caught_up_at = tokio::time::Instant::now();
    for n in 1..=4 {
        let progress = live.next().await;
        let up_to = format!("{INCARNATION}.5");
        assert_eq!(progress, json!({ "type": "progress", "session": session, "upTo": up_to }));
        let waited = caught_up_at.elapsed().as_millis();
        assert!((15_000 * n - 100..=15_000 * n + 100).contains(&waited), "the {n}th mark came after {waited} ms");
    }
    world.close().await;
}

/// R16: a peer that falls silent is found within 45 seconds, also if it answered before.
#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_answer_pings_is_closed() {
    let world = World::open().await;
    let mut live = Live::open(&world, Way::Inside, vec![]).await.unwrap();
    live.until("list").await;
    // While nothing is read, the library answers no ping.
    tokio::time::sleep(Duration::from_secs(24)).await;
    assert_eq!(live.call(json!({ "type": "ping" })).await["type"], "ack", "closed too early");
    tokio::time::sleep(Duration::from_secs(45)).await;
    assert!(!live.is_open().await, "closed too late");
    world.close().await;
}

/// T07: whoever is signed out is closed within five seconds, also if it leaves everything unread.
#[tokio::test(start_paused = true)]
async fn a_signed_out_peer_that_does_not_read_is_closed() {
    let world = World::open().await;
    let session = inside_session(&world).await;
    let token = json!({ "name": "short" }).to_string();
    let issued = world.send(Way::Inside, vec![], "POST /api/v1/tokens", Some(token.into())).await.ok(201);
    let mut live = Live::open(&world, Way::Inside, bearer(issued["secret"].as_str().unwrap())).await.unwrap();
    live.ask(follow(&session)).await;
    live.until("caught_up").await;
    // More than the stream holds, so the server stands in the middle of a frame.
    inside_prompt(&world, &session, &format!("say {}", "x".repeat(1 << 18))).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    let revoke = format!("DELETE /api/v1/tokens/{}", issued["token"]["id"].as_str().unwrap());
    world.send(Way::Inside, vec![], &revoke, None).await.ok(204);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(!live.is_open().await);
    world.close().await;
}

/// Hands on 16 KiB every half second.
struct Slow {
    io: Box<dyn Io>,
    pause: Pin<Box<tokio::time::Sleep>>,
}

impl AsyncRead for Slow {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(self.pause.as_mut().poll(cx));
        let mut bytes = [0; 16 << 10];
        let room = buf.remaining().min(bytes.len());
        let mut part = ReadBuf::new(&mut bytes[..room]);
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut part))?;
        buf.put_slice(part.filled());
        self.pause.as_mut().reset(tokio::time::Instant::now() + Duration::from_millis(500));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Slow {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// R15: what counts is that a client goes on reading, not how long one frame takes it; this one needs 16 seconds each.
#[tokio::test(start_paused = true)]
async fn a_slow_client_that_goes_on_reading_gets_everything() {
    let world = World::open().await;
    let session = inside_session(&world).await;
    let io = world.connect(Way::Inside).await.unwrap();
    let pause = Box::pin(tokio::time::sleep(Duration::ZERO));
    let mut live = Live::over(&world, Box::new(Slow { io, pause })).await;
    live.ask(follow(&session)).await;
    live.until("caught_up").await;
    inside_prompt(&world, &session, &format!("say {}", "x".repeat(1 << 19))).await;
    let frames = live.until_that(ended).await;
    assert_eq!(seqs(&frames), (6..6 + seqs(&frames).len() as u64).collect::<Vec<_>>());
    world.close().await;
}

async fn inside_prompt(world: &World, session: &str, text: &str) {
    let body = serde_json::to_vec(&json!({ "text": text })).unwrap();
    world
        .send(Way::Inside, vec![], &format!("POST /api/v1/sessions/{session}/prompts"), Some(body.into()))
        .await
        .ok(202);
}

/// A session whose agent is ready, made without leaving the process.
async fn inside_session(world: &World) -> String {
    let body = serde_json::to_vec(&json!({ "agent": "guide", "cwd": "/usr" })).unwrap();
    let created = world.send(Way::Inside, vec![], "POST /api/v1/sessions", Some(body.into())).await.ok(201);
    let session = created["id"].as_str().unwrap().to_owned();
    let mut live = Live::open(world, Way::Inside, vec![]).await.unwrap();
    live.ask(follow(&session)).await;
    live.until_that(|frame| frame["entry"]["type"] == "agent.commands_changed").await;
    session
}

/// R15: a client that does not read is closed after ten seconds, the others see no change, and it can go on from
/// where it was.
#[tokio::test]
async fn a_client_that_does_not_read_is_closed_and_resumes() {
    let world = World::open().await;
    let session = world.session().await;
    world.until_entry(&session, |entry| entry["type"] == "agent.commands_changed").await;
    let text = format!("say {}", "x".repeat(1 << 19));
    let mut stalled = Live::local(&world).await;
    stalled.ask(follow(&session)).await;
    stalled.until("caught_up").await;
    let mut other = Live::bearer(&world, &world.token).await;
    other.ask(follow(&session)).await;
    other.until("caught_up").await;
    let settled = world.entries_count(&session).await;
    // Far more than a Unix socket holds: the prompt, its preview and its answer make 1.5 MB a turn.
    for _ in 0..4 {
        world.prompt(&session, &text).await;
        other.until_that(ended).await;
    }
    tokio::time::pause();
    for _ in 0..12 {
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    tokio::time::resume();
    let (frames, _) = stalled.until_closed().await;
    let seen = seqs(&frames);
    let head = world.entries_count(&session).await;
    let last = settled + seen.len() as u64;
    assert_eq!(seen, (settled + 1..=last).collect::<Vec<_>>(), "what came is in order and without a gap");
    assert!(last < head, "it was never behind");
    let mut resumed = Live::local(&world).await;
    resumed.ask(follow_after(&session, &last.to_string())).await;
    let rest = seqs(&resumed.until("caught_up").await);
    assert_eq!(rest, (last + 1..=head).collect::<Vec<_>>());
    world.close().await;
}

/// More requests than a socket may have waiting are refused one by one, not by closing it.
#[tokio::test]
async fn requests_that_flood_a_socket_are_each_answered() {
    let world = World::open().await;
    let session = world.session().await;
    let mut live = Live::open(&world, Way::Port, bearer(&world.token)).await.unwrap();
    let mut asked = Vec::new();
    for _ in 0..300 {
        asked.push(live.ask(json!({ "type": "observe", "session": session })).await);
    }
    let mut answered = Vec::new();
    while answered.len() < asked.len() {
        let frame = live.next().await;
        if let Some(id) = frame["id"].as_str() {
            assert!(frame["type"] == "ack" || frame["error"]["code"] == "too_many_requests", "{frame}");
            answered.push(id.to_owned());
        }
    }
    answered.sort();
    asked.sort();
    assert_eq!(answered, asked);
    world.close().await;
}
