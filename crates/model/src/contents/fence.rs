//! Finds fenced code, line by line.
//!
//! Invariant: what opens and closes a fence at the beginning of a line is what Markdown says, at any indentation. The tests
//! compare it with `pulldown-cmark`, which can not be used here: it would read reminders, diffs and logs as Markdown too, and
//! take a fence that one of them leaves open for the rest of the prompt.

/// A fence that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeFence {
    sign: char,
    length: usize,
}

impl CodeFence {
    /// The fence that is open behind this line.
    pub(crate) fn after(open: Option<Self>, line: &str) -> Option<Self> {
        let line = line.trim();
        match open {
            None => Self::opened_by(line),
            Some(fence) => (!fence.is_closed_by(line)).then_some(fence),
        }
    }

    /// The line that closes it.
    pub(crate) fn closing(self) -> String {
        self.sign.to_string().repeat(self.length)
    }

    fn opened_by(line: &str) -> Option<Self> {
        let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
        let info = line.trim_start_matches(sign);
        let length = line.len() - info.len();
        // "```one line```" is code in a line.
        let is_inline = sign == '`' && info.contains('`');
        (length >= 3 && !is_inline).then_some(Self { sign, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        line.len() >= self.length && line.trim_start_matches(self.sign).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

    use super::*;

    proptest! {
        #[test]
        fn fences_are_what_markdown_says(lines in prop::collection::vec("[ ]{0,3}(`{0,5}|~{0,5})(a|rust| b`c| d~e)?[ ]{0,2}", 0..12)) {
            let text = lines.join("\n");
            let mut fence = None;
            let found: Vec<bool> = text.lines().map(|line| {
                let before = fence;
                fence = CodeFence::after(before, line);
                before.is_some() || fence.is_some()
            }).collect();
            let fences: Vec<_> = Parser::new(&text)
                .into_offset_iter()
                .filter(|(event, _)| matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)))))
                .map(|(_, range)| range)
                .collect();
            let expected: Vec<bool> = text.lines().map(|line| {
                // The last byte: a fence begins behind the space that it is indented by.
                let end = line.as_ptr().addr() - text.as_ptr().addr() + line.len();
                fences.iter().any(|fence| fence.start < end.max(1) && end <= fence.end)
            }).collect();
            prop_assert_eq!(found, expected, "{}", text);
        }
    }
}
