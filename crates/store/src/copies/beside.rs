//! Opening a database beside its copies: each knows what the other may have lost.
//!
//! Invariants: a database that is filled from copies takes its place when it is whole and flushed, so a kill in the
//! middle leaves nothing that could be taken for whole; entries that are gone from the log are never numbered again
//! under the same incarnation, and the copies that may be all that is left of them are kept; copies of which that cannot be
//! known are not written over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::{Incarnation, Position, SessionId, Timestamp};

use crate::copies::{Copies, CopyCursor, Folder, HydrateError, Hydrated, Phase, session_put_away};
use crate::files::{beside, parent, remove, sync};
use crate::prelude::*;
use crate::{CopyError, OpenError, PayloadFolder, ReadError, SqliteStore};

/// What stands behind the name of the folder of copies while the payloads are gathered that are to be found there when the copies
/// were moved aside.
const LINKED: &str = ".linked";

/// What was met on opening.
#[derive(Debug)]
pub enum CopiesFound {
    /// Nothing out of order.
    Nothing,
    /// The database was empty, and was filled from the copies.
    Empty(Hydrated),
    /// The database has lost entries that the copies know of, or is of another incarnation than they are.
    Loss {
        /// Where the copies were moved to.
        moved_to: PathBuf,
    },
    /// What the copies know could not be read, so nobody can say whether the database has lost something.
    Unknown(CopyError),
}

/// Why a database was not opened beside its copies.
#[derive(Debug, thiserror::Error)]
pub enum BesideError {
    /// The database could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It is empty and could not be filled from the copies.
    #[error("the database is empty and could not be filled from the copies in {path}")]
    Hydrate {
        /// Where the copies are.
        path: PathBuf,
        /// Why not.
        source: HydrateError,
    },
    /// A file could not be put in its place, or moved out of it.
    #[error("could not move {path}")]
    Move {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The copies could not be read, or a loss could not be noted beside them.
    #[error(transparent)]
    Copies(#[from] CopyError),
}

/// Opens the database at `path` beside its copies, or makes it, with a reserve as [`SqliteStore::open_reserving`] does.
pub async fn open_beside(
    path: &Path,
    reserve_bytes: u64,
    copies: &Copies,
    now: Timestamp,
    new_incarnation: impl Fn() -> Incarnation,
) -> Result<(SqliteStore, CopiesFound), BesideError> {
    let open = || SqliteStore::open_reserving(path, new_incarnation(), reserve_bytes);
    let store = open()?;
    put_linked(copies)?;
    if store.last_position() == Position(0) && has_copies(copies).await? {
        let hydrated = fill(path, copies, store, new_incarnation()).await?;
        return Ok((open()?, CopiesFound::Empty(hydrated)));
    }
    let cursor = match copies.cursor().await {
        Ok(Some(cursor)) if cursor.is_ahead_of(&store) => cursor,
        // Behind a link are none, and the follower writes none there.
        Ok(_) | Err(CopyError::Foreign { .. }) => return Ok((store, CopiesFound::Nothing)),
        // It takes nothing from a database that can be read. The follower asks the same before it writes.
        Err(err) => return Ok((store, CopiesFound::Unknown(err))),
    };
    // Noted first: whatever is killed after this is found and finished by the next start.
    copies.move_cursor(CopyCursor { phase: Phase::Lost, ..cursor }).await?;
    store.close().await;
    drop(store);
    SqliteStore::renew(path, new_incarnation())?;
    let moved_to = set_aside(copies, now)?;
    Ok((open()?, CopiesFound::Loss { moved_to }))
}

/// Behind a link are none. Where it cannot be known, nothing is begun that would stand in the way of filling later.
async fn has_copies(copies: &Copies) -> Result<bool, CopyError> {
    match copies.is_empty().await {
        Ok(is_empty) => Ok(!is_empty),
        Err(CopyError::Foreign { .. }) => Ok(false),
        Err(err) => Err(err),
    }
}

/// Fills a database beside the empty one and puts it there.
async fn fill(
    path: &Path,
    copies: &Copies,
    empty: SqliteStore,
    incarnation: Incarnation,
) -> Result<Hydrated, BesideError> {
    let filling = beside(path, ".hydrating");
    // Left over from a start that was killed. The lock on the empty one is ours, so nobody else is at it.
    remove_database(&filling)?;
    let filled = SqliteStore::open(&filling, incarnation)?;
    let hydrated = copies.hydrate(&filled).await;
    let position = filled.last_position();
    filled.close().await;
    drop(filled);
    let hydrated = hydrated.map_err(|source| BesideError::Hydrate { path: copies.path().to_owned(), source })?;
    // Noted before the database is in its place, where it would be taken for another incarnation than the copies; until then
    // an empty one is there, which is filled again whatever is noted.
    copies.move_cursor(CopyCursor { position, ..CopyCursor::new(incarnation) }).await?;
    empty.close().await;
    drop(empty);
    let moving = |source| BesideError::Move { path: filling.clone(), source };
    if fs::exists(beside(&filling, "-wal")).map_err(moving)? {
        return Err(moving(io::Error::other("what was filled in is not all in it yet")));
    }
    // A journal of the empty one would be taken for one of the other.
    remove_database(path)?;
    fs::rename(&filling, path).map_err(moving)?;
    // Nobody looks for the lock of a database that has got another name.
    drop(fs::remove_file(beside(&filling, ".lock")));
    sync_folder_of(path)?;
    Ok(hydrated)
}

/// Moves the copies out of the way of those that are written from now on. Their cursor, which says that this is to be done, moves
/// with them; so the payloads that stay are gathered before, and a kill at any step is mended by the next start.
fn set_aside(copies: &Copies, now: Timestamp) -> Result<PathBuf, BesideError> {
    let suffix = format!(".before-{}", now.to_string().replace(':', "-"));
    // First: whoever is killed after it finds the others still in their place, and moves them.
    let works = copies.works_path();
    match fs::rename(&works, beside(&works, &suffix)) {
        Ok(()) => sync_folder_of(&works)?,
        Err(err) if matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => (),
        Err(source) => return Err(BesideError::Move { path: works, source }),
    }
    let moved_to = beside(copies.path(), &suffix);
    let moving = |source| BesideError::Move { path: copies.path().to_owned(), source };
    let linked = beside(copies.path(), LINKED);
    match fs::remove_dir_all(&linked) {
        Ok(()) => (),
        Err(err) if err.kind() == io::ErrorKind::NotFound => (),
        Err(source) => return Err(BesideError::Move { path: linked, source }),
    }
    link_payloads(copies.path(), &linked)?;
    fs::rename(copies.path(), &moved_to).map_err(moving)?;
    sync_folder_of(copies.path())?;
    fail::fail_point!("copies-moved", |_| Err(moving(io::ErrorKind::Interrupted.into())));
    put_linked(copies)?;
    Ok(moved_to)
}

/// Gives the payloads a second name where the store will look for them: no copy can be written of those from its log. Those of a
/// session that was being purged are among them, under the name that says so.
fn link_payloads(from: &Path, to: &Path) -> Result<(), BesideError> {
    let Some(folder) = Folder::find(from)? else { return Ok(()) };
    let is_session = |name: &&String| name.parse::<SessionId>().is_ok() || session_put_away(name).is_some();
    for name in folder.names()?.iter().filter(is_session) {
        fail::fail_point!("payloads-link", |_| Err(
            crate::copies::io_error(to)(io::ErrorKind::Interrupted.into()).into()
        ));
        PayloadFolder::link_all(from, name, to)?;
    }
    Ok(())
}

/// Puts the payloads that were gathered where the copies were, if those were moved already.
fn put_linked(copies: &Copies) -> Result<(), BesideError> {
    let linked = beside(copies.path(), LINKED);
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    if is_there(copies.path()) || !is_there(&linked) {
        return Ok(());
    }
    fs::rename(&linked, copies.path()).map_err(|source| BesideError::Move { path: linked, source })?;
    sync_folder_of(copies.path())
}

/// Removes a database with what SQLite keeps beside it, but not the lock of one that others may want.
fn remove_database(path: &Path) -> Result<(), BesideError> {
    for part in ["", "-wal", "-shm"].map(|part| beside(path, part)) {
        remove(&part).map_err(|source| BesideError::Move { path: part, source })?;
    }
    Ok(())
}

fn sync_folder_of(path: &Path) -> Result<(), BesideError> {
    sync(parent(path)).map_err(|source| BesideError::Move { path: parent(path).to_owned(), source })
}
