//! Reads and writes text files inside of one directory, by the rules of `files`.
//!
//! These calls block.

use std::path::Path;

use ::files::{FileError, Tree, Trees};

/// A larger file is no text that a person would have a guide show or replace.
const MAX_BYTES: u64 = 1024 * 1024;

/// The first lines of a file.
pub(super) fn read(cwd: &Path, name: &str, lines: u32) -> Result<String, FileError> {
    open(cwd)?.read_text(cwd.join(name), None, Some(lines), MAX_BYTES)
}

/// The text of a file before it is replaced; `None` if it does not exist.
pub(super) fn text_before(cwd: &Path, name: &str) -> Result<Option<String>, FileError> {
    match open(cwd)?.read_text(cwd.join(name), None, None, MAX_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(FileError::NotFound) => Ok(None),
        Err(err) => Err(err),
    }
}

pub(super) fn write(cwd: &Path, name: &str, text: &str) -> Result<(), FileError> {
    open(cwd)?.write_text(cwd.join(name), text).map(|_| ())
}

fn open(cwd: &Path) -> Result<Trees, FileError> {
    Ok(Trees::new(vec![Tree::open(cwd)?]))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_outside_is_read_or_written() {
        let folder = tempfile::tempdir().unwrap();
        let (cwd, secret) = (folder.path().join("cwd"), folder.path().join("secret.txt"));
        fs::create_dir_all(cwd.join("sub")).unwrap();
        fs::write(&secret, "secret").unwrap();
        symlink("../secret.txt", cwd.join("link.txt")).unwrap();
        symlink("..", cwd.join("up")).unwrap();
        symlink("../made.txt", cwd.join("dangling.txt")).unwrap();
        for name in [
            "../secret.txt",
            "sub/../../secret.txt",
            "not-there/../../secret.txt",
            secret.to_str().unwrap(),
            "link.txt",
            "up/secret.txt",
            "up/made.txt",
            "dangling.txt",
        ] {
            assert!(read(&cwd, name, 1).is_err(), "read {name}");
            assert!(text_before(&cwd, name).is_err(), "before {name}");
            assert!(write(&cwd, name, "x").is_err(), "write {name}");
        }
        assert_eq!(fs::read_to_string(secret).unwrap(), "secret");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_text_is_read_replaced_and_left_alone_if_it_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path();
        assert_eq!(text_before(cwd, "a.txt").unwrap(), None);
        write(cwd, "a.txt", "one\ntwo\n").unwrap();
        assert_eq!(read(cwd, "./a.txt", 1).unwrap(), "one\n");
        assert_eq!(read(cwd, cwd.join("a.txt").to_str().unwrap(), 9).unwrap(), "one\ntwo\n");
        assert_eq!(text_before(cwd, "a.txt").unwrap().unwrap(), "one\ntwo\n");
        fs::write(cwd.join("binary"), [0xff, 0xfe]).unwrap();
        assert!(matches!(text_before(cwd, "binary"), Err(FileError::NotText)));
        fs::write(cwd.join("large"), "x\n".repeat(MAX_BYTES as usize)).unwrap();
        assert!(matches!(text_before(cwd, "large"), Err(FileError::TooLarge { .. })));
        assert_eq!(read(cwd, "large", 2).unwrap(), "x\nx\n");
    }
}
