//! Writes one session's copy: first `outputs.json`, then its transcript, then `meta.json`.
//!
//! Invariant: everything is flushed when [`CopyWriter::finish`] answers. One that is dropped before leaves what a crash would. Lines are
//! only added at the end of those that are whole; what a crash left after the last line end is cut off first.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use model::SessionId;

use crate::CopyError;
use crate::copies::folder::{Folder, io_error};
use crate::copies::transcript::NAME;
use crate::copies::{meta, outputs};

/// What is to be done to the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Nothing: they are as they should be.
    Leave,
    /// Lines are added after this many bytes; what follows them is cut off, if there is something.
    GoOn { at: u64, torn: bool },
    /// All lines are written into a new file, which then takes the other's place.
    Anew,
}

pub(super) struct CopyWriter {
    path: PathBuf,
    id: SessionId,
    way: Way,
    transcript: Option<(Folder, File)>,
    files: ChangedFiles,
}

/// The files that are written whole, as far as they change.
#[derive(Debug, Default)]
pub(super) struct ChangedFiles {
    /// The new content of `meta.json`.
    pub(super) meta: Option<Vec<u8>>,
    /// That of `outputs.json`, or that there is none any more.
    pub(super) outputs: Option<Option<Vec<u8>>>,
}

impl CopyWriter {
    pub(super) fn new(path: PathBuf, id: SessionId, way: Way, files: ChangedFiles) -> Self {
        Self { path, id, way, transcript: None, files }
    }

    pub(super) fn takes_lines(&self) -> bool {
        self.way != Way::Leave
    }

    /// Without a line there is nothing to do.
    pub(super) fn is_content(&self) -> bool {
        let ChangedFiles { meta, outputs } = &self.files;
        meta.is_none() && outputs.is_none() && matches!(self.way, Way::Leave | Way::GoOn { torn: false, .. })
    }

    pub(super) fn add(mut self, lines: &[u8]) -> Result<Self, CopyError> {
        self.write_outputs()?;
        let (folder, mut file) = self.open()?;
        file.write_all(lines).map_err(io_error(&folder.path_of(NAME)))?;
        self.transcript = Some((folder, file));
        Ok(self)
    }

    pub(super) fn finish(mut self) -> Result<Self, CopyError> {
        self.write_outputs()?;
        let has_lines = self.transcript.is_some();
        match self.way {
            Way::Anew if has_lines => {
                let (folder, file) = self.open()?;
                folder.put_in_place(NAME, &file)?;
            }
            // No turn has ended, so there is no file.
            Way::Anew => drop(self.folder()?.remove_file(NAME)?),
            Way::GoOn { at, torn } if has_lines || torn => {
                let (folder, file) = self.open()?;
                // Its length is data too: a line that is not reached is not there.
                file.sync_data().map_err(io_error(&folder.path_of(NAME)))?;
                if at == 0 {
                    // The file may be new, and its name has to survive the power too.
                    folder.sync()?;
                }
            }
            Way::GoOn { .. } | Way::Leave => (),
        }
        if let Some(meta) = self.files.meta.take() {
            self.folder()?.write_whole(meta::NAME, &meta)?;
        }
        Ok(self)
    }

    /// Before the lines of the turns that showed them.
    fn write_outputs(&mut self) -> Result<(), CopyError> {
        match self.files.outputs.take() {
            None => Ok(()),
            Some(Some(index)) => self.folder()?.write_whole(outputs::NAME, &index),
            Some(None) => self.folder()?.remove_file(outputs::NAME).map(drop),
        }
    }

    /// The transcript's file: in its place, behind the lines that stay, or a new one beside it.
    fn open(&mut self) -> Result<(Folder, File), CopyError> {
        if let Some(opened) = self.transcript.take() {
            return Ok(opened);
        }
        let folder = self.folder()?;
        let file = match self.way {
            Way::GoOn { at, .. } => {
                let mut file = folder.file_in_place(NAME)?;
                let cut = file.set_len(at).and_then(|()| file.seek(SeekFrom::Start(at)));
                cut.map_err(io_error(&folder.path_of(NAME)))?;
                file
            }
            Way::Anew | Way::Leave => folder.file_beside(NAME)?,
        };
        Ok((folder, file))
    }

    /// The session's folder, made if it is not there.
    fn folder(&self) -> Result<Folder, CopyError> {
        Folder::make(&self.path)?.make_child(&self.id.to_string())
    }
}
