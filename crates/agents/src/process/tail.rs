//! The end of an output, bounded however long the output is.

/// How many bytes are kept.
const KEPT_BYTES: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(super) struct Tail {
    /// At most twice what is kept, so that old bytes are not removed with every write.
    bytes: Vec<u8>,
}

impl Tail {
    pub(super) fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(&piece[piece.len().saturating_sub(KEPT_BYTES)..]);
        if self.bytes.len() > 2 * KEPT_BYTES {
            self.bytes.drain(..self.bytes.len() - KEPT_BYTES);
        }
    }

    /// The kept text, with invalid UTF-8 replaced. It does not begin in the middle of a character.
    pub(super) fn text(&self) -> String {
        let mut start = self.bytes.len().saturating_sub(KEPT_BYTES);
        let is_continuation = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
        while start > 0 && self.bytes.get(start).copied().is_some_and(is_continuation) {
            start += 1;
        }
        String::from_utf8_lossy(&self.bytes[start..]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_end_however_it_comes() {
        let text: String = (0..100_000).map(|n| format!("{n} ")).collect();
        for size in [1, 7, 4096, 70_000, text.len()] {
            let mut tail = Tail::default();
            for piece in text.as_bytes().chunks(size) {
                tail.push(piece);
                assert!(tail.bytes.len() <= 3 * KEPT_BYTES, "pieces of {size}");
            }
            assert_eq!(tail.text(), text[text.len() - KEPT_BYTES..], "pieces of {size}");
        }
    }

    #[test]
    fn begins_with_a_whole_character() {
        let mut tail = Tail::default();
        tail.push("a".as_bytes());
        tail.push("ü".repeat(KEPT_BYTES / 2).as_bytes());
        tail.push(b"b");
        assert_eq!(tail.text(), format!("{}b", "ü".repeat(KEPT_BYTES / 2 - 1)));
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        let mut tail = Tail::default();
        tail.push(b"\x80 is not \xff text");
        assert_eq!(tail.text(), "\u{fffd} is not \u{fffd} text");
    }
}
