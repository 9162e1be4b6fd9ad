//! A disk with an open tree and files outside of it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use files::{FileError, Tree, Trees};
use tempfile::TempDir;

pub(crate) const SECRET: &str = "outside";
pub(crate) const MAX: u64 = 1 << 20;

pub(crate) struct Disk {
    directory: TempDir,
}

impl Disk {
    /// `open/` with `a.txt` and `sub/b.txt`; `shut/secret.txt` beside it, and `opensesame/secret.txt`.
    pub(crate) fn new() -> Self {
        let disk = Self { directory: tempfile::tempdir().unwrap() };
        disk.put("open/a.txt", "a");
        disk.put("open/sub/b.txt", "b");
        disk.put("shut/secret.txt", SECRET);
        disk.put("opensesame/secret.txt", SECRET);
        disk
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        // Without links above it, so that link targets can be compared.
        self.directory.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: impl Into<PathBuf>) {
        symlink(target.into(), self.at(path)).unwrap();
    }

    pub(crate) fn trees(&self) -> Trees {
        Trees::new(vec![Tree::open(self.at("open")).unwrap()])
    }

    /// The result of a read, in a word.
    pub(crate) fn read(&self, path: &str) -> String {
        shown(self.trees().read_text(self.at(path), None, None, MAX))
    }

    pub(crate) fn write(&self, path: &str) -> String {
        shown(self.trees().write_text(self.at(path), "new").map(|written| format!("wrote {}", written.bytes)))
    }

    /// All names below the disk's root, so that a leftover is seen.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut folders = vec![self.at("")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                }
                names.push(entry.path().strip_prefix(self.at("")).unwrap().to_str().unwrap().to_owned());
            }
        }
        names.sort();
        names
    }
}

pub(crate) fn shown(result: Result<String, FileError>) -> String {
    match result {
        Ok(text) => text,
        Err(FileError::NotAllowed) => "not allowed".to_owned(),
        Err(FileError::NotFound) => "not found".to_owned(),
        Err(FileError::NotAFile) => "not a file".to_owned(),
        Err(FileError::NotADirectory) => "not a directory".to_owned(),
        Err(FileError::TooLarge { bytes, max }) => format!("{bytes} of {max}"),
        Err(FileError::TooManyNames { max }) => format!("more than {max} names"),
        Err(FileError::Changed) => "changed".to_owned(),
        Err(FileError::Full) => "full".to_owned(),
        Err(FileError::NotText) => "not text".to_owned(),
        Err(FileError::Io(err)) => format!("io {:?}", err.kind()),
    }
}
