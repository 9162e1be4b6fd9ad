//! Reads a session's entries and turns page by page: however long a session is, one page of it is held at a time.

use std::ops::ControlFlow;

use model::{Entry, Seq, SessionId, Turn, TurnRow};
use store::{ReadError, Reader};

use crate::ENTRIES_AT_ONCE;

/// Visits the entries after one and up to another, oldest first, until `visit` has enough.
pub(crate) async fn walk(
    store: &dyn Reader,
    id: SessionId,
    mut after: Seq,
    up_to: Seq,
    mut visit: impl FnMut(Entry) -> ControlFlow<()>,
) -> Result<(), ReadError> {
    while after < up_to {
        let page = store.read_session(id, after, after.count_to(up_to, ENTRIES_AT_ONCE)).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        if page.into_iter().try_for_each(&mut visit).is_break() {
            break;
        }
    }
    Ok(())
}

/// The same for those entries alone that change what the session is about.
pub(crate) async fn walk_context(
    store: &dyn Reader,
    id: SessionId,
    mut after: Seq,
    up_to: Seq,
    mut visit: impl FnMut(Entry) -> ControlFlow<()>,
) -> Result<(), ReadError> {
    loop {
        let page = store.context_entries(id, after, up_to, ENTRIES_AT_ONCE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = *last;
        for seq in page {
            if store.read_session(id, seq.previous(), 1).await?.into_iter().try_for_each(&mut visit).is_break() {
                return Ok(());
            }
        }
    }
}

/// A turn by its number.
pub(crate) async fn find_turn(store: &dyn Reader, id: SessionId, turn: Turn) -> Result<Option<TurnRow>, ReadError> {
    let next = store.turns(id, Turn(turn.0.saturating_sub(1)), 1).await?;
    Ok(next.into_iter().find(|row| row.turn == turn))
}
