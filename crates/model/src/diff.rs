//! What changed in a file, line by line.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};

use crate::one_line;

/// Files with more changed lines than this are shown as wholly replaced: finding the least change takes time that grows
/// with the product of both.
const MAX_COMPARED_LINES: usize = 4_000;
const CONTEXT_LINES: usize = 3;
const MAX_PATH_CHARS: usize = 1_000;
/// More of one line is not shown.
const MAX_LINE_CHARS: usize = 2_000;

/// How many lines came and went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LineCounts {
    /// Lines that are there now and were not.
    pub added: u32,
    /// Lines that were there and are not any more.
    pub removed: u32,
}

/// Some lines that changed, with the lines around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiffHunk {
    /// The number that its first line had before, from 1; where nothing was, the line that it comes after.
    pub old_start: u32,
    /// The number that its first line has now.
    pub new_start: u32,
    /// In order; lines that went come before those that came for them.
    pub lines: Vec<DiffLine>,
}

/// One line of a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DiffLine {
    /// What became of it.
    pub kind: LineKind,
    /// Without its end; no more than 2,000 characters of it.
    pub text: String,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum LineKind {
    Same,
    Removed,
    Added,
}

/// The change of a file as hunks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineDiff {
    /// Of the whole change.
    pub counts: LineCounts,
    /// In the order of the file.
    pub hunks: Vec<DiffHunk>,
}

/// Compares two texts line by line. A line feed ends a line, the last one too; carriage returns are left out. After the
/// deadline the least change is no longer looked for: then lines that are the same may be shown as replaced.
pub fn diff_lines(old: &str, new: &str, deadline: Instant) -> LineDiff {
    let (old, new) = (whole_lines(old), whole_lines(new));
    let (changed_old, changed_new) = changed_line_counts(&old, &new);
    if changed_old + changed_new > MAX_COMPARED_LINES {
        return replaced(&old, &new);
    }
    let diff = TextDiff::configure().deadline(deadline).diff_lines(&old, &new);
    let mut counts = LineCounts::default();
    let mut hunks = Vec::new();
    for group in diff.grouped_ops(CONTEXT_LINES) {
        let Some(first) = group.first() else { continue };
        let (old_start, new_start) = (first.old_range().start, first.new_range().start);
        let mut lines = Vec::new();
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let kind = match change.tag() {
                ChangeTag::Equal => LineKind::Same,
                ChangeTag::Delete => LineKind::Removed,
                ChangeTag::Insert => LineKind::Added,
            };
            counts.add(kind);
            lines.push(DiffLine::new(kind, change.value()));
        }
        let (old_lines, new_lines) = (
            lines.iter().any(|line| line.kind != LineKind::Added),
            lines.iter().any(|line| line.kind != LineKind::Removed),
        );
        hunks.push(DiffHunk {
            old_start: number(old_start + usize::from(old_lines)),
            new_start: number(new_start + usize::from(new_lines)),
            lines,
        });
    }
    LineDiff { counts, hunks }
}

/// Whether [`diff_lines`] finds nothing.
pub fn same_lines(old: &str, new: &str) -> bool {
    old == new || whole_lines(old) == whole_lines(new)
}

/// Only the two ways to end a line are one: a bare carriage return is a part of the text, and programs read it so.
fn whole_lines(text: &str) -> String {
    let mut text = text.replace("\r\n", "\n");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Every line went, every line came.
fn replaced(old: &str, new: &str) -> LineDiff {
    let gone = old.lines().map(|line| DiffLine::new(LineKind::Removed, line));
    let come = new.lines().map(|line| DiffLine::new(LineKind::Added, line));
    let lines: Vec<DiffLine> = gone.chain(come).collect();
    let mut counts = LineCounts::default();
    lines.iter().for_each(|line| counts.add(line.kind));
    let hunk = DiffHunk { old_start: counts.removed.min(1), new_start: counts.added.min(1), lines };
    LineDiff { counts, hunks: vec![hunk] }
}

impl LineCounts {
    fn add(&mut self, kind: LineKind) {
        match kind {
            LineKind::Same => (),
            LineKind::Removed => self.removed = self.removed.saturating_add(1),
            LineKind::Added => self.added = self.added.saturating_add(1),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let Self { added, removed } = other;
        Self { added: self.added.saturating_add(added), removed: self.removed.saturating_add(removed) }
    }
}

impl DiffLine {
    fn new(kind: LineKind, text: &str) -> Self {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let end = text.char_indices().nth(MAX_LINE_CHARS).map_or(text.len(), |(at, _)| at);
        Self { kind, text: text[..end].to_owned() }
    }
}

fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

/// The change of a file as a unified diff; a file without a text before is new.
pub fn line_diff(path: &str, old: Option<&str>, new: &str) -> String {
    let path = one_line(path, MAX_PATH_CHARS);
    // Only a line feed ends a line here, as it is counted.
    let (old, new) = (old.map(|old| old.replace('\r', "")), new.replace('\r', ""));
    let (old, new) = (old.as_deref(), new.as_str());
    let from = old.map_or_else(|| "/dev/null".to_owned(), |_| format!("a/{}", path.trim_start_matches('/')));
    let to = format!("b/{}", path.trim_start_matches('/'));
    let old = old.unwrap_or_default();
    let (changed_old, changed_new) = changed_line_counts(old, new);
    if changed_old + changed_new > MAX_COMPARED_LINES {
        let gone = old.lines().map(|line| format!("-{line}"));
        let come = new.lines().map(|line| format!("+{line}"));
        let (gone_lines, come_lines) = (old.lines().count(), new.lines().count());
        let range = format!("@@ -{},{gone_lines} +{},{come_lines} @@", gone_lines.min(1), come_lines.min(1));
        return [format!("--- {from}"), format!("+++ {to}"), range]
            .into_iter()
            .chain(gone)
            .chain(come)
            .collect::<Vec<_>>()
            .join("\n");
    }
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(CONTEXT_LINES).header(&from, &to).missing_newline_hint(false).to_string()
}

/// Counts the lines of each text between their common beginning and end.
fn changed_line_counts(old: &str, new: &str) -> (usize, usize) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let begin = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let end = old[begin..].iter().rev().zip(new[begin..].iter().rev()).take_while(|(old, new)| old == new).count();
    (old.len() - begin - end, new.len() - begin - end)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_change_is_shown_with_the_lines_around_it() {
        let old: String = (1..=9).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 5\n", "line five\n");
        assert_eq!(
            line_diff("/src/a.rs", Some(&old), &new),
            "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+line five\n line 6\n line 7\n line 8\n"
        );
        assert!(line_diff("a", None, "x\n").starts_with("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x"));
    }

    #[test]
    fn a_file_that_changed_wholly_is_replaced_wholly() {
        let old: String = (0..3_000).map(|n| format!("old {n}\n")).collect();
        let new: String = (0..3_000).map(|n| format!("new {n}\n")).collect();
        let diff = line_diff("a", Some(&old), &new);
        assert_eq!(diff.lines().filter(|line| line.starts_with("-old")).count(), 3_000);
        assert_eq!(diff.lines().filter(|line| line.starts_with("+new")).count(), 3_000);
        let hunks = diff_lines(&old, &new, far());
        assert_eq!((hunks.counts.added, hunks.counts.removed, hunks.hunks.len()), (3_000, 3_000, 1));
    }

    fn far() -> Instant {
        Instant::now() + Duration::from_secs(600)
    }

    /// Every other line changed.
    #[test]
    fn after_the_deadline_the_whole_change_is_shown_but_not_the_least_one() {
        let text =
            |word: &str| (0..1_000).map(|n| format!("{} {n}\n", if n % 2 == 0 { "same" } else { word })).collect();
        let (old, new): (String, String) = (text("old"), text("new"));
        let least = diff_lines(&old, &new, far()).counts;
        assert_eq!((least.added, least.removed), (500, 500));
        let late = diff_lines(&old, &new, Instant::now());
        assert!(late.counts.added > 500, "{:?}", late.counts);
        let lines = late.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind != LineKind::Removed);
        assert_eq!(lines.map(|line| format!("{}\n", line.text)).collect::<String>(), new);
    }

    fn shown(old: &str, new: &str) -> String {
        let LineDiff { counts, hunks } = diff_lines(old, new, far());
        let mut text = format!("+{} -{}", counts.added, counts.removed);
        for DiffHunk { old_start, new_start, lines } in hunks {
            text.push_str(&format!("\n@@ {old_start} {new_start}"));
            for DiffLine { kind, text: line } in lines {
                let sign = match kind {
                    LineKind::Same => ' ',
                    LineKind::Removed => '-',
                    LineKind::Added => '+',
                };
                text.push_str(&format!("\n{sign}{line}"));
            }
        }
        text
    }

    #[test]
    fn hunks_count_lines_as_editors_do() {
        let old: String = (1..=30).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n9\n", "\nnine\n").replace("\n25\n", "\n");
        assert_eq!(
            shown(&old, &new),
            "+1 -2\n@@ 6 6\n 6\n 7\n 8\n-9\n+nine\n 10\n 11\n 12\n@@ 22 22\n 22\n 23\n 24\n-25\n 26\n 27\n 28"
        );
        assert_eq!(shown("", "a\nb\n"), "+2 -0\n@@ 0 1\n+a\n+b");
        assert_eq!(shown("a\n", ""), "+0 -1\n@@ 1 0\n-a");
        assert_eq!(shown("a\r\nb\r\n", "a\nb"), "+0 -0");
        assert!(same_lines("a\r\nb\r\n", "a\nb") && !same_lines("", "\n") && !same_lines("a", "b"));
        assert!(!same_lines("# print(1)\n", "# \rprint(1)\n"));
        assert_eq!(diff_lines("# print(1)\n", "# \rprint(1)\n", far()).counts, LineCounts { added: 2, removed: 1 });
        assert_eq!(shown("a", "a\nb"), "+1 -0\n@@ 1 1\n a\n+b");
        assert_eq!(diff_lines("", &"x".repeat(5_000), far()).hunks[0].lines[0].text.len(), MAX_LINE_CHARS);
    }
}
