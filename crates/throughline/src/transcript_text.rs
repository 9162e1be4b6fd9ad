//! Renders a turn for a terminal.
//!
//! Invariant: every text of an agent is made harmless here, whatever part of the turn it is in.

use model::{
    Answerer, Author, BodyOf, BodyRef, CallFate, Item, Outcome, Permission, PermissionAnswer, PermissionKind, Question,
    StepStatus, Timestamp, ToolCall, ToolContent, ToolStatus, TranscriptTurn, Turn, line_diff,
};

use crate::block_text::{Steps, text_lines};
use crate::hint;
use crate::outcome_text::reason_suffix;
use crate::style::{Style, screen};
use crate::terminal::{counted, safe};

/// How many lines of a tool's output are printed; `--json` prints all.
const SHOWN_LINES: usize = 12;
/// The same of a change.
const SHOWN_DIFF_LINES: usize = 40;

/// The lines of a turn in the session with this short id; `whole` is false where the rest could not be read.
pub(crate) fn turn_lines(turn: &TranscriptTurn, whole: bool, steps: &Steps, session: &str) -> Vec<String> {
    let mut lines = vec![String::new(), prompt_line(turn.turn, &turn.by, &turn.prompt)];
    if let Some(times) = times(turn) {
        lines.push(format!("  {}", Style::Dim.paint(&times)));
    }
    if !turn.images.is_empty() {
        lines.extend(counted(turn.images.len() as u64, "image", "images").map(|images| format!("  [with {images}]")));
    }
    if turn.resume.is_some() {
        lines.push("  [the agent was told what came before]".to_owned());
    }
    for item in &turn.items {
        lines.push(String::new());
        let shown = match item {
            Item::Text { block, text } if !turn.blocks.is_empty() => {
                text_lines(text, (turn.turn, *block), &turn.blocks, steps, session)
            }
            Item::Tool(call) => tool_lines(call, state_word(turn, call)),
            item => item_lines(item, session),
        };
        lines.extend(shown.into_iter().map(|line| format!("  {line}")));
    }
    if let Some(word) = outcome_word(turn, whole) {
        let reason = reason_suffix(turn.reason.as_deref());
        lines.extend([String::new(), format!("  [{word}{reason}]")]);
    }
    lines
}

/// The line that begins a turn.
pub(crate) fn prompt_line(turn: Turn, by: &Author, prompt: &str) -> String {
    format!(
        "{} {}",
        Style::Attention.paint(&format!("{turn} >")),
        Style::Bold.paint(&format!("{}{}", author(by), indent(prompt)))
    )
}

/// When a turn began, and how long it took; only for people, since it is another every time.
fn times(turn: &TranscriptTurn) -> Option<String> {
    screen()?;
    let began = local_time(turn.started_at)?;
    let took = turn.ended_at.map(|end| (end.as_millis() - turn.started_at.as_millis()).max(0) / 1_000);
    Some(match took {
        None => began,
        Some(seconds @ 0..60) => format!("{began}, {seconds} s"),
        Some(seconds) => format!("{began}, {} min {} s", seconds / 60, seconds % 60),
    })
}

fn local_time(at: Timestamp) -> Option<String> {
    let instant = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
    Some(instant.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string())
}

/// Who wrote a prompt, ahead of its words; nothing, if a person did.
pub(crate) fn author(by: &Author) -> String {
    by.other().map(|other| format!("({}) ", line(&other))).unwrap_or_default()
}

fn outcome_word(turn: &TranscriptTurn, whole: bool) -> Option<&'static str> {
    match turn.outcome {
        Some(Outcome::Completed) if turn.items.is_empty() => Some("no response"),
        Some(Outcome::Completed) if turn.reason.is_some() => Some("ended early"),
        Some(Outcome::Completed) => None,
        Some(Outcome::Cancelled) => Some("stopped by you"),
        Some(Outcome::Failed) => Some("failed"),
        Some(Outcome::Interrupted) => Some("interrupted"),
        None if whole => Some("running …"),
        None => Some("the rest can not be read"),
    }
}

/// The lines of one item of a turn, in the session with this short id.
pub(crate) fn item_lines(item: &Item, session: &str) -> Vec<String> {
    match item {
        Item::Text { text, .. } => vec![indent(text)],
        Item::Thought { text, .. } => {
            text.trim_end().lines().map(|line| Style::Dim.paint(&format!("~ {}", safe(line)))).collect()
        }
        Item::Tool(call) => tool_lines(call, status_word(call.status)),
        Item::Plan { steps } => steps
            .iter()
            .map(|step| {
                let mark = match step.status {
                    StepStatus::Completed => 'x',
                    StepStatus::Running => '>',
                    StepStatus::Pending => ' ',
                };
                format!("[{mark}] {}", line(&step.text))
            })
            .collect(),
        Item::Permission(asked) => permission_lines(asked, session),
        Item::Notice(notice) => {
            let more = notice.description.as_deref().map(|more| format!(" {}", line(more))).unwrap_or_default();
            vec![format!("! {}{more}", line(&notice.title))]
        }
        Item::Output { output, removed } => {
            let (label, extent) = (line(output.label()), output.extent());
            let ending = output.ending().map(|ending| format!(", {ending}")).unwrap_or_default();
            vec![match removed {
                None => {
                    let read = hint::command(format_args!("output {}", output.id));
                    format!("[shown: {label}, {extent}{ending}; {read}]")
                }
                Some(_) => format!("[shown: {label}, {extent}{ending}; it was removed since]"),
            }]
        }
        Item::Compaction { .. } => vec!["[the agent condensed what it knew]".to_owned()],
    }
}

fn status_word(status: ToolStatus) -> &'static str {
    match status {
        ToolStatus::Pending => "waits",
        ToolStatus::Running => "runs",
        ToolStatus::Completed => "done",
        ToolStatus::Failed => "failed",
        ToolStatus::Cancelled => "cut off",
    }
}

/// The state or result of a call in this turn; its exit code is printed beside the command.
fn state_word(turn: &TranscriptTurn, call: &ToolCall) -> &'static str {
    match turn.fate(call) {
        CallFate::Done | CallFate::Exited(_) => "done",
        CallFate::Refused => "refused",
        CallFate::Failed => "failed",
        CallFate::Cancelled | CallFate::NotFinished => "cut off",
        CallFate::Open => status_word(call.status),
    }
}

/// A call and its state, in a line.
fn tool_line(call: &ToolCall, state: &str) -> String {
    let shown = match state {
        "failed" | "refused" | "cut off" => Style::Bad.paint(&format!("[{state}]")),
        _ => Style::Dim.paint(&format!("[{state}]")),
    };
    format!("* {} {shown}", line(call.label()))
}

fn tool_lines(call: &ToolCall, state: &str) -> Vec<String> {
    let mut lines = vec![tool_line(call, state)];
    for (item, content) in (0..).zip(&call.content) {
        let is_of_it =
            |body: &&BodyRef| body.item == item && matches!(body.of, BodyOf::Shown | BodyOf::OldText | BodyOf::NewText);
        let bodies: Vec<&BodyRef> = call.bodies.iter().filter(is_of_it).collect();
        lines.extend(content_lines(content, &bodies).into_iter().map(|line| format!("    {line}")));
    }
    lines
}

/// What a call shows, of which the entry has only the heads of these bodies.
fn content_lines(content: &ToolContent, bodies: &[&BodyRef]) -> Vec<String> {
    let mut lines = lines_of(content, bodies);
    if !bodies.is_empty() {
        let rest = match bodies.iter().all(|body| body.sha256.is_some()) {
            true => "the page shows the rest",
            false => "not all of it was kept: there was no room for it",
        };
        let bytes = counted(whole_bytes(content, bodies), "byte", "bytes");
        lines.extend(bytes.map(|bytes| format!("[{bytes} in all; {rest}]")));
    }
    lines
}

/// How many bytes there are with the bodies in the places of their heads.
fn whole_bytes(content: &ToolContent, bodies: &[&BodyRef]) -> u64 {
    let beside = bodies.iter().map(|body| body.bytes).fold(0, u64::saturating_add);
    let (ToolContent::Text { text } | ToolContent::Terminal { output: text, .. }) = content else { return beside };
    let head = |body: &&BodyRef| byte_at(text, body.start.saturating_add(body.head)) - byte_at(text, body.start);
    let heads: usize = bodies.iter().map(head).sum();
    (text.len().saturating_sub(heads) as u64).saturating_add(beside)
}

/// The byte at which so many UTF-16 code units end; the end of the text, if it has fewer.
fn byte_at(text: &str, units: u32) -> usize {
    let mut left = units as usize;
    for (at, c) in text.char_indices() {
        if left < c.len_utf16() {
            return at;
        }
        left -= c.len_utf16();
    }
    text.len()
}

fn lines_of(content: &ToolContent, bodies: &[&BodyRef]) -> Vec<String> {
    match content {
        // The beginnings of two texts say nothing of what changed.
        ToolContent::Diff { path, .. } if !bodies.is_empty() => vec![format!("{} (a long change)", line(path))],
        ToolContent::Text { text } => head(text, bodies),
        ToolContent::Terminal { command, output, exit_code } => {
            let code =
                exit_code.filter(|code| *code != 0).map(|code| format!(" [exit code {code}]")).unwrap_or_default();
            let mut lines = vec![format!("$ {}{code}", line(command))];
            lines.extend(head(output, bodies));
            lines
        }
        ToolContent::Diff { path, old_text, new_text } => diff_lines(path, old_text.as_deref(), new_text),
        ToolContent::Image { mime_type, .. } => vec![format!("[{}]", line(mime_type))],
        ToolContent::Link { uri, name } => vec![format!("{} {}", line(name), line(uri))],
        ToolContent::Omitted { bytes } => vec![format!("[{bytes} bytes more were not kept]")],
        ToolContent::Raw { .. } => vec!["[something this version can not show]".to_owned()],
    }
}

/// A change of a file: its path, how many lines came and went, and which.
fn diff_lines(path: &str, old: Option<&str>, new: &str) -> Vec<String> {
    let diff = line_diff(path, old, new);
    // The first two lines name the file.
    let changes: Vec<&str> = diff.lines().skip(2).collect();
    let count = |sign: char| changes.iter().filter(|line| line.starts_with(sign)).count();
    let new_file = if old.is_none() { ", new" } else { "" };
    let mut lines = vec![format!("{} (+{} -{}{new_file})", line(path), count('+'), count('-'))];
    for change in changes.iter().take(SHOWN_DIFF_LINES) {
        let style = match change.chars().next() {
            Some('+') => Style::Added,
            Some('-') => Style::Removed,
            _ => Style::Dim,
        };
        lines.push(style.paint(&safe(change)));
    }
    if changes.len() > SHOWN_DIFF_LINES {
        lines.extend(more_lines(changes.len() - SHOWN_DIFF_LINES));
    }
    lines
}

/// A question and its answer.
pub(crate) fn permission_lines(asked: &Permission, session: &str) -> Vec<String> {
    let answer = match &asked.answer {
        None => {
            let answer = format_args!("answer {session} --request {} allow", asked.request);
            format!("waits for you: `{}`", hint::command(answer))
        }
        Some(answer) => answer_words(answer),
    };
    let mut lines = question_lines(&asked.question);
    lines.push(format!("  {answer}"));
    lines
}

/// A question: the agent's text after a `?`, the real subject after a `|`. Lines stay separate, as the text after a
/// comment can be the next command; repeated blanks are removed, as they could push the text to where the subject is.
pub(crate) fn question_lines(question: &Question) -> Vec<String> {
    let words = |text: &str| safe(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let said = [Some(&question.title), question.said.as_ref()].into_iter().flatten();
    let said = said.flat_map(|said| said.trim_end().split('\n')).map(|text| format!("? {}", words(text)));
    let is_said = |subject: &&str| *subject == question.title && words(subject) == **subject;
    let subject = question.subject.as_deref().filter(|subject| !is_said(subject));
    let subject = subject.into_iter().flat_map(|subject| subject.split('\n'));
    // A person must not take the agent's text for what it will do.
    let is_unknown = question.subject.is_none() && question.form.is_none();
    let unknown = is_unknown.then(|| "    (the agent does not say exactly what it will do)".to_owned());
    said.chain(subject.map(|text| format!("    | {}", safe(text)))).chain(unknown).collect()
}

/// The answer, and who gave it.
pub(crate) fn answer_words(answer: &PermissionAnswer) -> String {
    let word = answer.kind.map_or("answered", PermissionKind::note);
    match &answer.by {
        Answerer::Person { name, .. } if answer.remembered.is_some() => {
            format!("{word} by {}, and remembered", line(name))
        }
        Answerer::Person { name, .. } => format!("{word} by {}", line(name)),
        Answerer::Remembered { id } => format!("{word}, remembered ({id})"),
        Answerer::Policy { rule } => format!("{word} by the rule {}", line(rule)),
        Answerer::Nobody => "not answered: it was withdrawn".to_owned(),
    }
}

fn head(text: &str, bodies: &[&BodyRef]) -> Vec<String> {
    // What follows the first head in the text follows its body, and the lines that are here are not all.
    if let Some(end) = bodies.iter().map(|body| body.start.saturating_add(body.head)).min() {
        let beginning = &text[..byte_at(text, end)];
        return beginning.trim_end().lines().take(SHOWN_LINES).map(safe).collect();
    }
    let all: Vec<&str> = text.trim_end().lines().collect();
    let mut lines: Vec<String> = all.iter().take(SHOWN_LINES).map(|line| safe(line)).collect();
    lines.extend(more_lines(all.len().saturating_sub(SHOWN_LINES)));
    lines
}

/// What is said in the place of lines that are left out.
fn more_lines(count: usize) -> Option<String> {
    counted(count as u64, "more line", "more lines").map(|lines| format!("[{lines}]"))
}

/// The text on one line.
fn line(text: &str) -> String {
    safe(text).replace(['\n', '\t'], " ")
}

fn indent(text: &str) -> String {
    safe(text.trim_end()).replace('\n', "\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(title: &str, subject: Option<&str>) -> Vec<String> {
        let question = serde_json::json!({ "title": title, "kind": "execute", "subject": subject, "options": [] });
        question_lines(&serde_json::from_value(question).unwrap())
    }

    #[test]
    fn a_prompt_says_who_wrote_it_unless_a_person_did() {
        let told = |by: serde_json::Value| {
            let turn = serde_json::json!({
                "turn": 3, "interactionId": "0190a8c0-0000-7000-8000-0000000000a1", "by": by, "prompt": "[agent:x] go",
                "images": [], "items": [], "startedAt": "2026-01-02T03:04:05.006Z", "outcome": null,
            });
            turn_lines(&serde_json::from_value(turn).unwrap(), true, &Steps::default(), "0190").swap_remove(1)
        };
        let session = "0190a8c0-0000-7000-8000-0000000000c1";
        assert_eq!(told(serde_json::json!({ "type": "person", "name": "phone" })), "t3 > [agent:x] go");
        assert_eq!(
            told(serde_json::json!({ "type": "agent", "session": "a\n\u{1b}[2J" })),
            "t3 > (agent:a ␛[2J) [agent:x] go"
        );
        assert_eq!(
            told(serde_json::json!({ "type": "step", "session": session, "block": "t3.n1" })),
            "t3 > (step t3.n1) [agent:x] go"
        );
    }

    /// A result in parts: of the second the log has only the head, and the third follows that. The same again as the JSON of what
    /// the tool gave is no part of it.
    #[test]
    fn a_long_result_says_how_long_all_of_it_is() {
        let shown = |sha256: Option<String>| {
            let head = "head ü😀\n";
            let text = format!("one\n{head}{}", "three\n".repeat(9));
            let bodies = serde_json::json!([
                { "start": 4, "head": head.encode_utf16().count(), "bytes": 40_000, "sha256": sha256 },
                { "of": "output", "bytes": 50_000, "sha256": sha256 },
            ]);
            let change = serde_json::json!({ "content": [{ "type": "text", "text": text }], "bodies": bodies });
            let call = ToolCall::begin(1, "c".to_owned(), &serde_json::from_value(change).unwrap());
            tool_lines(&call, "done").split_off(1).join("\n")
        };
        let lines = |rest: &str| format!("    one\n    head ü😀\n    [40,058 bytes in all; {rest}]");
        assert_eq!(shown(Some("0".repeat(64))), lines("the page shows the rest"));
        assert_eq!(shown(None), lines("not all of it was kept: there was no room for it"));
    }

    #[test]
    fn what_is_asked_keeps_its_lines_and_stands_apart_from_the_agents_words() {
        assert_eq!(shown("ls -l", Some("ls -l")), ["? ls -l"]);
        let unknown = "    (the agent does not say exactly what it will do)";
        assert_eq!(shown("ls -l", None), ["? ls -l", unknown]);
        let command = "ls # list\nrm -rf ~";
        assert_eq!(shown("List", Some(command)), ["? List", "    | ls # list", "    | rm -rf ~"]);
        assert_eq!(shown(command, Some(command)), ["? ls # list", "? rm -rf ~", "    | ls # list", "    | rm -rf ~"]);
        assert_eq!(shown(command, None), ["? ls # list", "? rm -rf ~", unknown]);
        assert_eq!(shown("List\n    | ls", Some("rm\r\u{1b}[2K")), ["? List", "? | ls", "    | rm·␛[2K"]);
        assert_eq!(shown("ls          | pwd", Some("rm")), ["? ls | pwd", "    | rm"]);
        let question =
            serde_json::json!({ "title": "Shell", "kind": "execute", "said": "ls -l\n  here", "options": [] });
        let lines = question_lines(&serde_json::from_value(question).unwrap());
        assert_eq!(lines, ["? Shell", "? ls -l", "? here", unknown]);
    }
}
