//! Stores of every earlier schema: looked at as they are, put back, and mended by whoever owns them.

use std::path::Path;
use std::sync::Arc;

use model::{Author, Command, Incarnation, Memory, Seq, SessionId, StreamId, Timestamp};
use refinery::Target;
use rusqlite::{Connection, params};

use crate::conformance::{AnyStore, act, attached, create, session_id};
use crate::outside::{Depth, Repair, StoreFile};
use crate::prelude::*;
use crate::sqlite::functions;
use crate::sqlite::open::{self, embedded, newest_schema};
use crate::sqlite::rows::checksum;
use crate::sqlite::tests::flips::restore;
use crate::sqlite::tests::outside::rebuild::tables;
use crate::sqlite::tests::outside::{backup, check, contents, export, restore_from, scribble, told};
use crate::sqlite::tests::torn_pages::tear;
use crate::sqlite::tests::{folder, open_at};
use crate::{Head, SqliteStore};

/// The first store, brought to `schema` and no further.
fn make(path: &Path, schema: i64) {
    Connection::open(path).unwrap().execute_batch(FIRST_STORE).unwrap();
    migrate(path, schema);
}

const FIRST_STORE: &str = include_str!("../../../../../../fixtures/stores/v1.sql");

fn migrate(path: &Path, schema: i64) {
    let mut conn = Connection::open(path).unwrap();
    functions::register(&conn).unwrap();
    let target = Target::Version(schema.try_into().unwrap());
    embedded::migrations::runner().set_target(target).run(&mut conn).unwrap();
}

fn schema_of(path: &Path) -> i64 {
    let conn = Connection::open(path).unwrap();
    conn.query_row("SELECT MAX(version) FROM refinery_schema_history", [], |row| row.get(0)).unwrap()
}

fn earlier_schemas() -> Vec<i64> {
    let runner = embedded::migrations::runner();
    let all = runner.get_migrations().iter().map(|migration| i64::from(migration.version()));
    let earlier: Vec<i64> = all.filter(|schema| *schema < newest_schema()).collect();
    assert!([1, 2, 3, 4, 5, 6].iter().all(|released| earlier.contains(released)));
    earlier
}

/// Whoever upgrades backs up first: the new program looks at the old store and leaves it old.
#[tokio::test]
async fn a_store_of_an_earlier_schema_is_looked_at_as_it_is() {
    for schema in earlier_schemas() {
        let (folder, path) = folder();
        make(&path, schema);
        let before = contents(folder.path());
        assert!(StoreFile::open(&path).unwrap().is_older_than_program());
        let report = check(&path, Depth::All);
        assert_eq!((told(&report), report.streams), (vec![], 5), "schema {schema}");
        let note = backup(&path, &folder.path().join("backup")).unwrap();
        let (lines, exported) = export(&path);
        assert_eq!((note.entries, exported.entries), (report.checked_entries, report.checked_entries));
        assert_eq!(lines.matches(r#"{"purged":"session/"#).count(), 1);
        let after = contents(folder.path());
        assert!(after.starts_with(&before) || after.ends_with(&before));
        assert_eq!(schema_of(&path), schema);
    }
}

/// What an old schema has no column for hides nothing of what it has.
#[tokio::test]
async fn damage_is_found_in_every_schema() {
    for schema in earlier_schemas() {
        for (sql, what) in [
            (
                "UPDATE sessions SET env_hint = 'scribble' WHERE name = 'renamed'",
                "the session's row is not what the log",
            ),
            ("UPDATE sessions SET agent_state = 'dreaming' WHERE name = 'renamed'", "the session's row cannot be read"),
            ("UPDATE prompts SET text = 'scribble'", "the row of the waiting prompt"),
            ("DELETE FROM entries WHERE stream = 5 AND seq = 7", "the entry is missing"),
        ] {
            let (_folder, path) = folder();
            make(&path, schema);
            scribble(&path, sql);
            let told = told(&check(&path, Depth::All));
            assert!(told.len() == 1 && told[0].contains(what), "schema {schema}, {sql}: {told:?}");
        }
    }
}

#[tokio::test]
async fn what_was_kept_of_an_earlier_schema_comes_back() {
    for schema in earlier_schemas() {
        let (folder, path) = folder();
        make(&path, schema);
        let kept = folder.path().join("backup");
        backup(&path, &kept).unwrap();
        let file = folder.path().join("export.jsonl");
        std::fs::write(&file, export(&path).0).unwrap();
        let wanted = rows(&open_at(&path)).await;
        assert_eq!(wanted.len(), 2);
        for (from, name) in [(&kept, "of-backup.db"), (&file, "of-export.db")] {
            let new = folder.path().join(name);
            restore_from(from, &new).unwrap();
            assert_eq!(rows(&open_at(&new)).await, wanted, "{name} of schema {schema}");
            assert_eq!(told(&check(&new, Depth::All)), Vec::<String>::new(), "{name} of schema {schema}");
        }
    }
}

async fn rows(store: &SqliteStore) -> Vec<model::SessionRow> {
    store.sessions(model::Shelf::All, None, 10).await.unwrap()
}

/// Its owner brings it up to date, and then the log gives the rows that the migration left.
#[tokio::test]
async fn a_store_of_an_earlier_schema_is_mended() {
    for schema in earlier_schemas() {
        let (_folder, path) = folder();
        make(&path, schema);
        scribble(&path, "UPDATE sessions SET turns = 9; DELETE FROM prompts");
        Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
        assert_eq!(schema_of(&path), newest_schema());
        assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new());
    }
}

/// The first store with a waiting prompt of an agent, as they were kept then.
fn make_with_prompt_of_agent(path: &Path, schema: i64) -> SessionId {
    make(path, 1);
    let conn = Connection::open(path).unwrap();
    let entry = "SELECT name, at, event FROM entries JOIN streams ON id = stream WHERE stream = 5 AND seq = 7";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get::<_, Vec<u8>>(2)?));
    let (name, at, event) = conn.query_row(entry, [], read).unwrap();
    let event = String::from_utf8(event).unwrap();
    assert!(event.contains(r#""text":"say after that""#), "{event}");
    let event = event.replace("say after that", r"[agent:a-1] say \u0000 after").into_bytes();
    let stream: StreamId = name.parse().unwrap();
    let sum = checksum(stream, Seq(7), Timestamp::from_millis(at), 1, &event);
    conn.execute("UPDATE entries SET event = ?1, checksum = ?2 WHERE stream = 5 AND seq = 7", params![event, sum])
        .unwrap();
    conn.execute("UPDATE prompts SET text = ?1", ["[agent:a-1] say \0 after"]).unwrap();
    migrate(path, schema);
    let StreamId::Session(session) = stream else { panic!("{stream} is no session") };
    session
}

/// Rows and log are read alike, before the migration and after it.
#[tokio::test]
async fn who_wrote_a_waiting_prompt_is_taken_out_of_its_words() {
    for schema in earlier_schemas() {
        let (_folder, path) = folder();
        let session = make_with_prompt_of_agent(&path, schema);
        assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "schema {schema}");
        let store = open_at(&path);
        let queue = store.session(session).await.unwrap().unwrap().queue;
        let waiting: Vec<_> = queue.iter().map(|prompt| (prompt.text.as_str(), &prompt.by)).collect();
        assert_eq!(waiting, [("say \0 after", &Author::Agent { session: "a-1".to_owned() })], "schema {schema}");
        store.close().await;
        assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "schema {schema}");
    }
}

/// A row that was damaged before the migration is not passed off as whole by it, and none keeps the store from opening.
#[tokio::test]
async fn a_damaged_prompt_is_still_damaged_after_the_migration() {
    for scribbled in ["text = '[agent:b] other words'", "text = CAST(x'5b6167656e743a625d20ff' AS TEXT)"] {
        let (_folder, path) = folder();
        let session = make_with_prompt_of_agent(&path, 14);
        scribble(&path, &format!("UPDATE prompts SET {scribbled}"));
        migrate(&path, newest_schema());
        // What only a start fills from the log is missing too.
        let told = told(&check(&path, Depth::All));
        assert_eq!(told.iter().filter(|line| line.contains("prompt")).count(), 1, "{scribbled}: {told:?}");
        let store = open_at(&path);
        let queue = store.session(session).await.unwrap().unwrap().queue;
        assert_eq!(queue[0].text, "say \0 after", "{scribbled}");
    }
}

/// What a store tells of its sessions, of the prompts that wait in them and of its tokens.
async fn tell(path: &Path) -> (Vec<Option<model::Session>>, Vec<model::TokenRow>, Vec<Head>) {
    let store = open_at(path);
    let (mut sessions, mut heads) = (Vec::new(), Vec::new());
    for id in all_sessions(path) {
        sessions.push(store.session(id).await.unwrap());
        heads.push(store.head(StreamId::Session(id)).await.unwrap());
    }
    let tokens = store.tokens().await.unwrap();
    store.close().await;
    (sessions, tokens, heads)
}

fn all_sessions(path: &Path) -> Vec<SessionId> {
    let conn = Connection::open(path).unwrap();
    let mut names = conn.prepare("SELECT name FROM streams ORDER BY name").unwrap();
    let names = names.query_map([], |row| row.get::<_, String>(0)).unwrap();
    names.filter_map(|name| name.unwrap().strip_prefix("session/").map(|id| id.parse().unwrap())).collect()
}

/// A migration reads whole tables. What it can not read of them is in the log.
#[tokio::test]
async fn a_torn_page_keeps_no_store_of_an_earlier_schema_from_opening() {
    for schema in earlier_schemas() {
        let (_folder, path) = folder();
        let session = make_with_prompt_of_agent(&path, schema);
        let sound = std::fs::read(&path).unwrap();
        let expected = tell(&path).await;
        // V15 reads all prompts, V10 every table there was.
        let tables = ["prompts", "sessions", "turns", "tokens", "receipts", "streams", "sessions_by_activity"];
        for table in &tables[..if [1, 9].contains(&schema) { tables.len() } else { 1 }] {
            restore(&path, &sound);
            tear(&path, table);
            assert_eq!(tell(&path).await, expected, "{table} of schema {schema}");
            assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "{table} of schema {schema}");
            let waiting = open_at(&path).session(session).await.unwrap().unwrap().queue;
            assert_eq!(waiting[0].text, "say \0 after", "{table} of schema {schema}");
        }
    }
}

/// Killed after the tables got new pages, the next start still makes their rows anew.
#[tokio::test]
async fn rows_that_a_migration_lost_are_made_anew_by_a_later_start_too() {
    let (_folder, path) = folder();
    let session = make_with_prompt_of_agent(&path, 14);
    tear(&path, "prompts");
    drop(open::open(&path, Incarnation::from_bits(7)).unwrap());
    assert_eq!(schema_of(&path), newest_schema());
    let waiting = open_at(&path).session(session).await.unwrap().unwrap().queue;
    assert_eq!(waiting.len(), 1);
}

/// Whether a prompt is the one that was written can be said in each schema that has checksums.
#[tokio::test]
async fn checksums_of_prompts_are_verified_in_every_schema_that_has_them() {
    for schema in earlier_schemas().into_iter().filter(|schema| *schema >= 10) {
        let (_folder, path) = folder();
        make_with_prompt_of_agent(&path, schema);
        scribble(&path, "UPDATE prompts SET checksum = checksum + 1");
        let expected = ["Row: 1 rows of the table prompts do not match their checksums"];
        assert_eq!(told(&check(&path, Depth::All)), expected, "schema {schema}");
    }
}

/// The store before it had a table of the conversations that sessions' agents ever had.
const WITHOUT_ATTACHMENTS: &str = "DROP INDEX sessions_by_activity;
     DROP INDEX sessions_archived;
     DROP INDEX sessions_foremost;
     DROP INDEX sessions_tagged;
     ALTER TABLE sessions DROP COLUMN pinned_at;
     ALTER TABLE sessions DROP COLUMN archived_at;
     ALTER TABLE sessions DROP COLUMN tags;
     CREATE INDEX sessions_by_activity ON sessions (active_at DESC, id DESC) WHERE deleted_at IS NULL;
     ALTER TABLE prompts DROP COLUMN written_by;
     DROP INDEX receipts_of_session;
     ALTER TABLE receipts DROP COLUMN session;
     DROP TABLE attachments;
     DROP TABLE usage;
     DROP TABLE tallies;
     DROP TABLE outputs;
     DROP TABLE bodies;
     DROP TABLE applet_grants;
     DELETE FROM refinery_schema_history WHERE version >= 13";

/// Three sessions: one that was handed over, one whose agent began anew, one that was purged.
async fn write_attached(path: &Path) {
    let store: AnyStore = Arc::new(open_at(path));
    for n in 1..=3 {
        act(&store, n, create("a"), 1).await;
        act(&store, n, attached("first", Memory::New), 2).await;
    }
    act(&store, 1, Command::Resume { agent: Some("another".to_owned()) }, 3).await;
    act(&store, 1, attached("second", Memory::New), 4).await;
    act(&store, 2, attached("anew", Memory::New), 5).await;
    let head = store.session(session_id(3)).await.unwrap().unwrap().head;
    store.purge(session_id(3), head, crate::conformance::at(6)).await.unwrap();
}

/// The log of a store from before the table says what is in it, also if the start that fills it is killed on the way.
#[tokio::test]
async fn the_conversations_of_an_earlier_store_are_found() {
    let (_folder, path) = folder();
    write_attached(&path).await;
    let attachments = || tables(&path).into_iter().filter(|row| row.starts_with("attachments")).collect::<Vec<_>>();
    let expected = attachments();
    assert_eq!(expected.len(), 4, "{expected:?}");
    for made_old in
        [WITHOUT_ATTACHMENTS, "DELETE FROM attachments; INSERT INTO meta VALUES ('attachments_unfilled', 1)"]
    {
        scribble(&path, made_old);
        open_at(&path).close().await;
        assert_eq!(attachments(), expected, "{made_old}");
        assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "{made_old}");
    }
    scribble(&path, WITHOUT_ATTACHMENTS);
    assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "the doctor looks at it as it is");
}

/// One session's damage keeps neither the store from opening nor the others from being found.
#[tokio::test]
async fn a_damaged_log_is_believed_up_to_its_damage() {
    let (_folder, path) = folder();
    write_attached(&path).await;
    scribble(&path, WITHOUT_ATTACHMENTS);
    scribble(&path, "UPDATE entries SET at = at + 1 WHERE stream = 1 AND seq > 3");
    let store = open_at(&path);
    let sessions = store.attached("guide", vec!["first".to_owned()]).await.unwrap();
    assert_eq!(sessions, [("first".to_owned(), session_id(1)), ("first".to_owned(), session_id(2))]);
    assert_eq!(store.attached("another", vec!["second".to_owned()]).await.unwrap(), []);
}
