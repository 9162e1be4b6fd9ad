//! Readable copies as the engine keeps them: behind the commits, soon, and never in their way.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::Duration;

use engine::{ChangeSession, Click, Delete, Restore, StepTaken, SubmitError};
use model::{Answerer, SessionEvent, SessionId};
use serde_json::json;
use store::conformance::faulty::StoreCall;
use store::copies::{CopyCursor, Depth, Phase};
use store::prelude::*;
use store::{Batch, Copies, Part};
use tokio::task::JoinSet;

use crate::support::{World, asker, next_event};

/// Longer than commits are gathered; the clock stands still while files are written.
const SOON: Duration = Duration::from_secs(1);

async fn soon() {
    tokio::time::sleep(SOON).await;
}

async fn rename(world: &World, session: SessionId, name: &str) {
    let command = ChangeSession { name: Some(name.to_owned()), ..ChangeSession::default() };
    world.engine.submit(session, command, asker()).await.unwrap();
}

fn file(world: &World, session: SessionId, name: &str) -> PathBuf {
    world.sessions_folder().join(session.to_string()).join(name)
}

fn meta(world: &World, session: SessionId) -> serde_json::Value {
    serde_json::from_slice(&fs::read(file(world, session, "meta.json")).unwrap()).unwrap()
}

/// What is not as the store would write it.
async fn differences(world: &World, sessions: &[SessionId]) -> String {
    let found = Copies::at(world.sessions_folder()).check(&*world.store, sessions).await.unwrap();
    found.iter().map(|difference| format!("{:?}", difference.what)).collect::<Vec<_>>().join(" ")
}

async fn cursor(world: &World) -> CopyCursor {
    Copies::at(world.sessions_folder()).cursor().await.unwrap().unwrap()
}

#[tokio::test(start_paused = true)]
async fn commits_of_a_moment_share_one_round() {
    let world = World::with_copies().await;
    let session = world.session().await;
    soon().await;
    let before = world.engine.copy_rounds();
    for n in 0..100 {
        rename(&world, session, &format!("name {n}")).await;
    }
    assert_eq!(world.engine.copy_rounds(), before, "nobody waits for the copies");
    soon().await;
    assert_eq!(world.engine.copy_rounds(), before + 1);
    assert_eq!(meta(&world, session)["name"], "name 99");
    tokio::time::sleep(Duration::from_secs(240)).await;
    assert_eq!(world.engine.copy_rounds(), before + 1, "nothing is done while nothing happens");
}

#[tokio::test(start_paused = true)]
async fn a_copy_reads_each_entry_once() {
    let world = World::new().await;
    let session = world.session().await;
    for _ in 0..12 {
        let prompt = world.prompt(session, "say hi").await;
        world.finish(session, prompt).await;
    }
    let head = world.store.session(session).await.unwrap().unwrap().head.0 as usize;
    let before = world.disk.met(StoreCall::Read).given;
    Copies::at(world.sessions_folder()).update(&*world.disk, session, Depth::End).await.unwrap();
    let read = world.disk.met(StoreCall::Read).given - before;
    assert!((1..=head).contains(&read), "{read} entries were read of {head}");
    assert_eq!(differences(&world, &[session]).await, "");
}

#[tokio::test(start_paused = true)]
async fn a_stop_leaves_everything_copied() {
    let world = World::with_copies().await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    let first = world.prompt(session, "say hi").await;
    world.finish(session, first).await;
    world.prompt(session, "slow 1000").await;
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnStarted { turn: model::Turn(2), .. }) {}
    world.engine.shutdown().await;
    assert_eq!(differences(&world, &[session]).await, "");
    let words = fs::read_to_string(file(&world, session, "transcript.jsonl")).unwrap();
    let last = words.lines().last().unwrap();
    assert!(words.lines().count() == 2 && last.contains("server_shutdown"), "{words}");
    let position = world.store.changed_since(model::Position(0), 10_000).await.unwrap().up_to;
    assert_eq!(cursor(&world).await.position, position);
}

#[tokio::test(start_paused = true)]
async fn what_happened_without_copies_is_copied_at_the_next_start() {
    let mut world = World::new().await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        let session = world.session().await;
        let prompt = world.prompt(session, "long 2000").await;
        world.finish(session, prompt).await;
        sessions.push(session);
    }
    assert!(!world.sessions_folder().exists());
    world.copies = Some(Copies::at(world.sessions_folder()));
    world.stop_and_restart().await;
    soon().await;
    assert_eq!(differences(&world, &sessions).await, "");
    // A cursor that was not moved any more costs a second look and no second line.
    let moved = CopyCursor { position: model::Position(1), ..cursor(&world).await };
    let before: Vec<_> = sessions.iter().map(|id| fs::read(file(&world, *id, "transcript.jsonl")).unwrap()).collect();
    world.copies.as_ref().unwrap().move_cursor(moved).await.unwrap();
    world.crash_and_restart().await;
    soon().await;
    assert_eq!(differences(&world, &sessions).await, "");
    let after: Vec<_> = sessions.iter().map(|id| fs::read(file(&world, *id, "transcript.jsonl")).unwrap()).collect();
    assert_eq!(before, after);
}

#[tokio::test(start_paused = true)]
async fn edits_are_ignored_and_written_over() {
    let mut world = World::with_copies().await;
    let session = world.session().await;
    rename(&world, session, "ours").await;
    soon().await;
    let edited = fs::read_to_string(file(&world, session, "meta.json")).unwrap().replace("ours", "theirs");
    fs::write(file(&world, session, "meta.json"), edited).unwrap();
    world.stop_and_restart().await;
    assert_eq!(world.engine.session(session).await.unwrap().row.name, "ours");
    let prompt = world.prompt(session, "say hi").await;
    world.finish(session, prompt).await;
    soon().await;
    assert_eq!(meta(&world, session)["name"], "ours");
    assert_eq!(differences(&world, &[session]).await, "");
}

/// The copies of a store that is another by now may know more than its log does.
#[tokio::test(start_paused = true)]
async fn copies_that_know_more_than_the_log_are_left_as_they_are() {
    let mut world = World::with_copies().await;
    let session = world.session().await;
    world.engine.shutdown().await;
    let kept = cursor(&world).await;
    let theirs = fs::read_to_string(file(&world, session, "meta.json")).unwrap() + "more";
    fs::write(file(&world, session, "meta.json"), &theirs).unwrap();
    for (n, ahead) in [
        CopyCursor { incarnation: model::Incarnation::from_bits(99), ..kept },
        CopyCursor { position: model::Position(1_000), ..kept },
        CopyCursor { position: model::Position(1_000), phase: Phase::Rewriting, ..kept },
        CopyCursor { phase: Phase::Lost, ..kept },
    ]
    .into_iter()
    .enumerate()
    {
        world.copies.as_ref().unwrap().move_cursor(ahead).await.unwrap();
        world.crash_and_restart().await;
        rename(&world, session, &format!("name {n}")).await;
        soon().await;
        world.engine.shutdown().await;
        assert_eq!(fs::read_to_string(file(&world, session, "meta.json")).unwrap(), theirs);
        assert_eq!(cursor(&world).await, ahead);
    }
}

/// As a rebuild asks for.
#[tokio::test(start_paused = true)]
async fn copies_are_gone_through_whole_when_that_is_wanted() {
    let mut world = World::with_copies().await;
    let session = world.session().await;
    for text in ["say one", "say two"] {
        let prompt = world.prompt(session, text).await;
        world.finish(session, prompt).await;
    }
    world.engine.shutdown().await;
    let right = fs::read_to_string(file(&world, session, "transcript.jsonl")).unwrap();
    fs::write(file(&world, session, "transcript.jsonl"), right.replacen("one", "eins", 1)).unwrap();
    let unknown = world.sessions_folder().join("0190a8c0-0000-7000-8000-0000000000ab");
    fs::create_dir(&unknown).unwrap();
    fs::write(unknown.join("meta.json"), "{}").unwrap();
    let kept = cursor(&world).await;

    // The same life: what is before the end of the file is not looked at.
    world.crash_and_restart().await;
    soon().await;
    assert_eq!(differences(&world, &[session]).await, "Transcript");
    // It was asked for, was broken off on the way, or nobody knows where the copies stand.
    for rewritten in [Some(0), Some(1), None] {
        world.engine.shutdown().await;
        fs::write(file(&world, session, "transcript.jsonl"), right.replacen("one", "eins", 1)).unwrap();
        let copies = world.copies.as_ref().unwrap();
        copies.ask_for_rewriting().await.unwrap();
        let asked = cursor(&world).await;
        assert_eq!((asked.phase, asked.position), (Phase::Rewriting, kept.position));
        match rewritten {
            Some(up_to) => {
                let rewritten = model::Position(up_to);
                copies.move_cursor(CopyCursor { rewritten, ..asked }).await.unwrap();
            }
            None => fs::remove_file(world.sessions_folder().join("copies.json")).unwrap(),
        }
        world.crash_and_restart().await;
        soon().await;
        assert_eq!(differences(&world, &[session]).await, "");
        assert_eq!(cursor(&world).await, kept);
        assert_eq!(fs::read_to_string(unknown.join("meta.json")).unwrap(), "{}", "it may be all that is left of it");
    }
}

#[tokio::test(start_paused = true)]
async fn a_purge_leaves_no_folder() {
    let world = World::with_copies().await;
    let mut sessions = Vec::new();
    for _ in 0..20 {
        sessions.push(world.session().await);
    }
    soon().await;
    assert!(sessions.iter().all(|id| file(&world, *id, "meta.json").exists()));
    for id in &sessions {
        rename(&world, *id, "changed").await;
    }
    // The follower and the purges are at it together.
    tokio::time::sleep(Duration::from_millis(250)).await;
    let mut purges = JoinSet::new();
    for id in sessions.clone() {
        let engine = world.engine.clone();
        purges.spawn(async move { engine.purge(id, asker()).await.unwrap() });
    }
    purges.join_all().await;
    soon().await;
    world.engine.shutdown().await;
    let left = sessions.iter().filter(|id| file(&world, **id, "").exists()).count();
    assert_eq!(left, 0, "folders came back");
    assert_eq!(differences(&world, &sessions).await, "");
}

/// Puts files into a session's folder that the log can not write again.
fn show(world: &World, session: SessionId) {
    for (kind, name) in SHOWN {
        fs::create_dir_all(file(world, session, kind)).unwrap();
        fs::write(file(world, session, kind).join(name), "shown").unwrap();
    }
}

const SHOWN: [(&str, &str); 2] = [
    ("outputs", "out_00000000000000000000000000000001.txt"),
    ("bodies", "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"),
];

fn is_shown(world: &World, session: SessionId) -> bool {
    SHOWN.iter().all(|(kind, name)| file(world, session, kind).join(name).exists())
}

fn folders(world: &World) -> usize {
    fs::read_dir(world.sessions_folder()).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir()).count()
}

/// The files are put away first; then it turns out that somebody wants the session after all.
#[tokio::test(start_paused = true)]
async fn a_session_that_is_restored_while_it_is_purged_keeps_its_files() {
    let world = World::with_copies().await;
    let session = world.session().await;
    let prompt = world.prompt(session, "say hi").await;
    world.finish(session, prompt).await;
    show(&world, session);
    world.engine.submit(session, Delete, asker()).await.unwrap();
    soon().await;
    let before = world.store.session(session).await.unwrap().unwrap();
    let events = vec![SessionEvent::SessionRestored {}];
    let (part, _) = Part::of_session(session, before.head, Some(before), events, model::Timestamp::from_millis(0));
    world.disk.when(StoreCall::Purge).overtake(Batch { parts: vec![part], ..Batch::default() });
    world.engine.purge(session, asker()).await.unwrap();
    assert!(world.store.session(session).await.unwrap().is_some());
    assert_eq!(differences(&world, &[session]).await, "");
    assert!(is_shown(&world, session));
    assert_eq!(folders(&world), 1);
}

/// A crash comes after the files were put away: the log says whether the session was purged.
#[tokio::test(start_paused = true)]
async fn a_purge_that_was_cut_off_is_settled_by_the_next_start() {
    let mut world = World::with_copies().await;
    let session = world.session().await;
    let prompt = world.prompt(session, "say hi").await;
    world.finish(session, prompt).await;
    show(&world, session);
    world.engine.submit(session, Delete, asker()).await.unwrap();
    soon().await;
    let put_away = Copies::at(world.sessions_folder());
    put_away.put_away(session).await.unwrap();
    world.crash_and_restart().await;
    assert!(is_shown(&world, session));
    assert_eq!(differences(&world, &[session]).await, "");

    put_away.put_away(session).await.unwrap();
    let head = world.store.session(session).await.unwrap().unwrap().head;
    world.store.purge(session, head, model::Timestamp::from_millis(0)).await.unwrap();
    world.crash_and_restart().await;
    assert_eq!(folders(&world), 0);
}

/// The disk lets the files be moved, but does not take the purge.
#[tokio::test(start_paused = true)]
async fn a_purge_that_fails_leaves_the_files() {
    let world = World::with_copies().await;
    let session = world.session().await;
    let prompt = world.prompt(session, "say hi").await;
    world.finish(session, prompt).await;
    show(&world, session);
    world.engine.submit(session, Delete, asker()).await.unwrap();
    soon().await;
    world.fill_disk();
    let purged = world.engine.purge(session, asker()).await;
    assert!(matches!(purged, Err(SubmitError::Append(_))), "{purged:?}");
    assert!(file(&world, session, "transcript.jsonl").exists());
    assert!(is_shown(&world, session));
    assert_eq!(differences(&world, &[session]).await, "");
}

/// Whatever somebody put into a session's folder goes with it, and keeps no other session.
#[tokio::test(start_paused = true)]
async fn a_folder_with_a_name_that_is_no_text_is_purged_too() {
    let mut world = World::with_copies().await;
    let (odd, other) = (world.session().await, world.session().await);
    for session in [odd, other] {
        world.engine.submit(session, Delete, asker()).await.unwrap();
    }
    soon().await;
    fs::write(file(&world, odd, "").join(OsStr::from_bytes(b"no \xff text")), "").unwrap();
    world.clock.advance(engine::RESTORABLE_FOR + Duration::from_secs(60));
    world.stop_and_restart().await;
    world.pass(Duration::from_secs(900)).await;
    assert!(world.engine.is_purged(odd).await.unwrap() && world.engine.is_purged(other).await.unwrap());
    assert!(!file(&world, odd, "").exists());
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_cannot_be_written_keeps_no_commit_back() {
    let world = World::with_copies().await;
    fs::write(world.sessions_folder(), "in the way").unwrap();
    let session = world.session().await;
    let prompt = world.prompt(session, "say hi").await;
    world.finish(session, prompt).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    rename(&world, session, "named").await;
    world.engine.submit(session, Delete, asker()).await.unwrap();
    world.engine.submit(session, Restore, asker()).await.unwrap();
    assert_eq!(fs::read_to_string(world.sessions_folder()).unwrap(), "in the way");
    let other = world.session().await;
    world.engine.purge(other, asker()).await.unwrap();

    fs::remove_file(world.sessions_folder()).unwrap();
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(differences(&world, &[session]).await, "");
    assert_eq!(meta(&world, session)["name"], "named");
}

#[tokio::test(start_paused = true)]
async fn one_session_that_cannot_be_copied_holds_no_other_up() {
    let world = World::with_copies().await;
    let (damaged, linked, sound) = (world.session().await, world.session().await, world.session().await);
    soon().await;
    world.damage(damaged);
    let before = fs::read(file(&world, damaged, "meta.json")).unwrap();
    let elsewhere = world.sessions_folder().join("elsewhere");
    let folder = world.sessions_folder().join(linked.to_string());
    fs::rename(&folder, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &folder).unwrap();
    for session in [damaged, linked, sound] {
        rename(&world, session, "new").await;
    }
    soon().await;
    assert_eq!(meta(&world, sound)["name"], "new");
    assert_eq!(fs::read(file(&world, damaged, "meta.json")).unwrap(), before, "it is left as it is");
    assert!(!fs::read_to_string(elsewhere.join("meta.json")).unwrap().contains("new"));
    let position = world.store.changed_since(model::Position(0), 10_000).await.unwrap().up_to;
    assert_eq!(cursor(&world).await.position, position, "what no try would mend is not tried for ever");
}

/// The pieces of work are told as the log tells them, whatever moved: their own stream, or a session of one.
#[tokio::test(start_paused = true)]
async fn pieces_of_work_are_copied() {
    let world = World::with_copies().await;
    let copies = Copies::at(world.sessions_folder());
    let told = async || {
        soon().await;
        assert!(copies.works_are_right(&*world.store).await.unwrap());
        let works: serde_json::Value = serde_json::from_slice(&fs::read(copies.works_path()).unwrap()).unwrap();
        let works = works["contexts"].as_array().unwrap();
        works.iter().map(|work| (work["name"].clone(), work["sessionIds"].clone())).collect::<Vec<_>>()
    };
    let session = world.session().await;
    let prompt = world.prompt(session, "next Go on | say on and on | loom").await;
    world.finish(session, prompt).await;
    soon().await;
    assert!(!copies.works_path().exists());
    let by = Answerer::Person { token_id: None, name: "test".to_owned() };
    let click = Click { block: "t1.n1".parse().unwrap(), agent: None, model: None, mode: None, by };
    let StepTaken { work, session: begun } = world.engine.click_next(session, click, asker()).await.unwrap();
    assert_eq!(told().await, [(json!("loom"), json!([begun]))]);
    assert_eq!(meta(&world, session)["clicks"][0]["session"], json!(begun));
    assert_eq!(meta(&world, begun)["metaContext"], json!({ "id": work, "name": "loom" }));
    assert_eq!(meta(&world, begun)["from"], json!({ "session": session, "block": "t1.n1" }));

    world.engine.rename_work(work, "warp", asker()).await.unwrap();
    assert_eq!(told().await, [(json!("warp"), json!([begun]))]);
    assert_eq!(meta(&world, begun)["metaContext"], json!({ "id": work, "name": "warp" }));
    assert_eq!(differences(&world, &[session, begun]).await, "");
    world.engine.submit(begun, Delete, asker()).await.unwrap();
    assert_eq!(told().await, [(json!("warp"), json!([]))]);
    world.engine.submit(begun, Restore, asker()).await.unwrap();
    assert_eq!(told().await, [(json!("warp"), json!([begun]))]);
    world.engine.purge(begun, asker()).await.unwrap();
    assert_eq!(told().await, []);
    world.engine.shutdown().await;
}
