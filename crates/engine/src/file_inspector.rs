//! Looks at the files that a session is about: what they are like, and whether that has changed.
//!
//! Invariant: only what lies in the session's own directories and in the folders that everybody shares, what the person
//! marked and what a successful result touched is looked at, through no link that leaves them and never past a protected name. Whatever else there is, is "not checked", whether
//! it is there or not.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use files::{Access, Deny, FileError, FileKind, Tree, Trees};
use model::{Context, Fact, FileStamp, FileState, Mark, Marker, SessionRow, Timestamp};
use sha2::{Digest as _, Sha256};
use store::FILE_FACTS;

use crate::id_source::hex;

/// A longer file is known by its length and the time of its last change alone.
const HASHED_BYTES: u64 = 4 << 20;

/// A directory whose files are looked at for a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Directory {
    pub(crate) path: String,
    /// Nothing on the way to it was a link when the session began: where a link is now, it leads elsewhere.
    is_real: bool,
}

impl Directory {
    pub(crate) fn real(path: String) -> Self {
        Self { path, is_real: true }
    }

    pub(crate) fn open(&self) -> Result<Tree, FileError> {
        if self.is_real { Tree::open_real(&self.path) } else { Tree::open(&self.path) }
    }
}

/// Opens the directory that a session works in.
pub fn open_directory(row: &SessionRow) -> Result<Tree, FileError> {
    own_directory(row, &row.cwd).open()
}

/// Of an import only the other tool knows how it spelled its directory.
fn own_directory(row: &SessionRow, path: &str) -> Directory {
    Directory { path: path.to_owned(), is_real: row.imported.is_none() }
}

/// Looks at files, but never at protected ones.
#[derive(Debug, Clone)]
pub(crate) struct FileInspector {
    pub(crate) deny: Deny,
    /// Folders that are every session's own.
    shared: Vec<String>,
}

impl FileInspector {
    /// What is in the folders `shared` is looked at for every session.
    pub(crate) fn new(deny: Deny, shared: impl IntoIterator<Item = PathBuf>) -> Self {
        let shared = shared.into_iter().filter_map(|path| path.into_os_string().into_string().ok());
        Self { deny, shared: shared.collect() }
    }

    /// The folders that are every session's own. They are the only ones that the person writes
    /// without an applet.
    pub(crate) fn shared(&self) -> impl Iterator<Item = Directory> {
        self.shared.iter().map(|path| Directory { path: path.clone(), is_real: false })
    }

    /// The directories whose files are looked at for this session, whoever names them.
    pub(crate) fn roots(&self, row: &SessionRow) -> Vec<Directory> {
        self.own_roots(row).into_iter().chain(self.shared()).collect()
    }

    /// Those of them that are this session's alone.
    pub(crate) fn own_roots(&self, row: &SessionRow) -> Vec<Directory> {
        [&row.cwd, &row.project].map(|path| own_directory(row, path)).into()
    }

    /// Notes what the files are like that a call has just touched.
    pub(crate) async fn stamp(&self, facts: &mut [Fact]) {
        let paths: Vec<String> = file_facts(facts).map(|fact| fact.value.clone()).collect();
        if paths.is_empty() {
            return;
        }
        let stamps = self.in_background(move |deny| {
            let stamp = |path: String| Some((path.clone(), look(named(deny, &path).as_ref(), &path).ok()??));
            paths.into_iter().filter_map(stamp).collect::<HashMap<_, _>>()
        });
        let stamps = stamps.await.unwrap_or_default();
        for fact in facts.iter_mut().filter(|fact| FILE_FACTS.contains(&fact.name.as_str())) {
            fact.file = stamps.get(&fact.value).cloned();
        }
    }

    /// What is known of the files that the session is about, by path: all that are marked, and of each fact the newest.
    pub(crate) async fn states(
        &self,
        row: &SessionRow,
        context: &Context,
        newest: usize,
    ) -> HashMap<String, FileState> {
        let before = stamps(context);
        let marked = context.sets.marks("files").iter().map(|mark| (path_of(mark, row), mark.by == Marker::Person));
        let lists = FILE_FACTS.iter().filter_map(|name| context.facts.find(name));
        let proved = lists.flat_map(|list| list.most_recent().take(newest)).map(|fact| (fact.value.clone(), true));
        let looked_at: Vec<(String, bool)> = marked.chain(proved).collect();
        let roots = self.roots(row);
        let looked = self.in_background(move |deny| {
            let opened: Vec<_> = roots.iter().map(Directory::open).collect();
            let is_gone = |opened: &Result<Tree, FileError>| matches!(opened, Err(FileError::NotFound));
            let gone: Vec<&String> =
                roots.iter().zip(&opened).filter(|(_, it)| is_gone(it)).map(|(at, _)| &at.path).collect();
            let own = Trees::new(opened.into_iter().flatten().collect()).denying(deny.clone());
            let state = |path: &str, is_named: bool| {
                let seen = match roots.iter().any(|root| lies_in(path, &root.path)) {
                    true => match look(Ok(&own), path) {
                        Err(FileError::NotAllowed) if gone.iter().any(|root| lies_in(path, root)) => Ok(None),
                        seen => seen,
                    },
                    false if is_named || before.contains_key(path) => look(named(deny, path).as_ref(), path),
                    false => return FileState::NotChecked,
                };
                match (seen, before.get(path).and_then(Option::as_ref)) {
                    (Err(_), _) => FileState::NotChecked,
                    (Ok(None), _) => FileState::Gone,
                    (Ok(Some(_)), None) => FileState::There,
                    (Ok(Some(now)), Some(then)) if is_same(&now, then) => FileState::Unchanged,
                    (Ok(Some(_)), Some(_)) => FileState::Changed,
                }
            };
            looked_at.into_iter().map(|(path, is_named)| (path.clone(), state(&path, is_named))).collect()
        });
        looked.await.unwrap_or_default()
    }

    async fn in_background<T: Send + 'static>(&self, work: impl FnOnce(&Deny) -> T + Send + 'static) -> Option<T> {
        let deny = self.deny.clone();
        tokio::task::spawn_blocking(move || work(&deny)).await.ok()
    }
}

/// What a path that somebody may name is looked up in: its own directory, and nothing else.
pub(crate) fn named(deny: &Deny, path: &str) -> Result<Trees, FileError> {
    let names: Option<Vec<_>> = Path::new(path).components().filter_map(name).collect();
    // The names are judged before the disk is asked: whether a protected one is there is nobody's business.
    if !names.is_some_and(|names| deny.allows(Access::Read, &names)) {
        return Err(FileError::NotAllowed);
    }
    let folder = Path::new(path).parent().ok_or(FileError::NotAFile)?;
    Ok(Trees::new(vec![Tree::open(folder)?]).denying(deny.clone()))
}

/// Whether a path lies in a directory, as it is written: one that goes up again lies nowhere.
pub(crate) fn lies_in(path: &str, root: &str) -> bool {
    let path = Path::new(path);
    path.starts_with(root) && !path.components().any(|component| component == Component::ParentDir)
}

/// The name of a step down; nothing for a step up, which no mark and no result has.
fn name(component: Component<'_>) -> Option<Option<&OsStr>> {
    match component {
        Component::Normal(name) => Some(Some(name)),
        Component::ParentDir => Some(None),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    }
}

/// An absolute path for a marked file: what is none is looked for below the session's directory.
pub(crate) fn path_of(mark: &Mark, row: &SessionRow) -> String {
    if mark.item.starts_with('/') { mark.item.clone() } else { format!("{}/{}", row.cwd, mark.item) }
}

fn file_facts(facts: &[Fact]) -> impl Iterator<Item = &Fact> {
    facts.iter().filter(|fact| FILE_FACTS.contains(&fact.name.as_str()))
}

/// What each touched file was last seen like.
fn stamps(context: &Context) -> HashMap<String, Option<FileStamp>> {
    let mut newest: HashMap<String, (model::Seq, Option<FileStamp>)> = HashMap::new();
    for list in FILE_FACTS.iter().filter_map(|name| context.facts.find(name)) {
        for fact in &list.newest {
            let seen = newest.get(&fact.value).is_some_and(|(entry, _)| *entry > fact.evidence.entry);
            if !seen {
                newest.insert(fact.value.clone(), (fact.evidence.entry, fact.file.clone()));
            }
        }
    }
    newest.into_iter().map(|(path, (_, stamp))| (path, stamp)).collect()
}

/// What a file is like; `None` if it is not there.
fn look(trees: Result<&Trees, &FileError>, path: &str) -> Result<Option<FileStamp>, FileError> {
    let trees = match trees {
        Ok(trees) => trees,
        Err(FileError::NotFound) => return Ok(None),
        Err(_) => return Err(FileError::NotAllowed),
    };
    let stat = match trees.stat(path) {
        Ok(stat) => stat,
        Err(FileError::NotFound) => return Ok(None),
        Err(err) => return Err(err),
    };
    if stat.kind != FileKind::File {
        return Err(FileError::NotAFile);
    }
    let content = (stat.bytes <= HASHED_BYTES).then(|| trees.read_bytes(path, HASHED_BYTES)).transpose()?;
    let hash = content.map(|content| hex(&Sha256::digest(content)));
    Ok(Some(FileStamp { modified_at: Timestamp::from_millis(stat.modified_at_ms), bytes: stat.bytes, hash }))
}

fn is_same(now: &FileStamp, then: &FileStamp) -> bool {
    match (&now.hash, &then.hash) {
        (Some(now), Some(then)) => now == then,
        (None, None) => (now.bytes, now.modified_at) == (then.bytes, then.modified_at),
        (Some(_), None) | (None, Some(_)) => false,
    }
}
