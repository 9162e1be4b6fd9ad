//! What a command has printed so far: all that will be kept, and the pieces of it that followers get.
//!
//! Invariant: no more is held than is kept of a command. A follower gets each byte at most once, beginning with whole
//! characters; one that is behind by more than a screen gets the end, and sees by the offset what it has missed.

/// How much a follower that comes late, or is slow, gets of what was printed before.
const SHOWN_BYTES: usize = 16 << 10;

/// What a command printed.
#[derive(Debug)]
pub(crate) struct Printed {
    bytes: Vec<u8>,
    max: usize,
}

/// A piece of it, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// How many bytes came before it.
    pub(crate) offset: u64,
    pub(crate) text: String,
    /// Where the next piece begins.
    pub(crate) end: u64,
}

impl Printed {
    pub(crate) fn new(max: usize) -> Self {
        Self { bytes: Vec::new(), max }
    }

    /// Takes what was printed next; whether all of it could be kept.
    pub(crate) fn push(&mut self, piece: &[u8]) -> bool {
        let room = self.max - self.bytes.len();
        self.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        piece.len() <= room
    }

    pub(crate) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// What follows `after`, or the end of it if that is more than is shown; `None` if nothing new is whole.
    pub(crate) fn piece(&self, after: u64) -> Option<Piece> {
        let after = usize::try_from(after).ok()?;
        let end = self.bytes.len() - unfinished(&self.bytes);
        let mut start = after.max(end.saturating_sub(SHOWN_BYTES));
        if start > after {
            // The rest of a character whose beginning is not shown.
            start += self.bytes[start..end].iter().take(3).take_while(|byte| is_continuation(**byte)).count();
        }
        let shown = self.bytes.get(start..end).filter(|shown| !shown.is_empty())?;
        let text = String::from_utf8_lossy(shown).into_owned();
        Some(Piece { offset: start as u64, text, end: end as u64 })
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// How many bytes at the end are the beginning of a character whose rest has not come.
fn unfinished(bytes: &[u8]) -> usize {
    let end = &bytes[bytes.len().saturating_sub(3)..];
    let begins = |byte: u8| match byte {
        0b1100_0000..=0b1101_1111 => 2,
        0b1110_0000..=0b1110_1111 => 3,
        0b1111_0000..=0b1111_0111 => 4,
        _ => 1,
    };
    let place = end.iter().rposition(|byte| !is_continuation(*byte));
    place
        .map(|place| (end.len() - place, begins(end[place])))
        .map_or(0, |(there, long)| if there < long { there } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &[u8]) -> Printed {
        let mut printed = Printed::new(1 << 20);
        assert!(printed.push(text));
        printed
    }

    #[test]
    fn each_byte_is_shown_once_and_characters_are_whole() {
        let text = "häuser → 🏠";
        for size in 1..5 {
            let mut printed = Printed::new(100);
            let (mut after, mut shown) = (0, String::new());
            for piece in text.as_bytes().chunks(size) {
                assert!(printed.push(piece));
                if let Some(piece) = printed.piece(after) {
                    assert_eq!(piece.offset, after);
                    shown.push_str(&piece.text);
                    after = piece.end;
                }
            }
            assert_eq!((shown.as_str(), after), (text, text.len() as u64), "pieces of {size}");
            assert_eq!(printed.piece(after), None);
        }
    }

    #[test]
    fn who_is_late_gets_the_end_and_sees_where_it_begins() {
        let printed = printed("ü".repeat(SHOWN_BYTES).as_bytes());
        let piece = printed.piece(1).unwrap();
        assert_eq!((piece.offset, piece.end), (SHOWN_BYTES as u64, 2 * SHOWN_BYTES as u64));
        assert_eq!(piece.text, "ü".repeat(SHOWN_BYTES / 2));
        let mut odd = "ü".repeat(SHOWN_BYTES).into_bytes();
        odd.push(b'x');
        let mut printed = Printed::new(odd.len());
        assert!(printed.push(&odd));
        let piece = printed.piece(0).unwrap();
        assert_eq!(piece.text, format!("{}x", "ü".repeat(SHOWN_BYTES / 2 - 1)));
        assert_eq!(piece.offset as usize + piece.text.len(), odd.len());
    }

    #[test]
    fn no_more_is_held_than_is_kept_and_what_is_no_text_is_replaced() {
        let mut printed = Printed::new(5);
        assert!(printed.push(b"abc") && !printed.push(b"def") && !printed.push(b"g"));
        assert_eq!((printed.len(), printed.take()), (5, b"abcde".to_vec()));
        assert_eq!(self::printed(b"\xff\x80\x80\x80\x80a").piece(0).unwrap().text.chars().last(), Some('a'));
        assert_eq!(self::printed(b"").piece(0), None);
        assert_eq!(self::printed(b"abc").piece(9), None);
    }
}
