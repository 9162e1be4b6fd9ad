//! The byte stream of one connection.
//!
//! Invariant: whoever holds the stream (hyper, or a WebSocket after its upgrade) holds the connection's slot, can not
//! wait for ever on a peer that does not read, and loses the connection when the listener, or this connection alone,
//! is closed. Only a wrapper around the stream itself outlives hyper's own connection future.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::{framing::Framing, limits::Limits};

pub(crate) struct ConnectionStream<IO, H> {
    io: IO,
    severed: Pin<Box<WaitForCancellationFutureOwned>>,
    ending: CancellationToken,
    framing: Framing,
    stall: WriteStall,
    linger_timeout: Duration,
    lingering: Option<Pin<Box<Sleep>>>,
    _held: H,
}

/// The listener's signals: connections should end, and connections are closed.
#[derive(Clone)]
pub(crate) struct Signals {
    pub(crate) ending: CancellationToken,
    pub(crate) severed: CancellationToken,
}

/// Runs while a write waits for the peer.
struct WriteStall {
    timeout: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
    running: bool,
}

impl<IO, H> ConnectionStream<IO, H> {
    pub(crate) fn new(
        io: IO,
        held: H,
        ending: &CancellationToken,
        severed: CancellationToken,
        framing: Framing,
        limits: &Limits,
    ) -> Self {
        Self {
            io,
            severed: Box::pin(severed.cancelled_owned()),
            ending: ending.clone(),
            framing,
            stall: WriteStall { timeout: limits.write_stall_timeout, sleep: None, running: false },
            linger_timeout: limits.linger_timeout,
            lingering: None,
            _held: held,
        }
    }

    fn check_severed(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        match self.severed.as_mut().poll(cx) {
            Poll::Ready(()) => Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the connection was cut")),
            Poll::Pending => Ok(()),
        }
    }
}

impl WriteStall {
    fn watch<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.running = false;
            return written;
        }
        let timeout = self.timeout;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep(timeout)));
        if !self.running {
            sleep.as_mut().reset(Instant::now() + timeout);
            self.running = true;
        }
        ready!(sleep.as_mut().poll(cx));
        metrics::counter!("doors_write_stalls_total").increment(1);
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read")))
    }
}

impl<IO: AsyncRead + Unpin, H: Unpin> AsyncRead for ConnectionStream<IO, H> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.check_severed(cx)?;
        let this = &mut *self;
        let before = buf.filled().len();
        let read = Pin::new(&mut this.io).poll_read(cx, buf);
        this.framing.check(&mut buf.filled_mut()[before..]);
        read
    }
}

impl<IO: AsyncRead + AsyncWrite + Unpin, H: Unpin> AsyncWrite for ConnectionStream<IO, H> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.check_severed(cx)?;
        let written = Pin::new(&mut self.io).poll_write(cx, buf);
        self.stall.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check_severed(cx)?;
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, bufs);
        self.stall.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check_severed(cx)?;
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        self.stall.watch(cx, flushed)
    }

    /// Closes our side, then drains what the peer still sends. A TCP socket that is dropped with unread bytes resets
    /// the connection, and the reset overtakes the refusal that told the peer to stop.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check_severed(cx)?;
        let this = &mut *self;
        if this.lingering.is_none() {
            let shut = Pin::new(&mut this.io).poll_shutdown(cx);
            ready!(this.stall.watch(cx, shut))?;
        }
        let timeout = this.linger_timeout;
        let lingering = this.lingering.get_or_insert_with(|| Box::pin(sleep(timeout)));
        let mut scrap = [0; 4_096];
        loop {
            let mut buf = ReadBuf::new(&mut scrap);
            match Pin::new(&mut this.io).poll_read(cx, &mut buf) {
                Poll::Ready(Ok(())) if !buf.filled().is_empty() => (),
                // The peer closed too, or is gone: nothing can be lost any more.
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending if this.ending.is_cancelled() => return Poll::Ready(Ok(())),
                Poll::Pending => return lingering.as_mut().poll(cx).map(Ok),
            }
            if lingering.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
