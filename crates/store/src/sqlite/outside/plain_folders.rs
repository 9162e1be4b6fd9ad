//! The person's own plain folders, such as that of applets, copied beside the store and put back.
//!
//! Invariants: only plain files and directories are copied; what a link leads to is not the folder's. A folder appears whole or not at
//! all, and never in the place of one that is there.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Seek as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{self as sys, SeekFrom};
use rustix::io::Errno;

use crate::files::{beside, parent, private, sync};

/// Folders are not nested deeper by anybody's hand.
const MAX_DEPTH: usize = 64;

/// Copies a folder with all that is in it; how many files there were. What goes while it is copied is left out.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    copy_below(from, to, MAX_DEPTH)
}

fn copy_below(from: &Path, to: &Path, depth: usize) -> io::Result<u64> {
    if depth == 0 {
        return Err(io::Error::other(format!("{} is nested too deep", from.display())));
    }
    DirBuilder::new().mode(0o700).create(to)?;
    let mut files = 0;
    for item in fs::read_dir(from)? {
        let item = item?;
        let (kind, copy) = (item.file_type()?, to.join(item.file_name()));
        if kind.is_dir() {
            files += copy_below(&item.path(), &copy, depth - 1)?;
        } else if kind.is_file() {
            let source = match File::open(item.path()) {
                Err(err) if err.kind() == io::ErrorKind::NotFound => continue,
                source => source?,
            };
            let copy = private().write(true).create_new(true).open(copy)?;
            copy_data(&source, &copy)?;
            copy.sync_all()?;
            files += 1;
        }
    }
    sync(to)?;
    Ok(files)
}

/// Copies what a file holds and leaves its holes as they are: one that says it has a terabyte may hold nothing.
fn copy_data(mut source: &File, mut copy: &File) -> io::Result<()> {
    let mut at = 0;
    loop {
        let start = match sys::seek(source, SeekFrom::Data(at)) {
            // There is nothing more.
            Err(Errno::NXIO) => return copy.set_len(source.metadata()?.len()),
            start => start?,
        };
        at = sys::seek(source, SeekFrom::Hole(start))?;
        source.seek(io::SeekFrom::Start(start))?;
        copy.seek(io::SeekFrom::Start(start))?;
        io::copy(&mut source.take(at - start), &mut copy)?;
    }
}

/// Puts folders that a backup holds into the data folder, each where there is none of its name; those that were put there.
pub fn put_folders_back(backup: &Path, data: &Path, names: &[&str]) -> io::Result<Vec<PathBuf>> {
    let mut put = Vec::new();
    for name in names {
        let (kept, place) = (backup.join(name), data.join(name));
        if !kept.is_dir() || place.symlink_metadata().is_ok() {
            continue;
        }
        let built = beside(&place, ".restoring");
        remove(&built)?;
        copy(&kept, &built)?;
        fs::rename(&built, &place)?;
        sync(parent(&place))?;
        put.push(place);
    }
    Ok(put)
}

/// Removes a folder that a copy which was cut off has left.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileExt as _, MetadataExt as _, symlink};

    use super::*;

    #[test]
    fn a_file_of_holes_takes_no_more_room_in_the_copy() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        fs::create_dir_all(at("data")).unwrap();
        let file = File::create(at("data/state.json")).unwrap();
        file.set_len(1 << 40).unwrap();
        file.write_all_at(b"in the middle", 1 << 30).unwrap();
        fs::write(at("data/empty"), "").unwrap();
        fs::write(at("data/short"), "short").unwrap();
        assert_eq!(copy(&at("data"), &at("kept")).unwrap(), 3);
        let copied = File::open(at("kept/state.json")).unwrap();
        let found = copied.metadata().unwrap();
        assert_eq!(found.len(), 1 << 40);
        assert!(found.blocks() < 1_000, "{} blocks", found.blocks());
        let mut middle = [0; 13];
        copied.read_exact_at(&mut middle, 1 << 30).unwrap();
        assert_eq!(&middle, b"in the middle");
        assert_eq!(fs::read_to_string(at("kept/short")).unwrap(), "short");
        assert_eq!(fs::read(at("kept/empty")).unwrap(), b"");
    }

    #[test]
    fn a_folder_is_copied_without_links_and_put_where_there_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        fs::create_dir_all(at("data/applets/board")).unwrap();
        fs::write(at("data/applets/board/state.json"), "{}").unwrap();
        fs::write(at("secret"), "x").unwrap();
        symlink(at("secret"), at("data/applets/link")).unwrap();
        symlink(at(""), at("data/applets/up")).unwrap();
        fs::create_dir_all(at("kept")).unwrap();
        assert_eq!(copy(&at("data/applets"), &at("kept/applets")).unwrap(), 1);

        fs::create_dir_all(at("new/files")).unwrap();
        fs::create_dir_all(at("kept/files")).unwrap();
        let put = put_folders_back(&at("kept"), &at("new"), &["applets", "files", "never"]).unwrap();
        assert_eq!(put, [at("new/applets")]);
        assert_eq!(fs::read_to_string(at("new/applets/board/state.json")).unwrap(), "{}");
        assert!(!at("new/applets/link").exists() && !at("new/applets/up").exists());
        assert!(put_folders_back(&at("kept"), &at("new"), &["applets"]).unwrap().is_empty());
    }
}
