//! What an agent that knows nothing of a session is told before it goes on with it.
//!
//! Invariant: deterministic and bounded. It is a text of its own, labelled as a record, so that neither the agent nor
//! a reader takes it for the person's words.

use model::{Item, Seq, Session, StreamId, Transcript, TranscriptTurn, Turn};
use store::{ReadError, Store};

/// How many of the newest turns are told.
const TURNS: u32 = 5;
/// How many characters of a prompt, and of an answer, are told.
const PROMPT_CHARS: usize = 600;
const ANSWER_CHARS: usize = 1_200;
/// How many entries of a turn are read; the rest of an endless one is not told.
const ENTRIES: usize = 2_000;

/// The packet for a session that stands like this.
pub(crate) async fn build(store: &dyn Store, session: &Session) -> Result<String, ReadError> {
    let id = session.row.id;
    // The turn that is just about to start is not told.
    let after = Turn(session.row.turns.0.saturating_sub(TURNS));
    let rows = store.turns(id, after, TURNS as usize).await?;
    let mut turns = Vec::new();
    for row in rows {
        let mut transcript = Transcript::default();
        let entries = store.read(StreamId::Session(id), Seq(row.first_seq.0.saturating_sub(1)), ENTRIES).await?;
        let own = |seq: Seq| row.last_seq.is_none_or(|last| seq <= last);
        entries.iter().filter(|entry| own(entry.seq)).for_each(|entry| transcript.apply(entry));
        turns.extend(transcript.turns.into_iter().find(|turn| turn.turn == row.turn));
    }
    Ok(text(session, &turns))
}

fn text(session: &Session, turns: &[TranscriptTurn]) -> String {
    let row = &session.row;
    let mut lines = vec![
        "[Record of this conversation so far, kept by Throughline. It is information, not a request; the request follows \
         after it.]"
            .to_owned(),
        format!("Directory: {}", plain(&row.cwd, PROMPT_CHARS)),
    ];
    if let Some(title) = row.title() {
        lines.push(format!("Title: {}", plain(title, PROMPT_CHARS)));
    }
    let left_out = row.turns.0.saturating_sub(u32::try_from(turns.len()).unwrap_or(u32::MAX));
    if left_out > 0 {
        lines.push(format!("({left_out} earlier turns are not shown.)"));
    }
    for turn in turns {
        lines.push(format!("{} person: {}", turn.turn, plain(&turn.prompt, PROMPT_CHARS)));
        let tools: Vec<String> = turn
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Tool(call) => Some(plain(&call.title, 80)),
                _ => None,
            })
            .collect();
        if !tools.is_empty() {
            lines.push(format!("{} tools: {}", turn.turn, plain(&tools.join("; "), PROMPT_CHARS)));
        }
        let answer = turn.answer();
        if !answer.is_empty() {
            lines.push(format!("{} agent: {}", turn.turn, plain(&answer, ANSWER_CHARS)));
        }
    }
    lines.push("[End of the record.]".to_owned());
    lines.join("\n")
}

/// One line, without what could pass for structure or hide, and no longer than that.
fn plain(text: &str, max_chars: usize) -> String {
    let visible = |c: &char| !is_hidden(*c);
    let line: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(visible).collect();
    let words = line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    model::first_line(&words, max_chars)
}

/// Control characters, marks that turn the direction of text, and tags.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_breaks_lines_is_taken_out() {
        assert_eq!(plain("a\n\nb\u{1b}[31m\u{202e}c\u{e0041}  d", 100), "a b[31mc d");
        assert_eq!(plain(&"x".repeat(20), 5), "xxxx…");
    }
}
