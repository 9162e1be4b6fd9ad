//! The mark by which every process that an agent started is found, even when nobody saw it start.
//!
//! Invariant: the mark is an environment variable, so every process inherits it unless it removes it. It names the
//! folder that the server serves, so no process of another server is taken for ours.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) const VARIABLE: &str = "THROUGHLINE_AGENT_OF";

/// The data folder whose owner starts the agents. Only one process owns it at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder(String);

impl Folder {
    /// Identifies the folder by its inode, not by its path, which may lead elsewhere tomorrow.
    pub fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self(format!("{:x}.{:x}", found.dev(), found.ino())))
    }

    /// The beginning of the variable of each of its agents.
    pub(super) fn prefix(&self) -> String {
        format!("{VARIABLE}={}:", self.0)
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

    pub(super) fn next(&self) -> Mark {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        Mark(self.folder.as_ref().map(|folder| format!("{}{}.{number}", folder.prefix(), std::process::id())))
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
        let (one, other) = (marks.next(), marks.next());
        let text = |mark: &Mark| mark.variable().map(|(name, value)| format!("{name}={value}")).unwrap();
        assert!(one.matches(text(&one).as_bytes()) && !one.matches(text(&other).as_bytes()));
        assert!(text(&one).starts_with(&folder.prefix()) && text(&other).starts_with(&folder.prefix()));
        assert_eq!(Marks::default().next().variable(), None);
    }
}
