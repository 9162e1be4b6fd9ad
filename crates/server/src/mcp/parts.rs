//! Divides a record that is too long for one answer into parts.
//!
//! Invariant: parts are the same for the same record and the same budget; each says who speaks before the first quoted
//! line, and all of them together leave nothing out.

use super::budget::{Budget, size};
use super::quote::Said;

/// A longer line goes on in the next one. Two lines of the widest characters fit into the smallest part.
const LINE_CHARS: usize = 500;
/// How much is shown on each side of what is looked for.
const AROUND_CHARS: usize = 100;

struct Line {
    text: String,
    /// Which of those that were said it belongs to.
    of: usize,
    /// It is our own word on who speaks.
    is_head: bool,
}

/// A record, divided.
pub(super) struct Parts {
    said: Vec<Said>,
    lines: Vec<Line>,
    /// Where each begins.
    starts: Vec<usize>,
}

/// A record as it is read, undivided.
pub(super) fn undivided(said: &[Said]) -> Vec<String> {
    lines(said).into_iter().map(|line| line.text).collect()
}

fn lines(said: &[Said]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (of, one) in said.iter().enumerate() {
        let mark = if one.lines.is_empty() { "" } else { ":" };
        lines.push(Line { text: format!("{}{mark}", one.head), of, is_head: true });
        for line in &one.lines {
            lines.extend(pieces(line).map(|piece| Line { text: format!("> {piece}"), of, is_head: false }));
        }
    }
    lines
}

impl Parts {
    pub(super) fn of(said: Vec<Said>, budget: Budget) -> Self {
        let lines = lines(&said);
        let (mut starts, mut room) = (vec![0], budget.room());
        for (at, line) in lines.iter().enumerate() {
            let size = size(&line.text) + 1;
            if size > room && starts.last() != Some(&at) {
                starts.push(at);
                room = budget.room();
            }
            room = room.saturating_sub(size);
        }
        Self { said, lines, starts }
    }

    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    /// The lines of a part, from 1.
    pub(super) fn part(&self, number: usize) -> Option<Vec<String>> {
        let at = number.checked_sub(1)?;
        let start = *self.starts.get(at)?;
        let end = self.starts.get(number).copied().unwrap_or(self.lines.len());
        let lines = self.lines.get(start..end)?;
        let again = lines.first().filter(|line| !line.is_head).map(|line| self.again(line));
        Some(again.into_iter().chain(lines.iter().map(|line| line.text.clone())).collect())
    }

    fn again(&self, line: &Line) -> String {
        format!("{}, continued:", self.said[line.of].again)
    }

    /// Where a text is, whatever its case: a line each, with the part that has it and who speaks.
    pub(super) fn find(&self, wanted: &str) -> Vec<String> {
        let wanted: Vec<char> = folded(wanted).collect();
        let mut found = Vec::new();
        let mut at = 0;
        for one in &self.said {
            at += 1;
            for line in &one.lines {
                if let Some(place) = place(line, &wanted) {
                    let part = self.starts.partition_point(|start| *start <= at + place / LINE_CHARS);
                    found.push(format!("part {part}, {}: > {}", one.again, around(line, place, wanted.len())));
                }
                at += pieces(line).count();
            }
        }
        found
    }
}

/// A line, cut where it is too long; an empty one is one too.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        match line.char_indices().nth(LINE_CHARS) {
            Some((end, _)) => {
                rest = Some(&line[end..]);
                Some(&line[..end])
            }
            None => {
                rest = None;
                Some(line)
            }
        }
    })
}

/// One small letter for each letter, so that places stay the same.
fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| c.to_lowercase().next().unwrap_or(c))
}

/// At which character it begins.
fn place(line: &str, wanted: &[char]) -> Option<usize> {
    let line: Vec<char> = folded(line).collect();
    line.windows(wanted.len().max(1)).position(|window| window == wanted)
}

fn around(line: &str, place: usize, length: usize) -> String {
    let chars: Vec<char> = line.chars().collect();
    let (start, end) = (place.saturating_sub(AROUND_CHARS), (place + length + AROUND_CHARS).min(chars.len()));
    let text: String = chars[start..end].iter().collect();
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < chars.len() { "…" } else { "" });
    format!("{before}{}{after}", text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::arguments::MaxTokens;

    fn said(head: &str, lines: Vec<String>) -> Said {
        Said { head: head.to_owned(), again: head.to_owned(), lines }
    }

    #[test]
    fn parts_leave_nothing_out_and_say_who_speaks() {
        let long: Vec<String> = (0..2_000).map(|n| format!("line {n}")).collect();
        let parts = Parts::of(vec![said("USER", vec!["hello".to_owned()]), said("ASSISTANT", long)], Budget::of(None));
        assert!(parts.count() > 2);
        let mut all = Vec::new();
        for number in 1..=parts.count() {
            let lines = parts.part(number).unwrap();
            assert!(lines.iter().map(|line| size(line) + 1).sum::<usize>() <= 8_000);
            if number > 1 {
                assert_eq!(lines[0], "ASSISTANT, continued:");
            }
            all.extend(lines.into_iter().filter(|line| line.starts_with("> line")));
        }
        assert_eq!(all.len(), 2_000);
        assert_eq!((parts.part(0), parts.part(parts.count() + 1)), (None, None));
        let found = parts.find("LINE 1999");
        assert_eq!(found, [format!("part {}, ASSISTANT: > line 1999", parts.count())]);
    }

    #[test]
    fn a_long_line_is_found_where_it_is_cut() {
        let line = format!("{}needle{}", "x".repeat(LINE_CHARS - 3), "y".repeat(40_000));
        let parts = Parts::of(vec![said("USER", vec![line])], Budget::of(Some(MaxTokens(1_000))));
        let found = parts.find("Needle");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("part 1, USER: > …xxx") && found[0].ends_with("yyy…"), "{found:?}");
        let all: String = (1..=parts.count()).flat_map(|number| parts.part(number).unwrap()).collect();
        assert_eq!(all.matches('y').count(), 40_000);
    }

    #[test]
    fn nothing_said_is_one_empty_part() {
        assert_eq!(Parts::of(Vec::new(), Budget::of(None)).part(1), Some(Vec::new()));
    }
}
