//! The read tables, made anew from the log.

use std::sync::Arc;

use model::{Seq, ServerEvent, TokenKind};
use rusqlite::Connection;

use crate::Part;
use crate::conformance::{AnyStore, at, batch, token_id};
use crate::outside::{Depth, Progress, Repair};
use crate::sqlite::tests::outside::{check, scribble, told, write_remembered, write_sample};
use crate::sqlite::tests::{folder, open_at};

/// Everything but the log, as text.
pub(in crate::sqlite::tests) fn tables(path: &std::path::Path) -> Vec<String> {
    let conn = Connection::open(path).unwrap();
    let mut rows = Vec::new();
    for table in [
        "sessions",
        "turns",
        "prompts",
        "sets",
        "facts",
        "context_entries",
        "titles",
        "attachments",
        "usage",
        "tallies",
        "next_blocks",
        "works",
        "work_names",
        "tokens",
        "remembered",
        "applet_grants",
        "receipts",
        "streams",
        "meta",
    ] {
        let mut statement = conn.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let found = statement.query_map([], |row| {
            let cells = (0..columns).map(|n| row.get::<_, rusqlite::types::Value>(n));
            Ok(format!("{table} {:?}", cells.collect::<Result<Vec<_>, _>>()?))
        });
        rows.extend(found.unwrap().map(Result::unwrap));
    }
    rows
}

const SCRIBBLES: &str = "UPDATE sessions SET name = 'scribble', turns = 9;
     DELETE FROM sessions WHERE id = x'02020202020202020202020202020202';
     UPDATE turns SET prompt_line = 'scribble';
     INSERT INTO turns VALUES (zeroblob(16), 1, zeroblob(16), '', NULL, NULL, 0, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
     DELETE FROM prompts;
     UPDATE tokens SET secret_hash = 'scribble'";

#[tokio::test]
async fn scribbled_rows_are_as_they_were() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    scribble(
        &path,
        "INSERT INTO receipts VALUES ('person', 'key', x'00', x'01', 5, row_sum('person', 'key', x'00', x'01', 5), NULL)",
    );
    let before = tables(&path);
    scribble(&path, SCRIBBLES);
    assert!(check(&path, Depth::All).is_damaged());
    let rebuilt = Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
    assert_eq!((rebuilt.streams, rebuilt.entries, rebuilt.rows, rebuilt.damaged), (3, 13, 8, 0));
    assert_eq!(tables(&path), before);
    assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new());
}

/// The server's stream goes on behind a damaged entry, so what was revoked there must stay revoked.
#[tokio::test]
async fn a_rebuild_brings_no_revoked_token_back() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    write_remembered(&path).await;
    {
        let store: AnyStore = Arc::new(open_at(&path));
        let issued = ServerEvent::TokenIssued {
            token_id: token_id(2),
            kind: TokenKind::Person,
            name: "phone".to_owned(),
            session_id: None,
            secret_hash: "1".repeat(64),
            proof_hash: None,
        };
        let revoked = ServerEvent::TokenRevoked { token_id: token_id(1) };
        store.append(batch([Part::of_server(Seq(2), vec![issued, revoked], at(13))])).await.unwrap();
    }
    let tokens =
        |path| tables(path).into_iter().filter(|row| row.starts_with("tokens") || row.starts_with("remembered"));
    let before: Vec<String> = tokens(&path).collect();
    assert_eq!(before.len(), 2);
    let server = "(SELECT id FROM streams WHERE name = 'server')";
    scribble(&path, &format!("UPDATE entries SET at = 0 WHERE stream = {server} AND seq = 2"));
    let rebuilt = Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
    assert_eq!(rebuilt.damaged, 1);
    assert_eq!(tokens(&path).collect::<Vec<_>>(), before);
}

/// What agents may do unasked is what the log says, and nothing that was written beside it.
#[tokio::test]
async fn what_is_remembered_is_what_the_log_says() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    write_remembered(&path).await;
    let before = tables(&path);
    let id = "00000000-0000-0000-0000-000000000009";
    for (sql, found) in [
        ("UPDATE remembered SET decision = 'allow'", "01010101-0101-0101-0101-010101010101 is not what the log says"),
        ("DELETE FROM remembered", "01010101-0101-0101-0101-010101010101 is missing"),
        (
            "INSERT INTO remembered
             SELECT x'00000000000000000000000000000009', project, cwd, agent, kind, '', digest, 'allow', decided_by, 0, 0
             FROM remembered",
            &format!("{id} tells of what is not in the log"),
        ),
    ] {
        scribble(&path, sql);
        let expected = [format!("Row server: the row of the remembered answer {found}")];
        assert_eq!(told(&check(&path, Depth::All)), expected, "{sql}");
        Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
        assert_eq!(tables(&path), before, "{sql}");
    }
}

/// A rebuild that is cut off at any stream leaves the rows that were there.
#[tokio::test]
async fn a_rebuild_is_whole_or_has_not_happened() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    scribble(&path, SCRIBBLES);
    let before = tables(&path);
    for cut in 0..4 {
        let mut steps = 0;
        let mut cut_off = |_: Progress| {
            assert!(steps < cut, "cut off");
            steps += 1;
        };
        let mut repair = Repair::begin(&path).unwrap();
        let work = std::panic::AssertUnwindSafe(|| repair.rebuild(&mut cut_off));
        assert!(std::panic::catch_unwind(work).is_err());
        drop(repair);
        assert_eq!(tables(&path), before, "after {cut} streams");
    }
}

#[tokio::test]
async fn a_damaged_stream_is_folded_up_to_its_damage_and_fenced() {
    let (_folder, path) = folder();
    write_sample(&path).await;
    // One entry altered; one stream without its tail, of which only the rows that go know.
    scribble(
        &path,
        "UPDATE entries SET at = 0 WHERE stream = 2;
         DELETE FROM entries WHERE stream = 1 AND seq > 8",
    );
    let rebuilt = Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
    assert_eq!(rebuilt.damaged, 2);
    let expected = [
        "Entry session 1 at 9: the entry is missing (fenced)",
        "Entry session 2 at 1: its checksum does not match (fenced)",
    ];
    assert_eq!(told(&check(&path, Depth::All)), expected);
    let sessions = tables(&path).iter().filter(|row| row.starts_with("sessions")).count();
    assert_eq!(sessions, 2, "one that has lost its first entry is damaged, and not one that never was");
    // Once more: what is known is not forgotten.
    Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
    assert_eq!(told(&check(&path, Depth::All)), expected);
}
