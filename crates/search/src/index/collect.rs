//! Goes through the segments: the best documents, how many there are, and where a document's columns say it is from.
//!
//! Invariant: a search ends soon after its deadline, with what it has found by then.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use model::{Seq, SessionId, Turn};
use tantivy::columnar::ColumnValues;
use tantivy::query::{EnableScoring, Query as TantivyQuery, Weight};
use tantivy::{DocId, DocSet as _, Score, Searcher, SegmentReader, TERMINATED};

use super::schema::{AT, FIRST_SEQ, LAST_SEQ, NUMBER, ROLE, SESSION_HIGH, SESSION_LOW, TURN, session_of};

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

/// By score, where every document has to be looked at anyway; so they are counted too, in turns, up to `cap`.
pub(super) fn best_and_count(
    columns: &mut AllColumns<'_>,
    query: &dyn TantivyQuery,
    limit: usize,
    cap: usize,
    deadline: Instant,
) -> tantivy::Result<(Best, usize)> {
    let weight = query.weight(EnableScoring::enabled_from_searcher(columns.searcher))?;
    let mut top = Top::new(limit);
    let mut turns = HashSet::new();
    let late = each(columns, weight.as_ref(), deadline, |segment, columns, doc, score| {
        if turns.len() < cap {
            turns.insert(columns.turn_of(doc));
        }
        let score = score();
        if score > top.threshold() {
            top.push(Found { score, segment, doc });
        }
        true
    })?;
    Ok((Best { full: top.full, found: top.sorted(), late }, turns.len()))
}

/// The newest, for a search without words.
pub(super) fn newest(
    columns: &mut AllColumns<'_>,
    query: &dyn TantivyQuery,
    limit: usize,
    deadline: Instant,
) -> tantivy::Result<Best> {
    let searcher = columns.searcher;
    let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
    let mut newest = BinaryHeap::new();
    let mut full = false;
    let late = each(columns, weight.as_ref(), deadline, |segment, columns, doc, _| {
        newest.push(Reverse((columns.at.get_val(doc), Reverse((segment, doc)))));
        if newest.len() > limit {
            newest.pop();
            full = true;
        }
        true
    })?;
    let sorted = newest.into_sorted_vec();
    let found = sorted.into_iter().map(|Reverse((_, Reverse((segment, doc))))| Found { score: 1.0, segment, doc });
    Ok(Best { found: found.collect(), full, late })
}

/// In how many turns it is found, up to `cap`.
pub(super) fn count_turns(
    columns: &mut AllColumns<'_>,
    query: &dyn TantivyQuery,
    cap: usize,
    deadline: Instant,
) -> tantivy::Result<(usize, bool)> {
    let searcher = columns.searcher;
    let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
    let mut turns = HashSet::new();
    let late = each(columns, weight.as_ref(), deadline, |_, columns, doc, _| {
        turns.insert(columns.turn_of(doc));
        turns.len() < cap
    })?;
    let all = !late && turns.len() < cap;
    Ok((turns.len(), all))
}

/// Visits every document that is there until `visit` says no; tells whether the deadline came first.
fn each(
    columns: &mut AllColumns<'_>,
    weight: &dyn Weight,
    deadline: Instant,
    mut visit: impl FnMut(usize, &Columns, DocId, &mut dyn FnMut() -> Score) -> bool,
) -> tantivy::Result<bool> {
    let searcher = columns.searcher;
    for (segment, reader) in searcher.segment_readers().iter().enumerate().rev() {
        if Instant::now() >= deadline {
            return Ok(true);
        }
        let columns = columns.segment(segment)?;
        let mut scorer = weight.scorer(reader, 1.0)?;
        let mut seen = 0_usize;
        let mut doc = scorer.doc();
        while doc != TERMINATED {
            seen += 1;
            if seen.is_multiple_of(LOOK_EVERY) && Instant::now() >= deadline {
                return Ok(true);
            }
            if !reader.is_deleted(doc) && !visit(segment, columns, doc, &mut || scorer.score()) {
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

/// What the segments' columns say of their documents. A column is opened once in a search.
pub(super) struct AllColumns<'s> {
    searcher: &'s Searcher,
    segments: Vec<Option<Columns>>,
}

impl<'s> AllColumns<'s> {
    pub(super) fn of(searcher: &'s Searcher) -> Self {
        Self { searcher, segments: searcher.segment_readers().iter().map(|_| None).collect() }
    }

    pub(super) fn segment(&mut self, number: usize) -> tantivy::Result<&Columns> {
        let slot = &mut self.segments[number];
        if slot.is_none() {
            *slot = Some(Columns::of(&self.searcher.segment_readers()[number])?);
        }
        slot.as_ref().ok_or_else(|| tantivy::TantivyError::InternalError("just opened".to_owned()))
    }
}

type Values<T> = Arc<dyn ColumnValues<T>>;

/// The columns of one segment.
pub(super) struct Columns {
    session_high: Values<u64>,
    session_low: Values<u64>,
    turn: Values<u64>,
    role: Values<u64>,
    number: Values<u64>,
    first_seq: Values<u64>,
    last_seq: Values<u64>,
    at: Values<i64>,
}

impl Columns {
    fn of(reader: &SegmentReader) -> tantivy::Result<Self> {
        let columns = reader.fast_fields();
        Ok(Self {
            session_high: columns.column_first_or_default(SESSION_HIGH)?,
            session_low: columns.column_first_or_default(SESSION_LOW)?,
            turn: columns.column_first_or_default(TURN)?,
            role: columns.column_first_or_default(ROLE)?,
            number: columns.column_first_or_default(NUMBER)?,
            first_seq: columns.column_first_or_default(FIRST_SEQ)?,
            last_seq: columns.column_first_or_default(LAST_SEQ)?,
            at: columns.column_first_or_default(AT)?,
        })
    }

    pub(super) fn turn_of(&self, doc: DocId) -> (SessionId, Turn) {
        let session = session_of(self.session_high.get_val(doc), self.session_low.get_val(doc));
        (session, Turn(small(self.turn.get_val(doc))))
    }

    pub(super) fn role(&self, doc: DocId) -> u64 {
        self.role.get_val(doc)
    }

    pub(super) fn at(&self, doc: DocId) -> i64 {
        self.at.get_val(doc)
    }

    /// Its number, and the first and last of its entries.
    pub(super) fn place(&self, doc: DocId) -> (u32, Seq, Seq) {
        (small(self.number.get_val(doc)), Seq(self.first_seq.get_val(doc)), Seq(self.last_seq.get_val(doc)))
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
