//! Filling an empty log from the copies.
//!
//! Invariant: a session's copy is read through once before any of its entries is appended, so a copy that does not hold
//! together is left out whole and its folder stays as it is. Copies that are written from the filled log are, byte for
//! byte, those that it was filled from.

use model::SessionId;

use crate::copies::folder::Folder;
use crate::copies::meta::Meta;
use crate::copies::regroup::{Member, regroup};
use crate::copies::replay::{CopyReplay, Unreadable, read_meta};
use crate::copies::{Copies, blocking};
use crate::{AppendError, Batch, CopyError, Part, Store};

/// A batch is appended once it has this many entries …
const BATCH_ENTRIES: usize = 1_000;
/// … or this many bytes of words.
const BATCH_BYTES: usize = 1 << 20;

/// What came back.
#[derive(Debug, Default)]
pub struct Hydrated {
    /// How many sessions.
    pub sessions: usize,
    /// How many pieces of work.
    pub works: usize,
    /// What did not.
    pub skipped: Vec<SkippedCopy>,
}

/// A copy that was left out.
#[derive(Debug)]
pub struct SkippedCopy {
    /// The session's folder.
    pub session: SessionId,
    /// Why.
    pub why: Unreadable,
}

/// Why a log was not filled.
#[derive(Debug, thiserror::Error)]
pub enum HydrateError {
    /// The folder of copies cannot be read.
    #[error(transparent)]
    Copies(#[from] CopyError),
    /// The log did not take an entry.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// A copy changed while it was read.
    #[error("the copy of session {session} changed while it was read")]
    Changed {
        /// Which.
        session: SessionId,
        /// What was found the second time.
        source: Box<Unreadable>,
    },
}

impl Copies {
    /// Whether there is a folder that looks like a session's.
    pub async fn is_empty(&self) -> Result<bool, CopyError> {
        let path = self.path.clone();
        blocking(move || match Folder::find(&path)? {
            Some(folder) => Ok(sessions(&folder)?.is_empty()),
            None => Ok(true),
        })
        .await
    }

    /// Appends what the copies hold to a store that has nothing, oldest session first.
    pub async fn hydrate(&self, store: &dyn Store) -> Result<Hydrated, HydrateError> {
        let path = self.path.clone();
        let (sound, skipped) = blocking(move || sound_copies(&path)).await?;
        let (works, count) = regroup(self.read_works().await, sound.iter().filter_map(Member::of).collect());
        let mut hydrated = Hydrated { sessions: sound.len(), works: count, skipped };
        let mut batch = Batching { store, parts: Vec::new(), entries: 0, bytes: 0 };
        for meta in sound {
            let session = meta.id;
            let changed = |source| HydrateError::Changed { session, source: Box::new(source) };
            let path = self.path.clone();
            let mut replay = blocking(move || Ok(open_replay(&path, meta))).await?.map_err(changed)?;
            loop {
                let part;
                (replay, part) = blocking(move || {
                    let part = replay.next_part();
                    Ok((replay, part))
                })
                .await?;
                match part.map_err(changed)? {
                    Some(part) => batch.add(part).await?,
                    None => break,
                }
            }
        }
        if !works.entries.is_empty() {
            batch.add(works).await?;
        }
        batch.flush().await?;
        hydrated.skipped.sort_by_key(|skipped| skipped.session);
        Ok(hydrated)
    }
}

/// Every copy that holds together, oldest first, and every one that does not.
fn sound_copies(path: &std::path::Path) -> Result<(Vec<Meta>, Vec<SkippedCopy>), CopyError> {
    let (mut sound, mut skipped) = (Vec::new(), Vec::new());
    let Some(folder) = Folder::find(path)? else { return Ok((sound, skipped)) };
    for session in sessions(&folder)? {
        match read_through(&folder, session) {
            Ok(meta) => sound.push(meta),
            Err(why) => skipped.push(SkippedCopy { session, why }),
        }
    }
    sound.sort_by_key(|meta| (meta.created_at, meta.id));
    Ok((sound, skipped))
}

fn sessions(folder: &Folder) -> Result<Vec<SessionId>, CopyError> {
    Ok(folder.names()?.iter().filter_map(|name| name.parse().ok()).collect())
}

fn read_through(folder: &Folder, session: SessionId) -> Result<Meta, Unreadable> {
    let copy = folder.find_child(session.to_string())?.ok_or(Unreadable::NoMeta)?;
    let meta = read_meta(&copy, session)?;
    let mut replay = CopyReplay::new(&copy, meta.clone())?;
    while replay.next_part()?.is_some() {}
    Ok(meta)
}

fn open_replay(path: &std::path::Path, meta: Meta) -> Result<CopyReplay, Unreadable> {
    let copy = Folder::find_copy(path, meta.id)?.ok_or(Unreadable::NoMeta)?;
    CopyReplay::new(&copy, meta)
}

/// Entries on their way, so that many share a flush.
struct Batching<'a> {
    store: &'a dyn Store,
    parts: Vec<Part>,
    entries: usize,
    bytes: usize,
}

impl Batching<'_> {
    async fn add(&mut self, part: Part) -> Result<(), AppendError> {
        self.entries += part.entries.len();
        self.bytes += part.entries.iter().map(|entry| entry.event.encode().len()).sum::<usize>();
        self.parts.push(part);
        if self.entries >= BATCH_ENTRIES || self.bytes >= BATCH_BYTES { self.flush().await } else { Ok(()) }
    }

    async fn flush(&mut self) -> Result<(), AppendError> {
        let parts = std::mem::take(&mut self.parts);
        (self.entries, self.bytes) = (0, 0);
        if !parts.is_empty() {
            self.store.append(Batch { parts, ..Batch::default() }).await?;
        }
        Ok(())
    }
}
