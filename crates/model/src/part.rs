//! The next entries of one stream, as they are appended.

use crate::{Entry, Event, RowChange, Seq, Session, StreamId, Timestamp, Turn, TurnRow, fold};

/// The new entries of one stream, with the rows that they change.
#[derive(Debug, Clone)]
pub struct Part {
    /// Which stream.
    pub stream: StreamId,
    /// The seq that the writer believes to be the newest; another one is a conflict.
    pub after: Seq,
    /// The entries, numbered from the seq after `after`.
    pub entries: Vec<Entry>,
    /// What `model::fold` made of them.
    pub rows: Vec<RowChange>,
    /// By how much they change the number of sessions that came to rest unseen.
    pub unobserved_delta: i64,
}

impl Part {
    /// Nothing yet, after this seq.
    pub fn empty(stream: StreamId, after: Seq) -> Self {
        Self { stream, after, entries: Vec::new(), rows: Vec::new(), unobserved_delta: 0 }
    }

    /// Numbers and folds `events` onto what was `before` them; also gives the session as it stands afterwards.
    pub fn of(
        stream: StreamId,
        after: Seq,
        before: Option<Session>,
        events: Vec<Event>,
        at: Timestamp,
    ) -> (Self, Option<Session>) {
        let mut part = Self::empty(stream, after);
        let session = events.into_iter().fold(before, |session, event| part.push(session, event, at));
        (part, session)
    }

    /// Numbers and folds the next event onto what was `before` it; gives the session as it stands afterwards.
    pub fn push(&mut self, before: Option<Session>, event: Event, at: Timestamp) -> Option<Session> {
        let seq = self.entries.last().map_or(self.after, |entry| entry.seq).next();
        let entry = Entry { seq, at, event };
        let is_unobserved = |session: &Option<Session>| i64::from(session.as_ref().is_some_and(|s| s.row.unobserved()));
        self.unobserved_delta -= is_unobserved(&before);
        let folded = fold(self.stream, before, &entry);
        self.unobserved_delta += is_unobserved(&folded.session);
        folded.rows.into_iter().for_each(|row| self.push_row(row));
        self.entries.push(entry);
        folded.session
    }

    /// A row that is changed again before it is written is written once, as it stands at the end.
    fn push_row(&mut self, row: RowChange) {
        match row {
            // Put whole, so the last one stands for those before it.
            RowChange::PutSession(_) => {
                let is_session = |row: &RowChange| matches!(row, RowChange::PutSession(_));
                if let Some(before) = self.rows.iter().rposition(is_session) {
                    self.rows.remove(before);
                }
                self.rows.push(row);
            }
            RowChange::EndTurn { turn, ref stop, ended_at, last_seq, .. } => match self.started(turn) {
                Some(started) => {
                    started.stop = Some(stop.clone());
                    (started.ended_at, started.last_seq) = (Some(ended_at), Some(last_seq));
                }
                None => self.rows.push(row),
            },
            RowChange::PutSummary { turn, ref summary, extent, .. } => match self.started(turn) {
                Some(started) => {
                    started.summary = Some(summary.clone());
                    started.extent = extent.or(started.extent);
                }
                None => self.rows.push(row),
            },
            _ => self.rows.push(row),
        }
    }

    fn started(&mut self, turn: Turn) -> Option<&mut TurnRow> {
        self.rows.iter_mut().rev().find_map(|row| match row {
            RowChange::StartTurn(row) if row.turn == turn => Some(row),
            _ => None,
        })
    }
}
