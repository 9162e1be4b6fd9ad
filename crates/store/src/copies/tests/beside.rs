//! A database and its copies, one of which has lost something.

use std::fs;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use model::{Incarnation, Position, Timestamp};

use super::{begin, finish_turn, tree, written_anew};
use crate::conformance::{AnyStore, output, session_id};
use crate::copies::{BesideError, Copies, CopiesFound, CopyCursor, Depth, Phase, open_beside};
use crate::prelude::*;
use crate::{CopyError, PayloadFolder, PayloadName, Payloads as _, SqliteStore};

struct Home {
    _folder: tempfile::TempDir,
    path: PathBuf,
    copies: Copies,
}

fn incarnation(bits: u64) -> Incarnation {
    Incarnation::from_bits(bits)
}

impl Home {
    /// Three sessions in a database that is closed again, and their copies. Each is long enough for a batch of its own.
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("throughline.db");
        let home = Self { path, copies: Copies::at(folder.path().join("sessions")), _folder: folder };
        let store: AnyStore = Arc::new(SqliteStore::open(&home.path, incarnation(1)).unwrap());
        for n in 1..=3 {
            begin(&store, n).await;
            finish_turn(&store, n, 1, &"\u{1}".repeat(200_000)).await;
        }
        home.copy(&*store).await;
        home
    }

    async fn copy(&self, store: &dyn crate::Store) {
        for n in 1..=3 {
            self.copies.update(store, session_id(n), Depth::End).await.unwrap();
        }
        let position = store.changed_since(Position(0), 1_000).await.unwrap().up_to;
        let cursor = CopyCursor { position, phase: Phase::Following, ..CopyCursor::new(store.incarnation()) };
        self.copies.move_cursor(cursor).await.unwrap();
    }

    async fn open(&self) -> Result<(SqliteStore, CopiesFound), BesideError> {
        open_beside(&self.path, 0, &self.copies, Timestamp::from_millis(0), || incarnation(2)).await
    }

    fn lose_database(&self) {
        for suffix in ["", "-wal", "-shm", ".lock"] {
            drop(fs::remove_file(format!("{}{suffix}", self.path.display())));
        }
    }

    fn names(&self) -> Vec<String> {
        let inside = fs::read_dir(self.path.parent().unwrap()).unwrap();
        let mut names: Vec<_> = inside.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[tokio::test]
async fn a_database_and_its_copies_that_agree_are_left_as_they_are() {
    let home = Home::new().await;
    let (store, found) = home.open().await.unwrap();
    assert!(matches!(found, CopiesFound::Nothing), "{found:?}");
    assert_eq!(store.incarnation(), incarnation(1));
}

#[tokio::test]
async fn an_empty_database_is_filled() {
    let home = Home::new().await;
    let copies = tree(home.copies.path());
    home.lose_database();
    let (store, found) = home.open().await.unwrap();
    assert!(matches!(&found, CopiesFound::Empty(hydrated) if hydrated.sessions == 3), "{found:?}");
    assert_eq!(store.incarnation(), incarnation(2));
    assert_eq!(written_anew(&store, 4).await, copies);
    store.close().await;
    drop(store);
    assert_eq!(home.names(), ["sessions", "throughline.db", "throughline.db.lock"]);
    let (_, found) = home.open().await.unwrap();
    assert!(matches!(found, CopiesFound::Nothing), "it is filled once: {found:?}");
}

/// Broken off wherever it waits, the next start finds all or begins again; it never takes a part for the whole.
#[test]
fn filling_that_was_broken_off_is_begun_again() {
    // A runtime of its own for each life: its end waits until the store's threads have let go.
    let live = || tokio::runtime::Builder::new_current_thread().build().unwrap();
    let home = live().block_on(Home::new());
    let copies = tree(home.copies.path());
    let mut steps = 0;
    loop {
        home.lose_database();
        let whole = live().block_on(broken_off_after(steps, home.open())).is_some();
        live().block_on(async {
            let (store, _) = home.open().await.unwrap();
            assert_eq!(written_anew(&store, 4).await, copies, "broken off after {steps} steps");
        });
        assert_eq!(tree(home.copies.path()), copies);
        if whole {
            break;
        }
        steps += 1;
    }
    assert!(steps > 10, "it waits only {steps} times");
}

async fn broken_off_after<T>(steps: u32, work: impl Future<Output = Result<T, BesideError>>) -> Option<T> {
    let mut work = pin!(work);
    let mut polls = 0;
    std::future::poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done.unwrap())),
        Poll::Pending if polls == steps => Poll::Ready(None),
        Poll::Pending => {
            polls += 1;
            Poll::Pending
        }
    })
    .await
}

/// What a kill leaves while the other database is being filled.
#[tokio::test]
async fn a_half_filled_database_is_not_taken_up() {
    let home = Home::new().await;
    let copies = tree(home.copies.path());
    home.lose_database();
    let half = PathBuf::from(format!("{}.hydrating", home.path.display()));
    let store: AnyStore = Arc::new(SqliteStore::open(&half, incarnation(3)).unwrap());
    begin(&store, 1).await;
    // Not closed: its journal holds what it has.
    fs::copy(&half, half.with_extension("kept")).unwrap();
    fs::copy(format!("{}-wal", half.display()), home.path.with_extension("kept-wal")).unwrap();
    drop(store);
    fs::rename(half.with_extension("kept"), &half).unwrap();
    fs::rename(home.path.with_extension("kept-wal"), format!("{}-wal", half.display())).unwrap();
    let (store, _) = home.open().await.unwrap();
    assert_eq!(written_anew(&store, 4).await, copies);
}

#[tokio::test]
async fn a_database_with_nothing_but_copies_that_cannot_be_read_stays_empty() {
    let home = Home::new().await;
    home.lose_database();
    for n in 1..=3 {
        fs::remove_file(home.copies.path().join(session_id(n).to_string()).join("meta.json")).unwrap();
    }
    let (store, found) = home.open().await.unwrap();
    assert!(matches!(&found, CopiesFound::Empty(hydrated) if hydrated.skipped.len() == 3), "{found:?}");
    assert_eq!(store.sessions(model::Shelf::All, None, 10).await.unwrap(), []);
}

/// Puts an older state of the database back, as a careless restore does.
async fn put_back(home: &Home) -> Position {
    let older = fs::read(&home.path).unwrap();
    let store: AnyStore = Arc::new(SqliteStore::open(&home.path, incarnation(9)).unwrap());
    let known = store.changed_since(Position(0), 1_000).await.unwrap().up_to;
    finish_turn(&store, 2, 2, "lost").await;
    home.copy(&*store).await;
    drop(store);
    fs::write(&home.path, older).unwrap();
    known
}

fn is_told(found: &CopiesFound, copies: &super::Tree) {
    let CopiesFound::Loss { moved_to } = found else { panic!("{found:?}") };
    assert!(moved_to.ends_with("sessions.before-1970-01-01T00-00-00.000Z"), "{moved_to:?}");
    assert_eq!(tree(moved_to), *copies, "what may be the only copy is kept");
}

#[tokio::test]
async fn a_database_that_lost_entries_gets_a_new_life_and_the_copies_are_kept() {
    let home = Home::new().await;
    let known = put_back(&home).await;
    let copies = tree(home.copies.path());
    let (store, found) = home.open().await.unwrap();
    is_told(&found, &copies);
    assert!(!home.copies.path().exists());
    assert_eq!(store.incarnation(), incarnation(2), "old cursors are told apart from new ones");
    assert_eq!(store.changed_since(Position(0), 1_000).await.unwrap().up_to, known);
    home.copy(&store).await;
    store.close().await;
    drop(store);
    let (_, found) = home.open().await.unwrap();
    assert!(matches!(found, CopiesFound::Nothing), "{found:?}");
}

/// No copy can be written of a payload, so it is where the store looks for it, and with the copies that are kept.
#[tokio::test]
async fn payloads_of_copies_that_are_kept_aside_are_found_in_both_places() {
    let home = Home::new().await;
    let name = PayloadName::of(&output(7));
    let payloads = PayloadFolder::at(home.copies.path());
    payloads.put(session_id(2), &name, Box::new(&b"shown"[..]), 9).await.unwrap();
    put_back(&home).await;
    let (_, found) = home.open().await.unwrap();
    let CopiesFound::Loss { moved_to } = found else { panic!("{found:?}") };
    for folder in [home.copies.path(), &moved_to] {
        let read = PayloadFolder::at(folder).read(session_id(2), &name, 0, 9).await.unwrap();
        assert_eq!(read.as_deref(), Some(&b"shown"[..]), "{folder:?}");
    }
}

/// Nobody knows yet whether its session is purged, so the start finds them under the name that says so.
#[tokio::test]
async fn payloads_of_a_purge_that_was_cut_off_are_not_lost_with_the_copies() {
    let home = Home::new().await;
    let name = PayloadName::of(&output(7));
    let payloads = PayloadFolder::at(home.copies.path());
    payloads.put(session_id(2), &name, Box::new(&b"shown"[..]), 9).await.unwrap();
    put_back(&home).await;
    home.copies.put_away(session_id(2)).await.unwrap();
    let (store, found) = home.open().await.unwrap();
    assert!(matches!(found, CopiesFound::Loss { .. }), "{found:?}");
    assert_eq!(payloads.read(session_id(2), &name, 0, 9).await.unwrap(), None);
    home.copies.settle_purges(&store).await.unwrap();
    assert_eq!(payloads.read(session_id(2), &name, 0, 9).await.unwrap().as_deref(), Some(&b"shown"[..]));
}

/// What is told of the works may be all that is left of them, too.
#[tokio::test]
async fn the_works_of_copies_that_are_kept_aside_are_kept() {
    let home = Home::new().await;
    put_back(&home).await;
    let works = home.copies.works_path();
    fs::create_dir(works.parent().unwrap()).unwrap();
    fs::write(&works, "kept").unwrap();
    let copies = tree(home.copies.path());
    let (_, found) = home.open().await.unwrap();
    is_told(&found, &copies);
    assert!(!works.exists());
    let aside = works.with_file_name("meta-contexts.json.before-1970-01-01T00-00-00.000Z");
    assert_eq!(fs::read_to_string(aside).unwrap(), "kept");
}

/// Between its steps: the loss is noted; the store has its new incarnation; only then are the copies moved.
#[tokio::test]
async fn a_loss_that_was_noted_is_dealt_with_by_the_next_start() {
    for renewed in [false, true] {
        let home = Home::new().await;
        put_back(&home).await;
        let copies = tree(home.copies.path());
        let cursor = home.copies.cursor().await.unwrap().unwrap();
        home.copies.move_cursor(CopyCursor { phase: Phase::Lost, ..cursor }).await.unwrap();
        if renewed {
            SqliteStore::renew(&home.path, incarnation(5)).unwrap();
        }
        let (store, found) = home.open().await.unwrap();
        is_told(&found, &copies);
        assert_eq!(store.incarnation(), incarnation(2));
    }
}

/// A database of an earlier incarnation was put back, perhaps with as many entries: only the incarnation tells them apart.
#[tokio::test]
async fn copies_of_another_life_are_kept_aside() {
    let home = Home::new().await;
    SqliteStore::renew(&home.path, incarnation(5)).unwrap();
    let copies = tree(home.copies.path());
    let (store, found) = home.open().await.unwrap();
    is_told(&found, &copies);
    assert_eq!(store.incarnation(), incarnation(2), "the life that is put back may have been lived on");
    home.copy(&store).await;
    store.close().await;
    drop(store);
    let (_, found) = home.open().await.unwrap();
    assert!(matches!(found, CopiesFound::Nothing), "{found:?}");
}

#[tokio::test]
async fn a_cursor_that_is_not_ours_is_as_good_as_none() {
    let home = Home::new().await;
    for content in ["", "{}", "no", r#"{"incarnation":"zz","position":1}"#, &" ".repeat(10_000)] {
        fs::write(home.copies.path().join("copies.json"), content).unwrap();
        assert_eq!(home.copies.cursor().await.unwrap(), None);
        let (_, found) = home.open().await.unwrap();
        assert!(matches!(found, CopiesFound::Nothing), "{found:?}");
    }
    let new = CopyCursor::new(incarnation(u64::MAX));
    let cursor = CopyCursor { position: Position(3), phase: Phase::Following, ..new };
    home.copies.move_cursor(cursor).await.unwrap();
    let written = fs::read_to_string(home.copies.path().join("copies.json")).unwrap();
    assert_eq!(written, "{\"format\":7,\"incarnation\":\"ffffffffffffffff\",\"position\":3}\n");
    assert_eq!(home.copies.cursor().await.unwrap(), Some(cursor));
    home.copies.ask_for_rewriting().await.unwrap();
    assert_eq!(home.copies.cursor().await.unwrap(), Some(CopyCursor { phase: Phase::Rewriting, ..cursor }));
    fs::remove_file(home.copies.path().join("copies.json")).unwrap();
    home.copies.ask_for_rewriting().await.unwrap();
    assert_eq!(home.copies.cursor().await.unwrap(), None, "without one everything is gone through anyway");
}

/// The first version noted no format. Its copies are gone through, also those of sessions that have come to rest for good,
/// and a loss is known all the same.
#[tokio::test]
async fn copies_of_another_format_are_gone_through_whole() {
    let home = Home::new().await;
    for (noted, phase) in [
        (r#"{"incarnation":"1","position":3}"#, Phase::Rewriting),
        (r#"{"format":1,"incarnation":"1","position":3,"rewritten":2,"phase":"rewriting"}"#, Phase::Rewriting),
        (r#"{"incarnation":"1","position":3,"phase":"lost"}"#, Phase::Lost),
        (r#"{"format":2,"incarnation":"1","position":3}"#, Phase::Rewriting),
        (r#"{"format":4,"incarnation":"1","position":3}"#, Phase::Rewriting),
        (r#"{"format":5,"incarnation":"1","position":3}"#, Phase::Rewriting),
        (r#"{"format":7,"incarnation":"1","position":3}"#, Phase::Following),
    ] {
        fs::write(home.copies.path().join("copies.json"), noted).unwrap();
        let expected = CopyCursor { position: Position(3), phase, ..CopyCursor::new(incarnation(1)) };
        assert_eq!(home.copies.cursor().await.unwrap(), Some(expected), "{noted}");
    }
}

/// What a person does whom the doctor told that copies differ.
#[tokio::test]
async fn a_rebuild_before_the_next_start_hides_no_loss() {
    let home = Home::new().await;
    put_back(&home).await;
    let copies = tree(home.copies.path());
    home.copies.ask_for_rewriting().await.unwrap();
    let (store, found) = home.open().await.unwrap();
    is_told(&found, &copies);
    assert_eq!(store.incarnation(), incarnation(2));
}

/// Nobody can tell then whether something was lost.
#[tokio::test]
async fn a_cursor_that_cannot_be_reached_is_told() {
    let home = Home::new().await;
    let copies = Copies::at(home.copies.path().join("n".repeat(300)));
    let opened = open_beside(&home.path, 0, &copies, Timestamp::from_millis(0), || incarnation(2)).await;
    let (_, found) = opened.unwrap();
    assert!(matches!(found, CopiesFound::Unknown(CopyError::Io { .. })), "{found:?}");
}
