//! What the tables answer: each question goes to a thread that reads.
//!
//! Invariant: every row that is shown was verified in the same moment.

pub(super) mod outputs;
pub(super) mod sessions;
pub(super) mod usage;
pub(super) mod works;

use model::SessionId;
use rusqlite::{Connection, OptionalExtension as _, Params, Result, Row};

use crate::ReadError;
use crate::rows::{Table, TableRow};
use crate::sqlite::SqliteStore;
use crate::sqlite::checksums::{DamagedRow, SESSIONS, whole};
use crate::sqlite::rows::{read_row, session_id};

/// What is asked of one table: which of its rows, what of them, and in which order. `which` and `order` are SQL.
pub(super) struct List<T: 'static> {
    table: &'static Table,
    show: Show,
    read: fn(&Row<'_>) -> Result<T>,
    which: &'static str,
    order: &'static str,
}

/// What is shown of a row.
enum Show {
    /// All of it.
    Row,
    /// These columns.
    Columns(&'static str),
    /// All of it, and this behind it.
    RowAnd(&'static str),
}

impl<R: TableRow> List<R> {
    /// Whole rows.
    pub(super) const fn rows(table: &'static Table, which: &'static str, order: &'static str) -> Self {
        Self { table, show: Show::Row, read: read_row, which, order }
    }
}

impl List<SessionId> {
    /// The ids of sessions.
    const fn ids(which: &'static str, order: &'static str) -> Self {
        Self { table: &SESSIONS, show: Show::Columns("id"), read: session_id, which, order }
    }
}

impl<T> List<T> {
    pub(super) fn sql(&self, damaged: DamagedRow) -> String {
        let Self { table, which, order, .. } = self;
        let columns = match self.show {
            Show::Row => table.all_checked(),
            Show::Columns(columns) => table.checked(columns),
            Show::RowAnd(also) => table.checked(&format!("{}, {also}", table.columns())),
        };
        format!("SELECT {columns} FROM {} WHERE {which} {} {order}", table.name, damaged.and_whole(table))
    }

    /// All that the list has.
    fn list(&self, conn: &Connection, damaged: DamagedRow, params: impl Params) -> Result<Vec<T>, ReadError> {
        let mut statement = conn.prepare_cached(&self.sql(damaged))?;
        Ok(statement.query_map(params, |row| whole(row, self.read))?.collect::<Result<_>>()?)
    }

    /// All that it has, unless one of its rows is damaged.
    pub(super) fn all(&self, conn: &Connection, params: impl Params) -> Result<Vec<T>, ReadError> {
        self.list(conn, DamagedRow::Refuse, params)
    }

    /// The first that it has.
    pub(super) fn first(&self, conn: &Connection, params: impl Params) -> Result<Option<T>, ReadError> {
        let mut statement = conn.prepare_cached(&self.sql(DamagedRow::Refuse))?;
        Ok(statement.query_row(params, |row| whole(row, self.read)).optional()?)
    }
}

impl SqliteStore {
    /// Asks for a list of what belongs to many sessions; see [`SqliteStore::ask_list`].
    async fn list<T: Send>(
        &self,
        list: &'static List<T>,
        params: impl Params + Clone + Send + 'static,
    ) -> Result<Vec<T>, ReadError> {
        self.ask_list(move |conn, damaged| list.list(conn, damaged, params)).await
    }

    async fn all<T: Send>(
        &self,
        list: &'static List<T>,
        params: impl Params + Clone + Send + 'static,
    ) -> Result<Vec<T>, ReadError> {
        self.ask(move |conn| list.all(conn, params)).await
    }

    async fn first<T: Send>(
        &self,
        list: &'static List<T>,
        params: impl Params + Clone + Send + 'static,
    ) -> Result<Option<T>, ReadError> {
        self.ask(move |conn| list.first(conn, params)).await
    }
}

/// All rows of a table that belong to one session.
pub(super) fn of_session<R: TableRow>(conn: &Connection, session: SessionId) -> Result<Vec<R>, ReadError> {
    let table = R::table();
    let sql = format!("SELECT {} FROM {} WHERE {}", table.all_checked(), table.name, table.key_is(1));
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([session.as_bytes()], |row| whole(row, read_row))?;
    Ok(rows.collect::<Result<_>>()?)
}

fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Before the first id stands one that is shorter than any.
fn id_before(after: Option<SessionId>) -> Vec<u8> {
    after.map(|id| id.as_bytes().to_vec()).unwrap_or_default()
}
