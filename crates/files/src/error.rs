//! Why a path could not be read, written or listed.
//!
//! Invariant: [`FileError::NotAllowed`] carries nothing, so that it reveals nothing about the path.

use std::io;

use rustix::io::Errno;

/// Why a path could not be read, written or listed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Outside of every tree, or protected; the same whether or not something is there.
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
    /// A part of the path, or what should be listed, is no directory.
    #[error("this is no directory, or the path goes through something that is none")]
    NotADirectory,
    /// Larger than the caller accepts.
    #[error("this has {bytes} bytes and at most {max} are read at once; ask for fewer lines")]
    TooLarge {
        /// The size of the file.
        bytes: u64,
        /// What the caller accepts.
        max: u64,
    },
    /// A directory with more names than are read.
    #[error("this directory has more than {max} names, which is more than are listed")]
    TooManyNames {
        /// How many are read.
        max: usize,
    },
    /// What is there is not what the writer expected.
    #[error("the file is not what this write expects; read it again, then write what you mean")]
    Changed,
    /// The disk, or what the user may have of it, is full.
    #[error("there is no room left for this file; free some and write it again")]
    Full,
    /// The bytes are not UTF-8.
    #[error("this is no UTF-8 text")]
    NotText,
    /// The system refused; its error is the source.
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
            Errno::NOSPC | Errno::DQUOT => Self::Full,
            // The system never follows links here, so this one was put there a moment ago.
            Errno::LOOP | Errno::MLINK => Self::NotAllowed,
            errno => Self::Io(errno.into()),
        }
    }
}
