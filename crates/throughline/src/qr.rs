//! Draws a QR code with characters, two squares to each.
//!
//! Invariant: on a terminal both colours are set, so that the code is dark on light whatever the terminal's own colours are.

use anyhow::{Context as _, Result};
use server::QrSquares;

/// Black on white, from the 216 colours that no theme changes.
const BLACK_ON_WHITE: &str = "\u{1b}[38;5;16;48;5;231m";
const AS_BEFORE: &str = "\u{1b}[0m";

/// Which colours the squares have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colours {
    /// Black on white.
    Ours,
    /// The terminal's own. The light squares are drawn, as most terminals are dark.
    Theirs,
}

/// The code, line by line.
pub(crate) fn lines(text: &str, colours: Colours) -> Result<Vec<String>> {
    let code = QrSquares::of(text).context("the link is too long for a QR code; open it as text")?;
    let is_drawn = |x: usize, y: usize| match colours {
        Colours::Ours => code.is_dark(x, y),
        Colours::Theirs => !code.is_dark(x, y),
    };
    let line = |y: usize| {
        let drawn: String = (0..code.side())
            .map(|x| match (is_drawn(x, y), is_drawn(x, y + 1)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            })
            .collect();
        match colours {
            Colours::Ours => format!("{BLACK_ON_WHITE}{drawn}{AS_BEFORE}"),
            Colours::Theirs => drawn,
        }
    };
    Ok((0..code.side()).step_by(2).map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dark squares of the printed lines, in a frame as wide as the lines.
    fn squares(lines: &[String], drawn_is_dark: bool) -> Vec<Vec<bool>> {
        let half = |line: &String, full: [char; 2]| -> Vec<bool> {
            line.chars().map(|c| full.contains(&c) == drawn_is_dark).collect()
        };
        lines.iter().flat_map(|line| [half(line, ['█', '▀']), half(line, ['█', '▄'])]).collect()
    }

    #[test]
    fn each_square_is_where_it_belongs_and_light_surrounds_them() {
        let text = "https://box.example:7417/#code=0123456789abcdef0123456789abcdef";
        let code = QrSquares::of(text).unwrap();
        let plain = squares(&lines(text, Colours::Theirs).unwrap(), false);
        let coloured: Vec<String> = lines(text, Colours::Ours)
            .unwrap()
            .iter()
            .map(|line| line.strip_prefix(BLACK_ON_WHITE).unwrap().strip_suffix(AS_BEFORE).unwrap().to_owned())
            .collect();
        assert_eq!(plain, squares(&coloured, true), "the two ways show the same");
        for (y, row) in plain.iter().enumerate() {
            assert_eq!(row.len(), code.side());
            for (x, is_dark) in row.iter().enumerate() {
                assert_eq!(*is_dark, code.is_dark(x, y), "{x} {y}");
            }
        }
        assert!(plain[0].len() <= 80, "a terminal holds it");
    }
}
