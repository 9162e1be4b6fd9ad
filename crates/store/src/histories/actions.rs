//! What random histories are made of.
//!
//! Invariant: a action names no id that only a store could have given, so any action can come at any time; most of them are
//! refused, and the refusals are compared too.

use model::{
    AgentReport, Attached, Author, BodyHash, BodyOf, BodyRef, Cost, Memory, NextId, Notice, Outcome, PlanStep,
    Priority, RememberedDecision, Severity, StepOrigin, StepStatus, Stop, TokenCount, TokenKind, ToolChange,
    ToolContent, ToolStatus, Turn, TurnUsage, Usage, UsedTokens,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::conformance::{question, session_id, token_id};
use crate::histories::{BY_HAND, KEYS, PRINCIPALS, SESSIONS, TOKENS, WORKS};

/// What an agent says of its use: of its window, of a turn by model, as earlier versions did, and of its cost so far.
fn usage() -> impl Strategy<Value = Usage> {
    let tokens = (0..9_u64, 0..3_u64).prop_map(|(input, cached_read)| UsedTokens {
        input,
        output: 1,
        cached_read,
        ..UsedTokens::default()
    });
    let models = vec((option::of(select(vec!["opus", "gpt"])), tokens), 0..3);
    let turn = models.prop_map(|models| {
        let mut turn = TurnUsage::default();
        models.into_iter().for_each(|(model, tokens)| turn.add(model, tokens));
        turn
    });
    let cost = (0..9_u64, select(vec!["USD", "EUR"]));
    let cost =
        cost.prop_map(|(tenths, currency)| Cost { amount: format!("0.{tenths}"), currency: currency.to_owned() });
    let count = (1..9_u64).prop_map(|input| TokenCount {
        total: input,
        input,
        output: 0,
        thought: None,
        cached_read: None,
        cached_write: None,
    });
    (0..9_u64, option::of(cost), option::of(count), option::of(turn)).prop_map(|(used, cost, tokens, turn)| Usage {
        used,
        size: 9,
        cost,
        tokens,
        turn,
    })
}

/// What is done to a session; the ids it needs are found when its turn comes.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a few hundred of them, in tests")]
pub(crate) enum Action {
    Rename(String),
    Hint(String),
    Pin(bool),
    Archive(bool),
    Tag(Vec<String>),
    Prompt {
        text: String,
        pictures: usize,
        by: Author,
    },
    ChangePrompt(usize, String, Author),
    RemovePrompt(usize),
    Observe,
    Delete,
    Restore,
    Agent(AgentReport),
    /// The first request that waits gets this answer.
    Answer(&'static str),
    Cancel,
    Resume(Option<&'static str>),
    TellResume(String),
    MoveTo(&'static str),
    Mark {
        set: &'static str,
        items: Vec<String>,
        merge: bool,
    },
    Prove(Vec<(&'static str, String)>),
    Show(u8),
    Hide(u8),
    Intend(String),
    Summarise(u32, String),
    Title(String),
    Import(String),
    /// The agent of the turn that runs offers a step of this work.
    Offer(Option<&'static str>),
    Interrupt,
}

#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// One batch over one or more sessions, sometimes with a receipt, sometimes after the wrong seq.
    Act {
        actions: Vec<(u8, Action)>,
        receipt: Option<(&'static str, &'static str)>,
        when: i64,
    },
    /// A writer that missed what others wrote, or dreams of what nobody wrote.
    Stale {
        session: u8,
        behind: i64,
    },
    Remember {
        id: u8,
        subject: String,
        decision: RememberedDecision,
        when: i64,
    },
    Forget {
        id: u8,
        when: i64,
    },
    IssueToken {
        token: u8,
        kind: TokenKind,
        when: i64,
    },
    RevokeToken {
        token: u8,
        when: i64,
    },
    /// One of a session's offers, counted from the newest, is taken: one batch over three streams.
    Click {
        session: u8,
        nth: usize,
        new: u8,
        when: i64,
    },
    RenameWork {
        nth: usize,
        name: &'static str,
        when: i64,
    },
    DeleteWork {
        nth: usize,
        when: i64,
    },
    Purge {
        session: u8,
    },
    ForgetReceipts {
        before: i64,
    },
    Reopen,
}

fn action() -> impl Strategy<Value = Action> {
    let text = || "[a-c\u{0}\n\u{1f9f5} ]{0,6}";
    let outcome = select(vec![Outcome::Completed, Outcome::Cancelled, Outcome::Failed, Outcome::Interrupted]);
    let stopped = (outcome, option::of(text().prop_map(String::from)));
    prop_oneof![
        1 => text().prop_map(Action::Rename),
        1 => text().prop_map(Action::Hint),
        1 => any::<bool>().prop_map(Action::Pin),
        2 => any::<bool>().prop_map(Action::Archive),
        1 => vec("[a-c]{1,2}", 0..4).prop_map(Action::Tag),
        1 => (select(vec!["files", "ports", "notes"]), vec("[a-e]{1,2}", 0..13), any::<bool>())
            .prop_map(|(set, items, merge)| Action::Mark { set, items, merge }),
        1 => vec((select(vec!["filesEdited", "branch"]), "[a-f]".prop_map(String::from)), 0..4).prop_map(Action::Prove),
        1 => (0..9_u8).prop_map(Action::Show),
        1 => (0..9_u8).prop_map(Action::Hide),
        1 => text().prop_map(Action::Intend),
        2 => (0..3_u32, text()).prop_map(|(turn, summary)| Action::Summarise(turn, summary)),
        1 => "[a-z]{0,2}".prop_map(Action::Title),
        1 => text().prop_map(Action::Import),
        4 => prompting(text().prop_map(String::from)),
        1 => (0..4_usize, text(), author()).prop_map(|(n, text, by)| Action::ChangePrompt(n, text, by)),
        1 => (0..4_usize).prop_map(Action::RemovePrompt),
        2 => Just(Action::Observe),
        1 => Just(Action::Delete),
        2 => Just(Action::Restore),
        3 => Just(Action::Agent(AgentReport::Ready { attached: None })),
        3 => (0..3_u32, text()).prop_map(|(block, text)| Action::Agent(AgentReport::Text { block, text })),
        3 => stopped.prop_map(|(outcome, reason)| Action::Agent(AgentReport::Stopped(Stop { outcome, reason }))),
        1 => Just(Action::Agent(AgentReport::Gone)),
        1 => text().prop_map(|reason| Action::Agent(AgentReport::Failed { reason })),
        1 => Just(Action::Interrupt),
        2 => offering(),
        6 => doing(),
    ]
}

fn author() -> impl Strategy<Value = Author> {
    let (session, block) = (session_id(9), NextId { turn: Turn(3), nth: 1 });
    prop_oneof![
        4 => Just(Author::default()),
        1 => Just(Author::Person { token_id: Some(token_id(1)), name: "phone \"é\"".to_owned() }),
        1 => Just(Author::Step(StepOrigin { session, block })),
        1 => Just(Author::Applet { name: "loom".to_owned() }),
        1 => Just(Author::Agent { session: "a-1".to_owned() }),
    ]
}

/// A prompt, of a person or of another, now and then with pictures.
fn prompting(text: impl Strategy<Value = String>) -> impl Strategy<Value = Action> {
    (author(), text, prop_oneof![4 => Just(0), 1 => 1..3_usize]).prop_map(|(by, text, pictures)| Action::Prompt {
        text,
        pictures,
        by,
    })
}

/// Any JSON that says something, as agents send it: an optional field that is null is one that is left out.
fn json() -> BoxedStrategy<serde_json::Value> {
    let number = prop_oneof![any::<f64>().prop_map(serde_json::Value::from), any::<i64>().prop_map(Into::into)];
    prop_oneof![
        3 => number,
        1 => any::<String>().prop_map(Into::into),
        1 => Just(serde_json::json!({ "z": [null], "a": { "b": true } })),
    ]
    .boxed()
}

/// What an agent does beside talking, and what it is answered.
fn doing() -> impl Strategy<Value = Action> {
    let text = || "[a-c\n\u{1f9f5} ]{0,6}".prop_map(String::from);
    let status = || option::of(select(vec![ToolStatus::Running, ToolStatus::Completed, ToolStatus::Failed]));
    let content = option::of(vec(text().prop_map(|text| ToolContent::Text { text }), 0..3));
    // Some of it is kept beside the log.
    let body = (0..4_u8, 1..9_u64).prop_map(|(n, bytes)| BodyRef {
        of: BodyOf::Output,
        item: 0,
        start: 0,
        head: 0,
        bytes,
        sha256: (n > 0).then(|| BodyHash::from_bytes([n; 32])),
    });
    let change = (option::of(text()), status(), content, option::of(json()), vec(body, 0..2));
    let change = change.prop_map(|(title, status, content, input, bodies)| ToolChange {
        title,
        status,
        content,
        input,
        bodies,
        ..ToolChange::default()
    });
    let report = prop_oneof![
        (0..3_u32, text()).prop_map(|(block, text)| AgentReport::Thought { block, text }),
        (1..4_u32, text(), change.clone()).prop_map(|(tool, call_id, change)| AgentReport::ToolStarted {
            tool,
            call_id,
            change
        }),
        (1..4_u32, change).prop_map(|(tool, change)| AgentReport::ToolChanged { tool, change }),
        (1..4_u32, text()).prop_map(|(tool, text)| AgentReport::ToolText { tool, text }),
        vec(text(), 0..3).prop_map(|texts| AgentReport::Plan(texts.into_iter().map(plan_step).collect())),
        text().prop_map(|title| AgentReport::Asked(question(&title))),
        usage().prop_map(AgentReport::Usage),
        text().prop_map(AgentReport::Title),
        text().prop_map(|title| AgentReport::Noticed(Notice { severity: Severity::Info, title, description: None })),
        option::of(text()).prop_map(|summary| AgentReport::Compacted { summary }),
        json().prop_map(AgentReport::Raw),
        Just(AgentReport::Unresponsive),
        Just(AgentReport::SignedOut { methods: Vec::new() }),
        select(vec![Memory::New, Memory::Resumed]).prop_map(|memory| AgentReport::Ready {
            attached: Some(Attached { agent_session: "s".to_owned(), memory, program: None })
        }),
    ];
    prop_oneof![
        8 => report.prop_map(Action::Agent),
        2 => select(vec!["yes", "no"]).prop_map(Action::Answer),
        1 => Just(Action::Cancel),
        1 => select(vec![None, Some("guide"), Some("other")]).prop_map(Action::Resume),
        1 => text().prop_map(Action::TellResume),
        1 => select(vec!["/w", "/elsewhere"]).prop_map(Action::MoveTo),
    ]
}

fn plan_step(text: String) -> PlanStep {
    PlanStep { text, status: StepStatus::Running, priority: Priority::Low }
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let kind = select(vec![TokenKind::Person, TokenKind::Browser, TokenKind::Agent, TokenKind::Applet]);
    let decision = select(vec![RememberedDecision::Allow, RememberedDecision::Deny]);
    let receipt = option::weighted(0.3, (select(PRINCIPALS.to_vec()), select(KEYS.to_vec())));
    // Clocks go back, and two things happen in one millisecond: order must not depend on them.
    let when = || 0..30_i64;
    prop_oneof![
        20 => (vec((0..SESSIONS, action()), 0..3), receipt, when())
            .prop_map(|(actions, receipt, when)| Step::Act { actions, receipt, when }),
        2 => (0..SESSIONS, -2..3_i64).prop_map(|(session, behind)| Step::Stale { session, behind }),
        1 => (0..TOKENS, kind, when()).prop_map(|(token, kind, when)| Step::IssueToken { token, kind, when }),
        1 => (0..TOKENS, when()).prop_map(|(token, when)| Step::RevokeToken { token, when }),
        1 => (0..TOKENS, "[a\u{0}\u{1f9f5}]{0,3}", decision, when())
            .prop_map(|(id, subject, decision, when)| Step::Remember { id, subject, decision, when }),
        1 => (0..TOKENS, when()).prop_map(|(id, when)| Step::Forget { id, when }),
        2 => working(),
        1 => (0..SESSIONS).prop_map(|session| Step::Purge { session }),
        1 => when().prop_map(|before| Step::ForgetReceipts { before }),
        1 => Just(Step::Reopen),
    ]
}

/// What is done about pieces of work.
fn working() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..SESSIONS, 0..4_usize, BY_HAND..SESSIONS, 0..30_i64)
            .prop_map(|(session, nth, new, when)| Step::Click { session, nth, new, when }),
        2 => (0..3_usize, select(WORKS.to_vec()), 0..30_i64)
            .prop_map(|(nth, name, when)| Step::RenameWork { nth, name, when }),
        1 => (0..3_usize, 0..30_i64).prop_map(|(nth, when)| Step::DeleteWork { nth, when }),
    ]
}

fn offering() -> impl Strategy<Value = Action> {
    option::weighted(0.9, select(WORKS.to_vec())).prop_map(Action::Offer)
}

/// A step that is likely to get somewhere: prompts, agents that start, talk, stop and fail, in few sessions.
pub(crate) fn lively() -> impl Strategy<Value = Step> {
    let text = || "[a-c\u{0}\n\u{1f9f5}]{1,6}".prop_map(String::from);
    let outcome = select(vec![Outcome::Completed, Outcome::Cancelled, Outcome::Failed, Outcome::Interrupted]);
    let stop = (outcome, option::of(text())).prop_map(|(outcome, reason)| Stop { outcome, reason });
    let action = prop_oneof![
        6 => prompting(text()),
        4 => Just(Action::Agent(AgentReport::Ready { attached: None })),
        4 => (0..3_u32, text()).prop_map(|(block, text)| Action::Agent(AgentReport::Text { block, text })),
        4 => stop.prop_map(|stop| Action::Agent(AgentReport::Stopped(stop))),
        1 => text().prop_map(|reason| Action::Agent(AgentReport::Failed { reason })),
        1 => Just(Action::Interrupt),
        1 => Just(Action::Observe),
        1 => Just(Action::Restore),
        4 => offering(),
        8 => doing(),
    ];
    let act = (prop_oneof![8 => 0..2_u8, 2 => BY_HAND..SESSIONS], action, 0..30_i64)
        .prop_map(|(n, action, when)| Step::Act { actions: vec![(n, action)], receipt: None, when });
    prop_oneof![
        12 => act,
        2 => (0..2_u8, 0..4_usize, BY_HAND..SESSIONS, 0..30_i64)
            .prop_map(|(session, nth, new, when)| Step::Click { session, nth, new, when }),
        1 => working(),
    ]
}
