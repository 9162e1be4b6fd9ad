//! Cleans up after a restore that was killed: between giving the old store a second name and taking the first away.
//!
//! Invariant: an owned store has one name. SQLite keeps a write-ahead log for each name, and two logs of one file
//! would destroy it. Only names go here: the file stays, and a log that lies beside the second name comes back, as do the copies
//! and payloads that were moved aside with it.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::files::beside;
use crate::sqlite::outside::COPIES;

/// What stands between a store's name and the time when it was moved aside.
pub(super) const ASIDE: &str = ".before-";
/// What stands behind the name of something that is being built.
pub(super) const RESTORING: &str = ".restoring";

/// Takes away the names that a restore has given to the store at `path`. The caller owns it.
pub(super) fn take_away(path: &Path) -> io::Result<()> {
    let store = match fs::metadata(path) {
        Ok(store) if store.nlink() > 1 => store,
        Ok(_) => return Ok(()),
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(err) => return Err(err),
    };
    let (Some(folder), Some(name)) = (path.parent(), beside(path, ASIDE).file_name().map(ToOwned::to_owned)) else {
        return Ok(());
    };
    let store_name_len = path.file_name().map_or(0, std::ffi::OsStr::len);
    for found in fs::read_dir(folder)? {
        let found = found?;
        let ours = found.file_name().as_encoded_bytes().starts_with(name.as_encoded_bytes());
        if ours && is_same(&found.metadata()?, &store) {
            bring_log_back(path, &found.path())?;
            bring_copies_back(folder, &found.file_name().as_encoded_bytes()[store_name_len..])?;
            fs::remove_file(found.path())?;
        }
    }
    File::open(folder)?.sync_all()
}

/// The copies were moved aside with the store, and those of the new one may lie in their place.
fn bring_copies_back(folder: &Path, suffix: &[u8]) -> io::Result<()> {
    let Ok(suffix) = std::str::from_utf8(suffix) else { return Ok(()) };
    let copies = folder.join(COPIES);
    let (aside, restoring) = (beside(&copies, suffix), beside(&copies, RESTORING));
    if !fs::symlink_metadata(&aside).is_ok_and(|aside| aside.is_dir()) {
        return Ok(());
    }
    match fs::symlink_metadata(&copies) {
        Ok(_) => fs::rename(&copies, restoring)?,
        Err(err) if err.kind() == io::ErrorKind::NotFound => (),
        Err(err) => return Err(err),
    }
    fs::rename(aside, copies)
}

/// The log was moved aside with the store, if the store was past reading.
fn bring_log_back(path: &Path, second: &Path) -> io::Result<()> {
    let (log, aside) = (beside(path, "-wal"), beside(second, "-wal"));
    let Ok(moved) = fs::symlink_metadata(&aside) else { return Ok(()) };
    match fs::symlink_metadata(&log) {
        Ok(log) if is_same(&log, &moved) => fs::remove_file(aside),
        // Somebody has begun a new one: both are kept, for whoever can tell them apart.
        Ok(_) => Ok(()),
        Err(_) => fs::rename(aside, log),
    }
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}
