//! Writes the rows that a change of them asks for, and receipts.
//!
//! Invariant: what a change means is said in `rows.rs`, so the tables are what the fold said and a rebuild from the log gives
//! the same rows. Every row is written with its checksum.

use model::{RowChange, SessionId, Timestamp, WorkId};
use rusqlite::{Connection, Error, ErrorCode, OptionalExtension as _, Params, Result, params_from_iter};

use crate::Receipt;
use crate::rows::{
    self, Cells as _, FoldedRow, KeepRows, Owner, ReceiptRow, TableRow, Values, cell_values, folded_tables,
};
use crate::sqlite::checksums::{WORK_NAMES, whole};
use crate::sqlite::outside::is_damage;
use crate::sqlite::rows::read_row;

pub(super) fn apply(conn: &Connection, change: &RowChange) -> Result<()> {
    rows::apply(&mut SqlRows(conn), change)
}

/// The tables of a store.
pub(super) struct SqlRows<'a>(pub(super) &'a Connection);

impl KeepRows for SqlRows<'_> {
    type Error = Error;

    fn put<R: FoldedRow>(&mut self, row: &R) -> Result<()> {
        put(self.0, row)
    }

    /// A row that is written whole is written into every index of its table again, changed or not.
    fn put_over<R: FoldedRow>(&mut self, before: &R, row: &R) -> Result<()> {
        match write_changed(self.0, before, row) {
            Ok(true) => Ok(()),
            // It is lost.
            Ok(false) => put(self.0, row),
            // It can not be found, or holds what its table does not allow: the whole row may still be written.
            Err(err) if is_damage(&err) || err.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                put(self.0, row)
            }
            Err(err) => Err(err),
        }
    }

    fn change<R: FoldedRow>(&mut self, key: R::Key, change: impl FnOnce(&mut R)) -> Result<()> {
        // One that was damaged before stays so, and is made anew from the log.
        let Stored::Whole(before) = stored::<R>(self.0, &key)? else { return Ok(()) };
        let mut after = before.clone();
        change(&mut after);
        write_changed(self.0, &before, &after).map(|_is_there| ())
    }

    fn remove<R: FoldedRow>(&mut self, key: &R::Key) -> Result<()> {
        let table = R::table();
        let sql = format!("DELETE FROM {} WHERE {}", table.name, table.key_is(R::Key::COUNT));
        run(self.0, &sql, params_from_iter(cell_values(key)))
    }

    fn forget_work_names(&mut self, work: WorkId) -> Result<()> {
        run(self.0, &format!("DELETE FROM {} WHERE work = ?1", WORK_NAMES.name), [work.as_bytes()])
    }
}

/// A row as it is stored.
enum Stored<R> {
    Whole(R),
    /// It is not the one that was written.
    Damaged,
    Nothing,
}

fn stored<R: FoldedRow>(conn: &Connection, key: &R::Key) -> Result<Stored<R>> {
    match conn
        .prepare_cached(R::table().find_sql(R::Key::COUNT))?
        .query_row(params_from_iter(cell_values(key)), |row| whole(row, read_row))
        .optional()
    {
        Ok(Some(row)) => Ok(Stored::Whole(row)),
        Ok(None) => Ok(Stored::Nothing),
        Err(
            Error::FromSqlConversionFailure(..)
            | Error::InvalidColumnType(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::Utf8Error(..),
        ) => Ok(Stored::Damaged),
        Err(err) => Err(err),
    }
}

fn values<R: TableRow>(row: &R) -> Values<'_> {
    // The checksum comes behind them.
    let mut values = Values::with_capacity(R::table().names().len() + 1);
    row.write(&mut values);
    values
}

/// Returns false if there is no such row.
fn write_changed<R: FoldedRow>(conn: &Connection, before: &R, after: &R) -> Result<bool> {
    R::table().change(conn, R::Key::COUNT, &after.changed_since(before), &values(after))
}

fn put<R: TableRow>(conn: &Connection, row: &R) -> Result<()> {
    R::table().put(conn, values(row))
}

/// Removes every row of a session, but not its stream's tombstone.
pub(super) fn remove_session(conn: &Connection, session: SessionId) -> Result<()> {
    for table in folded_tables().filter(|table| table.owner == Owner::Session) {
        run(conn, &format!("DELETE FROM {} WHERE {}", table.name, table.key_is(1)), [session.as_bytes()])?;
    }
    Ok(())
}

/// Writes a receipt down, with the session that it goes with.
pub(super) fn put_receipt(conn: &Connection, receipt: &Receipt, session: Option<SessionId>) -> Result<()> {
    let Receipt { principal, key, fingerprint, reply, at, holds_words: _ } = receipt.clone();
    put(conn, &ReceiptRow { principal, key, fingerprint, reply, at, session })
}

/// Removes the receipts that hold words of a session.
pub(super) fn forget_receipts_of(conn: &Connection, session: SessionId) -> Result<()> {
    run(conn, "DELETE FROM receipts WHERE session = ?1", [session.as_bytes()])
}

pub(super) fn forget_receipts(conn: &Connection, before: Timestamp) -> Result<()> {
    run(conn, "DELETE FROM receipts WHERE at < ?1", [before.as_millis()])
}

fn run<P: Params>(conn: &Connection, sql: &str, params: P) -> Result<()> {
    conn.prepare_cached(sql)?.execute(params)?;
    Ok(())
}
