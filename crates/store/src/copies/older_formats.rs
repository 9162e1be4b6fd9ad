//! Lines of transcripts, also as earlier versions wrote them: in the first format the answer was a list of texts, and before
//! the sixth who wrote a prompt was a name, if it was not a person.

use model::{Author, InteractionId, Item, Outcome, Timestamp, TranscriptTurn, Turn};
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

#[derive(Deserialize)]
struct NamedAuthor {
    #[serde(default)]
    source: Option<String>,
}

/// The turn that a line of any format tells.
pub(super) fn read(line: &[u8]) -> serde_json::Result<TranscriptTurn> {
    if let Some(turn) = read_first(line) {
        return Ok(turn);
    }
    let mut turn: TranscriptTurn = serde_json::from_slice(line)?;
    let NamedAuthor { source } = serde_json::from_slice(line)?;
    match source {
        // Without words behind it, the mark is all that was said.
        Some(source) if turn.prompt.trim().is_empty() => turn.prompt = format!("[{source}] {}", turn.prompt),
        source => turn.by = source.as_deref().and_then(Author::of_old_source).unwrap_or(turn.by),
    }
    Ok(turn)
}

/// The same, if the line is of the first format.
fn read_first(line: &[u8]) -> Option<TranscriptTurn> {
    let FirstTurn { turn, interaction_id, prompt, blocks, outcome, reason, started_at, ended_at } =
        serde_json::from_slice(line).ok()?;
    let items = (0..).zip(blocks).map(|(block, text)| Item::Text { block, text }).collect();
    let (by, prompt) = Author::of_old_prompt(&prompt);
    Some(TranscriptTurn {
        turn,
        interaction_id,
        prompt: prompt.to_owned(),
        by,
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
    fn a_line_of_every_format_is_read() {
        let line = br#"{"turn":1,"interactionId":"0190a8c0-0000-7000-8000-0000000000a1","prompt":"[agent:a-1] go","blocks":["a","b"],"outcome":"completed","reason":null,"startedAt":"2026-01-02T03:04:05.006Z","endedAt":"2026-01-02T03:04:06.006Z"}"#;
        let turn = read(line).unwrap();
        assert_eq!(turn.answer(), "a\n\nb");
        assert_eq!((&turn.by, turn.prompt.as_str()), (&Author::Agent { session: "a-1".to_owned() }, "go"));
        let newest = serde_json::to_string(&turn).unwrap();
        assert_eq!(read(newest.as_bytes()).unwrap(), turn);
        let by_now = r#""by":{"type":"agent","session":"a-1"}"#;
        assert!(newest.contains(by_now), "{newest}");
        for (source, by) in [(r#""agent:a-1""#, turn.by.clone()), ("null", Author::default())] {
            let second = newest.replace(by_now, &format!(r#""source":{source}"#));
            assert_eq!(read(second.as_bytes()).unwrap(), TranscriptTurn { by, ..turn.clone() });
        }
    }
}
