//! The turn that runs, as far as its summary needs it: how the prompt and the answer begin, and how much there is.
//!
//! Invariant: bounded, whatever an agent says; a function of the turn's entries, so a turn that was cut off by a restart
//! gets the same line from the log that it would have got live.

use crate::{Extent, SessionEvent, SummaryMaker, Turn, TurnSummary, extract_summary};

/// How much of a prompt and of an answer is kept.
const KEPT_BYTES: usize = 16 << 10;

/// A turn that runs, or has just ended.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    turn: Turn,
    prompt: String,
    response: String,
    extent: Extent,
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
            SessionEvent::ToolStarted { turn, .. } if *turn == self.turn => self.extent.tools += 1,
            _ => (),
        }
    }

    /// What the turn was about, if this is the digest of that turn.
    pub fn summary(&self, turn: Turn) -> Option<TurnSummary> {
        let summary = || extract_summary(&self.prompt, &self.response);
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
