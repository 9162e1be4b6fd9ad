//! What only the embedded store promises: what survives, what is refused, what is found.
//!
//! The tests look at the file as a stranger would, with a connection of their own, and at the writer's connection from
//! inside only where nothing outside could show it.

mod checkpoints;
mod columns;
mod damage;
mod flips;
mod gone;
mod mending;
mod newer;
mod opening;
mod outside;
mod torn_pages;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::Incarnation;
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::SqliteStore;
use crate::sqlite::checksums::DamagedRow;
use crate::sqlite::functions;
use crate::sqlite::jobs::Write;
use crate::sqlite::tables::{sessions, works};

const INCARNATION: u64 = 0xfedc_ba98_7654_3210;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("throughline.db");
    (folder, path)
}

fn open_at(path: &Path) -> SqliteStore {
    SqliteStore::open(path, Incarnation::from_bits(INCARNATION)).unwrap()
}

fn open() -> (Arc<dyn crate::Store>, TempDir) {
    let (folder, path) = folder();
    (Arc::new(open_at(&path)), folder)
}

crate::conformance_tests!(open);

impl SqliteStore {
    /// Runs `look` on the writer's connection, between two transactions.
    async fn look<T: Send + 'static>(&self, look: impl FnOnce(&Connection) -> T + Send + 'static) -> T {
        let (seen, answer) = oneshot::channel();
        let look = Box::new(move |conn: &Connection| assert!(seen.send(look(conn)).is_ok()));
        self.write(Write::Look(Some(look))).await.unwrap();
        answer.await.unwrap()
    }
}

/// A page of any depth costs the same only while its query walks an index and sorts nothing.
#[tokio::test]
async fn every_question_walks_an_index() {
    let (_folder, path) = folder();
    open_at(&path).close().await;
    let conn = Connection::open(&path).unwrap();
    functions::register(&conn).unwrap();
    let plan = |sql: &str| {
        let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let params = vec![1_i64; statement.parameter_count()];
        let rows = statement.query_map(rusqlite::params_from_iter(params), |row| row.get::<_, String>(3)).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    };
    for (sql, expected) in [
        (sessions::LISTED.first.sql(DamagedRow::Refuse), "SCAN sessions USING INDEX sessions_by_activity"),
        (
            sessions::LISTED.after.sql(DamagedRow::Refuse),
            "SEARCH sessions USING INDEX sessions_by_activity ((active_at,id)<(?,?))",
        ),
        (sessions::ARCHIVED.first.sql(DamagedRow::Refuse), "SCAN sessions USING INDEX sessions_archived"),
        (
            sessions::ARCHIVED.after.sql(DamagedRow::Refuse),
            "SEARCH sessions USING INDEX sessions_archived ((active_at,id)<(?,?))",
        ),
        (sessions::FOREMOST.sql(DamagedRow::Refuse), "SCAN sessions USING INDEX sessions_foremost"),
        (sessions::TAGGED.sql(DamagedRow::Refuse), "SCAN sessions USING INDEX sessions_tagged"),
        (sessions::UNSUMMARISED.sql(DamagedRow::Refuse), "SEARCH sessions USING INDEX sessions_unsummarised (id>?)"),
        (sessions::UNSETTLED.sql(DamagedRow::Refuse), "SCAN sessions USING INDEX sessions_unsettled"),
        (sessions::unobserved_count_sql(DamagedRow::Refuse), "SCAN sessions USING INDEX sessions_unobserved"),
        (
            sessions::DELETED_BEFORE.sql(DamagedRow::Refuse),
            "SEARCH sessions USING INDEX sessions_deleted (deleted_at>? AND deleted_at<?)",
        ),
        (
            "SELECT MAX(seq) FROM entries WHERE stream = ?1".to_owned(),
            "SEARCH entries USING COVERING INDEX sqlite_autoindex_entries_1 (stream=?)",
        ),
        (
            sessions::DELETED.sql(DamagedRow::Refuse),
            "SEARCH sessions USING INDEX sessions_deleted (deleted_at>? AND (deleted_at,id)<(?,?))",
        ),
        (
            works::NEWEST_OF_BEFORE.sql(DamagedRow::Refuse),
            "SEARCH sessions USING INDEX sessions_of_work (work=? AND id<?)",
        ),
        (
            works::OFFER.sql(DamagedRow::Refuse),
            "SEARCH next_blocks USING PRIMARY KEY (session=? AND turn=? AND nth=?); CORRELATED SCALAR SUBQUERY 3; SEARCH \
             later USING COVERING INDEX next_blocks_by_work (session=? AND meta_context=? AND turn>?); CORRELATED LIST \
             SUBQUERY 2; COMPOUND QUERY; LEFT-MOST SUBQUERY; SCAN CONSTANT ROW; UNION ALL; SEARCH sessions USING PRIMARY \
             KEY (id=?); SEARCH own USING PRIMARY KEY (project=? AND name=?); SEARCH other USING COVERING INDEX \
             work_names_by_work (work=?)",
        ),
        (
            sessions::MAY_NAME_FILE.to_owned(),
            "CO-ROUTINE named; MERGE (UNION); LEFT; SEARCH facts USING INDEX facts_of_files (value=?); USE TEMP B-TREE FOR \
             ORDER BY; RIGHT; SEARCH sets USING PRIMARY KEY (session>?); SCAN named; SEARCH sessions USING PRIMARY KEY \
             (id=?)",
        ),
        (
            sessions::ATTACHED.sql(DamagedRow::Refuse),
            "SEARCH attachments USING INDEX attachments_by_agent (agent=? AND agent_session=?)",
        ),
        ("DELETE FROM receipts WHERE at < ?1".to_owned(), "SEARCH receipts USING INDEX receipts_by_age (at<?)"),
    ] {
        assert_eq!(plan(&sql), expected, "{sql}");
    }
}
