//! The follower that keeps the index, and has it made anew where that is due.
//!
//! Invariant: it alone writes the index. Whatever befalls the index, commits go on; a damaged one is thrown away and filled
//! again, and meanwhile what has been folded in is found. One that is merely old goes on answering, and is fed, while
//! another is filled beside it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use model::Position;
use search::{Beside, Index, Opened, SearchError, State, Trust};
use store::ReadError;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, sleep_until};

use super::Tail;
use super::bad_entries::BadEntries;
use super::feeder::Feeder;
use crate::Shared;
use crate::error::with_cause;

/// After so long without news the index lets go of its memory.
const REST_AFTER: Duration = Duration::from_secs(10);
/// It is not opened again sooner than so long after the last time.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// How long new entries gather, so that many are folded in at once.
const GATHER_FOR: Duration = Duration::from_millis(100);
/// How many entries are read at a time.
const PAGE: usize = 1_000;
/// How many entries are read at a time while another index is filled beside, so that new ones do not wait for long.
const PAGE_BESIDE: usize = 250;
/// An index that is so far behind is filled: with fewer and larger commits.
const FILLING_ENTRIES: u64 = 20_000;

/// Follows the log until the sessions have settled.
pub(crate) async fn run(shared: Arc<Shared>) {
    let Some(folder) = shared.finding.folder.clone() else { return };
    let settled = shared.settled.clone();
    // One that an earlier run had open when it panicked holds the folder until it is let go.
    shared.finding.set_index(None);
    let work = async {
        let (mut trust, mut bad_entries) = (Trust::Opened, BadEntries::default());
        loop {
            let opened_at = Instant::now();
            match follow(&shared, &folder, trust, &mut bad_entries).await {
                Ok(()) => trust = Trust::Opened,
                Err(err) => {
                    // One that can not be opened is tried again and again, and logged once.
                    let is_news = match &err {
                        FollowError::Opening(err) => shared.finding.tried_to_open(Some(err)),
                        FollowError::Index(_)
                        | FollowError::Unreadable
                        | FollowError::Read(_)
                        | FollowError::Broken(_) => true,
                    };
                    if is_news {
                        let error = with_cause(&err);
                        tracing::warn!(error, "the search index is opened again; what it lacks is read from the log");
                    }
                    trust = err.trust();
                    if err.may_be_of_an_entry()
                        && let Some((session, seq)) = bad_entries.failed()
                    {
                        shared.finding.set_aside.note(session, seq);
                    }
                }
            }
            shared.finding.set_index(None);
            if shared.settled.is_cancelled() {
                return;
            }
            sleep_until(opened_at + RETRY_AFTER).await;
        }
    };
    tokio::select! {
        () = work => (),
        // A moment for what is under way; the next start goes on where this one was.
        () = async { settled.cancelled().await; sleep(Duration::from_secs(2)).await; } => (),
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum FollowError {
    #[error(transparent)]
    Index(#[from] SearchError),
    #[error("the search index can not be opened: {0}")]
    Opening(#[source] SearchError),
    #[error("a search could not read it")]
    Unreadable,
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("the work on the index broke off")]
    Broken(#[from] tokio::task::JoinError),
}

impl FollowError {
    /// How the index is to be opened after it.
    fn trust(&self) -> Trust {
        match self {
            Self::Unreadable
            | Self::Index(SearchError::Damaged { .. })
            | Self::Opening(SearchError::Damaged { .. }) => Trust::EveryByteRead,
            Self::Index(_) | Self::Opening(_) | Self::Read(_) | Self::Broken(_) => Trust::Opened,
        }
    }

    /// The index that is made beside the other can not be. One whose work broke off would be filled up to the same entry and
    /// break there again, for ever.
    fn ends_rebuild(&self) -> bool {
        match self {
            Self::Index(_) | Self::Opening(_) | Self::Broken(_) => true,
            Self::Unreadable | Self::Read(_) => false,
        }
    }

    /// Something that was given to the index may have broken it; a disk or a lock would have said so.
    fn may_be_of_an_entry(&self) -> bool {
        match self {
            Self::Index(SearchError::Damaged { .. } | SearchError::Unwritten) | Self::Broken(_) => true,
            Self::Index(SearchError::Locked | SearchError::Disk(_) | SearchError::Folder { .. })
            | Self::Opening(_)
            | Self::Unreadable
            | Self::Read(_) => false,
        }
    }
}

async fn follow(shared: &Shared, folder: &Path, trust: Trust, bad_entries: &mut BadEntries) -> Result<(), FollowError> {
    let (path, incarnation): (PathBuf, _) = (folder.to_owned(), shared.store.incarnation());
    let opened = spawn_blocking(move || Index::open(&path, incarnation, trust)).await?;
    let Opened { index, state, beside } = opened.map_err(FollowError::Opening)?;
    shared.finding.tried_to_open(None);
    match &state {
        State::Damaged(reason) => tracing::warn!(reason, "the search index was damaged and is filled again"),
        State::Fresh | State::Foreign => tracing::info!("the search index is filled"),
        State::Resumed(_) => (),
    }
    let after = match state {
        State::Resumed(position) => position,
        State::Fresh => Position(0),
        State::Damaged(_) | State::Foreign => {
            bad_entries.begin_anew();
            Position(0)
        }
    };
    if after == Position(0) {
        shared.finding.set_aside.begin_anew(bad_entries.aside());
    }
    shared.finding.folded.send_replace(after);
    let index = Arc::new(index);
    let folded = Some(&shared.finding.folded);
    let known = std::mem::take(bad_entries);
    let main = Feeder::new(shared, &shared.finding.tail, Arc::clone(&index), after, folded, known);
    shared.finding.set_index(Some(index));
    let tail_beside = RwLock::default();
    let mut follower = IndexFollower { shared, main, beside: None, tail_beside: &tail_beside, gave_up: false };
    let followed = match beside {
        Some(beside) => follower.go_on_beside(beside).await,
        None => Ok(()),
    };
    let followed = match followed {
        Ok(()) => follower.follow().await,
        failed => failed,
    };
    // A commit that is still under way writes the folder that is opened next.
    follower.await_writers().await;
    *bad_entries = follower.main.bad_entries;
    followed
}

struct IndexFollower<'a> {
    shared: &'a Shared,
    /// Feeds the index that answers.
    main: Feeder<'a>,
    /// Feeds the one that is to take its place; nobody looks through its tail.
    beside: Option<Feeder<'a>>,
    tail_beside: &'a RwLock<Tail>,
    /// Making it anew failed: the next start tries again.
    gave_up: bool,
}

impl IndexFollower<'_> {
    async fn follow(&mut self) -> Result<(), FollowError> {
        let mut is_resting = false;
        loop {
            let last = self.shared.store.last_position();
            fail::fail_point!("search-follow", |_| Ok(()));
            if self.shared.finding.index_now().is_none() {
                return Err(FollowError::Unreadable);
            }
            if self.main.end_commit_if_over().await? {
                self.begin_beside_if_wanted().await?;
            }
            self.remove_purged().await?;
            let is_bulk = self.shared.importing.is_bulk();
            let is_behind = last.0.saturating_sub(self.main.after.0) > FILLING_ENTRIES;
            self.main.set_filling(is_bulk || is_behind).await?;
            if self.main.after < last && self.main.take_page(Position(u64::MAX), PAGE).await? {
                is_resting = false;
                continue;
            }
            self.main.set_filling(is_bulk).await?;
            // Purged entries leave positions that nobody reads.
            self.main.reach(last);
            if self.beside.is_some() && !self.shared.settled.is_cancelled() {
                if self.main.is_commit_due() {
                    self.main.begin_commit();
                }
                self.fill_beside().await?;
                continue;
            }
            let commit_at = self.main.commit_at();
            let rest_at = Instant::now() + REST_AFTER;
            tokio::select! {
                biased;
                () = self.shared.settled.cancelled() => return self.main.commit().await,
                _ = self.shared.store.wait_after(last) => self.gather().await,
                () = self.shared.finding.nudged.notified() => self.gather().await,
                Some(ended) = self.main.commit_ended() => {
                    self.main.end_commit(ended).await?;
                    self.begin_beside_if_wanted().await?;
                }
                () = sleep_until(commit_at.unwrap_or(rest_at)), if commit_at.is_some() => self.main.begin_commit(),
                () = sleep_until(rest_at), if !is_resting => {
                    is_resting = true;
                    self.main.commit().await?;
                    self.main.forget();
                    self.main.begin_rest();
                }
            }
        }
    }

    /// Waits for more entries to gather, unless somebody searches.
    async fn gather(&self) {
        tokio::select! {
            () = sleep(GATHER_FOR) => (),
            () = self.shared.finding.hurry.notified() => (),
            () = self.shared.settled.cancelled() => (),
        }
    }

    /// Waits until nobody writes either index any more.
    async fn await_writers(&mut self) {
        self.main.await_writers().await;
        if let Some(beside) = &mut self.beside {
            beside.await_writers().await;
        }
    }

    async fn remove_purged(&mut self) -> Result<(), FollowError> {
        let purged = self.shared.finding.take_purged();
        if let Some(beside) = &mut self.beside {
            beside.remove(&purged).await?;
        }
        self.main.remove(&purged).await
    }

    async fn begin_beside_if_wanted(&mut self) -> Result<(), FollowError> {
        if self.gave_up {
            return Ok(());
        }
        let begin = |index: &Index| index.is_rebuild_wanted().then(|| index.begin_beside()).transpose();
        match self.main.on_index(begin).await? {
            Some(beside) => self.go_on_beside(beside).await,
            None => Ok(()),
        }
    }

    async fn go_on_beside(&mut self, Beside { index, position }: Beside) -> Result<(), FollowError> {
        tracing::info!("the search index is made anew; the one that is there answers meanwhile");
        self.shared.finding.set_aside.begin_beside(position == Position(0));
        let mut feeder =
            Feeder::new(self.shared, self.tail_beside, Arc::new(index), position, None, BadEntries::default());
        feeder.set_filling(true).await?;
        self.beside = Some(feeder);
        Ok(())
    }

    /// Fills the new index a little further; when it reaches as far as the other, it takes over. Where it can not be
    /// filled the old one stays, and the next start tries again.
    async fn fill_beside(&mut self) -> Result<(), FollowError> {
        let Some(mut beside) = self.beside.take() else { return Ok(()) };
        let filled = match beside.end_commit_if_over().await {
            Ok(_) => beside.take_page(self.main.after, PAGE_BESIDE).await,
            Err(err) => Err(err),
        };
        match filled {
            Ok(true) => self.beside = Some(beside),
            Ok(false) => {
                self.take_over(&mut beside).await?;
                tracing::info!("the search index was made anew");
            }
            Err(err) if err.ends_rebuild() => {
                tracing::warn!(error = %err, "the search index could not be made anew; the one that is there stays");
                self.gave_up = true;
                beside.await_writers().await;
                if let Err(err) = beside.index.discard() {
                    tracing::warn!(error = %err, "what was made of it could not be removed");
                }
            }
            Err(err) => {
                self.beside = Some(beside);
                return Err(err);
            }
        }
        Ok(())
    }

    async fn take_over(&mut self, beside: &mut Feeder<'_>) -> Result<(), FollowError> {
        // Whoever has the old one in hand still finds everything in it.
        self.main.commit().await?;
        beside.finish_commit().await?;
        beside.set_filling(false).await?;
        let position = self.main.after;
        beside.on_index(move |index| index.take_over(position)).await?;
        let old = std::mem::replace(&mut self.main.index, Arc::clone(&beside.index));
        self.shared.finding.set_aside.take_over();
        self.shared.finding.set_index(Some(Arc::clone(&self.main.index)));
        if let Err(err) = spawn_blocking(move || old.discard()).await? {
            tracing::warn!(error = %err, "the old search index is removed at the next start");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is not opened again and again: the next start tries once more.
    #[tokio::test]
    async fn an_index_whose_work_breaks_off_is_not_made_anew() {
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(std::future::pending::<()>());
        tasks.abort_all();
        let broken = tasks.join_next().await.unwrap().unwrap_err();
        assert!(FollowError::from(broken).ends_rebuild());
        assert!(FollowError::Index(SearchError::Unwritten).ends_rebuild());
        // The log can be read again, and the index that answers is another one.
        assert!(!FollowError::Read(ReadError::Closed).ends_rebuild());
        assert!(!FollowError::Unreadable.ends_rebuild());
    }
}
