//! Lines of transcripts that the first version wrote: the answer was a list of texts.

use model::{InteractionId, Item, Outcome, Timestamp, TranscriptTurn, Turn};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FirstTurn {
    turn: Turn,
    interaction_id: InteractionId,
    prompt: String,
    blocks: Vec<String>,
    outcome: Option<Outcome>,
    reason: Option<String>,
    started_at: Timestamp,
    ended_at: Option<Timestamp>,
}

/// The turn as it is read now, if the line is of that kind.
pub(super) fn upgrade(line: &[u8]) -> Option<TranscriptTurn> {
    let FirstTurn { turn, interaction_id, prompt, blocks, outcome, reason, started_at, ended_at } =
        serde_json::from_slice(line).ok()?;
    let items = (0..).zip(blocks).map(|(block, text)| Item::Text { block, text }).collect();
    Some(TranscriptTurn {
        turn,
        interaction_id,
        source: None,
        prompt,
        images: Vec::new(),
        resume: None,
        items,
        blocks: Vec::new(),
        usage: None,
        outcome,
        reason,
        started_at,
        ended_at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_first_version_is_read_and_others_are_left() {
        let line = br#"{"turn":1,"interactionId":"0190a8c0-0000-7000-8000-0000000000a1","prompt":"go","blocks":["a","b"],"outcome":"completed","reason":null,"startedAt":"2026-01-02T03:04:05.006Z","endedAt":"2026-01-02T03:04:06.006Z"}"#;
        let turn = upgrade(line).unwrap();
        assert_eq!(turn.answer(), "a\n\nb");
        assert_eq!(upgrade(&serde_json::to_vec(&turn).unwrap()), None);
    }
}
