//! Bringing an old store up to date: all or nothing, whenever the process ends.

use std::fs;
use std::path::Path;
use std::process::Command;

use fail::FailScenario;
use model::{Position, Request, StreamId};
use store::Head;
use store::outside::StoreFile;
use store::prelude::*;

use crate::{folder, open};

const V1: &str = include_str!("../../../../fixtures/stores/v1.sql");

/// Where the child of a test is told what to open.
const CHILD_STORE: &str = "THROUGHLINE_TEST_STORE";

fn make_v1(path: &Path) {
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.pragma_update(None, "journal_mode", "wal").unwrap();
    conn.execute_batch(V1).unwrap();
}

async fn is_whole(path: &Path) {
    let store = open(path);
    let entries = store.read_all(Position(0), 1_000).await.unwrap();
    assert_eq!(entries.len(), 29);
    let rows = store.sessions(model::Shelf::All, None, 10).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["cut off", "renamed"]);
    for row in rows {
        // What the first version knew nothing of.
        assert_eq!((row.agent_session, row.title.as_str(), row.untold), (None, "", model::Untold::Nothing));
        assert_eq!((row.open_requests.len(), row.requests), (0, Request(0)));
    }
    let unsettled = store.unsettled().await.unwrap();
    assert_eq!(unsettled.len(), 1);
    let cut_off = store.session(unsettled[0]).await.unwrap().unwrap();
    let waiting: Vec<_> = cut_off.queue.iter().map(|prompt| (prompt.text.as_str(), prompt.images.len())).collect();
    assert_eq!(waiting, [("say after that", 0)]);
    assert_eq!(store.tokens().await.unwrap().len(), 2);
    let purged: StreamId = "session/01a1ddbc-31eb-75c0-82b0-58411778fcc3".parse().unwrap();
    assert_eq!(store.head(purged).await.unwrap(), Head::Purged);
    store.close().await;
    assert!(!StoreFile::open(path).unwrap().is_older_than_program());
}

/// R24: a store of the first released version opens, with everything in it.
#[tokio::test]
async fn a_store_of_version_1_opens_for_ever() {
    let scenario = FailScenario::setup();
    let (_folder, path) = folder();
    make_v1(&path);
    assert!(StoreFile::open(&path).unwrap().is_older_than_program());
    is_whole(&path).await;
    is_whole(&path).await;
    scenario.teardown();
}

/// R24: killed before, between and after the steps of opening, the next start finds the old store or the new one.
#[tokio::test]
async fn a_migration_that_is_killed_starts_over() {
    let scenario = FailScenario::setup();
    for point in
        ["store-open-owned", "store-open-identified", "store-open-migrated", "store-open-filled", "store-open-begun"]
    {
        let (_folder, path) = folder();
        make_v1(&path);
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "migrations::dies_on_the_way", "--ignored", "--nocapture"])
            .env(CHILD_STORE, &path)
            .env("FAILPOINTS", format!("{point}=panic"))
            .output()
            .unwrap();
        assert!(!child.status.success(), "{point} was not reached: {}", String::from_utf8_lossy(&child.stdout));
        assert!(fs::metadata(&path).unwrap().len() > 0);
        is_whole(&path).await;
    }
    scenario.teardown();
}

/// Not a test of its own: the process that is killed.
#[test]
#[ignore = "run by a_migration_that_is_killed_starts_over"]
#[expect(clippy::disallowed_methods, reason = "how a parent tells its child")]
fn dies_on_the_way() {
    let scenario = FailScenario::setup();
    std::panic::set_hook(Box::new(|_| std::process::abort()));
    let path = std::env::var_os(CHILD_STORE).unwrap();
    open(Path::new(&path));
    scenario.teardown();
}
