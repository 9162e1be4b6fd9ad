//! Gathers the parts of several imported conversations and appends them in one batch, which costs less: a batch writes whole
//! pages of the database, and sessions share them.
//!
//! Invariant: a conversation counts as imported once all its parts are appended. A part that is refused fails its own
//! conversation and no other.

use std::collections::HashMap;

use agents::history::FoundConversation;
use model::{Position, SessionId};
use store::{AppendError, Batch, Part};

use super::replay::{PART_BYTES, PART_ENTRIES, ReadyPart};
use super::run::{Became, Outcome, Seen};
use super::{MAX_FAILURES, session_of};
use crate::Shared;
use crate::bodies::KeptBodies;

/// A batch takes no more than this, unless one part alone is larger: whoever else writes waits for it.
const ALONE: Bound = Bound { entries: 5_000, bytes: 2 << 20 };
/// The same once somebody else has written since the batch before: then no batch is longer than a part.
const BESIDE_OTHERS: Bound = Bound { entries: PART_ENTRIES, bytes: PART_BYTES };

struct Bound {
    entries: usize,
    bytes: usize,
}

pub(super) struct Gathering<'a> {
    shared: &'a Shared,
    seen: &'a mut Seen,
    waiting: Vec<ReadyPart>,
    entries: usize,
    bytes: usize,
    /// Read to the end, and perhaps not written yet.
    finished: Vec<(FoundConversation, Outcome)>,
    refused: HashMap<SessionId, AppendError>,
    /// Where the last batch ended, and how much the next one takes.
    reached: Option<Position>,
    bound: &'static Bound,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(shared: &'a Shared, seen: &'a mut Seen) -> Self {
        let (waiting, finished, refused) = (Vec::new(), Vec::new(), HashMap::new());
        Self { shared, seen, waiting, entries: 0, bytes: 0, finished, refused, reached: None, bound: &ALONE }
    }

    /// Takes a part in, and writes those before it if it would be too much with them.
    pub(super) async fn add(&mut self, mut ready: ReadyPart) {
        let (entries, bytes) = (ready.part.entries.len(), ready.bytes);
        if self.entries + entries > self.bound.entries || self.bytes + bytes > self.bound.bytes {
            self.write().await;
        }
        if self.is_refused(ready.session) {
            return;
        }
        (self.entries, self.bytes) = (self.entries + entries, self.bytes + bytes);
        let bodies = std::mem::take(&mut ready.bodies);
        if !bodies.is_empty() {
            let KeptBodies { lost, storing } = self.shared.keep_bodies(ready.session, &bodies).await;
            ready.part.unkeep(&lost, &bodies);
            ready.storing = Some(storing);
        }
        self.waiting.push(ready);
    }

    /// Whether a part of this session was refused.
    pub(super) fn is_refused(&self, session: SessionId) -> bool {
        self.refused.contains_key(&session)
    }

    /// Nothing more comes of a conversation.
    pub(super) fn finish(&mut self, found: FoundConversation, became: Outcome) {
        self.finished.push((found, became));
        if self.waiting.is_empty() {
            self.report_finished();
        }
    }

    /// Appends what waits, and counts the conversations that are finished.
    pub(super) async fn write(&mut self) {
        (self.entries, self.bytes) = (0, 0);
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return;
        }
        // The only one is not tried twice, so that nobody has to hold it twice; it may be very long.
        let is_one = waiting.len() == 1;
        if is_one || self.append(waiting.iter().map(|ready| ready.part.clone()).collect()).await.is_err() {
            // Of a batch that was refused, most may be written one by one.
            for ready in waiting {
                if !self.is_refused(ready.session)
                    && let Err(err) = self.append(vec![ready.part]).await
                {
                    self.refused.insert(ready.session, err);
                }
            }
        }
        self.report_finished();
    }

    async fn append(&mut self, parts: Vec<Part>) -> Result<(), AppendError> {
        let entries: usize = parts.iter().map(|part| part.entries.len()).sum();
        let position = self.shared.journal.append(Batch { parts, ..Batch::default() }).await?.position;
        let is_alone = self.reached.is_none_or(|reached| position.0 - reached.0 == entries as u64);
        self.bound = if is_alone { &ALONE } else { &BESIDE_OTHERS };
        self.reached = Some(position);
        Ok(())
    }

    fn report_finished(&mut self) {
        for (found, became) in std::mem::take(&mut self.finished) {
            let became = match self.refused.remove(&session_of(&found)) {
                Some(err) => Err(err.into()),
                None => became,
            };
            // One whose last turn waits is looked at again; one that could not be read, once it has changed.
            if !matches!(became, Ok((_, true))) {
                self.seen.note(&found);
            }
            self.shared.note_import(|state| {
                state.done += 1;
                match became {
                    Ok((Became::Added(turns), _)) => {
                        (state.added, state.turns) = (state.added + 1, state.turns + turns);
                    }
                    Ok((Became::Updated(turns), _)) => {
                        (state.updated, state.turns) = (state.updated + 1, state.turns + turns);
                    }
                    Ok((Became::Unchanged, _)) => state.unchanged += 1,
                    Ok((Became::LeftAlone, _)) => state.left_alone += 1,
                    Err(err) => {
                        state.failed += 1;
                        if state.failures.len() < MAX_FAILURES {
                            state.failures.push(format!("{}: {err}", found.path.display()));
                        }
                    }
                }
            });
        }
    }
}
