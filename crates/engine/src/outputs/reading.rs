//! Reads outputs back: bytes, lines, and lines that hold a text.
//!
//! Invariant: what is answered at once is bounded, whatever the output's length; a line that is longer is cut and said to be.

use model::{OutputRow, SessionId};
use store::{PayloadError, PayloadName};

use crate::outputs::OutputError;
use crate::{Engine, Shared};

/// How much is read at a time.
const PIECE_BYTES: usize = 256 << 10;
/// How many bytes one answer has.
const ANSWER_BYTES: usize = 1 << 20;
/// How much of one line is shown.
const LINE_BYTES: usize = 16 << 10;

/// What became of an output's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputState {
    /// They are as they were stored.
    Kept,
    /// Somebody edited the file.
    Changed,
    /// The file is gone.
    Gone,
}

/// Which lines of a text are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextWish {
    /// From which on, counted from 1 in the output.
    pub first: Option<u64>,
    /// Up to which, included.
    pub last: Option<u64>,
    /// Only those that hold this text, whatever its case.
    pub grep: Option<String>,
    /// How many at most.
    pub limit: usize,
}

/// A line of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLine {
    /// Its number in the output, from 1.
    pub number: u64,
    /// Its text without the end of the line.
    pub text: String,
    /// It is longer than what is shown.
    pub cut: bool,
}

/// Lines of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputText {
    /// In order.
    pub lines: Vec<FoundLine>,
    /// There are more: the line to go on with.
    pub next: Option<u64>,
}

impl Engine {
    /// At most `max` bytes of an output from an offset on.
    pub async fn read_output(&self, row: &OutputRow, offset: u64, max: usize) -> Result<Vec<u8>, OutputError> {
        let payloads = &self.shared.outputs.settings.payloads;
        match payloads.read(row.session, &PayloadName::of(&row.output), offset, max).await {
            Ok(Some(bytes)) => Ok(bytes),
            // A link or a folder in its place is nothing of ours.
            Ok(None) | Err(PayloadError::Foreign { .. }) => Err(OutputError::Gone(row.id)),
            Err(err) => Err(err.into()),
        }
    }

    /// Whether an output's bytes are those that were shown. All of them are read for it.
    pub async fn output_state(&self, row: &OutputRow) -> Result<OutputState, OutputError> {
        let name = PayloadName::of(&row.output);
        Ok(self.shared.payload_state(row.session, &name, row.bytes, &row.output.sha256).await?)
    }

    /// Lines of an output that is text.
    pub async fn output_text(
        &self,
        session: SessionId,
        id: model::OutputId,
        wish: TextWish,
    ) -> Result<OutputText, OutputError> {
        let row = self.output(session, id).await?;
        if !row.output.mime_type.starts_with("text/") {
            return Err(OutputError::NotText);
        }
        let mut taking = Taking::new(wish);
        self.read_pieces(&row, |piece| taking.take(piece)).await?;
        Ok(taking.finish())
    }

    /// How many lines [`Engine::output_text`] finds in all, which are others than were shown where its file was edited; `None` if it
    /// is no text. All of it is read for that.
    pub async fn output_lines(&self, row: &OutputRow) -> Result<Option<u64>, OutputError> {
        if !row.output.mime_type.starts_with("text/") {
            return Ok(None);
        }
        let (mut ends, mut last) = (0, b'\n');
        let count = |piece: &[u8]| {
            ends += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
            last = piece.last().copied().unwrap_or(last);
            Flow::More
        };
        self.read_pieces(row, count).await?;
        Ok(Some(ends + u64::from(last != b'\n')))
    }

    async fn read_pieces(&self, row: &OutputRow, mut take: impl FnMut(&[u8]) -> Flow) -> Result<(), OutputError> {
        let mut offset = 0;
        // What somebody added to the file is not part of the output, and may be without end.
        while let left @ 1.. = row.bytes.saturating_sub(offset) {
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
            let piece = self.read_output(row, offset, most).await?;
            offset += piece.len() as u64;
            if piece.is_empty() || take(&piece) == Flow::Enough {
                break;
            }
        }
        Ok(())
    }
}

impl Shared {
    /// Whether a payload is as it was stored, with so many bytes and this hash.
    pub(crate) async fn payload_state(
        &self,
        session: SessionId,
        name: &PayloadName,
        bytes: u64,
        sha256: &str,
    ) -> Result<OutputState, PayloadError> {
        // One byte more than was stored shows that a file grew, however much longer it is.
        let now = match self.outputs.settings.payloads.look_at(session, name, bytes.saturating_add(1)).await {
            // A link or a folder in its place is nothing of ours.
            Err(PayloadError::Foreign { .. }) => None,
            now => now?,
        };
        Ok(match now {
            None => OutputState::Gone,
            Some(now) if now.sha256 == sha256 => OutputState::Kept,
            Some(_) => OutputState::Changed,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    More,
    Enough,
}

/// Cuts pieces into lines and keeps those that are wanted.
struct Taking {
    first: u64,
    last: u64,
    grep: Option<String>,
    limit: usize,
    /// The line that is being read, from 1.
    number: u64,
    /// As much of it as is shown.
    line: Vec<u8>,
    cut: bool,
    /// The end of what was looked through behind that.
    overlap: Vec<u8>,
    /// What lies behind that holds the text.
    holds: bool,
    bytes: usize,
    found: OutputText,
}

impl Taking {
    fn new(wish: TextWish) -> Self {
        let TextWish { first, last, grep, limit } = wish;
        Self {
            first: first.unwrap_or(1),
            last: last.unwrap_or(u64::MAX),
            grep: grep.map(|text| text.to_lowercase()),
            limit,
            number: 1,
            line: Vec::new(),
            cut: false,
            overlap: Vec::new(),
            holds: false,
            bytes: 0,
            found: OutputText::default(),
        }
    }

    fn take(&mut self, piece: &[u8]) -> Flow {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            if self.number > self.last {
                return Flow::Enough;
            }
            let (text, ends) = part.strip_suffix(b"\n").map_or((part, false), |text| (text, true));
            let (shown, rest) = text.split_at(text.len().min(LINE_BYTES - self.line.len()));
            self.line.extend_from_slice(shown);
            if !rest.is_empty() {
                self.cut = true;
                self.look_through(rest);
            }
            if ends && self.end_line() == Flow::Enough {
                return Flow::Enough;
            }
        }
        Flow::More
    }

    /// Looks for the text in what is not shown of a line.
    fn look_through(&mut self, rest: &[u8]) {
        let Some(wanted) = self.grep.as_ref().filter(|_| !self.holds && self.number >= self.first) else { return };
        // A letter may have three times the bytes of its small form; with a part of one before it.
        let overlap_bytes = 3 * wanted.len() + 4;
        if self.overlap.is_empty() {
            self.overlap.extend_from_slice(&self.line[self.line.len().saturating_sub(overlap_bytes)..]);
        }
        self.overlap.extend_from_slice(rest);
        self.holds = holds(&self.overlap, wanted);
        self.overlap.drain(..self.overlap.len().saturating_sub(overlap_bytes));
    }

    fn end_line(&mut self) -> Flow {
        let line = std::mem::take(&mut self.line);
        let (number, cut) = (self.number, std::mem::take(&mut self.cut));
        let holds_behind = std::mem::take(&mut self.holds);
        self.overlap.clear();
        self.number += 1;
        if number < self.first || number > self.last {
            return Flow::More;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        if !self.grep.as_ref().is_none_or(|wanted| holds_behind || holds(line, wanted)) {
            return Flow::More;
        }
        let text = String::from_utf8_lossy(line).into_owned();
        if self.found.lines.len() == self.limit || self.bytes + text.len() > ANSWER_BYTES {
            self.found.next = Some(number);
            return Flow::Enough;
        }
        self.bytes += text.len();
        self.found.lines.push(FoundLine { number, text, cut });
        Flow::More
    }

    fn finish(mut self) -> OutputText {
        if !self.line.is_empty() && self.found.next.is_none() {
            self.end_line();
        }
        self.found
    }
}

/// Whether a text holds another, which is in small letters.
fn holds(text: &[u8], wanted: &str) -> bool {
    String::from_utf8_lossy(text).to_lowercase().contains(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str, wish: TextWish, piece: usize) -> (Vec<(u64, String)>, Option<u64>) {
        let mut taking = Taking::new(wish);
        for piece in text.as_bytes().chunks(piece) {
            if taking.take(piece) == Flow::Enough {
                break;
            }
        }
        let found = taking.finish();
        (found.lines.into_iter().map(|line| (line.number, line.text)).collect(), found.next)
    }

    fn lines(numbers: &[(u64, &str)]) -> Vec<(u64, String)> {
        numbers.iter().map(|(number, text)| (*number, (*text).to_owned())).collect()
    }

    #[test]
    fn lines_are_found_by_number_and_by_text() {
        let text = "One\ntwo\r\n\nthree one";
        let all = TextWish { limit: 9, ..TextWish::default() };
        for piece in [1, 3, 100] {
            let whole = lines(&[(1, "One"), (2, "two"), (3, ""), (4, "three one")]);
            assert_eq!(taken(text, all.clone(), piece), (whole, None));
            let range = TextWish { first: Some(2), last: Some(3), ..all.clone() };
            assert_eq!(taken(text, range, piece), (lines(&[(2, "two"), (3, "")]), None));
            let grep = TextWish { grep: Some("ONE".to_owned()), ..all.clone() };
            assert_eq!(taken(text, grep.clone(), piece), (lines(&[(1, "One"), (4, "three one")]), None));
            assert_eq!(taken(text, TextWish { limit: 1, ..grep }, piece), (lines(&[(1, "One")]), Some(4)));
            let none = TextWish { first: Some(9), ..all.clone() };
            assert_eq!(taken(text, none, piece), (Vec::new(), None));
        }
    }

    #[test]
    fn a_text_is_found_wherever_it_stands_in_a_long_line() {
        for before in [0, LINE_BYTES - 3, LINE_BYTES, LINE_BYTES + 70_000] {
            let text = format!(
                "{}\n{}\u{212a}ürbis{}\nlast",
                "y".repeat(LINE_BYTES * 2),
                "x".repeat(before),
                "z".repeat(99_999)
            );
            for piece in [1_000, 65_536, 1 << 20] {
                let grep = Some("KÜRBIS".to_owned());
                let (found, next) = taken(&text, TextWish { grep, limit: 9, ..TextWish::default() }, piece);
                assert_eq!((found.len(), next), (1, None), "{before} {piece}");
                assert_eq!(found[0].0, 2);
            }
        }
    }

    #[test]
    fn a_long_line_is_cut_and_an_answer_is_bounded() {
        let long = "x".repeat(LINE_BYTES + 5);
        let mut taking = Taking::new(TextWish { limit: 9, ..TextWish::default() });
        taking.take(long.as_bytes());
        let found = taking.finish();
        assert_eq!((found.lines[0].text.len(), found.lines[0].cut), (LINE_BYTES, true));
        let many = format!("{}\n", "y".repeat(LINE_BYTES)).repeat(100);
        let (found, next) = taken(&many, TextWish { limit: 1_000, ..TextWish::default() }, 10_000);
        assert_eq!((found.len(), next), (64, Some(65)));
    }
}
