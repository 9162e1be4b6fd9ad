//! Why a path was not read, written or listed.
//!
//! Invariant: [`FileError::NotAllowed`] carries nothing, so that it tells nothing about what it stands before.

use std::io;

use rustix::io::Errno;

/// Why a path was not read, written or listed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Outside every tree, or protected; told alike whether or not something is there.
    #[error(
        "this path is outside the directories that are open here, or protected; \
         give an absolute path inside them, or ask the person for it"
    )]
    NotAllowed,
    /// Nothing has this path.
    #[error("there is nothing at this path; check its spelling")]
    NotFound,
    /// A directory, a device, or a link where a file would be written.
    #[error(
        "this is no plain file; name the file itself, not a directory, a device or a link that would be written to"
    )]
    NotAFile,
    /// A part of the path, or what should be listed, is something else.
    #[error("this is no directory, or the path goes through something that is none")]
    NotADirectory,
    /// More than the caller takes.
    #[error("this has {bytes} bytes and at most {max} are read at once; ask for fewer lines")]
    TooLarge {
        /// How long the file is.
        bytes: u64,
        /// What the caller takes.
        max: u64,
    },
    /// Bytes that are no UTF-8.
    #[error("this is no UTF-8 text")]
    NotText,
    /// The system refused; what it said is the source.
    #[error("the system did not let the file be used")]
    Io(#[source] io::Error),
}

impl From<io::Error> for FileError {
    fn from(err: io::Error) -> Self {
        Errno::from_io_error(&err).map_or_else(|| Self::Io(err), Self::from)
    }
}

impl From<Errno> for FileError {
    fn from(errno: Errno) -> Self {
        match errno {
            // A name that no file system here can hold.
            Errno::NOENT | Errno::NAMETOOLONG => Self::NotFound,
            Errno::NOTDIR => Self::NotADirectory,
            Errno::ISDIR | Errno::NXIO => Self::NotAFile,
            // Links are never followed by the system, so this one was put there a moment ago.
            Errno::LOOP | Errno::MLINK => Self::NotAllowed,
            errno => Self::Io(errno.into()),
        }
    }
}
