//! Goes through the segments: the best documents, how many there are, and where a document's columns say it is from.
//!
//! Invariant: a search ends soon after its deadline, with what it has found by then.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::time::Instant;

use tantivy::query::{EnableScoring, Query as TantivyQuery, Weight};
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocId, DocSet as _, Score, Searcher, SegmentReader, TERMINATED};

use super::columns::{AllColumns, Columns, TurnSet};

/// How many documents go by between two looks at the clock.
const LOOK_EVERY: usize = 1_024;

/// A document, and what it scored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub(super) score: Score,
    pub(super) segment: usize,
    pub(super) doc: DocId,
}

impl Eq for Scored {}

impl Ord for Scored {
    /// Equal scores are told apart, so that the same search gives the same hits.
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |found: &Self| Reverse((found.segment, found.doc));
        self.score.total_cmp(&other.score).then_with(|| place(self).cmp(&place(other)))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best of a search.
pub(super) struct Best {
    /// Best first.
    pub(super) found: Vec<Scored>,
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
                top.push(Scored { score, segment, doc });
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
    let mut turns = TurnSet::default();
    let late = each(columns, weight.as_ref(), deadline, |segment, columns, doc, score| {
        if turns.len() < cap {
            turns.insert(columns.turn_key(doc));
        }
        let score = score();
        if score > top.threshold() {
            top.push(Scored { score, segment, doc });
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
        newest.push(Reverse((columns.at(doc), Reverse((segment, doc)))));
        if newest.len() > limit {
            newest.pop();
            full = true;
        }
        true
    })?;
    let sorted = newest.into_sorted_vec();
    let found = sorted.into_iter().map(|Reverse((_, Reverse((segment, doc))))| Scored { score: 1.0, segment, doc });
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
    let mut turns = TurnSet::with_capacity_and_hasher(cap, Default::default());
    let mut docs = [0; COLLECT_BLOCK_BUFFER_LEN];
    // In the largest there are the most to be found for one look at the dictionary.
    let mut segments: Vec<(usize, &SegmentReader)> = searcher.segment_readers().iter().enumerate().collect();
    segments.sort_by_key(|(_, reader)| Reverse(reader.max_doc()));
    for (segment, reader) in segments {
        let columns = columns.segment(segment)?;
        let mut scorer = weight.scorer(reader, 1.0)?;
        loop {
            if Instant::now() >= deadline {
                return Ok((turns.len(), false));
            }
            let filled = scorer.fill_buffer(&mut docs);
            if filled == 0 {
                break;
            }
            columns.turn_keys(&docs[..filled], |doc, key| {
                if turns.len() < cap && !reader.is_deleted(doc) {
                    turns.insert(key);
                }
            });
            if turns.len() >= cap {
                return Ok((turns.len(), false));
            }
        }
    }
    Ok((turns.len(), true))
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
    heap: BinaryHeap<Reverse<Scored>>,
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

    fn push(&mut self, found: Scored) {
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(found));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && found > worst.0
        {
            *worst = Reverse(found);
        }
        // A threshold may have left out any number from here on.
        self.full = self.heap.len() >= self.limit;
    }

    fn sorted(self) -> Vec<Scored> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(found)| found).collect()
    }
}
