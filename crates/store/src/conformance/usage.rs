//! Cases of usage: what turns used, summed up.

#![expect(missing_docs, reason = "the name of a case is its statement")]

use std::fmt::Write as _;

use model::{
    AgentReport, Command, Cost, Memory, Outcome, Stop, Timestamp, Turn, TurnUsage, Usage, UsageBy, UsageKey,
    UsageQuery, UsedTokens,
};

use crate::conformance::{AnyStore, act, attached, create, prompt, session_id};

const DAY_MS: i64 = 86_400_000;

fn used(models: &[(Option<&str>, u64)], cost: Option<&str>) -> Command {
    let mut turn = TurnUsage::default();
    for (model, input) in models {
        turn.add(*model, UsedTokens { input: *input, output: 1, cached_read: 2, ..UsedTokens::default() });
    }
    let cost = cost.map(|amount| Cost { amount: amount.to_owned(), currency: "USD".to_owned() });
    Command::Agent(AgentReport::Usage(Usage { cost, turn: turn.finished(), ..Usage::window(1, 9) }))
}

fn stopped() -> Command {
    Command::Agent(AgentReport::Stopped(Stop { outcome: Outcome::Completed, reason: None }))
}

/// A session with a turn that says nothing, one of two models whose cost is said, and one whose cost is not.
async fn life(store: &AnyStore, n: u8, day: i64) {
    let at = |ms: i64| day * DAY_MS + ms;
    act(store, n, create("a"), at(1)).await;
    act(store, n, attached("theirs", Memory::New), at(2)).await;
    for (turn, usage) in [
        (1, Command::Agent(AgentReport::Usage(Usage::window(3, 9)))),
        (2, used(&[(Some("small"), 3), (Some("large"), 70)], Some("0.5"))),
        (3, used(&[(Some("large"), 100)], None)),
    ] {
        act(store, n, prompt(u64::from(n) * 10 + turn, "do it"), at(3)).await;
        act(store, n, usage, at(4)).await;
        act(store, n, stopped(), at(5)).await;
    }
}

fn query(by: UsageBy) -> UsageQuery {
    let (from, to) = (Timestamp::from_millis(0), Timestamp::from_millis(100 * DAY_MS));
    UsageQuery { by, from, to, offset_minutes: 0, session: None, limit: 100 }
}

async fn told(store: &AnyStore, query: UsageQuery) -> String {
    let mut told = String::new();
    for sum in store.usage(query).await.expect("usage") {
        let key = match sum.key {
            UsageKey::Day(day) => format!("day {day}"),
            UsageKey::Name(name) => name.unwrap_or_else(|| "?".to_owned()),
            UsageKey::Work(work) => format!("work {work:?}"),
            UsageKey::Session(id) => format!("session {}", id.as_bytes()[0]),
        };
        let (model, cost) = (sum.model.unwrap_or_else(|| "?".to_owned()), sum.cost.map(|cost| cost.to_string()));
        let UsedTokens { input, output, cached_read, .. } = sum.tokens;
        let (turns, unknown) = (sum.turns, sum.unknown_turns);
        let cost = cost.unwrap_or_else(|| "not said".to_owned());
        writeln!(
            told,
            "{key}, {model}: {input}+{cached_read} in, {output} out, {cost}, {turns} turns, {unknown} unknown"
        )
        .expect("a text takes every line");
    }
    told
}

pub async fn what_turns_used_is_summed_up_by_anything(store: AnyStore) {
    life(&store, 1, 3).await;
    life(&store, 2, 4).await;
    let by_model = told(&store, query(UsageBy::Model)).await;
    let expected = "?, ?: 0+0 in, 0 out, not said, 2 turns, 2 unknown\n\
                    large, large: 200+4 in, 2 out, not said, 2 turns, 0 unknown\n\
                    large, large: 140+4 in, 2 out, 1 USD, 2 turns, 0 unknown\n\
                    small, small: 6+4 in, 2 out, 0 USD, 0 turns, 0 unknown\n";
    assert_eq!(by_model, expected);
    for (by, first) in [
        (UsageBy::Day, "day 3, ?: "),
        (UsageBy::Agent, "guide, ?: "),
        (UsageBy::Project, "/w, ?: "),
        (UsageBy::Work, "work None, ?: "),
        (UsageBy::Session, "session 1, ?: "),
    ] {
        let told = told(&store, query(by)).await;
        assert!(told.starts_with(first), "{told}");
    }
    let (from, to) = (Timestamp::from_millis(4 * DAY_MS), Timestamp::from_millis(5 * DAY_MS));
    let later = told(&store, UsageQuery { from, to, ..query(UsageBy::Session) }).await;
    assert!(!later.is_empty());
    assert_eq!(later.lines().filter(|line| line.starts_with("session 2")).count(), later.lines().count());
    let one = told(&store, UsageQuery { session: Some(session_id(1)), ..query(UsageBy::Agent) }).await;
    assert_eq!(one.lines().count(), 4, "{one}");
    assert_eq!(told(&store, UsageQuery { limit: 2, ..query(UsageBy::Model) }).await.lines().count(), 2);
}

pub async fn days_begin_where_the_asker_is(store: AnyStore) {
    life(&store, 1, 3).await;
    for (offset_minutes, day) in [(0, "day 3"), (120, "day 3"), (-1, "day 2"), (-720, "day 2")] {
        let told = told(&store, UsageQuery { offset_minutes, ..query(UsageBy::Day) }).await;
        assert!(!told.is_empty() && told.lines().all(|line| line.starts_with(day)), "{offset_minutes}: {told}");
    }
}

pub async fn a_deleted_session_leaves_the_sums_and_comes_back_into_them(store: AnyStore) {
    life(&store, 1, 3).await;
    let before = told(&store, query(UsageBy::Agent)).await;
    act(&store, 1, Command::Delete, 4 * DAY_MS).await;
    assert_eq!(told(&store, query(UsageBy::Agent)).await, "");
    act(&store, 1, Command::Restore, 4 * DAY_MS).await;
    assert_eq!(told(&store, query(UsageBy::Agent)).await, before);
    act(&store, 1, Command::Delete, 5 * DAY_MS).await;
    let head = store.session(session_id(1)).await.expect("session").expect("it is there").head;
    store.purge(session_id(1), head, Timestamp::from_millis(6 * DAY_MS)).await.expect("purge");
    assert_eq!(store.turns_used(session_id(1), Turn(0), 9).await.expect("turns"), []);
}

pub async fn each_turn_tells_what_it_used(store: AnyStore) {
    life(&store, 1, 3).await;
    let rows = store.turns_used(session_id(1), Turn(0), 9).await.expect("turns");
    let places: Vec<_> = rows.iter().map(|row| (row.turn.0, row.nth, row.model.as_deref())).collect();
    assert_eq!(places, [(1, 0, None), (2, 0, Some("large")), (2, 1, Some("small")), (3, 0, Some("large"))]);
    assert_eq!((rows[0].tokens, rows[0].cost.clone()), (None, None));
    let later = store.turns_used(session_id(1), Turn(1), 2).await.expect("turns");
    assert_eq!(later, rows[1..3]);
}
