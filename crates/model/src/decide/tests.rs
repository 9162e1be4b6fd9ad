//! Scenarios: a line a command, and the events they become, a line each. A refusal is a line with `!`.

mod asking;
mod choosing;
mod outputs;
mod properties;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use uuid::Uuid;

use super::decide;
use crate::{
    AgentReport, AgentState, Answerer, Attached, Author, Command, Entry, InteractionId, Memory, NewSession, Outcome,
    PermissionAnswer, PermissionKind, PermissionOption, Question, RememberedId, Request, RowChange, Seq, Session,
    SessionEvent, SessionId, SessionState, Stop, Timestamp, ToolChange, ToolKind, Transcript, Turn, Untold, WhenBusy,
    fold_session,
};

fn interaction(number: u128) -> InteractionId {
    InteractionId::from_uuid(Uuid::from_u128(number))
}

/// `prompt 1 words`: the number is the interaction's.
fn parse(line: &str) -> Command {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let numbered = || {
        let (number, text) = rest.split_once(' ').unwrap_or((rest, ""));
        (interaction(number.parse().unwrap()), text.to_owned())
    };
    match word {
        "create" => Command::Create(NewSession {
            agent: "guide".to_owned(),
            cwd: "/w".to_owned(),
            project: "/w".to_owned(),
            name: rest.to_owned(),
            ..NewSession::default()
        }),
        "name" => Command::Change {
            name: Some(rest.to_owned()),
            env_hint: None,
            context: None,
            filing: crate::FilingWish::default(),
        },
        // `archive true`, `pin false`
        "archive" | "pin" => {
            let wish = rest.parse().ok();
            let (archived, pinned) = if word == "archive" { (wish, None) } else { (None, wish) };
            let filing = crate::FilingWish { pinned, archived, tags: None };
            Command::Change { name: None, env_hint: None, context: None, filing }
        }
        "prompt" | "prompt!" => {
            let (interaction_id, text) = numbered();
            let when_busy = if word == "prompt" { WhenBusy::Queue } else { WhenBusy::Reject };
            Command::SendPrompt { interaction_id, text, images: Vec::new(), when_busy, by: Author::default() }
        }
        "rewrite" => {
            let (interaction_id, text) = numbered();
            Command::ChangePrompt { interaction_id, text, by: Author::default() }
        }
        "remove" => Command::RemovePrompt { interaction_id: numbered().0 },
        // `fork 2`
        "fork" => Command::Fork {
            turn: Turn(rest.parse().unwrap()),
            session: SessionId::from_uuid(Uuid::from_u128(8)),
            by: Answerer::Policy { rule: "test".to_owned() },
        },
        "cancel" => Command::Cancel,
        "observe" => Command::Observe,
        "delete" => Command::Delete,
        "restore" => Command::Restore,
        "ready" => Command::Agent(AgentReport::Ready { attached: None }),
        // `attach new`, `attach resumed`
        "attach" => {
            let memory = if rest == "new" { Memory::New } else { Memory::Resumed };
            let attached = Attached { agent_session: "s1".to_owned(), memory, program: None };
            Command::Agent(AgentReport::Ready { attached: Some(attached) })
        }
        "signed-out" => Command::Agent(AgentReport::SignedOut { methods: Vec::new() }),
        "silent" => Command::Agent(AgentReport::Unresponsive),
        "ask" => Command::Agent(AgentReport::Asked(question(rest))),
        // All that the tool is given is told.
        "ask-exactly" => {
            let question = Question { digest: Some(rest.repeat(2)), ..question(rest) };
            Command::Agent(AgentReport::Asked(question))
        }
        "answer" | "remember" => {
            let (request, option) = rest.split_once(' ').unwrap();
            let (option, by) = (Some(option.to_owned()), Answerer::Policy { rule: "test".to_owned() });
            let remembered = (word == "remember").then(|| RememberedId::from_uuid(Uuid::from_u128(9)));
            let answer = PermissionAnswer { option, kind: None, fields: None, by, remembered };
            Command::Answer { request: request.parse().unwrap(), answer }
        }
        "tool" => Command::Agent(AgentReport::ToolStarted {
            tool: 1,
            call_id: "c1".to_owned(),
            change: ToolChange { title: Some(rest.to_owned()), ..ToolChange::default() },
        }),
        "resume" => Command::Resume { agent: Some(rest.to_owned()).filter(|agent| !agent.is_empty()) },
        "tell" => Command::SendPacket { text: rest.to_owned() },
        "gone" => Command::Agent(AgentReport::Gone),
        "say" => Command::Agent(AgentReport::Text { block: 0, text: rest.to_owned() }),
        "done" => stopped(Outcome::Completed),
        "cancelled" => stopped(Outcome::Cancelled),
        "crash" => Command::Agent(AgentReport::Failed { reason: "exit 1".to_owned() }),
        "restart" => Command::Interrupt { reason: "server_restart".to_owned() },
        other => panic!("no such line: {other}"),
    }
}

fn question(title: &str) -> Question {
    let option = |id: &str, kind| PermissionOption { id: id.to_owned(), name: id.to_owned(), kind };
    Question {
        tool: None,
        title: title.to_owned(),
        kind: ToolKind::Execute,
        subject: Some("make".to_owned()),
        digest: None,
        options: vec![option("yes", PermissionKind::AllowOnce), option("no", PermissionKind::RejectOnce)],
        said: None,
        form: None,
    }
}

fn stopped(outcome: Outcome) -> Command {
    Command::Agent(AgentReport::Stopped(Stop { outcome, reason: None }))
}

/// A stream that grows by commands.
#[derive(Default)]
struct History {
    session: Option<Session>,
    entries: Vec<Entry>,
    rows: Vec<RowChange>,
}

impl History {
    const ID: u128 = 7;

    fn run(&mut self, command: Command) -> Result<Vec<SessionEvent>, super::Rejection> {
        let events = decide(self.session.as_ref(), command)?;
        for event in &events {
            let seq = Seq(self.entries.len() as u64 + 1);
            let at = Timestamp::from_millis(i64::try_from(seq.0).unwrap() * 1_000);
            let entry = Entry { seq, at, event: event.clone() };
            let id = SessionId::from_uuid(Uuid::from_u128(Self::ID));
            let rows;
            (self.session, rows) = fold_session(id, self.session.take(), entry.borrowed());
            self.rows.extend(rows);
            self.entries.push(entry);
        }
        Ok(events)
    }
}

fn show(event: &SessionEvent) -> String {
    let json = serde_json::to_value(event).unwrap();
    // Prompts are a person's here.
    let person = serde_json::json!(Author::default());
    let data = json["data"].as_object().unwrap().iter().filter(|(_, value)| **value != person);
    let data: BTreeMap<&String, &serde_json::Value> = data.collect();
    let words = data.into_iter().map(|(key, value)| match value.as_str() {
        // Interactions are numbers here.
        Some(text) if key == "interactionId" => format!("#{}", text.trim_start_matches(['0', '-'])),
        Some(text) => text.to_owned(),
        None => value.to_string(),
    });
    [json["type"].as_str().unwrap().to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(script: &str, expected: &str) {
    let mut history = History::default();
    let mut seen = String::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match history.run(parse(line)) {
            Ok(events) => events.iter().for_each(|event| writeln!(seen, "{}", show(event)).unwrap()),
            Err(rejection) => writeln!(seen, "! {rejection}").unwrap(),
        }
    }
    let state = history.session.map_or("no session".to_owned(), |session| {
        format!("{:?}{}", session.row.state(), if session.row.unobserved() { " unobserved" } else { "" })
    });
    writeln!(seen, "= {state}").unwrap();
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(seen.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_prompt_to_a_ready_agent_is_a_turn() {
    check(
        "
        create
        ready
        prompt 1 fix it
        say Looking
        done
        ",
        "
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed ready
        turn.started #1 1
        prompt.sent #1 fix it
        text.part 0 Looking 1
        turn.ended completed 1
        = Idle unobserved
        ",
    );
}

#[test]
fn a_prompt_before_the_agent_is_ready_waits_for_it() {
    check(
        "
        create
        prompt 1 early
        ready
        ",
        "
        session.created guide /w  /w
        agent.state_changed starting
        prompt.queued #1 early
        agent.state_changed ready
        turn.started #1 1
        prompt.sent #1 early
        = Running
        ",
    );
}

#[test]
fn prompts_that_meet_a_turn_wait_or_are_refused() {
    check(
        "
        create
        ready
        prompt 1 first
        prompt 2 second
        prompt! 3 now
        rewrite 2 second, better
        rewrite 9 nobody
        prompt 4 third
        remove 4
        remove 4
        cancel
        cancelled
        done
        cancel
        observe
        observe
        ",
        "
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed ready
        turn.started #1 1
        prompt.sent #1 first
        prompt.queued #2 second
        ! a turn is running; wait for its end or stop it
        prompt.changed #2 second, better
        ! the prompt is not waiting in the queue; it may have been sent or removed
        prompt.queued #4 third
        prompt.removed #4
        ! the prompt is not waiting in the queue; it may have been sent or removed
        turn.ended cancelled 1
        turn.started #2 2
        prompt.sent #2 second, better
        turn.ended completed 2
        ! no turn is running
        session.observed
        = Idle
        ",
    );
}

/// A fork leaves the session as it is, but for a note: also while a turn runs, from any turn that has ended.
#[test]
fn a_fork_is_noted_and_changes_nothing_else() {
    check(
        "
        create
        ready
        fork 0
        prompt 1 first
        fork 1
        done
        fork 1
        fork 2
        prompt 2 second
        fork 1
        fork 2
        done
        delete
        fork 1
        ",
        "
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed ready
        session.forked {\"type\":\"policy\",\"rule\":\"test\"} 00000000-0000-0000-0000-000000000008 0
        turn.started #1 1
        prompt.sent #1 first
        ! t1 is still running; fork from the turn before it, or wait for its end
        turn.ended completed 1
        session.forked {\"type\":\"policy\",\"rule\":\"test\"} 00000000-0000-0000-0000-000000000008 1
        ! there is no turn t2; the newest is t1
        turn.started #2 2
        prompt.sent #2 second
        session.forked {\"type\":\"policy\",\"rule\":\"test\"} 00000000-0000-0000-0000-000000000008 1
        ! t2 is still running; fork from the turn before it, or wait for its end
        turn.ended completed 2
        session.deleted
        ! the session was deleted; restore it first
        = Idle
        ",
    );
}

#[test]
fn a_restart_interrupts_and_sends_nothing_by_itself() {
    check(
        "
        create
        ready
        prompt 1 first
        prompt 2 waits
        restart
        prompt 3 go on
        ready
        ",
        "
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed ready
        turn.started #1 1
        prompt.sent #1 first
        prompt.queued #2 waits
        turn.ended interrupted server_restart 1
        agent.state_changed server_restart stopped
        prompt.queued #3 go on
        agent.state_changed starting
        agent.state_changed ready
        turn.started #2 2
        prompt.sent #2 waits
        = Running unobserved
        ",
    );
}

#[test]
fn an_interrupted_session_says_so_until_the_next_turn() {
    check(
        "create\nready\nprompt 1 first\nrestart",
        "
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed ready
        turn.started #1 1
        prompt.sent #1 first
        turn.ended interrupted server_restart 1
        agent.state_changed server_restart stopped
        = Interrupted unobserved
        ",
    );
}

#[test]
fn an_agent_that_breaks_fails_its_turn_and_a_prompt_starts_it_again() {
    check(
        "
        create
        ready
        prompt 1 first
        crash
        prompt 2 again
        ",
        "
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed ready
        turn.started #1 1
        prompt.sent #1 first
        turn.ended failed exit 1 1
        agent.state_changed exit 1 failed
        prompt.queued #2 again
        agent.state_changed starting
        = Starting unobserved
        ",
    );
}

#[test]
fn a_deleted_session_only_comes_back() {
    check(
        "
        create
        ready
        prompt 1 first
        delete
        done
        delete
        name new
        prompt 2 more
        say late words
        restart
        restore
        restore
        name new
        name new
        ",
        "
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed ready
        turn.started #1 1
        prompt.sent #1 first
        ! a turn is running; wait for its end or stop it
        turn.ended completed 1
        session.deleted
        ! the session was deleted; restore it first
        ! the session was deleted; restore it first
        session.restored
        ! the session is not deleted
        session.changed new
        = Idle unobserved
        ",
    );
}

#[test]
fn what_breaks_a_limit_is_refused_whole() {
    let mut history = History::default();
    history.run(parse("create")).unwrap();
    let long = "x".repeat(crate::MAX_PROMPT_BYTES + 1);
    let refused = [
        parse("name a\u{7}b"),
        parse(&format!("name {}", "ä".repeat(201))),
        parse("prompt 1  \t "),
        parse(&format!("prompt 1 {long}")),
        Command::Change {
            name: None,
            env_hint: Some("x".repeat(2_001)),
            context: None,
            filing: crate::FilingWish::default(),
        },
        Command::Change {
            name: Some("good".to_owned()),
            env_hint: Some("\u{1b}[31m".to_owned()),
            context: None,
            filing: crate::FilingWish::default(),
        },
    ];
    let before = history.entries.len();
    for command in refused {
        history.run(command.clone()).expect_err(&format!("{command:?}"));
    }
    for number in 0..crate::MAX_QUEUED_PROMPTS {
        history.run(parse(&format!("prompt {number} waits"))).unwrap();
    }
    assert_eq!(history.run(parse("prompt 99 too many")), Err(super::Rejection::QueueFull));
    assert_eq!(history.entries.len(), before + crate::MAX_QUEUED_PROMPTS);
}

#[test]
fn what_waits_is_bounded_in_bytes() {
    let mut history = History::default();
    history.run(parse("create")).unwrap();
    let most = "x".repeat(crate::MAX_QUEUED_BYTES - 10);
    history.run(parse(&format!("prompt 1 {most}"))).unwrap();
    history.run(parse("prompt 2 fits")).unwrap();
    assert_eq!(history.run(parse("prompt 3 does not fit")), Err(super::Rejection::QueueFull));
    assert_eq!(history.run(parse("rewrite 2 does not fit")), Err(super::Rejection::QueueFull));
    history.run(parse("rewrite 1 short")).unwrap();
    history.run(parse("prompt 3 does fit now")).unwrap();
}

/// As when the server ended while the agent started or worked and the session was deleted in between.
#[test]
fn an_agent_that_is_gone_leaves_a_session_that_can_go_on() {
    check(
        "
        create
        gone
        prompt 1 first
        ready
        gone
        gone
        ",
        "
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed agent_gone stopped
        prompt.queued #1 first
        agent.state_changed starting
        agent.state_changed ready
        turn.started #1 1
        prompt.sent #1 first
        turn.ended interrupted agent_gone 1
        agent.state_changed agent_gone stopped
        = Interrupted unobserved
        ",
    );
}

#[test]
fn another_agent_takes_over_between_turns_and_is_told() {
    check(
        "
        create
        attach new
        prompt 1 go
        resume codex
        done
        resume codex
        attach new
        prompt 2 on
        tell before: go
        done
        resume codex
        resume guide
        ",
        r#"
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed {"agentSession":"s1","memory":"new"} ready
        turn.started #1 1
        prompt.sent #1 go
        ! a turn is running; wait for its end or stop it
        turn.ended completed 1
        agent.state_changed handed_over stopped
        session.changed codex
        agent.state_changed starting
        agent.state_changed {"agentSession":"s1","memory":"new"} ready
        turn.started #2 2
        prompt.sent #2 on
        resume.sent before: go 2
        turn.ended completed 2
        agent.state_changed handed_over stopped
        session.changed guide
        agent.state_changed starting
        = Starting unobserved
        "#,
    );
}

#[test]
fn who_must_sign_in_is_tried_again_with_the_next_prompt() {
    check(
        "
        create
        prompt 1 go
        signed-out
        restart
        prompt 2 on
        attach resumed
        ",
        r#"
        session.created guide /w  /w
        agent.state_changed starting
        prompt.queued #1 go
        agent.state_changed signed_out
        prompt.queued #2 on
        agent.state_changed starting
        agent.state_changed {"agentSession":"s1","memory":"resumed"} ready
        turn.started #1 1
        prompt.sent #1 go
        = Running unobserved
        "#,
    );
}

#[test]
fn what_comes_after_a_turn_is_kept_as_it_came() {
    check(
        "
        create
        ready
        say early
        tool early
        ",
        r#"
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed ready
        agent.raw {"late":{"text":"early"}}
        agent.raw {"late":{"tool":{"title":"early"}}}
        = Idle
        "#,
    );
}

/// Who asks is the author, whatever the words say; whoever rewrites a prompt that waits is its author from then on.
#[test]
fn a_prompt_is_by_whoever_wrote_its_words() {
    let phone = Author::Person { token_id: None, name: "phone".to_owned() };
    let agent = Author::Agent { session: "a-1".to_owned() };
    let text = "[agent:x] go".to_owned();
    let send = |number, by: &Author| Command::SendPrompt {
        interaction_id: interaction(number),
        text: text.clone(),
        images: Vec::new(),
        when_busy: WhenBusy::Queue,
        by: by.clone(),
    };
    let mut history = History::default();
    for command in [parse("create"), parse("ready"), send(1, &phone), send(2, &agent), send(3, &agent)] {
        history.run(command).unwrap();
    }
    let rewrite = Command::ChangePrompt { interaction_id: interaction(3), text: text.clone(), by: phone.clone() };
    for command in [rewrite, parse("done"), parse("done"), parse("done")] {
        history.run(command).unwrap();
    }
    let sent = history.entries.iter().filter_map(|entry| match &entry.event {
        SessionEvent::PromptSent { text, by, .. } => Some((text, by)),
        _ => None,
    });
    assert_eq!(sent.collect::<Vec<_>>(), [(&text, &phone), (&text, &agent), (&text, &phone)]);
    assert_eq!(history.session.unwrap().row.first_prompt, text);
}

#[test]
fn pictures_are_bounded_and_of_known_kinds() {
    let prompt = |images: Vec<crate::Image>| Command::SendPrompt {
        interaction_id: interaction(1),
        text: "see".to_owned(),
        images,
        when_busy: WhenBusy::Queue,
        by: Author::default(),
    };
    let image = |kind: &str, data: String| crate::Image { mime_type: kind.to_owned(), data, body: None };
    let mut history = History::default();
    history.run(parse("create")).unwrap();
    for bad in [
        vec![image("image/svg+xml", "aGk=".to_owned())],
        vec![image("image/png", String::new())],
        vec![image("image/png", "not base64!".to_owned())],
        vec![image("image/png", "A".repeat(crate::MAX_IMAGE_BYTES + 1))],
        vec![image("image/png", "aGk=".to_owned()); crate::MAX_IMAGES + 1],
    ] {
        assert_eq!(history.run(prompt(bad)), Err(super::Rejection::ImagesInvalid));
    }
    history.run(prompt(vec![image("image/png", "aGk=".to_owned())])).unwrap();
}

#[test]
fn a_picture_without_words_is_a_prompt_and_nothing_at_all_is_none() {
    let prompt = |number: u128, images: Vec<crate::Image>| Command::SendPrompt {
        interaction_id: interaction(number),
        text: " ".to_owned(),
        images,
        when_busy: WhenBusy::Queue,
        by: Author::default(),
    };
    let picture = crate::Image { mime_type: "image/png".to_owned(), data: "aGk=".to_owned(), body: None };
    let mut history = History::default();
    history.run(parse("create")).unwrap();
    assert_eq!(history.run(prompt(1, Vec::new())), Err(super::Rejection::PromptEmpty));
    history.run(prompt(1, vec![picture])).unwrap();
    // It waits for its agent, and its words may be taken away.
    let change = |number| Command::ChangePrompt {
        interaction_id: interaction(number),
        text: String::new(),
        by: Author::default(),
    };
    history.run(change(1)).unwrap();
    history.run(parse("prompt 2 words alone")).unwrap();
    assert_eq!(history.run(change(2)), Err(super::Rejection::PromptEmpty));
}

#[test]
fn a_null_that_a_tool_was_given_is_nothing() {
    let mut history = History::default();
    for line in ["create", "ready", "prompt 1 go"] {
        history.run(parse(line)).unwrap();
    }
    let null = Some(serde_json::Value::Null);
    let change = ToolChange { input: null.clone(), output: null, ..ToolChange::default() };
    let report = AgentReport::ToolChanged { tool: 1, change };
    assert_eq!(history.run(Command::Agent(report)), Ok(Vec::new()));
}

#[test]
fn long_words_are_several_entries() {
    let mut history = History::default();
    for line in ["create", "ready", "prompt 1 go"] {
        history.run(parse(line)).unwrap();
    }
    let words = "a € ".repeat(100_000);
    let said = |history: &mut History| {
        history.run(Command::Agent(AgentReport::Text { block: 0, text: words.clone() })).unwrap()
    };
    let text_of = |event: &SessionEvent| match event {
        SessionEvent::TextPart { turn: Turn(1), block: 0, text } => text.clone(),
        SessionEvent::AgentRaw { message } => message["late"]["text"].as_str().unwrap().to_owned(),
        other => panic!("{other:?}"),
    };
    // In a turn as after it: nothing is lost, and no entry is long.
    for _ in 0..2 {
        let parts: Vec<String> = said(&mut history).iter().map(text_of).collect();
        assert!(parts.len() > 1 && parts.iter().all(|part| part.len() <= crate::MAX_PART_BYTES));
        assert!(parts.concat() == words);
        history.run(stopped(Outcome::Completed)).unwrap();
    }
}

/// What an agent that takes over calls the session is what it was told last.
#[test]
fn an_agents_first_title_stays() {
    let title = |text: &str| AgentReport::Title(text.to_owned());
    let mut session = Session::begin(SessionId::from_bytes([1; 16]), first_entry().borrowed()).unwrap();
    let tell = |session: &mut Session, report| {
        let events = decide(Some(session), Command::Agent(report)).unwrap();
        for event in events {
            let entry = Entry { seq: session.head.next(), at: Timestamp::from_millis(0), event };
            session.apply(entry.borrowed());
        }
        session.row.title.clone()
    };
    for told in [
        "[Session resumed. This is",
        "[The next step of a piece of work, in",
        "[Context from Throughline about the earlier turns of",
        "[Context from Throughline about the work that this",
    ] {
        assert_eq!(tell(&mut session, title(told)), "");
    }
    assert_eq!(tell(&mut session, title("Fix the bell")), "Fix the bell");
    assert_eq!(tell(&mut session, title("Fix the old bell")), "Fix the old bell", "still its first turn");
    session.row.turns = Turn(7);
    assert_eq!(tell(&mut session, title("go on")), "Fix the old bell");
}

fn first_entry() -> Entry {
    let (agent, cwd) = ("guide".to_owned(), "/w".to_owned());
    let event = SessionEvent::SessionCreated {
        agent,
        cwd: cwd.clone(),
        project: cwd,
        name: String::new(),
        work: None,
        from: None,
        options: std::collections::BTreeMap::new(),
    };
    Entry { seq: Seq(1), at: Timestamp::from_millis(0), event }
}

/// An agent that forgot is reminded with the next prompt, once; one that began anew is told all.
#[test]
fn what_an_agent_has_to_be_told_follows_from_what_it_forgot() {
    let mut session = Session::begin(SessionId::from_bytes([1; 16]), first_entry().borrowed()).unwrap();
    let attached = |memory| AgentReport::Ready {
        attached: Some(Attached { agent_session: "s".to_owned(), memory, program: None }),
    };
    let prompt = || Command::SendPrompt {
        interaction_id: interaction(1),
        text: "go".to_owned(),
        images: Vec::new(),
        when_busy: WhenBusy::Queue,
        by: Author::default(),
    };
    let done = || Command::Agent(AgentReport::Stopped(Stop { outcome: Outcome::Completed, reason: None }));
    let compacted = || Command::Agent(AgentReport::Compacted { summary: None });
    for (command, untold) in [
        (Command::Agent(attached(Memory::New)), Untold::Nothing),
        (prompt(), Untold::Nothing),
        (compacted(), Untold::Essentials),
        (Command::SendPacket { text: "reminded".to_owned() }, Untold::Nothing),
        (done(), Untold::Nothing),
        (Command::Agent(attached(Memory::Resumed)), Untold::Essentials),
        (Command::Agent(attached(Memory::New)), Untold::Everything),
        (compacted(), Untold::Everything),
        (prompt(), Untold::Everything),
        (Command::SendPacket { text: "told".to_owned() }, Untold::Nothing),
    ] {
        for event in decide(Some(&session), command.clone()).unwrap() {
            let entry = Entry { seq: session.head.next(), at: Timestamp::from_millis(0), event };
            session.apply(entry.borrowed());
        }
        assert_eq!(session.row.untold, untold, "after {command:?}");
    }
}

/// Out of sight is seen, unless its agent asks; and what happens in it brings it back.
#[test]
fn an_archived_session_comes_back_when_something_happens_in_it() {
    check(
        "
        create
        ready
        prompt 1 go
        done
        archive true
        archive true
        pin true
        prompt 2 again
        archive false
        ask May I?
        archive true
        answer p1 yes
        archive true
        done
        archive false
        ",
        "
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed ready
        turn.started #1 1
        prompt.sent #1 go
        turn.ended completed 1
        session.changed true
        session.observed
        session.changed true
        turn.started #2 2
        prompt.sent #2 again
        permission.asked execute [{\"id\":\"yes\",\"name\":\"yes\",\"kind\":\"allow_once\"},{\"id\":\"no\",\"name\":\"no\",\"kind\":\"reject_once\"}] 1 make May I? 2
        ! its agent waits for an answer; answer it or stop the turn, then archive the session
        permission.answered {\"type\":\"policy\",\"rule\":\"test\"} allow_once yes 1 2
        session.changed true
        turn.ended completed 2
        = Idle unobserved
        ",
    );
}
