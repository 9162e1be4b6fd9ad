//! What an agent asks, in a turn and beside the turns, and how it is answered or withdrawn.

use super::*;

#[test]
fn an_answer_is_remembered_only_where_all_is_told() {
    check(
        "
        create
        ready
        prompt 1 go
        ask unclear
        remember p1 yes
        answer p1 yes
        ask-exactly ab
        remember p2 maybe
        remember p2 no
        ",
        r#"
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed ready
        turn.started #1 1
        prompt.sent #1 go
        permission.asked execute [{"id":"yes","name":"yes","kind":"allow_once"},{"id":"no","name":"no","kind":"reject_once"}] 1 make unclear 1
        ! nothing to remember: the agent asks for fields to be filled in, or does not tell all that it will use, so the same could not be known again; answer without remembering
        permission.answered {"type":"policy","rule":"test"} allow_once yes 1 1
        permission.asked abab execute [{"id":"yes","name":"yes","kind":"allow_once"},{"id":"no","name":"no","kind":"reject_once"}] 2 make ab 1
        ! the agent offers no such answer; choose one of: yes, no
        permission.answered {"type":"policy","rule":"test"} reject_once no 00000000-0000-0000-0000-000000000009 2 1
        = Running
        "#,
    );
}

#[test]
fn a_request_waits_for_one_answer_and_is_withdrawn_with_its_turn() {
    check(
        "
        create
        ready
        prompt 1 go
        ask first
        answer p1 maybe
        answer p1 yes
        answer p1 no
        ask second
        cancel
        answer p2 yes
        cancelled
        ",
        r#"
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed ready
        turn.started #1 1
        prompt.sent #1 go
        permission.asked execute [{"id":"yes","name":"yes","kind":"allow_once"},{"id":"no","name":"no","kind":"reject_once"}] 1 make first 1
        ! the agent offers no such answer; choose one of: yes, no
        permission.answered {"type":"policy","rule":"test"} allow_once yes 1 1
        ! p1 does not wait for an answer; it was answered or withdrawn
        permission.asked execute [{"id":"yes","name":"yes","kind":"allow_once"},{"id":"no","name":"no","kind":"reject_once"}] 2 make second 1
        permission.answered {"type":"nobody"} 2 1
        ! p2 does not wait for an answer; it was answered or withdrawn
        turn.ended cancelled 1
        = Idle unobserved
        "#,
    );
}

#[test]
fn an_agent_that_waits_for_a_person_is_not_silent() {
    check(
        "
        create
        ready
        silent
        prompt 1 go
        silent
        silent
        ask it
        ",
        r#"
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed ready
        turn.started #1 1
        prompt.sent #1 go
        agent.state_changed unresponsive
        agent.state_changed ready
        permission.asked execute [{"id":"yes","name":"yes","kind":"allow_once"},{"id":"no","name":"no","kind":"reject_once"}] 1 make it 1
        = NeedsYou
        "#,
    );
}

const OPTIONS: &str = r#"[{"id":"yes","name":"yes","kind":"allow_once"},{"id":"no","name":"no","kind":"reject_once"}]"#;

/// `check` with what can be answered left out of the expected lines.
#[track_caller]
fn check_asking(script: &str, expected: &str) {
    check(script, &expected.replace("permission.asked", &format!("permission.asked execute {OPTIONS}")));
}

#[test]
fn a_question_beside_the_turns_waits_like_one_of_a_turn_and_outlasts_it() {
    check_asking(
        "
        create
        ask early
        ready
        answer p1 maybe
        prompt 1 go
        ask of-the-turn
        done
        answer p1 yes
        answer p1 no
        ask late
        ",
        r#"
        session.created guide /w  /w
        agent.state_changed starting
        permission.asked 1 make early
        agent.state_changed ready
        ! the agent offers no such answer; choose one of: yes, no
        turn.started #1 1
        prompt.sent #1 go
        permission.asked 2 make of-the-turn 1
        permission.answered {"type":"nobody"} 2 1
        turn.ended completed 1
        permission.answered {"type":"policy","rule":"test"} allow_once yes 1
        ! p1 does not wait for an answer; it was answered or withdrawn
        permission.asked 3 make late
        = NeedsYou unobserved
        "#,
    );
}

#[test]
fn a_question_beside_the_turns_is_withdrawn_with_whatever_ends_its_agent() {
    let nobody = r#"permission.answered {"type":"nobody"} 1"#;
    for (end, then) in [
        ("cancel", ""),
        ("crash", "agent.state_changed exit 1 failed"),
        ("gone", "agent.state_changed agent_gone stopped"),
        ("restart", "agent.state_changed server_restart stopped"),
        ("signed-out", "agent.state_changed signed_out"),
        ("delete", "session.deleted"),
        (
            "resume codex",
            "agent.state_changed handed_over stopped\nsession.changed codex\nagent.state_changed starting",
        ),
    ] {
        let mut history = History::default();
        for line in ["create", "ready", "ask it"] {
            history.run(parse(line)).unwrap();
        }
        assert_eq!(history.session.as_ref().unwrap().row.state(), SessionState::NeedsYou);
        let events = history.run(parse(end)).unwrap();
        let seen: Vec<String> = events.iter().map(show).collect();
        let expected: Vec<&str> = [nobody].into_iter().chain(then.lines()).collect();
        assert_eq!(seen, expected, "{end}");
        assert!(history.run(parse("answer p1 yes")).is_err(), "{end}");
    }
}

/// What is asked while somebody signs in is of the process that is there; another one knows nothing of it.
#[test]
fn a_question_of_a_sign_in_ends_with_its_process() {
    check_asking(
        "
        create
        signed-out
        ask where
        prompt 1 go
        ",
        r#"
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed signed_out
        permission.asked 1 make where
        prompt.queued #1 go
        permission.answered {"type":"nobody"} 1
        agent.state_changed starting
        = Starting unobserved
        "#,
    );
}

#[test]
fn an_agent_that_is_not_there_asks_nothing() {
    check(
        "
        create
        gone
        ask it
        cancel
        ",
        "
        session.created guide /w  /w
        agent.state_changed starting
        agent.state_changed agent_gone stopped
        ! no turn is running
        = Idle
        ",
    );
}

#[test]
fn what_waits_beside_the_turns_is_bounded() {
    let mut history = History::default();
    for line in ["create", "ready"] {
        history.run(parse(line)).unwrap();
    }
    for _ in 0..crate::limits::MAX_OPEN_REQUESTS {
        assert_eq!(history.run(parse("ask it")).unwrap().len(), 1);
    }
    assert_eq!(history.run(parse("ask it")), Ok(Vec::new()));
    assert_eq!(history.session.unwrap().row.open_requests[0].aside, Some(Seq(4)));
}
