//! Writes lines to an agent's input.
//!
//! Invariant: at most one line is buffered, and an agent that does not read becomes a fault instead of a server that
//! waits.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::Sink;
use tokio::io::AsyncWrite;
use tokio::time::{Instant, Sleep};

use super::lines::{Faults, PipeFault};

/// How long an agent may leave its input unread while a line waits.
const LONGEST_STALL: Duration = Duration::from_secs(30);

/// A sink of lines for a pipe; it adds the line ends.
#[derive(Debug)]
pub struct LineSink<W> {
    writer: W,
    faults: Faults,
    line: Vec<u8>,
    /// How many bytes of the line are written.
    written: usize,
    /// Runs while the pipe is full.
    stall: Option<Pin<Box<Sleep>>>,
}

impl<W: AsyncWrite + Unpin> LineSink<W> {
    pub fn new(writer: W, faults: &Faults) -> Self {
        Self { writer, faults: faults.clone(), line: Vec::new(), written: 0, stall: None }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.line.len() {
            match Pin::new(&mut self.writer).poll_write(cx, &self.line[self.written..]) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(length)) => {
                    self.written += length;
                    self.stall = None;
                }
                Poll::Ready(Err(err)) => return Poll::Ready(Err(err)),
                Poll::Pending => {
                    let until = Instant::now() + LONGEST_STALL;
                    let stall = self.stall.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
                    ready!(stall.as_mut().poll(cx));
                    return Poll::Ready(Err(self.faults.note(PipeFault::InputNotRead)));
                }
            }
        }
        self.line = Vec::new();
        self.written = 0;
        Pin::new(&mut self.writer).poll_flush(cx)
    }
}

impl<W: AsyncWrite + Unpin> Sink<String> for LineSink<W> {
    type Error = io::Error;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_write(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, line: String) -> io::Result<()> {
        if line.contains('\n') {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a line for the agent has a line's end inside"));
        }
        self.line = line.into_bytes();
        self.line.push(b'\n');
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_write(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_write(cx))?;
        Pin::new(&mut this.writer).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::SinkExt as _;
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn lines_get_their_ends() {
        let (writer, mut reader) = tokio::io::duplex(3);
        let mut sink = LineSink::new(writer, &Faults::default());
        let send = async {
            sink.send("{\"a\":1}".to_owned()).await.unwrap();
            sink.send("second".to_owned()).await.unwrap();
            sink.close().await.unwrap();
        };
        let mut text = String::new();
        let (_, read) = tokio::join!(send, reader.read_to_string(&mut text));
        read.unwrap();
        assert_eq!(text, "{\"a\":1}\nsecond\n");
    }

    #[tokio::test]
    async fn a_line_is_one_line() {
        let (writer, _reader) = tokio::io::duplex(100);
        let mut sink = LineSink::new(writer, &Faults::default());
        let refused = sink.send("{}\n{\"forged\":true}".to_owned()).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_reads_slowly_is_waited_for() {
        let (writer, mut reader) = tokio::io::duplex(1);
        let faults = Faults::default();
        let mut sink = LineSink::new(writer, &faults);
        let read = async {
            for _ in 0..6 {
                tokio::time::sleep(LONGEST_STALL - Duration::from_secs(1)).await;
                reader.read_u8().await.unwrap();
            }
        };
        let (sent, ()) = tokio::join!(sink.send("12345".to_owned()), read);
        sent.unwrap();
        assert_eq!(faults.first(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_does_not_read_has_failed() {
        let (writer, _reader) = tokio::io::duplex(3);
        let faults = Faults::default();
        let mut sink = LineSink::new(writer, &faults);
        let failed = sink.send("12345".to_owned()).await.unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        assert_eq!(faults.first(), Some(PipeFault::InputNotRead));
    }
}
