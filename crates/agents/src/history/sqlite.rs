//! Reads databases of other tools: the only code outside of `store` that knows SQLite.
//!
//! Invariant: a database is only read, in one transaction, so that the rows are consistent. One that nobody has open
//! is read without a lock and without files of our own beside it. One that is in use is read as any other reader
//! would: SQLite notes the reader in the shared memory, and writes nothing else.

use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::{HistoryError, lines};

/// How long to wait for a writer.
const BUSY: Duration = Duration::from_secs(2);

/// What has a meaning of its own in an address of SQLite.
const ENCODED: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#');

pub(super) struct Database(Connection);

/// A row of a result.
pub(super) struct Row<'a>(&'a rusqlite::Row<'a>);

impl Database {
    pub(super) fn open(path: &Path) -> Result<Self, HistoryError> {
        // It must be a file and no link.
        drop(lines::open(path)?);
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let is_in_use = std::fs::metadata(&log).is_ok_and(|log| log.len() > 0);
        let path = percent_encode(path.as_os_str().as_bytes(), ENCODED);
        let uri = format!("file:{path}?mode=ro{}", if is_in_use { "" } else { "&immutable=1" });
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(uri, flags).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        connection.execute_batch("PRAGMA query_only = ON; BEGIN").map_err(failed)?;
        Ok(Self(connection))
    }

    /// Passes each row to `take` until it breaks. Parameters are bound as text; the SQL casts numbers.
    pub(super) fn each(
        &self,
        sql: &str,
        values: &[&str],
        mut take: impl FnMut(Row<'_>) -> ControlFlow<()>,
    ) -> Result<(), HistoryError> {
        let mut statement = self.0.prepare_cached(sql).map_err(failed)?;
        let mut rows = statement.query(params_from_iter(values)).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            if take(Row(row)).is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Row<'_> {
    /// The text in this column; `None` if it is no text.
    pub(super) fn text(&self, column: usize) -> Option<&str> {
        match self.0.get_ref(column) {
            Ok(ValueRef::Text(text)) => std::str::from_utf8(text).ok(),
            Ok(_) | Err(_) => None,
        }
    }

    pub(super) fn number(&self, column: usize) -> Option<i64> {
        match self.0.get_ref(column) {
            Ok(ValueRef::Integer(number)) => Some(number),
            Ok(_) | Err(_) => None,
        }
    }
}

fn failed(error: rusqlite::Error) -> HistoryError {
    HistoryError::Database(Box::new(error))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn a_database_may_have_any_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in [&b"plain.db"[..], b"a b%20?c=d#e&f.db", "ä🧵.db".as_bytes(), b"\xff\xfe\n.db"] {
            let path = folder.path().join(OsStr::from_bytes(name));
            Connection::open(&path)
                .unwrap()
                .execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES ('found')")
                .unwrap();
            let mut found = Vec::new();
            let read = Database::open(&path).unwrap().each("SELECT a FROM t", &[], |row| {
                found.extend(row.text(0).map(str::to_owned));
                ControlFlow::Continue(())
            });
            read.unwrap();
            assert_eq!(found, ["found"], "{}", path.display());
        }
    }
}
