//! Lines that wait to be written to an agent: bounded by number and by bytes.
//!
//! Invariant: nothing large is made before there is room for it. Short messages are put without waiting, so that no session
//! waits for an agent to read; what does not fit any more says that the agent does not read.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// How many lines wait to be written, and how many bytes: far more than an agent that reads leaves unread.
pub(super) const MAX_LINES: usize = 1_024;
pub(super) const MAX_BYTES: u32 = 64 << 20;
/// What an answer with a file may take; so many bytes are kept free while one is made.
const LARGE_ANSWER_BYTES: u32 = 16 << 20;

/// Where lines are put.
#[derive(Debug)]
pub(super) struct Outbox {
    lines: mpsc::Sender<Line>,
    room: Arc<Semaphore>,
}

/// Where they are taken from.
#[derive(Debug)]
pub(super) struct Lines {
    lines: mpsc::Receiver<Line>,
    room: Arc<Semaphore>,
}

#[derive(Debug)]
struct Line {
    text: String,
    _room: OwnedSemaphorePermit,
}

/// There is no room for another line.
#[derive(Debug)]
pub(super) struct Full;

/// Room for one large answer, which is not made yet.
#[derive(Debug)]
pub(crate) struct Room(OwnedSemaphorePermit);

pub(super) fn outbox() -> (Outbox, Lines) {
    let (sender, lines) = mpsc::channel(MAX_LINES);
    let room = Arc::new(Semaphore::new(MAX_BYTES as usize));
    (Outbox { lines: sender, room: Arc::clone(&room) }, Lines { lines, room })
}

impl Outbox {
    /// Puts a line without waiting. What is put after the connection's end is lost with it.
    pub(super) fn put(&self, text: String) -> Result<(), Full> {
        if self.room.is_closed() {
            return Ok(());
        }
        let room = Arc::clone(&self.room).try_acquire_many_owned(bytes(&text)).map_err(|_| Full)?;
        self.put_with(text, room)
    }

    /// Waits until a large answer can be made; `None` at the connection's end.
    pub(super) async fn room(&self) -> Option<Room> {
        Arc::clone(&self.room).acquire_many_owned(LARGE_ANSWER_BYTES).await.ok().map(Room)
    }

    /// Puts the answer that room was kept for.
    pub(super) fn put_in(&self, room: Room, text: String) -> Result<(), Full> {
        let Room(mut room) = room;
        let (kept, needed) = (LARGE_ANSWER_BYTES, bytes(&text));
        if needed <= kept {
            drop(room.split((kept - needed) as usize));
        } else {
            let more = Arc::clone(&self.room).try_acquire_many_owned(needed - kept).map_err(|_| Full)?;
            room.merge(more);
        }
        self.put_with(text, room)
    }

    fn put_with(&self, text: String, room: OwnedSemaphorePermit) -> Result<(), Full> {
        match self.lines.try_send(Line { text, _room: room }) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => Ok(()),
            Err(mpsc::error::TrySendError::Full(_)) => Err(Full),
        }
    }
}

impl Lines {
    /// The next line; its bytes stay counted until the one after it is asked for or the guard is dropped.
    pub(super) async fn next(&mut self) -> Option<(String, OwnedSemaphorePermit)> {
        self.lines.recv().await.map(|line| (line.text, line._room))
    }

    /// Nobody reads any more: whoever waits for room hears so.
    pub(super) fn close(&mut self) {
        self.room.close();
        self.lines.close();
        while self.lines.try_recv().is_ok() {}
    }
}

/// What a line counts as. One that is longer than all the room takes all of it.
fn bytes(line: &str) -> u32 {
    u32::try_from(line.len()).unwrap_or(MAX_BYTES).min(MAX_BYTES)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn large_answers_are_made_one_after_another_and_end_with_the_connection() {
        let (outbox, mut lines) = outbox();
        let rooms: Vec<Room> = std::iter::from_fn(|| outbox.room().now_or_never().flatten()).collect();
        assert_eq!(rooms.len(), (MAX_BYTES / LARGE_ANSWER_BYTES) as usize);
        for room in rooms {
            outbox.put_in(room, "x".repeat(1 << 10)).unwrap();
        }
        let (line, counted) = lines.next().await.unwrap();
        assert_eq!(line.len(), 1 << 10);
        drop(counted);
        assert!(outbox.room().now_or_never().flatten().is_some(), "what was kept free and not needed is free again");
        let all: Vec<Room> = std::iter::from_fn(|| outbox.room().now_or_never().flatten()).collect();
        let waiting = outbox.room();
        lines.close();
        assert!(waiting.await.is_none());
        drop(all);
        outbox.put("lost".to_owned()).unwrap();
    }

    #[test]
    fn bytes_count_as_well_as_lines() {
        let (outbox, _lines) = outbox();
        let long = "x".repeat(8 << 20);
        let put = std::iter::repeat_with(|| outbox.put(long.clone())).take_while(Result::is_ok).count();
        assert_eq!(put, (MAX_BYTES as usize) / long.len());
    }
}
