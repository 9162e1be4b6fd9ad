//! What the machine and the bare engine do without us: the other side of every ratio about writing.
//!
//! Invariant: they guarantee as much as we do. Each write is flushed before the next begins.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};
use rusqlite::{Connection, params};

use crate::statistics::Latencies;

const BLOCK: usize = 4096;
const BLOCKS: u64 = 4096;

/// Overwrites 4 kB, then fdatasync: no file grows, so only the data goes to the disk.
pub(crate) struct Overwrite {
    file: File,
    next: u64,
}

impl Overwrite {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let file = File::create(folder.join("overwrite")).context("could not make the file to overwrite")?;
        for block in 0..BLOCKS {
            file.write_all_at(&[1; BLOCK], block * BLOCK as u64)?;
        }
        file.sync_all()?;
        Ok(Self { file, next: 0 })
    }

    pub(crate) fn write(&mut self, times: usize) -> Result<Latencies> {
        let mut latencies = Latencies::default();
        for _ in 0..times {
            let started = Instant::now();
            self.file.write_all_at(&[2; BLOCK], self.next % BLOCKS * BLOCK as u64)?;
            self.file.sync_data()?;
            latencies.push(started.elapsed());
            self.next += 1;
        }
        Ok(latencies)
    }
}

/// Appends a line to a file, then fdatasync: the cost of durable transcripts in plain files.
pub(crate) struct JsonLines(File);

impl JsonLines {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(folder.join("lines.jsonl"));
        Ok(Self(file.context("could not make the file of lines")?))
    }

    pub(crate) fn write(&mut self, lines: &[Vec<u8>]) -> Result<Latencies> {
        let mut latencies = Latencies::default();
        for line in lines {
            let started = Instant::now();
            self.0.write_all(&[line.as_slice(), b"\n"].concat())?;
            self.0.sync_data()?;
            latencies.push(started.elapsed());
        }
        Ok(latencies)
    }
}

/// One table with one unique index in the bare engine, configured like ours: WAL, flushed at every commit.
pub(crate) struct BareSqlite {
    conn: Connection,
    seq: i64,
}

impl BareSqlite {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let conn = Connection::open(folder.join("bare.db")).context("could not make the bare database")?;
        conn.pragma_update(None, "journal_mode", "WAL")?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.execute_batch(
            "CREATE TABLE log (
                 position INTEGER PRIMARY KEY,
                 session INTEGER NOT NULL,
                 seq INTEGER NOT NULL,
                 event BLOB NOT NULL,
                 UNIQUE (session, seq)
             )",
        )?;
        Ok(Self { conn, seq: 0 })
    }

    /// Writes them in transactions of `per_commit`; returns a latency for each commit.
    pub(crate) fn write(&mut self, events: &[Vec<u8>], per_commit: usize) -> Result<Latencies> {
        let mut latencies = Latencies::default();
        for some in events.chunks(per_commit) {
            let started = Instant::now();
            let transaction = self.conn.transaction()?;
            {
                let mut insert =
                    transaction.prepare_cached("INSERT INTO log (session, seq, event) VALUES (?1, ?2, ?3)")?;
                for event in some {
                    self.seq += 1;
                    insert.execute(params![self.seq % 64, self.seq, event])?;
                }
            }
            transaction.commit()?;
            latencies.push(started.elapsed());
        }
        Ok(latencies)
    }

    /// Reads every event in the order of its session, as a replay does; returns how many there were.
    pub(crate) fn read(&self) -> Result<usize> {
        let mut select = self.conn.prepare_cached("SELECT seq, event FROM log WHERE session = ?1 ORDER BY seq")?;
        let mut bytes = 0;
        let mut count = 0;
        for session in 0..64_i64 {
            let mut rows = select.query([session])?;
            while let Some(row) = rows.next()? {
                bytes += row.get::<_, Vec<u8>>(1)?.len();
                count += 1;
            }
        }
        std::hint::black_box(bytes);
        Ok(count)
    }
}
