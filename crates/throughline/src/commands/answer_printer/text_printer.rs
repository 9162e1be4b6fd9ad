//! An answer's text on its way to the terminal, with blocks rendered for people.
//!
//! Invariant: only stored words are printed, each once and in order. What a terminal has printed can not be made paler, nor
//! taken back once it has scrolled away; so words that a crash could still take are not printed at all. They are stored
//! about each second. Text that may be part of a fence is held back, and a block is printed in place of its fence.

use model::{BlockParter, NextId, SaidPart, Shown, Turn};

use crate::block_text::{card_lines, offer_line};

/// Something to print.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Print {
    /// Text that continues where the last one ended.
    Words(String),
    /// A block, on lines of its own.
    Lines(Vec<String>),
}

/// The text of one turn, in the session with this short id.
pub(super) struct TextPrinter {
    turn: Turn,
    session: String,
    durable: BlockParter,
    /// A block was printed last, so what follows begins on a new line.
    is_after_block: bool,
}

impl TextPrinter {
    pub(super) fn new(turn: Turn, session: String) -> Self {
        Self { turn, session, durable: BlockParter::default(), is_after_block: false }
    }

    /// Adds stored text.
    pub(super) fn add_durable(&mut self, block: u32, text: &str) -> Vec<Print> {
        let parts = self.durable.read(self.turn, block, text);
        self.print(parts)
    }

    /// Flushes before something else is printed.
    pub(super) fn pause(&mut self) -> Vec<Print> {
        let parts = self.durable.pause();
        self.print(parts)
    }

    /// Flushes at the end of the turn.
    pub(super) fn end(&mut self) -> Vec<Print> {
        let parts = self.durable.end();
        self.print(parts)
    }

    fn print(&mut self, parts: Vec<SaidPart>) -> Vec<Print> {
        let mut prints = Vec::new();
        for part in parts {
            match part {
                SaidPart::Words(words) => prints.extend(self.words(&words)),
                SaidPart::Block { nth, shown } => {
                    self.is_after_block = true;
                    prints.push(Print::Lines(match shown {
                        Shown::Next(next) => {
                            vec![offer_line(NextId { turn: self.turn, nth }, &next, &self.session)]
                        }
                        Shown::Card(card) => card_lines(&card),
                    }));
                }
            }
        }
        prints
    }

    fn words(&mut self, words: &str) -> Option<Print> {
        let words = if self.is_after_block { words.trim_start_matches('\n') } else { words };
        if words.is_empty() {
            return None;
        }
        self.is_after_block = false;
        Some(Print::Words(words.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEXT: &str = "```throughline:next\n{\"label\":\"Go\",\"command\":\"x\",\"metaContext\":\"loom\"}\n```";
    const STEP: &str = "[-> t3.n1  Go  (`throughline next 00ab t3.n1` takes it)]";

    fn words() -> TextPrinter {
        TextPrinter::new(Turn(3), "00ab".to_owned())
    }

    fn text(prints: Vec<Print>) -> String {
        let text = |print| match print {
            Print::Words(words) => words,
            Print::Lines(lines) => format!("[{}]", lines.join("|")),
        };
        prints.into_iter().map(text).collect()
    }

    #[test]
    fn a_block_is_printed_as_people_read_it_and_code_as_it_is() {
        let tasks = "```conclave:tasks\n{\"tasks\":[{\"id\":\"T1\",\"name\":\"weave\"}]}\n```";
        let said = format!("One.\n\n{NEXT}\n\nTwo `x`.\n```throughline:next\nno\n```\n{tasks}\n```rust\nx\n```");
        let mut words = words();
        let mut printed = text(words.add_durable(0, &said));
        printed.push_str(&text(words.end()));
        let code = "```throughline:next\nno\n```";
        assert_eq!(printed, format!("One.\n\n{STEP}Two `x`.\n{code}\n[[task] T1 weave]```rust\nx\n```"));
    }

    #[test]
    fn stored_words_go_as_far_as_what_may_be_a_block() {
        let mut words = words();
        assert_eq!(text(words.add_durable(0, "One `two`")), "One `two");
        assert_eq!(text(words.add_durable(0, ".\n``")), "`.\n");
        assert_eq!(text(words.add_durable(0, "`throughline:")), "");
        assert_eq!(text(words.add_durable(0, &format!("{}\n", &NEXT["```throughline:".len()..]))), STEP);
        assert_eq!(text(words.add_durable(0, "\nThree")), "Three");
        assert_eq!(text(words.add_durable(2, "next text `")), "next text ");
        assert_eq!(text(words.pause()), "`", "a call stands between");
        assert_eq!(text(words.add_durable(2, "and on")), "and on");
        assert_eq!(text(words.end()), "");
    }
}
