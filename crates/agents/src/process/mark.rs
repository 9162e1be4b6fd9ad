//! The mark by which every process that an agent started is found, even when nobody saw it start.
//!
//! Invariant: the mark is an environment variable, so every process inherits it unless it removes it. It names the
//! folder that the server serves, so no process of another server is taken for ours, and says how the agent is asked to end.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::wire::Ending;

pub(super) const VARIABLE: &str = "THROUGHLINE_AGENT_OF";
/// The end of the mark of a program with [`Ending::HangUp`].
const HANG_UP: &str = ".hang_up";

/// The data folder whose owner starts the agents. Only one process owns it at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder(String);

impl Folder {
    /// Identifies the folder by its inode, not by its path, which may lead elsewhere tomorrow.
    pub fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self(format!("{:x}.{:x}", found.dev(), found.ino())))
    }

    /// How the agent of this folder is asked to end whose mark this `NAME=value` is; `None` if it is no such mark.
    pub(super) fn ending_in(&self, variable: &[u8]) -> Option<Ending> {
        let value = variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"=")?;
        let agent = value.strip_prefix(self.0.as_bytes())?.strip_prefix(b":")?;
        Some(if agent.ends_with(HANG_UP.as_bytes()) { Ending::HangUp } else { Ending::ClosedInput })
    }
}

/// Makes a mark for each agent.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    folder: Option<Folder>,
    given: Arc<AtomicU64>,
}

/// The variable of one agent; none where agents are not marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark(Option<String>);

impl Marks {
    pub(super) fn of(folder: Folder) -> Self {
        Self { folder: Some(folder), given: Arc::default() }
    }

    pub(super) fn next(&self, ending: Ending) -> Mark {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        let ending = match ending {
            Ending::ClosedInput => "",
            Ending::HangUp => HANG_UP,
        };
        let mark = |folder: &Folder| format!("{VARIABLE}={}:{}.{number}{ending}", folder.0, std::process::id());
        Mark(self.folder.as_ref().map(mark))
    }
}

impl Mark {
    /// The variable as name and value.
    pub(super) fn variable(&self) -> Option<(&str, &str)> {
        self.0.as_deref()?.split_once('=')
    }

    pub(super) fn put_into(&self, environment: &mut BTreeMap<String, String>) {
        if let Some((name, value)) = self.variable() {
            environment.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Whether this `NAME=value` is the mark.
    pub(super) fn matches(&self, variable: &[u8]) -> bool {
        self.0.as_deref().is_some_and(|own| own.as_bytes() == variable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_has_its_own_mark_and_all_have_the_folders() {
        let folder = Folder::of(Path::new("/")).unwrap();
        let marks = Marks::of(folder.clone());
        let (one, other) = (marks.next(Ending::ClosedInput), marks.next(Ending::HangUp));
        let text = |mark: &Mark| mark.variable().map(|(name, value)| format!("{name}={value}")).unwrap();
        assert!(one.matches(text(&one).as_bytes()) && !one.matches(text(&other).as_bytes()));
        assert_eq!(folder.ending_in(text(&one).as_bytes()), Some(Ending::ClosedInput));
        assert_eq!(folder.ending_in(text(&other).as_bytes()), Some(Ending::HangUp));
        assert_eq!(Folder("1.2".to_owned()).ending_in(text(&one).as_bytes()), None);
        assert_eq!(Marks::default().next(Ending::HangUp).variable(), None);
    }
}
