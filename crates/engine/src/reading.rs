//! Reads a file: for the person one of the session that they look at, or of any session; for an agent one of its own.
//!
//! Invariant: what lies in the session's own directories, or in the folders that everybody shares, is read, links worked out; of all the rest only what the person
//! marked or a successful result touched, from its own directory and through no link that leaves it, and only if the
//! person said so. Everything else is refused alike, before the disk is asked whether it is there.

use files::{ContentHash, Deny, FileError, FileStart, Trees};
use model::{Context, Marker, Session, SessionId, SessionRow};
use store::FILE_FACTS;

use crate::file_inspector::{Directory, FileInspector, lies_in, named, path_of};
use crate::{Engine, QueryError, ReadError};

/// How much of a file is shown.
const SHOWN_BYTES: u64 = 1 << 20;
/// How long a file may be that is read whole.
pub const MAX_WHOLE_BYTES: u64 = 8 << 20;

/// How much of a file is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// What fits on a screen that somebody reads.
    Beginning,
    /// All of it, or nothing if it is too long.
    Whole,
}

/// Whether what lies outside of the session's directories is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// It is not shown to agents.
    Never,
    /// Say first that it does.
    Ask,
    /// They were asked.
    Confirmed,
}

/// A file as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownFile {
    /// The file, or the beginning of it.
    pub content: FileContent,
    /// How long the file is.
    pub bytes: u64,
    /// The content is only the beginning.
    pub cut: bool,
    /// It lies outside of the session's directories.
    pub outside: bool,
    /// The hash of the whole content, if it was read whole.
    pub hash: Option<ContentHash>,
}

/// What is in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    /// UTF-8 without a null.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

/// Why a file is not shown.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ShowError {
    #[error("this file lies outside of the session's directories; open it if you mean to")]
    OutsideNeedsConfirmation,
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Query(#[from] QueryError),
}

/// How many sessions are looked through at a time for whose file a path is.
const SESSIONS_AT_ONCE: usize = 100;

/// What decides about a path that the person wants to look at.
pub(crate) struct FileAccess {
    /// What lies in these is shown.
    roots: Vec<Directory>,
    /// The path is shown wherever it lies, once the person says so.
    is_named: bool,
    deny: Deny,
}

impl Engine {
    /// A file for the person who looks at this session.
    pub async fn show_file(
        &self,
        id: SessionId,
        path: String,
        amount: Amount,
        outside: Outside,
    ) -> Result<ShownFile, ShowError> {
        let Session { row, context, .. } = self.session(id).await?;
        let own = self.shared.applets.own_place(id);
        let access = FileAccess::of_session(&self.shared.file_inspector, &row, &context, &path);
        in_background(move || {
            own.check(&path)?;
            access.read(&path, amount, outside)
        })
        .await
    }

    /// A file for the person, of whichever session.
    pub async fn show_any_file(&self, path: String, amount: Amount, outside: Outside) -> Result<ShownFile, ShowError> {
        let mut access = self.access_to_any(&path).await?;
        access.is_named = access.roots.is_empty() && self.is_named_anywhere(&path).await?;
        in_background(move || access.read(&path, amount, outside)).await
    }

    /// The directories of all sessions that a path may lie in.
    pub(crate) async fn access_to_any(&self, path: &str) -> Result<FileAccess, QueryError> {
        let files = &self.shared.file_inspector;
        let found = self.shared.store.directories_above(path).await?;
        // Of whom each is, is not known here; one behind a link is opened by naming its session.
        let own = found.into_iter().map(Directory::real).chain(files.shared());
        let roots: Vec<Directory> = own.filter(|root| lies_in(path, &root.path)).collect();
        Ok(FileAccess { roots, is_named: false, deny: files.deny.clone() })
    }

    /// Reads those sessions alone that may have named it.
    async fn is_named_anywhere(&self, path: &str) -> Result<bool, QueryError> {
        let mut after = None;
        loop {
            let page = self.shared.store.may_name_file(path, after, SESSIONS_AT_ONCE).await?;
            for id in &page {
                if let Some(Session { row, context, .. }) = self.shared.store.session(*id).await?
                    && is_named(&row, &context, path)
                {
                    return Ok(true);
                }
            }
            match page.last() {
                Some(last) if page.len() == SESSIONS_AT_ONCE => after = Some(*last),
                Some(_) | None => return Ok(false),
            }
        }
    }
}

impl FileAccess {
    /// The directories of a session alone.
    pub(crate) fn inside(files: &FileInspector, row: &SessionRow) -> Self {
        Self { roots: files.roots(row), is_named: false, deny: files.deny.clone() }
    }

    /// The directories of a session without the folders that everybody shares.
    pub(crate) fn own_alone(files: &FileInspector, row: &SessionRow) -> Self {
        Self { roots: files.own_roots(row), is_named: false, deny: files.deny.clone() }
    }

    fn of_session(files: &FileInspector, row: &SessionRow, context: &Context, path: &str) -> Self {
        Self { roots: files.roots(row), is_named: is_named(row, context, path), deny: files.deny.clone() }
    }

    pub(crate) fn read(&self, path: &str, amount: Amount, outside: Outside) -> Result<ShownFile, ShowError> {
        match read(&self.own(path)?, path, amount) {
            Err(FileError::NotAllowed) if self.is_named && outside != Outside::Never => {
                let start = read(&named(&self.deny, path)?, path, amount)?;
                if outside == Outside::Confirmed {
                    Ok(shown(start, true))
                } else {
                    Err(ShowError::OutsideNeedsConfirmation)
                }
            }
            start => Ok(shown(start?, false)),
        }
    }

    /// The directories; one that is gone has nothing in it, and one in whose place a link is now is nobody's.
    pub(crate) fn own(&self, path: &str) -> Result<Trees, FileError> {
        let mut trees = Vec::new();
        for root in &self.roots {
            match root.open() {
                Ok(tree) => trees.push(tree),
                Err(FileError::NotAllowed) => (),
                Err(_) if lies_in(path, &root.path) => return Err(FileError::NotFound),
                Err(_) => (),
            }
        }
        Ok(Trees::new(trees).denying(self.deny.clone()))
    }
}

/// Runs what waits for the disk.
pub(crate) async fn in_background<T: Send + 'static, E: From<QueryError> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(err) if err.is_panic() => std::panic::resume_unwind(err.into_panic()),
        // The runtime is going.
        Err(_) => Err(QueryError::Read(ReadError::Closed).into()),
    }
}

fn read(trees: &Trees, path: &str, amount: Amount) -> Result<FileStart, FileError> {
    match amount {
        Amount::Beginning => trees.read_start(path, SHOWN_BYTES),
        Amount::Whole => {
            let bytes = trees.read_bytes(path, MAX_WHOLE_BYTES)?;
            Ok(FileStart { of: bytes.len() as u64, bytes })
        }
    }
}

/// The person marked it in this session, or a successful result touched it.
fn is_named(row: &SessionRow, context: &Context, path: &str) -> bool {
    let marks = context.sets.marks("files").iter();
    let mut marked = marks.filter(|mark| mark.by == Marker::Person).map(|mark| path_of(mark, row));
    let lists = FILE_FACTS.iter().filter_map(|name| context.facts.find(name));
    marked.any(|marked| marked == path) || lists.flat_map(|list| &list.newest).any(|fact| fact.value == path)
}

fn shown(FileStart { bytes, of }: FileStart, outside: bool) -> ShownFile {
    let cut = of > bytes.len() as u64;
    let hash = (!cut).then(|| ContentHash::of(&bytes));
    ShownFile { content: content(bytes, cut), bytes: of, cut, outside, hash }
}

fn content(bytes: Vec<u8>, cut: bool) -> FileContent {
    let whole_characters = match std::str::from_utf8(&bytes) {
        Ok(text) => Some(text.len()),
        // The last character was cut in two.
        Err(err) if cut && err.error_len().is_none() => Some(err.valid_up_to()),
        Err(_) => None,
    };
    match whole_characters {
        Some(end) if !bytes[..end].contains(&0) => {
            FileContent::Text(String::from_utf8_lossy(&bytes[..end]).into_owned())
        }
        Some(_) | None => FileContent::Bytes(bytes),
    }
}

#[cfg(test)]
mod tests;
