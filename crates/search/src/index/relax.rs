//! When too few pieces have every word: turns that have most of them, or all of them in several pieces.

use std::collections::HashMap;

use model::{SessionId, Timestamp, Turn};
use tantivy::query::{EnableScoring, Occur, Weight};
use tantivy::{DocSet as _, Searcher, TERMINATED};

use super::collect::{Scored, best_by_score};
use super::columns::AllColumns;
use super::compile::{Boxed, Narrowed};
use super::rank::{Group, group, sort};
use super::search::Wanted;

/// A turn that has less of what counts is noise.
const LEAST_SHARE: f32 = 0.45;
/// What a turn has of its session's title.
const LENT: f32 = 0.4;
/// How many documents are looked at.
const CANDIDATES: usize = 400;

pub(super) struct Relaxed {
    pub(super) groups: Vec<Group>,
    pub(super) full: bool,
    pub(super) late: bool,
}

/// Scores turns by the best that their pieces have of each clause.
pub(super) fn relaxed(
    searcher: &Searcher,
    columns: &mut AllColumns<'_>,
    clauses: &[Boxed],
    narrowed: &Narrowed,
    wanted: &Wanted,
) -> tantivy::Result<Relaxed> {
    let alternatives = clauses.iter().map(|clause| (Occur::Should, clause.box_clone())).collect();
    let best = best_by_score(searcher, narrowed.with(alternatives).as_ref(), CANDIDATES, wanted.deadline)?;
    let mut groups = group(columns, &best.found, wanted.now)?;
    let shares = Shares::of(searcher, columns, clauses, &best.found, wanted.now)?;
    groups.retain_mut(|group| {
        let (score, share, whole) = shares.of_turn(group.session, group.turn);
        group.score = score * share * share;
        group.whole = whole;
        share >= LEAST_SHARE
    });
    sort(&mut groups);
    Ok(Relaxed { groups, full: best.full, late: best.late })
}

/// What each turn has of each clause.
struct Shares {
    /// How much a clause can be worth: the best of it anywhere.
    worth: Vec<f32>,
    turns: HashMap<(SessionId, Turn), Vec<f32>>,
}

impl Shares {
    fn of(
        searcher: &Searcher,
        columns: &mut AllColumns<'_>,
        clauses: &[Boxed],
        found: &[Scored],
        now: Timestamp,
    ) -> tantivy::Result<Self> {
        let scoring = || EnableScoring::enabled_from_searcher(searcher);
        let weights: Vec<Box<dyn Weight>> =
            clauses.iter().map(|clause| clause.weight(scoring())).collect::<Result<_, _>>()?;
        let mut shares = Self { worth: vec![0.0; clauses.len()], turns: HashMap::new() };
        for (segment, reader) in searcher.segment_readers().iter().enumerate() {
            let mut docs: Vec<Scored> = found.iter().filter(|found| found.segment == segment).copied().collect();
            if docs.is_empty() {
                continue;
            }
            docs.sort_by_key(|found| found.doc);
            let columns = columns.segment(segment)?;
            for (clause, weight) in weights.iter().enumerate() {
                let mut scorer = weight.scorer(reader, 1.0)?;
                for found in &docs {
                    if scorer.doc() < found.doc {
                        scorer.seek(found.doc);
                    }
                    if scorer.doc() == TERMINATED {
                        break;
                    }
                    if scorer.doc() != found.doc {
                        continue;
                    }
                    let score = scorer.score();
                    shares.worth[clause] = shares.worth[clause].max(score);
                    let turn = columns.turn_of(found.doc);
                    let role = super::rank::role_of(columns.role(found.doc));
                    let score = score * super::rank::weight(role, columns.at(found.doc), now);
                    let parts = shares.turns.entry(turn).or_insert_with(|| vec![0.0; clauses.len()]);
                    parts[clause] = parts[clause].max(score);
                }
            }
        }
        Ok(shares)
    }

    /// The score of a turn, how much of what counts it has, and whether it has all of it.
    fn of_turn(&self, session: SessionId, turn: Turn) -> (f32, f32, bool) {
        let Some(own) = self.turns.get(&(session, turn)) else { return (0.0, 0.0, false) };
        let title = self.turns.get(&(session, Turn(0)));
        let lent = |clause: usize| title.map_or(0.0, |title| title[clause] * LENT);
        let parts: Vec<f32> = own.iter().enumerate().map(|(clause, part)| part.max(lent(clause))).collect();
        let all: f32 = self.worth.iter().sum();
        let has: f32 = parts.iter().zip(&self.worth).filter(|(part, _)| **part > 0.0).map(|(_, worth)| worth).sum();
        (parts.iter().sum(), if all > 0.0 { has / all } else { 0.0 }, parts.iter().all(|part| *part > 0.0))
    }
}
