//! Gives new pages to tables and indexes whose own can not be read, not even to be emptied.
//!
//! Invariant: nothing of the old pages is read or freed, since either would meet the damage: the schema is made to forget them.
//! They stay in the file, unused, until it is written anew, and it is noted that there are such. What may be damaged is read by a
//! second connection, `look`: SQLite lets no transaction write that has met damage, even by reading. So `look` sees the store as it
//! was before the transaction of the caller's.

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, OptionalExtension as _, Params, Result, params_from_iter};

use crate::sqlite::meta::Todo;
use crate::sqlite::outside::is_damage;

/// Removes all rows of a table.
pub(in crate::sqlite) fn empty(conn: &Connection, look: &Connection, table: &str) -> Result<()> {
    match is_torn(look, table)? {
        true => recreate(conn, table),
        false => conn.execute_batch(&format!("DELETE FROM {table}")),
    }
}

/// Makes the indexes of a table anew from its rows, which can be read.
pub(in crate::sqlite) fn reindex(conn: &Connection, look: &Connection, table: &str) -> Result<()> {
    match is_torn(look, table)? {
        true => recreate_indexes(conn, table),
        false => conn.execute_batch(&format!("REINDEX {table}")),
    }
}

/// Whether the pages of a table or of its indexes are damaged, and not only what is written on them.
pub(in crate::sqlite) fn is_torn(look: &Connection, table: &str) -> Result<bool> {
    let found = up_to_damage(look, &format!("PRAGMA integrity_check('{table}')"), |row| row.get::<_, String>(0))?;
    let is_of_pages = |line: &String| ["Tree ", "Page ", "Freelist", "***"].iter().any(|about| line.starts_with(about));
    if found.is_empty() || found.iter().any(is_of_pages) {
        return Ok(true);
    }
    match find_hollow_root(look, Some(table)) {
        Err(err) if is_damage(&err) => Ok(true),
        hollow => Ok(hollow?.is_some()),
    }
}

/// A table or index, of this table or of any, whose first page says that others are below it and names none. One flipped bit makes
/// that of an empty page. Reading it fails, but `integrity_check` of SQLite 3.54.1 says that it is sound.
pub(in crate::sqlite) fn find_hollow_root(conn: &Connection, table: Option<&str>) -> Result<Option<String>> {
    // In this order, since `dbstat` walks all pages of every name that it is given.
    let sql = "SELECT part.name
        FROM sqlite_schema AS part CROSS JOIN dbstat ON dbstat.name = part.name
        WHERE part.tbl_name = coalesce(?1, part.tbl_name)
            AND dbstat.path = '/' AND dbstat.pagetype = 'internal' AND dbstat.ncell = 0";
    conn.query_row(sql, [table], |row| row.get(0)).optional()
}

/// Makes a table anew, with its indexes and without rows.
pub(in crate::sqlite) fn recreate(conn: &Connection, table: &str) -> Result<()> {
    let sql = "SELECT sql FROM sqlite_schema WHERE tbl_name = ?1 AND sql IS NOT NULL ORDER BY type = 'index'";
    let parts = texts(conn, sql, table)?;
    change_schema(conn, &format!("DELETE FROM sqlite_schema WHERE tbl_name = '{table}'"))?;
    for sql in parts {
        conn.execute_batch(&sql)?;
    }
    Todo::Vacuum.note(conn)
}

fn texts(conn: &Connection, sql: &str, table: &str) -> Result<Vec<String>> {
    conn.prepare(sql)?.query_map([table], |row| row.get(0))?.collect()
}

fn recreate_indexes(conn: &Connection, table: &str) -> Result<()> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE tbl_name = ?1 AND type = 'index'";
    let indexes: Vec<(String, Option<String>)> =
        conn.prepare(sql)?.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_>>()?;
    for (name, sql) in indexes {
        match sql {
            Some(sql) => {
                change_schema(conn, &format!("DELETE FROM sqlite_schema WHERE name = '{name}'"))?;
                conn.execute_batch(&sql)?;
            }
            None => recreate_unique(conn, table, &name)?,
        }
    }
    Todo::Vacuum.note(conn)
}

/// The index of a UNIQUE constraint has no statement that makes it: it gets the pages of one that is made for that.
fn recreate_unique(conn: &Connection, table: &str, name: &str) -> Result<()> {
    let sql = "SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(?1) ORDER BY seqno)";
    let columns: String = conn.query_row(sql, [name], |row| row.get(0))?;
    conn.execute_batch(&format!("CREATE UNIQUE INDEX made_anew ON {table} ({columns})"))?;
    change_schema(
        conn,
        &format!(
            "UPDATE sqlite_schema
             SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'made_anew')
             WHERE name = '{name}';
             DELETE FROM sqlite_schema WHERE name = 'made_anew'"
        ),
    )
}

fn change_schema(conn: &Connection, sql: &str) -> Result<()> {
    conn.execute_batch("PRAGMA writable_schema = ON")?;
    let changed = conn.execute_batch(sql);
    // Also forgets what the connection knew of the schema.
    conn.execute_batch("PRAGMA writable_schema = RESET")?;
    changed
}

/// Gives a table new pages with those of its rows that can be read.
pub(in crate::sqlite) fn salvage(conn: &Connection, look: &Connection, table: &str) -> Result<()> {
    keep(conn, look, table, "true")?;
    recreate(conn, table)?;
    put_kept(conn, table, "true", [])?;
    drop_kept(conn)
}

/// Copies rows of a table into the temporary table `kept`, some perhaps twice. They are read from both ends, so that a page that can
/// not be read takes no other with it. `which` is SQL.
pub(in crate::sqlite) fn keep(conn: &Connection, look: &Connection, table: &str, which: &str) -> Result<()> {
    let columns = texts(conn, "SELECT name FROM pragma_table_info(?1) ORDER BY cid", table)?.join(", ");
    let mut key = texts(conn, "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk", table)?;
    if key.is_empty() {
        key.push("rowid".to_owned());
    }
    // Not `AS SELECT`, which would open the table's pages.
    conn.execute_batch(&format!("CREATE TEMP TABLE kept ({columns})"))?;
    for order in [key.join(", "), key.join(" DESC, ") + " DESC"] {
        let sql = format!("SELECT {columns} FROM main.{table} NOT INDEXED WHERE {which} ORDER BY {order}");
        let mut statement = look.prepare(&sql)?;
        let count = statement.column_count();
        let values = vec!["?"; count].join(", ");
        let mut keep = conn.prepare(&format!("INSERT INTO temp.kept VALUES ({values})"))?;
        let mut rows = statement.query([])?;
        let is_all = loop {
            match rows.next() {
                Ok(Some(row)) => {
                    let row =
                        (0..count).map(|n| row.get_ref(n).map(ToSqlOutput::Borrowed)).collect::<Result<Vec<_>>>()?;
                    keep.execute(params_from_iter(row))?;
                }
                Ok(None) => break true,
                Err(err) if is_damage(&err) => break false,
                Err(err) => return Err(err),
            }
        };
        if is_all {
            break;
        }
    }
    Ok(())
}

/// Puts rows that were kept back. `which` is SQL.
pub(in crate::sqlite) fn put_kept(conn: &Connection, table: &str, which: &str, params: impl Params) -> Result<()> {
    conn.execute(&format!("INSERT OR IGNORE INTO main.{table} SELECT * FROM temp.kept WHERE {which}"), params)?;
    Ok(())
}

pub(in crate::sqlite) fn drop_kept(conn: &Connection) -> Result<()> {
    conn.execute_batch("DROP TABLE temp.kept")
}

/// The rows that a question gives before it meets damage.
pub(in crate::sqlite) fn up_to_damage<T>(
    look: &Connection,
    sql: &str,
    read: fn(&rusqlite::Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut found = Vec::new();
    let mut statement = look.prepare(sql)?;
    for row in statement.query_map([], read)? {
        match row {
            Ok(row) => found.push(row),
            Err(err) if is_damage(&err) => break,
            Err(err) => return Err(err),
        }
    }
    Ok(found)
}
