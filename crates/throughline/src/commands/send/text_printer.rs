//! An answer's text on its way to the terminal: previews before it is durable, and blocks rendered for people.
//!
//! Invariant: each word is printed once, in order. A block is printed when it is durable, in place of its fence; only
//! text that may be part of a fence is held back.

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
    /// Previews that are not durable yet, each with the number of its block.
    ahead: Vec<(u32, String)>,
    /// Text that was printed from previews and is not durable yet.
    previewed: String,
    /// A block was printed last, so what follows begins on a new line.
    is_after_block: bool,
}

impl TextPrinter {
    pub(super) fn new(turn: Turn, session: String) -> Self {
        let (durable, ahead, previewed) = (BlockParter::default(), Vec::new(), String::new());
        Self { turn, session, durable, ahead, previewed, is_after_block: false }
    }

    /// Adds text that is not durable yet.
    pub(super) fn preview(&mut self, block: u32, text: &str) -> Vec<Print> {
        match self.ahead.last_mut() {
            Some((last, words)) if *last == block => words.push_str(text),
            Some(_) | None => self.ahead.push((block, text.to_owned())),
        }
        self.printable_preview().into_iter().collect()
    }

    /// Adds durable text.
    pub(super) fn add_durable(&mut self, block: u32, text: &str) -> Vec<Print> {
        let parts = self.durable.read(self.turn, block, text);
        let mut prints = self.print(parts);
        match self.ahead.first_mut() {
            Some((first, words)) if *first == block && words.starts_with(text) => drop(words.drain(..text.len())),
            Some((first, words)) if *first == block && text.starts_with(words.as_str()) => words.clear(),
            Some(_) => self.ahead.clear(),
            None => (),
        }
        self.ahead.retain(|(_, words)| !words.is_empty());
        prints.extend(self.printable_preview());
        prints
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
                SaidPart::Words(words) => {
                    let rest = settle(&mut self.previewed, &words);
                    prints.extend(self.words(&rest));
                }
                SaidPart::Block { nth, shown } => {
                    self.previewed.clear();
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

    /// The part of the previews that can be printed: nothing that may be a block, nor what follows one.
    fn printable_preview(&mut self) -> Option<Print> {
        let mut parter = self.durable.clone();
        let mut safe = String::new();
        let parts = self.ahead.iter().flat_map(|(block, text)| parter.read(self.turn, *block, text));
        for part in parts {
            match part {
                SaidPart::Words(words) => safe.push_str(&words),
                SaidPart::Block { .. } => break,
            }
        }
        let rest = safe.strip_prefix(self.previewed.as_str())?.to_owned();
        self.previewed = safe;
        self.words(&rest)
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

/// The rest of a durable part after its previews. If previews were skipped, the part does not begin with the printed
/// text; then it continues on a new line from where the two differ.
fn settle(previewed: &mut String, part: &str) -> String {
    if let Some(ahead) = previewed.strip_prefix(part) {
        *previewed = ahead.to_owned();
        return String::new();
    }
    let shown = std::mem::take(previewed);
    if let Some(rest) = part.strip_prefix(shown.as_str()) {
        return rest.to_owned();
    }
    let common: usize = shown.chars().zip(part.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    format!("\n{}", &part[common..])
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
    fn previews_go_as_far_as_what_may_be_a_block() {
        let mut words = words();
        assert_eq!(text(words.preview(0, "One `two`")), "One `two");
        assert_eq!(text(words.preview(0, ".\n``")), "`.\n");
        assert_eq!(text(words.preview(0, "`throughline:")), "");
        assert_eq!(text(words.preview(0, &NEXT["```throughline:".len()..])), "");
        assert_eq!(text(words.preview(0, "\n\nThree")), "", "what stands behind a block waits for it");
        assert_eq!(text(words.add_durable(0, "One `two`.\n")), "");
        assert_eq!(text(words.add_durable(0, &format!("{NEXT}\n"))), format!("{STEP}Three"));
        assert_eq!(text(words.preview(0, " four\n```th")), " four\n");
        assert_eq!(text(words.preview(0, "is\n")), "```this\n");
        assert_eq!(text(words.add_durable(0, "\nThree four\n```this\n")), "");
        assert_eq!(text(words.preview(2, "next text `")), "next text ");
        assert_eq!(text(words.add_durable(2, "next text `")), "");
        assert_eq!(text(words.pause()), "`", "a call stands between");
        assert_eq!(text(words.add_durable(2, "and on")), "and on");
        assert_eq!(text(words.end()), "");
    }

    /// Previews are not kept for a client that lags.
    #[test]
    fn skipped_previews_cost_no_words() {
        let mut words = words();
        assert_eq!(text(words.preview(0, "one ")), "one ");
        assert_eq!(text(words.preview(0, "three")), "three");
        assert_eq!(text(words.add_durable(0, "one two three ")), "\nwo three ");
        assert_eq!(text(words.add_durable(0, "four")), "four");
    }

    #[test]
    fn a_durable_part_adds_what_its_previews_left_out() {
        for (previewed, part, printed, ahead) in [
            ("", "one two", "one two", ""),
            ("one ", "one two", "two", ""),
            ("one two", "one two", "", ""),
            ("one two three", "one two", "", " three"),
            ("two", "one two", "\none two", ""),
            ("one three", "one two", "\nwo", ""),
            ("ä", "ö", "\nö", ""),
            ("日本", "日ä本", "\nä本", ""),
            ("x", "äöü", "\näöü", ""),
        ] {
            let mut kept = previewed.to_owned();
            assert_eq!((settle(&mut kept, part).as_str(), kept.as_str()), (printed, ahead), "{previewed} then {part}");
        }
    }
}
