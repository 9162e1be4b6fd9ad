//! A text as the squares of a QR code: the one place that knows the code's library. The page gets it as the path of a
//! picture, the command line draws the squares itself.
//!
//! Invariant: the four light squares around the code that readers need are part of it.

use qrcode::{Color, EcLevel, QrCode};

const QUIET: usize = 4;

/// A QR code with its light frame.
#[derive(Clone, PartialEq, Eq)]
pub struct QrSquares {
    width: usize,
    dark: Vec<bool>,
}

impl QrSquares {
    /// The code of this text; `None` if it is too long for one.
    pub fn of(text: &str) -> Option<Self> {
        // On a screen nothing gets dirty: the lowest error correction makes the largest squares.
        let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
        let dark = code.to_colors().iter().map(|color| *color == Color::Dark).collect();
        Some(Self { width: code.width(), dark })
    }

    /// How many squares it is wide and high.
    pub fn side(&self) -> usize {
        self.width + 2 * QUIET
    }

    /// Whether a square is dark; those of the frame, and those outside of it, are light.
    pub fn is_dark(&self, x: usize, y: usize) -> bool {
        let inside = QUIET..QUIET + self.width;
        inside.contains(&x) && inside.contains(&y) && self.dark[(y - QUIET) * self.width + (x - QUIET)]
    }

    /// The dark squares as an SVG path, in units of one square: one rectangle for each run of a row.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for y in 0..self.side() {
            let mut x = 0;
            while x < self.side() {
                let run = (x..self.side()).take_while(|x| self.is_dark(*x, y)).count();
                if run > 0 {
                    path.push_str(&format!("M{x} {y}h{run}v1h-{run}z"));
                }
                x += run.max(1);
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The squares that a path covers.
    fn covered(path: &str) -> Vec<(usize, usize)> {
        let rectangles = path.split('M').filter(|rectangle| !rectangle.is_empty());
        let squares = rectangles.flat_map(|rectangle| {
            let (corner, run) = rectangle.split_once('h').unwrap();
            let (x, y) = corner.split_once(' ').unwrap();
            let run: usize = run.split_once('v').unwrap().0.parse().unwrap();
            let (x, y): (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
            (x..x + run).map(move |x| (x, y))
        });
        squares.collect()
    }

    #[test]
    fn the_path_covers_the_dark_squares_and_light_surrounds_them() {
        let text = "https://box.example:7417/#code=0123456789abcdef0123456789abcdef";
        let code = QrCode::with_error_correction_level(text, EcLevel::L).unwrap();
        let squares = QrSquares::of(text).unwrap();
        assert_eq!(squares.side(), code.width() + 8);
        let mut dark = Vec::new();
        for y in 0..code.width() {
            let row = (0..code.width()).filter(|x| code[(*x, y)] == Color::Dark);
            dark.extend(row.map(|x| (x + 4, y + 4)));
        }
        assert_eq!(covered(&squares.path()), dark);
    }

    #[test]
    fn a_text_that_no_code_holds_has_none() {
        assert!(QrSquares::of(&"x".repeat(3_000)).is_none());
    }
}
