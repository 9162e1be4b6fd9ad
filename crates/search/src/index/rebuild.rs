//! An index is made anew beside the one that answers, and takes its place when it reaches as far.
//!
//! Invariant: it takes over by one commit. Before it, the disk says that it is filled beside another; after it, that it
//! answers. A crash leaves the one or the other, and what is then too many is removed when they are opened.

use std::path::Path;

use model::{Incarnation, Position};

use super::folder::{self, Ready, Standing};
use super::{Index, SearchError};

/// An index that is filled while another one answers.
pub struct Beside {
    /// Ready.
    pub index: Index,
    /// It holds everything up to here.
    pub position: Position,
}

impl Index {
    /// Has the index in `dir` made anew, by whoever opens it next or has it open and asks
    /// [`Self::is_rebuild_wanted`].
    pub fn want_rebuild(dir: &Path) -> Result<(), SearchError> {
        folder::want_rebuild(dir)
    }

    /// Somebody wants it made anew.
    pub fn is_rebuild_wanted(&self) -> bool {
        folder::is_rebuild_wanted(self.place.dir())
    }

    /// Makes an empty one beside this one, to be filled from the log's beginning.
    pub fn begin_beside(&self) -> Result<Beside, SearchError> {
        let ready = folder::make(self.place.next(), Standing::Beside)?;
        Ok(Beside::of(ready, self.incarnation))
    }

    /// From now on this one answers: it reaches up to `position`, as far as the one that has answered until now.
    pub fn take_over(&self, position: Position) -> Result<(), SearchError> {
        let mut writing = self.writing();
        self.write_with(&mut writing, |_| Ok(()))?;
        writing.reached = Some(position);
        writing.standing = Standing::Answering;
        self.commit_with(&mut writing)?;
        folder::forget_rebuild(self.place.dir())
    }

    /// Removes it from the disk. Searches that are under way come to their end.
    pub fn discard(&self) -> Result<(), SearchError> {
        let mut writing = self.writing();
        writing.failed = true;
        drop(writing.writer.take());
        folder::discard(&self.place)
    }
}

impl Beside {
    pub(super) fn of(ready: Ready, incarnation: Incarnation) -> Self {
        let position = ready.position.unwrap_or_default();
        Self { index: Index::of(ready, incarnation), position }
    }
}
