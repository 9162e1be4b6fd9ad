//! `state/meta-contexts.json`: the pieces of work with their names and sessions, beside the folder of the copies.
//!
//! Invariant: what a session's `meta.json` says of its work is true before this file is, so whoever finds this file as it
//! should be need not look at the sessions; a crash in between is mended by doing it again. The file is whole.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use model::{SessionId, StreamId, Timestamp, WorkId, WorkRow};
use serde::{Deserialize, Serialize};

use crate::copies::folder::Folder;
use crate::copies::{Copies, Depth, Touched, blocking};
use crate::{CopyError, Head, ReadError, Reader, WholeWork};

/// Beside the folder of the copies.
const FOLDER: &str = "state";
pub(super) const NAME: &str = "meta-contexts.json";
/// Longest file that is read back.
const MAX_BYTES: u64 = 64 << 20;

/// All pieces of work, oldest first.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Works {
    pub(super) contexts: Vec<WorkCopy>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorkCopy {
    pub(super) id: WorkId,
    pub(super) name: String,
    pub(super) project: String,
    /// In the order in which they began, without deleted ones.
    #[serde(default)]
    pub(super) session_ids: Vec<SessionId>,
    /// Every name that leads to it.
    #[serde(default)]
    pub(super) names: Vec<String>,
    pub(super) created_at: Timestamp,
    pub(super) added_at: Timestamp,
}

impl WorkCopy {
    fn of(whole: WholeWork) -> Self {
        let WholeWork { row: WorkRow { id, project, name, created_at, added_at }, names, sessions } = whole;
        Self { id, name, project, session_ids: sessions, names, created_at, added_at }
    }
}

impl Works {
    async fn of(store: &dyn Reader) -> Result<Self, ReadError> {
        Ok(Self { contexts: store.whole_works().await?.into_iter().map(WorkCopy::of).collect() })
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("it holds only texts and instants");
        bytes.push(b'\n');
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    fn names(&self) -> BTreeMap<WorkId, &str> {
        self.contexts.iter().map(|work| (work.id, work.name.as_str())).collect()
    }
}

/// Why the file says nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoWorks {
    #[error("it is not there")]
    Missing,
    #[error("it cannot be understood: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error(transparent)]
    Files(#[from] CopyError),
}

impl Copies {
    /// Where the file of the pieces of work is.
    pub fn works_path(&self) -> PathBuf {
        self.state_path().join(NAME)
    }

    fn state_path(&self) -> PathBuf {
        self.path.with_file_name(FOLDER)
    }

    /// Makes the file of the pieces of work what the store says, and with it what the sessions' copies say of a work
    /// that was renamed or deleted. What is written is flushed before this answers. If the log of them is damaged, the
    /// file is left alone.
    pub async fn update_works(&self, store: &dyn Reader) -> Result<Touched, CopyError> {
        // What the log lost, the copy may still have.
        check_log(store).await?;
        let wanted = Works::of(store).await?;
        let found = self.find_works().await?;
        let bytes = wanted.encode();
        if found.as_ref() == Some(&bytes) || (found.is_none() && wanted.contexts.is_empty()) {
            return Ok(Touched::No);
        }
        let known = found.and_then(|found| Works::decode(&found).ok());
        for session in misnamed(store, known.as_ref(), &wanted).await? {
            match self.update_session(store, session, Depth::End).await {
                // Nor are the works to suffer for one of their sessions.
                Ok(_) | Err(CopyError::Foreign { .. } | CopyError::Read(ReadError::Fenced(_))) => (),
                Err(err) => return Err(err),
            }
        }
        let path = self.state_path();
        blocking(move || Folder::make(&path)?.write_whole(NAME, &bytes)).await?;
        Ok(Touched::Yes)
    }

    /// Whether the file of the pieces of work is what [`Copies::update_works`] would write. Like that, it fails if the log of
    /// them is damaged.
    pub async fn works_are_right(&self, store: &dyn Reader) -> Result<bool, CopyError> {
        check_log(store).await?;
        let wanted = Works::of(store).await?;
        Ok(match self.find_works().await? {
            Some(found) => found == wanted.encode(),
            None => wanted.contexts.is_empty(),
        })
    }

    /// What lies in the file's place, unless it is not ours.
    async fn find_works(&self) -> Result<Option<Vec<u8>>, CopyError> {
        match self.read_works_file().await {
            Err(CopyError::Foreign { path }) if path != self.state_path() => Ok(None),
            found => found,
        }
    }

    async fn read_works_file(&self) -> Result<Option<Vec<u8>>, CopyError> {
        let path = self.state_path();
        blocking(move || match Folder::find(&path)? {
            Some(folder) => folder.read(NAME, MAX_BYTES),
            None => Ok(None),
        })
        .await
    }

    /// What the file says.
    pub(super) async fn read_works(&self) -> Result<Works, NoWorks> {
        let bytes = self.read_works_file().await?.ok_or(NoWorks::Missing)?;
        Ok(Works::decode(&bytes)?)
    }
}

/// Fails if the log of the pieces of work is damaged.
async fn check_log(store: &dyn Reader) -> Result<(), ReadError> {
    if let Head::At(head) = store.head(StreamId::Work).await? {
        store.read(StreamId::Work, head, 1).await?;
    }
    Ok(())
}

/// The sessions whose copies may name their work as it is not called, or not any more.
async fn misnamed(store: &dyn Reader, known: Option<&Works>, wanted: &Works) -> Result<BTreeSet<SessionId>, ReadError> {
    let Some(known) = known else {
        return Ok(wanted.contexts.iter().flat_map(|work| &work.session_ids).copied().collect());
    };
    let (known, wanted) = (known.names(), wanted.names());
    let mut misnamed = BTreeSet::new();
    for (id, _) in known.iter().filter(|(id, name)| wanted.get(*id) != Some(*name)) {
        misnamed.extend(store.work_session_ids(*id).await?);
    }
    Ok(misnamed)
}
