//! A tool call on its way to a piece. It folds like `model::ToolCall`, but of what the call shows only a beginning and
//! an end are held.

use std::collections::{HashSet, VecDeque};

use model::{
    Seq, SessionId, Timestamp, ToolCall, ToolChange, ToolContent, ToolKind, ToolStatus, Turn, exit_code, succeeded,
};
use serde_json::Value;

use super::{CallOutcome, Piece, PieceRole};

/// So long, a text is looked for among what is said already.
const SAID_BYTES: usize = 2 << 10;
/// Of what a call shows, this much of the beginning is held, and as much of the end.
const SHOWN_BYTES: usize = 128 << 10;
/// Of what a tool was given.
const INPUT_BYTES: usize = 32 << 10;
/// Texts of a change that are longer together are not compared line by line.
const COMPARED_BYTES: usize = 512 << 10;
/// How many files a piece names.
const MAX_FILES: usize = 200;

#[derive(Debug, Clone)]
pub(super) struct OpenCall {
    /// Without its content.
    call: ToolCall,
    shown: Shown,
    files: Vec<String>,
    exit: Option<i32>,
    first_seq: Seq,
}

impl OpenCall {
    pub(super) fn begin(tool: u32, change: &ToolChange, first_seq: Seq) -> Self {
        let call = ToolCall::begin(tool, String::new(), &ToolChange::default());
        let mut open = Self { call, shown: Shown::default(), files: Vec::new(), exit: None, first_seq };
        open.change(change);
        open
    }

    pub(super) fn tool(&self) -> u32 {
        self.call.tool
    }

    pub(super) fn first_seq(&self) -> Seq {
        self.first_seq
    }

    pub(super) fn change(&mut self, change: &ToolChange) {
        let ToolChange { title, name, kind, status, content, locations, input, output, new_files: _, bodies: _ } =
            change;
        self.call.change(&ToolChange {
            title: title.clone(),
            name: name.clone(),
            kind: *kind,
            status: *status,
            content: None,
            locations: None,
            input: input.clone(),
            output: output.clone(),
            new_files: None,
            bodies: Vec::new(),
        });
        for location in locations.iter().flatten() {
            self.add_file(&location.path);
        }
        if let Some(content) = content {
            self.shown = Shown::default();
            for shown in content {
                self.show(shown);
            }
        }
    }

    pub(super) fn add_text(&mut self, text: &str) {
        self.shown.push(text);
    }

    fn add_file(&mut self, path: &str) {
        if self.files.len() < MAX_FILES && !self.files.iter().any(|known| known == path) {
            self.files.push(path.to_owned());
        }
    }

    fn show(&mut self, content: &ToolContent) {
        match content {
            ToolContent::Text { text } => self.shown.line(text),
            ToolContent::Image { .. } | ToolContent::Omitted { .. } => (),
            ToolContent::Link { uri, name } => {
                self.shown.line(name);
                self.shown.line(uri);
            }
            ToolContent::Diff { path, old_text, new_text } => {
                self.add_file(path);
                self.shown.line(path);
                changed_lines(old_text.as_deref().unwrap_or_default(), new_text, |line| self.shown.line(line));
            }
            ToolContent::Terminal { command, output, exit_code } => {
                self.exit = *exit_code;
                self.shown.line(command);
                self.shown.line(output);
            }
            ToolContent::Raw { value } => self.shown.line(&words_of(value, INPUT_BYTES)),
        }
    }

    pub(super) fn piece(&self, session: SessionId, turn: Turn, last_seq: Seq, at: Timestamp) -> Piece {
        let call = &self.call;
        let mut text = call.title.clone();
        let mut add = |more: &str| {
            // A title often says again what the tool is given.
            let is_said = more.len() < SAID_BYTES && text.contains(more);
            if !more.is_empty() && !is_said {
                text.push('\n');
                text.push_str(more);
            }
        };
        add(call.name.as_deref().unwrap_or_default());
        if let Some(input) = &call.input {
            add(&words_of(input, INPUT_BYTES));
        }
        for file in &self.files {
            add(file);
        }
        if self.shown.is_empty() {
            if let Some(output) = &call.output {
                add(&words_of(output, SHOWN_BYTES));
            }
        } else {
            add(&self.shown.text());
        }
        let exit = self.exit.or_else(|| exit_code(call.output.as_ref()?));
        Piece {
            session,
            turn,
            role: PieceRole::Tool,
            number: call.tool,
            first_seq: self.first_seq,
            last_seq,
            at,
            text,
            tool: Some(format!("{} {}", call.name.as_ref().unwrap_or(&call.title), word_of(call.kind))),
            files: self.files.clone(),
            outcome: outcome_of(call, exit),
            exit,
        }
    }
}

fn outcome_of(call: &ToolCall, exit: Option<i32>) -> Option<CallOutcome> {
    match call.status {
        ToolStatus::Pending | ToolStatus::Running | ToolStatus::Cancelled => None,
        ToolStatus::Failed => Some(CallOutcome::Fail),
        ToolStatus::Completed if succeeded(call) && exit.unwrap_or(0) == 0 => Some(CallOutcome::Ok),
        ToolStatus::Completed => Some(CallOutcome::Fail),
    }
}

fn word_of(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::SwitchMode => "switch_mode",
        ToolKind::Other => "other",
    }
}

/// The texts in a value, a line each, up to so many bytes; the names of fields say nothing about the matter.
fn words_of(value: &Value, max_bytes: usize) -> String {
    let mut text = String::new();
    let mut waiting = VecDeque::from([value]);
    while let Some(value) = waiting.pop_front() {
        let room = max_bytes.saturating_sub(text.len());
        if room == 0 {
            break;
        }
        match value {
            Value::Null | Value::Bool(_) => (),
            Value::Number(number) => {
                text.push_str(&number.to_string());
                text.push('\n');
            }
            Value::String(words) => {
                text.push_str(&words[..words.floor_char_boundary(room)]);
                text.push('\n');
            }
            Value::Array(list) => list.iter().rev().for_each(|value| waiting.push_front(value)),
            Value::Object(map) => map.values().rev().for_each(|value| waiting.push_front(value)),
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// The lines that a change took away, and then those that it brought. Two long texts are compared by what they begin
/// and end with alone: a set of their lines may take many times as much room as they do.
fn changed_lines(old: &str, new: &str, mut tell: impl FnMut(&str)) {
    let same = old.split_inclusive('\n').zip(new.split_inclusive('\n')).take_while(|(old, new)| old == new);
    let begin: usize = same.map(|(line, _)| line.len()).sum();
    let (old, new) = (&old[begin..], &new[begin..]);
    if old.len() + new.len() > COMPARED_BYTES {
        let ends = old.lines().rev().zip(new.lines().rev()).take_while(|(old, new)| old == new).count();
        let (old_lines, new_lines) = (old.lines().count() - ends, new.lines().count() - ends);
        return old.lines().take(old_lines).chain(new.lines().take(new_lines)).for_each(tell);
    }
    let (before, after): (HashSet<&str>, HashSet<&str>) = (old.lines().collect(), new.lines().collect());
    old.lines().filter(|line| !after.contains(line)).for_each(&mut tell);
    new.lines().filter(|line| !before.contains(line)).for_each(&mut tell);
}

/// What a call shows: its beginning and its end.
#[derive(Debug, Clone, Default)]
struct Shown {
    head: String,
    tail: String,
    /// How much between them is not held.
    left_out: usize,
}

impl Shown {
    fn line(&mut self, text: &str) {
        if !self.is_empty() {
            self.push("\n");
        }
        self.push(text);
    }

    fn push(&mut self, text: &str) {
        let room = if self.tail.is_empty() { SHOWN_BYTES.saturating_sub(self.head.len()) } else { 0 };
        let (begin, rest) = text.split_at(text.floor_char_boundary(room));
        self.head.push_str(begin);
        // A text that is far too long is not copied first and cut then.
        let kept = rest.ceil_char_boundary(rest.len().saturating_sub(2 * SHOWN_BYTES));
        self.left_out += kept;
        self.tail.push_str(&rest[kept..]);
        if self.tail.len() > 2 * SHOWN_BYTES {
            let cut = self.tail.ceil_char_boundary(self.tail.len() - SHOWN_BYTES);
            self.left_out += cut;
            self.tail.drain(..cut);
        }
    }

    fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    fn text(&self) -> String {
        let cut = self.tail.ceil_char_boundary(self.tail.len().saturating_sub(SHOWN_BYTES));
        match self.left_out + cut {
            0 => format!("{}{}", self.head, self.tail),
            bytes => format!("{}\n… {bytes} bytes left out …\n{}", self.head, &self.tail[cut..]),
        }
    }
}
