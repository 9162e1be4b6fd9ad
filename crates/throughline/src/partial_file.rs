//! A file that somebody named and that gets this name only when it is complete.
//!
//! Invariant: nothing that is there is written over, neither under the file's own name nor under the one with `.partial` that it
//! has until it is flushed; only what an interrupted export has left there is removed. A process that is killed at any moment
//! leaves the whole file or none of its name.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Read as _, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

/// For how long an empty file may belong to an export that is about to lock it.
const JUST_MADE: Duration = Duration::from_secs(60);
/// How much is looked at to see whether an export of ours begins so.
const LOOKED_AT_BYTES: u64 = 4 << 10;

/// A file that is being written; it goes when this is dropped before it is complete.
pub(crate) struct PartialFile {
    path: PathBuf,
    partial: PathBuf,
    out: BufWriter<File>,
    is_complete: bool,
}

impl PartialFile {
    /// Begins the file that is to be at `path`.
    pub(crate) fn begin(path: &Path) -> Result<Self> {
        refuse_existing(path)?;
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let could_not = || format!("could not write {}", partial.display());
        remove_left_over(&partial).with_context(could_not)?;
        // A link is not followed, and a file that is not ours is not overwritten.
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial);
        let file = made.with_context(could_not)?;
        // By this an export that begins meanwhile sees that it is no left-over. Where there are no locks, nobody removes it either.
        drop(file.try_lock());
        Ok(Self { path: path.to_owned(), partial, out: BufWriter::new(file), is_complete: false })
    }

    /// Flushes the file and gives it its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        let could_not = || format!("could not write {}", self.path.display());
        self.out.flush().and_then(|()| self.out.get_ref().sync_all()).with_context(could_not)?;
        if !self.is_own_still() {
            bail!("{} is another file by now: another export wrote to it; export again", self.partial.display());
        }
        take_name(&self.partial, &self.path).with_context(could_not)?;
        self.is_complete = true;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(File::open(folder)?.sync_all()?)
    }
}

impl PartialFile {
    /// Whether the name still is this file's: somebody may have removed or replaced it.
    fn is_own_still(&self) -> bool {
        match (self.out.get_ref().metadata(), fs::symlink_metadata(&self.partial)) {
            (Ok(own), Ok(there)) => (own.dev(), own.ino()) == (there.dev(), there.ino()),
            (Err(_), _) | (_, Err(_)) => false,
        }
    }
}

impl Write for PartialFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.is_complete && self.is_own_still() {
            // The incomplete file is of no use.
            drop(fs::remove_file(&self.partial));
        }
    }
}

/// Refuses a name that something has, before anything is done for it.
pub(crate) fn refuse_existing(path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        bail!("{} is there already", path.display());
    }
    Ok(())
}

/// Removes what an interrupted export has left, and nothing else.
fn remove_left_over(partial: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(partial).is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    let file = File::open(partial)?;
    match file.try_lock() {
        Ok(()) => (),
        Err(TryLockError::WouldBlock) => {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, "another export is writing it"));
        }
        Err(TryLockError::Error(_)) => {
            let why =
                "it is there already, and whether an export is writing it is not known here; remove it if none is";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
        }
    }
    let mut begins = Vec::new();
    (&file).take(LOOKED_AT_BYTES).read_to_end(&mut begins)?;
    // One that is empty and new may be about to be locked by the export that has just made it.
    let is_just_made = || {
        let age = file.metadata().and_then(|found| found.modified()).map(|at| at.elapsed().unwrap_or_default());
        age.map_or(true, |age| age < JUST_MADE)
    };
    if begins.is_empty() && is_just_made() {
        return Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "another export has just begun it; try again in a minute",
        ));
    }
    if begins.is_empty() || is_of_an_export(&begins) { fs::remove_file(partial) } else { Ok(()) }
}

/// Whether some form of an export begins so.
fn is_of_an_export(begins: &[u8]) -> bool {
    const EVERYTHING: &[u8] = br#"{"throughline":"export""#;
    const BUNDLE: &[u8] = b"throughline-bundle.json\0";
    const APPLET: &[u8] = b"{\n  \"throughline-applet\": ";
    const ENTRIES: &[u8] = br#"{"seq":1,"at":""#;
    const HTML: &[u8] = b"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:;";
    let is_markdown = || {
        let text = String::from_utf8_lossy(begins);
        let mut lines = text.lines();
        let title = lines.next().is_some_and(|line| line.starts_with("# "));
        let id = lines.nth(1).and_then(|line| line.strip_prefix("Session ")?.split_once(" with "));
        title && id.is_some_and(|(id, _)| id.parse::<model::SessionId>().is_ok())
    };
    [EVERYTHING, BUNDLE, APPLET, ENTRIES, HTML].iter().any(|beginning| begins.starts_with(beginning)) || is_markdown()
}

/// Gives a file its final name, unless something else got that name meanwhile.
fn take_name(partial: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(partial, path) {
        Ok(()) => fs::remove_file(partial),
        // On a file system without hard links, checking first is the best there is.
        Err(err) if err.kind() != io::ErrorKind::AlreadyExists && fs::symlink_metadata(path).is_err() => {
            fs::rename(partial, path)
        }
        Err(err) => Err(err),
    }
}
