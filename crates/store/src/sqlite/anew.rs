//! Gives new pages to tables and indexes whose own can not be read, not even to be emptied.
//!
//! Invariant: nothing of the old pages is read or freed, since either would meet the damage: the schema is made to forget them.
//! They stay in the file, unused, until it is written anew, and it is noted that there are such. What may be damaged is read by a
//! second connection, `look`: SQLite lets no transaction write that has met damage, even by reading. So `look` sees the store as it
//! was before the transaction of the caller's.

use rusqlite::types::Value;
use rusqlite::{Connection, Params, Result, params_from_iter};

use crate::sqlite::checksums::Table;
use crate::sqlite::meta;
use crate::sqlite::open::newest_schema;
use crate::sqlite::outside::is_damage;

/// Removes all rows of a table.
pub(super) fn empty(conn: &Connection, look: &Connection, table: &str) -> Result<()> {
    match is_torn(look, table)? {
        true => recreate(conn, table),
        false => conn.execute_batch(&format!("DELETE FROM {table}")),
    }
}

/// Makes the indexes of a table anew from its rows, which can be read.
pub(super) fn reindex(conn: &Connection, look: &Connection, table: &str) -> Result<()> {
    match is_torn(look, table)? {
        true => recreate_indexes(conn, table),
        false => conn.execute_batch(&format!("REINDEX {table}")),
    }
}

/// Whether the pages of a table or of its indexes are damaged, and not only what is written on them.
pub(super) fn is_torn(look: &Connection, table: &str) -> Result<bool> {
    let found = up_to_damage(look, &format!("PRAGMA integrity_check('{table}')"), |row| row.get::<_, String>(0))?;
    let is_of_pages = |line: &String| ["Tree ", "Page ", "Freelist", "***"].iter().any(|about| line.starts_with(about));
    Ok(found.is_empty() || found.iter().any(is_of_pages))
}

/// Makes a table anew, with its indexes and without rows.
pub(super) fn recreate(conn: &Connection, table: &str) -> Result<()> {
    let sql = "SELECT sql FROM sqlite_schema WHERE tbl_name = ?1 AND sql IS NOT NULL ORDER BY type = 'index'";
    let parts: Vec<String> = conn.prepare(sql)?.query_map([table], |row| row.get(0))?.collect::<Result<_>>()?;
    change_schema(conn, &format!("DELETE FROM sqlite_schema WHERE tbl_name = '{table}'"))?;
    for sql in parts {
        conn.execute_batch(&sql)?;
    }
    meta::note_lost_pages(conn)
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
    meta::note_lost_pages(conn)
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

/// Copies those rows of a table that are whole into the temporary table `kept`. They are read from both ends, so that a page
/// that can not be read takes no other with it.
pub(super) fn keep_whole(conn: &Connection, look: &Connection, table: &Table, key: &str) -> Result<()> {
    let (name, whole) = (table.name, table.is_whole(newest_schema()));
    // Not `AS SELECT`, which would open the table's pages.
    let columns = format!("{}, checksum", table.columns());
    conn.execute_batch(&format!(
        "CREATE TEMP TABLE kept ({columns});
         CREATE UNIQUE INDEX temp.kept_once ON kept ({key})"
    ))?;
    let backwards = key.split(", ").map(|column| format!("{column} DESC")).collect::<Vec<_>>().join(", ");
    for order in [key, &backwards] {
        let sql = format!("SELECT {columns} FROM main.{name} NOT INDEXED WHERE {whole} ORDER BY {order}");
        let mut statement = look.prepare(&sql)?;
        let count = statement.column_count();
        let values = vec!["?"; count].join(", ");
        let mut keep = conn.prepare(&format!("INSERT OR IGNORE INTO temp.kept VALUES ({values})"))?;
        let mut rows = statement.query([])?;
        let is_all = loop {
            match rows.next() {
                Ok(Some(row)) => {
                    let row: Vec<Value> = (0..count).map(|n| row.get(n)).collect::<Result<_>>()?;
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
pub(super) fn put_kept(conn: &Connection, table: &Table, which: &str, params: impl Params) -> Result<()> {
    let (name, columns) = (table.name, table.columns());
    let sql = format!(
        "INSERT INTO main.{name} ({columns}, checksum) SELECT {columns}, checksum FROM temp.kept WHERE {which}"
    );
    conn.execute(&sql, params)?;
    Ok(())
}

/// The rows that a question gives before it meets damage.
pub(super) fn up_to_damage<T>(
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
