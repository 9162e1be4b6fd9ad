//! Text files inside one directory, and no others.
//!
//! Invariant: whatever a name says (`..`, an absolute path, a symbolic link), the file that is opened lies in the
//! directory. Someone who swaps a folder for a link in the same moment has the person's rights already.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

/// A larger file is no text that a person would have a guide replace.
const MAX_REPLACED_BYTES: usize = 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    #[error("{name} is outside of this session's directory; name a file inside of it")]
    Outside { name: String },
    #[error("there is no file {name}")]
    Missing { name: String },
    #[error("{name} is not a file")]
    NoFile { name: String },
    #[error("{name} is not a text of at most {MAX_REPLACED_BYTES} bytes, so it is left as it is")]
    NotText { name: String },
    #[error("{name}: {source}")]
    Disk { name: String, source: io::Error },
}

/// The beginning of a file, at most so many bytes.
pub(super) fn read(cwd: &Path, name: &str, most: usize) -> Result<String, FileError> {
    let path = inside(cwd, name)?;
    let bytes = beginning(&path, name, most)?.ok_or_else(|| FileError::Missing { name: name.to_owned() })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What a file holds that is to be replaced; `None` if it is not there yet.
pub(super) fn text_before(cwd: &Path, name: &str) -> Result<Option<String>, FileError> {
    let path = inside(cwd, name)?;
    let Some(bytes) = beginning(&path, name, MAX_REPLACED_BYTES + 1)? else { return Ok(None) };
    let not_text = || FileError::NotText { name: name.to_owned() };
    if bytes.len() > MAX_REPLACED_BYTES {
        return Err(not_text());
    }
    String::from_utf8(bytes).map(Some).map_err(|_| not_text())
}

pub(super) fn write(cwd: &Path, name: &str, text: &str) -> Result<(), FileError> {
    let path = inside(cwd, name)?;
    let folder = path.parent().unwrap_or(cwd);
    fs::create_dir_all(folder).and_then(|()| fs::write(&path, text)).map_err(disk(name))
}

fn beginning(path: &Path, name: &str, most: usize) -> Result<Option<Vec<u8>>, FileError> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => (),
        // Opening a pipe would wait for its other end.
        Ok(_) => return Err(FileError::NoFile { name: name.to_owned() }),
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) => return Err(disk(name)(err)),
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(disk(name))?;
    file.take(most as u64).read_to_end(&mut bytes).map_err(disk(name))?;
    Ok(Some(bytes))
}

/// The path that a name stands for, free of links as far as it exists.
fn inside(cwd: &Path, name: &str) -> Result<PathBuf, FileError> {
    let outside = || FileError::Outside { name: name.to_owned() };
    let path = cwd.join(name);
    if Path::new(name).components().any(|part| part == Component::ParentDir) {
        return Err(outside());
    }
    let cwd = fs::canonicalize(cwd).map_err(disk(name))?;
    // What exists may be or lie behind a link; what does not exist yet cannot.
    let existing = path.ancestors().find(|path| fs::symlink_metadata(path).is_ok()).ok_or_else(outside)?;
    let real = fs::canonicalize(existing).map_err(|_| outside())?;
    if !real.starts_with(&cwd) {
        return Err(outside());
    }
    let rest = path.strip_prefix(existing).map_err(|_| outside())?;
    Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
}

fn disk(name: &str) -> impl FnOnce(io::Error) -> FileError + Copy + '_ {
    move |source| FileError::Disk { name: name.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// `cwd/a.txt`, `cwd/sub/`, `secret.txt` beside, and links from inside to the outside.
    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().join("cwd");
        fs::create_dir_all(cwd.join("sub")).unwrap();
        fs::write(cwd.join("a.txt"), "one\n").unwrap();
        fs::write(folder.path().join("secret.txt"), "secret").unwrap();
        symlink("../secret.txt", cwd.join("link.txt")).unwrap();
        symlink("..", cwd.join("up")).unwrap();
        symlink("../not-there.txt", cwd.join("dangling.txt")).unwrap();
        symlink("a.txt", cwd.join("alias.txt")).unwrap();
        (folder, cwd)
    }

    #[test]
    fn files_inside_are_read_and_written() {
        let (_folder, cwd) = folder();
        assert_eq!(read(&cwd, "a.txt", 100).unwrap(), "one\n");
        assert_eq!(read(&cwd, "a.txt", 2).unwrap(), "on");
        assert_eq!(read(&cwd, "./alias.txt", 100).unwrap(), "one\n");
        assert_eq!(read(&cwd, cwd.join("a.txt").to_str().unwrap(), 100).unwrap(), "one\n");
        assert_eq!(text_before(&cwd, "new.txt").unwrap(), None);
        write(&cwd, "sub/deep/new.txt", "two").unwrap();
        assert_eq!(text_before(&cwd, "sub/deep/new.txt").unwrap().unwrap(), "two");
    }

    #[test]
    fn nothing_outside_is_read_or_written() {
        let (folder, cwd) = folder();
        let absolute = folder.path().join("secret.txt");
        for name in [
            "../secret.txt",
            "sub/../../secret.txt",
            "not-there/../../secret.txt",
            absolute.to_str().unwrap(),
            "link.txt",
            "up/secret.txt",
            "up/made.txt",
            "dangling.txt",
            "..",
        ] {
            assert!(matches!(read(&cwd, name, 100), Err(FileError::Outside { .. })), "read {name}");
            assert!(matches!(text_before(&cwd, name), Err(FileError::Outside { .. })), "before {name}");
            assert!(matches!(write(&cwd, name, "x"), Err(FileError::Outside { .. })), "write {name}");
        }
        assert_eq!(fs::read_to_string(absolute).unwrap(), "secret");
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["cwd", "secret.txt"]);
    }

    #[test]
    fn what_is_no_text_is_left_alone() {
        let (_folder, cwd) = folder();
        assert!(matches!(read(&cwd, "none.txt", 100), Err(FileError::Missing { .. })));
        assert!(matches!(read(&cwd, "sub", 100), Err(FileError::NoFile { .. })));
        assert!(matches!(text_before(&cwd, "sub"), Err(FileError::NoFile { .. })));
        fs::write(cwd.join("binary"), [0xff, 0xfe]).unwrap();
        assert!(matches!(text_before(&cwd, "binary"), Err(FileError::NotText { .. })));
        fs::write(cwd.join("large"), vec![b'x'; MAX_REPLACED_BYTES + 1]).unwrap();
        assert!(matches!(text_before(&cwd, "large"), Err(FileError::NotText { .. })));
        assert_eq!(read(&cwd, "large", 10).unwrap(), "xxxxxxxxxx");
    }
}
