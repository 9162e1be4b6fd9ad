//! Reads the lines of a file that may be written at the same time.
//!
//! Invariant: a line is returned whole or not at all, and memory does not grow with the length of a line.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::de::IgnoredAny;

use super::bookmark::{self, CHECKED_BYTES, RecordPosition};
use super::builder::TurnBuilder;
use super::{HistoryError, LastTurn};

const BUFFER_BYTES: usize = 256 << 10;

/// The start of a line.
#[derive(Clone, Copy)]
pub(super) struct LineStart<'a> {
    offset: u64,
    before: &'a [u8],
}

impl LineStart<'_> {
    pub(super) fn position(self) -> RecordPosition {
        RecordPosition::Byte { offset: self.offset, check: bookmark::hash(self.before) }
    }
}

/// Passes each line after the builder's bookmark to `take`, and emits the last turn as `last_turn` says.
pub(super) fn each(
    path: &Path,
    last_turn: LastTurn,
    builder: &mut TurnBuilder<'_>,
    mut take: impl FnMut(&[u8], LineStart<'_>, &mut TurnBuilder<'_>),
) -> Result<(), HistoryError> {
    let mut lines = Lines::open(path, builder.position(), builder.limits().record_bytes)?;
    while !builder.is_over() {
        match lines.next()? {
            Line::Whole { line: [], .. } => (),
            Line::Whole { line, line_start } => take(line, line_start, builder),
            Line::TooLong => builder.skip("a record that is too long"),
            // Nobody will write the rest of it; perhaps only the line end is missing.
            Line::Torn { line, line_start } if last_turn == LastTurn::Emit => {
                if serde_json::from_slice::<IgnoredAny>(line).is_ok() {
                    take(line, line_start, builder);
                    lines.pass_torn();
                } else {
                    builder.skip("a torn record");
                }
                break;
            }
            Line::Torn { .. } | Line::End => break,
        }
    }
    let after = LineStart { offset: lines.offset, before: &lines.before };
    builder.end(after.position(), last_turn);
    Ok(())
}

struct Lines {
    file: BufReader<File>,
    max_bytes: u64,
    line: Vec<u8>,
    /// Where the next line begins, and the last bytes before it.
    offset: u64,
    before: Vec<u8>,
    /// The same for the line that was read last.
    line_offset: u64,
    before_line: Vec<u8>,
}

enum Line<'a> {
    Whole {
        line: &'a [u8],
        line_start: LineStart<'a>,
    },
    /// Longer than the limit.
    TooLong,
    /// An incomplete line at the end of the file.
    Torn {
        line: &'a [u8],
        line_start: LineStart<'a>,
    },
    End,
}

impl Lines {
    fn open(path: &Path, after: &RecordPosition, max_bytes: usize) -> Result<Self, HistoryError> {
        let mut file = open(path)?;
        let offset = match after {
            RecordPosition::Start => 0,
            RecordPosition::Byte { offset, check } if bookmark::is_unchanged(&mut file, *offset, *check)? => *offset,
            RecordPosition::Byte { .. } => return Err(HistoryError::Rewritten),
            RecordPosition::Record { .. } => return Err(HistoryError::ForeignBookmark),
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
            return Ok(Line::Whole { line: self.line.trim_ascii(), line_start: self.line_start() });
        }
        if read as u64 <= self.max_bytes {
            let torn = Line::Torn { line: self.line.trim_ascii(), line_start: self.line_start() };
            return Ok(if read == 0 { Line::End } else { torn });
        }
        // The rest is only searched for the line end.
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

    fn line_start(&self) -> LineStart<'_> {
        LineStart { offset: self.line_offset, before: &self.before_line }
    }

    /// Counts the torn line that was read last as a whole one.
    fn pass_torn(&mut self) {
        self.pass(self.line.len() as u64);
    }

    fn pass(&mut self, bytes: u64) {
        self.offset += bytes;
        self.keep_end();
    }

    /// Keeps the last bytes that were read.
    fn keep_end(&mut self) {
        self.before.extend_from_slice(&self.line[self.line.len().saturating_sub(CHECKED_BYTES)..]);
        let excess = self.before.len().saturating_sub(CHECKED_BYTES);
        self.before.drain(..excess);
    }
}

/// Opens a regular file; a link is not followed.
pub(super) fn open(path: &Path) -> io::Result<File> {
    // Without waiting: opening a pipe would block for ever.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    Ok(file)
}
