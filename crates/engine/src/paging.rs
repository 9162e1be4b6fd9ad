//! Reads a session's entries and turns page by page: however long a session is, one page of it is held at a time.

use std::ops::ControlFlow;
use std::sync::Arc;

use model::{Context, Entry, Seq, Session, SessionEvent, SessionId, Turn, TurnRow};
use store::{EntryOrder, ReadError, Reader};

use crate::{ENTRIES_AT_ONCE, Shared};

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

/// The same, with the bodies of those entries that `needs_all` is true of.
pub(crate) async fn walk_whole(
    shared: &Shared,
    id: SessionId,
    mut after: Seq,
    up_to: Seq,
    needs_all: impl Fn(&SessionEvent) -> bool,
    mut visit: impl FnMut(Entry) -> ControlFlow<()>,
) -> Result<(), ReadError> {
    while after < up_to {
        let page = shared.store.read_session(id, after, after.count_to(up_to, ENTRIES_AT_ONCE)).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for entry in page {
            let entry = if needs_all(&entry.event) { shared.whole_entry(id, entry).await } else { entry };
            if visit(entry).is_break() {
                return Ok(());
            }
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
        let page = store.context_entries(id, after, up_to, EntryOrder::OldestFirst, ENTRIES_AT_ONCE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.seq;
        if page.into_iter().try_for_each(&mut visit).is_break() {
            return Ok(());
        }
    }
}

/// What a session was about at the end of a turn; as it is now, if no turn came after it.
pub(crate) async fn context_as_of(
    store: &dyn Reader,
    session: &Session,
    turn: Turn,
) -> Result<Arc<Context>, ReadError> {
    let id = session.row.id;
    let next = store.turns(id, turn, 1).await?;
    let Some(up_to) = next.first().map(|next| next.first_seq.previous()) else {
        return Ok(Arc::clone(&session.context));
    };
    let mut context = Context::default();
    walk_context(store, id, Seq::START, up_to, |entry| {
        context.apply(entry.borrowed());
        ControlFlow::Continue(())
    })
    .await?;
    Ok(Arc::new(context))
}

/// A turn by its number.
pub(crate) async fn find_turn(store: &dyn Reader, id: SessionId, turn: Turn) -> Result<Option<TurnRow>, ReadError> {
    let next = store.turns(id, Turn(turn.0.saturating_sub(1)), 1).await?;
    Ok(next.into_iter().find(|row| row.turn == turn))
}
