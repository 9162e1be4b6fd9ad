//! What the columns of an index say of its documents: whose they are, what, and from when.
//!
//! Invariant: a segment never changes, so its columns are opened once and kept until the segment is gone.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, PoisonError, RwLock};

use model::{Seq, SessionId, Turn};
use tantivy::columnar::{Column, ColumnIndex, ColumnValues};
use tantivy::index::SegmentId;
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocId, Searcher, SegmentReader};

use super::schema::{AT, FIRST_SEQ, LAST_SEQ, NUMBER, ROLE, SESSION_HIGH, SESSION_LOW, TURN, session_of};

/// The columns of segments that were read already: to open them costs more than most searches.
#[derive(Default)]
pub(super) struct ColumnCache(RwLock<HashMap<SegmentId, Arc<Columns>>>);

impl ColumnCache {
    fn of(&self, reader: &SegmentReader) -> tantivy::Result<Arc<Columns>> {
        let id = reader.segment_id();
        if let Some(columns) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(Arc::clone(columns));
        }
        let columns = Arc::new(Columns::of(reader)?);
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::clone(&columns));
        Ok(columns)
    }

    /// Lets go of segments that are gone.
    pub(super) fn keep_only(&self, searcher: &Searcher) {
        let there: HashSet<SegmentId> = searcher.segment_readers().iter().map(SegmentReader::segment_id).collect();
        self.0.write().unwrap_or_else(PoisonError::into_inner).retain(|id, _| there.contains(id));
    }
}

/// The columns of the segments that one search looks at.
pub(super) struct AllColumns<'s> {
    pub(super) searcher: &'s Searcher,
    cache: &'s ColumnCache,
    segments: Vec<Option<Arc<Columns>>>,
}

impl<'s> AllColumns<'s> {
    pub(super) fn of(searcher: &'s Searcher, cache: &'s ColumnCache) -> Self {
        Self { searcher, cache, segments: vec![None; searcher.segment_readers().len()] }
    }

    pub(super) fn segment(&mut self, number: usize) -> tantivy::Result<&Columns> {
        let slot = &mut self.segments[number];
        match slot {
            Some(columns) => Ok(columns),
            None => Ok(slot.insert(self.cache.of(&self.searcher.segment_readers()[number])?)),
        }
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
            session_high: values(columns.u64(SESSION_HIGH)?),
            session_low: values(columns.u64(SESSION_LOW)?),
            turn: values(columns.u64(TURN)?),
            role: values(columns.u64(ROLE)?),
            number: values(columns.u64(NUMBER)?),
            first_seq: values(columns.u64(FIRST_SEQ)?),
            last_seq: values(columns.u64(LAST_SEQ)?),
            at: values(columns.i64(AT)?),
        })
    }

    /// What tells a document's turn from every other.
    pub(super) fn turn_key(&self, doc: DocId) -> TurnKey {
        turn_key(self.session_high.get_val(doc), self.session_low.get_val(doc), self.turn.get_val(doc))
    }

    /// The same of many at once, which costs much less.
    pub(super) fn turn_keys(&self, docs: &[DocId], mut each: impl FnMut(DocId, TurnKey)) {
        let mut read = [[0; COLLECT_BLOCK_BUFFER_LEN]; 3];
        for docs in docs.chunks(COLLECT_BLOCK_BUFFER_LEN) {
            for (column, read) in [&self.session_high, &self.session_low, &self.turn].into_iter().zip(&mut read) {
                column.get_vals(docs, &mut read[..docs.len()]);
            }
            let [high, low, turn] = &read;
            for (at, doc) in docs.iter().enumerate() {
                each(*doc, turn_key(high[at], low[at], turn[at]));
            }
        }
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

/// A column's values by document: where each has one, as ours have, they are read without asking which do.
fn values<T: PartialOrd + Copy + Debug + Default + Send + Sync + 'static>(column: Column<T>) -> Values<T> {
    match column.index {
        ColumnIndex::Full => column.values,
        ColumnIndex::Empty { .. } | ColumnIndex::Optional(_) | ColumnIndex::Multivalued(_) => {
            column.first_or_default_col(T::default())
        }
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Two turns have the same one once in so many searches that nobody lives to see it.
pub(super) type TurnKey = u64;

fn turn_key(high: u64, low: u64, turn: u64) -> TurnKey {
    let mixed = [high, low, turn].into_iter().fold(0_u64, |mixed, number| {
        let mixed = (mixed.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    });
    mixed.wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Turns that are counted.
pub(super) type TurnSet = HashSet<TurnKey, BuildHasherDefault<AsItIs>>;

/// What is known of turns.
pub(super) type TurnMap<T> = HashMap<TurnKey, T, BuildHasherDefault<AsItIs>>;

/// A key is mixed already.
#[derive(Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}
