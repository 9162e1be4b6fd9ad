//! Limits how much agents' credentials may write into a session. Marks are all that they can write.
//!
//! Invariant: between one prompt and the next they add at most [`MAX_MARKED_BYTES`] to the log, and only people send
//! prompts. The log itself is what is counted, from where the newest turn began, so a restart forgets nothing and reads
//! nothing older.

use std::ops::ControlFlow;

use model::{Command, Entry, Marker, Seq, Session, SessionEvent, Turn, json_bytes};
use store::Receipt;

use crate::live_session::LiveSession;
use crate::{Shared, SubmitError, paging};

/// Twenty times all that a session may hold of marks at once, and thousands of marks of a usual size.
const MAX_MARKED_BYTES: usize = 4 << 20;
/// What a mark counts for at least: an entry has rows beside it, however short it is.
const LEAST_MARK_BYTES: usize = 1 << 10;

/// What credentials that are no person's have marked since a turn began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marked {
    turn: Turn,
    bytes: usize,
}

impl LiveSession {
    /// What there will be of marks once these entries are written, or why they may not be; `None` if they mark nothing.
    pub(super) async fn room_for_marks(&self, entries: &[Entry]) -> Result<Option<Marked>, SubmitError> {
        let added: usize = entries.iter().map(|entry| mark_bytes(&entry.event)).sum();
        let Some(session) = self.stored.session() else { return Ok(None) };
        if added == 0 {
            return Ok(None);
        }
        let turn = session.row.turns;
        let before = match self.marked {
            Some(marked) if marked.turn == turn => marked.bytes,
            Some(_) | None => self.shared.marked_since_turn(session).await?,
        };
        let bytes = before.saturating_add(added);
        if bytes > MAX_MARKED_BYTES {
            return Err(SubmitError::MarksFull { limit_bytes: MAX_MARKED_BYTES });
        }
        Ok(Some(Marked { turn, bytes }))
    }
}

impl Shared {
    async fn marked_since_turn(&self, session: &Session) -> Result<usize, SubmitError> {
        let id = session.row.id;
        let newest = paging::find_turn(&*self.store, id, session.row.turns).await?;
        let after = newest.map_or(Seq::START, |turn| turn.first_seq);
        let mut bytes = 0_usize;
        paging::walk_context(&*self.store, id, after, session.head, |entry| {
            bytes = bytes.saturating_add(mark_bytes(&entry.event));
            if bytes > MAX_MARKED_BYTES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .await?;
        Ok(bytes)
    }
}

/// The answer that is kept for a repeat. Where an agent's mark changed nothing none is: the same again changes nothing
/// either, and answers would pile up that no entry accounts for.
pub(super) fn receipt_of(command: &Command, marked: Option<Marked>, receipt: Option<Receipt>) -> Option<Receipt> {
    match command {
        Command::SetContext { by: Marker::Agent | Marker::Applet, .. } if marked.is_none() => None,
        _ => receipt,
    }
}

fn mark_bytes(event: &SessionEvent) -> usize {
    match event {
        SessionEvent::ContextSet { by: Marker::Agent | Marker::Applet, .. } => json_bytes(event).max(LEAST_MARK_BYTES),
        _ => 0,
    }
}
