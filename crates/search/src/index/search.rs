//! One search, from the query to its hits.

use std::time::Instant;

use model::Timestamp;
use tantivy::query::Occur;
use tantivy::{Searcher, Term};

use super::collect::{Best, best_and_count, best_by_score, count_turns, newest};
use super::columns::AllColumns;
use super::compile::{Boxed, Narrowed, term};
use super::error::guarded;
use super::rank::{Count, Group, Hits, group, sort};
use super::relax::relaxed;
use super::{Index, SearchError};
use crate::query::{Clause, Mode, Query};

/// Counting ends here.
const MAX_COUNT: usize = 1_000;
/// So many documents are compared by age and kind, at least.
const CANDIDATES: usize = 48;
/// Of a word that is in so many pieces by itself, those that only begin with it add nothing.
const COMMON: u64 = 1_000;

/// Which sessions are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Within {
    /// Every one.
    Everything,
    /// Those of a project, by its exact path.
    Project(String),
}

impl Within {
    /// Whether a session of this project is among them.
    pub fn includes(&self, project: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Project(wanted) => wanted == project,
        }
    }
}

/// What is asked besides the query.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Where is searched.
    pub within: Within,
    /// At most so many hits.
    pub limit: usize,
    /// The time: what is new comes first.
    pub now: Timestamp,
    /// The search ends soon after it.
    pub deadline: Instant,
}

impl Index {
    /// Searches what is committed. With [`Mode::Exact`] the hits may have the text, and are to be verified by it.
    pub fn search(&self, query: &Query, wanted: &Wanted) -> Result<Hits, SearchError> {
        // First what is hidden, then the index: see `commit_with`.
        let hidden = self.hidden.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let searcher = self.reader.searcher();
        let narrowed = self.narrow(query, &wanted.within, &hidden);
        guarded(|| self.search_with(&searcher, query, wanted, &narrowed))
    }

    fn search_with(
        &self,
        searcher: &Searcher,
        query: &Query,
        wanted: &Wanted,
        narrowed: &Narrowed,
    ) -> tantivy::Result<Hits> {
        let mut truncated = false;
        let clauses: Vec<&Clause> = query.wanted().filter(|clause| !clause.patterns.is_empty()).collect();
        let common = self.common_word(searcher, &clauses, narrowed)?;
        let musts: Vec<Boxed> = match query.mode {
            Mode::Words => match &common {
                Some(word) => vec![term(word.clone())],
                None => clauses.iter().map(|clause| self.clause(clause)).collect(),
            },
            Mode::Exact => {
                let (musts, left_out) = self.exact(searcher, &query.raw, wanted.deadline)?;
                truncated = left_out;
                musts
            }
        };
        // A text of signs alone, such as an arrow, has no word that the index knows: then the newest pieces may have it.
        let of_signs = musts.is_empty() && query.mode == Mode::Exact && !query.raw.trim().is_empty();
        let asks_for_all = query.filters.is_empty() && query.clauses.is_empty();
        let says_nothing = query.mode == Mode::Exact || query.wanted().next().is_some() || asks_for_all;
        if musts.is_empty() && says_nothing && !of_signs {
            return Ok(Hits { hits: Vec::new(), total: Count::Exactly(0), truncated });
        }
        let strict = narrowed.with(musts.iter().map(|must| (Occur::Must, must.box_clone())).collect());
        let candidates = CANDIDATES.max(wanted.limit.saturating_mul(2)).min(4 * MAX_COUNT);
        let mut columns = AllColumns::of(searcher, &self.columns);
        // Only of bare words whole blocks can be left out; anything else is looked at one by one.
        let bare = narrowed.is_everything() && clauses.iter().all(|clause| clause.is_bare());
        let (best, counted) = match (query.mode, musts.is_empty()) {
            (Mode::Words, false) if bare || common.is_some() => {
                (best_by_score(searcher, strict.as_ref(), candidates, wanted.deadline)?, None)
            }
            (Mode::Words, false) => {
                let (best, turns) =
                    best_and_count(&mut columns, strict.as_ref(), candidates, MAX_COUNT, wanted.deadline)?;
                (best, Some(turns))
            }
            (Mode::Words, true) | (Mode::Exact, _) => {
                (newest(&mut columns, strict.as_ref(), candidates, wanted.deadline)?, None)
            }
        };
        let mut groups = group(&mut columns, &best.found, wanted.now)?;
        let mut total = match counted {
            Some(turns) if best.late || turns >= MAX_COUNT => Count::AtLeast(turns),
            Some(turns) => Count::Exactly(turns),
            None => total(&mut columns, strict.as_ref(), &best, &groups, wanted)?,
        };
        truncated |= best.late || (of_signs && best.found.len() >= candidates);
        if groups.len() < wanted.limit && clauses.len() > 1 && !truncated {
            let plain: Vec<Boxed> =
                clauses.iter().map(|clause| self.relaxed_clause(searcher, clause)).collect::<Result<_, _>>()?;
            let more = relaxed(searcher, &mut columns, &plain, narrowed, wanted)?;
            truncated |= more.late;
            merge(&mut groups, more.groups);
            total = if more.full { Count::AtLeast(groups.len()) } else { Count::Exactly(groups.len()) };
        }
        let hits = groups.iter().take(wanted.limit).map(|group| group.hit(&mut columns)).collect::<Result<_, _>>()?;
        Ok(Hits { hits, total, truncated })
    }

    /// The one word that is wanted, if it is being typed and is in so many pieces that longer ones add nothing.
    fn common_word(
        &self,
        searcher: &Searcher,
        clauses: &[&Clause],
        narrowed: &Narrowed,
    ) -> tantivy::Result<Option<Term>> {
        if let ([only], true) = (clauses, narrowed.is_everything())
            && let [pattern] = &only.patterns[..]
            && let ([part], true) = (&pattern.parts[..], pattern.prefix)
        {
            let word = Term::from_field_text(self.fields.text, part);
            if searcher.doc_freq(&word)? >= COMMON {
                return Ok(Some(word));
            }
        }
        Ok(None)
    }

    /// A word that is known by itself is not looked for as a beginning too, so that whole blocks can be left out.
    fn relaxed_clause(&self, searcher: &Searcher, clause: &Clause) -> tantivy::Result<Boxed> {
        if let [pattern] = &clause.patterns[..]
            && let [part] = &pattern.parts[..]
            && searcher.doc_freq(&Term::from_field_text(self.fields.text, part))? == 0
        {
            return Ok(self.clause(clause));
        }
        Ok(self.plain_clause(clause))
    }
}

fn total(
    columns: &mut AllColumns<'_>,
    query: &dyn tantivy::query::Query,
    best: &Best,
    groups: &[Group],
    wanted: &Wanted,
) -> tantivy::Result<Count> {
    if best.late {
        return Ok(Count::AtLeast(groups.len()));
    }
    if !best.full {
        return Ok(if groups.len() < MAX_COUNT { Count::Exactly(groups.len()) } else { Count::AtLeast(MAX_COUNT) });
    }
    let (turns, all) = count_turns(columns, query, MAX_COUNT, wanted.deadline)?;
    Ok(if all { Count::Exactly(turns) } else { Count::AtLeast(turns.max(groups.len().min(MAX_COUNT))) })
}

/// Adds turns that are not there yet; one that is there keeps the better score.
fn merge(groups: &mut Vec<Group>, more: Vec<Group>) {
    for new in more {
        match groups.iter_mut().find(|known| known.session == new.session && known.turn == new.turn) {
            Some(known) => known.score = known.score.max(new.score),
            None => groups.push(new),
        }
    }
    sort(groups);
}
