//! The follower that fills the index.
//!
//! Invariant: it alone writes the index. Whatever befalls the index, commits go on; a damaged one is thrown away and filled
//! again, and meanwhile what has been folded in is found.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::{Entry, Event, Position, Seq, SessionId, StreamId, Timestamp, Turn};
use search::{About, Index, Opened, Piece, Pieces, SearchError, State};
use store::{PlacedEntry, ReadError};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, sleep_until};

use super::{Open, Told};
use crate::Shared;

/// What is folded in is on disk so long after it at the latest, or when so much of it has gathered.
const COMMIT_AFTER: Duration = Duration::from_secs(1);
const COMMIT_BYTES: usize = 16 << 20;
/// After so long without news the index lets go of its memory.
const REST_AFTER: Duration = Duration::from_secs(10);
/// How long after a failure it is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// How many entries are read at a time.
const PAGE: usize = 1_000;
/// How many sessions' projects are kept at hand.
const KNOWN_SESSIONS: usize = 20_000;
/// So far behind, the index is filled rather than followed.
const FILLING_ENTRIES: u64 = 20_000;

/// Follows the log until the sessions have settled.
pub(crate) async fn run(shared: Arc<Shared>) {
    let Some(folder) = shared.finding.folder.clone() else { return };
    let settled = shared.settled.clone();
    let work = async {
        loop {
            if let Err(err) = follow(&shared, &folder).await {
                tracing::warn!(error = %err, "the search index is opened again; what it held is read from the log");
            }
            shared.finding.set_index(None);
            if shared.settled.is_cancelled() {
                return;
            }
            sleep(RETRY_AFTER).await;
        }
    };
    tokio::select! {
        () = work => (),
        // A moment for what is under way; the next start goes on where this one was.
        () = async { settled.cancelled().await; sleep(Duration::from_secs(2)).await; } => (),
    }
}

#[derive(Debug, thiserror::Error)]
enum FollowError {
    #[error(transparent)]
    Index(#[from] SearchError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("the work on the index broke off")]
    Broken(#[from] tokio::task::JoinError),
}

async fn follow(shared: &Shared, folder: &Path) -> Result<(), FollowError> {
    let (path, incarnation): (PathBuf, _) = (folder.to_owned(), shared.store.incarnation());
    let Opened { index, state } = spawn_blocking(move || Index::open(&path, incarnation)).await??;
    match &state {
        State::Damaged(reason) => tracing::warn!(reason, "the search index was damaged and is filled again"),
        State::Fresh | State::Foreign => tracing::info!("the search index is filled"),
        State::Resumed(_) => (),
    }
    let after = match state {
        State::Resumed(position) => position,
        State::Fresh | State::Damaged(_) | State::Foreign => Position(0),
    };
    let last = shared.store.changed_since(Position(i64::MAX.unsigned_abs()), 1).await?.up_to;
    shared.finding.committed(last);
    shared.finding.folded.send_replace(after);
    *shared.finding.tail_mut() = super::Tail::default();
    let index = Arc::new(index);
    shared.finding.set_index(Some(Arc::clone(&index)));
    let mut follower = Follower { shared, index, after, known: HashMap::new(), dirty_since: None, filling: false };
    follower.follow().await
}

struct Follower<'a> {
    shared: &'a Shared,
    index: Arc<Index>,
    after: Position,
    known: HashMap<SessionId, Arc<About>>,
    /// When the first was folded in that is not on disk.
    dirty_since: Option<Instant>,
    filling: bool,
}

/// What is done to the index, in order.
enum Step {
    Add(Told),
    Remove(SessionId),
    RemoveTurn(SessionId, Turn),
}

impl Follower<'_> {
    async fn follow(&mut self) -> Result<(), FollowError> {
        let mut news = self.shared.finding.committed.subscribe();
        let mut is_resting = false;
        loop {
            let last = *news.borrow_and_update();
            self.remove_purged().await?;
            let page = self.shared.store.read_all(self.after, PAGE).await?;
            if let Some(newest) = page.last() {
                is_resting = false;
                let newest = newest.position;
                self.set_filling(last.0.saturating_sub(newest.0) > FILLING_ENTRIES).await?;
                self.take(page).await?;
                self.after = newest;
                self.shared.finding.folded.send_replace(newest);
                let waited = self.dirty_since.is_some_and(|since| since.elapsed() > COMMIT_AFTER && !self.filling);
                if waited || self.shared.finding.tail().bytes > COMMIT_BYTES {
                    self.commit().await?;
                }
                continue;
            }
            self.set_filling(false).await?;
            // Purged entries leave positions that nobody reads.
            self.after = self.after.max(last);
            self.shared.finding.folded.send_replace(self.after);
            let commit_at = self.dirty_since.map(|since| since + COMMIT_AFTER);
            let rest_at = Instant::now() + REST_AFTER;
            tokio::select! {
                biased;
                () = self.shared.settled.cancelled() => {
                    self.commit().await?;
                    return Ok(());
                }
                _ = news.changed() => (),
                () = sleep_until(commit_at.unwrap_or(rest_at)), if commit_at.is_some() => self.commit().await?,
                () = sleep_until(rest_at), if !is_resting => {
                    is_resting = true;
                    self.known = HashMap::new();
                    self.on_index(Index::rest).await?;
                }
            }
        }
    }

    async fn on_index(
        &self,
        work: impl FnOnce(&Index) -> Result<(), SearchError> + Send + 'static,
    ) -> Result<(), FollowError> {
        let index = Arc::clone(&self.index);
        Ok(spawn_blocking(move || work(&index)).await??)
    }

    async fn set_filling(&mut self, filling: bool) -> Result<(), FollowError> {
        if self.filling == filling {
            return Ok(());
        }
        self.filling = filling;
        self.on_index(move |index| index.set_filling(filling)).await
    }

    /// Puts what was folded in on disk; from then on the index finds it, and the tail need not.
    async fn commit(&mut self) -> Result<(), FollowError> {
        let position = self.after;
        self.on_index(move |index| index.commit(position)).await?;
        self.dirty_since = None;
        let mut tail = self.shared.finding.tail_mut();
        tail.pieces.clear();
        tail.pieces.shrink_to(1_024);
        tail.bytes = 0;
        Ok(())
    }

    async fn remove_purged(&mut self) -> Result<(), FollowError> {
        let purged = self.shared.finding.take_purged();
        for id in &purged {
            self.shared.finding.tail_mut().open.remove(id);
            self.known.remove(id);
        }
        self.carry_out(purged.into_iter().map(Step::Remove).collect()).await
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
            let mut tail = self.shared.finding.tail_mut();
            for step in &steps {
                match step {
                    Step::Add(told) => {
                        tail.bytes += told.0.text.len();
                        tail.pieces.push(Arc::clone(told));
                    }
                    Step::Remove(id) => tail.pieces.retain(|told| told.0.session != *id),
                    Step::RemoveTurn(id, turn) => {
                        tail.pieces.retain(|told| (told.0.session, told.0.turn) != (*id, *turn));
                    }
                }
            }
        }
        self.on_index(move |index| {
            steps.iter().try_for_each(|step| match step {
                Step::Add(told) => index.add(&told.0, &told.1),
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
                self.shared.finding.tail_mut().open.remove(&id);
                steps.push(Step::Remove(id));
                return Ok(());
            }
            Event::SessionRestored {} => return self.tell_again(id, entry.seq, steps).await,
            _ => (),
        }
        let Some(about) = self.about(id).await? else { return Ok(()) };
        if let Some(pieces) = self.go_on(id, entry) {
            steps.extend(pieces.into_iter().map(|piece| Step::Add(Arc::new((piece, Arc::clone(&about))))));
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
        steps.extend(pieces.into_iter().map(|piece| Step::Add(Arc::new((piece, Arc::clone(&open.about))))));
        if is_of_open_turn(&entry.event) {
            self.shared.finding.tail_mut().open.insert(id, open);
        }
        Ok(())
    }

    /// Folds an entry into the turn of its session that runs, if one does; what ended with it.
    fn go_on(&self, id: SessionId, entry: &Entry) -> Option<Vec<Piece>> {
        let mut tail = self.shared.finding.tail_mut();
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
                steps.extend(pieces.into_iter().map(|piece| Step::Add(Arc::new((piece, Arc::clone(&open.about))))));
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
    matches!(event, Event::TurnStarted { .. } | Event::SummarySet { .. })
}

/// Leaves its turn open.
fn is_of_open_turn(event: &Event) -> bool {
    matches!(event, Event::PromptSent { .. })
        || (event.turn().is_some() && !matches!(event, Event::SummarySet { .. } | Event::TurnEnded { .. }))
}

impl super::Finding {
    /// The pieces that the index does not hold yet, those of running turns too.
    pub(super) fn tail_pieces(&self, now: Timestamp) -> Vec<Told> {
        let tail = self.tail();
        let open = tail.open.values().flat_map(|open| {
            let pieces: Vec<Piece> = open.pieces.open(now);
            pieces.into_iter().map(|piece| Arc::new((piece, Arc::clone(&open.about))))
        });
        tail.pieces.iter().cloned().chain(open).collect()
    }
}
