//! The sessions that one socket follows, a task each, all feeding one bounded queue.
//!
//! Invariant: frames of a follow that has ended are never sent. A client may unfollow and follow again at once; the
//! generation tells the two apart.

use std::collections::HashMap;

use engine::{Engine, Follow, Followed, QueryError, ResetReason};
use model::{Cursor, SessionId};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use crate::error::ApiError;
use crate::wire::{self, ServerFrame};

/// What bounds one socket's work.
const MAX_FOLLOWS: usize = 100;
/// Frames that wait for the socket; a follow that would add more waits itself and reads the log when it goes on.
const QUEUE: usize = 64;

/// Something a follow has to say.
pub(super) struct Said {
    session: SessionId,
    generation: u64,
    what: What,
}

enum What {
    Followed(Followed, Cursor),
    Broken(ApiError),
}

pub(super) struct Follows {
    engine: Engine,
    tasks: JoinSet<()>,
    by_session: HashMap<SessionId, Slot>,
    generation: u64,
    out: mpsc::Sender<Said>,
    said: mpsc::Receiver<Said>,
}

struct Slot {
    generation: u64,
    task: AbortHandle,
    /// The last entry that was handed to the socket.
    cursor: Cursor,
    caught_up: bool,
}

impl Follows {
    pub(super) fn new(engine: Engine) -> Self {
        let (out, said) = mpsc::channel(QUEUE);
        Self { engine, tasks: JoinSet::new(), by_session: HashMap::new(), generation: 0, out, said }
    }

    /// Begins to follow, in place of an earlier follow of the same session.
    pub(super) async fn follow(&mut self, session: SessionId, after: Option<Cursor>) -> Result<Follow, ApiError> {
        self.unfollow(session);
        if self.by_session.len() >= MAX_FOLLOWS {
            return Err(ApiError::TooManyFollows(MAX_FOLLOWS));
        }
        Ok(self.engine.follow(session, after).await?)
    }

    /// Lets the follow speak; its snapshot was sent before.
    pub(super) fn start(&mut self, follow: Follow) {
        while self.tasks.try_join_next().is_some() {}
        self.generation += 1;
        let (session, cursor, generation) = (follow.session(), follow.cursor(), self.generation);
        let task = self.tasks.spawn(speak(follow, generation, self.out.clone()));
        self.by_session.insert(session, Slot { generation, task, cursor, caught_up: false });
    }

    pub(super) fn unfollow(&mut self, session: SessionId) {
        if let Some(slot) = self.by_session.remove(&session) {
            slot.task.abort();
        }
    }

    /// The next frame of any follow; never, while there is none. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> ServerFrame {
        loop {
            let said = self.said.recv().await.expect("we hold a sender ourselves");
            if let Some(frame) = self.frame(said) {
                return frame;
            }
        }
    }

    fn frame(&mut self, said: Said) -> Option<ServerFrame> {
        let Said { session, generation, what } = said;
        let slot = self.by_session.get_mut(&session).filter(|slot| slot.generation == generation)?;
        match what {
            What::Followed(Followed::Entry(entry), cursor) => {
                slot.cursor = cursor;
                Some(ServerFrame::Entry { session, cursor: cursor.to_string(), entry })
            }
            What::Followed(Followed::CaughtUp, cursor) => {
                slot.caught_up = true;
                Some(ServerFrame::CaughtUp { session, cursor: cursor.to_string() })
            }
            What::Followed(Followed::Preview { turn, block, text }, _) => {
                Some(ServerFrame::Preview { session, turn, block, text: text.as_ref().to_owned() })
            }
            What::Followed(Followed::Deleted, _) => {
                self.unfollow(session);
                Some(ServerFrame::Reset { session, reason: wire::ResetReason::Deleted, snapshot: None })
            }
            What::Broken(err) => {
                self.unfollow(session);
                Some(ServerFrame::Error { id: None, session: Some(session), error: err.detail() })
            }
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

async fn speak(mut follow: Follow, generation: u64, out: mpsc::Sender<Said>) {
    let session = follow.session();
    loop {
        let what = match follow.next().await {
            Ok(followed) => What::Followed(followed, follow.cursor()),
            Err(err) => What::Broken(ApiError::Query(QueryError::Read(err))),
        };
        let last = matches!(what, What::Broken(_) | What::Followed(Followed::Deleted, _));
        if out.send(Said { session, generation, what }).await.is_err() || last {
            return;
        }
    }
}

/// A refused cursor is an answer of its own, not an error.
pub(super) fn reset_frame(session: SessionId, err: &ApiError) -> Option<ServerFrame> {
    let ApiError::Query(QueryError::Reset { reason, snapshot }) = err else { return None };
    let reason = match reason {
        ResetReason::OtherIncarnation => wire::ResetReason::OtherIncarnation,
        ResetReason::Ahead => wire::ResetReason::Ahead,
    };
    Some(ServerFrame::Reset { session, reason, snapshot: Some(snapshot.to_string()) })
}
