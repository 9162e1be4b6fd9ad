//! What is known of the sessions' `outputs.json` since each was last compared with the log, so that a round that follows the log
//! does not list all outputs again.
//!
//! Invariant: a file counts as current only if nobody touched it, no entry since then stores or removes an output, and no turn
//! has ended whose outputs were left out. What is forgotten costs another comparison and nothing else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Seq, Session, SessionEvent, SessionId, Turn};

use crate::copies::folder::FileMark;
use crate::{ReadError, Reader};

/// How many entries are read at a time.
const ENTRIES: usize = 512;

/// What is known of each session's file.
#[derive(Debug, Clone, Default)]
pub(super) struct Indexes(Arc<Mutex<HashMap<SessionId, Known>>>);

#[derive(Debug, Clone, Copy)]
struct Known {
    /// The last entry that was looked at.
    up_to: Seq,
    /// The turn that ran, if it had outputs, which are not in the file.
    held_back: Option<Turn>,
    file: FileMark,
}

impl Indexes {
    /// Notes that a session's file is what the log says.
    pub(super) fn note(&self, session: &Session, held_back: Option<Turn>, file: Option<FileMark>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match file {
            Some(file) => known.insert(session.row.id, Known { up_to: session.head, held_back, file }),
            // To see that there is nothing to list costs less than to read entries.
            None => known.remove(&session.row.id),
        };
    }

    /// Whether a session's file still is what the log says.
    pub(super) async fn are_current(
        &self,
        store: &dyn Reader,
        session: &Session,
        file: Option<FileMark>,
    ) -> Result<bool, ReadError> {
        let id = session.row.id;
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).copied();
        let running = session.row.running.map(|running| running.turn);
        let Some(known) = known.filter(|known| Some(known.file) == file && known.up_to <= session.head) else {
            return Ok(false);
        };
        if known.held_back.is_some() && known.held_back != running {
            return Ok(false);
        }
        let mut seen = known.up_to;
        while seen < session.head {
            let page = store.read_session(id, seen, seen.count_to(session.head, ENTRIES)).await?;
            let Some(last) = page.last() else { return Ok(false) };
            seen = last.seq;
            if page.iter().any(|entry| {
                matches!(entry.event, SessionEvent::OutputStored { .. } | SessionEvent::OutputRemoved { .. })
            }) {
                return Ok(false);
            }
        }
        self.note(session, known.held_back, file);
        Ok(true)
    }

    /// Forgets a session that is gone.
    pub(super) fn forget(&self, id: SessionId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }
}
