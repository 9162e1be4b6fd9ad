//! The lines of a file that may be written while it is read.
//!
//! Invariant: a line is given whole or not at all, and memory does not grow with the length of one.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::de::IgnoredAny;

use super::bookmark::{self, CHECKED_BYTES, Place};
use super::builder::TurnBuilder;
use super::{HistoryError, LastTurn};

const BUFFER_BYTES: usize = 256 << 10;

/// The place before a line.
#[derive(Clone, Copy)]
pub(super) struct Spot<'a> {
    offset: u64,
    before: &'a [u8],
}

impl Spot<'_> {
    pub(super) fn place(self) -> Place {
        Place::Byte { offset: self.offset, check: bookmark::hash(self.before) }
    }
}

/// Gives each line behind the builder's bookmark to `take`, and emits the last turn as it should be.
pub(super) fn each(
    path: &Path,
    last_turn: LastTurn,
    builder: &mut TurnBuilder<'_>,
    mut take: impl FnMut(&[u8], Spot<'_>, &mut TurnBuilder<'_>),
) -> Result<(), HistoryError> {
    let mut lines = Lines::open(path, builder.place(), builder.limits().record_bytes)?;
    while !builder.is_over() {
        match lines.next()? {
            Line::Whole { line: [], .. } => (),
            Line::Whole { line, spot } => take(line, spot, builder),
            Line::TooLong => builder.skip("a record that is too long"),
            // Nobody will write the rest of it; perhaps only the end of the line is missing.
            Line::Torn { line, spot } if last_turn == LastTurn::Tell => {
                if serde_json::from_slice::<IgnoredAny>(line).is_ok() {
                    take(line, spot, builder);
                    lines.pass_torn();
                } else {
                    builder.skip("a torn record");
                }
                break;
            }
            Line::Torn { .. } | Line::End => break,
        }
    }
    let behind = Spot { offset: lines.offset, before: &lines.before };
    builder.end(behind.place(), last_turn);
    Ok(())
}

struct Lines {
    file: BufReader<File>,
    max_bytes: u64,
    line: Vec<u8>,
    /// Where the line that is read next begins, and the last bytes before it.
    offset: u64,
    before: Vec<u8>,
    /// The same of the line that was read last.
    line_offset: u64,
    before_line: Vec<u8>,
}

enum Line<'a> {
    Whole {
        line: &'a [u8],
        spot: Spot<'a>,
    },
    /// Longer than is read.
    TooLong,
    /// What is there of a line whose end is not.
    Torn {
        line: &'a [u8],
        spot: Spot<'a>,
    },
    End,
}

impl Lines {
    fn open(path: &Path, after: &Place, max_bytes: usize) -> Result<Self, HistoryError> {
        let mut file = open(path)?;
        let offset = match after {
            Place::Start => 0,
            Place::Byte { offset, check } if bookmark::is_unchanged(&mut file, *offset, *check)? => *offset,
            Place::Byte { .. } => return Err(HistoryError::Rewritten),
            Place::Record { .. } => return Err(HistoryError::ForeignBookmark),
        };
        let mut before = Vec::new();
        let from = offset.saturating_sub(CHECKED_BYTES as u64);
        file.seek(SeekFrom::Start(from))?;
        (&mut file).take(offset - from).read_to_end(&mut before)?;
        let file = BufReader::with_capacity(BUFFER_BYTES, file);
        let before_line = before.clone();
        Ok(Self {
            file,
            max_bytes: max_bytes as u64,
            line: Vec::new(),
            offset,
            before,
            line_offset: offset,
            before_line,
        })
    }

    fn next(&mut self) -> io::Result<Line<'_>> {
        self.line.clear();
        self.line_offset = self.offset;
        self.before_line.clone_from(&self.before);
        let read = (&mut self.file).take(self.max_bytes + 1).read_until(b'\n', &mut self.line)?;
        if self.line.last() == Some(&b'\n') {
            self.pass(read as u64);
            return Ok(Line::Whole { line: self.line.trim_ascii(), spot: self.spot() });
        }
        if read as u64 <= self.max_bytes {
            let torn = Line::Torn { line: self.line.trim_ascii(), spot: self.spot() };
            return Ok(if read == 0 { Line::End } else { torn });
        }
        // The rest of it is only looked through for its end.
        let mut bytes = read as u64;
        loop {
            self.keep_end();
            self.line.clear();
            let read = (&mut self.file).take(BUFFER_BYTES as u64).read_until(b'\n', &mut self.line)?;
            bytes += read as u64;
            if self.line.last() == Some(&b'\n') {
                self.pass(bytes);
                return Ok(Line::TooLong);
            }
            if read == 0 {
                self.before.clone_from(&self.before_line);
                return Ok(Line::End);
            }
        }
    }

    fn spot(&self) -> Spot<'_> {
        Spot { offset: self.line_offset, before: &self.before_line }
    }

    /// Takes the torn line that was read last for a whole one.
    fn pass_torn(&mut self) {
        self.pass(self.line.len() as u64);
    }

    fn pass(&mut self, bytes: u64) {
        self.offset += bytes;
        self.keep_end();
    }

    /// Keeps the end of what was read last.
    fn keep_end(&mut self) {
        self.before.extend_from_slice(&self.line[self.line.len().saturating_sub(CHECKED_BYTES)..]);
        let excess = self.before.len().saturating_sub(CHECKED_BYTES);
        self.before.drain(..excess);
    }
}

/// A plain file, not what a link leads to.
pub(super) fn open(path: &Path) -> io::Result<File> {
    // Without waiting: a pipe that somebody put there would never open.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    Ok(file)
}
