//! What a session changed in files: the edits of its calls, file by file, and the shape of changed files and diffs.
//!
//! Invariant: an edit is taken from a call that succeeded, as its facts say; what a call does not show stays unknown and
//! is never guessed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::is_move;
use crate::{DiffHunk, Fact, FileStamp, LineCounts, ToolCall, ToolContent, Turn, absolute_path};

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// Its whole path.
    pub path: String,
    /// From the session's directory or project on, where it lies in it.
    pub name: String,
    /// What became of it.
    pub status: FileStatus,
    /// With `moved`: where it was before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Who changed it.
    pub by: ChangedBy,
    /// The turns whose calls changed it, in order; the newest 100.
    pub turns: Vec<Turn>,
    /// Whether its lines can be compared.
    pub compared: Compared,
    /// Absent where they can not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineCounts>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum FileStatus {
    Created,
    Changed,
    Deleted,
    Moved,
}

/// Who changed a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangedBy {
    /// Calls of the session, and nobody since.
    Session,
    /// No call of the session that is known: a command, another program, the person.
    Outside,
    /// Calls of the session, and then somebody else.
    Both,
}

/// Whether the lines of a file can be compared, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// As it was then, with as it is.
    Lines,
    /// What it was like then is not known; the calls' own changes are shown one by one.
    Edits,
    /// It is no text.
    Binary,
    /// It is larger than is compared.
    TooLarge,
    /// Its name says that it holds secrets: nothing of it is shown.
    Protected,
    /// It lies outside of the session's directories, or a link leads there: it is not read; the calls' own changes are
    /// shown.
    Elsewhere,
    /// A symbolic link.
    Link,
    /// A repository of its own.
    Submodule,
    /// Nothing is known but that it changed.
    NotKnown,
    /// So many files changed that this one was not compared; its diff can be asked for.
    NotCounted,
}

/// The diff of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// What is known of the file.
    pub file: ChangedFile,
    /// A page of the hunks. With `edits` and `elsewhere` each call's are counted from 1.
    pub hunks: Vec<DiffHunk>,
    /// What was changed outside of the session after its last call, if that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<DiffHunk>,
    /// `outside` has more lines than are shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside_cut: bool,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_after: Option<u32>,
}

/// What a call did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// Whose call.
    pub turn: Turn,
    /// Its whole path.
    pub path: String,
    /// What became of the file.
    pub status: FileStatus,
    /// Where it was before, if it was moved.
    pub from: Option<String>,
    /// The texts that took the place of others, in order.
    pub texts: Vec<Replacement>,
    /// What the file was like afterwards.
    pub stamp: Option<FileStamp>,
}

/// A text that took the place of another: the whole file, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// What was there; `None` if nothing was, or if the call does not show it.
    pub old: Option<String>,
    /// What is there now.
    pub new: String,
    /// The input says that this is all that the file holds.
    pub is_whole: bool,
}

/// What a fact with this name says of the file that it names; `None` if it says of none that it was changed.
pub fn changed_status(fact_name: &str) -> Option<FileStatus> {
    match fact_name {
        "filesCreated" => Some(FileStatus::Created),
        "filesEdited" => Some(FileStatus::Changed),
        "filesDeleted" => Some(FileStatus::Deleted),
        _ => None,
    }
}

/// The file that went and the file that came, if this is all that a call did to files: so it may have been a move.
pub fn possible_move(facts: &[Fact]) -> Option<(&Fact, &Fact)> {
    let mut changed = facts.iter().filter_map(|fact| Some((changed_status(&fact.name)?, fact)));
    let (one, other) = (changed.next()?, changed.next()?);
    match (one, other, changed.next()) {
        ((FileStatus::Deleted, from), (FileStatus::Created, to), None)
        | ((FileStatus::Created, to), (FileStatus::Deleted, from), None) => Some((from, to)),
        _ => None,
    }
}

/// What a call did to files, by what it proved. Without the call neither texts nor moves are known. A move comes before
/// the deletion of what was moved.
pub fn file_edits(turn: Turn, call: Option<&ToolCall>, facts: &[Fact], cwd: &str) -> Vec<FileEdit> {
    let edit = |fact: &Fact, status: FileStatus, from: Option<&Fact>| FileEdit {
        turn,
        path: fact.value.clone(),
        status,
        from: from.map(|from| from.value.clone()),
        texts: call.map(|call| texts(call, &fact.value, cwd, status)).unwrap_or_default(),
        stamp: fact.file.clone(),
    };
    if call.is_some_and(is_move)
        && let Some((from, to)) = possible_move(facts)
    {
        return vec![edit(to, FileStatus::Moved, Some(from)), edit(from, FileStatus::Deleted, None)];
    }
    facts.iter().filter_map(|fact| Some(edit(fact, changed_status(&fact.name)?, None))).collect()
}

/// The edits of each file by its newest path, oldest first. A file that was moved keeps its earlier edits, and where it
/// was nothing is left to report.
pub fn file_histories(edits: Vec<FileEdit>) -> BTreeMap<String, Vec<FileEdit>> {
    let mut histories: BTreeMap<String, Vec<FileEdit>> = BTreeMap::new();
    let mut moved_away: Option<String> = None;
    for edit in edits {
        let moved_before = moved_away.take();
        match (edit.status, &edit.from) {
            (FileStatus::Moved, Some(from)) => {
                let mut history = histories.remove(from).unwrap_or_default();
                // What was deleted there before was another file.
                if let Some(at) = history.iter().rposition(|edit| edit.status == FileStatus::Deleted) {
                    let own = history.split_off(at + 1);
                    histories.insert(from.clone(), std::mem::replace(&mut history, own));
                }
                moved_away = Some(from.clone());
                let path = edit.path.clone();
                history.push(edit);
                histories.insert(path, history);
            }
            (FileStatus::Deleted, _)
                if moved_before.as_ref() == Some(&edit.path) && !histories.contains_key(&edit.path) => {}
            _ => histories.entry(edit.path.clone()).or_default().push(edit),
        }
    }
    histories
}

const OLD: [&str; 4] = ["old_string", "oldString", "old_str", "oldText"];
const NEW: [&str; 4] = ["new_string", "newString", "new_str", "newText"];
const WHOLE: [&str; 4] = ["content", "file_text", "text", "contents"];

/// From the diffs that the call shows, else from what the tool was given.
fn texts(call: &ToolCall, path: &str, cwd: &str, status: FileStatus) -> Vec<Replacement> {
    let diffs = call.content.iter().filter_map(|content| match content {
        ToolContent::Diff { path: of, old_text, new_text } if absolute_path(of, cwd).as_deref() == Some(path) => {
            Some(Replacement { old: old_text.clone(), new: new_text.clone(), is_whole: false })
        }
        _ => None,
    });
    let diffs: Vec<Replacement> = diffs.collect();
    if !diffs.is_empty() || status == FileStatus::Deleted {
        return diffs;
    }
    let Some(input) = &call.input else { return Vec::new() };
    let input =
        input.get("arguments").filter(|inner| inner.is_object() && input.get("tool").is_some()).unwrap_or(input);
    let text = |of: &Value, names: &[&str]| names.iter().find_map(|name| of.get(*name)?.as_str()).map(str::to_owned);
    let part = |of: &Value| match (text(of, &OLD), text(of, &NEW)) {
        (Some(old), Some(new)) => Some(Replacement { old: Some(old), new, is_whole: false }),
        _ => None,
    };
    if let Some(Value::Array(edits)) = input.get("edits") {
        // One that can not be read makes the rest worthless: their order matters.
        return edits.iter().map(part).collect::<Option<_>>().unwrap_or_default();
    }
    let whole = || text(input, &WHOLE).map(|new| Replacement { old: None, new, is_whole: true });
    part(input).or_else(whole).into_iter().collect()
}

#[cfg(test)]
mod tests;
