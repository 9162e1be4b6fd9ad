//! The mark by which whatever an agent started is known, also when nobody is left who saw it start.
//!
//! Invariant: it is a variable of the environment, so every process inherits it that does not throw it away. It names the
//! folder that the server serves, and so no process of another server is taken for one of ours.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) const VARIABLE: &str = "THROUGHLINE_AGENT_OF";

/// The folder whose owner starts the agents. Only one process owns it at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder(String);

impl Folder {
    /// By what it is, not by how it is called: a path may lead elsewhere tomorrow.
    pub fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self(format!("{:x}.{:x}", found.dev(), found.ino())))
    }

    /// What the variable of each of its agents begins with.
    pub(super) fn prefix(&self) -> String {
        format!("{VARIABLE}={}:", self.0)
    }
}

/// Gives each agent a mark of its own.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    folder: Option<Folder>,
    given: Arc<AtomicU64>,
}

/// The whole variable of one agent; none where agents are not marked.
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
    /// The variable, for whoever is to be marked.
    pub(super) fn variable(&self) -> Option<(&str, &str)> {
        self.0.as_deref()?.split_once('=')
    }

    pub(super) fn put_into(&self, environment: &mut BTreeMap<String, String>) {
        if let Some((name, value)) = self.variable() {
            environment.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Whether this is a variable of a marked process, given as `NAME=value`.
    pub(super) fn is(&self, variable: &[u8]) -> bool {
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
        assert!(one.is(text(&one).as_bytes()) && !one.is(text(&other).as_bytes()));
        assert!(text(&one).starts_with(&folder.prefix()) && text(&other).starts_with(&folder.prefix()));
        assert_eq!(Marks::default().next().variable(), None);
    }
}
