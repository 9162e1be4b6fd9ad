//! Tests that a turn's share is found, however an agent counts.

use serde_json::json;

use super::*;
use crate::{Entry, RowChange, Seq, SessionEvent, fold_session};

fn count(total: u64, input: u64, output: u64, thought: u64, cached_read: u64, cached_write: u64) -> TokenCount {
    let known = |count: u64| (count > 0).then_some(count);
    TokenCount {
        total,
        input,
        output,
        thought: known(thought),
        cached_read: known(cached_read),
        cached_write: known(cached_write),
    }
}

#[test]
fn kinds_are_told_apart_by_the_total() {
    let kinds = |count: TokenCount| {
        let UsedTokens { input, output, thought, cached_read, cached_write } = UsedTokens::from(count);
        [input, output, thought, cached_read, cached_write]
    };
    // The cache beside the input, as Claude Code counts.
    assert_eq!(kinds(count(1_175, 100, 50, 0, 1_000, 25)), [100, 50, 0, 1_000, 25]);
    // The cache within the input, thoughts within the output, as Codex counts.
    assert_eq!(kinds(count(1_150, 1_100, 50, 30, 1_000, 0)), [100, 50, 30, 1_000, 0]);
    // Thoughts beside the output, the cache within the input, as Gemini counts.
    assert_eq!(kinds(count(1_180, 1_100, 50, 30, 1_000, 0)), [100, 80, 30, 1_000, 0]);
    // Both beside.
    assert_eq!(kinds(count(1_180, 100, 50, 30, 1_000, 0)), [100, 80, 30, 1_000, 0]);
    // A total that fits nothing: parts are parts, where they can be.
    assert_eq!(kinds(count(7, 1_100, 50, 30, 1_000, 0)), [100, 50, 30, 1_000, 0]);
    assert_eq!(kinds(count(7, 10, 50, 0, 1_000, 0)), [10, 50, 0, 1_000, 0]);
    // Numbers that no turn has.
    assert_eq!(kinds(count(u64::MAX, u64::MAX, u64::MAX, 0, 0, 0))[0], MAX_TOKENS);
}

/// Folds events as JSON lines, each a second after the one before; returns the rows that are left, as text.
fn rows(events: &[serde_json::Value]) -> String {
    let id: SessionId = "0190a8c0-0000-7000-8000-0000000000aa".parse().unwrap();
    let mut session = None;
    let mut rows = std::collections::BTreeMap::new();
    for (n, event) in (1..).zip(events) {
        let event: SessionEvent = serde_json::from_value(event.clone()).unwrap();
        let at = Timestamp::from_millis(1_000 * i64::from(n));
        let entry = Entry { seq: Seq(u64::try_from(n).unwrap()), at, event: &event };
        let (after, changes) = fold_session(id, session, entry);
        session = after;
        for change in changes {
            match change {
                RowChange::PutUsage(row) => drop(rows.insert((row.turn, row.nth), row)),
                RowChange::RemoveUsage { turn, nth, .. } => drop(rows.remove(&(turn, nth))),
                _ => (),
            }
        }
    }
    let line = |row: &UsageRow| {
        let UsageRow { turn, nth, agent, model, tokens, cost, .. } = row;
        let tokens = tokens.map_or("tokens unknown".to_owned(), |tokens| {
            format!("{} in, {} out", tokens.input + tokens.cached_read + tokens.cached_write, tokens.output)
        });
        let cost = cost.as_ref().map_or("cost not said".to_owned(), Money::to_string);
        format!("{turn}.{nth} {agent} {}: {tokens}; {cost}\n", model.as_deref().unwrap_or("?"))
    };
    rows.values().map(line).collect()
}

fn created(agent: &str) -> serde_json::Value {
    json!({ "type": "session.created", "data": { "agent": agent, "cwd": "/w", "project": "/w", "name": "" } })
}

fn attached(memory: &str) -> serde_json::Value {
    let attached = json!({ "agentSession": "a", "memory": memory });
    json!({ "type": "agent.state_changed", "data": { "state": "ready", "attached": attached } })
}

fn started(turn: u32) -> serde_json::Value {
    let id = "0190a8c0-0000-7000-8000-0000000000ff";
    json!({ "type": "turn.started", "data": { "turn": turn, "interactionId": id } })
}

fn ended(turn: u32) -> serde_json::Value {
    json!({ "type": "turn.ended", "data": { "turn": turn, "outcome": "completed" } })
}

fn used(usage: &serde_json::Value) -> serde_json::Value {
    json!({ "type": "usage.reported", "data": usage })
}

fn spent(amount: &str) -> serde_json::Value {
    used(&json!({ "used": 1, "size": 9, "cost": { "amount": amount, "currency": "USD" } }))
}

fn turn_of(models: &serde_json::Value, amount: Option<&str>) -> serde_json::Value {
    let cost = amount.map(|amount| json!({ "amount": amount, "currency": "USD" }));
    used(&json!({ "used": 1, "size": 9, "cost": cost, "turn": { "models": models } }))
}

fn one(model: &str, input: u64) -> serde_json::Value {
    json!([{ "model": model, "input": input, "output": 5 }])
}

/// What Claude Code says over a life, a load and a resume: the turn's tokens, and what the whole conversation has cost.
#[test]
fn a_conversations_cost_is_shared_out_among_its_turns() {
    let found = rows(&[
        created("claude"),
        attached("new"),
        started(1),
        used(&json!({ "used": 15, "size": 9 })),
        spent("0.00042"),
        turn_of(&one("opus", 30), Some("0.00042")),
        ended(1),
        started(2),
        turn_of(&one("opus", 20), Some("0.0007000000000000001")),
        ended(2),
        attached("loaded"),
        started(3),
        used(&json!({ "used": 15, "size": 9 })),
        turn_of(&one("opus", 10), Some("0.00084")),
        ended(3),
        attached("resumed"),
        started(4),
        turn_of(&one("opus", 10), Some("0.00098")),
        ended(4),
    ]);
    insta::assert_snapshot!(found, @r"
    t1.0 claude opus: 30 in, 5 out; 0.00042 USD
    t2.0 claude opus: 20 in, 5 out; 0.00028 USD
    t3.0 claude opus: 10 in, 5 out; 0.00014 USD
    t4.0 claude opus: 10 in, 5 out; 0.00014 USD
    ");
}

/// In some currencies a unit buys little.
#[test]
fn a_conversation_has_no_limit_but_a_turn_has_one() {
    let events = [created("scripted"), attached("new")].into_iter();
    let turns = [(1, "9000"), (2, "15000"), (3, "21000"), (4, "90021000")];
    let turns = turns.into_iter().flat_map(|(turn, amount)| [started(turn), spent(amount), ended(turn)]);
    insta::assert_snapshot!(rows(&events.chain(turns).collect::<Vec<_>>()), @r"
    t1.0 scripted ?: tokens unknown; 9000 USD
    t2.0 scripted ?: tokens unknown; 6000 USD
    t3.0 scripted ?: tokens unknown; 6000 USD
    t4.0 scripted ?: tokens unknown; 10000 USD
    ");
}

/// An imported conversation that its own agent takes up again says what all of it has cost: nobody knows the new turn's share
/// until the next.
#[test]
fn what_was_spent_elsewhere_is_not_counted_here() {
    let imported = json!({ "type": "session.imported", "data": { "tool": "claude", "source": "s", "mark": "m" } });
    let found = rows(&[
        created("claude"),
        started(1),
        used(
            &json!({ "used": 1, "size": 0, "turn": { "models": one("opus", 7), "cost": { "amount": "0.5", "currency": "USD" } } }),
        ),
        ended(1),
        imported,
        attached("loaded"),
        started(2),
        turn_of(&one("opus", 10), Some("0.9")),
        ended(2),
        started(3),
        turn_of(&one("opus", 10), Some("1.1")),
        ended(3),
    ]);
    insta::assert_snapshot!(found, @r"
    t1.0 claude opus: 7 in, 5 out; 0.5 USD
    t2.0 claude opus: 10 in, 5 out; cost not said
    t3.0 claude opus: 10 in, 5 out; 0.2 USD
    ");
}

#[test]
fn another_agent_and_a_counter_that_begins_again_start_from_nothing() {
    let handed_over = json!({ "type": "session.changed", "data": { "agent": "opencode" } });
    let found = rows(&[
        created("claude"),
        attached("new"),
        started(1),
        turn_of(&one("opus", 1), Some("2")),
        ended(1),
        handed_over,
        attached("new"),
        started(2),
        turn_of(&one("kimi", 2), Some("0.25")),
        ended(2),
        attached("resumed"),
        started(3),
        turn_of(&one("kimi", 3), Some("0.1")),
        ended(3),
    ]);
    insta::assert_snapshot!(found, @r"
    t1.0 claude opus: 1 in, 5 out; 2 USD
    t2.0 opencode kimi: 2 in, 5 out; 0.25 USD
    t3.0 opencode kimi: 3 in, 5 out; 0.1 USD
    ");
}

#[test]
fn zero_and_silence_are_unknown() {
    let found = rows(&[
        created("opencode"),
        attached("new"),
        started(1),
        turn_of(&one("lab/scripted", 10), Some("0")),
        ended(1),
        started(2),
        used(&json!({ "used": 15, "size": 100_000 })),
        ended(2),
    ]);
    insta::assert_snapshot!(found, @r"
    t1.0 opencode lab/scripted: 10 in, 5 out; cost not said
    t2.0 opencode ?: tokens unknown; cost not said
    ");
}

#[test]
fn a_turns_cost_stands_with_its_first_model_whenever_it_comes() {
    let two = json!([
        { "model": "haiku", "input": 3, "output": 1 }, { "model": "opus", "input": 30, "output": 9 },
        { "model": "none", "input": 0, "output": 0 },
    ]);
    let found = rows(&[
        created("claude"),
        attached("new"),
        started(1),
        spent("0.1"),
        used(&json!({ "used": 1, "size": 9, "turn": { "models": two } })),
        ended(1),
        spent("0.3"),
        started(2),
        turn_of(&two, None),
        turn_of(&one("opus", 4), Some("0.4")),
        ended(2),
    ]);
    insta::assert_snapshot!(found, @r"
    t1.0 claude opus: 30 in, 9 out; 0.3 USD
    t1.1 claude haiku: 3 in, 1 out; 0 USD
    t2.0 claude opus: 4 in, 5 out; 0.1 USD
    ");
}

/// Before version 7 an entry had what the agent counted. Copilot counted its process, from its start.
#[test]
fn earlier_entries_count_a_turn_or_a_process_by_their_agent() {
    let counted = |input: u64| {
        used(&json!({ "used": 1, "size": 9, "tokens": { "total": input + 5, "input": input, "output": 5 } }))
    };
    let life = |agent: &str| {
        rows(&[
            created(agent),
            attached("new"),
            started(1),
            counted(20),
            ended(1),
            started(2),
            counted(50),
            ended(2),
            attached("loaded"),
            started(3),
            counted(10),
            ended(3),
        ])
    };
    insta::assert_snapshot!(life("copilot"), @r"
    t1.0 copilot ?: 20 in, 5 out; cost not said
    t2.0 copilot ?: 30 in, 0 out; cost not said
    t3.0 copilot ?: 10 in, 5 out; cost not said
    ");
    insta::assert_snapshot!(life("codex"), @r"
    t1.0 codex ?: 20 in, 5 out; cost not said
    t2.0 codex ?: 50 in, 5 out; cost not said
    t3.0 codex ?: 10 in, 5 out; cost not said
    ");
}

#[test]
fn what_the_agent_said_wins_and_the_unknown_is_named() {
    let prices = Prices::new([(
        "scripted".to_owned(),
        Price { input: 1_000_000_000, output: 0, cached_read: None, cached_write: None, currency: "USD".to_owned() },
    )]);
    let tokens = UsedTokens { input: 1_000_000, ..UsedTokens::default() };
    let stated = Money { nanos: 5, currency: "USD".to_owned() };
    let mut priced = Priced::default();
    priced.add_used(Some("scripted"), Some(&stated), tokens, &prices);
    assert_eq!((priced.cost_in("USD"), priced.unpriced.total()), (5, 0));
    priced.add_used(Some("scripted"), None, tokens, &prices);
    assert_eq!((priced.stated["USD"], priced.computed["USD"]), (5, 1_000_000_000));
    priced.add_used(Some("unheard-of"), None, tokens, &prices);
    priced.add_used(None, None, tokens, &prices);
    assert_eq!(priced.cost_in("USD"), 1_000_000_005);
    assert_eq!((priced.unpriced.input, priced.unpriced_models), (2_000_000, vec!["unheard-of".to_owned()]));
}

/// The recording of Claude Code says what it cost; the table says the same.
#[test]
fn the_built_in_price_agrees_with_the_recording() {
    let price = Prices::default().find("claude-opus-5-5").unwrap();
    assert_eq!(price.of(&UsedTokens { input: 30, output: 15, ..UsedTokens::default() }).to_string(), "0.00042 USD");
}
