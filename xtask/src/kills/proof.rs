//! The promises, each a check over plain data: what the ledger says against what the log holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::ledger::{Act, ClientNumber, Deed, Outcome, Record};

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
        };
        // A long prompt says no more than its beginning.
        let what: String = self.what.chars().take(SHOWN_CHARS).collect();
        write!(f, "BROKEN {promise}: {what}")
    }
}

/// Everything that must hold of one session at any time after a restart.
pub(super) fn check_session(session: &str, record: &Record, entries: &[Value]) -> Vec<Violation> {
    let mut violations = seqs_are_gapless(entries);
    let found = find_effects(entries);
    violations.extend(deeds_have_their_effects(record, &found));
    violations.extend(effects_have_their_deeds(record, &found));
    violations.extend(order_is_kept(record, &found));
    violations.extend(what_was_seen_is_there(record, entries));
    for violation in &mut violations {
        violation.what = format!("session {session}: {}", violation.what);
    }
    violations
}

/// What must hold right after a restart, before anybody asks for anything.
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

/// What the session is shown as, while nothing happens in it, is what its log says.
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

/// A follower that comes back with the cursor of `after` gets this and nothing else.
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

/// Where the log shows the effects of one deed.
#[derive(Debug, Default)]
struct Effects {
    /// For a prompt: under which ids it was taken, and how often it was queued and sent under each.
    interactions: BTreeMap<String, (u32, u32)>,
    /// For a name: how often it was given.
    given: u32,
    first_seq: u64,
}

/// Effects by the text that only one deed has.
type Found<'a> = BTreeMap<&'a str, Effects>;

fn find_effects(entries: &[Value]) -> Found<'_> {
    let mut found = Found::new();
    for entry in entries {
        let (data, seq) = (&entry["data"], entry["seq"].as_u64().unwrap_or_default());
        let Some(kind) = entry["type"].as_str() else { continue };
        let key = match kind {
            "prompt.queued" | "prompt.sent" => "text",
            "session.created" | "session.changed" => "name",
            _ => continue,
        };
        let Some(mark) = data[key].as_str() else { continue };
        let effects = found.entry(mark).or_insert_with(|| Effects { first_seq: seq, ..Effects::default() });
        let id = || data["interactionId"].as_str().unwrap_or_default().to_owned();
        match kind {
            "prompt.queued" => effects.interactions.entry(id()).or_default().0 += 1,
            "prompt.sent" => effects.interactions.entry(id()).or_default().1 += 1,
            _ => effects.given += 1,
        }
    }
    found
}

impl Effects {
    /// Under one id a prompt is queued at most once and sent at most once.
    fn repeated(&self) -> bool {
        self.given > 1
            || self.interactions.len() > 1
            || self.interactions.values().any(|(queued, sent)| *queued > 1 || *sent > 1)
    }
}

fn deeds_have_their_effects(record: &Record, found: &Found<'_>) -> Vec<Violation> {
    record.deeds.iter().filter_map(|deed| wrong_effect(deed, found.get(deed.act.mark()))).collect()
}

fn wrong_effect(deed: &Deed, effects: Option<&Effects>) -> Option<Violation> {
    let act = &deed.act;
    let (promise, what) = match (&deed.outcome, effects) {
        (_, Some(effects)) if effects.repeated() => {
            (Promise::Idempotent, format!("{act:?} took effect twice: {effects:?}"))
        }
        (Outcome::Acknowledged(answer), None) => {
            (Promise::AckedSurvives, format!("{act:?} was acknowledged with {} and is lost", answer.body))
        }
        (Outcome::Acknowledged(answer), Some(effects)) => {
            let told = match act {
                Act::Prompt { .. } => interaction_in(&answer.body),
                Act::Create { .. } | Act::Rename { .. } => return None,
            };
            if told.as_ref().is_some_and(|id| effects.interactions.contains_key(id)) {
                return None;
            }
            (Promise::AckedSurvives, format!("{act:?} was acknowledged as {told:?} and is kept as {effects:?}"))
        }
        (Outcome::Refused(answer), Some(_)) => {
            (Promise::Idempotent, format!("{act:?} was refused with {} and took effect", answer.status))
        }
        (Outcome::Refused(_), None) | (Outcome::Unanswered, _) => return None,
    };
    Some(Violation::new(promise, what))
}

/// Nothing is in the log that nobody asked for.
fn effects_have_their_deeds(record: &Record, found: &Found<'_>) -> Vec<Violation> {
    let known: BTreeSet<&str> = record.deeds.iter().map(|deed| deed.act.mark()).collect();
    found
        .iter()
        .filter(|(mark, _)| !known.contains(*mark))
        .map(|(mark, effects)| {
            let what = format!("entry {} holds what nobody asked for: {mark:?}", effects.first_seq);
            Violation::new(Promise::AckedSurvives, what)
        })
        .collect()
}

/// What a client was told in order took effect in that order.
fn order_is_kept(record: &Record, found: &Found<'_>) -> Vec<Violation> {
    let mut newest: BTreeMap<ClientNumber, (u64, &Deed)> = BTreeMap::new();
    let mut violations = Vec::new();
    let acknowledged = record.deeds.iter().filter(|deed| matches!(deed.outcome, Outcome::Acknowledged(_)));
    for deed in acknowledged {
        let Some(Effects { first_seq: seq, .. }) = found.get(deed.act.mark()) else { continue };
        if let Some((before, earlier)) = newest.insert(deed.client, (*seq, deed))
            && before >= *seq
        {
            let what = format!("{:?} at {before} was acknowledged before {:?} at {seq}", earlier.act, deed.act);
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

impl Act {
    /// The text by which it is found in the log.
    pub(super) fn mark(&self) -> &str {
        match self {
            Self::Create { name } | Self::Rename { name } => name,
            Self::Prompt { text } => text,
        }
    }
}

#[cfg(test)]
mod tests;
