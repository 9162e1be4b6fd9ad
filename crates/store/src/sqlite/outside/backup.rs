//! A store copied while it is written to: one moment of it, in a folder that is there whole or not at all.
//!
//! Invariant: the copy holds one read transaction from its first page to its last. Without it SQLite begins the copy
//! anew whenever somebody commits, and under load it would never end. The folder gets its name when everything in it
//! is flushed, and holds no secret but what the store holds: no token file, no socket. Payloads are copied after the database:
//! each was flushed before the entry that names it, so those of all entries in the copy are there, but for what was removed since.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use model::{Position, Timestamp};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};

use crate::files::{beside, hash, one_name, parent, private, remove, sync, write_flushed};
use crate::payloads::{PayloadState, PlainPayloads};
use crate::sqlite::meta::last_position;
use crate::sqlite::outside::payloads::{self, CarryError};
use crate::sqlite::outside::plain_folders;
use crate::sqlite::outside::{COPIES, OnProgress, PayloadReport, Progress, Stage, StoreFile};
use crate::{CopyError, StorageError};

/// What a backup folder holds.
pub(super) use crate::sqlite::open::DATABASE;
pub(super) const NOTE: &str = "backup.json";
pub(super) const CONFIG: &str = "config.toml";

/// The layout that is written now, and the newest that is read.
pub(super) const FORMAT: u32 = 2;

const PAGES_A_STEP: i32 = 256;

/// What is asked of a backup.
#[derive(Debug, Clone, Copy)]
pub struct BackupWish<'a> {
    /// The folder to make.
    pub folder: &'a Path,
    /// A configuration to copy with it, if there is one.
    pub config: Option<&'a Path>,
    /// Plain folders to copy with it, by their own names, those that there are.
    pub folders: &'a [PathBuf],
    /// Now.
    pub made_at: Timestamp,
    /// The version of the program that makes it.
    pub program: &'a str,
}

/// `backup.json`: what a backup holds, and how to see that it is whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupNote {
    /// The layout of the folder.
    pub format: u32,
    /// When it was made.
    pub made_at: Timestamp,
    /// The version of the program that made it.
    pub program: String,
    /// Which incarnation of the store it is of.
    pub incarnation: String,
    /// The last position that was given in it.
    pub last_position: Position,
    /// How many entries it has.
    pub entries: u64,
    /// The size of the database.
    pub bytes: u64,
    /// The database's SHA-256, in hex.
    pub sha256: String,
    /// What became of the payloads; absent where an earlier version made it, which copied none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payloads: Option<PayloadReport>,
}

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Something is there already.
    #[error("{path} is there already and is no empty folder")]
    Exists {
        /// What is there.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error("could not make the backup at {path}")]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A payload could not be written.
    #[error("could not copy a payload")]
    Payload(#[source] CopyError),
    /// SQLite could not copy.
    #[error("could not copy the store")]
    Storage(#[from] StorageError),
}

impl From<CarryError> for BackupError {
    fn from(err: CarryError) -> Self {
        match err {
            CarryError::Sql(err) => err.into(),
            CarryError::Files(err) => Self::Payload(err),
        }
    }
}

impl From<rusqlite::Error> for BackupError {
    fn from(err: rusqlite::Error) -> Self {
        Self::Storage(err.into())
    }
}

impl StoreFile {
    /// Copies the store as it is at this moment into a new folder.
    pub fn backup(&self, wish: &BackupWish<'_>, progress: OnProgress<'_>) -> Result<BackupNote, BackupError> {
        refuse_what_is_there(wish.folder)?;
        let at = |path: &Path| {
            let path = path.to_owned();
            |source| BackupError::Io { path, source }
        };
        if let Some(above) = wish.folder.parent().filter(|above| !above.as_os_str().is_empty()) {
            DirBuilder::new().recursive(true).mode(0o700).create(above).map_err(at(above))?;
        }
        let folder = one_name(wish.folder).map_err(at(wish.folder))?;
        let partial = beside(&folder, ".partial");
        clear_partial(&partial, wish.folders).map_err(at(&partial))?;
        DirBuilder::new().mode(0o700).create(&partial).map_err(at(&partial))?;

        let database = partial.join(DATABASE);
        private().write(true).create_new(true).open(&database).map_err(at(&database))?;
        let (copy, last_position, entries) = self.copy_pages(&database, progress)?;
        let payloads = self.copy_payloads(&copy, &PlainPayloads::at(partial.join(COPIES)), progress)?;
        copy.close().map_err(|(_, err)| err)?;
        let (bytes, sha256) = hash_and_flush(&database).map_err(at(&database))?;
        let note = BackupNote {
            format: FORMAT,
            made_at: wish.made_at,
            program: wish.program.to_owned(),
            incarnation: self.incarnation.to_string(),
            last_position,
            entries,
            bytes,
            sha256,
            payloads: Some(payloads),
        };
        if let Some(config) = wish.config.filter(|config| config.exists()) {
            let text = fs::read(config).map_err(at(config))?;
            let copy = partial.join(CONFIG);
            write_flushed(&copy, &text).map_err(at(&copy))?;
        }
        for from in wish.folders.iter().filter(|from| from.is_dir()) {
            if let Some(name) = from.file_name() {
                plain_folders::copy(from, &partial.join(name)).map_err(at(from))?;
            }
        }
        let text = serde_json::to_vec_pretty(&note).expect("a note is text and numbers");
        write_flushed(&partial.join(NOTE), &text).map_err(at(&partial))?;
        sync(&partial).map_err(at(&partial))?;
        fs::rename(&partial, &folder).map_err(at(&folder))?;
        sync(parent(&folder)).map_err(at(&folder))?;
        Ok(note)
    }

    fn copy_pages(&self, to: &Path, progress: OnProgress<'_>) -> rusqlite::Result<(Connection, Position, u64)> {
        let moment = self.conn.unchecked_transaction()?;
        // Without what purged sessions have left and is still being removed.
        let entries: i64 = moment.query_row(
            "SELECT (SELECT COUNT(*) FROM entries) - COUNT(*)
             FROM entries
             WHERE stream IN (SELECT id FROM streams WHERE purged_at IS NOT NULL)",
            [],
            |row| row.get(0),
        )?;
        let last = last_position(&moment)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut copy = Connection::open_with_flags(to, flags)?;
        // A copy that is cut off is thrown away, and one that is done is flushed at once.
        copy.pragma_update(None, "journal_mode", "off")?;
        copy.pragma_update(None, "synchronous", "off")?;
        let steps = Backup::new(&moment, &mut copy)?;
        loop {
            let step = steps.step(PAGES_A_STEP)?;
            let pages = steps.progress();
            let (total, left) = (i64::from(pages.pagecount), i64::from(pages.remaining));
            let done = (total - left).cast_unsigned();
            progress(Progress { stage: Stage::Copy, done, total: total.cast_unsigned() });
            // Nobody else knows of the copy, and the source is held: there is never anything to wait for.
            if step == StepResult::Done {
                break;
            }
        }
        drop(steps);
        leave_out_purged(&copy)?;
        moment.finish()?;
        Ok((copy, last, entries.cast_unsigned()))
    }

    /// Copies what the copied entries name. What the store itself does not name any more was removed meanwhile, and is not missed.
    fn copy_payloads(
        &self,
        copy: &Connection,
        to: &PlainPayloads,
        progress: OnProgress<'_>,
    ) -> Result<PayloadReport, CarryError> {
        let mut report = PayloadReport::default();
        payloads::each_session(copy, self.schema, Position(u64::MAX >> 1), progress, |session, named| {
            let mut named_now = None;
            for payload in named.iter() {
                let state = self.payloads.copy(session, payload, to)?;
                if state == PayloadState::Missing {
                    let now = match &named_now {
                        Some(now) => now,
                        None => named_now.insert(payloads::named_by(&self.conn, self.schema, session)?),
                    };
                    if now.get(&payload.path).is_none() {
                        continue;
                    }
                }
                report.add(session, payload, state);
            }
            Ok::<_, CarryError>(())
        })?;
        Ok(report)
    }
}

/// Takes out what purged sessions have left and is still being removed.
fn leave_out_purged(copy: &Connection) -> rusqlite::Result<()> {
    copy.pragma_update(None, "secure_delete", "on")?;
    copy.execute(
        "DELETE FROM entries
         WHERE stream IN (SELECT id FROM streams WHERE purged_at IS NOT NULL)",
        [],
    )?;
    Ok(())
}

fn refuse_what_is_there(folder: &Path) -> Result<(), BackupError> {
    let path = || folder.to_owned();
    let empty = match fs::read_dir(folder) {
        Ok(mut inside) => inside.next().is_none(),
        Err(err) if err.kind() == io::ErrorKind::NotFound => true,
        Err(err) if err.kind() == io::ErrorKind::NotADirectory => false,
        Err(source) => return Err(BackupError::Io { path: path(), source }),
    };
    if empty { Ok(()) } else { Err(BackupError::Exists { path: path() }) }
}

/// What a backup that was cut off has left, and nothing else.
fn clear_partial(partial: &Path, folders: &[PathBuf]) -> io::Result<()> {
    for name in folders.iter().filter_map(|folder| folder.file_name()) {
        plain_folders::remove(&partial.join(name))?;
    }
    for name in [DATABASE, NOTE, CONFIG] {
        remove(&partial.join(name))?;
    }
    remove_payloads(&partial.join(COPIES))?;
    match fs::remove_dir(partial) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Removes the payloads below a folder that a backup or a restore made, and the folders that are empty then.
pub(super) fn remove_payloads(copies: &Path) -> io::Result<()> {
    let files = PlainPayloads::at(copies);
    let to_io = |err: CopyError| match err {
        CopyError::Io { source, .. } => source,
        err => io::Error::other(err),
    };
    for session in files.sessions().map_err(to_io)? {
        files.remove_session(session).map_err(to_io)?;
    }
    match fs::remove_dir(copies) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn hash_and_flush(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let hashed = hash(|piece| file.read(piece), |_, _| Ok(()))?;
    file.sync_all()?;
    Ok(hashed)
}
