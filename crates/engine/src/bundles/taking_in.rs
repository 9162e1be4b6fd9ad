//! Takes a bundle in: its payloads are stored first, then all its entries are appended at once.
//!
//! Invariant: after a crash the session is here whole or not at all: payloads without entries go at the next start. A
//! session that is here is never changed. What comes in is at rest and read-only: its turn is interrupted if one ran, and the last
//! entry says that it was imported.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use model::{Command, Entry, Seq, SessionId, StreamId};
use store::{AppendError, Batch, Head, PayloadError, PayloadName};

use super::checking::{BundledPayload, CheckedBundle, check};
use super::room::check_room;
use super::{BundleError, BundleLimits, LIMITS, TOOL, if_readable};
use crate::reading::in_background;
use crate::{Engine, Shared};

const PAGE_ENTRIES: usize = 500;

/// What became of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenInBundle {
    /// The session.
    pub session: SessionId,
    /// How many entries the bundle has.
    pub entries: u64,
    /// How many payloads.
    pub payloads: u64,
    /// How many payloads it lacks: they were gone when it was written.
    pub missing: u64,
    /// It was here already; at most files that were missing were put back.
    pub was_here: bool,
}

impl Engine {
    /// Takes in a bundle, as the same session.
    pub async fn take_in_bundle(&self, file: File) -> Result<TakenInBundle, BundleError> {
        self.take_in_bundle_within(file, LIMITS).await
    }

    pub(super) async fn take_in_bundle_within(
        &self,
        file: File,
        limits: BundleLimits,
    ) -> Result<TakenInBundle, BundleError> {
        let shared = Arc::clone(&self.shared);
        // Carried to its end even if the caller hangs up.
        let taking = self.shared.tasks.spawn(async move { shared.take_in_bundle(file, limits).await });
        taking.await.unwrap_or(Err(BundleError::Stopping))
    }
}

impl Shared {
    async fn take_in_bundle(&self, file: File, limits: BundleLimits) -> Result<TakenInBundle, BundleError> {
        // Before anything is read: what was read is held, and however many wait, one bundle's is.
        let _alone = self.taking_in.acquire().await.map_err(|_| BundleError::Stopping)?;
        let file = Arc::new(file);
        let reading = Arc::clone(&file);
        let checked = in_background(move || check(&reading, limits)).await?;
        let CheckedBundle { session, mut draft, payloads, missing, named, sha256 } = checked;
        let (entries, count) = (draft.entries().len() as u64, payloads.len() as u64);
        let taken = |was_here| TakenInBundle { session, entries, payloads: count, missing, was_here };
        match self.store.head(StreamId::Session(session)).await? {
            Head::Purged => return Err(BundleError::Removed(session)),
            Head::At(Seq::START) => (),
            Head::At(_) if self.has_all(session, draft.entries()).await? => {
                let missing = self.missing(session, payloads).await?;
                if !missing.is_empty() {
                    check_room(&self.outputs.settings, &named, &missing)?;
                }
                self.put_back(session, &file, &missing).await?;
                return Ok(taken(true));
            }
            Head::At(_) => return Err(BundleError::Different(session)),
        }
        check_room(&self.outputs.settings, &named, &payloads)?;
        let now = self.clock.now();
        let settled = draft.apply(Command::Interrupt { reason: "imported".to_owned() }, now).and_then(|()| {
            // What waited there is not sent here: nobody at this machine asked for it.
            let waiting = draft.session().map(|session| session.queue.clone()).unwrap_or_default();
            for prompt in waiting {
                draft.apply(Command::RemovePrompt { interaction_id: prompt.interaction_id }, now)?;
            }
            let source = self.store.incarnation().to_string();
            draft.apply(Command::Import { tool: TOOL.to_owned(), source, mark: sha256 }, now)
        });
        if settled.is_err() {
            // A session that was deleted takes nothing more; whoever exported it could not have.
            return Err(BundleError::Entry { seq: Seq(entries), what: "the session takes no more after it" });
        }
        if let Some(copying) = &self.copying {
            copying.begin_arrival(session).await.map_err(PayloadError::from)?;
        }
        let stored = self.store_payloads(session, &file, &payloads).await;
        let appended = match stored {
            Ok(()) => {
                fail::fail_point!("bundle-stored");
                self.journal.append(Batch { parts: vec![draft.take()], ..Batch::default() }).await.map_err(Into::into)
            }
            Err(err) => Err(err),
        };
        // A write that could not be confirmed may be in the log all the same, and then names them: the next start knows.
        if let Err(err @ BundleError::Append(AppendError::Failed(_))) = appended {
            return Err(err);
        }
        // A tool's session may come in by an import meanwhile, under the same id: its bodies are not taken away before its entries.
        let _nobody_stores = self.storing_bodies.none().await;
        if appended.is_err() {
            self.remove_without_entries(session, &payloads).await;
        }
        if let Some(copying) = &self.copying {
            copying.settle_arrival(&*self.store, session).await;
        }
        appended.map(|_| taken(false))
    }

    /// Removes payloads of a session that did not come in, unless it came in some other way meanwhile.
    async fn remove_without_entries(&self, session: SessionId, payloads: &[BundledPayload]) {
        if !matches!(self.store.head(StreamId::Session(session)).await, Ok(Head::At(Seq::START))) {
            return;
        }
        for bundled in payloads {
            // What stays is written over by the next try.
            drop(self.outputs.payloads().remove(session, &PayloadName::of_named(&bundled.payload)).await);
        }
    }

    /// Those of the payloads whose files are not here any more, although entries here name them: what was removed stays away. A
    /// link or a folder in a file's place is no file.
    async fn missing(
        &self,
        session: SessionId,
        payloads: Vec<BundledPayload>,
    ) -> Result<Vec<BundledPayload>, BundleError> {
        let mut missing = Vec::new();
        for bundled in payloads {
            let name = PayloadName::of_named(&bundled.payload);
            // Bodies are never removed, outputs may have been since.
            let is_named = match bundled.payload.output_id() {
                Some(id) => self.store.output(session, id).await?.is_some(),
                None => true,
            };
            if !is_named {
                continue;
            }
            let read = self.outputs.payloads().read(session, &name, 0, 1).await;
            if if_readable(session, &bundled.payload.path, read)?.is_none() {
                missing.push(bundled);
            }
        }
        Ok(missing)
    }

    async fn store_payloads(
        &self,
        session: SessionId,
        file: &Arc<File>,
        payloads: &[BundledPayload],
    ) -> Result<(), BundleError> {
        for bundled in payloads {
            self.store_payload(session, file, bundled).await?;
        }
        Ok(())
    }

    /// The same for a session that is here. A link is replaced; a folder in a file's place is the person's, and keeps no other
    /// payload away.
    async fn put_back(
        &self,
        session: SessionId,
        file: &Arc<File>,
        payloads: &[BundledPayload],
    ) -> Result<(), BundleError> {
        for bundled in payloads {
            // None is written while the session is purged, nor after that.
            let _no_purge = match &self.copying {
                Some(copying) => Some(copying.alone().await),
                None => None,
            };
            if matches!(self.store.head(StreamId::Session(session)).await?, Head::Purged) {
                return Err(BundleError::Removed(session));
            }
            match self.store_payload(session, file, bundled).await {
                Err(err @ PayloadError::Foreign { .. }) => {
                    let path = &bundled.payload.path;
                    tracing::warn!(%session, path, error = &err as &dyn std::error::Error, "a payload was not put back");
                }
                stored => stored?,
            }
        }
        Ok(())
    }

    async fn store_payload(
        &self,
        session: SessionId,
        file: &Arc<File>,
        BundledPayload { payload, offset, bytes }: &BundledPayload,
    ) -> Result<(), PayloadError> {
        let section = Section { file: Arc::clone(file), offset: *offset, left: *bytes };
        let name = PayloadName::of_named(payload);
        self.outputs.payloads().put(session, &name, Box::new(section), *bytes).await?;
        Ok(())
    }

    /// Whether the session here begins with these entries.
    async fn has_all(&self, session: SessionId, entries: &[Entry]) -> Result<bool, BundleError> {
        let mut rest = entries;
        while let Some(first) = rest.first() {
            let after = Seq(first.seq.0 - 1);
            let page = self.store.read_session(session, after, PAGE_ENTRIES).await?;
            let count = page.len().min(rest.len());
            if count == 0 || page[..count] != rest[..count] {
                return Ok(false);
            }
            rest = &rest[count..];
        }
        Ok(true)
    }
}

/// A part of a file, read without moving the place of others in it.
struct Section {
    file: Arc<File>,
    offset: u64,
    left: u64,
}

impl Read for Section {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(to.len());
        let read = self.file.read_at(&mut to[..most], self.offset)?;
        (self.offset, self.left) = (self.offset + read as u64, self.left - read as u64);
        Ok(read)
    }
}
