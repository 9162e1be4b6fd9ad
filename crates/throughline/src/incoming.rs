//! Bundles that lie in the folder `incoming` of the data folder while they are taken in.
//!
//! Invariant: whoever puts one there has the folder's lock, shared, for as long as it lies there, and whoever sweeps has it
//! alone: what a killed command has left goes at the next start, and what is being copied or taken in stays.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use model::SessionId;
use rustix::fs::{Mode, OFlags};

/// A copy of a bundle there, which goes when this does.
pub(crate) struct IncomingBundle {
    path: PathBuf,
    /// The folder, with its lock.
    _folder: File,
}

impl IncomingBundle {
    /// Copies a bundle there, under this name.
    pub(crate) fn copy(from: &Path, folder: &Path, name: &str) -> Result<Self> {
        let could_not = || format!("could not copy {} into {}", from.display(), folder.display());
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(err) if err.kind() != io::ErrorKind::AlreadyExists => return Err(err).with_context(could_not),
            Ok(()) | Err(_) => (),
        }
        let own = open_folder(folder).with_context(could_not)?;
        // Where there are no locks, nobody sweeps either.
        drop(own.lock_shared());
        let copy = Self { path: folder.join(format!("{name}.tar")), _folder: own };
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&copy.path);
        let copied = made.and_then(|mut to| File::open(from).and_then(|mut from| io::copy(&mut from, &mut to)));
        copied.with_context(could_not)?;
        Ok(copy)
    }
}

impl Drop for IncomingBundle {
    fn drop(&mut self) {
        // What stays is swept by the next start.
        drop(fs::remove_file(&self.path));
    }
}

/// Removes the bundles that killed commands have left, and nothing else; how many there were. None are removed while a command is
/// at work with one.
pub(crate) fn sweep(folder: &Path) -> io::Result<usize> {
    // Behind a link is nothing of ours.
    if !fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        return Ok(0);
    }
    let own = open_folder(folder)?;
    if own.try_lock().is_err() {
        return Ok(0);
    }
    let mut removed = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if is_name(&entry.path()) && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Opens the folder and nothing else: a pipe in its place would be waited for until somebody writes to it.
fn open_folder(path: &Path) -> io::Result<File> {
    Ok(rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?.into())
}

/// Bundles there are named by a UUID, as sessions are.
fn is_name(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    path.extension().is_some_and(|extension| extension == "tar")
        && stem.is_some_and(|stem| stem.parse::<SessionId>().is_ok())
}
