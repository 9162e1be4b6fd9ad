//! The supervisor's end of the control socket: reads a spec, then orders, and sends messages.
//!
//! Invariant: a line that can not be parsed ends everything, as a closed control does; no order is guessed.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use serde::de::DeserializeOwned;

use crate::process::wire::{Order, Spec, SupervisorMessage};

/// No spec is longer: the system allows a program fewer bytes of arguments and environment.
const LONGEST_LINE_BYTES: usize = 8 * 1024 * 1024;

pub(super) struct Control {
    socket: UnixStream,
    unread: Vec<u8>,
}

impl Control {
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self { socket: UnixStream::from(socket), unread: Vec::new() }
    }

    /// Waits for the first line.
    pub(super) fn spec(&mut self) -> io::Result<Spec> {
        loop {
            if let Some(spec) = self.next()? {
                return Ok(spec);
            }
            self.read()?;
        }
    }

    /// The most severe order that has arrived. Blocks, so it is called when there is something to read.
    pub(super) fn order(&mut self) -> io::Result<Option<Order>> {
        self.read()?;
        let mut gravest = None;
        while let Some(order) = self.next()? {
            gravest = gravest.max(Some(order));
        }
        Ok(gravest)
    }

    pub(super) fn send(&mut self, news: &SupervisorMessage) -> io::Result<()> {
        let mut line = serde_json::to_vec(news)?;
        line.push(b'\n');
        self.socket.write_all(&line)
    }

    fn read(&mut self) -> io::Result<()> {
        let mut piece = [0; 16 * 1024];
        let length = self.socket.read(&mut piece)?;
        if length == 0 || self.unread.len() > LONGEST_LINE_BYTES {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.unread.extend_from_slice(&piece[..length]);
        Ok(())
    }

    fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let line: Vec<u8> = self.unread.drain(..=end).collect();
        Ok(Some(serde_json::from_slice(&line)?))
    }
}

impl AsFd for Control {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
