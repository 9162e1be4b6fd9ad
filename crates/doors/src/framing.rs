//! Checks where one request ends and the next begins, more strictly than hyper does.
//!
//! Invariant: hyper gets no byte whose role in the framing a proxy before us could have read differently. Lines end
//! with CR LF only, a body has one length or is chunked, and a chunk's size is plain digits. The first byte that
//! breaks a rule is replaced by NUL, which HTTP's framing allows nowhere, so hyper refuses the request and closes.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// How much of a line is kept; a longer line about a body's length is refused.
const KEPT_BYTES: usize = 256;
/// Four GiB in one chunk are more than any body may have.
const MAX_SIZE_DIGITS: usize = 8;
/// More than any body may have, and far from overflowing.
const MAX_LENGTH_DIGITS: usize = 15;
const REFUSED: u8 = 0;

pub(crate) struct Framing {
    /// Set when the connection is no longer HTTP.
    upgraded: Arc<AtomicBool>,
    state: FramingState,
    line: Vec<u8>,
    line_is_longer: bool,
    after_cr: bool,
    length: Option<u64>,
    chunked: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FramingState {
    LineKind(LineKind),
    /// So many bytes of a body, or of a chunk, are still to come.
    Body(u64),
    Chunk(u64),
    Refused,
}

/// What a line of the framing is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Request,
    Header,
    ChunkSize,
    ChunkEnd,
    Trailer,
}

/// A rule was broken.
struct RuleBroken;

impl Framing {
    pub(crate) fn new(upgraded: Arc<AtomicBool>) -> Self {
        Self {
            upgraded,
            state: FramingState::LineKind(LineKind::Request),
            line: Vec::new(),
            line_is_longer: false,
            after_cr: false,
            length: None,
            chunked: false,
        }
    }

    /// Checks what was just read, and replaces the byte that breaks a rule.
    pub(crate) fn check(&mut self, mut bytes: &mut [u8]) {
        if self.upgraded.load(Ordering::Acquire) {
            return;
        }
        while !bytes.is_empty() {
            let passed = match &mut self.state {
                FramingState::Body(left) | FramingState::Chunk(left) => {
                    let passed = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    *left -= passed as u64;
                    match self.state {
                        FramingState::Body(0) => self.begin(FramingState::LineKind(LineKind::Request)),
                        FramingState::Chunk(0) => self.begin(FramingState::LineKind(LineKind::ChunkEnd)),
                        _ => (),
                    }
                    passed
                }
                FramingState::Refused => {
                    bytes.fill(REFUSED);
                    return;
                }
                FramingState::LineKind(line) => {
                    let line = *line;
                    if self.take(bytes[0], line).is_err() {
                        self.state = FramingState::Refused;
                        continue;
                    }
                    1
                }
            };
            bytes = &mut bytes[passed..];
        }
    }

    /// Handles a byte of a line.
    fn take(&mut self, byte: u8, line: LineKind) -> Result<(), RuleBroken> {
        match (byte, self.after_cr) {
            (b'\n', true) => {
                let next = self.end_of_line(line)?;
                self.begin(next);
            }
            (b'\n', false) | (_, true) => return Err(RuleBroken),
            (b'\r', false) => self.after_cr = true,
            (_, false) if self.line.len() < KEPT_BYTES => self.line.push(byte),
            (_, false) => self.line_is_longer = true,
        }
        Ok(())
    }

    fn begin(&mut self, state: FramingState) {
        self.line.clear();
        self.line_is_longer = false;
        self.after_cr = false;
        if state == FramingState::LineKind(LineKind::Request) {
            (self.length, self.chunked) = (None, false);
        }
        self.state = state;
    }

    /// What follows after a line.
    fn end_of_line(&mut self, line: LineKind) -> Result<FramingState, RuleBroken> {
        let next = match (line, self.line.is_empty()) {
            // hyper skips empty lines before a request, as the RFC advises.
            (LineKind::Request, true) => LineKind::Request,
            (LineKind::Request, false) => LineKind::Header,
            (LineKind::Header, true) => match (self.chunked, self.length) {
                (true, Some(_)) => return Err(RuleBroken),
                (true, None) => LineKind::ChunkSize,
                (false, None | Some(0)) => LineKind::Request,
                (false, Some(length)) => return Ok(FramingState::Body(length)),
            },
            (LineKind::Header, false) => {
                self.header()?;
                LineKind::Header
            }
            (LineKind::ChunkSize, _) => match self.chunk_size()? {
                0 => LineKind::Trailer,
                size => return Ok(FramingState::Chunk(size)),
            },
            (LineKind::ChunkEnd, true) => LineKind::ChunkSize,
            (LineKind::ChunkEnd, false) => return Err(RuleBroken),
            (LineKind::Trailer, true) => LineKind::Request,
            (LineKind::Trailer, false) => LineKind::Trailer,
        };
        Ok(FramingState::LineKind(next))
    }

    fn header(&mut self) -> Result<(), RuleBroken> {
        // A continued header line is obsolete, and can be read in two ways.
        if self.line.first().is_some_and(u8::is_ascii_whitespace) {
            return Err(RuleBroken);
        }
        let Some(colon) = self.line.iter().position(|byte| *byte == b':') else { return Ok(()) };
        let (name, value) = (&self.line[..colon], self.line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            let digits = std::str::from_utf8(value).ok().filter(|text| plain(text, MAX_LENGTH_DIGITS, 10));
            let length = digits.and_then(|text| text.parse().ok()).ok_or(RuleBroken)?;
            if self.line_is_longer || self.length.replace(length).is_some() {
                return Err(RuleBroken);
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            let chunked = value.eq_ignore_ascii_case(b"chunked") && !self.line_is_longer;
            if !chunked || self.chunked {
                return Err(RuleBroken);
            }
            self.chunked = true;
        }
        Ok(())
    }

    /// Short chunk extensions are ignored, as the RFC asks.
    fn chunk_size(&self) -> Result<u64, RuleBroken> {
        let digits = self.line.split(|byte| *byte == b';').next().unwrap_or_default();
        let digits = std::str::from_utf8(digits).ok().filter(|text| plain(text, MAX_SIZE_DIGITS, 16));
        match digits.and_then(|text| u64::from_str_radix(text, 16).ok()) {
            Some(size) if !self.line_is_longer => Ok(size),
            Some(_) | None => Err(RuleBroken),
        }
    }
}

/// Whether the text is digits only, and not too many.
fn plain(text: &str, most: usize, radix: u32) -> bool {
    (1..=most).contains(&text.len()) && text.chars().all(|digit| digit.is_digit(radix))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result for some bytes, in one piece and byte by byte, which must be the same.
    fn checked(text: &str) -> Vec<u8> {
        let (mut whole, mut single) = (text.as_bytes().to_vec(), text.as_bytes().to_vec());
        let framing = || Framing::new(Arc::default());
        framing().check(&mut whole);
        let mut framing = framing();
        single.chunks_mut(1).for_each(|byte| framing.check(byte));
        assert_eq!(whole, single, "{text:?}");
        whole
    }

    #[test]
    fn what_is_framed_strictly_passes_untouched() {
        for text in [
            "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "\r\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\na\nb\nPOST / HTTP/1.1\r\ncontent-length:0\r\n\r\nGET",
            "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\n\n\n\n\r\n00a;x=y\r\n0123456789\r\n0\r\n\r\nGET / HT",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(checked(text), text.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn from_the_first_broken_rule_on_nothing_can_be_read() {
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let long = format!(";{}", "x".repeat(300));
        for (good, bad) in [
            ("GET / HTTP/1.1", "\nHost: x\n\n"),
            ("GET / HTTP/1.1\r\nHost: x", "\n\r\n"),
            ("GET / HTTP/1.1\r\nHost: x\r", "X: y\r\n\r\n"),
            ("POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 4\r", "\n\r\nabcd"),
            ("POST / HTTP/1.1\r\nContent-Length: +4\r", "\n\r\nabcd"),
            ("POST / HTTP/1.1\r\nContent-Length: 4, 4\r", "\n\r\nabcd"),
            ("POST / HTTP/1.1\r\nX: y\r\n Content-Length: 4\r", "\n\r\nabcd"),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r", "\n\r\n"),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r", "\n0\r\n\r\n"),
            (&format!("{chunked}3"), "\nabc\r\n"),
            (&format!("{chunked}0x3\r"), "\nabc\r\n"),
            (&format!("{chunked}+3\r"), "\nabc\r\n"),
            (&format!("{chunked}3 \r"), "\nabc\r\n"),
            (&format!("{chunked}\r"), "\nabc\r\n"),
            (&format!("{chunked}000000003\r"), "\nabc\r\n"),
            (&format!("{chunked}3{long}\r"), "\nabc\r\n"),
            (&format!("{chunked}3\r\nabcd\r"), "\n0\r\n\r\n"),
            (&format!("{chunked}0\r\nTrailer: x"), "\n\r\n"),
        ] {
            let mut expected = good.as_bytes().to_vec();
            expected.resize(good.len() + bad.len(), REFUSED);
            assert_eq!(checked(&format!("{good}{bad}")), expected, "{good:?} then {bad:?}");
        }
    }

    #[test]
    fn what_is_no_http_any_more_is_not_judged() {
        let upgraded = Arc::new(AtomicBool::new(false));
        let mut framing = Framing::new(Arc::clone(&upgraded));
        framing.check(&mut b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n".to_vec());
        upgraded.store(true, Ordering::Release);
        let mut frame = b"\x81\x01\n\r\r".to_vec();
        framing.check(&mut frame);
        assert_eq!(frame, b"\x81\x01\n\r\r");
    }
}
