//! Splits words that come in pieces into those that can be shown at once and the blocks that take the place of others.
//!
//! Invariant: what is given is all that was read, in its order, each character once, but for those of the blocks; and
//! nothing is held back but what may be a block. Where the words are cut into pieces makes no difference.

use super::BlockScanner;
use crate::{SessionEvent, Shown, Span, Turn};

/// A part of a turn's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SaidPart {
    /// Words as they are.
    Words(String),
    /// What is shown in place of a fence, with its number among those of its sort in the turn.
    Block {
        /// From 1.
        nth: u32,
        /// What it says.
        shown: Shown,
    },
}

/// Parts a turn's words.
#[derive(Debug, Clone, Default)]
pub struct BlockParter {
    scanner: BlockScanner,
    /// The text that is being read, and how many of its characters were given.
    text: Option<(u32, u32)>,
    /// What comes behind those.
    held: String,
}

impl BlockParter {
    /// Reads on, in this turn's text of that number.
    pub fn read(&mut self, turn: Turn, block: u32, text: &str) -> Vec<SaidPart> {
        let mut parts = match self.text {
            // Too late to be part of a block.
            Some((open, _)) if block < open => return vec![SaidPart::Words(text.to_owned())],
            Some((open, _)) if open < block => self.end(),
            Some(_) | None => Vec::new(),
        };
        self.text.get_or_insert((block, 0));
        self.held.push_str(text);
        let found = self.scanner.read(turn, block, text);
        self.put(found, &mut parts);
        let until = self.scanner.may_be_block_since().unwrap_or(u32::MAX);
        self.give(until, &mut parts);
        parts
    }

    /// Something else than words is shown: those follow that are not known to be a block's.
    pub fn pause(&mut self) -> Vec<SaidPart> {
        let mut parts = Vec::new();
        self.give(self.scanner.is_block_since().unwrap_or(u32::MAX), &mut parts);
        parts
    }

    /// The turn is over, or another text began: what was held back ends here.
    pub fn end(&mut self) -> Vec<SaidPart> {
        let mut parts = Vec::new();
        let found = self.scanner.end();
        self.put(found, &mut parts);
        self.give(u32::MAX, &mut parts);
        self.text = None;
        parts
    }

    fn put(&mut self, found: Vec<SessionEvent>, parts: &mut Vec<SaidPart>) {
        for event in found {
            let (span, part) = match event {
                SessionEvent::NextOffered { nth, span, next, .. } => {
                    (span, SaidPart::Block { nth, shown: Shown::Next(next) })
                }
                SessionEvent::BlockShown { nth, span, card, .. } => {
                    (span, SaidPart::Block { nth, shown: Shown::Card(card) })
                }
                _ => continue,
            };
            let Span { start, end, .. } = span;
            self.give(start, parts);
            drop(self.take(end));
            parts.push(part);
        }
    }

    fn give(&mut self, until: u32, parts: &mut Vec<SaidPart>) {
        let words = self.take(until);
        if !words.is_empty() {
            parts.push(SaidPart::Words(words));
        }
    }

    /// What is held up to a place in the text.
    fn take(&mut self, until: u32) -> String {
        let Some((_, given)) = &mut self.text else { return String::new() };
        let count = until.saturating_sub(*given) as usize;
        let (chars, bytes) = match self.held.char_indices().nth(count) {
            Some((bytes, _)) => (count, bytes),
            None => (self.held.chars().count(), self.held.len()),
        };
        *given = given.saturating_add(u32::try_from(chars).unwrap_or(u32::MAX));
        let rest = self.held.split_off(bytes);
        std::mem::replace(&mut self.held, rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GO: &str = r#"{"label":"Go","command":"/go","metaContext":"loom"}"#;

    fn text() -> String {
        let cut = "```rust\nlet a = `b`;\n```\n";
        format!(
            "Käse `x`\n\n```throughline:next\n{GO}\n```\n\n{cut}Then ~~~conclave:NEXT\n{GO}\n~~~\nno `\n```throughline:next\nx\n```\n> ```throughline:next\n```throug"
        )
    }

    fn written(parts: &[SaidPart]) -> String {
        let write = |part: &SaidPart| match part {
            SaidPart::Words(words) => words.clone(),
            SaidPart::Block { nth, shown: Shown::Next(next) } => format!("<{nth} {}>", next.label),
            SaidPart::Block { nth, shown: Shown::Card(_) } => format!("<{nth}>"),
        };
        parts.iter().map(write).collect()
    }

    #[test]
    fn a_block_stands_where_its_fence_stood() {
        let mut parter = BlockParter::default();
        let mut parts = parter.read(Turn(1), 0, &text());
        parts.extend(parter.end());
        assert_eq!(
            written(&parts),
            "Käse `x`\n\n<1 Go>\n\n```rust\nlet a = `b`;\n```\nThen <2 Go>\nno `\n```throughline:next\nx\n```\n> ```throughline:next\n```throug"
        );
    }

    #[test]
    fn only_what_may_be_a_block_is_held_back() {
        for (said, at_once, paused) in [
            ("plain words", "plain words", ""),
            ("a `b", "a `b", ""),
            ("a `b`", "a `b", "`"),
            ("a\n  ``", "a\n", "  ``"),
            ("a\n```th", "a\n", "```th"),
            ("a\n```rust", "a\n```rust", ""),
            ("a\n```throughline:nexx", "a\n```throughline:nexx", ""),
            ("a\n```throughline:next", "a\n", "```throughline:next"),
            ("a\n```throughline:next\n{}", "a\n", ""),
            ("a\n```throughline:next\n{}\n```\n", "a\n```throughline:next\n{}\n```\n", ""),
            ("> ```throughline:next", "> ```throughline:next", ""),
            ("```rust\n```", "```rust\n```", ""),
        ] {
            let mut parter = BlockParter::default();
            assert_eq!(written(&parter.read(Turn(1), 0, said)), at_once, "{said}");
            assert_eq!(written(&parter.pause()), paused, "{said}");
            let rest = written(&parter.end());
            assert_eq!(format!("{at_once}{paused}{rest}"), said);
        }
    }

    #[test]
    fn a_text_ends_where_another_begins() {
        let mut parter = BlockParter::default();
        let mut parts = parter.read(Turn(1), 0, "one `");
        parts.extend(parter.read(Turn(1), 2, &format!("```throughline:next\n{GO}\n```")));
        assert_eq!(written(&parts), "one `");
        assert_eq!(written(&parter.read(Turn(1), 3, "two")), "<1 Go>two");
        assert_eq!(parter.end(), []);
    }

    proptest! {
        #[test]
        fn where_the_words_are_cut_makes_no_difference(cuts in proptest::collection::vec(0_usize..200, 0..8)) {
            let text: Vec<char> = text().chars().collect();
            let mut whole = BlockParter::default();
            let mut expected = whole.read(Turn(1), 0, &text.iter().collect::<String>());
            expected.extend(whole.end());
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).chain([0, text.len()]).collect();
            cuts.sort_unstable();
            let mut parter = BlockParter::default();
            let mut parts = Vec::new();
            for piece in cuts.windows(2) {
                let piece: String = text[piece[0]..piece[1]].iter().collect();
                parts.extend(parter.read(Turn(1), 0, &piece));
            }
            parts.extend(parter.end());
            prop_assert_eq!(written(&parts), written(&expected));
        }
    }
}
