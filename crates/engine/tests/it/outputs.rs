//! Outputs that are removed: by the policy, and what a crash between the entry and the bytes leaves.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use engine::{FileToShow, OutputError, OutputSettings};
use futures_util::future::join_all;
use model::{Answerer, OutputRow, Seq, SessionEvent, SessionId};
use store::PayloadFolder;
use store::prelude::*;

use crate::support::{World, asker, next_event};

const DAY: Duration = Duration::from_secs(24 * 3_600);
const HOUR: Duration = Duration::from_secs(3_600);

/// A world whose outputs are files, kept for so many days.
async fn keeping(keep_days: Option<u32>) -> World {
    let mut world = World::new().await;
    let payloads = Arc::new(PayloadFolder::at(world.sessions_folder()));
    world.outputs = OutputSettings { keep_days, ..OutputSettings::new(payloads) };
    world.stop_and_restart().await;
    world
}

/// A session in which a turn runs that has shown something.
async fn shown(world: &World) -> (SessionId, OutputRow) {
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    world.prompt(session, "slow 60").await;
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnStarted { .. }) {}
    fs::write(world.directory.path().join("a.txt"), "one\n").unwrap();
    (session, show(world, session).await)
}

async fn show(world: &World, session: SessionId) -> OutputRow {
    let wanted = FileToShow { path: "a.txt".to_owned(), start_line: None, end_line: None, highlight: None };
    world.engine.show_text_file(session, wanted, asker()).await.unwrap()
}

fn files(world: &World, session: SessionId) -> usize {
    fs::read_dir(world.sessions_folder().join(session.to_string()).join("outputs")).map_or(0, Iterator::count)
}

async fn removals(world: &World, session: SessionId) -> Vec<Option<Answerer>> {
    let entries = world.store.read_session(session, Seq::START, 10_000).await.unwrap();
    let removed = entries.into_iter().filter_map(|entry| match entry.event {
        SessionEvent::OutputRemoved { by, .. } => Some(by),
        _ => None,
    });
    removed.collect()
}

#[tokio::test(start_paused = true)]
async fn old_outputs_are_removed_by_the_policy_and_by_nothing_else() {
    for (keep_days, left) in [(None, 1), (Some(100), 1), (Some(2), 0)] {
        let world = keeping(keep_days).await;
        let (session, _) = shown(&world).await;
        world.pass(DAY).await;
        assert_eq!(world.store.outputs_size(session).await.unwrap().count, 1, "{keep_days:?}");
        world.pass(DAY + 2 * HOUR).await;
        assert_eq!(world.store.outputs_size(session).await.unwrap().count, left, "{keep_days:?}");
        assert_eq!(files(&world, session) as u64, left, "{keep_days:?}");
        let rule = "outputs.keep_days".to_owned();
        let expected = if left == 0 { vec![Some(Answerer::Policy { rule })] } else { Vec::new() };
        assert_eq!(removals(&world, session).await, expected, "{keep_days:?}");
    }
}

/// Calls that come at once find the same room; only as many as there is room for get it, and the others leave no bytes.
#[tokio::test(start_paused = true)]
async fn calls_at_once_store_no_more_than_a_session_may_have() {
    let (count, bytes) = (OutputSettings::SESSION_COUNT, OutputSettings::SESSION_BYTES);
    for (session_count, session_bytes, setting) in
        [(3, bytes, "outputs.session_count"), (count, 14, "outputs.session_mb")]
    {
        let mut world = keeping(None).await;
        world.outputs = OutputSettings { session_count, session_bytes, ..world.outputs };
        world.stop_and_restart().await;
        let (session, _) = shown(&world).await;
        let wanted = FileToShow { path: "a.txt".to_owned(), start_line: None, end_line: None, highlight: None };
        let calls = (0..12).map(|_| world.engine.show_text_file(session, wanted.clone(), asker()));
        let refused: Vec<_> = join_all(calls).await.into_iter().filter_map(Result::err).collect();
        assert_eq!((world.store.outputs_size(session).await.unwrap().count, files(&world, session)), (3, 3));
        assert_eq!(refused.len(), 10);
        for err in refused {
            assert!(matches!(err, OutputError::SessionFull(_)), "{err:?}");
            assert!(err.to_string().contains(setting), "{err}");
        }
    }
}

/// A wall clock that jumps ahead prunes nothing early.
#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_removes_no_output() {
    let world = keeping(Some(2)).await;
    let (session, _) = shown(&world).await;
    world.clock.advance(100 * DAY);
    world.pass(5 * HOUR).await;
    assert_eq!((world.store.outputs_size(session).await.unwrap().count, files(&world, session)), (1, 1));
}

/// Bytes that no output names go after the next start; those of others, of foreign names and of unknown sessions stay.
#[tokio::test(start_paused = true)]
async fn what_a_crash_leaves_of_a_removed_output_is_swept() {
    let mut world = keeping(None).await;
    let (session, kept) = shown(&world).await;
    let removed = show(&world, session).await;
    world.pass(HOUR).await;
    let by = Answerer::Person { token_id: None, name: String::new() };
    world.engine.remove_output(session, removed.id, by, asker()).await.unwrap();
    assert_eq!(files(&world, session), 1);
    // As if the server had been killed before the bytes went.
    let folder = world.sessions_folder().join(session.to_string()).join("outputs");
    fs::write(folder.join(removed.output.file_name()), "one\n").unwrap();
    fs::write(folder.join("notes.txt"), "the person's").unwrap();
    let unknown = SessionId::from_uuid(uuid::Uuid::from_u128(99));
    let stranger = world.sessions_folder().join(unknown.to_string()).join("outputs");
    fs::create_dir_all(&stranger).unwrap();
    fs::write(stranger.join(removed.output.file_name()), "one\n").unwrap();

    world.stop_and_restart().await;
    world.pass(HOUR).await;
    assert!(!folder.join(removed.output.file_name()).exists());
    assert!(folder.join(kept.output.file_name()).exists() && folder.join("notes.txt").exists());
    assert_eq!(files(&world, unknown), 1, "a copy that is not in the log keeps its bytes");
}
