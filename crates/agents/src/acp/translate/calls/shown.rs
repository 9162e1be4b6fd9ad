//! What a call showed when it was last told, by marks, and how it compares with what it shows now.

use std::hash::{BuildHasher as _, RandomState};

use model::ToolContent;

use super::sent::mark_of;

/// Marks of what the call shows.
#[derive(Debug, Default)]
pub(super) struct Shown {
    items: Vec<u64>,
    /// Of the last item, if it can grow: the mark of all but its text, and the length and the mark of its text.
    growing: Option<(u64, usize, u64)>,
    omitted: u64,
}

/// How what is shown compares with what was.
pub(super) enum Compared {
    Same,
    /// The text at its end did, by this.
    Grew(String),
    Other,
}

impl Shown {
    pub(super) fn of(content: &[ToolContent], marks: &RandomState) -> Self {
        let omitted = match content.last() {
            Some(ToolContent::Omitted { bytes }) => *bytes,
            _ => 0,
        };
        let growing = growing(content).map(|(rest, text)| (marks.hash_one(rest), text.len(), marks.hash_one(text)));
        Self { items: content.iter().map(|item| mark_of_item(item, marks)).collect(), growing, omitted }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn compare(&self, content: &[ToolContent], is_end: bool, marks: &RandomState) -> Compared {
        let is_same = |(item, mark): (&ToolContent, &u64)| mark_of_item(item, marks) == *mark;
        let same = content.iter().zip(&self.items).take_while(|pair| is_same(*pair)).count();
        if content.len() != self.items.len() {
            return Compared::Other;
        }
        if same == content.len() {
            let is_said = match content.last() {
                // How much more there is that is not kept is said when it is known.
                Some(ToolContent::Omitted { bytes }) => *bytes == self.omitted || !is_end,
                _ => true,
            };
            return if is_said { Compared::Same } else { Compared::Other };
        }
        match (growing(content), self.growing) {
            (Some((rest, text)), Some((told_rest, told, mark)))
                if same + 1 == content.len() && marks.hash_one(rest) == told_rest =>
            {
                match text.get(..told) {
                    Some(start) if marks.hash_one(start) == mark => Compared::Grew(text[told..].to_owned()),
                    Some(_) | None => Compared::Other,
                }
            }
            _ => Compared::Other,
        }
    }
}

/// The text of the last item, which can be added to, and what else there is to the item.
fn growing(content: &[ToolContent]) -> Option<((&str, Option<i32>), &str)> {
    match content.last() {
        Some(ToolContent::Text { text }) => Some((("", None), text)),
        Some(ToolContent::Terminal { command, output, exit_code }) => Some(((command, *exit_code), output)),
        _ => None,
    }
}

/// All omissions look the same: how much is left out changes with every word that comes.
fn mark_of_item(item: &ToolContent, marks: &RandomState) -> u64 {
    match item {
        ToolContent::Omitted { .. } => 0,
        item => mark_of(item, marks),
    }
}
