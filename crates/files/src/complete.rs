//! Suggests directories while a person types a path; they are not confined to any tree.
//!
//! Invariant: the work is bounded by a number of names, whatever a directory holds. A directory that can not be read
//! has no suggestions and is no error.

use std::fs::{self, DirEntry};
use std::path::Path;

use crate::lexical;

/// How many names of one directory are read.
const MAX_NAMES: usize = 10_000;

/// A directory that continues the typed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// Absolute, without `~` and without a trailing slash.
    pub path: String,
    /// It holds `.git`.
    pub is_project: bool,
}

/// The directories whose path continues `prefix`, those with the same case first. A trailing slash lists a directory;
/// `~` is the home directory, and an empty prefix lists it. Hidden directories are suggested once their dot is typed.
pub fn complete(prefix: &str, home: Option<&Path>, max: usize) -> Vec<Suggestion> {
    complete_among(MAX_NAMES, prefix, home, max)
}

fn complete_among(max_names: usize, prefix: &str, home: Option<&Path>, max: usize) -> Vec<Suggestion> {
    let Some((folder, begun)) = split(prefix, home) else { return Vec::new() };
    let folded = begun.to_lowercase();
    let mut found: Vec<(bool, String, String)> = Vec::new();
    let names = fs::read_dir(&folder).into_iter().flatten().take(max_names).flatten();
    for entry in names {
        // A name that is not UTF-8 could be neither typed nor sent.
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_hidden = name.starts_with('.') && !begun.starts_with('.');
        let lower = name.to_lowercase();
        if !is_hidden && lower.starts_with(&folded) && leads_to_directory(&entry) {
            found.push((!name.starts_with(&begun), lower, name));
        }
    }
    // A name that was typed whole is suggested even if the directory has more names than are read.
    let is_name = !["", ".", ".."].contains(&begun.as_str());
    if is_name && is_directory(join(&folder, &begun)) && !found.iter().any(|(.., name)| *name == begun) {
        found.push((false, begun.to_lowercase(), begun));
    }
    found.sort();
    found.truncate(max);
    let paths = found.into_iter().map(|(.., name)| join(&folder, &name));
    paths.map(|path| Suggestion { is_project: fs::symlink_metadata(join(&path, ".git")).is_ok(), path }).collect()
}

/// Whether there is a directory at the path.
pub fn is_directory(path: impl AsRef<Path>) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// The directory to list, and the beginning of the names.
fn split(prefix: &str, home: Option<&Path>) -> Option<(String, String)> {
    let from_home = match prefix {
        "" | "~" => Some("/"),
        other => other.strip_prefix('~').filter(|rest| rest.starts_with('/')),
    };
    let whole = match from_home {
        Some(rest) => format!("{}{rest}", home?.to_str()?),
        None => prefix.to_owned(),
    };
    let (folder, begun) = whole.rsplit_once('/')?;
    let names = lexical::names(Path::new(&format!("{folder}/")))?;
    let names: Option<Vec<&str>> = names.iter().map(|name| name.to_str()).collect();
    Some((format!("/{}", names?.join("/")), begun.to_owned()))
}

fn join(folder: &str, name: &str) -> String {
    format!("{}/{name}", folder.trim_end_matches('/'))
}

fn leads_to_directory(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir() || (kind.is_symlink() && is_directory(entry.path())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_names_are_looked_at_but_the_one_typed_whole_is_found() {
        let directory = tempfile::tempdir().unwrap();
        for n in 0..9 {
            fs::create_dir(directory.path().join(format!("d{n}"))).unwrap();
        }
        let typed = |name: &str| format!("{}/{name}", directory.path().to_str().unwrap());
        assert_eq!(complete_among(9, &typed("d"), None, 99).len(), 9);
        assert_eq!(complete_among(4, &typed("d"), None, 99).len(), 4);
        for n in 0..9 {
            let whole = typed(&format!("d{n}"));
            let found = complete_among(0, &whole, None, 99);
            assert_eq!(found, [Suggestion { path: whole, is_project: false }]);
        }
    }
}
