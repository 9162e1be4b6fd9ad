//! Reads a session's contents: its turns by number and by id, and the titles it has had.
//!
//! Invariant: what a reader gets of a turn is bounded, however much the agent said; what was left out is counted.

use std::ops::ControlFlow;

use model::{
    Cursor, Entry, InteractionId, Seq, SessionEvent, SessionId, SessionRow, TitleRow, Transcript, TranscriptTurn, Turn,
    TurnRow, json_bytes,
};
use store::ReadError;

use crate::{Engine, QueryError, Shared, paging};

/// How many turns are returned at once.
pub const MAX_TURNS_AT_ONCE: u32 = 20;
/// How many lines a page of contents has at most.
pub const MAX_CONTENTS_LINES: usize = 500;
/// How many bytes of events are read for a turn, or for all that are asked for at once.
const TURN_BYTES: usize = 8 << 20;

/// A page of a session's contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The session.
    pub session: SessionRow,
    /// Its turns, oldest first.
    pub turns: Vec<TurnRow>,
    /// There are turns after these.
    pub more: bool,
}

/// A turn with all that was said and done in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interaction {
    /// Its place in the contents.
    pub row: TurnRow,
    /// Its words and calls.
    pub transcript: TranscriptTurn,
    /// There was more than the transcript has.
    pub cut: bool,
}

/// A turn between its neighbours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnView {
    /// The turn.
    pub interaction: Interaction,
    /// The one before it.
    pub previous: Option<TurnRow>,
    /// The one after it.
    pub next: Option<TurnRow>,
}

impl Engine {
    /// A page of a session's contents, after a turn.
    pub async fn contents(&self, id: SessionId, after: Turn, limit: usize) -> Result<Contents, QueryError> {
        let session = self.session(id).await?.row;
        let limit = limit.min(MAX_CONTENTS_LINES);
        let mut turns = self.shared.store.turns(id, after, limit + 1).await?;
        let more = turns.len() > limit;
        turns.truncate(limit);
        Ok(Contents { session, turns, more })
    }

    /// A turn with its neighbours.
    pub async fn turn(&self, id: SessionId, turn: Turn) -> Result<TurnView, QueryError> {
        let newest = self.session(id).await?.row.turns;
        let missing = || QueryError::NoSuchTurn { turn, newest };
        let before = turn.0.checked_sub(1).ok_or_else(missing)?;
        let around = self.shared.store.turns(id, Turn(before.saturating_sub(1)), 3).await?;
        let row = around.iter().find(|row| row.turn == turn).cloned().ok_or_else(missing)?;
        let find = |number: u32| around.iter().find(|row| row.turn == Turn(number)).cloned();
        let (previous, next) = (find(before).filter(|_| before > 0), find(turn.0.saturating_add(1)));
        Ok(TurnView { interaction: self.shared.interaction(row, TURN_BYTES).await?, previous, next })
    }

    /// Turns from one to another, both included; how many there are in all.
    pub async fn turns(&self, id: SessionId, from: Turn, to: Turn) -> Result<(Turn, Vec<Interaction>), QueryError> {
        let newest = self.session(id).await?.row.turns;
        if from.0 == 0 || from > newest {
            return Err(QueryError::NoSuchTurn { turn: from, newest });
        }
        let count = to.0.saturating_sub(from.0).saturating_add(1).min(MAX_TURNS_AT_ONCE);
        let rows = self.shared.store.turns(id, Turn(from.0 - 1), count as usize).await?;
        let budget = TURN_BYTES / rows.len().max(1);
        let mut turns = Vec::with_capacity(rows.len());
        for row in rows {
            turns.push(self.shared.interaction(row, budget).await?);
        }
        Ok((newest, turns))
    }

    /// Where a prompt's turn is.
    pub async fn find_interaction(&self, id: InteractionId) -> Result<TurnRow, QueryError> {
        let missing = || QueryError::NoSuchInteraction(id);
        let row = self.shared.store.find_turn(id).await?.ok_or_else(missing)?;
        // One of a deleted session is gone with it.
        self.session(row.session).await.map_err(|err| match err {
            QueryError::NotFound(_) | QueryError::Deleted(_) => missing(),
            err => err,
        })?;
        Ok(row)
    }

    /// A turn by its prompt's id.
    pub async fn interaction(&self, id: InteractionId) -> Result<Interaction, QueryError> {
        let row = self.find_interaction(id).await?;
        Ok(self.shared.interaction(row, TURN_BYTES).await?)
    }

    /// The titles that a session has had, newest first.
    pub async fn title_history(&self, id: SessionId) -> Result<(SessionRow, Vec<TitleRow>), QueryError> {
        let session = self.session(id).await?.row;
        Ok((session, self.shared.store.titles(id).await?))
    }

    /// The entries of some turns, from one to another, both included, after a seq.
    pub async fn entries_of_turns(
        &self,
        id: SessionId,
        (from, to): (Turn, Turn),
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<(Vec<Entry>, bool), QueryError> {
        let session = self.session(id).await?;
        let after = self.check_cursor(after, session.head)?;
        let missing = |turn| QueryError::NoSuchTurn { turn, newest: session.row.turns };
        let first = paging::find_turn(&*self.shared.store, id, from).await?.ok_or_else(|| missing(from))?.first_seq;
        let next = self.shared.store.turns(id, to, 1).await?;
        // Entries between two turns belong to the first of them.
        let end = next.first().map_or(session.head, |next| next.first_seq.previous());
        let after = after.max(first.previous());
        let entries = self.shared.store.read_session(id, after, after.count_to(end, limit)).await?;
        let last = entries.last().map_or(end, |entry| entry.seq);
        if entries.is_empty() && after < end {
            return Err(self.missing_after(id, after).await);
        }
        Ok((entries, last < end))
    }
}

impl Shared {
    /// What was said and done in a turn.
    pub(crate) async fn interaction(&self, row: TurnRow, budget: usize) -> Result<Interaction, ReadError> {
        let mut transcript = Transcript::default();
        let mut bytes = 0;
        self.walk_whole_turn(&row, |entry| {
            bytes += json_bytes(&entry.event);
            if bytes > budget {
                return ControlFlow::Break(());
            }
            transcript.apply(entry);
            ControlFlow::Continue(())
        })
        .await?;
        let cut = bytes > budget;
        let turn = transcript.turns.into_iter().find(|turn| turn.turn == row.turn);
        let transcript = turn.unwrap_or_else(|| TranscriptTurn::begin(row.turn, row.interaction_id, row.started_at));
        Ok(Interaction { row, transcript, cut })
    }

    /// The same with their bodies.
    async fn walk_whole_turn(
        &self,
        row: &TurnRow,
        mut visit: impl FnMut(&Entry) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        let last = row.last_seq.unwrap_or(Seq(u64::MAX));
        // The page shows a prompt's pictures by themselves.
        let is_of_call = |event: &SessionEvent| event.tool().is_some();
        paging::walk_whole(self, row.session, row.first_seq.previous(), last, is_of_call, |entry| {
            let is_later = entry.event.turn().is_some_and(|turn| turn > row.turn);
            if is_later { ControlFlow::Break(()) } else { visit(&entry) }
        })
        .await
    }

    /// Goes through a turn's entries, a page at a time.
    pub(crate) async fn walk_turn(
        &self,
        row: &TurnRow,
        mut visit: impl FnMut(&Entry) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        let last = row.last_seq.unwrap_or(Seq(u64::MAX));
        paging::walk(&*self.store, row.session, row.first_seq.previous(), last, |entry| {
            let is_later = entry.event.turn().is_some_and(|turn| turn > row.turn);
            if is_later { ControlFlow::Break(()) } else { visit(&entry) }
        })
        .await
    }
}
