//! The turn that runs, as far as its summary needs it: how the prompt and the answer begin, what was done last, and how
//! much there is.
//!
//! Invariant: bounded, whatever an agent says; a function of the turn's entries, so a turn that was cut off by a restart
//! gets the same line from the log that it would have got live.

use crate::contents::summary_with_call;
use crate::{Extent, Request, SessionEvent, SummaryMaker, ToolChange, ToolKind, ToolStatus, Turn, TurnSummary};

/// How much of a prompt and of an answer is kept.
const KEPT_BYTES: usize = 16 << 10;
/// How much of a call's title is kept.
const KEPT_TITLE_BYTES: usize = 512;
/// So many calls are followed at a time. Agents rarely run more at once; of more, the oldest are forgotten.
const KEPT_CALLS: usize = 16;

/// A turn that runs, or has just ended.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    turn: Turn,
    prompt: String,
    response: String,
    /// The calls that have not ended, oldest first.
    open_calls: Vec<Call>,
    /// Of the calls that ran a command or changed a file and succeeded, the one that ended last.
    last_call: Option<Call>,
    extent: Extent,
}

/// A call, as far as it may name the turn. Agents say these things of it one by one and in any order.
#[derive(Debug, Clone, Default)]
struct Call {
    tool: u32,
    title: String,
    /// It is of a kind that runs a command or changes a file.
    acts: bool,
    /// The newest question about it.
    asked: Option<Request>,
    /// The newest answer was no. What an agent then calls completed was not done.
    is_refused: bool,
}

impl Digest {
    /// Takes in the next event of the session; other turns' events begin a new digest or are left out.
    pub fn apply(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::TurnStarted { turn, .. } => *self = Self { turn: *turn, ..Self::default() },
            SessionEvent::PromptSent { text, .. } => {
                self.extent.prompt = chars(text);
                self.prompt = text[..text.floor_char_boundary(KEPT_BYTES)].to_owned();
            }
            SessionEvent::TextPart { turn, text, .. } if *turn == self.turn => {
                self.extent.response = self.extent.response.saturating_add(chars(text));
                let room = KEPT_BYTES.saturating_sub(self.response.len());
                self.response.push_str(&text[..text.floor_char_boundary(room)]);
            }
            SessionEvent::ToolStarted { turn, tool, change, .. } if *turn == self.turn => {
                self.extent.tools += 1;
                if self.open_calls.len() == KEPT_CALLS {
                    self.open_calls.remove(0);
                }
                self.open_calls.push(Call { tool: *tool, ..Call::default() });
                self.change_call(*tool, change);
            }
            SessionEvent::ToolChanged { turn, tool, change } if *turn == self.turn => self.change_call(*tool, change),
            SessionEvent::ToolEnded { turn, tool, change } if *turn == self.turn => {
                self.change_call(*tool, change);
                self.end_call(*tool, change.status);
            }
            SessionEvent::PermissionAsked { turn: Some(turn), request, question } if *turn == self.turn => {
                if let Some(call) = self.open_calls.iter_mut().find(|call| Some(call.tool) == question.tool) {
                    call.asked = Some(*request);
                }
            }
            SessionEvent::PermissionAnswered { turn: Some(turn), request, answer } if *turn == self.turn => {
                if let Some(call) = self.open_calls.iter_mut().find(|call| call.asked == Some(*request)) {
                    call.is_refused = answer.refuses();
                }
            }
            _ => (),
        }
    }

    /// Takes in what is new of a call; a title may also come after its end.
    fn change_call(&mut self, tool: u32, change: &ToolChange) {
        let Some(call) = self.open_calls.iter_mut().chain(&mut self.last_call).find(|call| call.tool == tool) else {
            return;
        };
        if let Some(kind) = change.kind {
            call.acts = acts(kind);
        }
        if let Some(title) = &change.title {
            title[..title.floor_char_boundary(KEPT_TITLE_BYTES)].clone_into(&mut call.title);
        }
    }

    /// Only a call that succeeded may name the turn. An end without a status is no failure.
    fn end_call(&mut self, tool: u32, status: Option<ToolStatus>) {
        let Some(at) = self.open_calls.iter().position(|call| call.tool == tool) else { return };
        let call = self.open_calls.remove(at);
        let succeeded = status.is_none_or(|status| status == ToolStatus::Completed) && !call.is_refused;
        if succeeded && call.acts && !call.title.is_empty() {
            self.last_call = Some(call);
        }
    }

    /// What the turn was about, if this is the digest of that turn.
    pub fn summary(&self, turn: Turn) -> Option<TurnSummary> {
        let call_title = self.last_call.as_ref().map_or("", |call| &call.title);
        let summary = || summary_with_call(&self.prompt, &self.response, call_title);
        (self.turn == turn).then(|| TurnSummary {
            turn,
            summary: summary(),
            by: SummaryMaker::Extract,
            extent: Some(self.extent),
        })
    }

    /// How the prompt and the answer begin.
    pub fn words(&self) -> (&str, &str) {
        (&self.prompt, &self.response)
    }
}

/// Whether a call of this kind runs a command or changes a file.
fn acts(kind: ToolKind) -> bool {
    match kind {
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move | ToolKind::Execute => true,
        ToolKind::Read
        | ToolKind::Search
        | ToolKind::Think
        | ToolKind::Fetch
        | ToolKind::SwitchMode
        | ToolKind::Other => false,
    }
}

fn chars(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompt: &str, events: &[String], expected: &str) {
        let mut digest = Digest::default();
        let begin = [
            r#"{"type":"turn.started","data":{"turn":1,"interactionId":"01890a5d-ac96-774b-bcce-b302099a8057"}}"#
                .to_owned(),
            format!(
                r#"{{"type":"prompt.sent","data":{{"interactionId":"01890a5d-ac96-774b-bcce-b302099a8057","text":"{prompt}","by":{{"type":"person"}}}}}}"#
            ),
        ];
        for event in begin.iter().chain(events) {
            digest.apply(&serde_json::from_str(event).unwrap());
        }
        assert_eq!(digest.summary(Turn(1)).unwrap().summary, expected, "{prompt}");
    }

    fn started(tool: u32, rest: &str) -> String {
        format!(r#"{{"type":"tool.started","data":{{"turn":1,"tool":{tool},"callId":"{tool}",{rest}}}}}"#)
    }

    fn changed(tool: u32, rest: &str) -> String {
        format!(r#"{{"type":"tool.changed","data":{{"turn":1,"tool":{tool},{rest}}}}}"#)
    }

    fn ended(tool: u32, rest: &str) -> String {
        format!(r#"{{"type":"tool.ended","data":{{"turn":1,"tool":{tool},{rest}}}}}"#)
    }

    fn asked_and_answered(tool: u32, request: u32, answer: &str) -> [String; 2] {
        let of = format!(r#""turn":1,"request":{request}"#);
        let question = format!(r#""tool":{tool},"title":"May I?","kind":"execute","options":[]"#);
        let answer = format!(r#""option":"a","kind":"{answer}","by":{{"type":"policy","rule":"r"}}"#);
        [
            format!(r#"{{"type":"permission.asked","data":{{{of},{question}}}}}"#),
            format!(r#"{{"type":"permission.answered","data":{{{of},{answer}}}}}"#),
        ]
    }

    const EDIT: &str = r#""title":"Edit src/total.rs","kind":"edit""#;
    const TEST: &str = r#""title":"`cargo test -p model`","kind":"execute""#;
    const DONE: &str = r#""status":"completed""#;

    #[test]
    fn a_turn_that_only_says_how_it_ended_is_called_by_its_last_command_or_edit() {
        let events = [
            started(1, EDIT),
            ended(1, DONE),
            started(2, r#""title":"Terminal","kind":"execute""#),
            changed(2, r#""title":"`cargo test -p model`""#),
            ended(2, DONE),
            started(3, r#""title":"Read src/lib.rs","kind":"read""#),
            ended(3, r#""title":"Read all of src/lib.rs","status":"completed""#),
            r#"{"type":"text.part","data":{"turn":1,"block":1,"text":"It ended with exit code 0."}}"#.to_owned(),
        ];
        check("go on", &events, "cargo test -p model");
        check("run the tests of the model", &events, "run the tests of the model");
    }

    #[test]
    fn a_call_that_did_nothing_does_not_name_the_turn() {
        let edited = || vec![started(1, EDIT), ended(1, DONE), started(2, TEST)];
        let then = |more: &[String]| [edited(), more.to_vec()].concat();
        let refused = asked_and_answered(2, 1, "reject_once");
        let allowed = asked_and_answered(2, 2, "allow_once");
        check("go on", &then(&[]), "Edit src/total.rs");
        check("go on", &then(&[ended(2, r#""status":"failed""#)]), "Edit src/total.rs");
        check("go on", &then(&[ended(2, r#""status":"cancelled""#)]), "Edit src/total.rs");
        check("go on", &then(&[&refused[..], &[ended(2, DONE)]].concat()), "Edit src/total.rs");
        check("go on", &then(&[&refused[..], &allowed, &[ended(2, DONE)]].concat()), "cargo test -p model");
        check("go on", &then(&[ended(2, r#""output":"fine""#)]), "cargo test -p model");
    }

    #[test]
    fn kind_and_title_of_a_call_come_in_any_order() {
        let (title, kind) = (r#""title":"Edit src/total.rs""#, r#""kind":"edit""#);
        check("go on", &[started(1, title), changed(1, kind), ended(1, DONE)], "Edit src/total.rs");
        check("go on", &[started(1, kind), changed(1, title), ended(1, DONE)], "Edit src/total.rs");
        check("go on", &[started(1, title), ended(1, &format!("{kind},{DONE}"))], "Edit src/total.rs");
        check("go on", &[started(1, TEST), ended(1, DONE), changed(1, title)], "Edit src/total.rs");
        check("go on", &[started(1, EDIT), changed(1, r#""kind":"read""#), ended(1, DONE)], "go on");
    }

    #[test]
    fn of_calls_that_overlap_the_one_that_ended_last_names_the_turn() {
        let both = [started(1, EDIT), started(2, TEST)];
        check("go on", &[&both[..], &[ended(2, DONE), ended(1, DONE)]].concat(), "Edit src/total.rs");
        check("go on", &[&both[..], &[ended(1, DONE), ended(2, DONE)]].concat(), "cargo test -p model");
    }

    #[test]
    fn no_more_than_a_few_open_calls_are_followed() {
        let mut digest = Digest::default();
        let begin =
            r#"{"type":"turn.started","data":{"turn":1,"interactionId":"01890a5d-ac96-774b-bcce-b302099a8057"}}"#;
        let calls = (1..=100).map(|tool| started(tool, TEST));
        for event in [begin.to_owned()].into_iter().chain(calls) {
            digest.apply(&serde_json::from_str(&event).unwrap());
        }
        assert_eq!((digest.open_calls.len(), digest.extent.tools), (KEPT_CALLS, 100));
    }
}
