//! Which hits come first: by their words, what they are of their turn, and how new they are; a turn is told once.

use std::collections::hash_map::Entry;

use model::{Seq, SessionId, Timestamp, Turn};

use super::collect::Scored;
use super::columns::{AllColumns, TurnMap};
use super::schema::role_number;
use crate::pieces::PieceRole;

/// In this time half of the bonus for being new is gone.
const HALF_LIFE_MS: f32 = 30.0 * 24.0 * 3_600.0 * 1_000.0;
/// What an old piece keeps of its score.
const OLD: f32 = 0.75;
/// What a turn gains by another piece that was found too.
const ANOTHER: f32 = 0.04;
/// For how many of them.
const MAX_OTHERS: f32 = 4.0;

/// A turn that was found, by its best piece.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Whose it is.
    pub session: SessionId,
    /// The turn; zero for a title.
    pub turn: Turn,
    /// What the piece is of the turn.
    pub role: PieceRole,
    /// The number of the tool call, else of the chunk.
    pub number: u32,
    /// The entry in which the piece begins.
    pub first_seq: Seq,
    /// The entry with which it ended.
    pub last_seq: Seq,
    /// When it ended.
    pub at: Timestamp,
    /// More is better; comparable within one answer only.
    pub score: f32,
    /// It has every word that was wanted, in one of its turn's pieces or another.
    pub whole: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hits {
    /// Best first.
    pub hits: Vec<Hit>,
    /// How many turns there are in all.
    pub total: Count,
    /// The deadline came first: there may be better ones.
    pub truncated: bool,
}

/// A number of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// So many.
    Exactly(usize),
    /// So many, or more: counting on would cost more than it tells.
    AtLeast(usize),
}

/// The found documents of a turn.
pub(super) struct Group {
    pub(super) session: SessionId,
    pub(super) turn: Turn,
    pub(super) score: f32,
    pub(super) best: Scored,
    role: PieceRole,
    at: i64,
    others: f32,
    pub(super) whole: bool,
}

/// The weight of a piece by what it is and how old it is.
pub(crate) fn weight(role: PieceRole, at: i64, now: Timestamp) -> f32 {
    let role = match role {
        PieceRole::Title | PieceRole::Summary => 1.0,
        PieceRole::Prompt => 0.95,
        PieceRole::Answer => 0.85,
        PieceRole::Thought | PieceRole::Tool => 0.7,
    };
    let age_ms = now.as_millis().saturating_sub(at).max(0) as f32;
    role * (OLD + (1.0 - OLD) * (-age_ms / HALF_LIFE_MS).exp2())
}

/// The turns of what was found, best first.
pub(super) fn group(columns: &mut AllColumns<'_>, found: &[Scored], now: Timestamp) -> tantivy::Result<Vec<Group>> {
    let mut groups: TurnMap<Group> = TurnMap::with_capacity_and_hasher(found.len(), Default::default());
    for found in found {
        let columns = columns.segment(found.segment)?;
        let (role, at) = (role_of(columns.role(found.doc)), columns.at(found.doc));
        let score = found.score * weight(role, at, now);
        match groups.entry(columns.turn_key(found.doc)) {
            Entry::Occupied(known) => {
                let group = known.into_mut();
                group.others += 1.0;
                if score > group.score {
                    (group.score, group.best, group.role, group.at) = (score, *found, role, at);
                }
            }
            Entry::Vacant(new) => {
                let (session, turn) = columns.turn_of(found.doc);
                new.insert(Group { session, turn, score, best: *found, role, at, others: 0.0, whole: true });
            }
        }
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    for group in &mut groups {
        group.score *= 1.0 + ANOTHER * group.others.min(MAX_OTHERS);
    }
    sort(&mut groups);
    Ok(groups)
}

/// Best first; of equals the newest.
pub(super) fn sort(groups: &mut [Group]) {
    groups.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        by_score.then_with(|| b.at.cmp(&a.at)).then_with(|| (a.session, a.turn).cmp(&(b.session, b.turn)))
    });
}

impl Group {
    pub(super) fn hit(&self, columns: &mut AllColumns<'_>) -> tantivy::Result<Hit> {
        let (number, first_seq, last_seq) = columns.segment(self.best.segment)?.place(self.best.doc);
        Ok(Hit {
            session: self.session,
            turn: self.turn,
            role: self.role,
            number,
            first_seq,
            last_seq,
            at: Timestamp::from_millis(self.at),
            score: self.score,
            whole: self.whole,
        })
    }
}

pub(super) fn role_of(number: u64) -> PieceRole {
    PieceRole::ALL.into_iter().find(|role| role_number(*role) == number).unwrap_or(PieceRole::Answer)
}
