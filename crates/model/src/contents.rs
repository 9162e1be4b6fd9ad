//! The contents of a session: one line a turn, and the title that the newest of them give.
//!
//! Invariant: pure and deterministic. Whatever a person pasted or a model answered, a summary is one line of at most
//! [`MAX_SUMMARY_CHARS`] and a title one of at most [`MAX_TITLE_CHARS`] characters without control or hidden ones, and no
//! more than a bounded part of the text is looked at.

mod blocks;
mod boilerplate;
mod cut;
mod fence;
mod inline;
mod model_answer;
mod model_request;
mod scaffolding;
mod sentence;
mod short_title;
mod summary;
mod terms;
mod title;
mod vocabulary;

use crate::Turn;

pub(crate) use fence::CodeFence;
pub use model_answer::{clean_summary, clean_title};
pub use model_request::{ModelRequest, summary_request, title_request};
pub use scaffolding::is_tools_own;
pub use summary::extract_summary;
pub(crate) use summary::summary_with_call;
pub use title::{Topics, topic_title};

/// A summary has at most so many characters.
pub const MAX_SUMMARY_CHARS: usize = 100;
/// A title that nobody typed has at most so many characters.
pub const MAX_TITLE_CHARS: usize = 60;
/// The summary of a turn that says nothing.
pub const EMPTY_SUMMARY: &str = "(empty)";

/// A title looks at so many of the newest turns.
pub const TITLE_TURNS: usize = 20;

/// A line of the contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnLine {
    /// Its true number.
    pub turn: Turn,
    /// What it was about.
    pub summary: String,
}

/// The newest lines that a title looks at, oldest first, in whatever order they came.
fn newest_lines(turns: &[TurnLine]) -> Vec<&TurnLine> {
    let mut lines: Vec<&TurnLine> = turns.iter().collect();
    lines.sort_by_key(|line| line.turn);
    lines.split_off(lines.len().saturating_sub(TITLE_TURNS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_looks_at_the_newest_turns_by_their_numbers() {
        let mut turns: Vec<_> =
            (1..=30).map(|number| TurnLine { turn: Turn(number), summary: String::new() }).collect();
        turns.reverse();
        let numbers: Vec<u32> = newest_lines(&turns).iter().map(|line| line.turn.0).collect();
        assert_eq!(numbers, (11..=30).collect::<Vec<_>>());
    }
}
