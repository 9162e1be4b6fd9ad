//! Checksums of the rows beside the log, as entries have theirs: one flipped bit must not pass for what was written.
//!
//! Invariant: whoever writes a row of these tables writes its checksum in the same statement or the same transaction, and
//! a row that was damaged before is never given a new one, which would pass the damage off as whole.

use std::sync::LazyLock;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Error, Params, Result, Row, ToSql};

use crate::sqlite::columns;

/// A table whose rows have a checksum.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// What is summed, in this order. A column that is empty adds nothing, so a later one needs no new checksums.
    pub(super) columns: &'static str,
    put: LazyLock<String>,
}

/// The first schema whose rows have checksums.
const CHECKSUMS_SINCE: i64 = 10;

macro_rules! tables {
    ($($table:ident $name:literal: $columns:expr;)+) => {
        $(pub(super) static $table: Table = Table {
            name: $name,
            columns: $columns,
            put: LazyLock::new(|| put_sql($name, $columns)),
        };)+
    };
}

tables! {
    STREAMS "streams": "id, name, purged_at, sweeping, damaged_seq, damage";
    SESSIONS "sessions": columns::SESSION_COLUMNS;
    TURNS "turns": columns::TURN_COLUMNS;
    PROMPTS "prompts": "session, interaction, queued_seq, queued_at, text, images";
    SETS "sets": "session, name, marks";
    FACTS "facts": "session, name, value, shape, nth, turn, tool, entry, exit_code, file";
    CONTEXT_ENTRIES "context_entries": "session, seq";
    TITLES "titles": "session, slot, nth, title, made_by, turn, interaction, changed_at";
    ATTACHMENTS "attachments": columns::ATTACHMENT_COLUMNS;
    NEXT_BLOCKS "next_blocks": columns::NEXT_COLUMNS;
    WORKS "works": columns::WORK_COLUMNS;
    WORK_NAMES "work_names": columns::WORK_NAME_COLUMNS;
    TOKENS "tokens": columns::TOKEN_COLUMNS;
    REMEMBERED "remembered": columns::REMEMBERED_COLUMNS;
    RECEIPTS "receipts": columns::RECEIPT_COLUMNS;
}

/// The tables that are folded from the log and can be made again from it.
pub(super) static FOLDED: [&Table; 13] = [
    &SESSIONS,
    &TURNS,
    &PROMPTS,
    &SETS,
    &FACTS,
    &CONTEXT_ENTRIES,
    &TITLES,
    &ATTACHMENTS,
    &NEXT_BLOCKS,
    &WORKS,
    &WORK_NAMES,
    &TOKENS,
    &REMEMBERED,
];

fn put_sql(name: &str, columns: &str) -> String {
    let count = columns.split(',').count();
    let values = (1..=count).map(|n| format!("?{n}")).collect::<Vec<_>>().join(", ");
    format!("INSERT OR REPLACE INTO {name} ({columns}, checksum) VALUES ({values}, row_sum({values}))")
}

impl Table {
    /// An expression: the row is the one that was written. In a store of an old schema nobody can tell.
    pub(super) fn is_whole(&self, schema: i64) -> String {
        match has_checksums(schema) {
            true => format!("{}.checksum IS row_sum({})", self.name, self.columns),
            false => "1".to_owned(),
        }
    }

    /// Refuses if one of these rows is not the one that was written: for questions whose answer rests on rows that they do not
    /// show. `which` is SQL.
    pub(super) fn verify(&self, conn: &Connection, which: &str, params: impl Params) -> Result<()> {
        let sql = format!("SELECT 1 FROM {} WHERE {which} AND NOT ({})", self.name, self.is_whole(CHECKSUMS_SINCE));
        match conn.prepare_cached(&sql)?.exists(params)? {
            true => Err(row_damage(0)),
            false => Ok(()),
        }
    }

    /// Writes a row with its checksum; the parameters are those of `columns`.
    pub(super) fn put(&self, conn: &Connection, params: impl Params) -> Result<()> {
        conn.prepare_cached(&self.put)?.execute(params)?;
        Ok(())
    }

    /// The columns of a row, and behind them whether it is the one that was written.
    pub(super) fn checked(&self, columns: &str) -> String {
        format!("{columns}, {}", self.is_whole(CHECKSUMS_SINCE))
    }

    /// Changes a row, and its checksum with it. `set` and `key` are SQL, and the first parameters are the key's. A row that
    /// was damaged before stays so.
    pub(super) fn update(
        &self,
        conn: &Connection,
        set: &str,
        key: &str,
        key_params: &[&dyn ToSql],
        params: &[&dyn ToSql],
    ) -> Result<()> {
        let (name, columns) = (self.name, self.columns);
        // No row is left without a checksum, and none sums up to 0.
        let sql = format!(
            "UPDATE {name}
             SET {set}, checksum = CASE WHEN checksum IS row_sum({columns}) THEN NULL ELSE 0 END
             WHERE {key}"
        );
        let all: Vec<&dyn ToSql> = key_params.iter().chain(params).copied().collect();
        conn.prepare_cached(&sql)?.execute(all.as_slice())?;
        self.set_checksum(conn, key, key_params)
    }

    /// Gives a row its first checksum.
    pub(super) fn set_checksum(&self, conn: &Connection, key: &str, key_params: &[&dyn ToSql]) -> Result<()> {
        let (name, columns) = (self.name, self.columns);
        let sql = format!("UPDATE {name} SET checksum = row_sum({columns}) WHERE {key} AND checksum IS NULL");
        conn.prepare_cached(&sql)?.execute(key_params)?;
        Ok(())
    }
}

pub(super) fn has_checksums(schema: i64) -> bool {
    schema >= CHECKSUMS_SINCE
}

/// Teaches a connection the function that sums a row's values up.
pub(super) fn register(conn: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    conn.create_scalar_function("row_sum", -1, flags, |context| {
        let mut hasher = crc32fast::Hasher::new();
        for n in 0..context.len() {
            let (tag, bytes): (u8, &[u8]) = match context.get_raw(n) {
                ValueRef::Null => continue,
                ValueRef::Integer(number) => {
                    hasher.update(&[1, u8::try_from(n).unwrap_or(u8::MAX)]);
                    hasher.update(&number.to_le_bytes());
                    continue;
                }
                ValueRef::Real(_) => return Err(Error::InvalidFunctionParameterType(n, Type::Real)),
                ValueRef::Text(text) => (2, text),
                ValueRef::Blob(blob) => (3, blob),
            };
            hasher.update(&[tag, u8::try_from(n).unwrap_or(u8::MAX)]);
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        }
        Ok(i64::from(hasher.finalize().max(1)))
    })
}

/// A row that is not the one that was written.
#[derive(Debug, thiserror::Error)]
#[error("a row beside the log does not match its checksum")]
struct RowDamage;

/// Reads a row whose last column says whether it is whole; see [`Table::checked`].
pub(super) fn whole<T>(row: &Row<'_>, read: impl FnOnce(&Row<'_>) -> Result<T>) -> Result<T> {
    let last = row.as_ref().column_count() - 1;
    match row.get(last)? {
        true => read(row),
        false => Err(row_damage(last)),
    }
}

/// What is said of a row that is not the one that was written.
pub(super) fn row_damage(column: usize) -> Error {
    Error::FromSqlConversionFailure(column, Type::Null, Box::new(RowDamage))
}

/// What a list does about a row that is damaged and could not be made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DamagedRow {
    /// There is no list: it may still be made anew.
    Refuse,
    /// The list has all but this row.
    LeaveOut,
}

impl DamagedRow {
    /// SQL that goes on with a condition.
    pub(super) fn and_whole(self, table: &Table) -> String {
        match self {
            Self::Refuse => String::new(),
            Self::LeaveOut => format!("AND {}", table.is_whole(CHECKSUMS_SINCE)),
        }
    }
}
