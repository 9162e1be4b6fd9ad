//! Reads an agent's output as lines.
//!
//! Invariant: nothing is read before it is asked for. No line makes the buffer grow beyond its limit, nor takes more
//! than a limit once it is parsed as JSON.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use futures_util::Stream;
use model::json_values_bytes;
use tokio::io::{AsyncRead, ReadBuf};

/// A message of ACP with its images is far shorter.
const LONGEST_LINE_BYTES: usize = 16 * 1024 * 1024;
const CHUNK_BYTES: usize = 64 * 1024;
/// How many bytes all values of a line may take beside their texts, once they are decoded.
const ALL_VALUES_BYTES: u64 = 96 << 20;
/// A shorter line takes less than that, whatever it holds.
const SHORT_LINE_BYTES: usize = 512 << 10;

/// A fault on an agent's pipes that ends the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PipeFault {
    #[error("the agent wrote a line of more than 16 MiB")]
    LineTooLong,
    #[error("the agent wrote a message of several hundred thousand values, more than can be read at once")]
    TooManyValues,
    #[error("the agent did not read its input for 30 seconds")]
    InputNotRead,
    #[error("the agent does not read its input: more is waiting than it could be sent")]
    InputUnread,
}

impl PipeFault {
    /// The code under which it is stored and shown to programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::LineTooLong => "line_too_long",
            Self::TooManyValues => "too_many_values",
            Self::InputNotRead => "input_not_read",
            Self::InputUnread => "input_unread",
        }
    }
}

/// The faults of an agent's pipes. Users of [`Lines`] and [`super::LineSink`] may turn their errors into their own; a
/// clone of this still has the cause.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<FaultCounts>);

#[derive(Debug, Default)]
struct FaultCounts {
    first: OnceLock<PipeFault>,
    mended: AtomicU64,
}

impl Faults {
    pub fn first(&self) -> Option<PipeFault> {
        self.0.first.get().copied()
    }

    /// How many lines were not valid UTF-8; the rest of each was kept.
    pub fn replaced_lines(&self) -> u64 {
        self.0.mended.load(Ordering::Relaxed)
    }

    /// Records the fault, unless there was one before, and returns the error that ends the pipe.
    pub(super) fn note(&self, fault: PipeFault) -> io::Error {
        let kind = match fault {
            PipeFault::LineTooLong | PipeFault::TooManyValues => io::ErrorKind::InvalidData,
            PipeFault::InputNotRead | PipeFault::InputUnread => io::ErrorKind::TimedOut,
        };
        io::Error::new(kind, *self.0.first.get_or_init(|| fault))
    }
}

/// A stream of a pipe's lines, without line ends and empty lines. Invalid UTF-8 is replaced and counted; a line that
/// is too long is the last item, as an error.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    faults: Faults,
    longest_bytes: usize,
    /// The line so far.
    line: Vec<u8>,
    chunk: Box<[u8]>,
    /// The part of the chunk that has been read from the pipe and not been consumed.
    unread: std::ops::Range<usize>,
    is_over: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(reader: R, faults: &Faults) -> Self {
        Self {
            reader,
            faults: faults.clone(),
            longest_bytes: LONGEST_LINE_BYTES,
            line: Vec::new(),
            chunk: vec![0; CHUNK_BYTES].into(),
            unread: 0..0,
            is_over: false,
        }
    }

    /// Consumes the chunk up to the next line end; returns whether there was one.
    fn take_unread(&mut self) -> io::Result<bool> {
        let unread = &self.chunk[self.unread.clone()];
        let end = unread.iter().position(|byte| *byte == b'\n');
        let piece = &unread[..end.unwrap_or(unread.len())];
        if self.line.len() + piece.len() > self.longest_bytes {
            return Err(self.faults.note(PipeFault::LineTooLong));
        }
        self.line.extend_from_slice(piece);
        self.unread.start += piece.len() + usize::from(end.is_some());
        Ok(end.is_some())
    }

    fn take_line(&mut self) -> io::Result<String> {
        let mut line = std::mem::take(&mut self.line);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        let broken = match String::from_utf8(line) {
            Ok(line) => return Ok(line),
            Err(broken) => broken.into_bytes(),
        };
        self.faults.0.mended.fetch_add(1, Ordering::Relaxed);
        // A replacement character is longer than what it replaces.
        let mut line = String::with_capacity(broken.len());
        for chunk in broken.utf8_chunks() {
            line.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                line.push(char::REPLACEMENT_CHARACTER);
            }
            if line.len() > self.longest_bytes {
                return Err(self.faults.note(PipeFault::LineTooLong));
            }
        }
        Ok(line)
    }

    /// The line so far as an item; `None` if it is empty.
    fn take_item(&mut self) -> io::Result<Option<String>> {
        let line = self.take_line()?;
        if holds_too_many_values(&line) {
            return Err(self.faults.note(PipeFault::TooManyValues));
        }
        Ok(Some(line).filter(|line| !line.is_empty()))
    }

    fn poll_line(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<String>>> {
        loop {
            if self.take_unread()? {
                match self.take_item()? {
                    None => continue,
                    line => return Poll::Ready(Ok(line)),
                }
            }
            let mut buffer = ReadBuf::new(&mut self.chunk);
            ready!(Pin::new(&mut self.reader).poll_read(cx, &mut buffer))?;
            self.unread = 0..buffer.filled().len();
            if self.unread.is_empty() {
                self.is_over = true;
                // An agent that was cut off may have left half a line.
                return Poll::Ready(self.take_item());
            }
        }
    }
}

/// Whether the values of a line take more than they may: it can be within its limit and still take gigabytes.
fn holds_too_many_values(line: &str) -> bool {
    line.len() > SHORT_LINE_BYTES && json_values_bytes(line.as_bytes(), 0) > ALL_VALUES_BYTES
}

impl<R: AsyncRead + Unpin> Stream for Lines<R> {
    type Item = io::Result<String>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.is_over {
            return Poll::Ready(None);
        }
        let line = ready!(this.poll_line(cx));
        this.is_over |= line.is_err();
        Poll::Ready(line.transpose())
    }
}

#[cfg(test)]
mod tests;
