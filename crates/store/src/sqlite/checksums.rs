//! Checksums of the rows beside the log, as entries have theirs: one flipped bit must not pass for what was written.
//!
//! Invariant: whoever writes a row of these tables writes its checksum in the same statement or the same transaction, and
//! a row that was damaged before is never given a new one, which would pass the damage off as whole.

use crc32fast::Hasher;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, Error, Params, Result, Row, ToSql, params_from_iter};

use crate::rows::Values;

pub(super) use crate::rows::Table;
pub(super) use crate::rows::columns::{
    APPLET_GRANTS, ATTACHMENTS, BODIES, CONTEXT_ENTRIES, NEXT_BLOCKS, OUTPUTS, PROMPTS, RECEIPTS, REMEMBERED, SESSIONS,
    STREAMS, TOKENS, TURNS, USAGE, WORK_NAMES, WORKS,
};

/// The first schema whose rows have checksums.
const CHECKSUMS_SINCE: i64 = 10;

impl Table {
    /// The statement that writes a row with its checksum.
    pub(crate) fn put_sql(&self) -> String {
        let (name, columns, values) = (self.name, self.columns(), "?, ".repeat(self.names().len()));
        format!("INSERT OR REPLACE INTO {name} ({columns}, checksum) VALUES ({values}?)")
    }

    /// A condition: the first columns have these values.
    pub(super) fn key_is(&self, count: usize) -> String {
        self.names()[..count].join(" = ? AND ") + " = ?"
    }

    /// An expression: the row is the one that was written. In a store of a schema without checksums nobody can tell. A later column
    /// was empty when a checksum was made without it, and adds nothing to one.
    pub(super) fn is_whole(&self, schema: i64) -> String {
        match has_checksums(schema) {
            true => format!("{}.checksum IS row_sum({})", self.name, self.stored_in(schema)),
            false => "1".to_owned(),
        }
    }

    /// The same in a statement over several tables, whose columns may have the same names.
    pub(super) fn is_whole_among_others(&self) -> String {
        let columns: Vec<String> = self.names().iter().map(|column| format!("{}.{column}", self.name)).collect();
        format!("{}.checksum IS row_sum({})", self.name, columns.join(", "))
    }

    /// Refuses if one of these rows is not the one that was written: for questions whose answer rests on rows that they do not
    /// show. `which` is SQL.
    pub(super) fn verify(&self, conn: &Connection, which: &str, params: impl Params) -> Result<()> {
        let sql = format!("SELECT 1 FROM {} WHERE {which} AND NOT ({})", self.name, self.is_whole(i64::MAX));
        match conn.prepare_cached(&sql)?.exists(params)? {
            true => Err(row_damage(0)),
            false => Ok(()),
        }
    }

    /// Writes a row with its checksum; the values are those of `columns`.
    pub(super) fn put(&self, conn: &Connection, mut values: Values<'_>) -> Result<()> {
        values.push(sum_of(&values).into());
        conn.prepare_cached(&self.put)?.execute(params_from_iter(values))?;
        Ok(())
    }

    /// The columns of a row, and behind them whether it is the one that was written.
    pub(super) fn checked(&self, columns: &str) -> String {
        format!("{columns}, {}", self.is_whole(i64::MAX))
    }

    /// All of them.
    pub(super) fn all_checked(&self) -> String {
        self.checked(self.columns())
    }

    /// The statement that finds a row by its first columns, which are always the same number of them.
    pub(super) fn find_sql(&self, key: usize) -> &str {
        self.find.get_or_init(|| format!("SELECT {} FROM {} WHERE {}", self.all_checked(), self.name, self.key_is(key)))
    }

    /// Writes those columns of a row that have changed, and its checksum, in one statement. The others are not written again, nor
    /// are the indexes over them. The first columns are the key, and stay. Returns false if there is no such row.
    ///
    /// The checksum is that of the values, so a row that is damaged in another column stays damaged.
    pub(super) fn change(&self, conn: &Connection, key: usize, changed: &[bool], values: &Values<'_>) -> Result<bool> {
        if !changed.contains(&true) {
            return Ok(true);
        }
        let columns = self.names().iter().zip(values).zip(changed).filter(|(_, changed)| **changed);
        let (names, mut params): (Vec<&str>, Vec<&ToSqlOutput<'_>>) = columns.map(|(column, _)| column).unzip();
        let sum = sum_of(values).into();
        params.push(&sum);
        params.extend(&values[..key]);
        let (table, set, key) = (self.name, names.join(" = ?, "), self.key_is(key));
        let sql = format!("UPDATE {table} SET {set} = ?, checksum = ? WHERE {key}");
        Ok(conn.prepare_cached(&sql)?.execute(params_from_iter(params))? > 0)
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
        let (name, columns) = (self.name, self.columns());
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
        let (name, columns) = (self.name, self.columns());
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
        Ok(row_sum((0..context.len()).map(|n| context.get_raw(n))))
    })
}

/// The checksum of a row with these values.
fn sum_of(values: &Values<'_>) -> i64 {
    row_sum(values.iter().map(as_stored))
}

/// A value as a row has it once it is written.
fn as_stored<'a>(value: &'a ToSqlOutput<'_>) -> ValueRef<'a> {
    match value {
        ToSqlOutput::Borrowed(value) => *value,
        ToSqlOutput::Owned(value) => value.into(),
        _ => unreachable!("cells are written as plain values"),
    }
}

fn row_sum<'a>(values: impl Iterator<Item = ValueRef<'a>>) -> i64 {
    let mut hasher = Hasher::new();
    for (n, value) in values.enumerate() {
        let column = u8::try_from(n).unwrap_or(u8::MAX);
        match value {
            ValueRef::Null => (),
            ValueRef::Integer(number) => {
                hasher.update(&[1, column]);
                hasher.update(&number.to_le_bytes());
            }
            // No column holds one, unless one bit of an integer's type is flipped: then the sum is another.
            ValueRef::Real(number) => {
                hasher.update(&[4, column]);
                hasher.update(&number.to_bits().to_le_bytes());
            }
            ValueRef::Text(bytes) => update_with_bytes(&mut hasher, [2, column], bytes),
            ValueRef::Blob(bytes) => update_with_bytes(&mut hasher, [3, column], bytes),
        }
    }
    i64::from(hasher.finalize().max(1))
}

fn update_with_bytes(hasher: &mut Hasher, head: [u8; 2], bytes: &[u8]) {
    hasher.update(&head);
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
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
            Self::LeaveOut => format!("AND {}", table.is_whole(i64::MAX)),
        }
    }
}
