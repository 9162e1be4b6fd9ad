//! Turns on the wire: how their numbers are spelt, and their records, cut to a size that a reader can take.

use engine::{Contents, Interaction, MAX_TURNS_AT_ONCE};
use model::{CallFate, Extent, Outcome, SessionRow, TitleRow, ToolCall, ToolContent, TranscriptTurn, Turn, TurnRow};

use crate::error::ApiError;
use crate::wire;

/// How much is shown of what a tool was given and of its output, in characters.
const TOOL_CHARS: usize = 4_000;
/// How many characters make about one token.
const CHARS_PER_TOKEN: u32 = 4;
/// About how many characters a call of a tool takes where a turn is read.
const CALL_CHARS: u32 = 200;

/// A turn's number, bare or as it stands alone.
pub(crate) fn parse(text: &str) -> Result<Turn, ApiError> {
    let number = text.strip_prefix('t').unwrap_or(text).parse().ok().map(Turn);
    // One spelling only: no sign, no leading zero.
    let spelt = number.filter(|turn| turn.0.to_string() == text || format!("t{}", turn.0) == text);
    let shown: String = text.chars().take(40).collect();
    spelt.ok_or_else(|| ApiError::InvalidQuery(format!("a turn is a number such as 7 or t7, not {shown:?}")))
}

/// From and to, both included.
pub(crate) fn range(from: Turn, to: Turn) -> Result<(Turn, Turn), ApiError> {
    let refuse = |what: String| Err(ApiError::InvalidQuery(what));
    if from.0 == 0 {
        return refuse("turns are numbered from 1".to_owned());
    }
    if to < from {
        return refuse(format!("to ({}) is before from ({})", to.0, from.0));
    }
    let count = u64::from(to.0) - u64::from(from.0) + 1;
    if count > u64::from(MAX_TURNS_AT_ONCE) {
        let last = from.0.saturating_add(MAX_TURNS_AT_ONCE - 1);
        return refuse(format!(
            "{count} turns are too many; at most {MAX_TURNS_AT_ONCE} at once, such as {} to {last}",
            from.0
        ));
    }
    Ok((from, to))
}

/// What a turn was about; its prompt's first line, until it is summed up.
pub(crate) fn summary(row: &TurnRow) -> String {
    row.summary.as_ref().map_or_else(|| row.prompt_line.clone(), |summary| summary.text.clone())
}

pub(crate) fn state(row: &TurnRow) -> wire::TurnState {
    match row.stop.as_ref().map(|stop| stop.outcome) {
        None => wire::TurnState::Running,
        Some(Outcome::Completed) => wire::TurnState::Completed,
        Some(Outcome::Cancelled) => wire::TurnState::Cancelled,
        Some(Outcome::Failed) => wire::TurnState::Failed,
        Some(Outcome::Interrupted) => wire::TurnState::Interrupted,
    }
}

/// About how many tokens it costs to read a turn.
pub(crate) fn tokens(extent: Extent) -> u32 {
    let chars = extent.prompt.saturating_add(extent.response).saturating_add(extent.tools.saturating_mul(CALL_CHARS));
    chars.div_ceil(CHARS_PER_TOKEN)
}

pub(crate) fn entry(row: &TurnRow) -> wire::TocEntry {
    wire::TocEntry {
        turn: row.turn.0,
        id: row.interaction_id,
        summary: summary(row),
        summary_by: row.summary.as_ref().map(|summary| summary.by),
        prompt: row.prompt_line.clone(),
        created: row.started_at,
        has_prompt: row.extent.map_or(!row.prompt_line.is_empty(), |extent| extent.prompt > 0),
        has_response: row.extent.is_some_and(|extent| extent.response > 0),
        state: state(row),
        tools: row.extent.map(|extent| extent.tools),
        tokens: row.extent.map(tokens),
        snippet: None,
    }
}

pub(crate) fn toc(contents: Contents) -> wire::Toc {
    let Contents { session, turns, more } = contents;
    let entries: Vec<_> = turns.iter().map(entry).collect();
    let last = turns.last().filter(|_| more);
    toc_of(&session, entries, last.map(|row| row.turn.to_string()))
}

/// Lines of the contents as the API has them.
pub(crate) fn toc_of(session: &SessionRow, entries: Vec<wire::TocEntry>, next_cursor: Option<String>) -> wire::Toc {
    let lines: Vec<String> = entries.iter().map(|entry| format!("{}. {}", entry.turn, entry.summary)).collect();
    wire::Toc {
        session_id: session.id,
        session_name: session.label().unwrap_or_default().to_owned(),
        total_turns: session.turns.0,
        entries,
        formatted: lines.join("\n"),
        next_cursor,
        matches: None,
        notes: Vec::new(),
    }
}

pub(crate) fn brief(row: &TurnRow) -> wire::TurnBrief {
    wire::TurnBrief { turn: row.turn.0, id: row.interaction_id, summary: summary(row) }
}

pub(crate) fn interaction(interaction: &Interaction) -> wire::Interaction {
    let Interaction { row, transcript, cut } = interaction;
    wire::Interaction {
        id: row.interaction_id,
        session_id: row.session,
        turn: row.turn.0,
        created: row.started_at,
        ended: row.ended_at,
        state: state(row),
        by: transcript.by.clone(),
        prompt: transcript.prompt.clone(),
        response: transcript.answer(),
        summary: summary(row),
        tools: transcript.calls().map(|call| tool(transcript, call)).collect(),
        usage: transcript.usage.clone(),
        cut: *cut,
    }
}

pub(crate) fn tool(turn: &TranscriptTurn, call: &ToolCall) -> wire::ToolBrief {
    let output = shown(call);
    let exit_code = call.content.iter().find_map(|content| match content {
        ToolContent::Terminal { exit_code, .. } => *exit_code,
        _ => None,
    });
    let mut files: Vec<String> = call.locations.iter().map(|location| location.path.clone()).collect();
    files.dedup();
    wire::ToolBrief {
        id: format!("{}.{}", turn.turn, call.tool),
        title: call.title.clone(),
        name: call.name.clone(),
        kind: call.kind,
        status: call.status,
        not_done: Some(turn.fate(call)).filter(|fate| *fate != CallFate::Open).and_then(CallFate::note),
        files,
        exit_code,
        input: call.input.as_ref().map(|input| cut(&input.to_string())).unwrap_or_default(),
        output: cut(&output),
        output_chars: u32::try_from(output.chars().count()).unwrap_or(u32::MAX),
    }
}

/// What a call shows, as text.
pub(crate) fn shown(call: &ToolCall) -> String {
    let texts = call.content.iter().map(|content| match content {
        ToolContent::Text { text } => text.clone(),
        ToolContent::Image { mime_type, data } => format!("[{mime_type}, {} bytes of Base64]", data.len()),
        ToolContent::Link { uri, name } => format!("{name} {uri}"),
        ToolContent::Diff { path, old_text, new_text } => {
            let gone = old_text.iter().flat_map(|text| text.lines()).map(|line| format!("-{line}"));
            let come = new_text.lines().map(|line| format!("+{line}"));
            [path.clone()].into_iter().chain(gone).chain(come).collect::<Vec<_>>().join("\n")
        }
        ToolContent::Terminal { command, output, .. } => format!("$ {command}\n{output}"),
        ToolContent::Omitted { bytes } => format!("[{bytes} bytes were too large to keep]"),
        ToolContent::Raw { value } => value.to_string(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The beginning and the end of a long text.
fn cut(text: &str) -> String {
    let chars = text.chars().count();
    if chars <= TOOL_CHARS {
        return text.to_owned();
    }
    let half = TOOL_CHARS / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(chars - half).collect();
    format!("{head}\n[… {} characters are left out …]\n{tail}", chars - 2 * half)
}

pub(crate) fn title_history(row: &SessionRow, titles: Vec<TitleRow>) -> wire::TitleHistory {
    let titles = titles.into_iter().map(|row| wire::Title {
        title: row.title,
        changed_at: row.changed_at,
        turn: row.turn,
        interaction_id: row.interaction_id,
        by: row.by,
    });
    wire::TitleHistory {
        session_id: row.id,
        session_name: row.label().unwrap_or_default().to_owned(),
        pinned_title: Some(row.name.clone()).filter(|name| !name.is_empty()),
        titles: titles.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_has_two_spellings_and_no_others() {
        for (text, turn) in [("1", 1), ("t42", 42), ("0", 0), ("4294967295", u32::MAX)] {
            assert_eq!(parse(text).unwrap(), Turn(turn));
        }
        for text in ["", "t", "-1", "+1", "1.5", "01", "t01", "abc", "T1", " 1", "9223372036854775808", "4294967296"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn twenty_turns_are_given_at_once_counted_with_both_ends() {
        assert!(range(Turn(1), Turn(20)).is_ok() && range(Turn(7), Turn(7)).is_ok());
        for (from, to) in [(0, 3), (1, 21), (5, 4), (1, u32::MAX)] {
            assert!(range(Turn(from), Turn(to)).is_err(), "{from} to {to}");
        }
    }

    #[test]
    fn a_long_text_keeps_both_its_ends() {
        let text = format!("begin{}end", "é".repeat(TOOL_CHARS));
        let cut = cut(&text);
        assert!(cut.starts_with("begin") && cut.ends_with("end") && cut.contains("8 characters are left out"), "{cut}");
        assert_eq!(super::cut("short"), "short");
    }
}
