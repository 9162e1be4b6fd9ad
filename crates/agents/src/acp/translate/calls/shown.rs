//! Hashes of the content that a call showed when it was last reported, and the comparison with its content now.

use std::hash::{BuildHasher as _, RandomState};

use model::ToolContent;

use super::sent::hash_of;

/// Hashes of a call's content.
#[derive(Debug, Default)]
pub(super) struct ContentHashes {
    items: Vec<u64>,
    /// For the last item, if it can grow: the hash of all but its text, and the length and the hash of its text.
    growing: Option<(u64, usize, u64)>,
    omitted: u64,
}

/// How the content differs from the content before.
pub(super) enum ContentChange {
    Same,
    /// The text of the last item grew by this.
    Grew(String),
    Other,
}

impl ContentHashes {
    pub(super) fn of(content: &[ToolContent], hasher: &RandomState) -> Self {
        let omitted = match content.last() {
            Some(ToolContent::Omitted { bytes }) => *bytes,
            _ => 0,
        };
        let growing = growing(content).map(|(rest, text)| (hasher.hash_one(rest), text.len(), hasher.hash_one(text)));
        Self { items: content.iter().map(|item| hash_of_item(item, hasher)).collect(), growing, omitted }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn compare(&self, content: &[ToolContent], is_end: bool, hasher: &RandomState) -> ContentChange {
        let is_same = |(item, mark): (&ToolContent, &u64)| hash_of_item(item, hasher) == *mark;
        let same = content.iter().zip(&self.items).take_while(|pair| is_same(*pair)).count();
        if content.len() != self.items.len() {
            return ContentChange::Other;
        }
        if same == content.len() {
            let is_said = match content.last() {
                // How many bytes were omitted is reported at the end, when it is known.
                Some(ToolContent::Omitted { bytes }) => *bytes == self.omitted || !is_end,
                _ => true,
            };
            return if is_said { ContentChange::Same } else { ContentChange::Other };
        }
        match (growing(content), self.growing) {
            (Some((rest, text)), Some((told_rest, reported, mark)))
                if same + 1 == content.len() && hasher.hash_one(rest) == told_rest =>
            {
                match text.get(..reported) {
                    Some(start) if hasher.hash_one(start) == mark => ContentChange::Grew(text[reported..].to_owned()),
                    Some(_) | None => ContentChange::Other,
                }
            }
            _ => ContentChange::Other,
        }
    }
}

/// The last item, if text can be added to it: what else there is to it, and its text.
fn growing(content: &[ToolContent]) -> Option<((&str, Option<i32>), &str)> {
    match content.last() {
        Some(ToolContent::Text { text }) => Some((("", None), text)),
        Some(ToolContent::Terminal { command, output, exit_code }) => Some(((command, *exit_code), output)),
        _ => None,
    }
}

/// All omissions have the same hash: the omitted size changes with every message.
fn hash_of_item(item: &ToolContent, hasher: &RandomState) -> u64 {
    match item {
        ToolContent::Omitted { .. } => 0,
        item => hash_of(item, hasher),
    }
}
