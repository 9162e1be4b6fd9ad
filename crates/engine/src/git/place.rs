//! Finds where a project's repository keeps its data, and refuses one that leads elsewhere.
//!
//! Invariant: what git is let loose on lies where git itself puts it, belongs to us, and has no link in it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::GitError;

/// A file of `.git` that holds one path.
const MAX_POINTER_BYTES: u64 = 4_096;
/// Objects that are looked at; git itself packs them from some thousands on.
const MAX_OBJECT_FILES: usize = 200_000;
/// What every repository has.
const NEEDED: [&str; 3] = ["config", "objects", "refs"];
/// What a work tree has for itself.
const OWN: [&str; 2] = ["HEAD", "index"];
/// What work trees share, where it is there.
const SHARED: [&str; 3] = ["HEAD", "packed-refs", "refs/heads"];

/// The folder with the data of a project's repository, if it may be read; blocks.
pub(super) fn git_dir(project: &Path) -> Result<PathBuf, GitError> {
    let dot_git = project.join(".git");
    let meta = std::fs::symlink_metadata(&dot_git).map_err(|_| GitError::NoRepository)?;
    let (git_dir, common) = if meta.is_dir() {
        // Such a file would lead to the data of another repository.
        if std::fs::symlink_metadata(dot_git.join("commondir")).is_ok() {
            return Err(GitError::Elsewhere);
        }
        (dot_git.clone(), dot_git)
    } else if meta.is_file() {
        beside(project, &dot_git)?
    } else {
        return Err(GitError::Elsewhere);
    };
    check(&git_dir, &common)?;
    Ok(git_dir)
}

/// A `.git` that is a file: of a work tree that was added to a repository, or of a submodule.
fn beside(project: &Path, dot_git: &Path) -> Result<(PathBuf, PathBuf), GitError> {
    let real = |path: PathBuf| std::fs::canonicalize(path).map_err(|_| GitError::Elsewhere);
    let named = pointer(dot_git)?;
    let named = named.strip_prefix("gitdir: ").ok_or(GitError::Elsewhere)?;
    let git_dir = real(project.join(named))?;
    let above = git_dir.parent().and_then(Path::parent).ok_or(GitError::Elsewhere)?;
    if git_dir.parent().is_some_and(|folder| folder.ends_with("worktrees")) {
        // It knows of this work tree, and belongs to the repository that it lies in.
        let back = real(PathBuf::from(pointer(&git_dir.join("gitdir"))?))?;
        let common = real(git_dir.join(pointer(&git_dir.join("commondir"))?))?;
        let is_its_own = back == real(dot_git.to_owned())? && common == above;
        return if is_its_own { Ok((git_dir, common)) } else { Err(GitError::Elsewhere) };
    }
    // A submodule's data lies in the repository around it.
    let real_project = real(project.to_owned())?;
    let is_around = real_project.ancestors().skip(1).any(|around| git_dir.starts_with(around.join(".git/modules")));
    match is_around && std::fs::symlink_metadata(git_dir.join("commondir")).is_err() {
        true => Ok((git_dir.clone(), git_dir)),
        false => Err(GitError::Elsewhere),
    }
}

/// Ours, and with its own data alone: nothing that git reads there is a link.
fn check(git_dir: &Path, common: &Path) -> Result<(), GitError> {
    let needed = [git_dir.to_owned(), common.to_owned()].into_iter().chain(NEEDED.map(|name| common.join(name)));
    for path in needed {
        check_owner(&std::fs::symlink_metadata(path).map_err(|_| GitError::NoRepository)?)?;
    }
    let own = OWN.map(|name| git_dir.join(name));
    for path in own.into_iter().chain(SHARED.map(|name| common.join(name))) {
        if let Ok(meta) = std::fs::symlink_metadata(path) {
            check_owner(&meta)?;
        }
    }
    if std::fs::symlink_metadata(common.join("objects/info/alternates")).is_ok() {
        return Err(GitError::Elsewhere);
    }
    check_objects(&common.join("objects"))
}

fn check_owner(meta: &Metadata) -> Result<(), GitError> {
    if meta.is_symlink() {
        return Err(GitError::Elsewhere);
    }
    let us = rustix::process::geteuid().as_raw();
    if meta.uid() == us { Ok(()) } else { Err(GitError::NotOurs) }
}

/// Neither a folder of objects nor an object or pack in one is a link.
fn check_objects(objects: &Path) -> Result<(), GitError> {
    let mut room = MAX_OBJECT_FILES;
    let mut folders = vec![objects.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { return Err(GitError::Failed) };
        for entry in entries {
            let kind = entry.as_ref().map_err(|_| GitError::Failed)?.file_type().map_err(|_| GitError::Failed)?;
            if kind.is_symlink() {
                return Err(GitError::Elsewhere);
            }
            if kind.is_dir() && folder == objects {
                folders.push(entry.map_err(|_| GitError::Failed)?.path());
            }
            room = room.checked_sub(1).ok_or(GitError::TooLarge)?;
        }
    }
    Ok(())
}

fn pointer(path: &Path) -> Result<String, GitError> {
    let meta = std::fs::symlink_metadata(path).map_err(|_| GitError::Elsewhere)?;
    if !meta.is_file() || meta.len() > MAX_POINTER_BYTES {
        return Err(GitError::Elsewhere);
    }
    let text = std::fs::read_to_string(path).map_err(|_| GitError::Elsewhere)?;
    Ok(text.trim_end_matches('\n').to_owned())
}
