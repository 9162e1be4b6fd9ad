//! The queue of lines to write to an agent, bounded by number and by bytes.
//!
//! Invariant: a large answer is made only after room was reserved for it. Short messages are queued without waiting,
//! so that no session waits for an agent to read; a full queue means that the agent does not read.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// How many lines, and how many bytes of them, may be queued: far more than an agent that reads leaves unread.
pub(super) const MAX_LINES: usize = 1_024;
pub(super) const MAX_BYTES: u32 = 64 << 20;
/// How many bytes are reserved for an answer with a file before it is made.
const LARGE_ANSWER_BYTES: u32 = 16 << 20;

/// The end where lines are put in.
#[derive(Debug)]
pub(super) struct Outbox {
    lines: mpsc::Sender<QueuedLine>,
    room: Arc<Semaphore>,
}

/// The end where the writer takes them out.
#[derive(Debug)]
pub(super) struct OutboxReader {
    lines: mpsc::Receiver<QueuedLine>,
    room: Arc<Semaphore>,
}

#[derive(Debug)]
struct QueuedLine {
    text: String,
    _permit: OwnedSemaphorePermit,
}

/// The queue has no room for another line.
#[derive(Debug)]
pub(super) struct Full;

/// Reserved room for one large answer, which is not made yet.
#[derive(Debug)]
pub(crate) struct AnswerPermit(OwnedSemaphorePermit);

pub(super) fn outbox() -> (Outbox, OutboxReader) {
    let (sender, lines) = mpsc::channel(MAX_LINES);
    let room = Arc::new(Semaphore::new(MAX_BYTES as usize));
    (Outbox { lines: sender, room: Arc::clone(&room) }, OutboxReader { lines, room })
}

impl Outbox {
    /// Queues a line without waiting. Lines that are put in after the connection's end are dropped.
    pub(super) fn put(&self, text: String) -> Result<(), Full> {
        if self.room.is_closed() {
            return Ok(());
        }
        let permit = Arc::clone(&self.room).try_acquire_many_owned(bytes(&text)).map_err(|_| Full)?;
        self.put_with(text, permit)
    }

    /// Waits for room for a large answer; `None` at the connection's end.
    pub(super) async fn reserve(&self) -> Option<AnswerPermit> {
        Arc::clone(&self.room).acquire_many_owned(LARGE_ANSWER_BYTES).await.ok().map(AnswerPermit)
    }

    /// Queues the answer that the permit was acquired for.
    pub(super) fn put_in(&self, permit: AnswerPermit, text: String) -> Result<(), Full> {
        let AnswerPermit(mut permit) = permit;
        let (kept, needed) = (LARGE_ANSWER_BYTES, bytes(&text));
        if needed <= kept {
            drop(permit.split((kept - needed) as usize));
        } else {
            let more = Arc::clone(&self.room).try_acquire_many_owned(needed - kept).map_err(|_| Full)?;
            permit.merge(more);
        }
        self.put_with(text, permit)
    }

    fn put_with(&self, text: String, permit: OwnedSemaphorePermit) -> Result<(), Full> {
        match self.lines.try_send(QueuedLine { text, _permit: permit }) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => Ok(()),
            Err(mpsc::error::TrySendError::Full(_)) => Err(Full),
        }
    }
}

impl OutboxReader {
    /// The next line. Its bytes stay counted until the returned guard is dropped.
    pub(super) async fn next(&mut self) -> Option<(String, OwnedSemaphorePermit)> {
        self.lines.recv().await.map(|line| (line.text, line._permit))
    }

    /// Closes the queue: whoever waits for room gets `None`.
    pub(super) fn close(&mut self) {
        self.room.close();
        self.lines.close();
        while self.lines.try_recv().is_ok() {}
    }
}

/// How many bytes a line counts as: at most the whole capacity, so that a longer line still fits an empty queue.
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
        let rooms: Vec<AnswerPermit> = std::iter::from_fn(|| outbox.reserve().now_or_never().flatten()).collect();
        assert_eq!(rooms.len(), (MAX_BYTES / LARGE_ANSWER_BYTES) as usize);
        for reserve in rooms {
            outbox.put_in(reserve, "x".repeat(1 << 10)).unwrap();
        }
        let (line, counted) = lines.next().await.unwrap();
        assert_eq!(line.len(), 1 << 10);
        drop(counted);
        assert!(outbox.reserve().now_or_never().flatten().is_some(), "what was kept free and not needed is free again");
        let all: Vec<AnswerPermit> = std::iter::from_fn(|| outbox.reserve().now_or_never().flatten()).collect();
        let waiting = outbox.reserve();
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
