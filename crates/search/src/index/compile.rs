//! A query in the index library's own parts. Every text becomes terms by our tokenizer; nothing that was typed reaches
//! a parser, so that nothing that can be typed is dangerous.

use std::ops::Bound;

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, InvertedIndexRangeQuery, Occur, PhrasePrefixQuery,
    PhraseQuery, Query as TantivyQuery, RangeQuery, TermQuery,
};
use tantivy::schema::{Field as IndexField, IndexRecordOption};

use super::schema::{Fields, outcome_number, role_number};
use super::{Hidden, Index, Within};
use crate::query::{Clause, Filter, FilterField, Pattern, Query, folded, patterns};

/// How many words the last part of a phrase may become.
const MAX_PHRASE_ENDS: u32 = 256;
/// How many words a beginning may become.
const MAX_ENDINGS: u64 = 20_000;
/// What a word counts that only begins with what was typed.
const BEGUN: f32 = 0.6;

pub(super) type Boxed = Box<dyn TantivyQuery>;

/// What has to hold besides the words.
pub(super) struct Narrowed {
    must: Vec<Boxed>,
    must_not: Vec<Boxed>,
}

impl Narrowed {
    pub(super) fn is_everything(&self) -> bool {
        self.must.is_empty() && self.must_not.is_empty()
    }

    /// With what is wanted, as one query.
    pub(super) fn with(&self, wanted: Vec<(Occur, Boxed)>) -> Boxed {
        if self.is_everything()
            && let [(Occur::Must, only)] = &wanted[..]
        {
            return only.box_clone();
        }
        let wanted: Vec<(Occur, Boxed)> = match wanted.iter().any(|(occur, _)| *occur == Occur::Should) {
            // Beside what must hold, alternatives would be a mere bonus.
            true if !self.is_everything() => vec![(Occur::Must, Box::new(BooleanQuery::new(wanted)))],
            _ => wanted,
        };
        let nothing_wanted = wanted.is_empty() && self.must.is_empty();
        let all = nothing_wanted.then(|| (Occur::Must, Box::new(AllQuery) as Boxed));
        let must = self.must.iter().map(|query| (Occur::Must, query.box_clone()));
        let must_not = self.must_not.iter().map(|query| (Occur::MustNot, query.box_clone()));
        Box::new(BooleanQuery::new(wanted.into_iter().chain(all).chain(must).chain(must_not).collect()))
    }
}

impl Index {
    /// Filters, exclusions, projects and what is hidden.
    pub(super) fn narrow(&self, query: &Query, within: &Within, hidden: &[Hidden]) -> Narrowed {
        let mut narrowed = Narrowed { must: Vec::new(), must_not: Vec::new() };
        match within {
            Within::Everything => (),
            Within::Project(project) => {
                narrowed.must.push(unscored(term(Term::from_field_text(self.fields.project, project))));
            }
        }
        let mut groups: Vec<(&str, Vec<Boxed>)> = Vec::new();
        for Filter { excluded, field } in &query.filters {
            let compiled = filter(&self.fields, field);
            if *excluded {
                narrowed.must_not.push(compiled);
            } else if !field.is_alternative() {
                narrowed.must.push(unscored(compiled));
            } else if let Some((_, group)) = groups.iter_mut().find(|(key, _)| *key == field.key()) {
                group.push(compiled);
            } else {
                groups.push((field.key(), vec![compiled]));
            }
        }
        narrowed.must.extend(groups.into_iter().map(|(_, group)| unscored(either(group))));
        for clause in query.clauses.iter().filter(|clause| clause.excluded && !clause.patterns.is_empty()) {
            narrowed.must_not.push(self.clause(clause));
        }
        for hidden in hidden {
            narrowed.must_not.push(match hidden {
                Hidden::Session(session) => term(self.fields.session_term(*session)),
                Hidden::Turn(session, turn) => Box::new(self.of_turn(*session, *turn)),
            });
        }
        narrowed
    }

    /// Any of a clause's patterns.
    pub(super) fn clause(&self, clause: &Clause) -> Boxed {
        either(clause.patterns.iter().map(|found| pattern(self.fields.text, found)).collect())
    }

    /// A clause without words that only begin like it.
    pub(super) fn plain_clause(&self, clause: &Clause) -> Boxed {
        let plain = clause.patterns.iter().map(|found| Pattern { prefix: false, ..found.clone() });
        either(plain.map(|found| pattern(self.fields.text, &found)).collect())
    }
}

fn pattern(field: IndexField, Pattern { parts, prefix }: &Pattern) -> Boxed {
    let terms: Vec<Term> = parts.iter().map(|part| Term::from_field_text(field, part)).collect();
    match (&terms[..], prefix) {
        ([], _) => Box::new(EmptyQuery),
        ([only], false) => term(only.clone()),
        ([only], true) => {
            let begun = Box::new(BoostQuery::new(Box::new(beginning(field, &parts[0])), BEGUN));
            either(vec![term(only.clone()), begun])
        }
        (_, false) => Box::new(PhraseQuery::new(terms)),
        (_, true) => {
            let mut phrase = PhrasePrefixQuery::new(terms);
            phrase.set_max_expansions(MAX_PHRASE_ENDS);
            Box::new(phrase)
        }
    }
}

fn filter(fields: &Fields, field: &FilterField) -> Boxed {
    let words =
        |of: IndexField, text: &str| either(patterns(text, true).iter().map(|found| pattern(of, found)).collect());
    match field {
        FilterField::Session(id) if id.len() == 36 => term(Term::from_field_text(fields.session, id)),
        FilterField::Session(id) => Box::new(beginning(fields.session, id)),
        FilterField::Agent(name) => term(Term::from_field_text(fields.agent, &folded(name))),
        FilterField::Project(text) => words(fields.project_words, text),
        FilterField::Work { sessions, .. } | FilterField::Tag { sessions, .. } => {
            either(sessions.iter().map(|id| term(fields.session_term(*id))).collect())
        }
        FilterField::File(text) => words(fields.files, text),
        FilterField::Tool(text) => words(fields.tool, text),
        FilterField::CallOutcome(outcome) => term(Term::from_field_u64(fields.outcome, outcome_number(*outcome))),
        FilterField::Exit(code) => term(Term::from_field_i64(fields.exit, i64::from(*code))),
        FilterField::Role(role) => term(Term::from_field_u64(fields.role, role_number(*role))),
        FilterField::Before(at) => {
            let at = Term::from_field_i64(fields.at, at.as_millis());
            Box::new(RangeQuery::new(Bound::Unbounded, Bound::Excluded(at)))
        }
        FilterField::After(at) => {
            let at = Term::from_field_i64(fields.at, at.as_millis());
            Box::new(RangeQuery::new(Bound::Included(at), Bound::Unbounded))
        }
    }
}

/// Every word that begins like this.
fn beginning(field: IndexField, text: &str) -> InvertedIndexRangeQuery {
    // No text has this character, and it sorts after all that are written with three bytes or less.
    let after = Term::from_field_text(field, &format!("{text}\u{10FFFF}"));
    let from = Term::from_field_text(field, text);
    let mut range = InvertedIndexRangeQuery::new(Bound::Included(from), Bound::Excluded(after));
    range.limit(MAX_ENDINGS);
    range
}

pub(super) fn term(term: Term) -> Boxed {
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

pub(super) fn either(mut queries: Vec<Boxed>) -> Boxed {
    match queries.len() {
        0 => Box::new(EmptyQuery),
        1 => queries.swap_remove(0),
        _ => Box::new(BooleanQuery::union(queries)),
    }
}

pub(super) fn unscored(query: Boxed) -> Boxed {
    Box::new(ConstScoreQuery::new(query, 0.0))
}
