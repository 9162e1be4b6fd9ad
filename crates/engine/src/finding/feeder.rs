//! Feeds one index: folds entries into pieces, adds them, and keeps in a tail what is not on disk yet.
//!
//! Invariant: index and tail together hold everything up to `after`, and nothing twice.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

use model::{Entry, Event, Position, Seq, SessionId, StreamId, Turn};
use search::{About, Index, Piece, Pieces, SearchError};
use store::PlacedEntry;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::follower::FollowError;
use super::{Open, Tail, TailPiece};
use crate::Shared;

/// What is folded in is on disk so long after it at the latest, or when so much of it has gathered.
const COMMIT_AFTER: Duration = Duration::from_secs(1);
/// The same while much is folded in: few large commits leave little to merge.
const COMMIT_AFTER_FILLING: Duration = Duration::from_secs(10);
const COMMIT_BYTES: usize = 16 << 20;
/// How many entries of a session are read at a time.
const PAGE: usize = 1_000;
/// How many sessions' projects are kept at hand.
const KNOWN_SESSIONS: usize = 20_000;

pub(super) struct Feeder<'a> {
    shared: &'a Shared,
    tail: &'a RwLock<Tail>,
    pub(super) index: Arc<Index>,
    /// Up to where the log has been folded in.
    pub(super) after: Position,
    known: HashMap<SessionId, Arc<About>>,
    /// When the first was folded in that is not on disk.
    dirty_since: Option<Instant>,
    filling: bool,
}

/// What is done to the index, in order.
enum Step {
    Add(Arc<TailPiece>),
    Remove(SessionId),
    RemoveTurn(SessionId, Turn),
}

impl Step {
    fn add(piece: Piece, about: &Arc<About>) -> Self {
        Self::Add(Arc::new(TailPiece { piece, about: Arc::clone(about) }))
    }
}

impl<'a> Feeder<'a> {
    /// From `after` on; the tail is emptied.
    pub(super) fn new(shared: &'a Shared, tail: &'a RwLock<Tail>, index: Arc<Index>, after: Position) -> Self {
        *tail.write().unwrap_or_else(PoisonError::into_inner) = Tail::default();
        Self { shared, tail, index, after, known: HashMap::new(), dirty_since: None, filling: false }
    }

    /// Does something with the index, where it may block.
    pub(super) async fn on_index<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Index) -> Result<T, SearchError> + Send + 'static,
    ) -> Result<T, FollowError> {
        let index = Arc::clone(&self.index);
        Ok(spawn_blocking(move || work(&index)).await??)
    }

    pub(super) async fn set_filling(&mut self, filling: bool) -> Result<(), FollowError> {
        if self.filling == filling {
            return Ok(());
        }
        self.filling = filling;
        self.on_index(move |index| index.set_filling(filling)).await
    }

    /// Reads and folds in the next entries, none after `up_to`; tells whether there were any.
    pub(super) async fn take_page(&mut self, up_to: Position, limit: usize) -> Result<bool, FollowError> {
        let mut page = self.shared.store.read_all(self.after, limit).await?;
        page.retain(|placed| placed.position <= up_to);
        let Some(newest) = page.last().map(|placed| placed.position) else { return Ok(false) };
        self.take(page).await?;
        self.after = newest;
        if self.is_commit_due() {
            self.commit().await?;
        }
        Ok(true)
    }

    /// When what was folded in has waited long enough, if something waits.
    pub(super) fn commit_at(&self) -> Option<Instant> {
        let after = if self.filling { COMMIT_AFTER_FILLING } else { COMMIT_AFTER };
        self.dirty_since.map(|since| since + after)
    }

    /// Enough has gathered, or it has waited long enough.
    pub(super) fn is_commit_due(&self) -> bool {
        let waited = !self.filling && self.commit_at().is_some_and(|at| at < Instant::now());
        waited || self.tail.read().unwrap_or_else(PoisonError::into_inner).bytes > COMMIT_BYTES
    }

    /// Lets go of what is only at hand.
    pub(super) fn forget(&mut self) {
        self.known = HashMap::new();
    }

    fn tail_mut(&self) -> RwLockWriteGuard<'_, Tail> {
        self.tail.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what was folded in on disk; from then on the index finds it, and the tail need not.
    pub(super) async fn commit(&mut self) -> Result<(), FollowError> {
        let position = self.after;
        self.on_index(move |index| index.commit(position)).await?;
        self.dirty_since = None;
        let mut tail = self.tail_mut();
        tail.pieces.clear();
        tail.pieces.shrink_to(1_024);
        tail.bytes = 0;
        Ok(())
    }

    /// These are gone without a word in the log.
    pub(super) async fn remove(&mut self, purged: &[SessionId]) -> Result<(), FollowError> {
        for id in purged {
            self.tail_mut().open.remove(id);
            self.known.remove(id);
        }
        self.carry_out(purged.iter().copied().map(Step::Remove).collect()).await
    }

    async fn take(&mut self, page: Vec<PlacedEntry>) -> Result<(), FollowError> {
        let mut steps = Vec::new();
        for placed in page {
            if let StreamId::Session(id) = placed.stream {
                self.fold(id, &placed.entry, &mut steps).await?;
            }
        }
        self.carry_out(steps).await
    }

    async fn carry_out(&mut self, steps: Vec<Step>) -> Result<(), FollowError> {
        if steps.is_empty() {
            return Ok(());
        }
        self.dirty_since.get_or_insert_with(Instant::now);
        {
            let mut tail = self.tail_mut();
            for step in &steps {
                match step {
                    Step::Add(added) => {
                        tail.bytes += added.piece.text.len();
                        tail.pieces.push(Arc::clone(added));
                    }
                    Step::Remove(id) => tail.pieces.retain(|waiting| waiting.piece.session != *id),
                    Step::RemoveTurn(id, turn) => {
                        tail.pieces.retain(|waiting| (waiting.piece.session, waiting.piece.turn) != (*id, *turn));
                    }
                }
            }
        }
        self.on_index(move |index| {
            steps.iter().try_for_each(|step| match step {
                Step::Add(added) => index.add(&added.piece, &added.about),
                Step::Remove(id) => index.remove_session(*id),
                Step::RemoveTurn(id, turn) => index.remove_turn(*id, *turn),
            })
        })
        .await
    }

    async fn fold(&mut self, id: SessionId, entry: &Entry, steps: &mut Vec<Step>) -> Result<(), FollowError> {
        match &entry.event {
            Event::SessionCreated { project, agent, .. } => {
                let about = About { project: project.clone(), agent: agent.clone() };
                self.remember(id, Arc::new(about));
            }
            Event::SessionChanged { agent: Some(agent), .. } => {
                if let Some(about) = self.about(id).await? {
                    self.remember(id, Arc::new(About { project: about.project.clone(), agent: agent.clone() }));
                }
            }
            Event::SessionDeleted {} => {
                self.tail_mut().open.remove(&id);
                steps.push(Step::Remove(id));
                return Ok(());
            }
            Event::SessionRestored {} => return self.tell_again(id, entry.seq, steps).await,
            _ => (),
        }
        let Some(about) = self.about(id).await? else { return Ok(()) };
        if let Some(pieces) = self.go_on(id, entry) {
            steps.extend(pieces.into_iter().map(|piece| Step::add(piece, &about)));
            return Ok(());
        }
        let mut open = match self.turn_of(&entry.event).await? {
            // Nothing of a turn is open: what begins one, or belongs to none.
            None => Open { pieces: Pieces::new(id), about },
            Some(_) if begins_or_follows(&entry.event) => Open { pieces: Pieces::new(id), about },
            Some(turn) => {
                // It was under way when the index last stopped: what it had told by then is told again, whole.
                steps.push(Step::RemoveTurn(id, turn));
                let Some(open) = self.begun(id, turn, entry.seq, about, steps).await? else { return Ok(()) };
                open
            }
        };
        let pieces = open.pieces.apply(entry);
        steps.extend(pieces.into_iter().map(|piece| Step::add(piece, &open.about)));
        if is_of_open_turn(&entry.event) {
            self.tail_mut().open.insert(id, open);
        }
        Ok(())
    }

    /// Folds an entry into the turn of its session that runs, if one does; what ended with it.
    fn go_on(&self, id: SessionId, entry: &Entry) -> Option<Vec<Piece>> {
        let mut tail = self.tail_mut();
        let pieces = tail.open.get_mut(&id)?.pieces.apply(entry);
        if matches!(entry.event, Event::TurnEnded { .. }) {
            tail.open.remove(&id);
        }
        Some(pieces)
    }

    /// The turn that an entry belongs to.
    async fn turn_of(&self, event: &Event) -> Result<Option<Turn>, FollowError> {
        match event {
            Event::PromptSent { interaction_id, .. } => {
                Ok(self.shared.store.find_turn(*interaction_id).await?.map(|row| row.turn))
            }
            event => Ok(event.turn()),
        }
    }

    /// A turn that runs, as far as it had come before an entry; what had ended in it is added.
    async fn begun(
        &self,
        id: SessionId,
        turn: Turn,
        before: Seq,
        about: Arc<About>,
        steps: &mut Vec<Step>,
    ) -> Result<Option<Open>, FollowError> {
        let rows = self.shared.store.turns(id, Turn(turn.0.saturating_sub(1)), 1).await?;
        let Some(row) = rows.into_iter().find(|row| row.turn == turn) else { return Ok(None) };
        let mut open = Open { pieces: Pieces::new(id), about };
        self.replay(id, row.first_seq.previous(), before, &mut open, steps).await?;
        Ok(Some(open))
    }

    /// Adds all of a session that came back.
    async fn tell_again(&mut self, id: SessionId, before: Seq, steps: &mut Vec<Step>) -> Result<(), FollowError> {
        let Some(about) = self.about(id).await? else { return Ok(()) };
        let mut open = Open { pieces: Pieces::new(id), about };
        self.replay(id, Seq::START, before, &mut open, steps).await
    }

    /// Folds the entries after one and before another.
    async fn replay(
        &self,
        id: SessionId,
        mut after: Seq,
        before: Seq,
        open: &mut Open,
        steps: &mut Vec<Step>,
    ) -> Result<(), FollowError> {
        loop {
            let page = self.shared.store.read(StreamId::Session(id), after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.seq;
            for entry in page.iter().take_while(|entry| entry.seq < before) {
                let pieces = open.pieces.apply(entry);
                steps.extend(pieces.into_iter().map(|piece| Step::add(piece, &open.about)));
            }
            if after >= before {
                return Ok(());
            }
        }
    }

    async fn about(&mut self, id: SessionId) -> Result<Option<Arc<About>>, FollowError> {
        if let Some(about) = self.known.get(&id) {
            return Ok(Some(Arc::clone(about)));
        }
        let Some(session) = self.shared.store.session(id).await? else { return Ok(None) };
        let about = Arc::new(About { project: session.row.project, agent: session.row.agent });
        self.remember(id, Arc::clone(&about));
        Ok(Some(about))
    }

    fn remember(&mut self, id: SessionId, about: Arc<About>) {
        if self.known.len() >= KNOWN_SESSIONS {
            self.known.clear();
        }
        self.known.insert(id, about);
    }
}

/// Needs nothing of its turn's earlier entries.
fn begins_or_follows(event: &Event) -> bool {
    matches!(event, Event::TurnStarted { .. } | Event::SummarySet { .. } | Event::NextClicked { .. })
}

/// Leaves its turn open.
fn is_of_open_turn(event: &Event) -> bool {
    matches!(event, Event::PromptSent { .. })
        || (event.turn().is_some()
            && !matches!(event, Event::SummarySet { .. } | Event::NextClicked { .. } | Event::TurnEnded { .. }))
}
