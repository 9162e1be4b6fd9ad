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
    ATTACHMENTS, CONTEXT_ENTRIES, NEXT_BLOCKS, PROMPTS, RECEIPTS, REMEMBERED, SESSIONS, STREAMS, TOKENS, TURNS, USAGE,
    WORK_NAMES, WORKS,
};

/// The first schema whose rows have checksums.
const CHECKSUMS_SINCE: i64 = 10;

impl Table {
    /// The statement that writes a row with its checksum.
    pub(crate) fn put_sql(&self) -> String {
        let (name, columns) = (self.name, self.columns());
        let values = (0..=columns.split(',').count()).map(|n| format!("?{}", n + 1)).collect::<Vec<_>>().join(", ");
        format!("INSERT OR REPLACE INTO {name} ({columns}, checksum) VALUES ({values})")
    }

    /// A condition: the first columns have these values.
    pub(super) fn key_is(&self, count: usize) -> String {
        let columns = (1..).zip(self.columns().split(", ").take(count));
        columns.map(|(n, column)| format!("{column} = ?{n}")).collect::<Vec<_>>().join(" AND ")
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
        let columns: Vec<String> = self.columns().split(", ").map(|column| format!("{}.{column}", self.name)).collect();
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

    /// Gives a row that is there these values: only columns that differ are written, and the checksum. The others are not
    /// written again, nor are the indexes over them. Returns false if there is no such row.
    ///
    /// What is stored is compared as it stands, so a damaged value is one that differs.
    pub(super) fn put_over(&self, conn: &Connection, key: usize, values: &Values<'_>) -> Result<bool> {
        let sql = format!("SELECT {} FROM {} WHERE {}", self.columns(), self.name, self.key_is(key));
        let mut stored = conn.prepare_cached(&sql)?;
        let mut rows = stored.query(params_from_iter(&values[..key]))?;
        let Some(row) = rows.next()? else { return Ok(false) };
        let is_stored = |(index, value)| Ok(row.get_ref(index)? == as_stored(value));
        let same: Vec<bool> = values.iter().enumerate().map(is_stored).collect::<Result<_>>()?;
        drop(rows);
        self.write_changed(conn, key, &same, values)?;
        Ok(true)
    }

    /// Changes those columns of a row that differ, and its checksum with them.
    pub(super) fn change(&self, conn: &Connection, key: usize, before: &Values<'_>, after: &Values<'_>) -> Result<()> {
        let same: Vec<bool> = before.iter().zip(after).map(|(before, after)| before == after).collect();
        self.write_changed(conn, key, &same, after)
    }

    /// Writes the columns that are not the same, and the checksum, in one statement. The first columns are the key, and stay.
    fn write_changed(&self, conn: &Connection, key: usize, same: &[bool], values: &Values<'_>) -> Result<()> {
        let mut params: Vec<&ToSqlOutput<'_>> = values[..key].iter().collect();
        let mut sql = format!("UPDATE {} SET ", self.name);
        for ((column, value), _) in self.columns().split(", ").zip(values).zip(same).filter(|(_, same)| !**same) {
            params.push(value);
            sql += &format!("{column} = ?{}, ", params.len());
        }
        if params.len() == key {
            return Ok(());
        }
        let sum = sum_of(values).into();
        params.push(&sum);
        sql += &format!("checksum = ?{} WHERE {}", params.len(), self.key_is(key));
        conn.prepare_cached(&sql)?.execute(params_from_iter(params))?;
        Ok(())
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
