//! Applets: plain files, a state that lasts, and grants that hold for one content.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use engine::{
    Amount, AppletChange, AppletContent, AppletError, AskingApplet, Expected, NewApplet, OpenApplet, StateChange,
    StateWrite,
};
use files::FileError;
use model::{
    Answerer, AppletGrant, AppletName, AppletSlug, Event, Seq, ServerEvent, SessionEvent, SessionId, StreamId,
};
use serde_json::{Map, Value, json};
use store::prelude::*;

use crate::support::{World, asker, next_event};

fn slug(text: &str) -> AppletSlug {
    text.parse().unwrap()
}

fn saved(text: &str) -> AppletName {
    AppletName::Saved(slug(text))
}

fn content(html: &str) -> AppletContent {
    AppletContent { html: html.to_owned(), js: "let n = 1;".to_owned(), css: String::new() }
}

fn new(name: &str, html: &str) -> NewApplet {
    NewApplet {
        name: name.to_owned(),
        description: String::new(),
        content: content(html),
        per_session: false,
        params: BTreeMap::new(),
        agent_usage: None,
        state_schema: None,
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

fn merge(value: Value) -> StateWrite {
    StateWrite { change: StateChange::Merge(object(value)), version: None, writer: None }
}

fn replace(value: Value) -> StateWrite {
    StateWrite { change: StateChange::Replace(object(value)), version: None, writer: None }
}

async fn state(world: &World, name: &AppletName) -> Value {
    Value::Object((*world.engine.applet_state(name, None).await.unwrap().state).clone())
}

/// A session in which a turn runs.
async fn at_work(world: &World) -> SessionId {
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    world.prompt(session, "slow 60").await;
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnStarted { .. }) {}
    session
}

async fn said_by_server(world: &World) -> Vec<ServerEvent> {
    let entries = world.store.read(StreamId::Server, Seq::START, 10_000).await.unwrap();
    let of_server = |event| match event {
        Event::Server(event) => Some(event),
        _ => None,
    };
    entries.into_iter().filter_map(|entry| of_server(entry.event)).collect()
}

fn person() -> Answerer {
    Answerer::Person { token_id: None, name: "ada".to_owned() }
}

#[tokio::test(start_paused = true)]
async fn an_applet_is_plain_files_that_anybody_may_edit() {
    let mut world = World::new().await;
    let (applet, is_new) = world.engine.save_applet(slug("board"), new("A board", "<p>one</p>")).await.unwrap();
    assert!(is_new && !applet.bundled);
    let folder = world.applets_folder().join("board");
    assert_eq!(fs::read_to_string(folder.join("content.html")).unwrap(), "<p>one</p>");
    assert!(!folder.join("style.css").exists(), "what is empty needs no file");
    let meta: Value = serde_json::from_slice(&fs::read(folder.join("meta.json")).unwrap()).unwrap();
    assert_eq!((&meta["slug"], &meta["name"]), (&json!("board"), &json!("A board")));

    fs::write(folder.join("content.html"), "<p>two</p>").unwrap();
    fs::create_dir_all(world.applets_folder().join("empty")).unwrap();
    fs::create_dir_all(world.applets_folder().join("_own")).unwrap();
    fs::write(world.applets_folder().join("_own/meta.json"), "{\"name\":\"x\"}").unwrap();
    world.stop_and_restart().await;
    let edited = world.engine.applet(saved("board")).await.unwrap();
    assert_eq!(edited.content.html, "<p>two</p>");
    let (again, is_new) = world.engine.save_applet(slug("board"), new("Board", "<p>three</p>")).await.unwrap();
    assert_eq!((is_new, again.about.created_at), (false, applet.about.created_at));
    assert!(again.about.updated_at > applet.about.updated_at);

    world.engine.save_applet(slug("other"), new("Other", "x")).await.unwrap();
    let listed = world.engine.applets().await.unwrap();
    let own: Vec<_> = listed.iter().filter(|applet| !applet.bundled).map(|applet| applet.slug.as_str()).collect();
    assert_eq!(own, ["other", "board"], "the one that was saved last comes first");
    let index: Value = serde_json::from_slice(&fs::read(world.applets_folder().join("_index.json")).unwrap()).unwrap();
    assert_eq!(index[0], json!({ "slug": "board", "name": "Board", "description": "" }));
}

#[tokio::test(start_paused = true)]
async fn an_applet_of_the_persons_own_takes_the_place_of_one_of_ours() {
    let world = World::new().await;
    let ours = world.engine.applet(saved("counter")).await.unwrap();
    assert!(ours.bundled);
    assert!(matches!(world.engine.delete_applet(slug("counter")).await, Err(AppletError::Bundled { .. })));
    world.engine.save_applet(slug("counter"), new("Mine", "<p>mine</p>")).await.unwrap();
    let counters = world.engine.applets().await.unwrap();
    let counters: Vec<_> = counters.iter().filter(|applet| applet.slug == slug("counter")).collect();
    assert!(counters.len() == 1 && !counters[0].bundled);
    assert!(world.engine.delete_applet(slug("counter")).await.unwrap());
    assert_eq!(world.engine.applet(saved("counter")).await.unwrap(), ours);
    assert!(!world.engine.delete_applet(slug("never")).await.unwrap());
    let missing = world.engine.applet(saved("never")).await.unwrap_err();
    assert!(missing.to_string().contains("counter, "), "{missing}");
}

#[tokio::test(start_paused = true)]
async fn what_is_shown_is_kept_as_it_was_and_can_be_saved_with_its_state() {
    let mut world = World::new().await;
    let idle = world.session().await;
    let refused = world.engine.show_new_applet(idle, content("x"), "T".to_owned(), asker()).await;
    assert!(refused.is_err(), "no turn runs that it could be shown in");
    let session = at_work(&world).await;
    let nothing = world.engine.save_shown_applet(session, slug("a"), "A".to_owned(), String::new(), asker()).await;
    assert!(matches!(nothing, Err(AppletError::NothingShown(_))), "{nothing:?}");

    let first = world.engine.show_new_applet(session, content("one"), "One".to_owned(), asker()).await.unwrap();
    world.engine.show_new_applet(session, content("two"), "Two".to_owned(), asker()).await.unwrap();
    let own = AppletName::Shown(session);
    assert_eq!(world.engine.applet(own.clone()).await.unwrap().content.html, "two");
    assert_eq!(world.engine.applet_of_output(&first.output).await.unwrap().html, "one", "as it was then");
    let entries = world.store.read_session(session, Seq::START, 10_000).await.unwrap();
    let shown: Vec<_> =
        entries.iter().filter(|entry| matches!(entry.event, SessionEvent::AppletShown { .. })).collect();
    assert_eq!(shown.len(), 2);
    let before = entries.iter().find(|entry| entry.seq.next() == shown[0].seq).unwrap();
    assert!(matches!(before.event, SessionEvent::OutputStored { .. }) && before.at == shown[0].at, "{before:?}");

    world.engine.set_applet_state(&own, Some(session), merge(json!({ "n": 3 }))).await.unwrap();
    let named = ("Board".to_owned(), "Keeps n".to_owned());
    let saved_as = world.engine.save_shown_applet(session, slug("board"), named.0, named.1, asker()).await.unwrap();
    let (board, is_new) = saved_as;
    assert!(is_new);
    assert_eq!((board.content.html.as_str(), board.about.description.as_str()), ("two", "Keeps n"));
    assert_eq!(state(&world, &saved("board")).await, json!({ "n": 3 }));
    let active = world.engine.active_applet(session).unwrap();
    assert_eq!((active.applet.name, active.is_open), (saved("board"), false));
    let params = BTreeMap::from([("path".to_owned(), "/a".to_owned())]);
    world.engine.show_saved_applet(session, slug("text-editor"), params.clone(), asker()).await.unwrap();
    assert_eq!(world.engine.active_applet(session).unwrap().applet.params, params);
    world.crash_and_restart().await;
    assert_eq!(world.engine.active_applet(session), None);
    let meant = world.engine.applet_meant(session).await.unwrap().unwrap();
    assert_eq!((meant.applet.name, meant.applet.params, meant.is_open), (saved("text-editor"), params, false));
}

#[tokio::test(start_paused = true)]
async fn a_state_is_merged_replaced_and_compared() {
    let mut world = World::new().await;
    let counter = saved("counter");
    assert_eq!(world.engine.applet_state(&counter, None).await.unwrap().version, 0);
    let first = world.engine.set_applet_state(&counter, None, merge(json!({ "a": 1, "b": [1] }))).await.unwrap();
    let second = world.engine.set_applet_state(&counter, None, merge(json!({ "a": null, "c": 2 }))).await.unwrap();
    assert!(second > first && first > 0);
    assert_eq!(state(&world, &counter).await, json!({ "b": [1], "c": 2 }));
    let stale = StateWrite { version: Some(first), ..replace(json!({})) };
    let refused = world.engine.set_applet_state(&counter, None, stale).await;
    assert!(matches!(refused, Err(AppletError::StateConflict { version }) if version == second), "{refused:?}");
    let current = StateWrite { version: Some(second), ..replace(json!({ "only": true })) };
    let third = world.engine.set_applet_state(&counter, None, current).await.unwrap();
    // It was acknowledged, so it is there whatever happens to the process.
    world.crash_and_restart().await;
    let now = world.engine.applet_state(&counter, None).await.unwrap();
    assert_eq!(Value::Object((*now.state).clone()), json!({ "only": true }));
    assert!(now.version >= third);

    let big = merge(json!({ "x": "y".repeat(engine::MAX_STATE_BYTES) }));
    assert!(matches!(world.engine.set_applet_state(&counter, None, big).await, Err(AppletError::StateTooLarge { .. })));
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    let deep = world.engine.set_applet_state(&counter, None, merge(json!({ "deep": deep }))).await;
    assert!(matches!(deep, Err(AppletError::StateTooDeep { .. })));
    assert_eq!(state(&world, &counter).await, json!({ "only": true }), "bad input changes nothing");
    assert!(matches!(
        world.engine.set_applet_state(&saved("never"), None, merge(json!({}))).await,
        Err(AppletError::NotFound { .. })
    ));
}

#[tokio::test(start_paused = true)]
async fn an_edit_of_the_file_is_a_write_and_what_is_no_state_harms_nothing() {
    let world = World::new().await;
    let session = world.session().await;
    let counter = saved("counter");
    let written = world.engine.set_applet_state(&counter, None, merge(json!({ "n": 1 }))).await.unwrap();
    let viewer = world.engine.new_viewer();
    let open = OpenApplet { name: counter.clone(), params: BTreeMap::new() };
    world.engine.open_applet(viewer, session, open).await.unwrap();
    let mut changes = world.engine.applet_changes();
    tokio::time::sleep(Duration::from_secs(3)).await;
    while changes.try_recv().is_ok() {}

    let path = world.applets_folder().join("counter/state.json");
    fs::write(&path, "{ \"n\": 5000 }").unwrap();
    let AppletChange::State(changed) = changes.recv().await.unwrap() else { panic!("a state was edited") };
    assert_eq!(Value::Object((*changed.now.state).clone()), json!({ "n": 5000 }));
    assert!(changed.now.version > written && changed.writer.is_none());
    assert!(changed.is_of(&counter, session));

    fs::write(&path, "{ half").unwrap();
    let unreadable = world.engine.applet_state(&counter, None).await;
    assert!(matches!(unreadable, Err(AppletError::StateUnreadable(_))), "{unreadable:?}");
    let merged = world.engine.set_applet_state(&counter, None, merge(json!({ "m": 1 }))).await;
    assert!(matches!(merged, Err(AppletError::StateUnreadable(_))), "nothing is guessed");
    world.engine.set_applet_state(&counter, None, replace(json!({ "n": 6 }))).await.unwrap();
    assert_eq!(state(&world, &counter).await, json!({ "n": 6 }));
}

#[tokio::test(start_paused = true)]
async fn what_never_stops_writing_has_versions_all_the_same() {
    let world = World::new().await;
    let counter = saved("counter");
    for n in 0..60 {
        world.engine.begin_applet_state(&counter, None, merge(json!({ "n": n }))).await.unwrap();
        tokio::time::sleep(Duration::from_millis(90)).await;
    }
    let versions = world.engine.applet_versions(&counter, None).await.unwrap().len();
    assert!((4..=7).contains(&versions), "{versions} versions in 5.4 s");
}

/// However fast an applet writes, the log grows by an entry a second, and the newest versions are there to go back to.
#[tokio::test(start_paused = true)]
async fn many_writes_are_few_entries_and_few_versions() {
    let world = World::new().await;
    let counter = saved("counter");
    let begun = tokio::time::Instant::now();
    for second in 0..30_u32 {
        let mut begun = Vec::new();
        for n in 0..50 {
            let write = merge(json!({ "n": second * 100 + n }));
            begun.push(world.engine.begin_applet_state(&counter, None, write).await.unwrap());
        }
        for write in begun {
            write.flushed().await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(900)).await;
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    let seconds = begun.elapsed().as_secs();
    let set = said_by_server(&world).await;
    let set = set.iter().filter(|event| matches!(event, ServerEvent::AppletStateSet { .. })).count() as u64;
    assert!((20..=seconds + 1).contains(&set), "{set} entries in {seconds} seconds");
    let versions = world.engine.applet_versions(&counter, None).await.unwrap();
    assert_eq!(versions.len(), 20);
    assert_eq!(fs::read_dir(world.applets_folder().join("counter/history")).unwrap().count(), 20);
    assert!(versions.is_sorted_by(|a, b| a.version > b.version));
    let newest = world.engine.applet_version(&counter, None, versions[0].version).await.unwrap();
    assert_eq!(Value::Object((*newest.state).clone()), json!({ "n": 2949 }));
    let oldest = world.engine.applet_version(&counter, None, versions[19].version).await.unwrap();
    world.engine.set_applet_state(&counter, None, replace(Value::Object((*oldest.state).clone()))).await.unwrap();
    assert_eq!(state(&world, &counter).await, Value::Object((*oldest.state).clone()));
    assert!(matches!(
        world.engine.applet_version(&counter, None, 1).await,
        Err(AppletError::NoSuchVersion { version: 1 })
    ));
}

#[tokio::test(start_paused = true)]
async fn a_state_of_a_session_is_no_other_sessions_and_goes_with_it() {
    let world = World::new().await;
    let (one, two) = (world.session().await, world.session().await);
    let per_session = NewApplet { per_session: true, ..new("Own", "x") };
    world.engine.save_applet(slug("own"), per_session).await.unwrap();
    let own = saved("own");
    world.engine.set_applet_state(&own, Some(one), merge(json!({ "n": 1 }))).await.unwrap();
    world.engine.set_applet_state(&own, Some(two), merge(json!({ "n": 2 }))).await.unwrap();
    let of = async |session| world.engine.applet_state(&own, Some(session)).await.unwrap().state["n"].clone();
    assert_eq!((of(one).await, of(two).await), (json!(1), json!(2)));
    let folder = world.applets_folder().join("own/sessions");
    assert!(folder.join(one.to_string()).join("state.json").exists());
    // One that comes with the program has no files here but its states.
    let editor = saved("text-editor");
    let edits = world.applets_folder().join("text-editor/sessions").join(one.to_string());
    world.engine.set_applet_state(&editor, Some(one), merge(json!({ "text": "unsent" }))).await.unwrap();
    assert!(edits.join("state.json").exists());
    // Nothing is removed behind a link that somebody put there.
    let (linked, outside) = (world.applets_folder().join("linked"), world.directory.path().join("outside"));
    fs::create_dir_all(outside.join(one.to_string())).unwrap();
    fs::create_dir(&linked).unwrap();
    symlink(&outside, linked.join("sessions")).unwrap();
    world.engine.submit(one, engine::Delete, asker()).await.unwrap();
    world.engine.purge(one, asker()).await.unwrap();
    assert!(!folder.join(one.to_string()).exists() && folder.join(two.to_string()).exists());
    assert!(!edits.exists() && outside.join(one.to_string()).exists());
}

/// A kill between the purge and the removal leaves files; so does a folder that could not be removed.
#[tokio::test(start_paused = true)]
async fn what_a_purge_left_of_applets_goes_with_the_next_start() {
    let mut world = World::new().await;
    let (gone, stays) = (world.session().await, world.session().await);
    world.engine.submit(gone, engine::Delete, asker()).await.unwrap();
    world.engine.purge(gone, asker()).await.unwrap();
    // A session that this log has never known may be of a store that is put back.
    let unknown = SessionId::from_bytes([9; 16]);
    let left = |session: SessionId| {
        let applets = world.applets_folder();
        [
            applets.join("_shown").join(session.to_string()),
            applets.join("text-editor/sessions").join(session.to_string()),
        ]
    };
    for folder in [gone, stays, unknown].into_iter().flat_map(left) {
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("state.json"), "{}").unwrap();
    }
    let folders = [gone, stays, unknown].map(left);
    world.crash_and_restart().await;
    // Housekeeping begins some minutes after a start.
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    let are_there = folders.map(|folders| folders.map(|folder| folder.exists()));
    assert_eq!(are_there, [[false, false], [true, true], [true, true]]);
}

#[tokio::test(start_paused = true)]
async fn an_applet_that_was_edited_beyond_its_limit_is_too_large() {
    let world = World::new().await;
    world.engine.save_applet(slug("board"), new("Board", "x")).await.unwrap();
    let folder = world.applets_folder().join("board");
    let half = "x".repeat(engine::MAX_APPLET_BYTES / 2 + 1);
    for file in ["content.html", "script.js"] {
        fs::write(folder.join(file), &half).unwrap();
    }
    assert!(matches!(world.engine.applet(saved("board")).await, Err(AppletError::TooLarge { .. })));
    let (_, is_new) = world.engine.save_applet(slug("board"), new("Board", "short")).await.unwrap();
    assert!(!is_new);
    assert!(world.engine.applet(saved("board")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_version_that_somebody_scribbled_on_is_none() {
    let world = World::new().await;
    let counter = saved("counter");
    let version = world.engine.set_applet_state(&counter, None, merge(json!({ "n": 1 }))).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    fs::write(world.applets_folder().join(format!("counter/history/{version}.json")), "[").unwrap();
    let read = world.engine.applet_version(&counter, None, version).await;
    assert!(matches!(read, Err(AppletError::NoSuchVersion { .. })), "{read:?}");
}

/// Whatever was being written: what is deleted does not come back with the next applet of that name.
#[tokio::test(start_paused = true)]
async fn what_is_deleted_while_its_state_is_written_stays_deleted() {
    let world = World::new().await;
    let board = saved("board");
    for round in 0..25 {
        world.engine.save_applet(slug("board"), new("Board", "x")).await.unwrap();
        let begun = world.engine.begin_applet_state(&board, None, merge(json!({ "n": round }))).await.unwrap();
        // Each round the write has come a little further.
        for _ in 0..round * 40 {
            tokio::task::yield_now().await;
        }
        let writing = async {
            let mut refused = 0;
            while refused < 3 {
                let write = world.engine.set_applet_state(&board, None, merge(json!({ "late": round }))).await;
                match write {
                    Ok(_) => (),
                    Err(AppletError::Deleted | AppletError::NotFound { .. }) => refused += 1,
                    Err(err) => panic!("{err:?}"),
                }
            }
        };
        let (deleted, ()) = tokio::join!(world.engine.delete_applet(slug("board")), writing);
        assert!(deleted.unwrap());
        assert!(matches!(begun.flushed().await, Ok(_) | Err(AppletError::Deleted)));
        // Whatever was still to be written is written by then.
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(!world.applets_folder().join("board").exists(), "round {round}");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_kept_for_a_session_that_is_not_there() {
    let world = World::new().await;
    let session = world.session().await;
    let per_session = NewApplet { per_session: true, ..new("Own", "x") };
    world.engine.save_applet(slug("own"), per_session).await.unwrap();
    let own = saved("own");
    let begun = world.engine.begin_applet_state(&own, Some(session), merge(json!({ "n": 1 }))).await.unwrap();
    world.engine.submit(session, engine::Delete, asker()).await.unwrap();
    world.engine.purge(session, asker()).await.unwrap();
    drop(begun.flushed().await);
    for of in [session, SessionId::from_bytes([7; 16])] {
        let read = world.engine.applet_state(&own, Some(of)).await;
        assert!(matches!(read, Err(AppletError::Query(_))), "{read:?}");
        let written = world.engine.set_applet_state(&own, Some(of), merge(json!({ "n": 2 }))).await;
        assert!(matches!(written, Err(AppletError::Query(_))), "{written:?}");
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(!world.applets_folder().join("own/sessions").join(session.to_string()).exists());

    // One that can be restored keeps what it has, and gets nothing new.
    let deleted = world.session().await;
    world.engine.set_applet_state(&own, Some(deleted), merge(json!({ "n": 1 }))).await.unwrap();
    world.engine.submit(deleted, engine::Delete, asker()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let written = world.engine.set_applet_state(&own, Some(deleted), merge(json!({ "n": 2 }))).await;
    assert!(matches!(written, Err(AppletError::Query(_))), "{written:?}");
}

/// Whoever may write the folder may write any names there.
#[tokio::test(start_paused = true)]
async fn names_that_are_no_versions_of_ours_count_for_nothing() {
    let world = World::new().await;
    let history = world.applets_folder().join("counter/history");
    fs::create_dir_all(&history).unwrap();
    for name in ["18446744073709551615", "9007199254740992", "007", "+8"] {
        fs::write(history.join(format!("{name}.json")), "{}").unwrap();
    }
    let counter = saved("counter");
    assert_eq!(world.engine.applet_state(&counter, None).await.unwrap().version, 0);
    let written = world.engine.set_applet_state(&counter, None, merge(json!({ "n": 1 }))).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let versions = world.engine.applet_versions(&counter, None).await.unwrap();
    assert_eq!(versions.iter().map(|kept| kept.version).collect::<Vec<_>>(), [written]);
}

#[tokio::test(start_paused = true)]
async fn an_applet_whose_page_can_not_be_read_can_be_deleted() {
    let world = World::new().await;
    world.engine.save_applet(slug("board"), new("Board", "x")).await.unwrap();
    let folder = world.applets_folder().join("board");
    fs::write(folder.join("content.html"), "x".repeat(engine::MAX_APPLET_BYTES + 1)).unwrap();
    assert!(world.engine.applet(saved("board")).await.is_err());
    assert!(world.engine.delete_applet(slug("board")).await.unwrap());
    assert!(!folder.exists());
}

#[tokio::test(start_paused = true)]
async fn what_is_granted_holds_for_one_content_and_over_a_restart() {
    let mut world = World::new().await;
    let session = world.session().await;
    world.engine.save_applet(slug("board"), new("Board", "one")).await.unwrap();
    let board = saved("board");
    let hash = world.engine.applet_grants(&board).await.unwrap().hash;
    let grant = AppletGrant::FilesWrite;
    let other = world.engine.grant_applet(&board, "other", grant, true, person()).await;
    assert!(matches!(other, Err(AppletError::Changed { .. })), "{other:?}");
    let granted = world.engine.grant_applet(&board, &hash, grant, true, person()).await.unwrap();
    assert_eq!(granted.grants, [grant]);
    world.crash_and_restart().await;
    assert_eq!(world.engine.applet_grants(&board).await.unwrap(), granted);

    let applet = AskingApplet { name: board.clone(), hash: hash.clone(), session };
    let file = world.directory.path().canonicalize().unwrap().join("notes.txt").into_os_string().into_string().unwrap();
    let write = async |applet: &AskingApplet| {
        world.engine.write_for_applet(applet, file.clone(), b"hi".to_vec(), Expected::Anything).await
    };
    assert!(write(&applet).await.unwrap().is_new);
    let read = world.engine.read_for_applet(&applet, file.clone(), Amount::Beginning).await;
    assert!(matches!(read, Err(AppletError::NotGranted { grant: AppletGrant::FilesRead })), "{read:?}");

    fs::write(world.applets_folder().join("board/content.html"), "two").unwrap();
    assert_eq!(world.engine.applet_grants(&board).await.unwrap().grants, []);
    assert!(matches!(write(&applet).await, Err(AppletError::Changed { .. })));
    let now = AskingApplet { hash: world.engine.applet_grants(&board).await.unwrap().hash, ..applet.clone() };
    assert!(matches!(write(&now).await, Err(AppletError::NotGranted { .. })));
    fs::write(world.applets_folder().join("board/content.html"), "one").unwrap();
    assert!(!write(&applet).await.unwrap().is_new, "it is the content that the person saw");
    world.engine.grant_applet(&board, &hash, grant, false, person()).await.unwrap();
    assert!(matches!(write(&applet).await, Err(AppletError::NotGranted { .. })));

    // Another applet of that name begins without any, though it is the very same.
    world.engine.grant_applet(&board, &hash, grant, true, person()).await.unwrap();
    world.engine.delete_applet(slug("board")).await.unwrap();
    world.engine.save_applet(slug("board"), new("Board", "one")).await.unwrap();
    let again = world.engine.applet_grants(&board).await.unwrap();
    assert_eq!((again.hash, again.grants), (hash, Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn an_applet_reaches_the_sessions_own_files_and_no_others() {
    let world = World::new().await;
    let work = world.directory.path().canonicalize().unwrap().join("work");
    fs::create_dir(&work).unwrap();
    fs::write(work.join("a.txt"), "a").unwrap();
    fs::write(work.join(".env"), "SECRET=1").unwrap();
    fs::write(world.directory.path().join("outside.txt"), "b").unwrap();
    symlink(world.directory.path().join("outside.txt"), work.join("link.txt")).unwrap();
    let work = work.into_os_string().into_string().unwrap();
    let session = world.session_of("guide", &work).await;
    let name = saved("counter");
    let hash = world.engine.applet_grants(&name).await.unwrap().hash;
    for grant in [AppletGrant::FilesRead, AppletGrant::FilesWrite] {
        world.engine.grant_applet(&name, &hash, grant, true, person()).await.unwrap();
    }
    let applet = AskingApplet { name, hash, session };
    let read = async |path: String| world.engine.read_for_applet(&applet, path, Amount::Beginning).await;
    assert_eq!(read(format!("{work}/a.txt")).await.unwrap().bytes, 1);
    assert_eq!(read("a.txt".to_owned()).await.unwrap().bytes, 1);
    let applets = world.applets_folder().into_os_string().into_string().unwrap();
    let link = format!("{work}/link.txt");
    assert!(matches!(read(link.clone()).await, Err(AppletError::SessionFile(FileError::NotAllowed))));
    for path in [
        format!("{work}/.env"),
        format!("{work}/../outside.txt"),
        "../outside.txt".to_owned(),
        format!("{applets}/counter/state.json"),
        "/etc/passwd".to_owned(),
    ] {
        let refused = |err: &AppletError| matches!(err, AppletError::SessionFile(FileError::NotAllowed));
        let error = read(path.clone()).await.unwrap_err();
        assert!(refused(&error), "{path}: {error:?}");
        let written = world.engine.write_for_applet(&applet, path.clone(), b"x".to_vec(), Expected::Anything).await;
        assert!(refused(&written.unwrap_err()), "{path}");
    }
    let listed = world.engine.list_for_applet(&applet, None, None, 100).await.unwrap();
    let names: Vec<_> = listed.page.items.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(names, ["a.txt", "link.txt"]);
    world.engine.write_for_applet(&applet, "in/b.txt".to_owned(), b"x".to_vec(), Expected::Nothing).await.unwrap();
    let listed = world.engine.list_for_applet(&applet, Some("in".to_owned()), None, 100).await.unwrap();
    assert_eq!((listed.path, listed.page.items.len()), (format!("{work}/in"), 1));
    // A file takes the link's place; what it led to stays as it was.
    drop(world.engine.write_for_applet(&applet, link, b"x".to_vec(), Expected::Anything).await);
    assert_eq!(fs::read_to_string(world.directory.path().join("outside.txt")).unwrap(), "b");
}

/// A list of many small numbers is many times as long where each stands in a line of its own.
#[tokio::test(start_paused = true)]
async fn a_state_of_many_small_values_is_read_again_by_the_next_start() {
    let mut world = World::new().await;
    let counter = saved("counter");
    let grid = json!({ "grid": vec![vec![1; 360]; 360] });
    let version = world.engine.set_applet_state(&counter, None, replace(grid.clone())).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    world.crash_and_restart().await;
    assert_eq!(state(&world, &counter).await, grid);
    let kept = world.engine.applet_version(&counter, None, version).await.unwrap();
    assert_eq!(Value::Object((*kept.state).clone()), grid);
}

/// However fast it is written, and though the last write was kept as no version yet.
#[tokio::test(start_paused = true)]
async fn a_start_knows_the_version_that_was_acknowledged() {
    let mut world = World::new().await;
    let counter = saved("counter");
    let mut acknowledged = 0;
    for burst in 0..2 {
        for n in 0..50 {
            acknowledged = world.engine.set_applet_state(&counter, None, merge(json!({ "n": n }))).await.unwrap();
        }
        world.crash_and_restart().await;
        let now = world.engine.applet_state(&counter, None).await.unwrap();
        assert_eq!((now.version, now.state["n"].clone()), (acknowledged, json!(49)), "burst {burst}");
    }
    let expecting = StateWrite { version: Some(acknowledged), ..merge(json!({ "n": 50 })) };
    assert!(world.engine.set_applet_state(&counter, None, expecting).await.unwrap() > acknowledged);

    // There and back within the second of one version: the newest that is kept has the same state.
    tokio::time::sleep(Duration::from_secs(3)).await;
    for n in [1, 2, 1] {
        acknowledged = world.engine.set_applet_state(&counter, None, merge(json!({ "n": n }))).await.unwrap();
    }
    world.crash_and_restart().await;
    assert_eq!(world.engine.applet_state(&counter, None).await.unwrap().version, acknowledged);
}

/// Whoever opened the applet while its file was damaged was shown none, and must not write that over what was mended.
#[tokio::test(start_paused = true)]
async fn a_state_that_is_damaged_and_mended_is_published_both_times() {
    let world = World::new().await;
    let session = world.session().await;
    let counter = saved("counter");
    world.engine.set_applet_state(&counter, None, merge(json!({ "count": 500 }))).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let file = world.applets_folder().join("counter/state.json");
    let sound = fs::read(&file).unwrap();
    let mut changes = world.engine.applet_changes();
    for damage in [b"garbage".to_vec(), vec![b' '; 2 << 20]] {
        fs::write(&file, damage).unwrap();
        for _ in 0..2 {
            let read = world.engine.applet_state(&counter, Some(session)).await;
            assert!(matches!(read, Err(AppletError::StateUnreadable(_))), "{read:?}");
        }
        let published = changes.try_recv().unwrap();
        assert!(
            matches!(&published, AppletChange::StateUnreadable(of) if of.is_of(&counter, session)),
            "{published:?}"
        );
        assert!(changes.try_recv().is_err(), "it is said once");
        fs::write(&file, &sound).unwrap();
        assert_eq!(state(&world, &counter).await, json!({ "count": 500 }));
        let published = changes.try_recv().unwrap();
        assert!(matches!(&published, AppletChange::State(of) if of.now.state["count"] == 500), "{published:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_under_an_applet_that_was_deleted_begins_with_a_state_of_its_own() {
    let world = World::new().await;
    let counter = saved("counter");
    world.engine.save_applet(slug("counter"), new("Mine", "x")).await.unwrap();
    let before = world.engine.set_applet_state(&counter, None, merge(json!({ "count": 6 }))).await.unwrap();
    let mut changes = world.engine.applet_changes();
    assert!(world.engine.delete_applet(slug("counter")).await.unwrap());
    let published = std::iter::from_fn(|| changes.try_recv().ok());
    let state = published.filter_map(|change| match change {
        AppletChange::State(changed) => Some(changed.now),
        AppletChange::Content { .. } | AppletChange::StateUnreadable(_) => None,
    });
    let [now] = &state.collect::<Vec<_>>()[..] else { panic!("one state is published") };
    assert!(now.version > before && now.state.is_empty(), "{now:?}");
}

/// A session's token reads its files, and those that everybody shares, but not what other sessions have there.
#[tokio::test(start_paused = true)]
async fn the_applets_and_states_of_other_sessions_are_no_files_of_this_one() {
    let world = World::new().await;
    let (own, other) = (world.session().await, world.session().await);
    let applets = world.applets_folder();
    for session in [own, other] {
        for folder in [applets.join("_shown"), applets.join("text-editor/sessions")] {
            fs::create_dir_all(folder.join(session.to_string())).unwrap();
            fs::write(folder.join(session.to_string()).join("state.json"), "{}").unwrap();
        }
    }
    let at = |path: String| applets.join(path).into_os_string().into_string().unwrap();
    let read = async |path| world.engine.show_file(own, path, Amount::Whole, engine::Outside::Confirmed).await;
    for path in ["_shown", "text-editor/sessions", "_shown/../_shown/.", "../applets/text-editor/sessions"] {
        let list = world.engine.list_directory(Some(own), Some(at(path.to_owned())), None, 10).await;
        assert!(matches!(list, Err(engine::ShowError::File(FileError::NotAllowed))), "{path}: {list:?}");
        let file = read(at(format!("{path}/{other}/state.json"))).await;
        assert!(matches!(file, Err(engine::ShowError::File(FileError::NotAllowed))), "{path}: {file:?}");
    }
    read(at(format!("_shown/{own}/state.json"))).await.unwrap();
    read(at(format!("text-editor/sessions/{own}/state.json"))).await.unwrap();

    // Behind a link the folder has two names, and so has whatever a link in it leads to.
    let moved = world.directory.path().join("moved");
    fs::rename(&applets, &moved).unwrap();
    symlink(&moved, &applets).unwrap();
    symlink("_shown", moved.join("alias")).unwrap();
    let spelled = |folder: &Path, path: String| folder.join(path).into_os_string().into_string().unwrap();
    for folder in [&applets, &moved] {
        for path in ["_shown", "alias"] {
            read(spelled(folder, format!("{path}/{own}/state.json"))).await.unwrap();
            let file = read(spelled(folder, format!("{path}/{other}/state.json"))).await;
            assert!(matches!(file, Err(engine::ShowError::File(FileError::NotAllowed))), "{path}: {file:?}");
        }
    }
}
