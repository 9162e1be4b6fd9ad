//! How much is compared for one question.
//!
//! Invariant: the lines of so many files are counted and no more, and comparing ends in time, however large the files.

use std::time::{Duration, Instant};

/// How many files of a list have their lines counted.
const COUNTED_FILES: usize = 200;
/// How long the files of a list are compared.
const LIST_LIMIT: Duration = Duration::from_secs(10);
/// How long the least change of one file is looked for.
const DIFF_LIMIT: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    files: usize,
    until: Instant,
}

impl Budget {
    pub(super) fn of_list() -> Self {
        Self::new(COUNTED_FILES, LIST_LIMIT)
    }

    pub(super) fn of_one_file() -> Self {
        Self::new(1, LIST_LIMIT)
    }

    pub(super) fn new(files: usize, limit: Duration) -> Self {
        Self { files, until: Instant::now() + limit }
    }

    /// Whether nothing more is read.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Until when the lines of one more file are compared, if they are.
    pub(super) fn take(&mut self) -> Option<Instant> {
        self.files = self.files.checked_sub(1)?;
        Some(self.deadline())
    }

    pub(super) fn deadline(&self) -> Instant {
        self.until.min(Instant::now() + DIFF_LIMIT)
    }
}
