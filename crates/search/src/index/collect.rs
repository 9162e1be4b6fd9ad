//! Goes through the segments: the best documents, how many there are, and where a document's columns say it is from.
//!
//! Invariant: a search ends soon after its deadline, with what it has found by then.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use model::{SessionId, Turn};
use tantivy::columnar::{ColumnValues, StrColumn};
use tantivy::query::{EnableScoring, Query as TantivyQuery, Weight};
use tantivy::{DocId, DocSet as _, Score, Searcher, SegmentReader, TERMINATED};

use super::schema::{AT, ROLE, SESSION, TURN};

/// How many documents go by between two looks at the clock.
const LOOK_EVERY: usize = 1_024;

/// A document, and what it scored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub(super) score: Score,
    pub(super) segment: usize,
    pub(super) doc: DocId,
}

impl Eq for Found {}

impl Ord for Found {
    /// Equal scores are told apart, so that the same search gives the same hits.
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |found: &Self| Reverse((found.segment, found.doc));
        self.score.total_cmp(&other.score).then_with(|| place(self).cmp(&place(other)))
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best of a search.
pub(super) struct Best {
    /// Best first.
    pub(super) found: Vec<Found>,
    /// There are more, which are no better.
    pub(super) full: bool,
    /// The deadline came first.
    pub(super) late: bool,
}

/// By score, where the library can leave out whole blocks that can not be among the best.
pub(super) fn best_by_score(
    searcher: &Searcher,
    query: &dyn TantivyQuery,
    limit: usize,
    deadline: Instant,
) -> tantivy::Result<Best> {
    let weight = query.weight(EnableScoring::enabled_from_searcher(searcher))?;
    let mut top = Top::new(limit);
    let mut late = false;
    for (segment, reader) in searcher.segment_readers().iter().enumerate().rev() {
        if late || Instant::now() >= deadline {
            late = true;
            break;
        }
        let mut seen = 0_usize;
        weight.for_each_pruning(top.threshold(), reader, &mut |doc, score| {
            seen += 1;
            if seen.is_multiple_of(LOOK_EVERY) && Instant::now() >= deadline {
                late = true;
            }
            if late {
                return Score::MAX;
            }
            if !reader.is_deleted(doc) {
                top.push(Found { score, segment, doc });
            }
            top.threshold()
        })?;
    }
    Ok(Best { full: top.full, found: top.sorted(), late })
}

/// The newest, for a search without words.
pub(super) fn newest(
    searcher: &Searcher,
    query: &dyn TantivyQuery,
    limit: usize,
    deadline: Instant,
) -> tantivy::Result<Best> {
    let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
    let mut newest = BinaryHeap::new();
    let mut full = false;
    let late = each(searcher, weight.as_ref(), deadline, |segment, columns, doc| {
        newest.push(Reverse((columns.at.get_val(doc), Reverse((segment, doc)))));
        if newest.len() > limit {
            newest.pop();
            full = true;
        }
        Ok(true)
    })?;
    let sorted = newest.into_sorted_vec();
    let found = sorted.into_iter().map(|Reverse((_, Reverse((segment, doc))))| Found { score: 1.0, segment, doc });
    Ok(Best { found: found.collect(), full, late })
}

/// In how many turns it is found, up to `cap`.
pub(super) fn count_turns(
    searcher: &Searcher,
    query: &dyn TantivyQuery,
    cap: usize,
    deadline: Instant,
) -> tantivy::Result<(usize, bool)> {
    let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
    let mut turns = HashSet::new();
    let late = each(searcher, weight.as_ref(), deadline, |_, columns, doc| {
        turns.insert((columns.session(doc)?, columns.turn(doc)));
        Ok(turns.len() < cap)
    })?;
    let all = !late && turns.len() < cap;
    Ok((turns.len(), all))
}

/// Visits every document that is there until `visit` says no; tells whether the deadline came first.
fn each(
    searcher: &Searcher,
    weight: &dyn Weight,
    deadline: Instant,
    mut visit: impl FnMut(usize, &mut Columns, DocId) -> tantivy::Result<bool>,
) -> tantivy::Result<bool> {
    for (segment, reader) in searcher.segment_readers().iter().enumerate().rev() {
        if Instant::now() >= deadline {
            return Ok(true);
        }
        let mut columns = Columns::of(reader)?;
        let mut scorer = weight.scorer(reader, 1.0)?;
        let mut seen = 0_usize;
        let mut doc = scorer.doc();
        while doc != TERMINATED {
            seen += 1;
            if seen.is_multiple_of(LOOK_EVERY) && Instant::now() >= deadline {
                return Ok(true);
            }
            if !reader.is_deleted(doc) && !visit(segment, &mut columns, doc)? {
                return Ok(false);
            }
            doc = scorer.advance();
        }
    }
    Ok(false)
}

struct Top {
    heap: BinaryHeap<Reverse<Found>>,
    limit: usize,
    full: bool,
}

impl Top {
    fn new(limit: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(limit + 1), limit, full: false }
    }

    fn threshold(&self) -> Score {
        match self.heap.peek() {
            Some(Reverse(worst)) if self.heap.len() >= self.limit => worst.score,
            _ => Score::MIN,
        }
    }

    fn push(&mut self, found: Found) {
        self.heap.push(Reverse(found));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
        // A threshold may have left out any number from here on.
        self.full = self.heap.len() >= self.limit;
    }

    fn sorted(self) -> Vec<Found> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(found)| found).collect()
    }
}

/// What a segment's columns say of its documents.
pub(super) struct Columns {
    sessions: Option<StrColumn>,
    turn: Arc<dyn ColumnValues<u64>>,
    role: Arc<dyn ColumnValues<u64>>,
    at: Arc<dyn ColumnValues<i64>>,
    known: HashMap<u64, SessionId>,
    buffer: String,
}

impl Columns {
    pub(super) fn of(reader: &SegmentReader) -> tantivy::Result<Self> {
        let columns = reader.fast_fields();
        Ok(Self {
            sessions: columns.str(SESSION)?,
            turn: columns.column_first_or_default(TURN)?,
            role: columns.column_first_or_default(ROLE)?,
            at: columns.column_first_or_default(AT)?,
            known: HashMap::new(),
            buffer: String::new(),
        })
    }

    pub(super) fn session(&mut self, doc: DocId) -> tantivy::Result<SessionId> {
        let damaged = || tantivy::TantivyError::InternalError("a piece has no session".to_owned());
        let sessions = self.sessions.as_ref().ok_or_else(damaged)?;
        let ord = sessions.ords().first(doc).ok_or_else(damaged)?;
        if let Some(session) = self.known.get(&ord) {
            return Ok(*session);
        }
        self.buffer.clear();
        sessions.ord_to_str(ord, &mut self.buffer)?;
        let session = self.buffer.parse().map_err(|_| damaged())?;
        self.known.insert(ord, session);
        Ok(session)
    }

    pub(super) fn turn(&self, doc: DocId) -> Turn {
        Turn(u32::try_from(self.turn.get_val(doc)).unwrap_or(u32::MAX))
    }

    pub(super) fn role(&self, doc: DocId) -> u64 {
        self.role.get_val(doc)
    }

    pub(super) fn at(&self, doc: DocId) -> i64 {
        self.at.get_val(doc)
    }
}
