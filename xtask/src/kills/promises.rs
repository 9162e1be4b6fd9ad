//! The promises, each a check over plain data: the ledger against the log.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::ledger::{Change, ClientNumber, Outcome, Record, RecordedRequest};

const SHOWN_CHARS: usize = 500;

/// Numbered as in SECURITY.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    AckedSurvives,
    NoDirtyReads,
    OrderedUniqueGapless,
    ResumableByCursor,
    Idempotent,
    NoTurnLeftRunning,
    PayloadsGoWithEntries,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(super) promise: Promise,
    pub(super) what: String,
}

impl Violation {
    pub(super) fn new(promise: Promise, what: impl Into<String>) -> Self {
        Self { promise, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let promise = match self.promise {
            Promise::AckedSurvives => "R01 acknowledged survives",
            Promise::NoDirtyReads => "R04 no dirty reads",
            Promise::OrderedUniqueGapless => "R05 ordered, unique, gapless",
            Promise::ResumableByCursor => "R06 resumable by cursor",
            Promise::Idempotent => "R09 idempotent",
            Promise::NoTurnLeftRunning => "R11 no turn left running",
            Promise::PayloadsGoWithEntries => "R01 payloads go with their entries",
        };
        // The beginning of a long prompt is enough.
        let what: String = self.what.chars().take(SHOWN_CHARS).collect();
        write!(f, "BROKEN {promise}: {what}")
    }
}

/// Everything that must hold for one session at any time after a restart.
pub(super) fn check_session(session: &str, record: &Record, entries: &[Value]) -> Vec<Violation> {
    let mut violations = seqs_are_gapless(entries);
    let effects_by_text = find_effects(entries);
    violations.extend(deeds_have_their_effects(record, &effects_by_text));
    violations.extend(effects_have_their_deeds(record, &effects_by_text));
    violations.extend(order_is_kept(record, &effects_by_text));
    violations.extend(what_was_seen_is_there(record, entries));
    for violation in &mut violations {
        violation.what = format!("session {session}: {}", violation.what);
    }
    violations
}

/// What must hold right after a restart, before anybody sends a request.
pub(super) fn no_turn_runs(session: &str, entries: &[Value]) -> Vec<Violation> {
    let turns = |kind: &str| -> BTreeSet<u64> {
        entries
            .iter()
            .filter(|entry| entry["type"] == kind)
            .filter_map(|entry| entry["data"]["turn"].as_u64())
            .collect()
    };
    turns("turn.started")
        .difference(&turns("turn.ended"))
        .map(|turn| {
            let what = format!("session {session}: turn {turn} has started and not ended");
            Violation::new(Promise::NoTurnLeftRunning, what)
        })
        .collect()
}

/// A session is shown as its log says, while nothing happens in it.
pub(super) fn shown_as_logged(session: &str, shown: &Value, entries: &[Value]) -> Vec<Violation> {
    let mut violations = Vec::new();
    if shown["state"] == "running" {
        let what = format!("session {session} is shown as running");
        violations.push(Violation::new(Promise::NoTurnLeftRunning, what));
    }
    let name = entries.iter().rev().find_map(|entry| match entry["type"].as_str()? {
        "session.created" | "session.changed" => entry["data"]["name"].as_str(),
        _ => None,
    });
    let turns = entries.iter().filter(|entry| entry["type"] == "turn.started").count();
    for (what, shown, logged) in
        [("name", &shown["meta"]["name"], Value::from(name)), ("turns", &shown["turns"], Value::from(turns))]
    {
        if *shown != logged {
            let what = format!("session {session}: {what} is shown as {shown} and is {logged} in the log");
            violations.push(Violation::new(Promise::AckedSurvives, what));
        }
    }
    violations
}

/// A follower that returns with the cursor of `after` gets exactly the entries after it.
pub(super) fn follows_exactly(session: &str, after: u64, got: &[Value], entries: &[Value]) -> Option<Violation> {
    let skip = usize::try_from(after).unwrap_or(usize::MAX).min(entries.len());
    let expected = &entries[skip..];
    if got == expected {
        return None;
    }
    let first = got.iter().zip(expected).position(|(got, expected)| got != expected);
    let what = format!(
        "session {session} followed from {after}: {} entries came, {} follow in the log, first difference at {:?}",
        got.len(),
        expected.len(),
        first
    );
    Some(Violation::new(Promise::ResumableByCursor, what))
}

fn seqs_are_gapless(entries: &[Value]) -> Vec<Violation> {
    (1..)
        .zip(entries)
        .find(|(expected, entry)| entry["seq"].as_u64() != Some(*expected))
        .map(|(expected, entry)| {
            let what = format!("{} stands where entry {expected} belongs", entry["seq"]);
            Violation::new(Promise::OrderedUniqueGapless, what)
        })
        .into_iter()
        .collect()
}

/// The effects of one request in the log.
#[derive(Debug, Default)]
struct Effects {
    /// For a prompt: the ids under which it was accepted, and how often it was queued and sent under each.
    interactions: BTreeMap<String, (u32, u32)>,
    /// For a name: how often it was set. For an output: how often it was removed.
    given: u32,
    first_seq: u64,
}

/// Effects by the text that only one request has.
type EffectsByText<'a> = BTreeMap<&'a str, Effects>;

fn find_effects(entries: &[Value]) -> EffectsByText<'_> {
    let mut effects_by_text = EffectsByText::new();
    for entry in entries {
        let (data, seq) = (&entry["data"], entry["seq"].as_u64().unwrap_or_default());
        let Some(kind) = entry["type"].as_str() else { continue };
        let key = match kind {
            "prompt.queued" | "prompt.sent" => "text",
            "session.created" | "session.changed" => "name",
            "output.removed" => "id",
            _ => continue,
        };
        let Some(mark) = data[key].as_str() else { continue };
        let effects = effects_by_text.entry(mark).or_insert_with(|| Effects { first_seq: seq, ..Effects::default() });
        let id = || data["interactionId"].as_str().unwrap_or_default().to_owned();
        match kind {
            "prompt.queued" => effects.interactions.entry(id()).or_default().0 += 1,
            "prompt.sent" => effects.interactions.entry(id()).or_default().1 += 1,
            _ => effects.given += 1,
        }
    }
    effects_by_text
}

impl Effects {
    /// Under one id a prompt is queued at most once and sent at most once.
    fn repeated(&self) -> bool {
        self.given > 1
            || self.interactions.len() > 1
            || self.interactions.values().any(|(queued, sent)| *queued > 1 || *sent > 1)
    }
}

fn deeds_have_their_effects(record: &Record, effects_by_text: &EffectsByText<'_>) -> Vec<Violation> {
    record
        .requests
        .iter()
        .filter_map(|recorded| wrong_effect(recorded, effects_by_text.get(recorded.change.mark())))
        .collect()
}

fn wrong_effect(recorded: &RecordedRequest, effects: Option<&Effects>) -> Option<Violation> {
    let change = &recorded.change;
    let (promise, what) = match (&recorded.outcome, effects) {
        (_, Some(effects)) if effects.repeated() => {
            (Promise::Idempotent, format!("{change:?} took effect twice: {effects:?}"))
        }
        (Outcome::Acknowledged(answer), None) => {
            (Promise::AckedSurvives, format!("{change:?} was acknowledged with {} and is lost", answer.body))
        }
        (Outcome::Acknowledged(answer), Some(effects)) => {
            let told = match change {
                Change::Prompt { .. } => interaction_in(&answer.body),
                Change::Create { .. } | Change::Rename { .. } | Change::Remove { .. } => return None,
            };
            if told.as_ref().is_some_and(|id| effects.interactions.contains_key(id)) {
                return None;
            }
            (Promise::AckedSurvives, format!("{change:?} was acknowledged as {told:?} and is kept as {effects:?}"))
        }
        (Outcome::Refused(answer), Some(_)) => {
            (Promise::Idempotent, format!("{change:?} was refused with {} and took effect", answer.status))
        }
        (Outcome::Refused(_), None) | (Outcome::Unanswered, _) => return None,
    };
    Some(Violation::new(promise, what))
}

/// Nothing is in the log that nobody requested.
fn effects_have_their_deeds(record: &Record, effects_by_text: &EffectsByText<'_>) -> Vec<Violation> {
    let known: BTreeSet<&str> = record.requests.iter().map(|recorded| recorded.change.mark()).collect();
    effects_by_text
        .iter()
        .filter(|(mark, _)| !known.contains(*mark))
        .map(|(mark, effects)| {
            let what = format!("entry {} holds what nobody asked for: {mark:?}", effects.first_seq);
            Violation::new(Promise::AckedSurvives, what)
        })
        .collect()
}

/// Requests that a client made in order took effect in that order.
fn order_is_kept(record: &Record, effects_by_text: &EffectsByText<'_>) -> Vec<Violation> {
    let mut newest: BTreeMap<ClientNumber, (u64, &RecordedRequest)> = BTreeMap::new();
    let mut violations = Vec::new();
    let acknowledged = record.requests.iter().filter(|recorded| matches!(recorded.outcome, Outcome::Acknowledged(_)));
    for recorded in acknowledged {
        let Some(Effects { first_seq: seq, .. }) = effects_by_text.get(recorded.change.mark()) else { continue };
        if let Some((before, earlier)) = newest.insert(recorded.client, (*seq, recorded))
            && before >= *seq
        {
            let what =
                format!("{:?} at {before} was acknowledged before {:?} at {seq}", earlier.change, recorded.change);
            violations.push(Violation::new(Promise::OrderedUniqueGapless, what));
        }
    }
    violations
}

fn what_was_seen_is_there(record: &Record, entries: &[Value]) -> Vec<Violation> {
    record
        .seen
        .iter()
        .filter_map(|(seq, seen)| {
            let index = usize::try_from(*seq).ok()?.checked_sub(1)?;
            let what = match entries.get(index) {
                Some(kept) if kept == seen => return None,
                Some(kept) => format!("entry {seq} was seen as {seen} and is {kept}"),
                None => format!("entry {seq} was seen as {seen} and is gone"),
            };
            Some(Violation::new(Promise::NoDirtyReads, what))
        })
        .collect()
}

fn interaction_in(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    body["interactionId"].as_str().map(str::to_owned)
}

impl Change {
    /// The text by which it is found in the log.
    pub(super) fn mark(&self) -> &str {
        match self {
            Self::Create { name } | Self::Rename { name } => name,
            Self::Prompt { text } => text,
            Self::Remove { output } => output,
        }
    }
}

#[cfg(test)]
mod tests;
