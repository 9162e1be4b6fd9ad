//! Breaks each promise with a small made-up log, and expects the violation.

use serde_json::json;

use super::super::http::{HttpAnswer, Request};
use super::*;

fn recorded(change: Change, outcome: Outcome) -> RecordedRequest {
    RecordedRequest { client: 0, change, request: Request::get("/"), outcome, recent: true }
}

fn acknowledged(body: &Value) -> Outcome {
    Outcome::Acknowledged(HttpAnswer { status: 202, body: body.to_string() })
}

fn refused() -> Outcome {
    Outcome::Refused(HttpAnswer { status: 409, body: String::new() })
}

fn prompt(text: &str, interaction: &str) -> RecordedRequest {
    recorded(
        Change::Prompt { text: text.to_owned() },
        acknowledged(&json!({ "interactionId": interaction, "turn": null })),
    )
}

fn unanswered(text: &str) -> RecordedRequest {
    recorded(Change::Prompt { text: text.to_owned() }, Outcome::Unanswered)
}

/// A log from `type key=value …` lines; numbers are numbers.
fn log(text: &str) -> Vec<Value> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    (1_u64..)
        .zip(lines)
        .map(|(seq, line)| {
            let mut words = line.split(' ');
            let kind = words.next().unwrap();
            let data: serde_json::Map<_, _> = words
                .map(|word| {
                    let (key, value) = word.split_once('=').unwrap();
                    let value = value.parse::<u64>().map_or_else(|_| json!(value), |number| json!(number));
                    (key.to_owned(), value)
                })
                .collect();
            json!({ "seq": seq, "at": "2026-01-01T00:00:00Z", "type": kind, "data": data })
        })
        .collect()
}

fn check(requests: Vec<RecordedRequest>, entries: &[Value], expected: &[(Promise, &str)]) {
    let record = Record { requests, ..Record::default() };
    expect(&check_session("s", &record, entries), expected);
}

fn expect(violations: &[Violation], expected: &[(Promise, &str)]) {
    let matches = violations.len() == expected.len()
        && violations
            .iter()
            .zip(expected)
            .all(|(violation, (promise, part))| violation.promise == *promise && violation.what.contains(part));
    assert!(matches, "expected {expected:#?}, found {violations:#?}");
}

#[test]
fn a_removal_takes_effect_once_and_is_kept() {
    let removal = |outcome| recorded(Change::Remove { output: "out_1".to_owned() }, outcome);
    let done = acknowledged(&Value::Null);
    check(vec![removal(done.clone())], &log("output.removed id=out_1"), &[]);
    check(vec![removal(done.clone())], &log("session.created"), &[(Promise::AckedSurvives, "is lost")]);
    let twice = log("
        output.removed id=out_1
        output.removed id=out_1
    ");
    check(vec![removal(done)], &twice, &[(Promise::Idempotent, "took effect twice")]);
    check(vec![], &log("output.removed id=out_1"), &[(Promise::AckedSurvives, "nobody asked for")]);
}

#[test]
fn a_prompt_may_be_queued_and_then_sent() {
    let entries = log("
        prompt.queued interactionId=i1 text=a
        turn.started turn=1 interactionId=i1
        prompt.sent interactionId=i1 text=a
        turn.ended turn=1
    ");
    check(vec![prompt("a", "i1")], &entries, &[]);
    assert_eq!(no_turn_runs("s", &entries), []);
}

#[test]
fn a_lost_acknowledgement_is_found() {
    let entries = log("prompt.sent interactionId=i1 text=a");
    check(vec![prompt("a", "i1"), prompt("b", "i2")], &entries, &[(Promise::AckedSurvives, "is lost")]);
}

#[test]
fn a_lost_name_is_found() {
    let rename = recorded(Change::Rename { name: "n".to_owned() }, acknowledged(&json!({})));
    check(vec![rename.clone()], &log("session.changed name=n"), &[]);
    check(vec![rename], &[], &[(Promise::AckedSurvives, "is lost")]);
}

#[test]
fn a_prompt_kept_under_another_id_is_found() {
    let entries = log("prompt.sent interactionId=i2 text=a");
    check(vec![prompt("a", "i1")], &entries, &[(Promise::AckedSurvives, "is kept as")]);
}

#[test]
fn a_second_effect_is_found() {
    let twice = log("
        prompt.sent interactionId=i1 text=a
        prompt.sent interactionId=i2 text=a
    ");
    check(vec![prompt("a", "i1")], &twice, &[(Promise::Idempotent, "twice")]);
    check(vec![unanswered("a")], &twice, &[(Promise::Idempotent, "twice")]);
    let sent_twice = log("
        prompt.sent interactionId=i1 text=a
        prompt.sent interactionId=i1 text=a
    ");
    check(vec![prompt("a", "i1")], &sent_twice, &[(Promise::Idempotent, "twice")]);
}

#[test]
fn an_unanswered_prompt_may_be_there_or_not() {
    check(vec![unanswered("a")], &[], &[]);
    check(vec![unanswered("a")], &log("prompt.sent interactionId=i1 text=a"), &[]);
}

#[test]
fn a_refused_prompt_that_took_effect_is_found() {
    let requests = vec![recorded(Change::Prompt { text: "a".to_owned() }, refused())];
    check(requests, &log("prompt.sent interactionId=i1 text=a"), &[(Promise::Idempotent, "was refused with 409")]);
}

#[test]
fn what_nobody_asked_for_is_found() {
    check(vec![], &log("prompt.sent interactionId=i1 text=a"), &[(Promise::AckedSurvives, "nobody asked for")]);
}

#[test]
fn a_gap_is_found() {
    let mut entries = log("
        agent.state_changed state=starting
        agent.state_changed state=ready
        agent.state_changed state=stopped
    ");
    entries.remove(1);
    check(vec![], &entries, &[(Promise::OrderedUniqueGapless, "3 stands where entry 2 belongs")]);
}

#[test]
fn a_changed_order_is_found() {
    let entries = log("
        prompt.queued interactionId=i2 text=b
        prompt.queued interactionId=i1 text=a
    ");
    let broken = [(Promise::OrderedUniqueGapless, "was acknowledged before")];
    check(vec![prompt("a", "i1"), prompt("b", "i2")], &entries, &broken);
    // Two clients promise each other nothing.
    let other = RecordedRequest { client: 1, ..prompt("b", "i2") };
    check(vec![prompt("a", "i1"), other], &entries, &[]);
}

#[test]
fn a_dirty_read_is_found() {
    let entries = log("agent.state_changed state=ready");
    let other = log("agent.state_changed state=starting");
    let record = Record { seen: [(1, other[0].clone()), (2, other[0].clone())].into(), ..Record::default() };
    let broken = [(Promise::NoDirtyReads, "entry 1 was seen as"), (Promise::NoDirtyReads, "is gone")];
    expect(&check_session("s", &record, &entries), &broken);
}

#[test]
fn a_turn_left_running_is_found() {
    let entries = log("
        turn.started turn=1
        turn.ended turn=1
        turn.started turn=2
    ");
    expect(&no_turn_runs("s", &entries), &[(Promise::NoTurnLeftRunning, "turn 2")]);
}

#[test]
fn a_session_that_is_shown_otherwise_than_logged_is_found() {
    let entries = log("
        session.created name=a
        session.changed name=b
        session.changed envHint=x
        turn.started turn=1
        turn.ended turn=1
    ");
    let shown = |state: &str, name: &str, turns: u32| {
        shown_as_logged("s", &json!({ "state": state, "turns": turns, "meta": { "name": name } }), &entries)
    };
    assert_eq!(shown("interrupted", "b", 1), []);
    expect(&shown("running", "b", 1), &[(Promise::NoTurnLeftRunning, "as running")]);
    expect(&shown("idle", "a", 1), &[(Promise::AckedSurvives, "name")]);
    expect(&shown("idle", "b", 0), &[(Promise::AckedSurvives, "turns")]);
}

#[test]
fn a_follower_that_misses_or_repeats_is_found() {
    let entries = log("
        agent.state_changed state=starting
        agent.state_changed state=ready
        agent.state_changed state=stopped
    ");
    assert_eq!(follows_exactly("s", 0, &entries, &entries), None);
    assert_eq!(follows_exactly("s", 2, &entries[2..], &entries), None);
    assert_eq!(follows_exactly("s", 3, &[], &entries), None);
    for (after, got) in [(1, &entries[2..]), (1, &entries[..]), (0, &entries[..2])] {
        assert!(follows_exactly("s", after, got, &entries).is_some(), "{after}");
    }
}
