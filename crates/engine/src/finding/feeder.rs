//! Feeds one index: folds entries into pieces, adds them, and keeps in a tail what is not on disk yet.
//!
//! Invariant: index and tail together hold everything up to `after`. A piece may be in both for a moment; a search shows it
//! once. What is folded in while a commit is under way is in the tail at once and comes to the index after it, so nothing
//! has to be committed to be found. Memory is bounded in bytes, however long an entry, a turn or a session is.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

use model::{Entry, Position, Seq, SessionEvent, SessionId, StreamId, Turn};
use search::{Index, Piece, Pieces, SearchError, SessionAttributes};
use store::PlacedEntry;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet, spawn_blocking};
use tokio::time::Instant;

use super::bad_entries::BadEntries;
use super::follower::FollowError;
use super::{Open, Tail, TailPiece};
use crate::{Shared, paging};

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
    /// Publishes how far the log has been indexed.
    folded: Option<&'a watch::Sender<Position>>,
    known: HashMap<SessionId, Arc<SessionAttributes>>,
    /// When the first was folded in that no commit has.
    dirty_since: Option<Instant>,
    filling: bool,
    /// The commit or the clean-up that is under way, if one is.
    index_job: JoinSet<Result<(), SearchError>>,
    /// Changes that the tail has and the index has not. They are written to it in order, while no such job is under way.
    waiting: Vec<IndexChange>,
    /// What the index can not take.
    pub(super) bad_entries: BadEntries,
}

/// A change of tail and index; they are applied in order.
pub(super) enum IndexChange {
    Add(Arc<TailPiece>),
    Remove(SessionId),
    RemoveTurn(SessionId, Turn),
}

impl Tail {
    fn add(&mut self, pieces: Vec<Piece>, about: &Arc<SessionAttributes>, waiting: &mut Vec<IndexChange>) {
        for piece in pieces {
            self.change(IndexChange::Add(Arc::new(TailPiece { piece, about: Arc::clone(about) })), waiting);
        }
    }

    /// Makes a change here; the index makes it later.
    fn change(&mut self, change: IndexChange, waiting: &mut Vec<IndexChange>) {
        match &change {
            IndexChange::Add(added) => {
                self.bytes += added.piece.text.len();
                self.pieces.push(Arc::clone(added));
            }
            IndexChange::Remove(id) => {
                self.open.remove(id);
                self.retain(|piece| piece.session != *id);
            }
            IndexChange::RemoveTurn(id, turn) => self.retain(|piece| (piece.session, piece.turn) != (*id, *turn)),
        }
        waiting.push(change);
    }

    fn retain(&mut self, stays: impl Fn(&Piece) -> bool) {
        self.pieces.retain(|waiting| stays(&waiting.piece));
        self.committing.retain(|waiting| stays(&waiting.piece));
    }

    fn begin_commit(&mut self) {
        self.committing = std::mem::take(&mut self.pieces);
        self.bytes = 0;
    }
}

impl<'a> Feeder<'a> {
    /// From `after` on; the tail is emptied.
    pub(super) fn new(
        shared: &'a Shared,
        tail: &'a RwLock<Tail>,
        index: Arc<Index>,
        after: Position,
        folded: Option<&'a watch::Sender<Position>>,
        bad_entries: BadEntries,
    ) -> Self {
        *tail.write().unwrap_or_else(PoisonError::into_inner) = Tail::default();
        Self {
            shared,
            tail,
            index,
            after,
            folded,
            known: HashMap::new(),
            dirty_since: None,
            filling: false,
            index_job: JoinSet::new(),
            waiting: Vec::new(),
            bad_entries,
        }
    }

    /// Does something with the index, where it may block.
    pub(super) async fn on_index<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Index) -> Result<T, SearchError> + Send + 'static,
    ) -> Result<T, FollowError> {
        let index = Arc::clone(&self.index);
        Ok(spawn_blocking(move || work(&index)).await??)
    }

    /// Does nothing while a commit is under way; the loop asks again.
    pub(super) async fn set_filling(&mut self, filling: bool) -> Result<(), FollowError> {
        if self.filling == filling || !self.index_job.is_empty() {
            return Ok(());
        }
        self.filling = filling;
        let reached = self.after;
        self.on_index(move |index| {
            // What it writes down on the way reaches to here.
            index.commit(reached)?;
            index.set_filling(filling)
        })
        .await
    }

    /// Reads and folds in the next entries, none after `up_to`. Returns whether there were any.
    pub(super) async fn take_page(&mut self, up_to: Position, limit: usize) -> Result<bool, FollowError> {
        let mut page = self.shared.store.read_all(self.after, limit).await?;
        page.retain(|placed| placed.position <= up_to);
        let is_any = !page.is_empty();
        for PlacedEntry { position, stream, entry } in page {
            if let (StreamId::Session(id), Some(entry)) = (stream, entry.into_session()) {
                if self.bad_entries.begin(position, id, entry.seq) {
                    let entry = self.shared.whole_entry(id, entry).await;
                    self.fold(id, position, &entry).await?;
                }
                self.reach(position);
                self.hand_over().await?;
            } else {
                self.reach(position);
            }
        }
        self.write_to_index().await?;
        if self.is_commit_due() {
            self.finish_commit().await?;
            self.begin_commit();
        }
        Ok(is_any)
    }

    /// Writes the changes to the index if there are many, or if this entry needs a commit of its own. After it returns, a
    /// crash loses nothing: the next run reads on behind this entry, or reads its session again from the beginning.
    async fn hand_over(&mut self) -> Result<(), FollowError> {
        if self.bad_entries.is_alone() {
            self.write_to_index().await?;
            self.commit().await?;
            self.bad_entries.done();
        } else if self.is_much() {
            self.write_to_index().await?;
            self.finish_commit().await?;
            self.begin_commit();
        }
        Ok(())
    }

    /// Everything up to here has been folded in.
    pub(super) fn reach(&mut self, position: Position) {
        self.after = self.after.max(position);
        if let Some(folded) = self.folded {
            folded.send_replace(self.after);
        }
    }

    /// When what was folded in has waited long enough, if something waits and no commit is under way.
    pub(super) fn commit_at(&self) -> Option<Instant> {
        let after = if self.filling { COMMIT_AFTER_FILLING } else { COMMIT_AFTER };
        self.dirty_since.filter(|_| self.index_job.is_empty()).map(|since| since + after)
    }

    /// Enough has gathered, or it has waited long enough.
    pub(super) fn is_commit_due(&self) -> bool {
        let waited = !self.filling && self.commit_at().is_some_and(|at| at < Instant::now());
        waited || self.is_much()
    }

    fn is_much(&self) -> bool {
        self.tail.read().unwrap_or_else(PoisonError::into_inner).bytes > COMMIT_BYTES
    }

    /// Lets go of what is only at hand.
    pub(super) fn forget(&mut self) {
        self.known = HashMap::new();
    }

    fn tail_mut(&self) -> RwLockWriteGuard<'a, Tail> {
        self.tail.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&mut self, change: IndexChange) {
        self.tail_mut().change(change, &mut self.waiting);
    }

    /// Puts what was folded in on disk.
    pub(super) async fn commit(&mut self) -> Result<(), FollowError> {
        self.finish_commit().await?;
        self.begin_commit();
        self.finish_commit().await
    }

    /// Begins to put it there, unless that is under way.
    pub(super) fn begin_commit(&mut self) {
        if !self.index_job.is_empty() {
            return;
        }
        self.dirty_since = None;
        self.tail_mut().begin_commit();
        let (index, position) = (Arc::clone(&self.index), self.after);
        self.index_job.spawn_blocking(move || {
            fail::fail_point!("index-commit");
            index.commit(position)
        });
    }

    /// Lets the index rest, which writes the words of removed sessions out of its files and may take long. As with a commit,
    /// what is folded in meanwhile is in the tail, and comes to the index after it.
    pub(super) fn begin_rest(&mut self) {
        if self.index_job.is_empty() {
            let index = Arc::clone(&self.index);
            self.index_job.spawn_blocking(move || index.rest());
        }
    }

    /// Waits for the commit that is under way; none if none is.
    pub(super) async fn commit_ended(&mut self) -> Option<Result<Result<(), SearchError>, JoinError>> {
        self.index_job.join_next().await
    }

    /// If the commit that was under way has ended, ends it here too; whether it has.
    pub(super) async fn end_commit_if_over(&mut self) -> Result<bool, FollowError> {
        match self.index_job.try_join_next() {
            Some(ended) => self.end_commit(ended).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// Waits until nobody writes the index any more.
    pub(super) async fn await_writers(&mut self) {
        while self.commit_ended().await.is_some() {}
    }

    /// From now on the index finds what the commit has, and the tail need not.
    pub(super) async fn end_commit(
        &mut self,
        ended: Result<Result<(), SearchError>, JoinError>,
    ) -> Result<(), FollowError> {
        ended??;
        self.tail_mut().committing = Vec::new();
        self.write_to_index().await
    }

    /// Waits until the index has all that was folded in.
    pub(super) async fn finish_commit(&mut self) -> Result<(), FollowError> {
        while let Some(ended) = self.commit_ended().await {
            self.end_commit(ended).await?;
        }
        Ok(())
    }

    /// These are gone without a word in the log.
    pub(super) async fn remove(&mut self, purged: &[SessionId]) -> Result<(), FollowError> {
        for id in purged {
            self.known.remove(id);
            self.change(IndexChange::Remove(*id));
        }
        self.write_to_index().await
    }

    /// Writes the waiting changes to the index, now or after the commit that is under way.
    async fn write_to_index(&mut self) -> Result<(), FollowError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.dirty_since.get_or_insert_with(Instant::now);
        if !self.index_job.is_empty() {
            for change in &self.waiting {
                if let IndexChange::Remove(id) = change {
                    self.index.hide_session(*id);
                }
            }
            return Ok(());
        }
        let changes = std::mem::take(&mut self.waiting);
        self.on_index(move |index| {
            changes.iter().try_for_each(|change| match change {
                IndexChange::Add(added) => {
                    fail::fail_point!("index-add", |_| Err(SearchError::Unwritten));
                    index.add(&added.piece, &added.about)
                }
                IndexChange::Remove(id) => index.remove_session(*id),
                IndexChange::RemoveTurn(id, turn) => index.remove_turn(*id, *turn),
            })
        })
        .await
    }

    async fn fold(&mut self, id: SessionId, position: Position, entry: &Entry) -> Result<(), FollowError> {
        match &entry.event {
            SessionEvent::SessionCreated { project, agent, .. } => {
                self.remember(id, project.clone(), agent.clone());
            }
            SessionEvent::SessionChanged { agent: Some(agent), .. } => {
                if let Some(about) = self.about(id).await? {
                    self.remember(id, about.project.clone(), agent.clone());
                }
            }
            SessionEvent::SessionDeleted {} => {
                self.change(IndexChange::Remove(id));
                return Ok(());
            }
            SessionEvent::SessionRestored {} => return self.add_again(id, (position, entry.seq)).await,
            _ => (),
        }
        let Some(about) = self.about(id).await? else { return Ok(()) };
        if self.go_on(id, entry, &about) {
            return Ok(());
        }
        let mut open = Open { pieces: Pieces::new(id), about };
        if let Some(turn) = self.turn_of(&entry.event).await?.filter(|_| !begins_or_follows(&entry.event)) {
            // It was under way when the index last stopped: its earlier entries are folded again, all of them.
            self.change(IndexChange::RemoveTurn(id, turn));
            let Some(row) = paging::find_turn(&*self.shared.store, id, turn).await? else { return Ok(()) };
            self.replay(id, row.first_seq.previous(), (position, entry.seq), &mut open).await?;
        }
        let pieces = self.apply(id, &mut open.pieces, entry);
        let mut tail = self.tail_mut();
        tail.add(pieces, &open.about, &mut self.waiting);
        if is_of_open_turn(&entry.event) {
            tail.open.insert(id, open);
        }
        Ok(())
    }

    /// Folds an entry into the turn of its session that runs, if one does.
    fn go_on(&mut self, id: SessionId, entry: &Entry, about: &Arc<SessionAttributes>) -> bool {
        let mut tail = self.tail_mut();
        let Some(open) = tail.open.get_mut(&id) else { return false };
        let pieces = self.apply(id, &mut open.pieces, entry);
        tail.add(pieces, about, &mut self.waiting);
        if matches!(entry.event, SessionEvent::TurnEnded { .. }) {
            tail.open.remove(&id);
        }
        true
    }

    /// Folds an entry; one that can not be is set aside, and what its turn says after it is folded as if it began there.
    fn apply(&self, id: SessionId, pieces: &mut Pieces, entry: &Entry) -> Vec<Piece> {
        let folded = catch_unwind(AssertUnwindSafe(|| {
            // Past the hook, which ends the process where points fail.
            fail::fail_point!("index-fold", |_| std::panic::resume_unwind(Box::new("index-fold")));
            pieces.apply(entry)
        }));
        folded.unwrap_or_else(|_| {
            self.shared.finding.set_aside.note(id, entry.seq);
            pieces.begin_again();
            Vec::new()
        })
    }

    /// The turn that an entry belongs to.
    async fn turn_of(&self, event: &SessionEvent) -> Result<Option<Turn>, FollowError> {
        match event {
            SessionEvent::PromptSent { interaction_id, .. } => {
                Ok(self.shared.store.find_turn(*interaction_id).await?.map(|row| row.turn))
            }
            event => Ok(event.turn()),
        }
    }

    /// Adds all of a session that came back. What a try that was broken off had added of it goes first.
    async fn add_again(&mut self, id: SessionId, before: (Position, Seq)) -> Result<(), FollowError> {
        let Some(about) = self.about(id).await? else { return Ok(()) };
        self.change(IndexChange::Remove(id));
        let mut open = Open { pieces: Pieces::new(id), about };
        self.replay(id, Seq::START, before, &mut open).await
    }

    /// Folds the entries after one and before another, which lies at a position in the log. Who calls it has them taken
    /// out first, so that it may be broken off anywhere and done again.
    async fn replay(
        &mut self,
        id: SessionId,
        mut after: Seq,
        (position, before): (Position, Seq),
        open: &mut Open,
    ) -> Result<(), FollowError> {
        loop {
            let page = self.shared.store.read_session(id, after, after.count_to(before.previous(), PAGE)).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for entry in page {
                if self.bad_entries.begin(position, id, entry.seq) {
                    let entry = self.shared.whole_entry(id, entry).await;
                    let pieces = self.apply(id, &mut open.pieces, &entry);
                    self.tail_mut().add(pieces, &open.about, &mut self.waiting);
                }
                self.hand_over().await?;
            }
        }
        self.bad_entries.begin(position, id, before);
        Ok(())
    }

    async fn about(&mut self, id: SessionId) -> Result<Option<Arc<SessionAttributes>>, FollowError> {
        if let Some(about) = self.known.get(&id) {
            return Ok(Some(Arc::clone(about)));
        }
        let Some(session) = self.shared.store.session(id).await? else { return Ok(None) };
        Ok(Some(self.remember(id, session.row.project, session.row.agent)))
    }

    fn remember(&mut self, id: SessionId, project: String, agent: String) -> Arc<SessionAttributes> {
        if self.known.len() >= KNOWN_SESSIONS {
            self.known.clear();
        }
        let about = Arc::new(SessionAttributes { project, agent });
        self.known.insert(id, Arc::clone(&about));
        about
    }
}

/// Needs nothing of its turn's earlier entries.
fn begins_or_follows(event: &SessionEvent) -> bool {
    matches!(
        event,
        SessionEvent::TurnStarted { .. } | SessionEvent::SummarySet { .. } | SessionEvent::NextClicked { .. }
    )
}

/// Leaves its turn open.
fn is_of_open_turn(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::PromptSent { .. })
        || (event.turn().is_some()
            && !matches!(
                event,
                SessionEvent::SummarySet { .. } | SessionEvent::NextClicked { .. } | SessionEvent::TurnEnded { .. }
            ))
}
