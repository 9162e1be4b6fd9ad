//! Bodies: what is too long for an entry is beside the log before the entry is in it, and whatever becomes of it harms nothing else.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use engine::{OutputSettings, SendPrompt};
use model::{Author, BodyHash, Entry, Image, Item, SessionEvent, SessionId, ToolContent, Turn, WhenBusy};
use store::PayloadFolder;
use store::prelude::*;

use crate::support::{World, asker, next_event};

/// 200 lines of 300 bytes, each with its number.
fn long_text(word: &str) -> String {
    (1..=200).map(|n| format!("{word}{n} {}\n", "x".repeat(290))).collect()
}

/// The same world, whose sessions have room for so many bytes beside the log.
async fn keeping(mut world: World, session_bytes: u64) -> World {
    let payloads = Arc::new(PayloadFolder::at(world.sessions_folder()));
    world.outputs = OutputSettings { session_bytes, ..OutputSettings::new(payloads) };
    world.stop_and_restart().await;
    world
}

async fn turn(world: &World, session: SessionId, text: &str) {
    let prompt = world.prompt(session, text).await;
    world.finish(session, prompt).await;
}

fn bodies(world: &World, session: SessionId) -> PathBuf {
    world.sessions_folder().join(session.to_string()).join("bodies")
}

fn names(world: &World, session: SessionId) -> Vec<String> {
    let files = fs::read_dir(bodies(world, session)).into_iter().flatten();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

async fn entries(world: &World, session: SessionId) -> Vec<Entry> {
    world.store.read_session(session, model::Seq::START, 1_000).await.unwrap()
}

/// What the first call of a turn shows.
async fn shown(world: &World, session: SessionId, turn: u32) -> String {
    let view = world.engine.turn(session, Turn(turn)).await.unwrap();
    let items = view.interaction.transcript.items;
    let call = items.iter().find_map(|item| match item {
        Item::Tool(call) => Some(call),
        _ => None,
    });
    match call.map(|call| call.content.as_slice()) {
        Some([ToolContent::Text { text }]) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_entry_has_a_head_and_whoever_reads_the_turn_has_all() {
    let world = keeping(World::new().await, 1 << 30).await;
    let session = world.session().await;
    let text = long_text("deep");
    fs::write(world.directory.path().join("long.txt"), &text).unwrap();
    turn(&world, session, "read long.txt").await;
    let hash = BodyHash::of(text.as_bytes());
    assert_eq!(names(&world, session), [hash.to_string()]);
    assert_eq!(fs::read_to_string(bodies(&world, session).join(hash.to_string())).unwrap(), text);
    let log = entries(&world, session).await;
    assert!(log.iter().all(|entry| entry.event.about_bytes() < 6_000));
    assert!(log.iter().any(|entry| entry.event.body_hashes().eq([hash])));
    assert_eq!(shown(&world, session, 1).await, text);
    // The same again is stored once, and another session has its own.
    turn(&world, session, "read long.txt").await;
    assert_eq!(names(&world, session).len(), 1);
    let other = world.session().await;
    assert!(world.engine.body(other, hash).await.is_err());
    assert!(world.engine.body(session, hash).await.is_ok());

    // Somebody edits it, and takes it away.
    fs::write(bodies(&world, session).join(hash.to_string()), "edited").unwrap();
    let edited = shown(&world, session, 1).await;
    assert!(edited.starts_with("deep1 ") && edited.contains("their file was edited"), "{edited}");
    assert!(matches!(world.engine.body(session, hash).await, Err(engine::OutputError::BodyChanged(_))));
    fs::remove_dir_all(bodies(&world, session)).unwrap();
    let gone = shown(&world, session, 1).await;
    assert!(gone.starts_with("deep1 ") && gone.contains("more bytes are gone"), "{gone}");
    assert!(matches!(world.engine.body(session, hash).await, Err(engine::OutputError::BodyGone(_))));
    turn(&world, session, "say on").await;
}

#[tokio::test(start_paused = true)]
async fn without_room_or_with_something_else_in_its_place_the_head_is_kept_and_says_so() {
    let mut world = keeping(World::new().await, 1 << 30).await;
    world = keeping(world, 100_000).await;
    let session = world.session().await;
    for name in ["one", "two"] {
        fs::write(world.directory.path().join(name), long_text(name)).unwrap();
        turn(&world, session, &format!("read {name}")).await;
    }
    assert_eq!(names(&world, session), [BodyHash::of(long_text("one").as_bytes()).to_string()]);
    assert_eq!(shown(&world, session, 1).await, long_text("one"));
    let cut = shown(&world, session, 2).await;
    assert!(cut.starts_with("two1 ") && cut.contains("were not kept"), "{cut}");
    turn(&world, session, "read one").await;
    assert_eq!(shown(&world, session, 3).await, long_text("one"), "what is there already needs no more room");

    // The folder can not be made: a file has its name.
    let blocked = world.session().await;
    fs::create_dir_all(world.sessions_folder().join(blocked.to_string())).unwrap();
    fs::write(bodies(&world, blocked), "in the way").unwrap();
    turn(&world, blocked, "read one").await;
    assert!(shown(&world, blocked, 1).await.contains("were not kept"));
    turn(&world, blocked, "say on").await;
}

#[tokio::test(start_paused = true)]
async fn what_a_crash_left_without_an_entry_is_swept_and_the_rest_stays() {
    let mut world = keeping(World::new().await, 1 << 30).await;
    let session = world.session().await;
    fs::write(world.directory.path().join("long.txt"), long_text("kept")).unwrap();
    turn(&world, session, "read long.txt").await;
    let kept = names(&world, session);
    let orphan = |text: &[u8]| fs::write(bodies(&world, session).join(BodyHash::of(text).to_string()), text).unwrap();
    // The turn runs when the server is killed: it is settled by the next one.
    world.prompt(session, "slow 1000").await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    while !matches!(next_event(&mut follow).await, SessionEvent::TextPart { .. }) {}
    orphan(b"no entry names me");
    fs::write(bodies(&world, session).join("notes.txt"), "the person's").unwrap();
    world.crash_and_restart().await;
    assert_eq!(names(&world, session), [kept.clone(), vec!["notes.txt".to_owned()]].concat());
    // No turn ran: the next body that is stored sweeps what the crash left.
    let orphan = bodies(&world, session).join(BodyHash::of(b"x").to_string());
    fs::write(&orphan, b"x").unwrap();
    world.crash_and_restart().await;
    fs::write(world.directory.path().join("other.txt"), long_text("other")).unwrap();
    turn(&world, session, "read other.txt").await;
    assert!(!orphan.exists());
    assert_eq!(names(&world, session).len(), 3);
    assert_eq!(shown(&world, session, 1).await, long_text("kept"));
}

#[tokio::test(start_paused = true)]
async fn a_purge_takes_the_bodies_with_it() {
    let world = keeping(World::with_copies().await, 1 << 30).await;
    let session = world.session().await;
    fs::write(world.directory.path().join("long.txt"), long_text("gone")).unwrap();
    turn(&world, session, "read long.txt").await;
    assert_eq!(names(&world, session).len(), 1);
    world.engine.purge(session, asker()).await.unwrap();
    assert!(!world.sessions_folder().join(session.to_string()).exists());
}

/// A PNG of so many bytes.
fn picture(bytes: usize) -> Image {
    use base64::Engine as _;
    let start = b"\x89PNG\r\n\x1a\n";
    let png: Vec<u8> = start.iter().copied().chain((0..).map(|n: u32| (n % 251) as u8)).take(bytes).collect();
    let data = base64::prelude::BASE64_STANDARD.encode(png);
    Image { mime_type: "image/png".to_owned(), data, body: None }
}

async fn send_picture(world: &World, session: SessionId) -> model::InteractionId {
    let interaction_id = world.engine.new_interaction();
    let (text, by) = ("look at this".to_owned(), Author::default());
    let prompt = SendPrompt { interaction_id, text, images: vec![picture(200_000)], when_busy: WhenBusy::Queue, by };
    world.engine.submit(session, prompt, asker()).await.unwrap();
    interaction_id
}

#[tokio::test(start_paused = true)]
async fn a_waiting_picture_reaches_the_agent_whole_after_a_crash() {
    let mut world = keeping(World::new().await, 1 << 30).await;
    let session = world.session().await;
    world.prompt(session, "slow 1000").await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    while !matches!(next_event(&mut follow).await, SessionEvent::TextPart { .. }) {}
    let waiting = send_picture(&world, session).await;
    assert_eq!(names(&world, session).len(), 1);
    assert!(entries(&world, session).await.iter().all(|entry| entry.event.about_bytes() < 6_000));
    world.crash_and_restart().await;
    let queue = world.engine.session(session).await.unwrap().queue;
    assert_eq!(queue[0].images[0].body.as_ref().map(|body| body.bytes), Some(200_000));
    let next = world.prompt(session, "say on").await;
    world.finish(session, waiting).await;
    world.finish(session, next).await;
    assert!(world.log(session).await.contains("image/png, 200000 bytes"), "{}", world.log(session).await);
    assert_eq!(names(&world, session).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_picture_without_room_stays_in_the_log_and_one_that_is_gone_is_mentioned() {
    let mut world = keeping(World::new().await, 1 << 30).await;
    world = keeping(world, 0).await;
    let session = world.session().await;
    let prompt = send_picture(&world, session).await;
    world.finish(session, prompt).await;
    assert!(world.log(session).await.contains("image/png, 200000 bytes"));
    assert_eq!(names(&world, session), [""; 0]);

    world = keeping(world, 1 << 30).await;
    world.prompt(session, "slow 1000").await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    while !matches!(next_event(&mut follow).await, SessionEvent::TextPart { .. }) {}
    let waiting = send_picture(&world, session).await;
    fs::remove_dir_all(bodies(&world, session)).unwrap();
    world.crash_and_restart().await;
    world.prompt(session, "say on").await;
    world.finish(session, waiting).await;
    let view = world.engine.turn(session, Turn(3)).await.unwrap();
    let answer = view.interaction.transcript.answer();
    assert!(!answer.contains("You attached an image"), "{answer}");
}
