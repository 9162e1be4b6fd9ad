//! Makes a store as the first version of the schema left it after a kill, for `cargo xtask faults`: everything is still
//! in the write-ahead log. `cargo run -p store --example old_store -- PATH`

const V1: &str = include_str!("../../../fixtures/stores/v1.sql");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("which file?")?;
    let conn = rusqlite::Connection::open(path)?;
    conn.pragma_update(None, "journal_mode", "wal")?;
    conn.execute_batch(V1)?;
    // Closing would copy the log into the file and remove it.
    std::process::abort()
}
