//! The sessions that one socket follows, a task each, all feeding one bounded queue.
//!
//! Invariant: frames of a follow that has ended are never sent. A client may unfollow and follow again at once; the
//! generation tells the two apart. What waits for the socket is bounded in frames and in bytes; a follow that would add
//! more waits itself and reads the log when it goes on. No entry is too long to be followed: of one that is very
//! long only its place is sent, and the client reads it over HTTP.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use engine::{ContextReason, Engine, Follow, Followed, OutputPreview, QueryError, ResetReason, SubmitError, Words};
use futures_util::FutureExt as _;
use model::{Cursor, Entry, SessionId};
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinSet};

use super::joined::Joined;
use super::text_of;
use crate::convert;
use crate::error::ApiError;
use crate::wire::{self, LargeEntry, ServerFrame};

/// What bounds one socket's work.
const MAX_FOLLOWS: usize = 100;
/// Frames that wait for the socket.
const QUEUE: usize = 64;
/// Bytes that they may have together; a single frame that is longer waits until it is alone.
const QUEUE_BYTES: u32 = 8 << 20;
/// Of an entry whose frame would be longer only its place is sent.
const LARGE_ENTRY_BYTES: usize = 8 << 20;

/// Where a follow begins.
pub(super) enum Begin {
    /// With the entry after this one, or with the first.
    After(Option<Cursor>),
    /// With the first entry of so many newest turns.
    Newest(u32),
}

/// A frame of a follow, on its way to the socket.
struct QueuedFrame {
    session: SessionId,
    generation: u64,
    progress: FollowProgress,
    frame: Frame,
}

/// How far the follow has come with this frame.
enum FollowProgress {
    Entry(Cursor),
    /// Without a place of its own.
    Preview,
    CaughtUp,
    Ended,
}

/// A frame as it is sent. It takes its room in the queue until it is dropped, which is once it was written.
pub(super) struct Frame {
    pub(super) text: String,
    _room: OwnedSemaphorePermit,
}

/// A frame that may go out, and the place that its client then has.
pub(super) struct Ready {
    pub(super) frame: Frame,
    entry: Option<(SessionId, u64, Cursor)>,
}

/// The way from the follows to their socket.
#[derive(Clone)]
struct Out {
    said: mpsc::Sender<QueuedFrame>,
    room: Arc<Semaphore>,
}

impl Out {
    fn new() -> (Self, mpsc::Receiver<QueuedFrame>) {
        let (out, said) = mpsc::channel(QUEUE);
        (Self { said: out, room: Arc::new(Semaphore::new(QUEUE_BYTES as usize)) }, said)
    }

    /// Waits for room; whether anybody is left to receive it.
    async fn say(&self, session: SessionId, generation: u64, progress: FollowProgress, frame: ServerFrame) -> bool {
        let text = bounded_text(frame);
        let bytes = u32::try_from(text.len()).unwrap_or(QUEUE_BYTES).min(QUEUE_BYTES);
        let Ok(room) = Arc::clone(&self.room).acquire_many_owned(bytes).await else { return false };
        let frame = Frame { text, _room: room };
        self.said.send(QueuedFrame { session, generation, progress, frame }).await.is_ok()
    }
}

/// Whether a client hears of prompts that are being written: they are between the person's own devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnsentWords {
    Told,
    Kept,
}

pub(super) struct Follows {
    engine: Engine,
    unsent: UnsentWords,
    tasks: JoinSet<()>,
    by_session: HashMap<SessionId, Slot>,
    generation: u64,
    out: Out,
    said: mpsc::Receiver<QueuedFrame>,
}

struct Slot {
    generation: u64,
    task: AbortHandle,
    /// The last entry that was handed to the socket.
    cursor: Cursor,
    caught_up: bool,
}

impl Follows {
    pub(super) fn new(engine: Engine, unsent: UnsentWords) -> Self {
        let (out, said) = Out::new();
        Self { engine, unsent, tasks: JoinSet::new(), by_session: HashMap::new(), generation: 0, out, said }
    }

    /// Begins to follow, in place of an earlier follow of the same session.
    pub(super) async fn follow(&mut self, session: SessionId, begin: Begin) -> Result<Follow, ApiError> {
        self.unfollow(session);
        if self.by_session.len() >= MAX_FOLLOWS {
            return Err(ApiError::TooManyFollows(MAX_FOLLOWS));
        }
        Ok(match begin {
            Begin::After(cursor) => self.engine.follow(session, cursor).await?,
            Begin::Newest(turns) => self.engine.follow_newest(session, turns).await?,
        })
    }

    /// Lets the follow speak; its snapshot was sent before. With `batch` it joins entries and words into fewer frames.
    pub(super) fn start(&mut self, follow: Follow, batch: bool) {
        while self.tasks.try_join_next().is_some() {}
        self.generation += 1;
        let (session, cursor, generation) = (follow.session(), follow.cursor(), self.generation);
        let (out, unsent) = (self.out.clone(), self.unsent);
        let task = self.tasks.spawn(async move {
            if AssertUnwindSafe(speak(Joined::new(follow, batch), unsent, generation, out.clone()))
                .catch_unwind()
                .await
                .is_err()
            {
                let error = ApiError::Submit(SubmitError::Broken).into_detail();
                let frame = ServerFrame::Error { id: None, session: Some(session), error };
                out.say(session, generation, FollowProgress::Ended, frame).await;
            }
        });
        self.by_session.insert(session, Slot { generation, task, cursor, caught_up: false });
    }

    pub(super) fn unfollow(&mut self, session: SessionId) {
        if let Some(slot) = self.by_session.remove(&session) {
            slot.task.abort();
        }
    }

    /// The next frame of any follow; never, while there is none. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Ready {
        loop {
            let said = self.said.recv().await.expect("we hold a sender ourselves");
            if let Some(ready) = self.heed(said) {
                return ready;
            }
        }
    }

    /// The next frame, if there is one at this moment.
    pub(super) fn try_next(&mut self) -> Option<Ready> {
        loop {
            let said = self.said.try_recv().ok()?;
            if let Some(ready) = self.heed(said) {
                return Some(ready);
            }
        }
    }

    /// Notes what was said; nothing, if its follow has ended meanwhile.
    fn heed(&mut self, said: QueuedFrame) -> Option<Ready> {
        let QueuedFrame { session, generation, progress, frame } = said;
        let slot = self.by_session.get_mut(&session).filter(|slot| slot.generation == generation)?;
        let mut entry = None;
        match progress {
            FollowProgress::Entry(cursor) => entry = Some((session, generation, cursor)),
            FollowProgress::Preview => (),
            FollowProgress::CaughtUp => slot.caught_up = true,
            FollowProgress::Ended => self.unfollow(session),
        }
        Some(Ready { frame, entry })
    }

    /// The frame was handed to the socket, so a client that goes on from here has seen it.
    pub(super) fn sent(&mut self, ready: &Ready) {
        if let Some((session, generation, cursor)) = ready.entry
            && let Some(slot) = self.by_session.get_mut(&session).filter(|slot| slot.generation == generation)
        {
            slot.cursor = cursor;
        }
    }

    /// Where each follow is, so that a client can take it up again.
    pub(super) fn cursors(&self) -> impl Iterator<Item = (SessionId, Cursor)> {
        self.by_session.iter().map(|(session, slot)| (*session, slot.cursor))
    }

    /// A mark for every follow that has nothing left to catch up with.
    pub(super) fn progress(&self) -> Vec<ServerFrame> {
        let quiet = self.by_session.iter().filter(|(_, slot)| slot.caught_up);
        quiet
            .map(|(session, slot)| ServerFrame::Progress { session: *session, up_to: slot.cursor.to_string() })
            .collect()
    }
}

async fn speak(mut joined: Joined, tells: UnsentWords, generation: u64, out: Out) {
    let session = joined.follow().session();
    loop {
        let followed = joined.next().await;
        let more = match &followed {
            Ok(Followed::Entry(first)) => joined.entries_behind(first),
            _ => Vec::new(),
        };
        let cursor = joined.follow().cursor();
        let (progress, frame) = match followed {
            Ok(Followed::Entry(entry)) if more.is_empty() => {
                (FollowProgress::Entry(cursor), ServerFrame::Entry { session, cursor: cursor.to_string(), entry })
            }
            Ok(Followed::Entry(first)) => {
                let entries = std::iter::once(first).chain(more).collect();
                (FollowProgress::Entry(cursor), ServerFrame::Entries { session, cursor: cursor.to_string(), entries })
            }
            Ok(Followed::CaughtUp) => {
                (FollowProgress::CaughtUp, ServerFrame::CaughtUp { session, cursor: cursor.to_string() })
            }
            Ok(Followed::Preview(Words { turn, of, number, text })) => {
                let text = text.as_ref().to_owned();
                (FollowProgress::Preview, ServerFrame::Preview { session, turn, kind: of, block: number, text })
            }
            Ok(Followed::Printed(OutputPreview { turn, output, command, offset, text })) => {
                let command = command.as_ref().to_owned();
                (FollowProgress::Preview, ServerFrame::OutputPreview { session, turn, output, command, offset, text })
            }
            Ok(Followed::Context { context, reason }) => {
                let (reason, set_name) = match reason {
                    ContextReason::Changed(set) => (wire::ContextReason::Changed, set),
                    ContextReason::Resume => (wire::ContextReason::Resume, None),
                };
                let context = convert::context(&context);
                (FollowProgress::Preview, ServerFrame::SessionContext { session, reason, set_name, context })
            }
            Ok(Followed::Unsent(_)) if tells == UnsentWords::Kept => continue,
            Ok(Followed::Unsent(unsent)) => {
                let (text, writer) = (unsent.text.to_string(), unsent.writer.to_string());
                (FollowProgress::Preview, ServerFrame::Unsent { session, text, writer })
            }
            Ok(Followed::Deleted) => {
                let reason = wire::ResetReason::Deleted;
                (FollowProgress::Ended, ServerFrame::Reset { session, reason, snapshot: None })
            }
            Err(err) => {
                let error = ApiError::Query(QueryError::Read(err)).into_detail();
                (FollowProgress::Ended, ServerFrame::Error { id: None, session: Some(session), error })
            }
        };
        let last = matches!(progress, FollowProgress::Ended);
        if !out.say(session, generation, progress, frame).await || last {
            return;
        }
    }
}

/// A frame as it is sent; in the place of a very long entry, where to read it.
fn bounded_text(frame: ServerFrame) -> String {
    let text = text_of(&frame);
    match frame {
        ServerFrame::Entry { session, cursor, entry } if text.len() > LARGE_ENTRY_BYTES => {
            let entry = large_entry(session, &entry, &text);
            text_of(&ServerFrame::LargeEntry { session, cursor, entry })
        }
        _ => text,
    }
}

fn large_entry(session: SessionId, entry: &Entry, text: &str) -> LargeEntry {
    #[derive(Deserialize)]
    struct Frame<'a> {
        #[serde(borrow)]
        entry: Tag<'a>,
    }
    #[derive(Deserialize)]
    struct Tag<'a> {
        r#type: &'a str,
    }
    let frame: Frame<'_> = serde_json::from_str(text).expect("it was just written");
    LargeEntry {
        seq: entry.seq,
        at: entry.at,
        kind: frame.entry.r#type.to_owned(),
        turn: entry.event.turn(),
        bytes: text.len() as u64,
        read: format!("/api/v1/sessions/{session}/entries?after={}&limit=1", entry.seq.previous()),
    }
}

/// A refused cursor is an answer of its own, not an error.
pub(super) fn reset_frame(session: SessionId, err: &ApiError) -> Option<ServerFrame> {
    if let ApiError::Query(QueryError::Deleted(_)) = err {
        return Some(ServerFrame::Reset { session, reason: wire::ResetReason::Deleted, snapshot: None });
    }
    let ApiError::Query(QueryError::Reset { reason, snapshot }) = err else { return None };
    let reason = match reason {
        ResetReason::OtherIncarnation => wire::ResetReason::OtherIncarnation,
        ResetReason::Ahead => wire::ResetReason::Ahead,
    };
    Some(ServerFrame::Reset { session, reason, snapshot: Some(snapshot.to_string()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R15: few long frames fill the queue as many short ones do, and room comes back when a frame was written.
    #[tokio::test]
    async fn what_waits_is_bounded_in_bytes() {
        let session: SessionId = "0190a8c0-0000-7000-8000-0000000000ab".parse().unwrap();
        let (out, mut said) = Out::new();
        let frame = |bytes: usize| ServerFrame::CaughtUp { session, cursor: "x".repeat(bytes) };
        let say = async |bytes: usize| out.say(session, 1, FollowProgress::Preview, frame(bytes)).await;
        for _ in 0..2 {
            assert_eq!(say(3 << 20).now_or_never(), Some(true));
        }
        assert_eq!(say(3 << 20).now_or_never(), None, "the third is more than there is room for");
        drop(said.recv().await.map(|said| said.frame));
        assert_eq!(say(3 << 20).now_or_never(), Some(true));
        // One that is longer than all the room there is gets through once it is alone.
        assert_eq!(say(20 << 20).now_or_never(), None);
        drop((said.recv().await, said.recv().await));
        assert_eq!(say(20 << 20).now_or_never(), Some(true));
    }
}
