//! The functions of this program that SQL may call, on every connection to a store.

use model::Author;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, Result};

use crate::sqlite::checksums;

/// Teaches a connection all of them.
pub(super) fn register(conn: &Connection) -> Result<()> {
    checksums::register(conn)?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    conn.create_scalar_function("old_prompt_words", 1, flags, |call| {
        Ok(old_prompt(call).map(|(_, words)| words.to_owned()))
    })?;
    conn.create_scalar_function("old_prompt_author", 1, flags, |call| {
        Ok(old_prompt(call).map(|(by, _)| serde_json::to_string(&by).expect("it holds only texts")))
    })
}

/// A prompt that waited when who wrote it still stood in front of its words, if it was another than a person; see V15. One
/// that is damaged is left to whoever reads it.
fn old_prompt<'a>(call: &'a Context<'_>) -> Option<(Author, &'a str)> {
    let text = call.get_raw(0).as_str().ok()?;
    Some(Author::of_old_prompt(text)).filter(|(by, _)| *by != Author::default())
}
