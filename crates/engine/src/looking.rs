//! Looking at files that a session is about: what they are like, and whether that has changed.
//!
//! Invariant: only what lies in the session's own directories, what the person marked and what a successful result touched
//! is looked at, never through a link and never past a protected name. Whatever else there is, is "not checked", whether
//! it is there or not.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use files::{Deny, FileError, Kind, Tree, Trees};
use model::{Context, Fact, FileStamp, FileState, Mark, Marker, SessionRow, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::id_source::hex;

/// A longer file is known by its length and the time of its last change alone.
const HASHED_BYTES: u64 = 4 << 20;
/// The facts whose values are files.
pub(crate) const FILE_FACTS: [&str; 4] = ["filesEdited", "filesCreated", "filesRead", "filesDeleted"];

/// Looks at files, with what must never be looked at.
#[derive(Debug, Clone)]
pub(crate) struct Looking {
    deny: Deny,
}

impl Looking {
    pub(crate) fn new(deny: Deny) -> Self {
        Self { deny }
    }

    /// Notes what the files are like that a call has just touched.
    pub(crate) async fn stamp(&self, facts: &mut [Fact]) {
        let paths: Vec<String> = file_facts(facts).map(|fact| fact.value.clone()).collect();
        if paths.is_empty() {
            return;
        }
        let stamps = self.in_background(move |trees| {
            paths
                .into_iter()
                .filter_map(|path| Some((path.clone(), look(trees, &path).ok()??)))
                .collect::<HashMap<_, _>>()
        });
        let stamps = stamps.await.unwrap_or_default();
        for fact in facts.iter_mut().filter(|fact| FILE_FACTS.contains(&fact.name.as_str())) {
            fact.file = stamps.get(&fact.value).cloned();
        }
    }

    /// What is known of the files that the session is about, by path.
    pub(crate) async fn states(&self, row: &SessionRow, context: &Context) -> HashMap<String, FileState> {
        let known = stamps(context);
        let touched: HashSet<&str> = known.keys().map(String::as_str).collect();
        let marked = context.sets.marks("files").iter().map(|mark| (path_of(mark, row), mark.by == Marker::Person));
        let proved = touched.iter().map(|path| ((*path).to_owned(), true));
        let own = |path: &str| [&row.cwd, &row.project].iter().any(|root| Path::new(path).starts_with(root.as_str()));
        let allowed = |path: &str, named: bool| named || own(path) || touched.contains(path);
        let (look_at, leave): (Vec<_>, Vec<_>) = marked.chain(proved).partition(|(path, named)| allowed(path, *named));
        let mut states: HashMap<String, FileState> =
            leave.into_iter().map(|(path, _)| (path, FileState::NotChecked)).collect();
        let before = known.clone();
        let looked = self.in_background(move |trees| {
            let state = |path: &String| match (look(trees, path), before.get(path).and_then(Option::as_ref)) {
                (Err(_), _) => FileState::NotChecked,
                (Ok(None), _) => FileState::Gone,
                (Ok(Some(_)), None) => FileState::There,
                (Ok(Some(now)), Some(then)) if is_same(&now, then) => FileState::Unchanged,
                (Ok(Some(_)), Some(_)) => FileState::Changed,
            };
            look_at.into_iter().map(|(path, _)| (path.clone(), state(&path))).collect::<Vec<_>>()
        });
        states.extend(looked.await.unwrap_or_default());
        states
    }

    async fn in_background<T: Send + 'static>(&self, work: impl FnOnce(&Trees) -> T + Send + 'static) -> Option<T> {
        let deny = self.deny.clone();
        let looked = tokio::task::spawn_blocking(move || {
            let root = Tree::open("/").ok()?;
            Some(work(&Trees::new(vec![root]).denying(deny)))
        });
        looked.await.ok().flatten()
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
            let seen = newest.get(&fact.value).is_some_and(|(entry, _)| *entry > fact.proof.entry);
            if !seen {
                newest.insert(fact.value.clone(), (fact.proof.entry, fact.file.clone()));
            }
        }
    }
    newest.into_iter().map(|(path, (_, stamp))| (path, stamp)).collect()
}

/// What a file is like; `None` if it is not there.
fn look(trees: &Trees, path: &str) -> Result<Option<FileStamp>, FileError> {
    let stat = match trees.stat(path) {
        Ok(stat) => stat,
        Err(FileError::NotFound) => return Ok(None),
        Err(err) => return Err(err),
    };
    if stat.kind != Kind::File {
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
