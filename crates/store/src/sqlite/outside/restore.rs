//! A store made from a backup or from an export, with a new incarnation.
//!
//! Invariant: what is restored is verified before anything that is there is touched, and a refusal changes nothing. It
//! gets a new incarnation, because entries that were written after the backup are gone and their numbers will be given
//! again: a cursor from before must be recognised, not answered with other entries.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use model::{Incarnation, Timestamp};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::files::{beside, hash, private};
use crate::payloads::PlainPayloads;
use crate::sqlite::checkpoint::{self, Health};
use crate::sqlite::meta;
use crate::sqlite::open::{FileKind, Setup};
use crate::sqlite::outside::backup::{self, BackupNote};
use crate::sqlite::outside::payloads::{self, CarryError};
use crate::sqlite::outside::place::{Moved, Place};
use crate::sqlite::outside::{COPIES, OnProgress, PayloadReport, Progress, Stage, import, versions};
use crate::{AppendError, CopyError, OpenError, StorageError};

const MAX_NOTE_BYTES: u64 = 64 << 10;

/// What is asked of a restore.
#[derive(Debug, Clone, Copy)]
pub struct RestoreWish<'a> {
    /// A backup's folder, or an export's file.
    pub from: &'a Path,
    /// Where the store goes.
    pub store: &'a Path,
    /// What to call its new incarnation.
    pub incarnation: Incarnation,
    /// Now.
    pub at: Timestamp,
    /// Move a store that is there aside.
    pub replace: bool,
}

/// What was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// How many entries it has.
    pub entries: u64,
    /// When the backup or the export was made.
    pub made_at: Timestamp,
    /// What was there and is now elsewhere.
    pub moved: Vec<Moved>,
    /// The configuration was put back, because there was none.
    pub config: bool,
    /// Streams that were damaged when they were exported, and are fenced off.
    pub damaged: u64,
    /// What became of the payloads; `None` if it was made by a version that kept none in it.
    pub payloads: Option<PayloadReport>,
}

/// Why nothing was restored. What is there is as it was, unless [`NotPutBack`](Self::NotPutBack) or
/// [`Unflushed`](Self::Unflushed) says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The place, or the backup, cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A store is there.
    #[error("there is a store at {path} already")]
    Taken {
        /// Where.
        path: PathBuf,
    },
    /// What was named is neither a backup nor an export.
    #[error("{path} is neither a backup nor an export of this program")]
    Foreign {
        /// What was named.
        path: PathBuf,
    },
    /// It was written by a newer version of the program.
    #[error("{path} has format {found}, this program knows formats up to {known}")]
    Newer {
        /// What was named.
        path: PathBuf,
        /// What it has.
        found: u32,
        /// What this program knows.
        known: u32,
    },
    /// It is not what was written.
    #[error("{path} is not what was backed up: {what}")]
    Altered {
        /// What is not.
        path: PathBuf,
        /// In what way.
        what: &'static str,
    },
    /// A line of an export is not what was written.
    #[error("line {line} of {path} cannot be taken: {what}")]
    Line {
        /// The export.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// An export has no end.
    #[error("{path} is cut off after line {line}")]
    CutOff {
        /// The export.
        path: PathBuf,
        /// The last line that is there.
        line: u64,
    },
    /// SQLite finds the restored database damaged.
    #[error("the restored database is damaged: {what}")]
    Unsound {
        /// What SQLite says.
        what: String,
    },
    /// A file could not be read or written.
    #[error("could not read or write {path}")]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The newest entries of the store that is there are not in its database yet, and it cannot be moved without them.
    #[error(
        "the newest entries of {path} can not be moved out of its write-ahead log; end what reads the store (a backup, \
         an export, a doctor) or make room on the disk, and try again"
    )]
    LogWaits {
        /// The store.
        path: PathBuf,
    },
    /// What was moved aside is still there: neither could the new store take its place, nor it have it back.
    #[error("{from} is now at {to} and could not be moved back")]
    NotPutBack {
        /// Where it was.
        from: PathBuf,
        /// Where it is.
        to: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The new store is in its place, and what was there is aside; but the names may not survive the power.
    #[error("the new store is at {path}, but the disk did not confirm it")]
    Unflushed {
        /// The store.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A payload could not be written.
    #[error("could not put a payload back")]
    Payload(#[source] CopyError),
    /// The new store could not be written.
    #[error("could not write the new store")]
    Append(#[from] AppendError),
    /// SQLite could not do its part.
    #[error("could not write the new store")]
    Storage(#[from] StorageError),
}

impl From<CarryError> for RestoreError {
    fn from(err: CarryError) -> Self {
        match err {
            CarryError::Sql(err) => err.into(),
            CarryError::Files(err) => Self::Payload(err),
        }
    }
}

impl From<rusqlite::Error> for RestoreError {
    fn from(err: rusqlite::Error) -> Self {
        Self::Storage(err.into())
    }
}

/// Makes a store of a backup's folder or an export's file.
pub fn restore(wish: &RestoreWish<'_>, progress: OnProgress<'_>) -> Result<Restored, RestoreError> {
    fs::metadata(wish.from).map_err(|source| RestoreError::Io { path: wish.from.to_owned(), source })?;
    let place = Place::claim(wish.store)?;
    if place.taken() && !wish.replace {
        return Err(RestoreError::Taken { path: wish.store.to_owned() });
    }
    place.clear()?;
    let restored = fill(wish, &place, progress);
    // Nothing of it is in anybody's way, and the next restore begins with the same.
    drop(place.clear());
    restored
}

fn fill(wish: &RestoreWish<'_>, place: &Place, progress: OnProgress<'_>) -> Result<Restored, RestoreError> {
    let is_folder = wish.from.is_dir();
    let built = place.restoring();
    let payloads = PlainPayloads::at(place.restoring_copies());
    let mut restored = match is_folder {
        true => copy_backup(wish, &built, &payloads, progress),
        false => import::import(wish, &built, &payloads, progress),
    }?;
    check(&built)?;
    let flushed = File::open(&built).and_then(|file| file.sync_all());
    flushed.map_err(|source| RestoreError::Io { path: built, source })?;
    // Before the store, because after it nothing may fail any more.
    restored.config = is_folder && place.put_config(&wish.from.join(backup::CONFIG))?;
    match place.fill(wish.at, progress) {
        Ok(moved) => restored.moved = moved,
        Err(err @ RestoreError::Unflushed { .. }) => return Err(err),
        Err(err) => {
            if restored.config {
                place.take_config()?;
            }
            return Err(err);
        }
    }
    Ok(restored)
}

fn copy_backup(
    wish: &RestoreWish<'_>,
    to: &Path,
    payloads: &PlainPayloads,
    progress: OnProgress<'_>,
) -> Result<Restored, RestoreError> {
    let note = read_note(wish.from)?;
    let from = wish.from.join(backup::DATABASE);
    let (bytes, sha256) = copy_hashed(&from, to, note.bytes, progress)?;
    let altered = |what| Err(RestoreError::Altered { path: from.clone(), what });
    if bytes != note.bytes {
        return altered("its size is another");
    }
    if sha256 != note.sha256 {
        return altered("its hash is another");
    }
    renew(to, wish.incarnation)?;
    let kept = PlainPayloads::at(wish.from.join(COPIES));
    // An earlier version copied none; a person may have put them beside it, as was advised then.
    let has_payloads = note.payloads.is_some() || kept.path().is_dir();
    let carry = |conn: &Connection, schema| payloads::copy_named(conn, schema, &kept, payloads, progress);
    let payloads = if has_payloads { Some(with_built(to, carry)?) } else { None };
    let (entries, made_at) = (note.entries, note.made_at);
    Ok(Restored { entries, made_at, moved: Vec::new(), config: false, damaged: 0, payloads })
}

fn read_note(folder: &Path) -> Result<BackupNote, RestoreError> {
    /// What every format has.
    #[derive(serde::Deserialize)]
    struct AnyNote {
        format: u32,
    }
    let path = folder.join(backup::NOTE);
    let foreign = || RestoreError::Foreign { path: folder.to_owned() };
    let mut text = Vec::new();
    match File::open(&path).and_then(|file| file.take(MAX_NOTE_BYTES).read_to_end(&mut text)) {
        Ok(_) => (),
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Err(foreign()),
        Err(source) => return Err(RestoreError::Io { path, source }),
    }
    let AnyNote { format } = serde_json::from_slice(&text).map_err(|_| foreign())?;
    if format > backup::FORMAT {
        return Err(RestoreError::Newer { path, found: format, known: backup::FORMAT });
    }
    serde_json::from_slice(&text).map_err(|_| RestoreError::Altered { path, what: "a part of it is missing" })
}

/// Copies and hashes in one pass, so that what is restored is what was verified.
fn copy_hashed(from: &Path, to: &Path, total: u64, progress: OnProgress<'_>) -> Result<(u64, String), RestoreError> {
    let reading = |source| RestoreError::Io { path: from.to_owned(), source };
    let writing = |source| RestoreError::Io { path: to.to_owned(), source };
    let mut source = File::open(from).map_err(reading)?;
    let mut copy = private().write(true).create_new(true).open(to).map_err(writing)?;
    let read = |piece: &mut [u8]| source.read(piece).map_err(reading);
    hash(read, |piece, done| {
        progress(Progress { stage: Stage::Copy, done, total });
        copy.write_all(piece).map_err(writing)
    })
}

/// Looks at the store that was built, which is closed again as one file.
pub(super) fn with_built<T>(
    path: &Path,
    look: impl FnOnce(&Connection, i64) -> Result<T, CarryError>,
) -> Result<T, RestoreError> {
    let setup = Setup { path };
    let conn = setup.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let (schema, _) = versions(&conn)?.ok_or_else(|| OpenError::Begun { path: path.to_owned() })?;
    let looked = look(&conn, schema);
    checkpoint::finish(&conn, &Health::default());
    conn.close().map_err(|(_, err)| err)?;
    Ok(looked?)
}

fn renew(path: &Path, incarnation: Incarnation) -> Result<(), RestoreError> {
    let setup = Setup { path };
    let conn = setup.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let found = setup.identify(&conn)?;
    if found == FileKind::Empty || versions(&conn)?.is_none() {
        return Err(OpenError::Begun { path: path.to_owned() }.into());
    }
    conn.pragma_update(None, "query_only", "off")?;
    meta::give_incarnation(&conn, incarnation)?;
    checkpoint::finish(&conn, &Health::default());
    conn.close().map_err(|(_, err)| err)?;
    Ok(())
}

/// What is put in its place must be one sound file.
fn check(path: &Path) -> Result<(), RestoreError> {
    let setup = Setup { path };
    let conn = setup.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let said: Vec<String> =
        conn.prepare("PRAGMA quick_check")?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    // Closing as usual takes away the empty log that looking has made.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    conn.close().map_err(|(_, err)| err)?;
    if said != ["ok"] {
        return Err(RestoreError::Unsound { what: said.join("; ") });
    }
    let wal = beside(path, "-wal");
    match fs::metadata(&wal) {
        Ok(left) if left.len() > 0 => {
            Err(RestoreError::Unsound { what: "a part of it is still in its write-ahead log".to_owned() })
        }
        Ok(_) | Err(_) => Ok(()),
    }
}
