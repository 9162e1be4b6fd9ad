//! The turn that runs, as far as its summary needs it: how the prompt and the answer begin, what was done last, and how
//! much there is.
//!
//! Invariant: bounded, whatever an agent says; a function of the turn's entries, so a turn that was cut off by a restart
//! gets the same line from the log that it would have got live.

use crate::contents::summary_with_deed;
use crate::{Extent, SessionEvent, SummaryMaker, ToolChange, ToolKind, Turn, TurnSummary};

/// How much of a prompt and of an answer is kept.
const KEPT_BYTES: usize = 16 << 10;
/// How much of a call's title is kept.
const KEPT_TITLE_BYTES: usize = 512;

/// A turn that runs, or has just ended.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    turn: Turn,
    prompt: String,
    response: String,
    deed: Deed,
    extent: Extent,
}

/// The newest call that ran a command or changed a file.
#[derive(Debug, Clone, Default)]
struct Deed {
    tool: u32,
    title: String,
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
                self.note_deed(*tool, change);
            }
            SessionEvent::ToolChanged { turn, tool, change } | SessionEvent::ToolEnded { turn, tool, change }
                if *turn == self.turn =>
            {
                self.note_deed(*tool, change);
            }
            _ => (),
        }
    }

    /// Keeps the title of a call that does something; a title that is reported later replaces the one before.
    fn note_deed(&mut self, tool: u32, change: &ToolChange) {
        let does = change.kind.is_some_and(|kind| match kind {
            ToolKind::Edit | ToolKind::Delete | ToolKind::Move | ToolKind::Execute => true,
            ToolKind::Read
            | ToolKind::Search
            | ToolKind::Think
            | ToolKind::Fetch
            | ToolKind::SwitchMode
            | ToolKind::Other => false,
        });
        if !does && self.deed.tool != tool {
            return;
        }
        if let Some(title) = &change.title {
            self.deed = Deed { tool, title: title[..title.floor_char_boundary(KEPT_TITLE_BYTES)].to_owned() };
        }
    }

    /// What the turn was about, if this is the digest of that turn.
    pub fn summary(&self, turn: Turn) -> Option<TurnSummary> {
        let summary = || summary_with_deed(&self.prompt, &self.response, &self.deed.title);
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

fn chars(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompt: &str, events: &[&str], expected: &str) {
        let mut digest = Digest::default();
        let begin = [
            r#"{"type":"turn.started","data":{"turn":1,"interactionId":"01890a5d-ac96-774b-bcce-b302099a8057"}}"#
                .to_owned(),
            format!(
                r#"{{"type":"prompt.sent","data":{{"interactionId":"01890a5d-ac96-774b-bcce-b302099a8057","text":"{prompt}","by":{{"type":"person"}}}}}}"#
            ),
        ];
        for event in begin.iter().map(String::as_str).chain(events.iter().copied()) {
            digest.apply(&serde_json::from_str(event).unwrap());
        }
        assert_eq!(digest.summary(Turn(1)).unwrap().summary, expected, "{prompt}");
    }

    #[test]
    fn a_turn_that_only_says_how_it_ended_is_called_by_its_last_command_or_edit() {
        let events = [
            r#"{"type":"tool.started","data":{"turn":1,"tool":1,"callId":"a","title":"Edit src/total.rs","kind":"edit"}}"#,
            r#"{"type":"tool.started","data":{"turn":1,"tool":2,"callId":"b","title":"Terminal","kind":"execute"}}"#,
            r#"{"type":"tool.changed","data":{"turn":1,"tool":2,"title":"`cargo test -p model`"}}"#,
            r#"{"type":"tool.started","data":{"turn":1,"tool":3,"callId":"c","title":"Read src/lib.rs","kind":"read"}}"#,
            r#"{"type":"tool.ended","data":{"turn":1,"tool":3,"title":"Read all of src/lib.rs","status":"completed"}}"#,
            r#"{"type":"text.part","data":{"turn":1,"block":1,"text":"It ended with exit code 0."}}"#,
        ];
        check("go on", &events, "cargo test -p model");
        check("run the tests of the model", &events, "run the tests of the model");
    }
}
