//! The beginning and the end of a text output, for a reader that has no room for the middle.

use model::OutputRow;

use super::{FoundLine, OutputError};
use crate::Engine;

/// A text, or how it begins and how it ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputEnds {
    /// Its first lines; all of them, if it is short enough.
    pub head: Vec<FoundLine>,
    /// Its last lines, if some between were left out.
    pub tail: Vec<FoundLine>,
}

impl Engine {
    /// The whole of a text that has at most `max` bytes, else about half as much of each of its ends.
    pub async fn output_ends(&self, row: &OutputRow, max: usize) -> Result<OutputEnds, OutputError> {
        if row.bytes <= max as u64 {
            let bytes = self.read_output(row, 0, max).await?;
            return Ok(OutputEnds { head: head(&bytes, true), tail: Vec::new() });
        }
        let half = max / 2;
        let first = self.read_output(row, 0, half).await?;
        let last = self.read_output(row, row.bytes - half as u64, half).await?;
        let lines = row.output.about.lines.unwrap_or_default();
        Ok(OutputEnds { head: head(&first, false), tail: tail(&last, lines) })
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned()
}

/// The lines of a beginning. The last is whole only if nothing follows; else it is left out, unless it is the only one.
fn head(bytes: &[u8], is_all: bool) -> Vec<FoundLine> {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let last = lines.pop().unwrap_or_default();
    let is_cut = !is_all && lines.is_empty();
    if (is_all && !last.is_empty()) || is_cut {
        lines.push(last);
    }
    let numbered = (1..).zip(lines);
    numbered.map(|(number, line)| FoundLine { number, text: text(line), cut: is_cut }).collect()
}

/// The lines of an end, of a text with so many. The first is left out, for its beginning is missing, unless it is the only one.
fn tail(bytes: &[u8], total: u64) -> Vec<FoundLine> {
    let ends = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut lines: Vec<&[u8]> = ends.split(|byte| *byte == b'\n').collect();
    let is_cut = lines.len() == 1;
    if !is_cut {
        lines.remove(0);
    }
    let first = (total + 1).saturating_sub(lines.len() as u64).max(1);
    let numbered = (first..).zip(lines);
    numbered.map(|(number, line)| FoundLine { number, text: text(line), cut: is_cut }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: &[FoundLine]) -> Vec<String> {
        let cut = |line: &FoundLine| if line.cut { "…" } else { "" };
        lines.iter().map(|line| format!("{}|{}{}", line.number, line.text, cut(line))).collect()
    }

    #[test]
    fn ends_have_whole_lines_with_their_numbers() {
        assert_eq!(shown(&head(b"a\nb\r\n\nc", true)), ["1|a", "2|b", "3|", "4|c"]);
        assert_eq!(shown(&head(b"a\nb\n", true)), ["1|a", "2|b"]);
        assert_eq!(shown(&head(b"", true)), Vec::<String>::new());
        assert_eq!(shown(&head(b"a\nb\nhal", false)), ["1|a", "2|b"]);
        assert_eq!(shown(&tail(b"lf\ny\nz\n", 9)), ["8|y", "9|z"]);
        assert_eq!(shown(&tail(b"lf\ny\nz", 9)), ["8|y", "9|z"]);
    }

    #[test]
    fn of_one_long_line_both_ends_are_said_to_be_cut() {
        assert_eq!(shown(&head(b"aaaa", false)), ["1|aaaa…"]);
        assert_eq!(shown(&tail(b"zzzz", 1)), ["1|zzzz…"]);
    }
}
