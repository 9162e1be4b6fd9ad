//! Opening: whose file this is, who may have it, and with what settings.
//!
//! Invariant: a store is owned by one process; every setting that durability rests on was read back and found as
//! asked; a file that is not ours, or is newer than this program, is left as it was.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use model::{EVENT_VERSION, Incarnation};
use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, params};

use crate::StorageError;
use crate::files::{beside, parent, private, sync};
use crate::sqlite::fences::{self, Fences};
use crate::sqlite::mend::{self, Mend, pages};
use crate::sqlite::meta::{self, Todo};
use crate::sqlite::outside::is_damage;
use crate::sqlite::{functions, interrupted_restore};

pub(super) mod embedded {
    refinery::embed_migrations!("migrations/sqlite");
}

/// The first SQLite without the bug by which a checkpoint beside a commit could damage the database.
const OLDEST_SQLITE: i32 = 3_051_003;

/// `Thrl`, in the file's header: it marks our files among those of other programs.
const APPLICATION_ID: i32 = 0x5468_726c;

/// A commit writes whole pages, and a short message changes little on each of the six or seven it touches. With 2 kB
/// instead of SQLite's 4 kB it writes two thirds; with 1 kB the rows of sessions would no longer fit on one.
const PAGE_BYTES: i32 = 2048;

/// All rows of a store up to this size are looked at when it is opened; of a larger one, when they are read.
const LOOKED_AT_WHOLE_BYTES: i64 = 32 << 20;

/// What a store's file is called in its own folder.
pub(super) const DATABASE: &str = "throughline.db";

const BUSY_TIMEOUT: &str = "5000";
pub(super) const BUSY_TIMEOUT_MS: u64 = 5000;

/// Why a store was not opened. None of these changed the file.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it, or this one has it already.
    #[error("the store {path} is in use by another process")]
    InUse {
        /// The store.
        path: PathBuf,
    },
    /// It was written by a newer version of the program.
    #[error("the store {path} has {what} version {found}, this program knows versions up to {known}")]
    Newer {
        /// The store.
        path: PathBuf,
        /// Which version it is about: `schema` or `event`.
        what: &'static str,
        /// What the store has.
        found: i64,
        /// What this program has.
        known: i64,
    },
    /// The file belongs to another program, or is no database.
    #[error("{path} is not a store of this program")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file, its folder or the whole disk may only be read.
    #[error(
        "the store {path} can not be written here; `throughline doctor` and `throughline export --all` still read it"
    )]
    ReadOnly {
        /// The store.
        path: PathBuf,
    },
    /// It was never finished: the first start was cut off before anything was in it.
    #[error("the store {path} was only begun and holds nothing yet")]
    Begun {
        /// The store.
        path: PathBuf,
    },
    /// It was not closed, so a part of it waits in its write-ahead log, and it lies where nothing can be written.
    #[error("the store {path} was not closed and lies where nothing can be written; copy its folder and look there")]
    LogWaits {
        /// The store.
        path: PathBuf,
    },
    /// The linked SQLite has a known bug that loses data.
    #[error("SQLite {found} is too old, 3.51.3 is needed")]
    OldSqlite {
        /// What is linked.
        found: &'static str,
    },
    /// SQLite did not take a setting that the store relies on.
    #[error("SQLite has {name} at {found:?} instead of {wanted:?}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// What was asked for.
        wanted: &'static str,
        /// What SQLite says.
        found: String,
    },
    /// It is damaged where the rest of it is found from, so nothing of it can be served.
    #[error(
        "the store {path} is damaged where nothing can be read without it; put a backup back with `throughline restore`, or \
         move the file away with what lies beside it under its name: the next start makes a new store of the readable copies"
    )]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What SQLite said.
        source: StorageError,
    },
    /// The file or its folder cannot be used.
    #[error("could not open the store {path}")]
    Io {
        /// The store.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// SQLite could not bring the file up to date or read it.
    #[error("could not open the store {path}")]
    Storage {
        /// The store.
        path: PathBuf,
        /// What SQLite said.
        source: StorageError,
    },
}

/// A store's file, owned and up to date.
pub(super) struct Opened {
    pub(super) path: PathBuf,
    pub(super) lock: StoreLock,
    pub(super) writer: Connection,
    pub(super) incarnation: Incarnation,
    pub(super) last_position: u64,
    pub(super) fences: Fences,
    /// Damage was met on the way, whatever the size of the store.
    is_damaged: bool,
}

impl Opened {
    /// Looks at what is beside the log and sets it right. What can not be set right is logged, and served as far as it can be read.
    /// A large store is not looked at here, so that a start costs the same whatever has been stored: its rows are looked
    /// at when they are read, and all of them by the doctor.
    pub(super) fn mend(&mut self) -> Result<(), OpenError> {
        let path = self.path.clone();
        let setup = Setup { path: &path };
        if Todo::Reindex.is_noted(&self.writer).map_err(setup.storage_error())? {
            tracing::warn!("the index of the log was found damaged; it is made anew, which may take a while");
            if let Err(err) = self.reindex() {
                tracing::error!(error = %err, "it can not be made anew; stop the server and run `throughline doctor`");
            }
        }
        let is_small = self.bytes().map_err(setup.storage_error())? <= LOOKED_AT_WHOLE_BYTES;
        let asked = Todo::OF_ROWS.into_iter().map(|todo| todo.is_noted(&self.writer));
        let asked: Vec<bool> = asked.collect::<rusqlite::Result<_>>().map_err(setup.storage_error())?;
        let found = match asked.contains(&true) {
            true if self.last_position == 0 => {
                mend::clear_rebuild_notes(&self.writer).map_err(setup.storage_error())?;
                None
            }
            true => Some(("the schema is newer than they are", Mend::Rows)),
            false if is_small || self.is_damaged => mend::find_damage(&self.writer).map_err(setup.storage_error())?,
            false => None,
        };
        if let Some((why, what)) = found {
            tracing::warn!(why, "rows beside the log are made anew from it, which may take a while");
            if let Err(err) = self.try_mend(what) {
                tracing::error!(error = %err, "they can not be made anew; stop the server and run `throughline doctor`");
            }
            match self.fences.load_anew(&self.writer) {
                Ok(fences) => self.fences = fences,
                Err(err) if is_damage(&err) => {
                    tracing::error!(error = %err, "which sessions are damaged can not be read");
                }
                Err(err) => return Err(setup.storage_error()(err)),
            }
        }
        fail::fail_point!("store-open-filled");
        if is_small && Todo::Vacuum.is_noted(&self.writer).map_err(setup.storage_error())? {
            self.write_anew();
        }
        Ok(())
    }

    fn reindex(&mut self) -> Result<(), StorageError> {
        let look = self.connect_look()?;
        Ok(mend::in_transaction(&mut self.writer, |tx| {
            pages::reindex(tx, &look, "entries")?;
            Todo::Reindex.clear(tx)
        })?)
    }

    /// Writes the whole file anew, without what nothing leads to. A failure changes nothing.
    pub(super) fn write_anew(&self) {
        let vacuum = || {
            self.writer.execute_batch("VACUUM")?;
            Todo::Vacuum.clear(&self.writer)
        };
        if let Err(err) = vacuum() {
            tracing::warn!(error = %err, "the rows are right, but the file could not be written anew; is there room for it twice?");
        }
    }

    fn bytes(&self) -> rusqlite::Result<i64> {
        self.writer
            .query_row("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", [], |row| row.get(0))
    }

    fn try_mend(&mut self, what: Mend) -> Result<(), StorageError> {
        let look = self.connect_look()?;
        Ok(mend::mend(&mut self.writer, &look, what)?)
    }

    /// A second connection that reads what may be damaged: see `mend/pages.rs`.
    pub(super) fn connect_look(&self) -> Result<Connection, StorageError> {
        connect_reader(&self.path).map_err(|err| StorageError(Box::new(err)))
    }
}

pub(super) fn open(path: &Path, new_incarnation: Incarnation) -> Result<Opened, OpenError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        return Err(OpenError::OldSqlite { found: rusqlite::version() });
    }
    let io_error = |source| io_error(path, source);
    create_private(path).map_err(io_error)?;
    // One file has one name from here on, so that a link to it does not get a lock of its own.
    let path = fs::canonicalize(path).map_err(io_error)?;
    let lock = own(&path)?;
    fail::fail_point!("store-open-owned");
    let setup = Setup { path: &path };
    let found = setup.inspect()?;
    fail::fail_point!("store-open-identified");
    let mut writer = setup.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    if found == FileKind::Empty {
        // Only a file that has no page yet takes it; one that has keeps what it has.
        writer.pragma_update(None, "page_size", PAGE_BYTES).map_err(setup.storage_error())?;
    }
    setup.settle(&writer, WRITER_SETTINGS)?;
    if found == FileKind::Empty {
        writer.pragma_update(None, "application_id", APPLICATION_ID).map_err(setup.storage_error())?;
    }
    // Asked before the migrations are, which panic at a time of theirs that is damaged.
    if schema_version(&writer).map_err(setup.storage_error())? != Some(newest_schema()) {
        setup.migrate(&mut writer)?;
    }
    fail::fail_point!("store-open-migrated");
    if let Some(name) = find_missing_table(&writer).map_err(setup.storage_error())? {
        return Err(OpenError::Damaged { path, source: StorageError(Box::new(MissingTable(name))) });
    }
    let mut is_damaged = false;
    let begun = match begin(&mut writer, new_incarnation) {
        Err(err) if is_damage(&err) => {
            is_damaged = true;
            tracing::error!(error = %err, "what the store notes about itself can not be read; it begins another life");
            let begun = begin_anew(&mut writer, new_incarnation);
            setup.check_event_version(&writer)?;
            begun
        }
        begun => begun,
    };
    let (incarnation, last_position) = begun.map_err(setup.storage_error())?;
    fail::fail_point!("store-open-begun");
    let fences = match Fences::load(&writer) {
        Err(err) if is_damage(&err) => {
            is_damaged = true;
            Fences::default()
        }
        fences => fences.map_err(setup.storage_error())?,
    };
    Ok(Opened { path, lock, writer, incarnation, last_position, fences, is_damaged })
}

/// A connection for the checkpoints, away from the commits.
pub(super) fn connect_checkpointer(path: &Path) -> Result<Connection, OpenError> {
    let setup = Setup { path };
    let conn = setup.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    setup.settle(&conn, WRITER_SETTINGS)?;
    Ok(conn)
}

/// A connection that cannot write.
pub(super) fn connect_reader(path: &Path) -> Result<Connection, OpenError> {
    let setup = Setup { path };
    let conn = setup.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    setup.settle(&conn, READER_SETTINGS)?;
    Ok(conn)
}

/// Name, value to set, value to find.
pub(super) type Setting = (&'static str, &'static str, &'static str);

const WRITER_SETTINGS: &[Setting] = &[
    ("busy_timeout", BUSY_TIMEOUT, BUSY_TIMEOUT),
    ("trusted_schema", "off", "0"),
    ("cell_size_check", "on", "1"),
    ("mmap_size", "0", "0"),
    ("foreign_keys", "on", "1"),
    ("journal_mode", "wal", "wal"),
    // FULL, because in WAL mode NORMAL may lose the newest commits with the power.
    ("synchronous", "full", "2"),
    ("wal_autocheckpoint", "0", "0"),
    ("journal_size_limit", "67108864", "67108864"),
    // What is removed is overwritten, also in pages that are not used again.
    ("secure_delete", "on", "1"),
];

pub(super) const READER_SETTINGS: &[Setting] = &[
    ("busy_timeout", BUSY_TIMEOUT, BUSY_TIMEOUT),
    ("trusted_schema", "off", "0"),
    ("cell_size_check", "on", "1"),
    ("mmap_size", "0", "0"),
    ("query_only", "on", "1"),
];

#[derive(PartialEq, Eq)]
pub(super) enum FileKind {
    Empty,
    Ours,
}

pub(super) struct Setup<'a> {
    pub(super) path: &'a Path,
}

impl Setup<'_> {
    pub(super) fn storage_error<E: std::error::Error + Send + Sync + 'static>(&self) -> impl FnOnce(E) -> OpenError {
        let path = self.path.to_owned();
        |source| {
            // Asked here and not by each caller: any of the first statements may be the one that meets it.
            let source: Box<dyn std::error::Error + Send + Sync> = Box::new(source);
            match sqlite_cause(&*source).and_then(rusqlite::Error::sqlite_error_code) {
                Some(ErrorCode::ReadOnly) => OpenError::ReadOnly { path },
                Some(ErrorCode::DatabaseCorrupt) => OpenError::Damaged { path, source: StorageError(source) },
                Some(_) | None => OpenError::Storage { path, source: StorageError(source) },
            }
        }
    }

    pub(super) fn connect(&self, access: OpenFlags) -> Result<Connection, OpenError> {
        let conn = Connection::open_with_flags(self.path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(self.storage_error())?;
        conn.set_prepared_statement_cache_capacity(128);
        functions::register(&conn).map_err(self.storage_error())?;
        // Checkpoints are made where a failure can be reported, never implicitly when a connection closes.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(self.storage_error())?;
        Ok(conn)
    }

    pub(super) fn settle(&self, conn: &Connection, settings: &[Setting]) -> Result<(), OpenError> {
        for &(name, value, wanted) in settings {
            set(conn, name, value).map_err(self.storage_error())?;
            let found = match conn.pragma_query_value(None, name, |row| row.get(0)).map_err(self.storage_error())? {
                Value::Integer(number) => number.to_string(),
                Value::Text(text) => text,
                other => format!("{other:?}"),
            };
            if found != wanted {
                return Err(OpenError::Setting { name, wanted, found });
            }
        }
        Ok(())
    }

    /// Brings the schema up to date, all in one transaction: a migration that is killed leaves the version before it. Damage that it
    /// meets in a table beside the log is no reason to refuse: those tables are made anew from the log.
    fn migrate(&self, conn: &mut Connection) -> Result<(), OpenError> {
        let run = |conn: &mut Connection| embedded::migrations::runner().set_grouped(true).run(conn).map(drop);
        match run(conn) {
            Err(err) if sqlite_cause(&err).is_some_and(is_damage) => {
                tracing::error!(error = %err, "the schema can not be brought up to date as the tables are");
                let schema = schema_version(conn).map_err(self.storage_error())?.unwrap_or_default();
                mend::salvage(conn, &connect_reader(self.path)?, schema).map_err(self.storage_error())?;
                run(conn).map_err(self.storage_error())
            }
            done => done.map_err(self.storage_error()),
        }
    }

    /// Looks before anything is touched.
    fn inspect(&self) -> Result<FileKind, OpenError> {
        // Not opened read-only: a journal left by a crash could not be rolled back, and the store not be read.
        let conn = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let found = self.identify(&conn);
        // With nothing in the write-ahead log, closing as usual takes away the empty one that looking has made.
        if fs::metadata(beside(self.path, "-wal")).is_ok_and(|wal| wal.len() == 0) {
            conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(self.storage_error())?;
        }
        found
    }

    pub(super) fn identify(&self, conn: &Connection) -> Result<FileKind, OpenError> {
        self.settle(conn, READER_SETTINGS)?;
        let foreign = || OpenError::Foreign { path: self.path.to_owned() };
        let id = match conn.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0)) {
            Ok(id) => id,
            Err(err) if err.sqlite_error_code() == Some(ErrorCode::NotADatabase) => return Err(foreign()),
            Err(err) => return Err(self.storage_error()(err)),
        };
        if id != APPLICATION_ID {
            let objects: i64 = conn
                .query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get(0))
                .map_err(self.storage_error())?;
            return if id == 0 && objects == 0 { Ok(FileKind::Empty) } else { Err(foreign()) };
        }
        let schema = schema_version(conn).map_err(self.storage_error())?;
        self.check_version("schema", schema, newest_schema())?;
        if has_table(conn, "meta").map_err(self.storage_error())? {
            self.check_event_version(conn)?;
        }
        Ok(FileKind::Ours)
    }

    /// Refuses newer events on the server's stream, where they may be a token that was revoked. What other streams hold is
    /// fenced off.
    fn check_event_version(&self, conn: &Connection) -> Result<(), OpenError> {
        match fences::newest_of_server(conn) {
            Err(err) if is_damage(&err) => Ok(()),
            found => self.check_version("event", found.map_err(self.storage_error())?, EVENT_VERSION.into()),
        }
    }

    fn check_version(&self, what: &'static str, found: Option<i64>, known: i64) -> Result<(), OpenError> {
        match found {
            Some(found) if found > known => Err(OpenError::Newer { path: self.path.to_owned(), what, found, known }),
            Some(_) | None => Ok(()),
        }
    }
}

/// What SQLite said, if it is among the causes.
fn sqlite_cause<'a>(err: &'a (dyn std::error::Error + 'static)) -> Option<&'a rusqlite::Error> {
    std::iter::successors(Some(err), |err| err.source()).find_map(|err| err.downcast_ref())
}

/// Runs to the end: a change of the journal answers before it is flushed, and whoever stops at the answer never learns
/// that the flush has failed.
fn set(conn: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    let mut statement = conn.prepare(&format!("PRAGMA {name} = {value}"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

pub(super) fn newest_schema() -> i64 {
    let runner = embedded::migrations::runner();
    runner.get_migrations().iter().map(|migration| i64::from(migration.version())).max().unwrap_or(0)
}

/// Which schema a store has, if it has one. The number is in the table and in its index, either of which may be damaged.
pub(super) fn schema_version(conn: &Connection) -> rusqlite::Result<Option<i64>> {
    if !has_table(conn, "refinery_schema_history")? {
        return Ok(None);
    }
    let newest = |table: &str| conn.query_row(&format!("SELECT MAX(version) FROM {table}"), [], |row| row.get(0));
    match (newest("refinery_schema_history"), newest("refinery_schema_history NOT INDEXED")) {
        (Ok(by_index), Ok(by_table)) => Ok(Option::max(by_index, by_table)),
        (Ok(found), Err(err)) | (Err(err), Ok(found)) if is_damage(&err) => Ok(found),
        (Err(err), _) | (_, Err(err)) => Err(err),
    }
}

/// A table that its schema has lost.
#[derive(Debug, thiserror::Error)]
#[error("its schema is without the table {0}")]
struct MissingTable(&'static str);

/// Whether the schema has every table: a damaged page of it may have lost some without a word.
fn find_missing_table(conn: &Connection) -> rusqlite::Result<Option<&'static str>> {
    for name in mend::checked_tables().map(|table| table.name).chain(["meta", "entries"]) {
        if !has_table(conn, name)? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

pub(super) fn has_table(conn: &Connection, name: &str) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")?.exists([name])
}

/// The same for a store whose notes about itself are lost.
fn begin_anew(conn: &mut Connection, new_incarnation: Incarnation) -> rusqlite::Result<(Incarnation, u64)> {
    let newest = match conn.query_row("SELECT MAX(version) FROM entries", [], |row| row.get::<_, Option<i64>>(0)) {
        Err(err) if is_damage(&err) => None,
        newest => newest?,
    };
    mend::in_transaction(conn, |tx| {
        pages::recreate(tx, "meta")?;
        // That a newer version was here must not be forgotten.
        let newest = newest.unwrap_or_default().max(i64::from(EVENT_VERSION));
        tx.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('event_version', ?1)", [newest])
    })?;
    begin(conn, new_incarnation)
}

/// Notes which incarnation of the store this is and which events it may hold; answers the last position that was given.
fn begin(conn: &mut Connection, new_incarnation: Incarnation) -> rusqlite::Result<(Incarnation, u64)> {
    // Read before: a transaction that meets damage may write nothing.
    let last_position = meta::last_position(conn)?;
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    tx.execute(
        "INSERT INTO meta (key, value)
         VALUES ('incarnation', ?1)
         ON CONFLICT DO NOTHING",
        [new_incarnation.bits().cast_signed()],
    )?;
    tx.execute(
        "INSERT INTO meta (key, value)
         VALUES ('event_version', ?1)
         ON CONFLICT DO UPDATE SET value = MAX(value, excluded.value)",
        params![EVENT_VERSION],
    )?;
    let bits: i64 = tx.query_row("SELECT value FROM meta WHERE key = 'incarnation'", [], |row| row.get(0))?;
    tx.commit()?;
    Ok((Incarnation::from_bits(bits.cast_unsigned()), last_position.0))
}

/// Makes the file, if there is none, readable by its owner alone before anything is in it.
fn create_private(path: &Path) -> io::Result<()> {
    match private().write(true).create_new(true).open(path) {
        // The name itself has to survive the power too.
        Ok(_) => sync(parent(path)),
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(err) => Err(err),
    }
}

/// How long a lock may be left behind by a process that is gone, on a busy machine.
const LEFT_LOCK_FOR: Duration = Duration::from_millis(500);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The locks that stand for a whole store. The system lets go of them when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct StoreLock {
    _store: File,
    /// The folder's own, since a file can be removed under its owner.
    _folder: Option<File>,
}

/// Takes the locks that stand for the whole store, which has one name from then on.
pub(super) fn own(path: &Path) -> Result<StoreLock, OpenError> {
    let io_error = |source| io_error(path, source);
    let store = private().write(true).create(true).open(beside(path, ".lock")).map_err(io_error)?;
    match lock(&store) {
        Ok(()) => (),
        Err(TryLockError::WouldBlock) => return Err(OpenError::InUse { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => return Err(io_error(source)),
    }
    let folder = own_folder(path)?;
    interrupted_restore::take_away(path).map_err(io_error)?;
    Ok(StoreLock { _store: store, _folder: folder })
}

/// The lock of the store's folder. A store that is made beside another has none, and where a file system knows no such locks
/// the file alone has to do.
fn own_folder(path: &Path) -> Result<Option<File>, OpenError> {
    if path.file_name().is_none_or(|name| name != DATABASE) {
        return Ok(None);
    }
    let Ok(folder) = File::open(parent(path)) else { return Ok(None) };
    match lock(&folder) {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse { path: path.to_owned() }),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Locks a file that nobody has. A process that ended while it was starting another one left its locks with that one, until it has
/// become the other program.
fn lock(file: &File) -> Result<(), TryLockError> {
    let until = Instant::now() + LEFT_LOCK_FOR;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(LOOK_AGAIN),
            locked => return locked,
        }
    }
}

fn io_error(path: &Path, source: io::Error) -> OpenError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => OpenError::ReadOnly { path },
        _ => OpenError::Io { path, source },
    }
}
