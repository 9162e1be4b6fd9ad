//! What git knows of a session's project: the files of its newest commit and of its index, and their texts.
//!
//! Invariant: a repository is read only if all of it lies where the project is, as git itself lays it out, and it is
//! ours. So a `.git` that somebody made to point at another repository shows nothing of that one. Work trees are
//! compared by us, never by git, which would run filters.

mod blobs;
mod parse;
mod place;
mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

pub(crate) use blobs::{Blobs, MAX_GROUP_BYTES, groups};
use parse::{Entries, index_entries, millis, text, tree_entries};

/// The names of a large repository.
const MAX_LISTED_BYTES: u64 = 32 << 20;
/// Names of files that git does not track; more are left out.
const MAX_UNTRACKED_BYTES: u64 = 256 << 10;

/// Why git says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GitError {
    #[error("this session's directory is in no git repository; compare with the start of the session instead")]
    NoRepository,
    #[error("git is not installed in the usual folders; compare with the start of the session instead")]
    NotInstalled,
    #[error(
        "the repository's data lies elsewhere, or leads elsewhere, and is not read; compare with the start of the \
         session instead"
    )]
    Elsewhere,
    #[error("the repository belongs to another user and is not read; compare with the start of the session instead")]
    NotOurs,
    #[error("the repository has more files than are compared; compare with the start of the session instead")]
    TooLarge,
    #[error("git took too long; try again, or compare with the start of the session instead")]
    TooSlow,
    #[error("git could not read the repository; `git status` in its directory says more")]
    Failed,
}

/// What a work tree is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitBase {
    /// The newest commit.
    Head,
    /// What is staged for the next one.
    Index,
}

/// A repository that may be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    git_dir: PathBuf,
    work_tree: PathBuf,
}

/// A file that git tracks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tracked {
    pub(crate) kind: TrackedKind,
    /// The name of its content.
    pub(crate) object: String,
    /// In the index: when and how long the file was when it was last found to be the same.
    pub(crate) clean: Option<Clean>,
    /// In the index: whether the file in the work tree is to be looked at.
    pub(crate) work_file: WorkFile,
}

/// What the index says of the file in the work tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum WorkFile {
    /// It is compared.
    #[default]
    Compared,
    /// The person promised that it is the same.
    AssumedUnchanged,
    /// A sparse checkout leaves it out.
    LeftOut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrackedKind {
    File,
    Link,
    Submodule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clean {
    pub(crate) modified_at_ms: i64,
    pub(crate) bytes: u64,
}

/// What is compared: by path from the work tree on.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) base: BTreeMap<String, Tracked>,
    pub(crate) index: BTreeMap<String, Tracked>,
    /// Not tracked and not ignored.
    pub(crate) untracked: Vec<String>,
    /// There are more of those than are listed.
    pub(crate) untracked_cut: bool,
    /// How many files, tracked or not, have a path that is not valid UTF-8.
    pub(crate) not_text: usize,
    /// How many repositories of their own lie in this one, untracked.
    pub(crate) nested: usize,
    /// When the index was written.
    pub(crate) index_at_ms: i64,
}

/// Which files are listed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Names<'a> {
    All,
    /// This one, and what lies below it.
    Of(&'a str),
}

impl<'a> Names<'a> {
    /// A command with these names behind it.
    fn behind<'b>(self, args: &[&'b str]) -> Vec<&'b str>
    where
        'a: 'b,
    {
        let mut args = args.to_vec();
        if let Names::Of(name) = self {
            args.extend(["--", name]);
        }
        args
    }
}

impl Repository {
    /// Finds the repository of a project; blocks.
    pub(crate) fn find(project: &Path) -> Result<Self, GitError> {
        let git_dir = place::git_dir(project)?;
        Ok(Self { git_dir, work_tree: project.to_owned() })
    }

    /// All names that are compared.
    pub(crate) async fn list(&self, base: GitBase, names: Names<'_>) -> Result<Listed, GitError> {
        let (index_at_ms, index) = tokio::join!(self.index_at_ms(), self.index(names));
        let index = index?;
        let base = match base {
            GitBase::Index => index.clone(),
            GitBase::Head => self.head(names).await?,
        };
        let args = names.behind(&["ls-files", "--others", "--exclude-standard", "-z"]);
        let printed = program::run(self, &args, Vec::new(), MAX_UNTRACKED_BYTES).await?;
        let mut others: Vec<&[u8]> = printed.bytes.split(|byte| *byte == 0).collect();
        // What is after the last end is nothing, or was cut.
        others.pop();
        let mut not_text: BTreeSet<Vec<u8>> = base.not_text.into_iter().chain(index.not_text).collect();
        let (mut untracked, mut nested) = (Vec::new(), 0);
        for name in others {
            match text(name) {
                // A repository of its own is named with a slash.
                _ if name.ends_with(b"/") => nested += 1,
                Some(name) => untracked.push(name),
                None => drop(not_text.insert(name.to_vec())),
            }
        }
        Ok(Listed {
            base: base.files,
            index: index.files,
            untracked,
            untracked_cut: printed.cut,
            not_text: not_text.len(),
            nested,
            index_at_ms,
        })
    }

    async fn index_at_ms(&self) -> i64 {
        let meta = tokio::fs::symlink_metadata(self.git_dir.join("index")).await;
        meta.map_or(i64::MIN, |meta| millis(meta.mtime(), meta.mtime_nsec()))
    }

    async fn index(&self, names: Names<'_>) -> Result<Entries, GitError> {
        let args = names.behind(&["ls-files", "--stage", "--debug", "-z"]);
        let printed = program::run(self, &args, Vec::new(), MAX_LISTED_BYTES).await?;
        if printed.cut { Err(GitError::TooLarge) } else { Ok(index_entries(&printed.bytes)) }
    }

    async fn head(&self, names: Names<'_>) -> Result<Entries, GitError> {
        match program::run(self, &["rev-parse", "--quiet", "--verify", "HEAD^{commit}"], Vec::new(), 1_000).await {
            Ok(_) => (),
            Err(GitError::Failed) if self.is_unborn().await? => return Ok(Entries::default()),
            Err(err) => return Err(err),
        }
        let args = names.behind(&["ls-tree", "-r", "-z", "--full-tree", "HEAD"]);
        let printed = program::run(self, &args, Vec::new(), MAX_LISTED_BYTES).await?;
        if printed.cut { Err(GitError::TooLarge) } else { Ok(tree_entries(&printed.bytes)) }
    }

    /// Whether nothing was committed yet: `HEAD` names a branch, and there is none of that name. A branch that is there
    /// and can not be read is damage.
    async fn is_unborn(&self) -> Result<bool, GitError> {
        let printed = program::run(self, &["symbolic-ref", "--quiet", "HEAD"], Vec::new(), 10_000).await?;
        let branch = text(printed.bytes.trim_ascii_end()).ok_or(GitError::Failed)?;
        let found = program::run(self, &["for-each-ref", "--format=%(refname)", &branch], Vec::new(), 10_000).await?;
        Ok(found.bytes.is_empty())
    }
}

#[cfg(test)]
mod tests;
