//! Reserves disk space, so that running turns can be ended in the log when the disk is full.
//!
//! Invariant: the reserve is held, or ordinary writes are refused. A disk that runs full gives the reserve back for the
//! last words of what runs; ordinary writes pass again once the space for it is there again, without a restart.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use rustix::fs::{FallocateFlags, fallocate};

use crate::files::private;

pub(super) struct Reserve {
    path: PathBuf,
    bytes: u64,
    held: bool,
}

impl Reserve {
    /// Sets the space aside if there is some.
    pub(super) fn new(path: PathBuf, bytes: u64) -> Self {
        let mut reserve = Self { path, bytes, held: false };
        if let Err(err) = reserve.hold() {
            tracing::warn!(error = %err, "too little space is left: nothing new is taken until there is more");
        }
        reserve
    }

    /// Sees to it that the space is set aside.
    pub(super) fn hold(&mut self) -> io::Result<()> {
        if self.held {
            return Ok(());
        }
        if self.bytes > 0 {
            match self.allocate() {
                Ok(()) => (),
                // Not every file system can set space aside, and a limit on the size of files says nothing about the disk:
                // then there is no reserve.
                Err(err) if matches!(err.kind(), io::ErrorKind::Unsupported | io::ErrorKind::FileTooLarge) => {
                    tracing::debug!(error = %err, "no reserve can be kept here");
                }
                Err(err) => {
                    // What was allocated before it failed is needed elsewhere.
                    self.release();
                    return Err(err);
                }
            }
        }
        self.held = true;
        Ok(())
    }

    /// Gives the space back to the disk.
    pub(super) fn release(&mut self) {
        self.held = false;
        match fs::remove_file(&self.path) {
            Ok(()) => (),
            Err(err) if err.kind() == io::ErrorKind::NotFound => (),
            Err(err) => tracing::warn!(error = %err, "the reserve could not be given back"),
        }
    }

    fn allocate(&self) -> io::Result<()> {
        fail::fail_point!("store-reserve", |_| Err(io::ErrorKind::StorageFull.into()));
        let file: File = private().write(true).create(true).truncate(false).open(&self.path)?;
        // Also where the file is long enough: a copy of the folder may have its length and none of its space.
        Ok(fallocate(&file, FallocateFlags::empty(), 0, self.bytes)?)
    }
}
