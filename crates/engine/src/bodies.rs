//! Bodies: keeps what is too long for an entry beside the log, and gives it back to whoever needs all of it.
//!
//! Invariants: a body is stored before the entry that names it is appended, and what a crash left between the two is swept before
//! the session stores its next one. One that can not be kept costs no entry: that says so and has its head. One that is gone or edited
//! harms nothing else: whoever reads it gets the head and a word about the rest.

use std::collections::hash_map;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use model::{
    BodyHash, BodyLoss, BodyRef, BodyRow, Draft, Entry, FoundBody, Image, MAX_BODY_BYTES, NewBody, SessionId, ToolCall,
};
use store::{PayloadError, PayloadKind, PayloadName, ReadError};
use tokio::sync::{OwnedRwLockReadGuard, RwLock, RwLockWriteGuard};

use crate::outputs::{OutputError, OutputState, picture_type};
use crate::reading::in_background;
use crate::{Engine, QueryError, Shared};

/// How many of a session's bodies are listed at a time.
const ROWS_AT_ONCE: usize = 1_000;
/// How much of a body is looked at to see what it is.
const LOOKED_AT_BYTES: usize = 64;

/// Held by whoever stores bodies until the entries that name them are appended: nothing is swept meanwhile.
#[derive(Debug, Default)]
pub(crate) struct StoringBodies(Arc<RwLock<()>>);

impl StoringBodies {
    /// Waits until nobody stores any; whoever wants to waits until this is dropped.
    pub(crate) async fn none(&self) -> RwLockWriteGuard<'_, ()> {
        self.0.write().await
    }
}

/// What became of bodies that were to be stored.
pub(crate) struct KeptBodies {
    /// Those for which there was no room.
    pub(crate) lost: HashSet<BodyHash>,
    /// To be dropped once the entries are appended.
    pub(crate) storing: OwnedRwLockReadGuard<()>,
}

/// A body that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyToRead {
    /// Which.
    pub row: BodyRow,
    /// A bitmap's type; everything else is plain text to a browser.
    pub mime_type: &'static str,
}

impl Engine {
    /// A body that one of the session's entries names, if it is as it was stored.
    pub async fn body(&self, id: SessionId, hash: BodyHash) -> Result<BodyToRead, OutputError> {
        self.session(id).await?;
        let row = self.shared.store.body(id, hash).await?.ok_or(OutputError::NoSuchBody(hash))?;
        match self.shared.payload_state(id, &PayloadName::body(hash), row.bytes, &hash.to_string()).await? {
            OutputState::Gone => return Err(OutputError::BodyGone(hash)),
            OutputState::Changed => return Err(OutputError::BodyChanged(hash)),
            OutputState::Kept => (),
        }
        let start = self.read_body(&row, 0, LOOKED_AT_BYTES).await?;
        // A drawing may hold scripts; as text it runs none.
        let picture = picture_type(&start).filter(|mime_type| *mime_type != "image/svg+xml");
        Ok(BodyToRead { row, mime_type: picture.unwrap_or("text/plain; charset=utf-8") })
    }

    /// At most `max` bytes of a body from an offset on.
    pub async fn read_body(&self, row: &BodyRow, offset: u64, max: usize) -> Result<Vec<u8>, OutputError> {
        let payloads = &self.shared.outputs.settings.payloads;
        let read = payloads.read(row.session, &PayloadName::body(row.hash), offset, max).await?;
        read.ok_or(OutputError::BodyGone(row.hash))
    }

    /// An entry with its bodies, as it was before they were cut out. What is not there any more is said in its place.
    pub async fn whole_entry(&self, id: SessionId, entry: Entry) -> Entry {
        self.shared.whole_entry(id, entry).await
    }
}

impl Shared {
    /// Stores the bodies that a draft's entries name; the entries say of those that could not be. The guard is held until the
    /// entries are durable.
    pub(crate) async fn keep_bodies_of(&self, id: SessionId, draft: &mut Draft) -> Option<OwnedRwLockReadGuard<()>> {
        if draft.bodies().is_empty() {
            return None;
        }
        let KeptBodies { lost, storing } = self.keep_bodies(id, draft.bodies()).await;
        if !lost.is_empty() {
            draft.unkeep(&lost);
        }
        Some(storing)
    }

    /// Stores the bodies of entries that are to be appended next.
    pub(crate) async fn keep_bodies(&self, id: SessionId, bodies: &[NewBody]) -> KeptBodies {
        let storing = Arc::clone(&self.storing_bodies.0).read_owned().await;
        let mut left = self.room_for_bodies(id).await;
        let mut kept: Vec<NewBody> = Vec::new();
        let mut hashes: HashSet<BodyHash> = HashSet::new();
        for body in bodies {
            // One that another entry names takes no more room.
            let is_here =
                hashes.contains(&body.hash) || self.store.body(id, body.hash).await.is_ok_and(|row| row.is_some());
            let needed = if is_here { 0 } else { body.bytes.len() as u64 };
            if let Some(rest) = left.checked_sub(needed) {
                left = rest;
                hashes.insert(body.hash);
                kept.push(body.clone());
            }
        }
        let mut lost: HashSet<BodyHash> =
            bodies.iter().map(|body| body.hash).filter(|hash| !hashes.contains(hash)).collect();
        if !lost.is_empty() {
            tracing::warn!(session = %id, bodies = lost.len(), "the session has no room for more; long results keep their beginnings alone");
        }
        if let Err(err) = self.outputs.settings.payloads.put_bodies(id, kept).await {
            let error = &err as &dyn std::error::Error;
            tracing::error!(session = %id, error, "what is too long for the log could not be stored; its beginning is kept");
            lost.extend(hashes);
        }
        KeptBodies { lost, storing }
    }

    /// How many bytes of bodies a session may still store.
    async fn room_for_bodies(&self, id: SessionId) -> u64 {
        let most = self.outputs.settings.session_bytes;
        match (self.store.outputs_size(id).await, self.store.bodies_size(id).await) {
            (Ok(outputs), Ok(bodies)) => most.saturating_sub(outputs.bytes).saturating_sub(bodies),
            // How much there is can not be known; the append that follows says what is wrong.
            (Err(_), _) | (_, Err(_)) => most,
        }
    }

    /// Removes bodies that no entry names: those that were stored right before a crash, or for an entry that was refused.
    pub(crate) async fn sweep_bodies(&self, id: SessionId) {
        // Somebody stores bodies whose entries are not there yet; those of this session are swept another time.
        let Ok(_nobody_stores) = self.storing_bodies.0.try_write() else { return };
        let swept = match self.named_bodies(id).await {
            Ok(kept) => self.outputs.settings.payloads.sweep(id, PayloadKind::Body, kept).await,
            // What is there can not be known otherwise, so nothing is removed.
            Err(_) => return,
        };
        match swept {
            Ok(0) => (),
            Ok(removed) => tracing::info!(session = %id, removed, "bytes that no entry names were removed"),
            Err(err) => {
                let error = &err as &dyn std::error::Error;
                tracing::warn!(session = %id, error, "bytes that no entry names could not be looked for");
            }
        }
    }

    async fn named_bodies(&self, id: SessionId) -> Result<Vec<PayloadName>, ReadError> {
        let (mut named, mut after) = (Vec::new(), None);
        loop {
            let rows = self.store.bodies(id, after, ROWS_AT_ONCE).await?;
            named.extend(rows.iter().map(|row| PayloadName::body(row.hash)));
            match rows.last() {
                Some(last) if rows.len() == ROWS_AT_ONCE => after = Some(last.hash),
                Some(_) | None => return Ok(named),
            }
        }
    }

    /// An entry with its bodies.
    pub(crate) async fn whole_entry(&self, id: SessionId, mut entry: Entry) -> Entry {
        let bodies = entry.event.bodies();
        if !bodies.is_empty() {
            let found = self.find_bodies(id, bodies).await;
            entry.event.restore(&|body| found.of(body));
        }
        entry
    }

    /// Gives a call the bodies that are `wanted`; whether all of them were there.
    pub(crate) async fn restore_call(
        &self,
        id: SessionId,
        call: &mut ToolCall,
        wanted: impl Fn(&BodyRef) -> bool,
    ) -> bool {
        let wanted: Vec<BodyRef> = call.bodies.iter().filter(|body| wanted(body)).cloned().collect();
        let found = self.find_bodies(id, &wanted).await;
        call.restore(&|body| found.of(body));
        wanted.iter().all(|body| matches!(found.of(body), FoundBody::Whole(_)))
    }

    /// The pictures of a prompt with their bytes, and how many are lost.
    pub(crate) async fn whole_images(&self, id: SessionId, mut images: Vec<Image>) -> (Vec<Image>, usize) {
        let found = self.find_bodies(id, images.iter().filter_map(|image| image.body.as_ref())).await;
        let before = images.len();
        images.iter_mut().for_each(|image| image.restore(&|body| found.of(body)));
        images.retain(|image| !image.data.is_empty());
        let lost = before - images.len();
        (images, lost)
    }

    async fn find_bodies<'a>(&self, id: SessionId, bodies: impl IntoIterator<Item = &'a BodyRef>) -> FoundBodies {
        let mut found = HashMap::new();
        let wanted: Vec<(BodyHash, u64)> =
            bodies.into_iter().filter_map(|body| Some((body.sha256?, body.bytes))).collect();
        for (hash, bytes) in wanted {
            if let hash_map::Entry::Vacant(unknown) = found.entry(hash) {
                unknown.insert(self.find_body(id, hash, bytes).await);
            }
        }
        FoundBodies(found)
    }

    async fn find_body(&self, id: SessionId, hash: BodyHash, bytes: u64) -> FoundBody {
        let Some(most) = usize::try_from(bytes).ok().filter(|_| bytes <= MAX_BODY_BYTES) else {
            return FoundBody::Lost(BodyLoss::Unreadable);
        };
        // One more, so that a file that somebody added to is seen to be another.
        let read = self.outputs.settings.payloads.read(id, &PayloadName::body(hash), 0, most + 1).await;
        match read {
            Ok(Some(bytes)) => compare(bytes, hash).await,
            Err(PayloadError::Foreign { .. }) => FoundBody::Lost(BodyLoss::Changed),
            Ok(None) => FoundBody::Lost(BodyLoss::Gone),
            Err(err) => {
                tracing::warn!(session = %id, error = &err as &dyn std::error::Error, "a body could not be read");
                FoundBody::Lost(BodyLoss::Unreadable)
            }
        }
    }
}

/// Compares bytes with the hash that they were stored under; off the runtime, since they may be many.
async fn compare(bytes: Vec<u8>, hash: BodyHash) -> FoundBody {
    let compared: Result<_, QueryError> =
        in_background(move || Ok((BodyHash::of(&bytes) == hash).then_some(bytes))).await;
    match compared {
        Ok(Some(bytes)) => FoundBody::Whole(bytes),
        Ok(None) => FoundBody::Lost(BodyLoss::Changed),
        Err(_) => FoundBody::Lost(BodyLoss::Unreadable),
    }
}

/// Bodies that were looked for.
struct FoundBodies(HashMap<BodyHash, FoundBody>);

impl FoundBodies {
    fn of(&self, body: &BodyRef) -> FoundBody {
        let found = body.sha256.map(|hash| self.0.get(&hash).cloned());
        // One that nobody wanted is not read.
        found.map_or(FoundBody::Lost(BodyLoss::NotKept), |found| found.unwrap_or(FoundBody::Lost(BodyLoss::Unreadable)))
    }
}
