//! Output for people on a terminal: tables, times, and text of agents made harmless.
//!
//! Invariant: nothing that an agent or a caller wrote reaches a terminal with its control characters.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::bail;
use model::Timestamp;
use unicode_width::UnicodeWidthStr as _;

use crate::style::Style;
use crate::{hint, log};

/// Prints a line; a reader that has closed the pipe ends the program quietly.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Prints a line of our own that says what to run next.
pub(crate) fn advice(text: &str) -> io::Result<()> {
    line(&hint::with_options(text))
}

/// Prints text without a line end and flushes it.
pub(crate) fn print_text(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Whether a person can be asked.
pub(crate) fn is_at_keyboard() -> bool {
    io::stdin().is_terminal()
}

/// Asks the person, unless `yes` says it already; whoever can not be asked or does not agree gets an error, a refusal in these words.
pub(crate) fn agree(yes: bool, question: &str, refusal: &'static str) -> anyhow::Result<()> {
    if !yes && !is_at_keyboard() {
        bail!("nobody can be asked here; add --yes if that is meant");
    }
    if !yes && !confirm(question)? {
        bail!(refusal);
    }
    Ok(())
}

/// Asks the person; anything but a yes is a no. What the command prints may go elsewhere, so the question does not stand in it.
pub(crate) fn confirm(question: &str) -> io::Result<bool> {
    log::write_stderr(&safe(question));
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Prints an error with its causes.
pub(crate) fn print_error(err: &anyhow::Error) -> ExitCode {
    if err.downcast_ref::<io::Error>().is_some_and(|err| err.kind() == io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    let mut text = format!("error: {err}");
    for cause in err.chain().skip(1) {
        text.push_str(&format!("\n  because {cause}"));
    }
    text.push('\n');
    log::write_stderr(&safe(&hint::with_options(&text)));
    ExitCode::FAILURE
}

/// Prints something that the person should know and did not ask for.
pub(crate) fn remark(text: &str) {
    log::write_stderr(&format!("note: {}\n", safe(&hint::with_options(text))));
}

/// Control characters, escape sequences and invisible direction marks become visible or are removed.
pub(crate) fn safe(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\n' | '\t' => Some(c),
            '\u{1b}' => Some('␛'),
            c if c.is_control() => Some('·'),
            c if is_invisible(c) => None,
            c => Some(c),
        })
        .collect()
}

/// JSON with the same meaning and none of those characters: JSON itself escapes only some.
pub(crate) fn safe_json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if (c.is_control() && c != '\n') || is_invisible(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Characters that reorder or hide text.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// A cell of a table, made harmless and on one line.
pub(crate) struct Cell {
    pub(crate) text: String,
    style: Option<Style>,
}

impl Cell {
    pub(crate) fn plain(text: impl AsRef<str>) -> Self {
        Self { text: safe(text.as_ref()).replace(['\n', '\t'], " "), style: None }
    }

    pub(crate) fn styled(text: impl AsRef<str>, style: Style) -> Self {
        Self { style: Some(style), ..Self::plain(text) }
    }
}

/// Columns as wide as their widest cell.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let rows: Vec<Vec<Cell>> = rows.iter().map(|row| row.iter().map(Cell::plain).collect()).collect();
    styled_table(header, &rows)
}

/// The same with colours.
pub(crate) fn styled_table(header: &[&str], rows: &[Vec<Cell>]) -> Vec<String> {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].text.width());
        cells.chain([header[column].width()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let header: Vec<Cell> = header.iter().map(|cell| Cell::styled(cell, Style::Dim)).collect();
    let line = |row: &Vec<Cell>| {
        let mut line = String::new();
        for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
            line.push_str(&cell.style.map_or_else(|| cell.text.clone(), |style| style.paint(&cell.text)));
            // Nothing is written behind the last cell that has something in it.
            if row[index + 1..].iter().any(|cell| !cell.text.is_empty()) {
                line.push_str(&" ".repeat(width.saturating_sub(cell.text.width()) + 2));
            }
        }
        line
    };
    [&header].into_iter().chain(rows).map(line).collect()
}

/// How long ago it was, in one word.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = (now.as_millis() - at.as_millis()).max(0) / 1_000;
    match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A sentence about a number of things; `None` if there are none.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{} {many}", indicatif::HumanCount(count))),
    }
}

/// Cuts a line to so many columns.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if kept.width() >= columns {
            kept.pop();
            break;
        }
    }
    format!("{kept}…")
}

/// Cuts a line to its last columns.
pub(crate) fn cut_start(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut kept: Vec<char> = Vec::new();
    for c in text.chars().rev() {
        kept.push(c);
        if kept.iter().collect::<String>().width() >= columns {
            kept.pop();
            break;
        }
    }
    kept.iter().rev().fold("…".to_owned(), |mut text, c| {
        text.push(*c);
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_codes_and_direction_tricks_do_not_reach_the_terminal() {
        assert_eq!(safe("a\u{1b}[31mb\u{202e}c\u{7}\nd\u{9b}"), "a␛[31mbc·\nd·");
    }

    #[test]
    fn json_keeps_its_meaning_without_them() {
        let text = "a\u{9b}b\u{202e}c\u{e0041}d\u{7f}\u{1b}\"ä";
        let safe = safe_json(&serde_json::to_string_pretty(&[text]).unwrap());
        assert_eq!(serde_json::from_str::<[String; 1]>(&safe).unwrap(), [text]);
        assert!(safe.chars().all(|c| c == '\n' || !(c.is_control() || is_invisible(c))), "{safe:?}");
    }

    #[test]
    fn columns_line_up_also_with_wide_characters() {
        let rows = [vec!["検索".to_owned(), "x".to_owned()], vec!["a\nb".to_owned(), "y".to_owned()]];
        assert_eq!(table(&["NAME", "V"], &rows), ["NAME  V", "検索  x", "a b   y"]);
    }

    #[test]
    fn lines_are_cut_by_columns() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("検索検索", 5), "検索…");
        assert_eq!(cut("abcd", 4), "abcd");
        assert_eq!(cut_start("abcdef", 4), "…def");
        assert_eq!(cut_start("検索検索", 5), "…検索");
        assert_eq!(cut_start("abcd", 4), "abcd");
    }
}
