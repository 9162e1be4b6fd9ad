//! Handles paths as text, before the disk is accessed.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

/// The names of an absolute path, with `.` and `..` resolved; `None` for a path that the system can not accept.
pub(crate) fn names(path: &Path) -> Option<Vec<OsString>> {
    if !path.is_absolute() || path.as_os_str().as_bytes().contains(&0) {
        return None;
    }
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_owned()),
            // Above the root is the root.
            Component::ParentDir => drop(names.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => (),
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_worked_out() {
        for (path, expected) in [
            ("/a/b", Some("a b")),
            ("//a/./b//", Some("a b")),
            ("/a/../../b/c/..", Some("b")),
            ("/", Some("")),
            ("/../..", Some("")),
            ("/a/...", Some("a ...")),
            ("a", None),
            ("", None),
            ("~/a", None),
            ("/a\0/b", None),
        ] {
            let found = names(Path::new(path)).map(|names| names.join(" ".as_ref()));
            assert_eq!(found, expected.map(Into::into), "{path}");
        }
    }
}
