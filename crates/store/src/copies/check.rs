//! Comparing copies with what the store would write now, for whoever wants to know whether they can be relied on.

use model::{SessionId, StreamId};

use crate::copies::folder::Folder;
use crate::copies::meta::{self, Meta};
use crate::copies::{Copies, blocking, outputs, purging};
use crate::{CopyError, Head, ReadError, Reader};

/// A copy that is not what the store would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Which session's.
    pub session: SessionId,
    /// What about it.
    pub what: What,
}

/// What is wrong with a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// There is none.
    Missing,
    /// There is one of a session that was purged.
    Purged,
    /// A link or something else lies in its place.
    Foreign,
    /// `meta.json` differs.
    Meta,
    /// `transcript.jsonl` differs.
    Transcript,
    /// `outputs.json` differs.
    Outputs,
    /// The log itself is damaged, so there is nothing to compare with.
    Damaged,
}

/// What there is of a session's copy.
enum Found {
    /// Its folder, with its `meta.json`.
    Copy(Option<Vec<u8>>),
    /// A purge that was cut off has put it away.
    PutAway,
    Nothing,
}

impl Copies {
    /// How the copies of these sessions differ from what the store would write. A copy that the follower has not written
    /// yet counts as different, so this is asked while nothing else happens.
    pub async fn check(&self, store: &dyn Reader, sessions: &[SessionId]) -> Result<Vec<Difference>, CopyError> {
        let mut differences = Vec::new();
        for session in sessions.iter().copied() {
            let found = match self.differences(store, session).await {
                Err(CopyError::Foreign { .. }) => vec![What::Foreign],
                Err(CopyError::Read(ReadError::Fenced(_))) => vec![What::Damaged],
                found => found?,
            };
            differences.extend(found.into_iter().map(|what| Difference { session, what }));
        }
        Ok(differences)
    }

    async fn differences(&self, store: &dyn Reader, id: SessionId) -> Result<Vec<What>, CopyError> {
        let path = self.path.clone();
        let found = blocking(move || {
            let Some(all) = Folder::find(&path)? else { return Ok(Found::Nothing) };
            match all.find_child(id.to_string())? {
                Some(own) => Ok(Found::Copy(own.read(meta::NAME, meta::MAX_BYTES)?)),
                None if purging::names_of(&all, id)?.is_empty() => Ok(Found::Nothing),
                None => Ok(Found::PutAway),
            }
        });
        let found = found.await?;
        let Some(session) = store.session(id).await? else {
            let purged = store.head(StreamId::Session(id)).await? == Head::Purged;
            return Ok(if purged && matches!(found, Found::Copy(_)) { vec![What::Purged] } else { Vec::new() });
        };
        if let Some(fence) = store.fence(id) {
            return Err(ReadError::Fenced(fence).into());
        }
        let found_meta = match found {
            Found::Copy(meta) => meta,
            Found::Nothing => return Ok(vec![What::Missing]),
            // The next start brings it back, and then up to date.
            Found::PutAway => return Ok(Vec::new()),
        };
        let mut differences = Vec::new();
        if found_meta != Some(Meta::of(store, &session).await?.encode()) {
            differences.push(What::Meta);
        }
        if !self.transcript_is_right(store, &session).await? {
            differences.push(What::Transcript);
        }
        let index = outputs::index(store, &session).await?.bytes;
        let path = self.path.clone();
        let is_written = move || outputs::is_written(Folder::find_copy(&path, id)?.as_ref(), index.as_deref());
        if !blocking(is_written).await? {
            differences.push(What::Outputs);
        }
        Ok(differences)
    }
}
