//! What a reader sees of a session: its turns, each with the prompt and the answer's blocks.
//!
//! Invariant: live view and replay call the same [`Transcript::apply`]; folding a prefix and then the rest equals
//! folding all. The page folds the same way in `web/src/state/transcript.ts`; `fixtures/transcripts/` holds both to it.

use serde::{Deserialize, Serialize};

use crate::{Entry, Event, InteractionId, Outcome, Timestamp, Turn};

/// The turns of a session, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcript {
    /// Oldest first.
    pub turns: Vec<TranscriptTurn>,
}

/// One turn as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptTurn {
    /// Its number.
    pub turn: Turn,
    /// Its prompt's id.
    pub interaction_id: InteractionId,
    /// The person's words.
    pub prompt: String,
    /// The agent's words, a text a block.
    pub blocks: Vec<String>,
    /// How it ended; `None` while it runs.
    pub outcome: Option<Outcome>,
    /// Why it ended so, where there is more to say.
    pub reason: Option<String>,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

impl Transcript {
    /// Folds in the next entry of the session.
    pub fn apply(&mut self, entry: &Entry) {
        match &entry.event {
            Event::TurnStarted { turn, interaction_id } => self.turns.push(TranscriptTurn {
                turn: *turn,
                interaction_id: *interaction_id,
                prompt: String::new(),
                blocks: Vec::new(),
                outcome: None,
                reason: None,
                started_at: entry.at,
                ended_at: None,
            }),
            Event::PromptSent { text, .. } => {
                if let Some(turn) = self.turns.last_mut() {
                    turn.prompt.clone_from(text);
                }
            }
            Event::TextPart { turn, block, text } => {
                if let Some(open) = self.turns.last_mut().filter(|open| open.turn == *turn) {
                    // Blocks are numbered from 0 by whoever writes them; a number that skips ahead opens one block.
                    match open.blocks.get_mut(*block as usize) {
                        Some(words) => words.push_str(text),
                        None => open.blocks.push(text.clone()),
                    }
                }
            }
            Event::TurnEnded { turn, stop } => {
                if let Some(open) = self.turns.last_mut().filter(|open| open.turn == *turn) {
                    open.outcome = Some(stop.outcome);
                    open.reason.clone_from(&stop.reason);
                    open.ended_at = Some(entry.at);
                }
            }
            Event::SessionCreated { .. }
            | Event::SessionChanged { .. }
            | Event::SessionObserved {}
            | Event::SessionDeleted {}
            | Event::SessionRestored {}
            | Event::AgentStateChanged { .. }
            | Event::PromptQueued { .. }
            | Event::PromptChanged { .. }
            | Event::PromptRemoved { .. }
            | Event::TokenIssued { .. }
            | Event::TokenRevoked { .. } => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[derive(Deserialize)]
    struct Fixture {
        name: String,
        entries: Vec<Entry>,
        transcript: Transcript,
    }

    /// The same files that the page's tests fold.
    #[test]
    fn the_shared_fixtures_fold_as_they_say() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/transcripts");
        let files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(files.len() >= 8, "only {} fixtures in {folder}", files.len());
        for file in files {
            let fixture: Fixture = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
            let mut folded = Transcript::default();
            fixture.entries.iter().for_each(|entry| folded.apply(entry));
            assert_eq!(folded, fixture.transcript, "{} ({})", fixture.name, file.display());
        }
    }
}
