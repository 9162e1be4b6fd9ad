//! The project's text files, read once.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::Finding;
use crate::workspace::Metadata;

/// Folders with built or fetched files.
const NOT_OURS: [&str; 5] = [".git", "dist", "node_modules", "target", "test-results"];

pub(super) struct Tree {
    /// The absolute path of the project's root.
    pub(super) root: PathBuf,
    /// Sorted by path.
    pub(super) files: Vec<File>,
    pub(super) metadata: Metadata,
}

pub(super) struct File {
    /// From the root, with `/` between folders.
    pub(super) path: String,
    pub(super) text: String,
}

impl Tree {
    pub(super) fn read(root: &Path, metadata: Metadata) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        collect(root, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { root: root.to_owned(), files, metadata })
    }

    pub(super) fn find(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Our Rust files.
    pub(super) fn rust_files(&self) -> impl Iterator<Item = &File> {
        let ours = |path: &str| ["bench/", "crates/", "xtask/"].iter().any(|folder| path.starts_with(folder));
        self.files.iter().filter(move |file| file.path.ends_with(".rs") && ours(&file.path))
    }
}

impl File {
    /// The lines with their numbers, from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    pub(super) fn finding(&self, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, message: message.into() }
    }

    /// Its last path component.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().expect("a split gives at least one piece")
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) -> anyhow::Result<()> {
    let unreadable = || format!("could not read {}", folder.display());
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        let entry = entry.with_context(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().with_context(unreadable)?;
        if kind.is_dir() && !NOT_OURS.contains(&name.as_str()) {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file() {
            let bytes = fs::read(entry.path()).with_context(|| format!("could not read {path}"))?;
            // Images and fonts have no lines to check.
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(File { path, text });
            }
        }
    }
    Ok(())
}

/// A small made-up project for the tests of the rules.
#[cfg(test)]
pub(super) fn made_up(files: &[(&str, &str)]) -> Tree {
    let mut files: Vec<_> =
        files.iter().map(|(path, text)| File { path: (*path).to_owned(), text: (*text).to_owned() }).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Tree { root: PathBuf::from("/made/up"), files, metadata: Metadata::default() }
}

/// The findings as they are printed.
#[cfg(test)]
pub(super) fn printed(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}
