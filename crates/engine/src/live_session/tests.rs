//! A session and an agent that a test plays.

use std::thread;

use agents::policy::{PermissionPolicy, Policy};
use agents::{Agent, AgentRequest, AgentUpdate, OwnCall};
use model::{
    AgentOption, AgentReport, Answerer, Author, Incarnation, NewSession, OptionCategory, Outcome, PermissionAnswer,
    PermissionKind, PermissionOption, Question, RememberedDecision, RememberedId, RememberedRow, RowChange, Seq,
    SessionEvent, Stop, Timestamp, ToolKind,
};
use store::MemoryStore;
use store::conformance::faulty::{Faulty, StoreCall, StoreFault};

use super::*;
use crate::{Agency, Engine, OwnTools, Seams, SystemClock, SystemIds, feeds};

/// A session whose agent has begun, with the agent's ends of it.
async fn begun() -> (LiveSession, mpsc::Receiver<AgentRequest>, mpsc::Sender<AgentUpdate>) {
    begun_with(PermissionPolicy::default()).await
}

/// The same, with rules of the person's own.
async fn begun_with(
    policy: PermissionPolicy,
) -> (LiveSession, mpsc::Receiver<AgentRequest>, mpsc::Sender<AgentUpdate>) {
    begun_on(Arc::new(MemoryStore::new(Incarnation::from_bits(1))), policy).await
}

/// The same, in a store of the test's own.
async fn begun_on(
    store: Arc<dyn store::Store>,
    policy: PermissionPolicy,
) -> (LiveSession, mpsc::Receiver<AgentRequest>, mpsc::Sender<AgentUpdate>) {
    let own_tools = OwnTools {
        unasked: [("mark", false), ("run", true)]
            .map(|(name, asks_itself)| agents::OwnTool {
                server: agents::OWN_MCP_SERVER,
                name: name.to_owned(),
                asks_itself,
            })
            .to_vec(),
        takes: |tool, input| ["mark", "run"].contains(&tool) && input.contains_key("items"),
        for_looking_back: String::new(),
    };
    let seams = Seams {
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
        home: None,
        copies: None,
        agency: Agency { own_tools, policy, ..Agency::only_guide() },
        summarising: None,
        search: None,
        history: None,
        usage: crate::UsageSettings::default(),
        outputs: crate::OutputSettings::in_memory(),
    };
    let engine = Engine::start(store, seams).await.unwrap();
    let id = SessionId::from_bytes([7; 16]);
    let new = NewSession {
        agent: "played".into(),
        cwd: "/".into(),
        project: "/".into(),
        name: String::new(),
        ..NewSession::default()
    };
    let mut live = LiveSession::new(engine.shared, id, None, mpsc::channel(1).1);
    let created = live.decide(Some(Command::Create(new)), Timestamp::from_millis(1)).unwrap();
    live.commit(created, Batch::default()).await.unwrap();
    let (calls, calls_in) = mpsc::channel(256);
    let (news_out, news) = mpsc::channel(256);
    live.agent = Some(Hosted { agent: Agent { requests: calls, updates: news }, loan: None });
    live.write_pending(Some(Command::Agent(AgentReport::Ready { attached: None }))).await;
    (live, calls_in, news_out)
}

impl LiveSession {
    async fn prompt(&mut self, text: &str) {
        let interaction_id = model::InteractionId::from_uuid(self.shared.ids.uuid());
        let (text, images) = (text.to_owned(), Vec::new());
        let when_busy = model::WhenBusy::Queue;
        self.write_pending(Some(Command::SendPrompt {
            interaction_id,
            text,
            images,
            when_busy,
            by: Author::default(),
        }))
        .await;
    }

    async fn hear_next(&mut self) {
        let news = next_update(&mut self.agent).await;
        self.handle_updates(news).await;
    }

    async fn events(&self) -> Vec<SessionEvent> {
        let entries = self.shared.store.read_session(self.id, Seq::START, 100_000).await.unwrap();
        entries.into_iter().map(|entry| entry.event).collect()
    }
}

/// However news pile up, and wherever the session stops to write: none is left out.
#[tokio::test]
async fn an_agent_that_talks_faster_than_is_written_is_heard_to_the_end() {
    const WORDS: u32 = 10_000;
    let (mut live, _calls, news) = begun().await;
    live.prompt("go on").await;
    let agent = thread::spawn(move || {
        for n in 0..WORDS {
            // Of many blocks, so that what is heard at once is more than one entry.
            let report = AgentReport::Text { block: n / 100, text: format!("{n} ") };
            news.blocking_send(AgentUpdate::Report(report)).unwrap();
        }
        let stop = Stop { outcome: Outcome::Completed, reason: None };
        news.blocking_send(AgentUpdate::Report(AgentReport::Stopped(stop))).unwrap();
        news
    });
    while live.stored.session().is_some_and(|session| session.row.running.is_some()) {
        live.hear_next().await;
    }
    agent.join().unwrap();
    let said: String = live.events().await.iter().filter_map(|event| event_text(event)).collect();
    assert!(said == (0..WORDS).map(|n| format!("{n} ")).collect::<String>(), "{} bytes", said.len());
}

/// Words that come with something else behind which they stand are not shown before it.
#[tokio::test]
async fn words_do_not_overtake_what_came_before_them() {
    let (mut live, _calls, news) = begun().await;
    live.prompt("go on").await;
    let mut feed = live.shared.feeds.subscribe(live.id);
    let text = |text: &str| AgentReport::Text { block: 0, text: text.to_owned() };
    let plan = AgentReport::Plan(Vec::new());
    for report in [text("first"), plan, text(" then")] {
        news.send(AgentUpdate::Report(report)).await.unwrap();
    }
    live.hear_next().await;
    let feeds::FeedUpdate::Preview { words, .. } = feed.recv().await.unwrap() else {
        panic!("words come as they are said")
    };
    assert_eq!(&*words.text, "first");
    assert!(matches!(feed.recv().await.unwrap(), feeds::FeedUpdate::Entries(_)));
}

fn event_text(event: &SessionEvent) -> Option<&str> {
    if let SessionEvent::TextPart { text, .. } = event { Some(text) } else { None }
}

fn mode(value: &str) -> AgentUpdate {
    let (id, name) = ("mode".to_owned(), "Mode".to_owned());
    let category = OptionCategory::Mode;
    let options = vec![AgentOption { id, name, description: None, category, value: value.into(), choices: vec![] }];
    AgentUpdate::Report(AgentReport::Options(options))
}

#[tokio::test]
async fn what_is_offered_again_is_written_once() {
    let (mut live, _calls, news) = begun().await;
    let written = async |live: &LiveSession| {
        let events = live.events().await;
        events.iter().filter(|event| matches!(event, SessionEvent::AgentOptionsChanged { .. })).count()
    };
    for (value, expected) in [("ask", 1), ("ask", 1), ("code", 2), ("ask", 3)] {
        news.send(mode(value)).await.unwrap();
        live.hear_next().await;
        assert_eq!(written(&live).await, expected, "{value}");
    }
    // Another start of the same agent is told by the log what is known; another agent is not.
    for (agent, expected) in [(None, 3), (Some("guide".to_owned()), 4)] {
        if let Some(agent) = agent {
            live.write_pending(Some(Command::Resume { agent: Some(agent) })).await;
            live.agent = None;
        }
        live.choices = KnownChoices::of(&newest_entries(&*live.shared.store, live.stored.session().unwrap()).await);
        live.handle_updates(Some(mode("ask"))).await;
        assert_eq!(written(&live).await, expected);
    }
}

#[tokio::test]
async fn an_agent_that_offers_the_same_again_is_there_again() {
    let (mut live, _calls, news) = begun().await;
    live.prompt("go on").await;
    news.send(mode("ask")).await.unwrap();
    live.hear_next().await;
    let state = |live: &LiveSession| live.stored.session().unwrap().row.agent_state;
    // Heard one by one, and at once.
    for at_once in [false, true] {
        news.send(AgentUpdate::Report(AgentReport::Unresponsive)).await.unwrap();
        if !at_once {
            live.hear_next().await;
            assert_eq!(state(&live), AgentState::Unresponsive);
        }
        news.send(mode("ask")).await.unwrap();
        live.hear_next().await;
        assert_eq!(state(&live), AgentState::Ready, "{at_once}");
    }
}

fn ask(key: u64) -> AgentUpdate {
    let options =
        vec![PermissionOption { id: "y".to_owned(), name: "Yes".to_owned(), kind: PermissionKind::AllowOnce }];
    let (subject, digest) = (Some("make".to_owned()), Some("d".to_owned()));
    let (title, kind) = ("Build".to_owned(), ToolKind::Execute);
    let question = Question { tool: None, title, kind, subject, said: None, digest, options, form: None };
    AgentUpdate::Asked { key, question, own_call: None }
}

fn person(option: &str) -> PermissionAnswer {
    let by = Answerer::Person { token_id: None, name: "ada".to_owned() };
    PermissionAnswer { option: Some(option.to_owned()), kind: None, fields: None, by, remembered: None }
}

/// What the agent is told next of its questions: which, and what was chosen.
async fn told(calls: &mut mpsc::Receiver<AgentRequest>) -> (u64, Option<String>) {
    loop {
        if let AgentRequest::Answer { key, answer } = calls.recv().await.unwrap() {
            return (key, answer.option);
        }
    }
}

#[tokio::test]
async fn what_is_asked_beside_the_turns_keeps_its_agent_until_it_is_settled() {
    let (mut live, mut calls, news) = begun().await;
    let open = |live: &LiveSession| live.stored.session().unwrap().row.open_requests.len();
    assert!(!live.busy());
    for key in [11, 12, 13] {
        news.send(ask(key)).await.unwrap();
        live.hear_next().await;
    }
    assert!(live.busy(), "an agent that waits is not let go");
    // By a person, by the agent itself, and by a stop, of which nobody is told twice.
    live.write_pending(Some(Command::Answer { request: Request(1), answer: person("y") })).await;
    assert_eq!((told(&mut calls).await, open(&live)), ((11, Some("y".to_owned())), 2));
    news.send(AgentUpdate::Withdrawn { key: 12 }).await.unwrap();
    live.hear_next().await;
    assert_eq!((told(&mut calls).await, open(&live)), ((12, None), 1));
    live.prompt("go on").await;
    news.send(AgentUpdate::Report(AgentReport::Stopped(Stop { outcome: Outcome::Completed, reason: None })))
        .await
        .unwrap();
    live.hear_next().await;
    assert_eq!(open(&live), 1, "a turn takes only its own questions with it");
    live.write_pending(Some(Command::Cancel)).await;
    assert_eq!((told(&mut calls).await, open(&live)), ((13, None), 0));
    assert!(!live.busy());
    let turns = live.events().await.into_iter().filter_map(|event| match event {
        SessionEvent::PermissionAsked { turn, .. } | SessionEvent::PermissionAnswered { turn, .. } => Some(turn),
        _ => None,
    });
    assert_eq!(turns.collect::<Vec<_>>(), [None; 6]);
}

#[tokio::test]
async fn what_was_answered_before_answers_beside_the_turns_too() {
    let (mut live, mut calls, _news) = begun().await;
    live.handle_updates(Some(ask(1))).await;
    let remembered = Some(RememberedId::from_bytes([1; 16]));
    let answer = PermissionAnswer { remembered, ..person("y") };
    let events = live.decide(Some(Command::Answer { request: Request(1), answer }), Timestamp::from_millis(1)).unwrap();
    live.commit_command(events, None, Timestamp::from_millis(1)).await.unwrap();
    assert_eq!(told(&mut calls).await, (1, Some("y".to_owned())));
    live.handle_updates(Some(ask(2))).await;
    assert_eq!(told(&mut calls).await, (2, Some("y".to_owned())));
}

/// A question in the name of the session's own tools.
fn ask_own(key: u64, input: &serde_json::Value) -> AgentUpdate {
    let Some(AgentUpdate::Asked { key, mut question, .. }) = Some(ask(key)) else { unreachable!("it asks") };
    question.digest = None;
    question.kind = ToolKind::Other;
    let input = input.as_object().cloned().unwrap_or_default();
    AgentUpdate::Asked { key, question, own_call: Some(OwnCall { tool: "mark".to_owned(), input }) }
}

/// Ends a turn; the titles of what the person is told in it.
async fn end_turn(live: &mut LiveSession) -> Vec<String> {
    let before = live.events().await.len();
    let stop = Stop { outcome: Outcome::Completed, reason: None };
    live.handle_updates(Some(AgentUpdate::Report(AgentReport::Stopped(stop)))).await;
    let events = live.events().await.into_iter().skip(before);
    events
        .filter_map(|event| if let SessionEvent::AgentNoticed { notice } = event { Some(notice.title) } else { None })
        .collect()
}

#[tokio::test]
async fn a_call_of_the_own_tools_is_allowed_as_long_as_each_arrives() {
    let (mut live, mut calls, _news) = begun().await;
    let (valid, other) = (serde_json::json!({ "items": ["a"] }), serde_json::json!({ "command": "rm -rf ~" }));
    let is_open = |live: &LiveSession, key: u64| live.request_with_key(key).is_some();
    live.prompt("go on").await;
    // The agent has no such tools.
    live.handle_updates(Some(ask_own(1, &valid))).await;
    assert!(is_open(&live, 1));

    live.shared.mount_url.set("http://127.0.0.1:1/mcp".to_owned()).unwrap();
    let loan = live.shared.lend(live.id, "guide").map(|(_, loan)| loan);
    live.agent.as_mut().unwrap().loan = loan;
    live.handle_updates(Some(ask_own(2, &other))).await;
    assert!(is_open(&live, 2), "no tool of ours takes this");
    live.handle_updates(Some(ask_own(3, &valid))).await;
    assert_eq!(told(&mut calls).await, (3, Some("y".to_owned())));
    let by_own_rule = |event: &SessionEvent| match event {
        SessionEvent::PermissionAnswered { answer, .. } => {
            answer.by == Answerer::Policy { rule: "own_tools".to_owned() }
        }
        _ => false,
    };
    assert_eq!(live.events().await.iter().filter(|event| by_own_rule(event)).count(), 1);
    live.shared.own_calls.arrived(live.id, "mark", valid.as_object().unwrap());
    assert_eq!(end_turn(&mut live).await, Vec::<String>::new());

    // It asks in the name of a tool that it does not call.
    live.prompt("go on").await;
    live.handle_updates(Some(ask_own(4, &valid))).await;
    live.shared.own_calls.arrived(live.id, "mark", other.as_object().unwrap());
    assert_eq!(end_turn(&mut live).await, ["The agent was allowed to call mark, and no such call arrived"]);
    live.prompt("go on").await;
    live.handle_updates(Some(ask_own(5, &valid))).await;
    assert!(is_open(&live, 5), "it is believed no more");
}

/// Its own question is the one that counts; but a rule that forbids is obeyed at once.
#[tokio::test]
async fn a_tool_that_asks_itself_is_not_asked_about_twice() {
    for (rule, option) in [(Policy::Ask, Some("y")), (Policy::Allow, Some("y")), (Policy::Deny, None)] {
        let rules = [("*.execute".to_owned(), rule)];
        let policy = PermissionPolicy::new(Policy::Ask, rules.into_iter().collect()).unwrap();
        let (mut live, mut calls, _news) = begun_with(policy).await;
        live.shared.mount_url.set("http://127.0.0.1:1/mcp".to_owned()).unwrap();
        live.agent.as_mut().unwrap().loan = live.shared.lend(live.id, "guide").map(|(_, loan)| loan);
        live.prompt("go on").await;
        let AgentUpdate::Asked { key, mut question, .. } = ask(1) else { panic!("it asks") };
        let no = PermissionOption { id: "n".to_owned(), name: "No".to_owned(), kind: PermissionKind::RejectOnce };
        question.options.push(no);
        let input = serde_json::json!({ "items": ["make"] }).as_object().cloned().unwrap_or_default();
        let own_call = Some(OwnCall { tool: "run".to_owned(), input });
        live.handle_updates(Some(AgentUpdate::Asked { key, question, own_call })).await;
        assert_eq!(told(&mut calls).await, (1, Some(option.unwrap_or("n").to_owned())), "{rule:?}");
    }
}

/// A question of the agent's that waits for the disk keeps its asker, whoever asks meanwhile.
#[tokio::test]
async fn a_tool_that_asks_takes_no_answer_from_the_agent() {
    let disk = Arc::new(Faulty::new(Arc::new(MemoryStore::new(Incarnation::from_bits(1)))));
    let (mut live, mut calls, _news) = begun_on(Arc::clone(&disk) as _, PermissionPolicy::default()).await;
    live.prompt("go on").await;
    disk.when(StoreCall::Append).times(1).fail(StoreFault::Full);
    live.handle_updates(Some(ask(1))).await;
    assert!(live.unwritten.is_some());

    let AgentUpdate::Asked { question, .. } = ask(2) else { panic!("it asks") };
    let (answer, mut answered) = mpsc::channel(1);
    let turn = live.running_turn().unwrap();
    live.try_ask(&crate::requests::ToolQuestion { turn, question, answer }).await.unwrap();
    live.write_due().await;
    let open = &live.stored.session().unwrap().row.open_requests;
    let open: Vec<Request> = open.iter().map(|open| open.request).collect();
    assert_eq!(open.len(), 2);
    for request in open {
        live.write_pending(Some(Command::Answer { request, answer: person("y") })).await;
    }
    assert_eq!(answered.recv().await.unwrap().option.as_deref(), Some("y"));
    assert_eq!(told(&mut calls).await, (1, Some("y".to_owned())));
}

/// The agent of an earlier run would hear no answer.
#[tokio::test]
async fn what_an_agent_asked_that_is_gone_is_withdrawn_by_whatever_comes_next() {
    let (mut live, _calls, _news) = begun().await;
    live.handle_updates(Some(ask(1))).await;
    live.agent = None;
    let refused =
        live.decide(Some(Command::Answer { request: Request(1), answer: person("y") }), Timestamp::from_millis(1));
    assert!(matches!(refused, Err(SubmitError::Rejected(_))), "{refused:?}");
    live.write_pending(Some(Command::Observe)).await;
    assert!(live.stored.session().unwrap().row.open_requests.is_empty());
}

#[tokio::test]
async fn what_is_forgotten_while_it_is_asked_answers_nothing() {
    let (mut live, _calls, _news) = begun().await;
    live.prompt("go on").await;
    let shared = Arc::clone(&live.shared);
    let id = RememberedId::from_bytes([1; 16]);
    shared.journal.remembered.apply(&[RowChange::PutRemembered(RememberedRow {
        id,
        project: "/".to_owned(),
        cwd: "/".to_owned(),
        agent: "played".to_owned(),
        kind: ToolKind::Execute,
        subject: "make".to_owned(),
        digest: "d".to_owned(),
        decision: RememberedDecision::Allow,
        by: Answerer::Nobody,
        remembered_at: Timestamp::from_millis(0),
    })]);
    live.handle_updates(Some(ask(1))).await;
    let is_answered = |event: &SessionEvent| matches!(event, SessionEvent::PermissionAnswered { .. });
    assert_eq!(live.events().await.into_iter().filter(is_answered).count(), 1);

    // Somebody is just forgetting it.
    let guard = shared.server_stream.lock().await;
    let (store, session) = (Arc::clone(&shared.store), live.id);
    let forget = async {
        let asked = async || {
            let entries = store.read_session(session, Seq::START, 1_000).await.unwrap();
            entries.iter().filter(|entry| matches!(entry.event, SessionEvent::PermissionAsked { .. })).count()
        };
        while asked().await < 2 {
            tokio::task::yield_now().await;
        }
        shared.journal.remembered.apply(&[RowChange::RemoveRemembered { id }]);
        drop(guard);
    };
    tokio::join!(live.handle_updates(Some(ask(2))), forget);
    assert_eq!(live.events().await.into_iter().filter(is_answered).count(), 1);
}

/// What the agent said of its turn's end is not taken for an interruption.
#[tokio::test]
async fn an_end_that_was_held_back_is_written_when_the_server_stops() {
    for (waiting, expected) in [(false, Outcome::Completed), (true, Outcome::Interrupted)] {
        let (mut live, _calls, _news) = begun().await;
        live.prompt("go on").await;
        if waiting {
            live.prompt("and this").await;
        }
        let report = AgentReport::Stopped(Stop { outcome: Outcome::Completed, reason: None });
        live.held_end = Some(HeldEnd { report, until: Instant::now() + RETRY_AFTER });
        let (shared, id) = (Arc::clone(&live.shared), live.id);
        shared.stopping.cancel();
        live.end().await;
        let entries = shared.store.read_session(id, Seq::START, 1_000).await.unwrap();
        let ends = entries.into_iter().filter_map(|entry| match entry.event {
            SessionEvent::TurnEnded { stop, .. } => Some(stop.outcome),
            _ => None,
        });
        assert!(ends.eq([expected]), "{expected:?}");
    }
}
