//! What the clients did and which answers they got, kept outside of the process that is killed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::http::{HttpAnswer, Request};
use super::live::SeenEntry;
use super::promises::{Promise, Violation};

/// After so many requests a session is left alone, since reading it back takes ever longer.
const LONG_SESSION: usize = 500;
/// How many of its own sessions a client continues with.
const OWN_SESSIONS: usize = 3;

/// The number of a client, from 0.
pub(super) type ClientNumber = u32;

#[derive(Default)]
pub(super) struct Ledger {
    pub(super) sessions: BTreeMap<String, Record>,
    /// Creates without an answer: the session may exist under an id that nobody knows.
    pub(super) lost_creates: Vec<RecordedRequest>,
    /// Outputs whose removal got no answer in some cycle: their bytes may stay until the server sweeps, minutes after a start.
    pub(super) cut_off_removals: BTreeSet<String>,
    /// The sessions that the last cycle touched.
    pub(super) touched: BTreeSet<String>,
    /// Counts of the last cycle, for the progress line.
    acknowledged_last: u64,
    seen_last: u64,
}

/// Everything that is known of one session.
#[derive(Default)]
pub(super) struct Record {
    pub(super) owner: ClientNumber,
    /// In the order in which each client made them.
    pub(super) requests: Vec<RecordedRequest>,
    /// Entries by seq, as followers saw them.
    pub(super) seen: BTreeMap<u64, Value>,
    /// The cursor of the newest entry that was seen.
    pub(super) cursor: Option<String>,
}

/// A request and its outcome.
#[derive(Debug, Clone)]
pub(super) struct RecordedRequest {
    pub(super) client: ClientNumber,
    pub(super) change: Change,
    pub(super) request: Request,
    pub(super) outcome: Outcome,
    /// Made in the last cycle, so its key is worth repeating.
    pub(super) recent: bool,
}

/// What was requested. Every text and name occurs once in a trial, so that it can be found in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Create {
        name: String,
    },
    Prompt {
        text: String,
    },
    Rename {
        name: String,
    },
    /// Of an output, by its id; only the client that had it shown asks for it.
    Remove {
        output: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Promised: it is there, once.
    Acknowledged(HttpAnswer),
    /// Promised: it is not there.
    Refused(HttpAnswer),
    /// Nothing promised except that it is not there twice.
    Unanswered,
}

/// What one client reports of a cycle.
#[derive(Default)]
pub(super) struct Report {
    pub(super) client: ClientNumber,
    /// Each with its session; none for a create that was not answered.
    pub(super) requests: Vec<(Option<String>, RecordedRequest)>,
    pub(super) seen: Vec<SeenEntry>,
    pub(super) violations: Vec<Violation>,
}

impl Outcome {
    pub(super) fn of(answer: HttpAnswer) -> Self {
        if answer.is_success() { Self::Acknowledged(answer) } else { Self::Refused(answer) }
    }
}

impl Ledger {
    /// Begins a cycle: earlier requests are no longer recent.
    pub(super) fn begin_cycle(&mut self) {
        self.touched.clear();
        (self.acknowledged_last, self.seen_last) = (0, 0);
        for recorded in self.sessions.values_mut().flat_map(|record| &mut record.requests) {
            recorded.recent = false;
        }
    }

    pub(super) fn acknowledged_last(&self) -> u64 {
        self.acknowledged_last
    }

    pub(super) fn seen_last(&self) -> u64 {
        self.seen_last
    }

    /// The client's newest sessions, and the oldest of all that is not long yet, which every client shares; each with
    /// the cursor to follow from.
    pub(super) fn sessions_of(&self, client: ClientNumber) -> Vec<(String, Option<String>)> {
        // Ids begin with their time, so they sort by creation.
        let shared = self.sessions.iter().find(|(_, record)| record.requests.len() < LONG_SESSION);
        let own = self.sessions.iter().rev().filter(|(_, record)| record.owner == client).take(OWN_SESSIONS);
        let sessions: BTreeMap<_, _> =
            own.chain(shared).map(|(id, record)| (id.clone(), record.cursor.clone())).collect();
        sessions.into_iter().collect()
    }

    /// Adds a client's report. Two followers that saw different entries at the same seq are a violation.
    pub(super) fn add_report(&mut self, report: Report) -> Vec<Violation> {
        let mut violations = report.violations;
        for (session, recorded) in report.requests {
            if let (Change::Remove { output }, Outcome::Unanswered) = (&recorded.change, &recorded.outcome) {
                self.cut_off_removals.insert(output.clone());
            }
            self.acknowledged_last += u64::from(matches!(recorded.outcome, Outcome::Acknowledged(_)));
            match session {
                Some(session) => self.record(session, report.client).requests.push(recorded),
                None => self.lost_creates.push(recorded),
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

    /// A session without a record belongs to the client that reports it first.
    pub(super) fn record(&mut self, session: String, client: ClientNumber) -> &mut Record {
        self.touched.insert(session.clone());
        self.sessions.entry(session).or_insert_with(|| Record { owner: client, ..Record::default() })
    }
}
