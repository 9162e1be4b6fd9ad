//! Writes one session's copy: first its transcript, then `meta.json`.
//!
//! Invariant: everything is flushed when [`Pen::finish`] answers. One that is dropped before leaves what a crash would.

use std::path::PathBuf;

use model::SessionId;

use crate::CopyError;
use crate::copies::folder::Folder;
use crate::copies::meta;
use crate::copies::transcript::{self, Writing};

/// What is to be done to the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Nothing: they are as they should be.
    Leave,
    /// Lines are added after this many bytes; what follows them is cut off, if there is something.
    GoOn { at: u64, torn: bool },
    /// All lines are written into a new file.
    Anew,
}

pub(super) struct Pen {
    path: PathBuf,
    id: SessionId,
    way: Way,
    writing: Option<Writing>,
    /// The new content of `meta.json`, if it changes.
    meta: Option<Vec<u8>>,
}

impl Pen {
    pub(super) fn new(path: PathBuf, id: SessionId, way: Way, meta: Option<Vec<u8>>) -> Self {
        Self { path, id, way, writing: None, meta }
    }

    pub(super) fn takes_lines(&self) -> bool {
        self.way != Way::Leave
    }

    /// Without a line there is nothing to do.
    pub(super) fn is_content(&self) -> bool {
        self.meta.is_none() && matches!(self.way, Way::Leave | Way::GoOn { torn: false, .. })
    }

    pub(super) fn add(mut self, lines: &[u8]) -> Result<Self, CopyError> {
        let writing = match (self.writing.take(), self.way) {
            (Some(writing), _) => writing,
            (None, Way::GoOn { at, .. }) => Writing::after(self.folder()?, at)?,
            (None, Way::Anew | Way::Leave) => Writing::anew(self.folder()?)?,
        };
        self.writing = Some(writing.add(lines)?);
        Ok(self)
    }

    pub(super) fn finish(mut self) -> Result<Self, CopyError> {
        match (self.writing.take(), self.way) {
            (Some(writing), _) => writing.finish()?,
            (None, Way::GoOn { at, torn: true }) => Writing::after(self.folder()?, at)?.finish()?,
            // No turn has ended, so there is no file.
            (None, Way::Anew) => drop(self.folder()?.remove_file(transcript::NAME)?),
            (None, Way::GoOn { torn: false, .. } | Way::Leave) => (),
        }
        if let Some(meta) = self.meta.take() {
            self.folder()?.write_whole(meta::NAME, &meta)?;
        }
        Ok(self)
    }

    /// The session's folder, made if it is not there.
    fn folder(&self) -> Result<Folder, CopyError> {
        Folder::make(&self.path)?.make_child(&self.id.to_string())
    }
}
