//! Reads a file for the person: one of the session that they look at, or of any session.
//!
//! Invariant: what lies in the session's own directories, or in the folder that everybody shares, is read, links worked out; of all the rest only what the person
//! marked or a successful result touched, from its own directory and through no link that leaves it, and only if the
//! person said so. Everything else is refused alike, before the disk is asked whether it is there.

use files::{Deny, FileError, FileStart, Trees};
use model::{Context, Marker, Session, SessionId, SessionRow};
use store::FILE_FACTS;

use crate::file_inspector::{Directory, FileInspector, lies_in, named, path_of};
use crate::{Engine, QueryError, ReadError};

/// How much of a file is shown.
const SHOWN_BYTES: u64 = 1 << 20;

/// Whether the person wants to see what lies outside of the session's directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// Say first that it does.
    Ask,
    /// They were asked.
    Confirmed,
}

/// A file as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownFile {
    /// The text, or the beginning of it; `None` if it is no text.
    pub text: Option<String>,
    /// How long the file is.
    pub bytes: u64,
    /// The text is only the beginning.
    pub cut: bool,
    /// It lies outside of the session's directories.
    pub outside: bool,
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
    pub async fn show_file(&self, id: SessionId, path: String, outside: Outside) -> Result<ShownFile, ShowError> {
        let Session { row, context, .. } = self.session(id).await?;
        FileAccess::of_session(&self.shared.file_inspector, &row, &context, &path).show(path, outside).await
    }

    /// A file for the person, of whichever session.
    pub async fn show_any_file(&self, path: String, outside: Outside) -> Result<ShownFile, ShowError> {
        let files = &self.shared.file_inspector;
        let found = self.shared.store.directories_above(&path).await.map_err(QueryError::from)?;
        // Of whom each is, is not known here; one behind a link is opened by naming its session.
        let own = found.into_iter().map(Directory::real).chain(files.shared());
        let roots: Vec<Directory> = own.filter(|root| lies_in(&path, &root.path)).collect();
        let is_named = roots.is_empty() && self.is_named_anywhere(&path).await?;
        FileAccess { roots, is_named, deny: files.deny.clone() }.show(path, outside).await
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
    fn of_session(files: &FileInspector, row: &SessionRow, context: &Context, path: &str) -> Self {
        Self { roots: files.roots(row), is_named: is_named(row, context, path), deny: files.deny.clone() }
    }

    async fn show(self, path: String, outside: Outside) -> Result<ShownFile, ShowError> {
        let reading = tokio::task::spawn_blocking(move || self.read(&path, outside));
        match reading.await {
            Ok(read) => read,
            Err(err) if err.is_panic() => std::panic::resume_unwind(err.into_panic()),
            // The runtime is going.
            Err(_) => Err(QueryError::Read(ReadError::Closed).into()),
        }
    }

    fn read(&self, path: &str, outside: Outside) -> Result<ShownFile, ShowError> {
        match self.own(path)?.read_start(path, SHOWN_BYTES) {
            Err(FileError::NotAllowed) if self.is_named => self.read_outside(path, outside),
            start => Ok(shown(start?, false)),
        }
    }

    /// The directories; one that is gone has nothing in it, and one in whose place a link is now is nobody's.
    fn own(&self, path: &str) -> Result<Trees, FileError> {
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

    fn read_outside(&self, path: &str, outside: Outside) -> Result<ShownFile, ShowError> {
        let start = named(&self.deny, path)?.read_start(path, SHOWN_BYTES)?;
        match outside {
            Outside::Ask => Err(ShowError::OutsideNeedsConfirmation),
            Outside::Confirmed => Ok(shown(start, true)),
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

fn shown(FileStart { mut bytes, of }: FileStart, outside: bool) -> ShownFile {
    let cut = of > bytes.len() as u64;
    if cut
        && let Err(err) = std::str::from_utf8(&bytes)
        && err.error_len().is_none()
    {
        // The last character was cut in two.
        bytes.truncate(err.valid_up_to());
    }
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    ShownFile { cut: cut && text.is_some(), text, bytes: of, outside }
}

#[cfg(test)]
mod tests;
