//! What the clients did and were told, kept outside the process that is killed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::http::{Answer, Request};
use super::live::SeenEntry;
use super::proof::{Promise, Violation};

/// After so many deeds a session is left alone, since reading it back takes ever longer.
const LONG_SESSION: usize = 500;
/// How many sessions of its own a client goes on with.
const OWN_SESSIONS: usize = 3;

/// Who did it. Clients are numbered from 0.
pub(super) type ClientNumber = u32;

#[derive(Default)]
pub(super) struct Ledger {
    pub(super) sessions: BTreeMap<String, Record>,
    /// Sessions that were asked for, with no answer: they may exist under an id that nobody was told.
    pub(super) lost_creates: Vec<Deed>,
    /// What the last cycle touched.
    pub(super) touched: BTreeSet<String>,
    /// Numbers of the last cycle, for the progress line.
    acknowledged_last: u64,
    seen_last: u64,
}

/// All that is known of one session.
#[derive(Default)]
pub(super) struct Record {
    pub(super) owner: ClientNumber,
    /// In the order that each client did them.
    pub(super) deeds: Vec<Deed>,
    /// Entries by seq, as followers saw them.
    pub(super) seen: BTreeMap<u64, Value>,
    /// The cursor of the newest entry that was seen.
    pub(super) cursor: Option<String>,
}

/// A request and what came of it.
#[derive(Debug, Clone)]
pub(super) struct Deed {
    pub(super) client: ClientNumber,
    pub(super) act: Act,
    pub(super) request: Request,
    pub(super) outcome: Outcome,
    /// Done in the last cycle, so its key is worth trying again.
    pub(super) recent: bool,
}

/// What was asked for. Every text and name occurs once in a trial, so that it can be found in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    Create { name: String },
    Prompt { text: String },
    Rename { name: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Promised: it is there, once.
    Acknowledged(Answer),
    /// Promised: it is not there.
    Refused(Answer),
    /// Nothing promised but that it is not there twice.
    Unanswered,
}

/// What one client brings home from a cycle.
#[derive(Default)]
pub(super) struct Report {
    pub(super) client: ClientNumber,
    /// Each with the session it concerns; none for a create that was not answered.
    pub(super) deeds: Vec<(Option<String>, Deed)>,
    pub(super) seen: Vec<SeenEntry>,
    pub(super) violations: Vec<Violation>,
}

impl Outcome {
    pub(super) fn of(answer: Answer) -> Self {
        if answer.is_success() { Self::Acknowledged(answer) } else { Self::Refused(answer) }
    }
}

impl Ledger {
    /// What was recent is no more.
    pub(super) fn begin_cycle(&mut self) {
        self.touched.clear();
        (self.acknowledged_last, self.seen_last) = (0, 0);
        for deed in self.sessions.values_mut().flat_map(|record| &mut record.deeds) {
            deed.recent = false;
        }
    }

    pub(super) fn acknowledged_last(&self) -> u64 {
        self.acknowledged_last
    }

    pub(super) fn seen_last(&self) -> u64 {
        self.seen_last
    }

    /// The client's newest sessions, and the oldest of all that is not yet long, which every client shares; each with
    /// the cursor to follow on from.
    pub(super) fn sessions_of(&self, client: ClientNumber) -> Vec<(String, Option<String>)> {
        // Ids begin with their time, so their order is that of creation.
        let shared = self.sessions.iter().find(|(_, record)| record.deeds.len() < LONG_SESSION);
        let own = self.sessions.iter().rev().filter(|(_, record)| record.owner == client).take(OWN_SESSIONS);
        let sessions: BTreeMap<_, _> =
            own.chain(shared).map(|(id, record)| (id.clone(), record.cursor.clone())).collect();
        sessions.into_iter().collect()
    }

    /// Adds a client's report. Two followers that saw different entries at one place are a violation of their own.
    pub(super) fn take_over(&mut self, report: Report) -> Vec<Violation> {
        let mut violations = report.violations;
        for (session, deed) in report.deeds {
            self.acknowledged_last += u64::from(matches!(deed.outcome, Outcome::Acknowledged(_)));
            match session {
                Some(session) => self.record(session, report.client).deeds.push(deed),
                None => self.lost_creates.push(deed),
            }
        }
        for SeenEntry { session, seq, cursor, entry } in report.seen {
            self.seen_last += 1;
            let record = self.record(session.clone(), report.client);
            if record.seen.last_key_value().is_none_or(|(newest, _)| seq > *newest) {
                record.cursor = Some(cursor);
            }
            if let Some(before) = record.seen.insert(seq, entry.clone())
                && before != entry
            {
                let what = format!("session {session}: entry {seq} was seen as {before} and as {entry}");
                violations.push(Violation::new(Promise::NoDirtyReads, what));
            }
        }
        violations
    }

    /// A session that had no record yet belongs to the client that brings it.
    pub(super) fn record(&mut self, session: String, client: ClientNumber) -> &mut Record {
        self.touched.insert(session.clone());
        self.sessions.entry(session).or_insert_with(|| Record { owner: client, ..Record::default() })
    }
}
