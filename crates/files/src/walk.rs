//! Walks from a tree's handle to a path in it, one name at a time.
//!
//! Invariant: [`Deny`] checks the whole path, walked and ahead, at the start and whenever a link changes it; then
//! each name is opened without following links, relative to the directory that was opened before it. A link is read
//! and its target walked in the same way, from where the link is; a step above the root, and an absolute target
//! elsewhere, is refused. So what is opened is what was checked, whatever is swapped meanwhile. `openat2` could
//! confine the walk below the root in one call, but does not report the names that it went through, and a link with a
//! harmless name would lead to a protected file.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use rustix::fs::{self as sys, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::deny::Folded;
use crate::{Access, Deny, FileError, Tree};

/// A directory that is only passed through needs no read permission.
#[cfg(target_os = "linux")]
const PASS_THROUGH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PASS_THROUGH: OFlags = OFlags::RDONLY;

pub(crate) const FOLDER_FLAGS: OFlags =
    PASS_THROUGH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// As many as Linux follows.
const MAX_LINKS: usize = 40;

/// Where a walk ended.
#[derive(Debug)]
pub(crate) struct WalkedPath {
    pub(crate) folder: OwnedFd,
    /// The last name, in the folder; `None` for the folder itself.
    pub(crate) name: Option<OsString>,
    /// What it was when it was checked, which was no link; `None` if nothing was there.
    pub(crate) stat: Option<Stat>,
    /// All names from `/` on, the last one included, in folded form.
    pub(crate) path: Vec<Folded>,
}

/// What becomes of directories on the way that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingFolders {
    Make,
    Refuse,
}

/// Walks down from the tree's root. For writing, a link at the end is refused.
pub(crate) fn walk_to(
    tree: &Tree,
    deny: &Deny,
    access: Access,
    missing: MissingFolders,
    names: &[OsString],
) -> Result<WalkedPath, FileError> {
    let root = tree.handle().try_clone_to_owned()?;
    deny.check_tree(tree)?;
    let ahead = names.iter().map(|name| Step::Down(Name::new(name))).collect();
    Walk { tree, deny, access, missing, root, passed: Vec::new(), ahead, links: 0 }.run()
}

enum Step {
    Down(Name),
    Up,
}

struct Name {
    given: OsString,
    folded: Folded,
}

impl Name {
    fn new(name: &OsStr) -> Self {
        Self { given: name.to_owned(), folded: Folded::new(name) }
    }
}

struct Walk<'a> {
    tree: &'a Tree,
    deny: &'a Deny,
    access: Access,
    missing: MissingFolders,
    root: OwnedFd,
    passed: Vec<(Name, OwnedFd)>,
    ahead: VecDeque<Step>,
    links: usize,
}

impl Walk<'_> {
    fn run(mut self) -> Result<WalkedPath, FileError> {
        self.check_path()?;
        while let Some(step) = self.ahead.pop_front() {
            match step {
                Step::Up => drop(self.passed.pop().ok_or(FileError::NotAllowed)?),
                Step::Down(name) => {
                    if !self.ahead.is_empty() {
                        self.enter(name)?;
                        continue;
                    }
                    let stat = self.stat_name(&name.given)?;
                    if !stat.is_some_and(|stat| is(FileType::Symlink, &stat)) {
                        return self.finish(Some(name), stat);
                    }
                    match self.access {
                        Access::Read => self.follow_link(name)?,
                        Access::Write => return Err(FileError::NotAFile),
                    }
                }
            }
        }
        let stat = sys::fstat(self.current_folder())?;
        self.finish(None, Some(stat))
    }

    /// Enters a directory, or follows a link.
    fn enter(&mut self, name: Name) -> Result<(), FileError> {
        let opened = match self.open_folder(&name.given) {
            Err(Errno::NOENT) if self.missing == MissingFolders::Make => self.make_folder(&name.given),
            opened => opened,
        };
        match opened {
            Ok(folder) => {
                self.deny.check_identity(&sys::fstat(&folder)?)?;
                self.passed.push((name, folder));
                Ok(())
            }
            // Each system has its own error for a link here.
            Err(Errno::LOOP | Errno::MLINK | Errno::NOTDIR) => self.follow_link(name),
            Err(errno) => Err(errno.into()),
        }
    }

    fn open_folder(&self, name: &OsStr) -> Result<OwnedFd, Errno> {
        sys::openat(self.current_folder(), name, FOLDER_FLAGS, Mode::empty())
    }

    fn make_folder(&self, name: &OsStr) -> Result<OwnedFd, Errno> {
        match sys::mkdirat(self.current_folder(), name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
            Ok(()) => sync_folder(self.current_folder())?,
            // Somebody else made it just now.
            Err(Errno::EXIST) => (),
            Err(errno) => return Err(errno),
        }
        self.open_folder(name)
    }

    fn stat_name(&self, name: &OsStr) -> Result<Option<Stat>, FileError> {
        match sys::statat(self.current_folder(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Puts a link's target before the remaining names.
    fn follow_link(&mut self, name: Name) -> Result<(), FileError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(FileError::Io(Errno::LOOP.into()));
        }
        let target = match sys::readlinkat(self.current_folder(), &name.given, Vec::new()) {
            Ok(target) => target,
            // It is something else by now, or was all along.
            Err(Errno::INVAL) => {
                let stat = self.stat_name(&name.given)?.ok_or(FileError::NotFound)?;
                if !self.ahead.is_empty() && !is(FileType::Directory, &stat) && !is(FileType::Symlink, &stat) {
                    return Err(FileError::NotADirectory);
                }
                self.ahead.push_front(Step::Down(name));
                return Ok(());
            }
            Err(errno) => return Err(errno.into()),
        };
        let mut steps = Vec::new();
        let mut is_absolute = false;
        for component in Path::new(OsStr::from_bytes(target.as_bytes())).components() {
            match component {
                Component::Normal(name) => steps.push(Step::Down(Name::new(name))),
                Component::ParentDir => steps.push(Step::Up),
                Component::RootDir => is_absolute = true,
                Component::CurDir | Component::Prefix(_) => (),
            }
        }
        if is_absolute {
            let whole: Vec<OsString> = steps
                .iter()
                .map_while(|step| match step {
                    Step::Down(name) => Some(name.given.clone()),
                    Step::Up => None,
                })
                .collect();
            let (depth, _) = self.tree.find(&whole).ok_or(FileError::NotAllowed)?;
            steps.drain(..depth);
            self.passed.clear();
        }
        for step in steps.into_iter().rev() {
            self.ahead.push_front(step);
        }
        self.check_path()
    }

    /// Checks the path as it is now known. Not name by name: that would reveal whether the directories before a
    /// protected name exist.
    fn check_path(&self) -> Result<(), FileError> {
        let mut way = self.way();
        for step in &self.ahead {
            match step {
                Step::Down(name) => way.push(&name.folded),
                Step::Up => drop(way.pop()),
            }
        }
        self.deny.check(self.access, &way)
    }

    fn way(&self) -> Vec<&Folded> {
        self.tree.folded().iter().chain(self.passed.iter().map(|(name, _)| &name.folded)).collect()
    }

    /// Every directory from the root on, with its path.
    fn folders(&self) -> impl Iterator<Item = (BorrowedFd<'_>, Vec<&Folded>)> {
        let root = [(self.root.as_fd(), self.tree.folded().len())];
        let passed = self.passed.iter().zip(self.tree.folded().len() + 1..);
        let all = root.into_iter().chain(passed.map(|((_, folder), depth)| (folder.as_fd(), depth)));
        all.map(|(folder, depth)| (folder, self.way().into_iter().take(depth).collect()))
    }

    fn current_folder(&self) -> &OwnedFd {
        self.passed.last().map_or(&self.root, |(_, folder)| folder)
    }

    fn finish(mut self, name: Option<Name>, stat: Option<Stat>) -> Result<WalkedPath, FileError> {
        if let Some(stat) = &stat {
            self.deny.check_identity(stat)?;
            self.deny.check_links(stat, self.folders())?;
        }
        let path = self.way().into_iter().chain(name.as_ref().map(|name| &name.folded)).cloned().collect();
        let folder = self.passed.pop().map_or(self.root, |(_, folder)| folder);
        Ok(WalkedPath { folder, name: name.map(|name| name.given), stat, path })
    }
}

pub(crate) fn is(kind: FileType, stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == kind
}

/// Flushes a directory, so that what was made or renamed in it survives a power cut.
pub(crate) fn sync_folder(folder: &OwnedFd) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    sys::fsync(sys::openat(folder, ".", flags, Mode::empty())?)
}
