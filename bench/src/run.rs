//! The settings of every benchmark: how often, how much, where, and with which program.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

pub(crate) struct Run {
    /// The real program, as people get it.
    pub(crate) binary: PathBuf,
    /// Where stores and files of the run are, on the disk that is measured.
    pub(crate) folder: PathBuf,
    /// The path of ripgrep, if it is installed.
    pub(crate) ripgrep: Option<PathBuf>,
    /// How many pieces are searched in a full run.
    pub(crate) pieces: usize,
    pub(crate) repeats: usize,
    pub(crate) extent: Extent,
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything, as in the published figures.
    Full,
    /// A tenth, and no store of a million sessions: enough to see whether something broke.
    Quick,
}

impl Run {
    /// An empty folder for one benchmark; what an earlier run left there is removed.
    pub(crate) fn fresh_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("could not remove {}", folder.display()))?;
        }
        make_folder(&folder)?;
        Ok(folder)
    }

    /// `count`, or a tenth of it in a quick run.
    pub(crate) fn times(&self, count: usize) -> usize {
        match self.extent {
            Extent::Full => count,
            Extent::Quick => count.div_ceil(10),
        }
    }

    /// Runs `once` for each repeat, and prints progress.
    pub(crate) fn repeat(&self, what: &str, mut once: impl FnMut() -> Result<()>) -> Result<()> {
        for repeat in 1..=self.repeats {
            print_progress(&format!("{what}: {repeat} of {}", self.repeats));
            once()?;
        }
        Ok(())
    }
}

pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))
}

/// Prints progress.
#[expect(clippy::print_stderr, reason = "progress is for the person, the table for standard output")]
pub(crate) fn print_progress(what: &str) {
    eprintln!("  {what}");
}
