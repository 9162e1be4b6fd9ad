//! Formats a session's marks for the resume packet.
//!
//! Invariant: deterministic. One item is one line, or a part of one; nothing in it can end its line, hide, or pass for
//! the words around it.

use super::sets::{Mark, Sets};
use crate::text::is_hidden;

/// How many characters of an item are shown.
const MAX_TOLD_CHARS: usize = 400;

/// What is known of a marked file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// It is there.
    There,
    /// It is as it was when it was last seen.
    Unchanged,
    /// It is another than it was.
    Changed,
    /// It is not there.
    Gone,
    /// Nobody may look.
    NotChecked,
}

/// The sets, a paragraph each: files first, then the applet, then the others by name. `state` says what a marked file is
/// like now.
pub fn format_context_for_resume(sets: &Sets, state: impl Fn(&Mark) -> FileState) -> String {
    let mut parts = Vec::new();
    parts.extend(files_part(sets.marks("files"), state));
    parts.extend(applet_part(sets.marks("applet")));
    for (set, marks) in sets.iter().filter(|(set, _)| !matches!(*set, "files" | "applet")) {
        let items: Vec<String> = marks.iter().map(|mark| item(&mark.item, &[','])).collect();
        parts.push(format!("{}: {}", label(set), items.join(", ")));
    }
    parts.join("\n\n")
}

fn files_part(marks: &[Mark], state: impl Fn(&Mark) -> FileState) -> Option<String> {
    if marks.is_empty() {
        return None;
    }
    let mut lines = vec!["Relevant files:".to_owned()];
    let mut gone = 0;
    for mark in marks {
        let note = match state(mark) {
            FileState::Gone => {
                gone += 1;
                continue;
            }
            FileState::There | FileState::Unchanged => "",
            FileState::Changed => " (changed since)",
            FileState::NotChecked => " (not checked)",
        };
        lines.push(format!("- {}{note}", item(&mark.item, &['('])));
    }
    if gone > 0 {
        lines.push(format!("({gone} files not found)"));
    }
    Some(lines.join("\n"))
}

fn applet_part(marks: &[Mark]) -> Option<String> {
    let (slug, parameters) = marks.split_first()?;
    let parameters: Vec<String> = parameters.iter().map(|mark| item(&mark.item, &[',', '(', ')'])).collect();
    let slug = item(&slug.item, &['(', ')']);
    Some(match parameters.is_empty() {
        true => format!("Last applet: {slug}"),
        false => format!("Last applet: {slug} ({})", parameters.join(", ")),
    })
}

/// A set's name; in quotes where it could be taken for a label of ours.
fn label(set: &str) -> String {
    let is_plain = set.starts_with(|c: char| c.is_ascii_lowercase())
        && set.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    if is_plain { set.to_owned() } else { quoted(set) }
}

fn quoted(line: &str) -> String {
    format!("\"{}\"", line.replace('\\', "\\\\").replace('"', "\\\""))
}

/// An item as it is, or in quotes where it could be taken for something else; a long one is cut.
pub fn item(text: &str, separators: &[char]) -> String {
    let mut line: String = text.chars().filter(|c| !is_hidden(*c)).take(MAX_TOLD_CHARS + 1).collect();
    if line.chars().count() > MAX_TOLD_CHARS {
        line = line.chars().take(MAX_TOLD_CHARS).chain(['…']).collect();
    }
    let plain = !line.is_empty()
        && !line.contains('"')
        && !line.contains(separators)
        && !line.starts_with(['-', '[', '(', '#', '<', ' '])
        && line == text;
    if plain { line } else { quoted(&line) }
}

#[cfg(test)]
mod tests;
