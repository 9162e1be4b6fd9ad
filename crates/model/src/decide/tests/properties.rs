//! What holds whatever is asked, in whatever order.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::*;

fn any_command() -> impl Strategy<Value = Command> {
    let lines = prop_oneof![
        Just("create"),
        Just("name a"),
        Just("name b"),
        Just("prompt 1 p"),
        Just("prompt 2 q"),
        Just("prompt! 3 r"),
        Just("rewrite 1 s"),
        Just("remove 2"),
        Just("cancel"),
        Just("observe"),
        Just("delete"),
        Just("restore"),
        Just("ready"),
        Just("gone"),
        Just("say x"),
        Just("done"),
        Just("cancelled"),
        Just("crash"),
        Just("restart"),
        Just("ask it"),
        Just("answer p1 yes"),
        Just("answer p2 no"),
        Just("signed-out"),
    ];
    lines.prop_map(parse)
}

fn known_open(history: &History) -> Vec<(Request, Option<Turn>)> {
    let Some(Session { row, .. }) = &history.session else { return Vec::new() };
    let running = row.running.map(|running| running.turn);
    row.open_requests.iter().map(|open| (open.request, open.turn(running))).collect()
}

/// What the entries leave open: each is answered once and as of the turn in which it was asked, and a turn ends, an agent
/// fails or stops and a session is deleted with nothing left open that belongs to it.
fn open_requests(entries: &[Entry]) -> Result<Vec<(Request, Option<Turn>)>, TestCaseError> {
    let mut open: Vec<(Request, Option<Turn>)> = Vec::new();
    for entry in entries {
        match &entry.event {
            SessionEvent::PermissionAsked { turn, request, .. } => open.push((*request, *turn)),
            SessionEvent::PermissionAnswered { turn, request, .. } => {
                let at = open.iter().position(|asked| asked == &(*request, *turn));
                prop_assert!(at.is_some(), "{request} of {turn:?} is not open");
                open.remove(at.unwrap());
            }
            SessionEvent::TurnEnded { turn, .. } => prop_assert!(open.iter().all(|(_, of)| *of != Some(*turn))),
            SessionEvent::SessionDeleted {} => prop_assert_eq!(&open, &[]),
            SessionEvent::AgentStateChanged { state: AgentState::Failed | AgentState::Stopped, .. } => {
                prop_assert_eq!(&open, &[]);
            }
            _ => (),
        }
    }
    Ok(open)
}

proptest! {
    /// Whatever is asked in whatever order: turns are 1, 2, 3 …, at most one is open, each has one prompt, and what
    /// runs after a restart is nothing.
    #[test]
    fn no_history_is_inconsistent(commands in proptest::collection::vec(any_command(), 0..60)) {
        let mut history = History::default();
        for command in commands {
            // Refusals are part of the history; they leave no trace.
            drop(history.run(command));
            let mut open = None;
            let mut newest = Turn(0);
            for entry in &history.entries {
                match &entry.event {
                    SessionEvent::TurnStarted { turn, interaction_id } => {
                        prop_assert_eq!(open, None);
                        prop_assert_eq!(*turn, newest.next());
                        newest = *turn;
                        open = Some((*turn, *interaction_id));
                    }
                    SessionEvent::PromptSent { interaction_id, .. } => prop_assert_eq!(open, Some((newest, *interaction_id))),
                    SessionEvent::TextPart { turn, .. } => prop_assert_eq!(open.map(|open| open.0), Some(*turn)),
                    SessionEvent::TurnEnded { turn, .. } => {
                        prop_assert_eq!(open.map(|open| open.0), Some(*turn));
                        open = None;
                    }
                    _ => (),
                }
            }
            let running = history.session.as_ref().and_then(|session| session.row.running);
            prop_assert_eq!(running.map(|running| (running.turn, running.interaction_id)), open);
            prop_assert_eq!(open_requests(&history.entries)?, known_open(&history));
        }
        if history.session.as_ref().is_some_and(|session| session.row.deleted_at.is_none()) {
            history.run(parse("restart")).unwrap();
            prop_assert_eq!(known_open(&history), []);
            prop_assert!(history.session.unwrap().row.running.is_none());
        }
    }

    /// Folding a prefix and then the rest gives what folding all gives.
    #[test]
    fn folds_do_not_depend_on_where_they_pause(
        commands in proptest::collection::vec(any_command(), 0..40),
        cut in 0usize..60,
    ) {
        let mut history = History::default();
        for command in commands {
            drop(history.run(command));
        }
        let cut = cut.min(history.entries.len());
        let mut whole = Transcript::default();
        history.entries.iter().for_each(|entry| whole.apply(entry));
        let mut paused = Transcript::default();
        history.entries[..cut].iter().for_each(|entry| paused.apply(entry));
        let json = serde_json::to_string(&paused).unwrap();
        let mut resumed: Transcript = serde_json::from_str(&json).unwrap();
        history.entries[cut..].iter().for_each(|entry| resumed.apply(entry));
        prop_assert_eq!(resumed, whole);
    }
}
