//! The lines that a transcript's copy should have, read from the log a piece at a time.
//!
//! Invariant: only turns that had ended by the session's head as it was read, so that a transcript never knows more than
//! the `meta.json` that is written with it.

use std::collections::VecDeque;

use model::{Entry, Seq, Session, StreamId, Transcript, TranscriptTurn, Turn, TurnRow};

use crate::{Fence, ReadError, Reader};

/// How many turns are asked for at once.
const TURNS: usize = 64;
/// How many entries are asked for at once.
const ENTRIES: usize = 512;
/// A piece ends with the line that makes it this long.
const PIECE_BYTES: usize = 256 << 10;

pub(super) struct TurnLines<'a> {
    store: &'a dyn Reader,
    session: &'a Session,
    after: Turn,
    rows: VecDeque<TurnRow>,
    /// Nothing comes after these rows.
    at_end: bool,
    /// Entries that were read ahead: short turns share a page.
    ahead: VecDeque<Entry>,
}

impl<'a> TurnLines<'a> {
    pub(super) fn new(store: &'a dyn Reader, session: &'a Session, after: Turn) -> Self {
        Self { store, session, after, rows: VecDeque::new(), at_end: false, ahead: VecDeque::new() }
    }

    /// The next lines, whole ones; `None` after the last.
    pub(super) async fn next_piece(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        let mut piece = Vec::new();
        while piece.len() < PIECE_BYTES {
            let Some(row) = self.next_row().await? else { break };
            let line = self.line(&row).await?;
            // A long one is not copied once more.
            if piece.is_empty() {
                piece = line;
            } else {
                piece.extend(line);
            }
        }
        Ok((!piece.is_empty()).then_some(piece))
    }

    /// The next turn that has ended.
    pub(super) async fn next_row(&mut self) -> Result<Option<TurnRow>, ReadError> {
        if self.rows.is_empty() && !self.at_end {
            self.rows = self.store.turns(self.session.row.id, self.after, TURNS).await?.into();
            self.at_end = self.rows.len() < TURNS;
        }
        let ended = |row: &TurnRow| row.last_seq.is_some_and(|last| last <= self.session.head);
        let row = self.rows.pop_front().filter(ended);
        if let Some(row) = &row {
            self.after = row.turn;
        }
        Ok(row)
    }

    /// The entries after one, as far as the session's head; at least the next.
    async fn read_after(&self, stream: StreamId, seen: Seq) -> Result<VecDeque<Entry>, ReadError> {
        let page =
            self.store.read_session(self.session.row.id, seen, seen.count_to(self.session.head, ENTRIES)).await?;
        match page.first() {
            Some(first) if first.seq == seen.next() => Ok(page.into()),
            Some(_) | None => Err(damaged(stream, seen.next(), "the entry is missing")),
        }
    }

    async fn line(&mut self, row: &TurnRow) -> Result<Vec<u8>, ReadError> {
        let stream = StreamId::Session(row.session);
        let last = row.last_seq.expect("only ended turns are handed out");
        let mut transcript = Transcript::default();
        let mut seen = row.first_seq.previous();
        while seen < last {
            while self.ahead.front().is_some_and(|entry| entry.seq <= seen) {
                self.ahead.pop_front();
            }
            match self.ahead.pop_front().filter(|entry| entry.seq == seen.next()) {
                Some(entry) => {
                    transcript.apply(&entry);
                    seen = entry.seq;
                }
                None => self.ahead = self.read_after(stream, seen).await?,
            }
        }
        match transcript.turns.as_slice() {
            [turn] if turn.turn == row.turn => Ok(encode(turn)),
            _ => Err(damaged(stream, row.first_seq, "the turn is not where its row says")),
        }
    }
}

fn damaged(stream: StreamId, seq: Seq, what: &'static str) -> ReadError {
    ReadError::Fenced(Fence::damaged(stream, seq, what))
}

/// A turn as a line of a copy.
pub(super) fn encode(turn: &TranscriptTurn) -> Vec<u8> {
    let mut line = serde_json::to_vec(turn).expect("it holds only texts and instants");
    line.push(b'\n');
    line
}
