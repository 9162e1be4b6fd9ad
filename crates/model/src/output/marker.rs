//! `[output:ID]`, with which the answer of a tool that shows something begins, so that the agent can name what was shown.
//!
//! Invariant: a marker is text. No card is made of one; cards come from `output.stored` alone. Whoever reads a marker must
//! know that the answer is of our own tools, since any program can print one.

use std::fmt;

use crate::OutputId;

const BEGINNING: &str = "[output:";
const END: char = ']';

/// Names an output in the text of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputMarker(pub OutputId);

impl OutputMarker {
    /// The marker that a tool's text begins with, and what follows it. However long the text is, only so much of it is read
    /// as a marker has.
    pub fn at_start(text: &str) -> Option<(Self, &str)> {
        let (id, rest) = text.strip_prefix(BEGINNING)?.split_at_checked(OutputId::TEXT_BYTES)?;
        Some((Self(id.parse().ok()?), rest.strip_prefix(END)?))
    }
}

impl fmt::Display for OutputMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BEGINNING}{}{END}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: &str = "out_0123456789abcdef0123456789abcdef";

    proptest! {
        #[test]
        fn a_marker_reads_back_as_itself_whatever_follows(bytes: [u8; 16], rest in any::<String>()) {
            let marker = OutputMarker(OutputId::from_bytes(bytes));
            let text = format!("{marker}{rest}");
            prop_assert_eq!(OutputMarker::at_start(&text), Some((marker, rest.as_str())));
        }

        #[test]
        fn nothing_else_is_found_in_any_text(text in "(\\[output:)?(out_)?[0-9a-fA-F+ü]{0,40}\\]?.{0,9}") {
            let is_one = text.strip_prefix("[output:out_").is_some_and(|rest| {
                let bytes = rest.as_bytes();
                let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                bytes.get(..32).is_some_and(|digits| digits.iter().all(is_digit)) && bytes.get(32) == Some(&b']')
            });
            prop_assert_eq!(OutputMarker::at_start(&text).is_some(), is_one);
        }
    }

    #[test]
    fn a_marker_stands_at_the_beginning_and_has_one_spelling() {
        let text = format!("[output:{ID}] The person sees a");
        let (marker, rest) = OutputMarker::at_start(&text).unwrap();
        assert_eq!((marker.0.to_string().as_str(), rest), (ID, " The person sees a"));
        for text in [
            String::new(),
            ID.to_owned(),
            format!("[output:{ID}"),
            format!(" [output:{ID}]"),
            format!("see [output:{ID}]"),
            format!("[output: {ID}]"),
            format!("[output:{ID} ]"),
            format!("[Output:{ID}]"),
            format!("[output:{ID}0]"),
            format!("[output:{}]", &ID[..35]),
            format!("[output:{}]", ID.to_uppercase()),
            format!("[output:out_+{}]", &ID[5..]),
            format!("[output:out_{}ü]", &ID[6..]),
            "[output:out_1] Waiting:".to_owned(),
            "[output:x] Waiting:".to_owned(),
        ] {
            assert_eq!(OutputMarker::at_start(&text), None, "{text}");
        }
    }
}
