//! One flipped bit in the head of any page: the store opens, says what is damaged and serves the rest.

use std::fs;
use std::path::{Path, PathBuf};

use model::Incarnation;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::conformance::{batch, stream, text_part};
use crate::outside::Depth;
use crate::prelude::*;
use crate::sqlite::tests::flips::{PAGE_BYTES, Told, is_told, restore, tell};
use crate::sqlite::tests::outside::{check, scribble, told, write_remembered, write_sample};
use crate::sqlite::tests::{folder, open_at};
use crate::{AppendError, OpenError, SqliteStore};

/// Where in the head of a page stand its kind, its first free block, how many cells it has (two bytes) and, of one that has
/// others below it, the last of those.
const HEAD: [usize; 5] = [0, 1, 3, 4, 8];

/// Before the first page's own head stands the file's.
const FILE_HEAD_BYTES: usize = 100;

/// What became of the store that lies at `path`.
#[derive(Debug, PartialEq)]
enum Became {
    Whole,
    /// Something is lost, and said to be.
    Said,
    /// All that can be read is served, and what is written is refused and said to be.
    ReadOnly,
    /// Nothing can be read without the page.
    Refused,
}

async fn start(path: &Path, expected: &Told) -> Result<Became, String> {
    let store = match SqliteStore::open(path, Incarnation::from_bits(1)) {
        Ok(store) => store,
        Err(OpenError::Damaged { .. }) => return Ok(Became::Refused),
        Err(err) => return Err(format!("{err}: {err:?}")),
    };
    let told = serve(path, &store, expected).await;
    store.close().await;
    told
}

/// Asks what a server asks before it listens.
async fn serve(path: &Path, store: &SqliteStore, expected: &Told) -> Result<Became, String> {
    let failed = |what: &str, err: crate::ReadError| format!("{what}: {err:?}");
    store.changed_since(model::Position(u64::MAX), 1).await.map_err(|err| failed("the log's end", err))?;
    let tokens = store.tokens().await.map_err(|err| failed("tokens", err))?;
    let remembered = store.remembered().await.map_err(|err| failed("remembered", err))?;
    store.unsettled().await.map_err(|err| failed("unsettled", err))?;
    store.unbegun().await.map_err(|err| failed("unbegun", err))?;
    let whole = is_told(path, store, expected).await?;
    if whole && (tokens.len(), remembered.len()) != (1, 1) {
        return Err(format!("{tokens:?} {remembered:?}"));
    }
    match store.append(batch([text_part(stream(9), 0, &["new"])])).await {
        Ok(_) if whole => Ok(Became::Whole),
        Ok(_) => Ok(Became::Said),
        // The page that takes the log's next entry.
        Err(AppendError::Fenced(_)) => Ok(Became::ReadOnly),
        Err(err) => Err(format!("a new session: {err:?}")),
    }
}

/// A store with rows of every kind and no free pages: where it is, its bytes, and what it tells.
async fn sample() -> (TempDir, PathBuf, Vec<u8>, Told) {
    let (folder, path) = folder();
    write_sample(&path).await;
    write_remembered(&path).await;
    // The times of the migrations are all that differs from run to run.
    scribble(&path, "UPDATE refinery_schema_history SET applied_on = '2026-01-01T00:00:00Z'; VACUUM");
    let sound = fs::read(&path).unwrap();
    let expected = tell(&open_at(&path)).await;
    (folder, path, sound, expected)
}

#[tokio::test]
async fn a_torn_page_keeps_no_store_from_opening_but_one_of_its_schema() {
    let (_folder, path, sound, expected) = sample().await;
    let (mut whole, mut said, mut read_only, mut refused) = (0, 0, 0, 0);
    for (n, page) in sound.chunks(PAGE_BYTES).enumerate() {
        let of_schema = n == 0 || page.windows(7).any(|part| part == b"CREATE ");
        let head = n * PAGE_BYTES + if n == 0 { FILE_HEAD_BYTES } else { 0 };
        for byte in HEAD {
            let bit = (n + byte) % 8;
            let mut bytes = sound.clone();
            bytes[head + byte] ^= 1 << bit;
            restore(&path, &bytes);
            match start(&path, &expected).await {
                Ok(Became::Whole) => whole += 1,
                Ok(Became::Said) => said += 1,
                Ok(Became::ReadOnly) => read_only += 1,
                Ok(Became::Refused) if of_schema => refused += 1,
                became => panic!("bit {bit} of byte {byte} of page {}: {became:?}", n + 1),
            }
        }
    }
    // No exact numbers: SQLite reads past some damage that a check in the background may meet first, so that the same bit is
    // whole in one run and said in another. Most of the file is made anew from the log; what else can happen does happen.
    let tried = whole + said + read_only + refused;
    assert!(whole * 5 >= tried * 4, "{whole} of {tried} whole");
    assert!(said > 0 && read_only > 0 && refused > 0, "{said} said, {read_only} read-only, {refused} refused");
}

/// SQLite's own check calls such a page sound, and every question that reads it fails.
#[tokio::test]
async fn an_empty_page_that_claims_to_have_others_below_it_is_found_and_made_anew() {
    let (_folder, path, sound, expected) = sample().await;
    let is_empty_leaf = |page: &[u8]| matches!(page[0], 0x0a | 0x0d) && page[3..5] == [0, 0];
    let mut tried = 0;
    for (n, _) in sound.chunks(PAGE_BYTES).enumerate().filter(|(_, page)| is_empty_leaf(page)) {
        let mut bytes = sound.clone();
        bytes[n * PAGE_BYTES] ^= 0x08;
        restore(&path, &bytes);
        let report = check(&path, Depth::All);
        assert!(report.is_damaged(), "page {}: {:?}", n + 1, told(&report));
        assert_eq!(start(&path, &expected).await, Ok(Became::Whole), "page {}", n + 1);
        assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "page {}", n + 1);
        tried += 1;
    }
    assert!(tried > 10, "{tried}");
}

/// Changes the kind of a table's first page behind everybody's back.
pub(super) fn tear(path: &Path, table: &str) {
    let place = "SELECT (rootpage - 1) * page_size FROM sqlite_schema, pragma_page_size WHERE name = ?1";
    let at: i64 = Connection::open(path).unwrap().query_row(place, [table], |row| row.get(0)).unwrap();
    let mut bytes = fs::read(path).unwrap();
    bytes[usize::try_from(at).unwrap()] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// The same while the server runs: whoever meets the page has it given up, and writing goes on.
#[tokio::test]
async fn a_table_whose_page_is_torn_while_the_server_runs_is_made_anew() {
    for table in ["tokens", "remembered", "sessions", "sessions_by_activity", "turns", "streams"] {
        let (_folder, path) = folder();
        write_sample(&path).await;
        write_remembered(&path).await;
        let expected = tell(&open_at(&path)).await;
        let store = open_at(&path);
        tear(&path, table);
        assert_eq!(serve(&path, &store, &expected).await, Ok(Became::Whole), "{table}");
        store.close().await;
        // The next start takes the pages out of the file that nothing leads to any more.
        let store = open_at(&path);
        assert_eq!(tell(&store).await.sessions, expected.sessions, "{table}");
        store.close().await;
        assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new(), "{table}");
    }
}
