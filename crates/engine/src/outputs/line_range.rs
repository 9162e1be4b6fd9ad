//! Reads some lines of a file, and counts all of them on the way.
//!
//! Invariant: no more of the file is read than is said; whether that was all of it is known afterwards.

use std::io::{self, BufRead as _, BufReader, Read, Take};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What is known of a file's lines once it was read.
#[derive(Debug, Default)]
pub(crate) struct ScannedLines {
    lines: AtomicU64,
    ended_early: AtomicBool,
    ended_in_range: AtomicBool,
}

impl ScannedLines {
    /// How many lines were begun.
    pub(super) fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    /// How many lines the file has, if all of it was read.
    pub(super) fn total(&self) -> Option<u64> {
        (!self.ended_early.load(Ordering::Relaxed)).then(|| self.lines())
    }

    /// The file goes on, and so would the lines that are wanted.
    pub(super) fn ended_in_range(&self) -> bool {
        self.ended_in_range.load(Ordering::Relaxed)
    }
}

/// The wanted lines of what is read; the ends of lines stay as they are.
pub(super) struct LineRange<R> {
    from: BufReader<Take<R>>,
    wanted: RangeInclusive<u64>,
    /// The line that the next byte is in, from 1.
    line: u64,
    /// Whether a byte of that line has been read.
    is_begun: bool,
    scanned: Arc<ScannedLines>,
}

impl<R: Read> LineRange<R> {
    /// `scanned` is filled in once everything has been read, at most `max_bytes`.
    pub(super) fn new(from: R, max_bytes: u64, wanted: RangeInclusive<u64>, scanned: Arc<ScannedLines>) -> Self {
        let from = BufReader::with_capacity(64 << 10, from.take(max_bytes));
        Self { from, wanted, line: 1, is_begun: false, scanned }
    }

    fn end(&mut self) -> io::Result<()> {
        let rest = self.from.get_mut();
        let goes_on = rest.limit() == 0 && rest.get_mut().read(&mut [0])? > 0;
        let Self { scanned, wanted, line, is_begun, .. } = self;
        scanned.lines.store(*line - 1 + u64::from(*is_begun), Ordering::Relaxed);
        scanned.ended_early.store(goes_on, Ordering::Relaxed);
        scanned.ended_in_range.store(goes_on && *line <= *wanted.end(), Ordering::Relaxed);
        Ok(())
    }
}

impl<R: Read> Read for LineRange<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        loop {
            let ready = self.from.fill_buf()?;
            if ready.is_empty() {
                self.end()?;
                return Ok(0);
            }
            let is_wanted = self.wanted.contains(&self.line);
            let most = if is_wanted { ready.len().min(to.len()) } else { ready.len() };
            let end = ready[..most].iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(most, |end| end + 1);
            if is_wanted {
                to[..taken].copy_from_slice(&ready[..taken]);
            }
            self.from.consume(taken);
            self.line += u64::from(end.is_some());
            self.is_begun = end.is_none();
            if is_wanted {
                return Ok(taken);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, max_bytes: u64, wanted: RangeInclusive<u64>) -> (String, Arc<ScannedLines>) {
        let (scanned, mut read) = (Arc::new(ScannedLines::default()), String::new());
        LineRange::new(text.as_bytes(), max_bytes, wanted, Arc::clone(&scanned)).read_to_string(&mut read).unwrap();
        (read, scanned)
    }

    #[test]
    fn lines_are_cut_out_and_all_are_counted() {
        let long = "x".repeat(200_000);
        let texts = [("a\nb\r\nc", 3), ("a\nb\n", 2), ("", 0), ("\n\n", 2), (long.as_str(), 1)];
        for (text, count) in texts {
            for (first, last) in [(1, u64::MAX), (2, 2), (2, 3), (3, 2), (9, 9), (1, 1)] {
                let (read, scanned) = read(text, 1 << 20, first..=last);
                let lines = text.split_inclusive('\n').zip(1_u64..).filter(|(_, n)| (first..=last).contains(n));
                assert_eq!(read, lines.map(|(line, _)| line).collect::<String>(), "{first} to {last}");
                assert_eq!((scanned.total(), scanned.ended_in_range()), (Some(count), false));
            }
        }
    }

    #[test]
    fn what_lies_too_far_is_known_to_be_there() {
        let text = "a\nb\nc\nd\n";
        for (max, wanted, expected, total, in_range) in [
            (8, 2..=u64::MAX, "b\nc\nd\n", Some(4), false),
            (4, 1..=2, "a\nb\n", None, false),
            (4, 1..=3, "a\nb\n", None, true),
            (4, 9..=9, "", None, true),
            (3, 2..=2, "b", None, true),
        ] {
            let (read, scanned) = read(text, max, wanted.clone());
            assert_eq!(read, expected, "{max} {wanted:?}");
            assert_eq!((scanned.total(), scanned.ended_in_range()), (total, in_range), "{max} {wanted:?}");
        }
    }
}
