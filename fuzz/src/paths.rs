//! No path leads out of a tree or to a protected name, for reading, writing or listing (T15, T16, T17).

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use files::{Expected, Tree, Trees};
use tempfile::TempDir;

const SECRET: &str = "outside";
const MAX_BYTES: u64 = 1 << 20;
const LISTED: usize = 99;
const SECRETS: [&str; 4] = ["shut/secret.txt", "opensesame/secret.txt", "open/.env", "open/sub/.SSH/key"];
const HIDDEN: [&str; 5] = ["secret.txt", "key", ".env", ".SSH", "shut"];
/// Links that lead around inside, and out.
const LINKS: [(&str, &str); 6] = [
    ("open/in", "sub"),
    ("open/out", ".."),
    ("open/env", ".env"),
    ("open/sub/env", "../in/../.env"),
    ("open/ssh", "sub/.SSH"),
    ("open/root", "/"),
];

/// An open tree with secrets in it and around it.
pub struct Disk {
    folder: TempDir,
    root: PathBuf,
}

impl Disk {
    /// Makes one in the folder for temporary files.
    pub fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().canonicalize()?;
        let disk = Self { folder, root };
        for (path, text) in SECRETS.into_iter().map(|path| (path, SECRET)).chain([("open/a.txt", "a")]) {
            let path = disk.at(path);
            fs::create_dir_all(path.parent().unwrap_or(&disk.root))?;
            fs::write(path, text)?;
        }
        for (path, target) in LINKS {
            symlink(target, disk.at(path))?;
        }
        Ok(disk)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Puts back what a write may have replaced, so that the next input meets the same disk.
    fn mend_links(&self) {
        for (path, target) in LINKS {
            let path = self.at(path);
            if fs::read_link(&path).is_err() {
                // Whatever stands there now was written by the check itself, inside the tree.
                drop(fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path)));
                drop(symlink(target, &path));
            }
        }
    }
}

/// The first byte says whether the path begins at the tree or above it; the rest is the path.
pub fn check_path(disk: &Disk, bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let beginning = match first % 4 {
        0 => disk.at(""),
        1 => PathBuf::new(),
        _ => disk.at("open"),
    };
    let path = beginning.join(Path::new(OsStr::from_bytes(rest)));
    let trees = Trees::new(vec![Tree::open(disk.at("open")).expect("the tree is there")]);
    if let Ok(read) = trees.read_bytes(&path, MAX_BYTES) {
        assert_ne!(read, SECRET.as_bytes(), "read through {path:?}");
    }
    if let Ok(page) = trees.list_page(&path, None, LISTED) {
        for item in page.items {
            assert!(!HIDDEN.contains(&item.name.as_str()), "{:?} is listed in {path:?}", item.name);
        }
    }
    // Whether it is taken or not: nothing outside and nothing protected may change.
    drop(trees.write_bytes(&path, b"new", &Expected::AnyFile));
    for secret in SECRETS {
        assert_eq!(fs::read(disk.at(secret)).ok().as_deref(), Some(SECRET.as_bytes()), "{secret} after {path:?}");
    }
    let beside = fs::read_dir(&disk.root).map(Iterator::count).unwrap_or_default();
    assert_eq!(beside, 3, "something was written outside by {path:?} in {:?}", disk.folder);
    disk.mend_links();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_ways_out_are_shut() {
        let disk = Disk::new().unwrap();
        for path in [
            &b""[..],
            b"\x02../shut/secret.txt",
            b"\x02out/shut/secret.txt",
            b"\x02in/../../opensesame/secret.txt",
            b"\x02.ENV",
            b"\x02.env.",
            b"\x02env",
            b"\x02sub/env",
            b"\x02root/etc/passwd",
            b"\x01/etc/passwd",
            b"\x00opensesame/secret.txt",
            b"\x02\0",
            b"\x02\xff\xfe",
        ] {
            check_path(&disk, path);
        }
    }
}
