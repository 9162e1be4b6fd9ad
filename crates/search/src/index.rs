//! The index over all sessions: a follower's copy of the log's words, that can be lost without loss.
//!
//! Invariants: it holds no text, only what finds it. A commit carries the place in the log up to which it is true, so
//! that it and the place are on disk together or not at all. What was removed is hidden at once. Damage is recognised
//! and ends in an empty index that is to be filled again, never in a panic. One that is merely old goes on answering
//! while another is filled beside it.

mod analyzer;
mod collect;
mod columns;
mod compile;
mod dictionary;
mod error;
mod expunge;
mod folder;
mod rank;
mod rebuild;
mod relax;
mod schema;
mod search;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use model::{Incarnation, Position, SessionId, Turn};
use tantivy::indexer::IndexWriterOptions;
use tantivy::query::{BooleanQuery, Occur, Query as TantivyQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{IndexReader, IndexWriter, Term};

use crate::pieces::{Piece, SessionAttributes};

pub use error::SearchError;
pub(crate) use rank::weight;
pub use rank::{Count, Hit, Hits};
pub use rebuild::Beside;
pub use search::{Wanted, Within};

use columns::ColumnCache;
use error::guarded;
use expunge::Effort;
use folder::{Place, Ready, Standing};
use schema::Fields;

/// The least that the writer works with.
const RESTING_BUDGET_BYTES: usize = 15_000_000;
/// What it works with while the whole log is read.
const FILLING_BUDGET_BYTES: usize = 60_000_000;
/// More entries than these are not read again only because none of them had words.
const FAR_ENTRIES: u64 = 1_000;

/// An index on disk. Its calls block; it may be shared between threads.
pub struct Index {
    place: Place,
    incarnation: Incarnation,
    inner: tantivy::Index,
    fields: Fields,
    reader: IndexReader,
    columns: ColumnCache,
    writing: Mutex<Writing>,
    /// What was removed since the last commit.
    hidden: RwLock<Vec<Hidden>>,
}

/// An index, and what became of what was there.
pub struct Opened {
    /// Ready.
    pub index: Index,
    /// From where it is to be filled.
    pub state: State,
    /// One that is to take its place when it reaches as far: [`Index::take_over`].
    pub beside: Option<Beside>,
}

/// How closely what is there is looked at before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// As closely as opening it needs.
    Opened,
    /// Every byte is compared with its checksum: something was wrong with it.
    EveryByteRead,
}

/// What an index was when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// There was none: fill it from the log's beginning.
    Fresh,
    /// It holds everything up to here.
    Resumed(Position),
    /// What was there was damaged, and has been thrown away: fill it from the log's beginning.
    Damaged(String),
    /// What was there belonged to another store, and has been thrown away: fill it from the log's beginning.
    Foreign,
}

struct Writing {
    writer: Option<IndexWriter>,
    budget_bytes: usize,
    standing: Standing,
    /// Up to where it is true on disk, and will be with the next commit.
    committed: Option<Position>,
    reached: Option<Position>,
    /// Something was added or removed since the last commit.
    pending: bool,
    /// A write failed, so that what is pending is not whole.
    failed: bool,
    /// Files of it hold words of sessions that were removed.
    has_removed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hidden {
    Session(SessionId),
    Turn(SessionId, Turn),
}

impl Writing {
    /// A writer that failed once stays failed; the next one begins at the last commit.
    fn fail(&mut self, error: SearchError) -> SearchError {
        self.writer = None;
        self.failed = true;
        error
    }
}

impl Index {
    /// Opens the index in the folder `dir`, or makes one; `incarnation` is the store's, whose positions it speaks of.
    pub fn open(dir: &Path, incarnation: Incarnation, trust: Trust) -> Result<Opened, SearchError> {
        let folder::Shelf { answering, state, beside } = folder::open(dir, incarnation, trust)?;
        let beside = beside.map(|ready| Beside::of(ready, incarnation));
        Ok(Opened { index: Self::of(answering, incarnation), state, beside })
    }

    /// Whether an index could be opened in the folder `dir`, as far as looking tells: nothing is made or changed.
    pub fn check_folder(dir: &Path) -> Result<(), SearchError> {
        folder::check(dir)
    }

    fn of(ready: Ready, incarnation: Incarnation) -> Self {
        let Ready { inner, fields, reader, place, standing, position } = ready;
        let writing = Writing {
            writer: None,
            budget_bytes: RESTING_BUDGET_BYTES,
            standing,
            committed: position,
            reached: position,
            pending: false,
            failed: false,
            has_removed: folder::is_removal_noted(&place.path),
        };
        let (writing, hidden) = (Mutex::new(writing), RwLock::new(Vec::new()));
        let columns = ColumnCache::default();
        Self { place, incarnation, inner, fields, reader, columns, writing, hidden }
    }

    /// Up to which place in the log a reader of the disk would find everything.
    pub fn position(&self) -> Option<Position> {
        self.writing().committed
    }

    /// How many pieces it holds.
    pub fn len(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// It holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// From here on the whole log is read (`true`), or what happens (`false`): a larger budget makes filling cheaper.
    /// It counts from the next commit on.
    pub fn set_filling(&self, filling: bool) -> Result<(), SearchError> {
        let mut writing = self.writing();
        let budget_bytes = if filling { FILLING_BUDGET_BYTES } else { RESTING_BUDGET_BYTES };
        if budget_bytes != writing.budget_bytes {
            self.rest_with(&mut writing)?;
            writing.budget_bytes = budget_bytes;
        }
        Ok(())
    }

    /// Adds a piece; it is found after the next commit.
    pub fn add(&self, piece: &Piece, about: &SessionAttributes) -> Result<(), SearchError> {
        let document = self.fields.document(piece, about);
        self.write(|writer| writer.add_document(document).map(|_| ()))
    }

    /// Takes all pieces of a session out; they are not found from now on.
    pub fn remove_session(&self, session: SessionId) -> Result<(), SearchError> {
        self.hide(Hidden::Session(session));
        let mut writing = self.writing();
        self.note_removal(&mut writing)?;
        self.write_with(&mut writing, |writer| {
            writer.delete_term(self.fields.session_term(session));
            Ok(())
        })
    }

    /// They are not found until the next commit; whoever can not take them out yet has to do so after it.
    pub fn hide_session(&self, session: SessionId) {
        self.hide(Hidden::Session(session));
    }

    /// Takes the pieces of a turn out; they are not found from now on. Turn zero has the titles.
    pub fn remove_turn(&self, session: SessionId, turn: Turn) -> Result<(), SearchError> {
        self.hide(Hidden::Turn(session, turn));
        let query = self.of_turn(session, turn);
        self.write(|writer| writer.delete_query(Box::new(query)).map(|_| ()))
    }

    /// Makes what was added findable, and durable together with the place `position` that it reaches to. Without news
    /// the place is remembered and written with the next ones, or by itself once whoever opens the index next would have
    /// to read far for nothing.
    pub fn commit(&self, position: Position) -> Result<(), SearchError> {
        let mut writing = self.writing();
        if writing.failed {
            return Err(SearchError::Unwritten);
        }
        writing.reached = Some(position);
        let passed = position.0.saturating_sub(writing.committed.map_or(0, |committed| committed.0));
        if !writing.pending && passed > FAR_ENTRIES {
            self.write_with(&mut writing, |_| Ok(()))?;
        }
        if writing.pending { self.commit_with(&mut writing) } else { Ok(()) }
    }

    /// Writes the words of removed sessions out of all files, which may take long, and gives the writer's memory back until
    /// something is added again.
    pub fn rest(&self) -> Result<(), SearchError> {
        let mut writing = self.writing();
        self.expunge_all(&mut writing)?;
        self.rest_with(&mut writing)
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        &self.place.path
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hide(&self, hidden: Hidden) {
        let mut all = self.hidden.write().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&hidden) {
            all.push(hidden);
        }
    }

    fn write(&self, change: impl FnOnce(&IndexWriter) -> tantivy::Result<()>) -> Result<(), SearchError> {
        self.write_with(&mut self.writing(), change)
    }

    fn write_with(
        &self,
        writing: &mut Writing,
        change: impl FnOnce(&IndexWriter) -> tantivy::Result<()>,
    ) -> Result<(), SearchError> {
        if writing.failed {
            return Err(SearchError::Unwritten);
        }
        if writing.writer.is_none() {
            let options = IndexWriterOptions::builder()
                .memory_budget_per_thread(writing.budget_bytes)
                .num_worker_threads(1)
                .num_merge_threads(1)
                .build();
            match guarded(|| self.inner.writer_with_options(options)) {
                Ok(writer) => writing.writer = Some(writer),
                Err(error) => return Err(writing.fail(error)),
            }
        }
        let Some(writer) = &writing.writer else { return Ok(()) };
        writing.pending = true;
        guarded(|| change(writer)).map_err(|error| writing.fail(error))
    }

    fn commit_with(&self, writing: &mut Writing) -> Result<(), SearchError> {
        let Some(writer) = &mut writing.writer else { return Ok(()) };
        let payload = folder::payload(self.incarnation, writing.reached, writing.standing);
        let committed = guarded(|| {
            let mut commit = writer.prepare_commit()?;
            commit.set_payload(&payload);
            commit.commit()?;
            self.reload()
        });
        if let Err(error) = committed {
            return Err(writing.fail(error));
        }
        folder::close_to_others(&self.place.path);
        writing.committed = writing.reached;
        writing.pending = false;
        // Only now: whoever asks for what is hidden, and then for the index, sees one of the two.
        self.hidden.write().unwrap_or_else(PoisonError::into_inner).clear();
        self.expunge(writing, Effort::Little);
        Ok(())
    }

    fn rest_with(&self, writing: &mut Writing) -> Result<(), SearchError> {
        if writing.pending || (writing.writer.is_some() && writing.reached != writing.committed) {
            self.commit_with(writing)?;
        }
        match writing.writer.take() {
            None => Ok(()),
            Some(writer) => guarded(|| {
                writer.wait_merging_threads()?;
                self.reload()
            }),
        }
    }

    fn reload(&self) -> tantivy::Result<()> {
        self.reader.reload()?;
        self.columns.keep_only(&self.reader.searcher());
        Ok(())
    }

    fn of_turn(&self, session: SessionId, turn: Turn) -> BooleanQuery {
        let term = |term: Term| Box::new(TermQuery::new(term, IndexRecordOption::Basic)) as Box<dyn TantivyQuery>;
        BooleanQuery::new(vec![
            (Occur::Must, term(self.fields.session_term(session))),
            (Occur::Must, term(Term::from_field_u64(self.fields.turn, u64::from(turn.0)))),
        ])
    }
}

#[cfg(test)]
mod tests;
