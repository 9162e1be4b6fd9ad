//! The next entries of one stream, as they are appended.

use std::collections::HashSet;

use crate::{
    BodyHash, Entry, Event, Extent, NewBody, RowChange, Seq, ServerEvent, Session, SessionEvent, SessionId, StreamId,
    Summary, Timestamp, Turn, TurnRow, WorkEvent, fold_server, fold_session, fold_work,
};

/// The new entries of one stream, with the rows that they change.
#[derive(Debug, Clone)]
pub struct Part<E = Event> {
    /// Which stream.
    pub stream: StreamId,
    /// The seq that the writer believes to be the newest; another one is a conflict.
    pub after: Seq,
    /// The entries, numbered from the seq after `after`.
    pub entries: Vec<Entry<E>>,
    /// What the folds of `model` made of them.
    pub rows: Vec<RowChange>,
    /// By how much they change the number of sessions that came to rest unseen.
    pub unobserved_delta: i64,
    /// By how much they change the number of sessions that need the person.
    pub needs_you_delta: i64,
}

impl<E> Part<E> {
    /// Not public: a part whose events are of one stream's kind has to be of that stream.
    fn begin(stream: StreamId, after: Seq) -> Self {
        Self { stream, after, entries: Vec::new(), rows: Vec::new(), unobserved_delta: 0, needs_you_delta: 0 }
    }

    /// Nothing yet, of the same stream, after this seq.
    pub(crate) fn begin_after(&self, after: Seq) -> Self {
        Self::begin(self.stream, after)
    }

    /// The seq of its last entry, or the one before it if it has none.
    pub fn head(&self) -> Seq {
        self.entries.last().map_or(self.after, |entry| entry.seq)
    }

    fn number(&self, event: E, at: Timestamp) -> Entry<E> {
        Entry { seq: self.head().next(), at, event }
    }
}

impl<E: Into<Event>> Part<E> {
    /// The same part, as a batch takes it.
    pub fn into_any(self) -> Part {
        let Self { stream, after, entries, rows, unobserved_delta, needs_you_delta } = self;
        let entries = entries.into_iter().map(|entry| entry.map(Into::into)).collect();
        Part { stream, after, entries, rows, unobserved_delta, needs_you_delta }
    }
}

impl Part {
    /// Nothing yet, after this seq.
    pub fn empty(stream: StreamId, after: Seq) -> Self {
        Self::begin(stream, after)
    }

    /// Events of a session, folded onto what was `before` them; also gives the session as it stands afterwards.
    pub fn of_session(
        session: SessionId,
        after: Seq,
        before: Option<Session>,
        events: Vec<SessionEvent>,
        at: Timestamp,
    ) -> (Self, Option<Session>) {
        let mut part = Part::begin_session(session, after);
        let session = events.into_iter().fold(before, |session, event| part.push(session, event, at));
        (part.into_any(), session)
    }

    /// Some of the bodies that it names could not be stored: its entries say so.
    pub fn unkeep(&mut self, lost: &HashSet<BodyHash>, bodies: &[NewBody]) {
        for entry in &mut self.entries {
            if let Event::Session(event) = &mut entry.event {
                event.unkeep(lost, bodies);
            }
        }
        unkeep_rows(&mut self.rows, lost, bodies);
    }

    /// Events of pieces of work.
    pub fn of_works(after: Seq, events: Vec<WorkEvent>, at: Timestamp) -> Self {
        let mut part = Part::begin_works(after);
        events.into_iter().for_each(|event| part.push(event, at));
        part.into_any()
    }

    /// Events of the server.
    pub fn of_server(after: Seq, events: Vec<ServerEvent>, at: Timestamp) -> Self {
        let mut part = Part::<ServerEvent>::begin(StreamId::Server, after);
        events.into_iter().for_each(|event| part.push(event, at));
        part.into_any()
    }
}

/// The rows of entries that say so.
fn unkeep_rows(rows: &mut Vec<RowChange>, lost: &HashSet<BodyHash>, bodies: &[NewBody]) {
    rows.retain_mut(|row| match row {
        RowChange::PutBody(row) => !lost.contains(&row.hash),
        RowChange::PutPrompt { prompt, .. } => {
            prompt.images.iter_mut().for_each(|image| image.unkeep(lost, bodies));
            true
        }
        _ => true,
    });
}

impl Part<SessionEvent> {
    /// Some of the bodies that it names could not be stored: its entries say so.
    pub(crate) fn unkeep_own(&mut self, lost: &HashSet<BodyHash>, bodies: &[NewBody]) {
        self.entries.iter_mut().for_each(|entry| entry.event.unkeep(lost, bodies));
        unkeep_rows(&mut self.rows, lost, bodies);
    }
}

impl Part<ServerEvent> {
    fn push(&mut self, event: ServerEvent, at: Timestamp) {
        let entry = self.number(event, at);
        self.rows.extend(fold_server(entry.borrowed()));
        self.entries.push(entry);
    }
}

impl Part<WorkEvent> {
    /// Nothing yet of the stream of the pieces of work, after this seq.
    pub fn begin_works(after: Seq) -> Self {
        Self::begin(StreamId::Work, after)
    }

    /// Numbers and folds the next event.
    pub fn push(&mut self, event: WorkEvent, at: Timestamp) {
        let entry = self.number(event, at);
        self.rows.extend(fold_work(entry.borrowed()));
        self.entries.push(entry);
    }
}

impl Part<SessionEvent> {
    /// Nothing yet of a session, after this seq.
    pub fn begin_session(session: SessionId, after: Seq) -> Self {
        Self::begin(StreamId::Session(session), after)
    }

    /// Numbers and folds the next event onto what was `before` it; gives the session as it stands afterwards.
    pub fn push(&mut self, before: Option<Session>, event: SessionEvent, at: Timestamp) -> Option<Session> {
        let StreamId::Session(id) = self.stream else { return before };
        let entry = self.number(event, at);
        let is_unobserved = |session: &Option<Session>| i64::from(session.as_ref().is_some_and(|s| s.row.unobserved()));
        let needs_you = |session: &Option<Session>| i64::from(session.as_ref().is_some_and(|s| s.row.needs_you()));
        self.unobserved_delta -= is_unobserved(&before);
        self.needs_you_delta -= needs_you(&before);
        let (session, rows) = fold_session(id, before, entry.borrowed());
        self.unobserved_delta += is_unobserved(&session);
        self.needs_you_delta += needs_you(&session);
        rows.into_iter().for_each(|row| self.push_row(row));
        self.entries.push(entry);
        session
    }

    /// A row that is changed again before it is written is written once, as it stands at the end.
    fn push_row(&mut self, row: RowChange) {
        match row {
            // The last one stands for those before it, and what is stored is what was before the first.
            RowChange::PutSession { before, row } => {
                let is_session = |row: &RowChange| matches!(row, RowChange::PutSession { .. });
                let earlier = self.rows.iter().rposition(is_session).map(|earlier| self.rows.remove(earlier));
                let before = match earlier {
                    Some(RowChange::PutSession { before, .. }) => before,
                    _ => before,
                };
                self.rows.push(RowChange::PutSession { before, row });
            }
            RowChange::EndTurn { turn, ref stop, ended_at, last_seq, .. } => match self.started(turn) {
                Some(started) => started.end(stop.clone(), ended_at, last_seq),
                None => self.rows.push(row),
            },
            RowChange::PutSummary { turn, ref summary, extent, .. } => match self.started(turn) {
                Some(started) => started.summarise(summary.clone(), extent),
                None => match self.ended(turn) {
                    Some((place, extent_place)) => {
                        *place = Some(summary.clone());
                        *extent_place = extent.or(*extent_place);
                    }
                    None => self.rows.push(row),
                },
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

    fn ended(&mut self, turn: Turn) -> Option<(&mut Option<Summary>, &mut Option<Extent>)> {
        self.rows.iter_mut().rev().find_map(|row| match row {
            RowChange::EndTurn { turn: ended, summary, extent, .. } if *ended == turn => Some((summary, extent)),
            _ => None,
        })
    }
}
