//! Which files of a repository were not compared, and why, in words for the person.
//!
//! Invariant: whatever a list leaves out that may have changed has its reason here.

use std::fmt;

use crate::git::Listed;

/// Why a list may lack files that have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// The paths of so many files are not valid UTF-8, so they can not be named.
    NamesNotText {
        /// How many.
        files: usize,
    },
    /// So many untracked folders are repositories of their own.
    Repositories {
        /// How many.
        folders: usize,
    },
    /// There are more untracked files than are listed.
    TooManyUntracked,
    /// So many files were not looked at within the time.
    TimeOver {
        /// How many.
        files: usize,
    },
}

impl LeftOut {
    /// What is known as soon as git has listed its names.
    pub(super) fn of_names(listed: &Listed) -> Vec<Self> {
        let not_text = (listed.not_text > 0).then_some(Self::NamesNotText { files: listed.not_text });
        let nested = (listed.nested > 0).then_some(Self::Repositories { folders: listed.nested });
        let too_many = listed.untracked_cut.then_some(Self::TooManyUntracked);
        not_text.into_iter().chain(nested).chain(too_many).collect()
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NamesNotText { files: 1 } => f.write_str("1 file was not compared: its name is not valid UTF-8"),
            Self::NamesNotText { files } => {
                write!(f, "{files} files were not compared: their names are not valid UTF-8")
            }
            Self::Repositories { folders: 1 } => {
                f.write_str("1 untracked folder was not compared: it is a repository of its own")
            }
            Self::Repositories { folders } => {
                write!(f, "{folders} untracked folders were not compared: they are repositories of their own")
            }
            Self::TooManyUntracked => f.write_str("there are more untracked files than are listed"),
            Self::TimeOver { files: 1 } => f.write_str("1 file was not compared: the time was over"),
            Self::TimeOver { files } => write!(f, "{files} files were not compared: the time was over"),
        }
    }
}
