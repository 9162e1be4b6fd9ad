//! Where a restored store goes: built beside its place, and put there in one step.
//!
//! Invariant: killed at any point, the old store is in its place or the new one is. Nothing of the person's is removed:
//! what was there is moved aside, under a name with the time in it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use model::Timestamp;
use rusqlite::OpenFlags;
use serde::Serialize;

use crate::sqlite::checkpoint::{self, Health};
use crate::sqlite::open::{self, Setup, beside};
use crate::sqlite::outside::backup::{one_name, parent, remove, sync};
use crate::sqlite::outside::{OnProgress, Progress, RestoreError, Stage};

/// The readable copies, which belong to the store that wrote them.
const COPIES: &str = "sessions";

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
    _owner: File,
}

impl Place {
    /// Owns the place, whatever is there.
    pub(super) fn claim(path: &Path) -> Result<Self, RestoreError> {
        // One place has one name, so that a link to it does not get a lock of its own.
        let path = one_name(path).map_err(|source| RestoreError::Io { path: path.to_owned(), source })?;
        let owner = open::own(&path)?;
        Ok(Self { path, _owner: owner })
    }

    /// What is there that a new store would replace.
    pub(super) fn taken(&self) -> bool {
        let filled = |path: &Path| fs::metadata(path).is_ok_and(|file| file.len() > 0);
        let copies = fs::read_dir(self.copies()).is_ok_and(|mut inside| inside.next().is_some());
        filled(&self.path) || filled(&self.wal()) || copies
    }

    /// Where the new store is built.
    pub(super) fn restoring(&self) -> PathBuf {
        beside(&self.path, ".restoring")
    }

    pub(super) fn beside(&self, name: &str) -> PathBuf {
        parent(&self.path).join(name)
    }

    /// Removes what is being built, and what a restore that was cut off has left.
    pub(super) fn clear(&self) -> Result<(), RestoreError> {
        for suffix in ["", "-wal", "-shm", "-journal", ".lock", ".reserve"] {
            let path = beside(&self.restoring(), suffix);
            remove(&path).map_err(|source| RestoreError::Io { path, source })?;
        }
        Ok(())
    }

    /// Puts the store that was built in its place and moves aside what is there.
    pub(super) fn fill(&self, at: Timestamp, progress: OnProgress<'_>) -> Result<Vec<Moved>, RestoreError> {
        let folder = parent(&self.path);
        let io = |source| RestoreError::Io { path: self.path.clone(), source };
        let mut step = {
            let mut done = 0;
            move || {
                progress(Progress { stage: Stage::Place, done, total: 5 });
                done += 1;
            }
        };
        step();
        self.settle_old();
        step();
        let mut moved = Vec::new();
        let aside = self.aside(&self.path, at);
        // The old store keeps its name until the new one takes it: a second name is given, none is taken away.
        for suffix in ["", "-wal"] {
            let (from, to) = (beside(&self.path, suffix), beside(&aside, suffix));
            if fs::metadata(&from).is_ok_and(|file| file.len() > 0) {
                fs::hard_link(&from, &to).or_else(|_| copy_flushed(&from, &to)).map_err(io)?;
                moved.push(Moved { from, to });
            }
        }
        step();
        if self.copies().exists() {
            let moving = Moved { to: self.aside(&self.copies(), at), from: self.copies() };
            fs::rename(&moving.from, &moving.to).map_err(io)?;
            moved.push(moving);
        }
        sync(folder).map_err(io)?;
        step();
        // SQLite would take the old store's log for the new one's. All of it is in the old database by now, unless
        // that is past reading; then it lies aside.
        for suffix in ["-wal", "-shm"] {
            remove(&beside(&self.path, suffix)).map_err(io)?;
        }
        step();
        fs::rename(self.restoring(), &self.path).map_err(io)?;
        sync(folder).map_err(io)?;
        Ok(moved)
    }

    /// Brings what waits in the old store's log into its database, if it is a store that this program can read.
    fn settle_old(&self) {
        let setup = Setup { path: &self.path };
        let settled = setup.connect(OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|conn| {
            setup.identify(&conn)?;
            conn.pragma_update(None, "query_only", "off").map_err(setup.storage_error())?;
            checkpoint::finish(&conn, &Health::default());
            Ok(())
        });
        if let Err(err) = settled {
            tracing::debug!(error = %err, "the old store is moved aside as it is");
        }
    }

    fn wal(&self) -> PathBuf {
        beside(&self.path, "-wal")
    }

    fn copies(&self) -> PathBuf {
        self.beside(COPIES)
    }

    /// A name with the time in it that nothing has yet.
    fn aside(&self, path: &Path, at: Timestamp) -> PathBuf {
        let time = at.to_string().replace([':', '.'], "-");
        let names = std::iter::once(String::new()).chain((2..).map(|n| format!("-{n}")));
        let free = names.map(|again| beside(path, &format!(".before-{time}{again}"))).find(|path| !path.exists());
        free.expect("there is always one more number")
    }
}

/// For file systems on which a file has one name only.
fn copy_flushed(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    File::open(to)?.sync_all()
}
