//! A turn, or one call of it, as an agent reads it: who said what, each line of it marked as quoted.
//!
//! Invariant: nothing that was said in a session can stand at the beginning of a line, so it can not be taken for our own
//! words; what is large or no text is described by its size and the id by which it is read.

use engine::Interaction;
use model::{CallFate, Item, ToolCall, ToolContent, ToolKind, TranscriptTurn, one_line, plain_text};
use serde_json::json;

use super::phrases::{cost, next_call};
use crate::turns;

/// What a call shows beyond this is read by its own id.
const MAX_SHOWN_CHARS: usize = 1_000;
/// Base64 has no runs that are shorter and worth leaving out.
const MIN_BASE64_CHARS: usize = 256;
const TITLE_CHARS: usize = 120;
const PATH_CHARS: usize = 150;
const CHARS_PER_TOKEN: usize = 4;

/// Something that was said, under who said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// Who, in one line.
    pub(super) head: String,
    /// The same, where it is taken up again.
    pub(super) again: String,
    pub(super) lines: Vec<String>,
}

/// How much is shown of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calls {
    /// With what they show, if that is short.
    Shown,
    /// One line each.
    Named,
}

/// All that was said and done in a turn, in its order.
pub(super) fn turn(interaction: &Interaction, calls: Calls, session: Option<&str>) -> Vec<Said> {
    let Interaction { row, transcript, .. } = interaction;
    let mut user = match transcript.by.other() {
        Some(other) => format!("USER ({}, written by {})", row.turn, one_line(&other, TITLE_CHARS)),
        None => format!("USER ({})", row.turn),
    };
    match transcript.images.len() {
        0 => (),
        1 => user.push_str(", with 1 picture"),
        many => user.push_str(&format!(", with {many} pictures")),
    }
    let mut said = vec![words(user, &transcript.prompt)];
    for item in &transcript.items {
        match item {
            Item::Text { text, .. } => said.push(words(format!("ASSISTANT ({})", row.turn), text)),
            Item::Tool(call) => said.push(brief_call(transcript, call, calls, session)),
            Item::Output { output, removed } => {
                let since = removed.map(|_| ", removed since").unwrap_or_default();
                let shown = format!("{} ({}, {} bytes{since})", output.label(), output.kind.word(), output.bytes);
                said.push(words(format!("SHOWN TO THE USER ({}, {})", row.turn, output.id), &shown));
            }
            Item::Thought { .. }
            | Item::Plan { .. }
            | Item::Permission(_)
            | Item::Notice(_)
            | Item::Compaction { .. } => (),
        }
    }
    said
}

/// One call, with all that it was given and all that it shows.
pub(super) fn call(turn: &TranscriptTurn, call: &ToolCall) -> Vec<Said> {
    let input = call.input.as_ref().map(|input| serde_json::to_string_pretty(input).unwrap_or_default());
    let output = match (call.content.is_empty(), &call.output) {
        (true, Some(serde_json::Value::String(text))) => text.clone(),
        (true, Some(output)) => serde_json::to_string_pretty(output).unwrap_or_default(),
        (true, None) | (false, _) => turns::shown(call),
    };
    let id = format!("{}.{}", turn.turn, call.tool);
    let mut said = vec![Said { head: about(turn, call), again: format!("TOOL {id}"), lines: Vec::new() }];
    said.extend(input.map(|input| words(format!("INPUT of {id}"), &input)));
    said.push(words(format!("OUTPUT of {id}"), &output));
    said
}

fn words(head: String, text: &str) -> Said {
    Said { again: head.clone(), head, lines: quoted(text) }
}

fn brief_call(turn: &TranscriptTurn, call: &ToolCall, calls: Calls, session: Option<&str>) -> Said {
    let (id, output) = (format!("{}.{}", turn.turn, call.tool), turns::shown(call));
    let chars = output.chars().count();
    let is_text = call.content.iter().all(|content| !matches!(content, ToolContent::Image { .. }));
    let mut head = about(turn, call);
    let again = format!("TOOL {id}");
    if calls == Calls::Shown && chars <= MAX_SHOWN_CHARS && is_text {
        return Said { head, again, lines: quoted(&output) };
    }
    if chars > 0 {
        let tokens = u32::try_from(chars.div_ceil(CHARS_PER_TOKEN)).unwrap_or(u32::MAX);
        let session = session.map(|session| json!(session));
        let read = next_call("get_turn", [("turn", Some(json!(id))), ("session_id", session)]);
        head.push_str(&format!("; {chars} characters left out, {}: {read}", cost(tokens)));
    }
    Said { head, again, lines: Vec::new() }
}

fn about(turn: &TranscriptTurn, call: &ToolCall) -> String {
    let mut about = format!(
        "TOOL {}.{} {} {:?}, {}",
        turn.turn,
        call.tool,
        kind(call.kind),
        one_line(&call.title, TITLE_CHARS),
        turn.fate(call).note().unwrap_or_else(|| "completed".to_owned())
    );
    let exit = call.content.iter().find_map(|content| match content {
        ToolContent::Terminal { exit_code, .. } => *exit_code,
        _ => None,
    });
    if let Some(code) = exit.filter(|_| !matches!(turn.fate(call), CallFate::Exited(_))) {
        about.push_str(&format!(", exit code {code}"));
    }
    if let Some(first) = call.locations.first() {
        about.push_str(&format!(", {}", one_line(&first.path, PATH_CHARS)));
    }
    about
}

fn kind(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::SwitchMode => "switch mode",
        ToolKind::Other => "other",
    }
}

/// Lines without escape sequences and without Base64.
fn quoted(text: &str) -> Vec<String> {
    let plain = plain_text(text);
    let trimmed = plain.trim_end();
    if trimmed.is_empty() { Vec::new() } else { trimmed.split('\n').map(without_base64).collect() }
}

fn without_base64(line: &str) -> String {
    if line.len() < MIN_BASE64_CHARS {
        return line.to_owned();
    }
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_');
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(is_base64) {
        let run = rest[start..].find(|c| !is_base64(c)).map_or(&rest[start..], |end| &rest[start..start + end]);
        kept.push_str(&rest[..start]);
        if run.len() >= MIN_BASE64_CHARS && is_mixed(run) {
            kept.push_str(&format!("[{} characters of Base64 left out]", run.len()));
        } else {
            kept.push_str(run);
        }
        rest = &rest[start + run.len()..];
    }
    kept.push_str(rest);
    kept
}

/// Words, rules of dashes and numbers are not.
fn is_mixed(run: &str) -> bool {
    let has = |is: fn(&u8) -> bool| run.as_bytes().iter().any(is);
    has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_told_by_its_size() {
        let base64 = "aB3+".repeat(100);
        assert_eq!(
            quoted(&format!("see data:image/png;base64,{base64}, it says")),
            ["see data:image/png;base64,[400 characters of Base64 left out], it says"]
        );
        let rule = "-".repeat(400);
        assert_eq!(quoted(&rule), std::slice::from_ref(&rule));
        assert_eq!(quoted("\u{1b}[31mred\u{1b}[0m\r\nplain\n\n"), ["red", "plain"]);
        assert!(quoted(" \n").is_empty());
    }
}
