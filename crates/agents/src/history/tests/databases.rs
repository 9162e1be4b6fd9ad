//! Transcripts in databases: real ones, growing ones, live ones and foreign ones.

use rusqlite::Connection;

use super::text::text_of;
use super::*;

const OPENCODE: &str = "ses_e2034156fffejsB6VF339FBf1c";
const OPENCODE_INTERRUPTED: &str = "ses_e206ee9ddffe2khWng34nbMiSW";
const GOOSE: &str = "20260102_1";
const GOOSE_UNNAMED: &str = "20261115_1";
const GOOSE_NAMED: &str = "20261115_2";

/// Makes both databases where `fixture_places` expects them.
pub(super) fn make_all(folder: &Path) {
    make(&folder.join("opencode.db"), "opencode/opencode.sql");
    fs::create_dir_all(folder.join("data/sessions")).unwrap();
    make(&folder.join("data/sessions/sessions.db"), "goose/sessions.sql");
}

fn make(path: &Path, fixture: &str) {
    let sql = fs::read_to_string(fixtures().join(fixture)).unwrap();
    Connection::open(path).unwrap().execute_batch(&format!("BEGIN; {sql} COMMIT;")).unwrap();
}

fn stored(folder: &Path, id: &str) -> FoundConversation {
    let found = find(&fixture_places(folder));
    found.into_iter().find(|found| found.id == id).unwrap_or_else(|| panic!("no session {id}"))
}

fn check(name: &str, id: &str) {
    let folder = tempfile::tempdir().unwrap();
    make_all(folder.path());
    let (items, reading) = all_of(&stored(folder.path(), id), None, LastTurn::Emit);
    insta::assert_snapshot!(name, text_of(&items, &reading));
}

#[test]
fn opencode_with_tools_and_a_picture() {
    check("opencode_tools", OPENCODE);
}

#[test]
fn opencode_with_questions_and_interruptions() {
    check("opencode_interrupted", OPENCODE_INTERRUPTED);
}

#[test]
fn goose_with_tools_and_a_picture() {
    check("goose_tools", GOOSE);
}

#[test]
fn goose_that_nobody_named() {
    check("goose_unnamed", GOOSE_UNNAMED);
}

#[test]
fn goose_with_a_tool_of_a_server_and_resumed() {
    check("goose_named", GOOSE_NAMED);
}

/// For each message of a session: reads the database as it was before the message, and then the rest.
#[test]
fn a_database_that_grows_is_told_as_if_it_had_been_there_at_once() {
    for (id, table, key) in [(OPENCODE, "message", "time_created"), (GOOSE, "messages", "created_timestamp, id")] {
        let folder = tempfile::tempdir().unwrap();
        make_all(folder.path());
        let whole = stored(folder.path(), id);
        let at_once = all_of(&whole, None, LastTurn::Emit).0;
        for messages in 0..12 {
            let folder = tempfile::tempdir().unwrap();
            make_all(folder.path());
            let early = stored(folder.path(), id);
            let cut = format!(
                "DELETE FROM {table} WHERE session_id = '{id}' AND id NOT IN
                 (SELECT id FROM {table} WHERE session_id = '{id}' ORDER BY {key} LIMIT {messages})"
            );
            Connection::open(&early.path).unwrap().execute_batch(&cut).unwrap();
            let (mut items, reading) = all_of(&early, None, LastTurn::Wait);
            items.extend(all_of(&whole, Some(&reading.bookmark), LastTurn::Emit).0);
            assert_eq!(items, at_once, "{id} with {messages} messages");
        }
    }
}

#[test]
fn messages_that_are_gone_are_recognised() {
    for (id, table) in [(OPENCODE, "message"), (GOOSE, "messages")] {
        let folder = tempfile::tempdir().unwrap();
        make_all(folder.path());
        let found = stored(folder.path(), id);
        let (_, reading) = all_of(&found, None, LastTurn::Emit);
        Connection::open(&found.path).unwrap().execute_batch(&format!("DELETE FROM {table}")).unwrap();
        let again = read(&found, Some(&reading.bookmark), LastTurn::Emit, &HistoryLimits::default(), &mut |_| {
            ControlFlow::Continue(())
        });
        assert!(matches!(again, Err(HistoryError::Rewritten)), "{id}: {again:?}");
    }
}

#[test]
fn a_database_is_not_touched_by_being_read_and_a_live_one_is_read_with_its_log() {
    let folder = tempfile::tempdir().unwrap();
    make_all(folder.path());
    let path = folder.path().join("opencode.db");
    let bytes = fs::read(&path).unwrap();
    let names = || {
        let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let turns = all_of(&stored(folder.path(), OPENCODE), None, LastTurn::Emit).1.turns;
    assert_eq!((names(), fs::read(&path).unwrap() == bytes), (before, true));

    // Another process has it open, and the last write is only in the WAL.
    let writer = Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "WAL").unwrap();
    writer
        .execute_batch(&format!(
            r#"INSERT INTO message VALUES ('msg_z', '{OPENCODE}', 1999999999000, 0, '{{"role":"user"}}');
               INSERT INTO part VALUES ('prt_z', 'msg_z', '{OPENCODE}', 1999999999000, 0, '{{"type":"text","text":"one more"}}')"#
        ))
        .unwrap();
    let bytes = fs::read(&path).unwrap();
    let (items, reading) = all_of(&stored(folder.path(), OPENCODE), None, LastTurn::Emit);
    assert_eq!(reading.turns, turns + 1);
    assert!(items.iter().any(|items| matches!(items, HistoryItem::Prompt { text, .. } if text == "one more")));
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_database_of_something_else_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("opencode.db"), b"\x89PNG").unwrap();
    fs::create_dir_all(folder.path().join("data/sessions")).unwrap();
    Connection::open(folder.path().join("data/sessions/sessions.db"))
        .unwrap()
        .execute_batch("CREATE TABLE x (y)")
        .unwrap();
    let found = find(&fixture_places(folder.path()));
    assert!(found.iter().all(|found| !matches!(found.tool, Tool::Opencode | Tool::Goose)));
    let png = FoundConversation {
        tool: Tool::Opencode,
        id: "x".to_owned(),
        path: folder.path().join("opencode.db"),
        bytes: 0,
        modified_at: model::Timestamp::from_millis(0),
    };
    let read = read(&png, None, LastTurn::Emit, &HistoryLimits::default(), &mut |_| ControlFlow::Continue(()));
    assert!(matches!(read, Err(HistoryError::Database(_))), "{read:?}");
}
