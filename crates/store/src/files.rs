//! What the database and its copies both need of the file system: names beside a file, and names that survive the power.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

const PIECE_BYTES: usize = 1 << 20;

/// The name of a file with something behind it.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The one name of a place, also if nothing is there yet; whatever links and slashes it was named with.
pub(crate) fn one_name(path: &Path) -> io::Result<PathBuf> {
    match (fs::canonicalize(path), path.file_name()) {
        (Err(err), Some(name)) if err.kind() == io::ErrorKind::NotFound => {
            fs::canonicalize(parent(path)).map(|folder| folder.join(name))
        }
        (known, _) => known,
    }
}

/// How files are made that only their owner can read.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a file that only its owner can read; it must not be there yet.
pub(crate) fn write_flushed(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = private().write(true).create_new(true).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Removes a file; one that is not there is as it should be.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(err) if err.kind() != io::ErrorKind::NotFound && err.kind() != io::ErrorKind::NotADirectory => Err(err),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Makes the names in a folder survive the power too.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Reads to the end; gives how many bytes there were, and their SHA-256 in hex. `take` gets each piece, and how much was read before it.
pub(crate) fn hash<E>(
    mut from: impl FnMut(&mut [u8]) -> Result<usize, E>,
    mut take: impl FnMut(&[u8], u64) -> Result<(), E>,
) -> Result<(u64, String), E> {
    let (mut hasher, mut bytes, mut piece) = (Sha256::new(), 0, vec![0; PIECE_BYTES]);
    loop {
        let read = from(&mut piece)?;
        take(&piece[..read], bytes)?;
        if read == 0 {
            return Ok((bytes, hex(hasher)));
        }
        hasher.update(&piece[..read]);
        bytes += read as u64;
    }
}

pub(crate) fn hex(hasher: Sha256) -> String {
    format!("{:x}", hasher.finalize())
}
