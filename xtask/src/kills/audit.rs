//! Reads back everything in the ledger after a restart, and repeats every idempotency key.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use fastrand::Rng;
use serde_json::Value;

use super::client::{created_id, shown_data};
use super::http::{Http, HttpAnswer, Request};
use super::ledger::{Change, Ledger, Outcome, RecordedRequest};
use super::live::{self, Frame, Live};
use super::promises::{self, Promise, Violation};
use super::server::{Endpoint, Server};

const PAGE: u32 = 1_000;
/// How many follows are made on one socket before another is opened: reconnecting is what is tested.
const FOLLOWS_PER_SOCKET: usize = 16;

const NOT_FOUND: u16 = 404;
const TOO_MANY_REQUESTS: u16 = 429;
const PAUSE: Duration = Duration::from_millis(100);
const MAX_RETRIES: u32 = 100;

/// How much is read back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// What the last cycle touched, right after the restart: no turn may run, and keys are repeated.
    LastCycle,
    /// Every session of the trial.
    Everything,
}

/// What was checked, in numbers.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) kills: u64,
    /// For each session, as of its last check: acknowledgements and entries.
    sessions: BTreeMap<String, (usize, usize)>,
    follows: u64,
    repeats: u64,
    /// Outputs whose bytes were compared.
    outputs: u64,
    /// Texts beside the log that were read.
    bodies: u64,
    /// Removed outputs that are gone.
    removals: u64,
    lost: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, sessions, follows, repeats, outputs, bodies, removals, lost } = self;
        let acks: usize = sessions.values().map(|(acks, _)| acks).sum();
        let entries: usize = sessions.values().map(|(_, entries)| entries).sum();
        write!(
            f,
            "{kills} kills; checked {acks} acknowledgements and {entries} entries in {} sessions, {follows} resumed \
             follows, {repeats} repeated keys, {outputs} outputs, {bodies} bodies, {removals} removals; lost={lost}",
            sessions.len()
        )
    }
}

pub(super) fn audit(
    server: &Server,
    ledger: &mut Ledger,
    depth: Depth,
    random: &mut Rng,
    tally: &mut Tally,
) -> anyhow::Result<Vec<Violation>> {
    let mut audit =
        Audit { http: Http::new(server.endpoint()), endpoint: server.endpoint(), tally, violations: vec![] };
    let result = audit.run(ledger, depth, random);
    let violations = audit.violations;
    tally.lost += violations.iter().filter(|violation| violation.promise == Promise::AckedSurvives).count();
    match result {
        // An error is probably a consequence of the violation before it.
        Err(err) if violations.is_empty() => Err(err),
        Ok(()) | Err(_) => Ok(violations),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum JustRestarted {
    Yes,
    No,
}

struct Audit<'a> {
    http: Http,
    endpoint: Endpoint,
    tally: &'a mut Tally,
    violations: Vec<Violation>,
}

impl Audit<'_> {
    fn run(&mut self, ledger: &mut Ledger, depth: Depth, random: &mut Rng) -> anyhow::Result<()> {
        self.sessions_are_listed(ledger)?;
        match depth {
            Depth::LastCycle => {
                let touched: Vec<_> = ledger.touched.iter().cloned().collect();
                self.sessions_are_kept(ledger, &touched, JustRestarted::Yes)?;
                self.followers_resume(ledger, &touched, random)?;
                self.keys_are_remembered(ledger)?;
                // The repeats must have changed nothing, and completed what had got no answer.
                self.sessions_are_listed(ledger)?;
                self.sessions_are_kept(ledger, &touched, JustRestarted::No)
            }
            Depth::Everything => {
                let all: Vec<_> = ledger.sessions.keys().cloned().collect();
                self.sessions_are_kept(ledger, &all, JustRestarted::No)
            }
        }
    }

    /// Every acknowledged session is in the list; any other one was requested by a create that got no answer.
    fn sessions_are_listed(&mut self, ledger: &Ledger) -> anyhow::Result<()> {
        let listed: BTreeSet<String> = self
            .all_pages("/api/v1/sessions?limit=200", "sessions")?
            .iter()
            .filter_map(|session| session["id"].as_str().map(str::to_owned))
            .collect();
        for missing in ledger.sessions.keys().filter(|id| !listed.contains(*id)) {
            self.add_violation(Promise::AckedSurvives, format!("session {missing} is not in the list"));
        }
        let mut unclaimed: BTreeSet<&str> = ledger.lost_creates.iter().map(|recorded| recorded.change.mark()).collect();
        for unknown in listed.iter().filter(|id| !ledger.sessions.contains_key(*id)) {
            let entries = self.entries(unknown)?;
            let name = entries.first().and_then(|entry| entry["data"]["name"].as_str()).unwrap_or_default();
            if !unclaimed.remove(name) {
                self.add_violation(
                    Promise::Idempotent,
                    format!("session {unknown}, named {name:?}, was not asked for"),
                );
            }
        }
        Ok(())
    }

    fn sessions_are_kept(
        &mut self,
        ledger: &Ledger,
        sessions: &[String],
        restarted: JustRestarted,
    ) -> anyhow::Result<()> {
        for id in sessions {
            let Some(record) = ledger.sessions.get(id) else { continue };
            let entries = self.entries(id)?;
            self.violations.extend(promises::check_session(id, record, &entries));
            let session = self.read(&format!("/api/v1/sessions/{id}"))?;
            self.outputs_have_their_bytes(id, &entries)?;
            self.bodies_are_there(id, &entries)?;
            if restarted == JustRestarted::Yes {
                self.violations.extend(promises::no_turn_runs(id, &entries));
                self.violations.extend(promises::shown_as_logged(id, &session, &entries));
            }
            let acks =
                record.requests.iter().filter(|recorded| matches!(recorded.outcome, Outcome::Acknowledged(_))).count();
            self.tally.sessions.insert(id.clone(), (acks, entries.len()));
        }
        Ok(())
    }

    /// No entry names bytes that are not there, or that are others than were shown.
    fn outputs_have_their_bytes(&mut self, id: &str, entries: &[Value]) -> anyhow::Result<()> {
        let removed = removed_outputs(entries);
        for entry in entries.iter().filter(|entry| entry["type"] == "output.stored") {
            let stored = &entry["data"]["output"];
            let output = stored["id"].as_str().unwrap_or_default();
            let path = Path::new(stored["path"].as_str().unwrap_or_default());
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            if removed.contains(output) {
                let answer = self.send(&Request::get(format!("/api/v1/sessions/{id}/outputs/{output}")))?;
                if answer.status != NOT_FOUND {
                    let what = format!("session {id}: output {output} was removed and is answered {}", answer.status);
                    self.add_violation(Promise::AckedSurvives, what);
                }
                self.tally.removals += 1;
                continue;
            }
            let kept = self.read(&format!("/api/v1/sessions/{id}/outputs/{output}?format=json"))?;
            if kept["state"] != "kept" || kept["data"] != shown_data(name) {
                let what = format!("session {id}: output {output} of {name} is {}", kept["state"]);
                self.add_violation(Promise::AckedSurvives, what);
            }
            self.tally.outputs += 1;
        }
        Ok(())
    }

    /// No entry has a head whose rest is not there; the server compares it with the hash in the entry.
    fn bodies_are_there(&mut self, id: &str, entries: &[Value]) -> anyhow::Result<()> {
        let named = entries.iter().filter_map(|entry| entry["data"]["bodies"].as_array()).flatten();
        for sha256 in named.filter_map(|body| body["sha256"].as_str()) {
            let answer = self.send(&Request::get(format!("/api/v1/sessions/{id}/bodies/{sha256}")))?;
            if !answer.is_success() {
                let what = format!("session {id}: body {sha256} is answered {}", answer.status);
                self.add_violation(Promise::AckedSurvives, what);
            }
            self.tally.bodies += 1;
        }
        Ok(())
    }

    /// Follows from the last cursor of each client, and from a random position.
    fn followers_resume(&mut self, ledger: &Ledger, sessions: &[String], random: &mut Rng) -> anyhow::Result<()> {
        for chunk in sessions.chunks(FOLLOWS_PER_SOCKET) {
            let mut live = Live::connect(&self.endpoint)?;
            for id in chunk {
                let Some(cursor) = ledger.sessions.get(id).and_then(|record| record.cursor.clone()) else { continue };
                let entries = self.entries(id)?;
                let anywhere = random.u64(..=u64::try_from(entries.len())?);
                for cursor in [live::cursor_at(&cursor, anywhere), cursor] {
                    let got = self.follow_to_the_end(&mut live, id, &cursor)?;
                    let after = live::seq_of(&cursor)?;
                    // The server still does work of its own, such as summaries: the log may have grown since.
                    let log = self.entries(id)?;
                    let end = usize::try_from(after)?.saturating_add(got.len()).max(entries.len()).min(log.len());
                    self.violations.extend(promises::follows_exactly(id, after, &got, &log[..end]));
                    self.tally.follows += 1;
                }
            }
        }
        Ok(())
    }

    fn follow_to_the_end(&mut self, live: &mut Live, id: &str, cursor: &str) -> anyhow::Result<Vec<Value>> {
        live.follow(id, Some(cursor))?;
        let mut got = Vec::new();
        loop {
            match live.read().with_context(|| format!("following session {id} from {cursor}"))? {
                Frame::Entry(seen) if seen.session == id => got.push(seen.entry),
                Frame::CaughtUp { session } if session == id => break,
                Frame::Broken(violation) => {
                    self.violations.push(violation);
                    break;
                }
                Frame::Entry(_) | Frame::CaughtUp { .. } | Frame::Other => (),
            }
        }
        live.unfollow(id)?;
        Ok(got)
    }

    /// Sends again, with the same key, what was acknowledged and what got no answer.
    fn keys_are_remembered(&mut self, ledger: &mut Ledger) -> anyhow::Result<()> {
        for recorded in std::mem::take(&mut ledger.lost_creates) {
            let answer = self.repeat(&recorded)?;
            let Some(id) = created_id(&answer.body).filter(|_| answer.is_success()) else {
                bail!("a repeated create got {} {}", answer.status, answer.body);
            };
            let client = recorded.client;
            let recorded = RecordedRequest { outcome: Outcome::Acknowledged(answer), recent: false, ..recorded };
            ledger.record(id, client).requests.push(recorded);
        }
        for (id, record) in &mut ledger.sessions {
            for recorded in record.requests.iter_mut().filter(|recorded| recorded.recent) {
                match &recorded.outcome {
                    Outcome::Refused(_) => (),
                    Outcome::Unanswered => recorded.outcome = Outcome::of(self.repeat(recorded)?),
                    Outcome::Acknowledged(first) => {
                        let again = self.repeat(recorded)?;
                        if again != *first {
                            let what = format!(
                                "session {id}: {:?} was answered {first:?} and then {again:?}",
                                short(&recorded.change)
                            );
                            self.add_violation(Promise::Idempotent, what);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn repeat(&mut self, recorded: &RecordedRequest) -> anyhow::Result<HttpAnswer> {
        self.tally.repeats += 1;
        self.send(&recorded.request).with_context(|| format!("repeating {:?}", short(&recorded.change)))
    }

    fn entries(&mut self, id: &str) -> anyhow::Result<Vec<Value>> {
        self.all_pages(&format!("/api/v1/sessions/{id}/entries?limit={PAGE}"), "entries")
    }

    fn all_pages(&mut self, path: &str, key: &str) -> anyhow::Result<Vec<Value>> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let page_path = match &cursor {
                Some(cursor) => format!("{path}&after={cursor}"),
                None => path.to_owned(),
            };
            let mut page = self.read(&page_path)?;
            let Value::Array(found) = page[key].take() else { bail!("{page_path}: no list of {key}") };
            let next = page["nextCursor"].as_str().map(str::to_owned);
            let is_last = found.is_empty() || next.is_none() || next == cursor;
            items.extend(found);
            if is_last {
                return Ok(items);
            }
            cursor = next;
        }
    }

    fn read(&mut self, path: &str) -> anyhow::Result<Value> {
        let answer = self.send(&Request::get(path)).with_context(|| format!("reading {path}"))?;
        ensure!(answer.is_success(), "{path}: {} {}", answer.status, answer.body);
        serde_json::from_str(&answer.body).with_context(|| format!("{path}: not JSON"))
    }

    /// Reading back is faster than a client may be; a request to wait says nothing about what is kept.
    fn send(&mut self, request: &Request) -> anyhow::Result<HttpAnswer> {
        for _ in 0..MAX_RETRIES {
            let answer = self.http.send(request)?;
            if answer.status != TOO_MANY_REQUESTS {
                return Ok(answer);
            }
            thread::sleep(PAUSE);
        }
        bail!("the server asks to wait for ever")
    }

    fn add_violation(&mut self, promise: Promise, what: String) {
        self.violations.push(Violation::new(promise, what));
    }
}

/// The outputs that entries say were removed.
fn removed_outputs(entries: &[Value]) -> BTreeSet<&str> {
    let removals = entries.iter().filter(|entry| entry["type"] == "output.removed");
    removals.filter_map(|entry| entry["data"]["id"].as_str()).collect()
}

/// Enough of it to find it again.
fn short(change: &Change) -> String {
    change.mark().chars().take(40).collect()
}
