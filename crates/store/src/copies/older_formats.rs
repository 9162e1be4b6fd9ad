//! Lines of transcripts, also as earlier versions wrote them: in the first format the answer was a list of texts, and before
//! the sixth who wrote a prompt was a name, if it was not a person.

use model::{Author, InteractionId, Item, Outcome, Timestamp, TranscriptTurn, Turn};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The first format in which a line says who wrote its prompt as it does now.
const AUTHORS_SINCE: u32 = 6;

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

/// The turn in a line, beside a `meta.json` of this format. The line may be newer than that, because it is written first.
pub(super) fn read(format: u32, line: &[u8]) -> serde_json::Result<TranscriptTurn> {
    if format >= AUTHORS_SINCE {
        return serde_json::from_slice(line);
    }
    let mut fields: Map<String, Value> = serde_json::from_slice(line)?;
    if !fields.contains_key("items") {
        return read_first(fields.into());
    }
    let source = Option::<String>::deserialize(fields.remove("source").unwrap_or_default())?;
    let mut turn: TranscriptTurn = serde_json::from_value(fields.into())?;
    match source {
        // Without words behind it, the mark is all that was said.
        Some(source) if turn.prompt.trim().is_empty() => turn.prompt = format!("[{source}] {}", turn.prompt),
        source => turn.by = source.as_deref().and_then(Author::of_old_source).unwrap_or(turn.by),
    }
    Ok(turn)
}

/// The same of a line of the first format.
fn read_first(line: Value) -> serde_json::Result<TranscriptTurn> {
    let FirstTurn { turn, interaction_id, prompt, blocks, outcome, reason, started_at, ended_at } =
        serde_json::from_value(line)?;
    let items = (0..).zip(blocks).map(|(block, text)| Item::Text { block, text }).collect();
    let (by, prompt) = Author::of_old_prompt(&prompt);
    Ok(TranscriptTurn {
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
    use crate::copies::meta::FORMAT;

    #[test]
    fn a_line_of_every_format_is_read() {
        let line = br#"{"turn":1,"interactionId":"0190a8c0-0000-7000-8000-0000000000a1","prompt":"[agent:a-1] go","blocks":["a","b"],"outcome":"completed","reason":null,"startedAt":"2026-01-02T03:04:05.006Z","endedAt":"2026-01-02T03:04:06.006Z"}"#;
        let turn = read(1, line).unwrap();
        assert_eq!(turn.answer(), "a\n\nb");
        assert_eq!((&turn.by, turn.prompt.as_str()), (&Author::Agent { session: "a-1".to_owned() }, "go"));
        let newest = serde_json::to_string(&turn).unwrap();
        for format in 1..=FORMAT {
            assert_eq!(read(format, newest.as_bytes()).unwrap(), turn, "format {format}");
        }
        let by_now = r#""by":{"type":"agent","session":"a-1"}"#;
        assert!(newest.contains(by_now), "{newest}");
        for (source, by) in [(r#""agent:a-1""#, turn.by.clone()), ("null", Author::default())] {
            let second = newest.replace(by_now, &format!(r#""source":{source}"#));
            assert_eq!(read(5, second.as_bytes()).unwrap(), TranscriptTurn { by, ..turn.clone() });
            let unsaid = TranscriptTurn { by: Author::default(), ..turn.clone() };
            assert_eq!(read(FORMAT, second.as_bytes()).unwrap(), unsaid, "it is no field of this format");
        }
    }
}
