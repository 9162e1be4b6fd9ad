//! Where a restored store goes: built beside its place, and put there in one step.
//!
//! Invariant: killed at any point, the old store is in its place or the new one is, with all of its entries. Nothing of
//! the person's is removed: what was there is moved aside, under a name with the time in it, and put back if the new one
//! cannot take its place.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use model::Timestamp;
use rusqlite::OpenFlags;
use serde::Serialize;

use crate::files::{beside, one_name, parent, remove, sync, write_flushed};
use crate::sqlite::checkpoint::{self, Health};
use crate::sqlite::interrupted_restore::{ASIDE, RESTORING};
use crate::sqlite::open::{self, Setup, StoreLock};
use crate::sqlite::outside::backup::{CONFIG, remove_payloads};
use crate::sqlite::outside::{COPIES, OnProgress, Progress, RestoreError, Stage};
use crate::sqlite::trouble::Trouble;
use crate::{OpenError, StorageError};

/// Something that was moved aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// Where it was.
    pub from: PathBuf,
    /// Where it is.
    pub to: PathBuf,
}

/// The place of a store, owned.
pub(super) struct Place {
    path: PathBuf,
    _lock: StoreLock,
}

impl Place {
    /// Owns the place, whatever is there.
    pub(super) fn claim(path: &Path) -> Result<Self, RestoreError> {
        // One place has one name, so that a link to it does not get a lock of its own.
        let path = one_name(path).map_err(|source| RestoreError::Io { path: path.to_owned(), source })?;
        let lock = open::own(&path)?;
        Ok(Self { path, _lock: lock })
    }

    /// What is there that a new store would replace.
    pub(super) fn taken(&self) -> bool {
        let copies = fs::read_dir(self.copies()).is_ok_and(|mut inside| inside.next().is_some());
        is_filled(&self.path) || is_filled(&self.wal()) || copies
    }

    /// Where the new store is built.
    pub(super) fn restoring(&self) -> PathBuf {
        beside(&self.path, RESTORING)
    }

    /// Where the new store's payloads are gathered.
    pub(super) fn restoring_copies(&self) -> PathBuf {
        beside(&self.copies(), RESTORING)
    }

    fn restoring_config(&self) -> PathBuf {
        beside(&self.beside(CONFIG), RESTORING)
    }

    fn beside(&self, name: &str) -> PathBuf {
        parent(&self.path).join(name)
    }

    /// Removes what is being built, and what a restore that was cut off has left.
    pub(super) fn clear(&self) -> Result<(), RestoreError> {
        let built =
            ["", "-wal", "-shm", "-journal", ".lock", ".reserve"].map(|suffix| beside(&self.restoring(), suffix));
        for path in built.into_iter().chain([self.restoring_config()]) {
            remove(&path).map_err(|source| RestoreError::Io { path, source })?;
        }
        let copies = self.restoring_copies();
        remove_payloads(&copies).map_err(|source| RestoreError::Io { path: copies, source })
    }

    /// Puts a backup's configuration in its place if there is none; true if it did.
    pub(super) fn put_config(&self, kept: &Path) -> Result<bool, RestoreError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            |source| RestoreError::Io { path, source }
        };
        let (config, built) = (self.beside(CONFIG), self.restoring_config());
        if !kept.exists() || is_there(&config) {
            return Ok(false);
        }
        let text = fs::read(kept).map_err(io(kept))?;
        write_flushed(&built, &text).map_err(io(&built))?;
        fs::rename(&built, &config).map_err(io(&config))?;
        Ok(true)
    }

    /// Takes away the configuration that was put there.
    pub(super) fn take_config(&self) -> Result<(), RestoreError> {
        let path = self.beside(CONFIG);
        remove(&path).map_err(|source| RestoreError::Io { path, source })
    }

    /// Puts the store that was built in its place and moves aside what is there.
    pub(super) fn fill(&self, at: Timestamp, progress: OnProgress<'_>) -> Result<Vec<Moved>, RestoreError> {
        let mut done = 0;
        let mut step = || {
            progress(Progress { stage: Stage::Place, done, total: 6 });
            done += 1;
        };
        step();
        self.settle_old()?;
        let mut moved = Vec::new();
        if let Err(source) = self.exchange(at, &mut moved, &mut step) {
            put_back(moved)?;
            return Err(RestoreError::Io { path: self.path.clone(), source });
        }
        sync(parent(&self.path)).map_err(|source| RestoreError::Unflushed { path: self.path.clone(), source })?;
        moved.retain(|moved| moved.from != self.restoring_copies());
        Ok(moved)
    }

    fn exchange(&self, at: Timestamp, moved: &mut Vec<Moved>, step: &mut dyn FnMut()) -> io::Result<()> {
        step();
        let suffix = self.free_suffix(at);
        let aside = beside(&self.path, &suffix);
        // The old store keeps its name until the new one takes it: a second name is given, none is taken away. Whoever
        // owns the store next takes the second one away, if it comes to no more than that.
        for suffix in ["", "-wal"] {
            let (from, to) = (beside(&self.path, suffix), beside(&aside, suffix));
            if is_filled(&from) {
                moved.push(Moved { from: from.clone(), to: to.clone() });
                fs::hard_link(&from, &to).or_else(|_| copy_flushed(&from, &to))?;
            }
        }
        step();
        if is_there(&self.copies()) {
            let moving = Moved { to: beside(&self.copies(), &suffix), from: self.copies() };
            moved.push(moving.clone());
            fs::rename(&moving.from, &moving.to)?;
        }
        step();
        // Before the store itself. Whoever finds the old store still in its place knows by its second name what the old
        // copies are called now, and brings them back.
        if is_there(&self.restoring_copies()) {
            moved.push(Moved { from: self.restoring_copies(), to: self.copies() });
            fs::rename(self.restoring_copies(), self.copies())?;
        }
        sync(parent(&self.path))?;
        step();
        // SQLite would take the old store's log for the new one's. All of it is in the old database by now, unless
        // that is past reading; then it lies aside.
        for suffix in ["-wal", "-shm"] {
            remove(&beside(&self.path, suffix))?;
        }
        step();
        fs::rename(self.restoring(), &self.path)
    }

    /// Brings what waits in the old store's log into its database, if it is a store that this program can read.
    fn settle_old(&self) -> Result<(), RestoreError> {
        let setup = Setup { path: &self.path };
        let settled = setup.connect(OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|conn| {
            setup.identify(&conn)?;
            conn.pragma_update(None, "query_only", "off").map_err(setup.storage_error())?;
            checkpoint::finish(&conn, &Health::default());
            Ok(())
        });
        let passes = |source: &StorageError| {
            source.0.downcast_ref().is_some_and(|err| matches!(Trouble::of(err), Trouble::Full | Trouble::Busy))
        };
        let waits = match settled {
            Ok(()) => is_filled(&self.wal()),
            Err(OpenError::Storage { source, .. }) if passes(&source) => true,
            Err(err) => {
                tracing::debug!(error = %err, "the old store is moved aside as it is");
                false
            }
        };
        if waits { Err(RestoreError::LogWaits { path: self.path.clone() }) } else { Ok(()) }
    }

    fn wal(&self) -> PathBuf {
        beside(&self.path, "-wal")
    }

    fn copies(&self) -> PathBuf {
        self.beside(COPIES)
    }

    /// What is put behind the names of the old store and its copies: the time, and a number if something is called so already.
    fn free_suffix(&self, at: Timestamp) -> String {
        let time = at.to_string().replace([':', '.'], "-");
        let numbers = std::iter::once(String::new()).chain((2..).map(|n| format!("-{n}")));
        let mut suffixes = numbers.map(|again| format!("{ASIDE}{time}{again}"));
        let is_free = |suffix: &String| {
            let store = beside(&self.path, suffix);
            !is_there(&store) && !is_there(&beside(&store, "-wal")) && !is_there(&beside(&self.copies(), suffix))
        };
        suffixes.find(is_free).expect("there is always one more number")
    }
}

/// Undoes what was moved, the last first.
fn put_back(moved: Vec<Moved>) -> Result<(), RestoreError> {
    for Moved { from, to } in moved.into_iter().rev() {
        let undone = if is_there(&from) { remove(&to) } else { fs::rename(&to, &from) };
        undone.map_err(|source| RestoreError::NotPutBack { from, to, source })?;
    }
    Ok(())
}

fn is_filled(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.len() > 0)
}

/// Also true of a link to nowhere.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// For file systems on which a file has one name only.
fn copy_flushed(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    File::open(to)?.sync_all()
}
