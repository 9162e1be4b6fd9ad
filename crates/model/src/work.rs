//! Pieces of work: named, ordered groups of sessions of one project, and the clicks that make them.
//!
//! Invariant: a session belongs to the work that it began in, for ever, as its first entry says. A name leads to one
//! work in its project; a work that was renamed is still found by the names it had.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use crate::limits::MAX_NAME_CHARS;
use crate::text::is_hidden;
use crate::{Answerer, CursorError, Next, NextId, Rejection, SessionEvent, SessionId, Timestamp, WorkEvent, WorkId};

/// A piece of work as its table holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkRow {
    /// Which.
    pub id: WorkId,
    /// The project it belongs to.
    pub project: String,
    /// What it is called, as [`work_name`] gives it.
    pub name: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When a session was last added; lists are in this order, newest first.
    pub added_at: Timestamp,
}

/// A piece of work's place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkKey {
    /// When a session was last added.
    pub added_at: Timestamp,
    /// Tells those of one instant apart.
    pub id: WorkId,
}

impl WorkKey {
    /// Where `row` stands.
    pub fn of(row: &WorkRow) -> Self {
        Self { added_at: row.added_at, id: row.id }
    }
}

impl fmt::Display for WorkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.added_at.as_millis(), self.id)
    }
}

impl FromStr for WorkKey {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let (millis, id) = text.split_once('.').ok_or(CursorError)?;
        let key = Self {
            added_at: Timestamp::from_millis(millis.parse().map_err(|_| CursorError)?),
            id: id.parse().map_err(|_| CursorError)?,
        };
        if key.to_string() == text { Ok(key) } else { Err(CursorError) }
    }
}

/// What a session was started from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Origin {
    /// A step that another session's agent offered.
    Step(StepOrigin),
    /// A turn of another session.
    Fork(ForkOrigin),
}

impl Origin {
    /// The session that it was started from.
    pub fn session(&self) -> SessionId {
        match self {
            Self::Step(StepOrigin { session, .. }) | Self::Fork(ForkOrigin { session, .. }) => *session,
        }
    }

    /// The step, if it was started by one.
    pub fn step(&self) -> Option<StepOrigin> {
        match self {
            Self::Step(step) => Some(*step),
            Self::Fork(_) => None,
        }
    }
}

/// A step that a session was started by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StepOrigin {
    /// The session whose agent offered the step.
    pub session: SessionId,
    /// The block.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub block: NextId,
}

/// A turn that a session was forked from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ForkOrigin {
    /// The session whose turn it is.
    pub session: SessionId,
    /// The last of its turns that the fork goes on from; 0 if it begins before the first.
    pub turn: crate::Turn,
}

/// A next block as its table holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextRow {
    /// The session whose agent offers it.
    pub session: SessionId,
    /// Which of its blocks.
    pub id: NextId,
    /// What is offered.
    pub next: Next,
    /// When it was offered.
    pub offered_at: Timestamp,
    /// Where it led.
    pub clicked: Option<Clicked>,
}

/// Where a click led.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Clicked {
    /// The piece of work.
    pub work: WorkId,
    /// The session that it began.
    pub session: SessionId,
    /// When.
    pub at: Timestamp,
}

/// A next block with what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The block.
    pub row: NextRow,
    /// A later turn of the session that offers a step of the same work.
    pub superseded_by: Option<crate::Turn>,
}

/// Where an offer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OfferState {
    /// It can be clicked.
    Open,
    /// It was clicked.
    Used,
    /// A later turn offers a step of the same work.
    Superseded,
    /// It does not say what work it belongs to.
    Incomplete,
}

impl Offer {
    /// Where it stands.
    pub fn state(&self) -> OfferState {
        match (&self.row.clicked, &self.row.next.meta_context, self.superseded_by) {
            (Some(_), _, _) => OfferState::Used,
            (None, None, _) => OfferState::Incomplete,
            (None, Some(_), Some(_)) => OfferState::Superseded,
            (None, Some(_), None) => OfferState::Open,
        }
    }

    /// Whether it leads anywhere; the name of the work that a click on it goes on with.
    pub fn check(&self) -> Result<&str, Rejection> {
        match (self.state(), &self.row.next.meta_context) {
            (OfferState::Open | OfferState::Used, Some(name)) => Ok(name),
            (OfferState::Superseded, _) => {
                Err(Rejection::NextSuperseded { by: self.superseded_by.unwrap_or(self.row.id.turn) })
            }
            (OfferState::Open | OfferState::Used | OfferState::Incomplete, _) => Err(Rejection::NextIncomplete),
        }
    }
}

/// The one spelling of a work's name: trimmed, composed (NFC), without what shows nothing. `None` if nothing is left,
/// or too much.
pub fn work_name(text: &str) -> Option<String> {
    let shown = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !is_hidden(*c));
    let name: String = shown.nfc().collect();
    let name = name.trim();
    (!name.is_empty() && name.chars().count() <= MAX_NAME_CHARS).then(|| name.to_owned())
}

/// The events of the `work` stream by which `session` becomes a part of `work`, which begins with it if it is new.
pub fn add_to_work(
    known: Option<&WorkRow>,
    id: WorkId,
    project: &str,
    name: &str,
    session: SessionId,
) -> Vec<WorkEvent> {
    let added = |work| WorkEvent::WorkSessionAdded { work, session };
    match known {
        Some(known) => vec![added(known.id)],
        None => {
            vec![WorkEvent::WorkCreated { work: id, project: project.to_owned(), name: name.to_owned() }, added(id)]
        }
    }
}

/// Calls a piece of work something else. `other` is what the wanted name leads to already.
pub fn rename_work(work: &WorkRow, name: &str, other: Option<&WorkRow>) -> Result<Vec<WorkEvent>, Rejection> {
    let name = work_name(name).ok_or(Rejection::WorkNameInvalid)?;
    if name == work.name {
        return Ok(Vec::new());
    }
    // A name that another had once is free; one that it has is not.
    if other.is_some_and(|other| other.id != work.id && other.name == name) {
        return Err(Rejection::WorkNameTaken);
    }
    Ok(vec![WorkEvent::WorkRenamed { work: work.id, project: work.project.clone(), name }])
}

/// A click on an offer: it leads to one session, for ever, so one that was used notes nothing more.
pub(crate) fn click(
    offer: &Offer,
    work: WorkId,
    session: SessionId,
    by: Answerer,
) -> Result<Vec<SessionEvent>, Rejection> {
    offer.check()?;
    let is_new = offer.row.clicked.is_none();
    Ok(is_new.then(|| note_click(offer.row.id, work, session, by)).into_iter().collect())
}

/// A click that holds: what is noted in the session whose block it was.
pub fn note_click(block: NextId, work: WorkId, session: SessionId, by: Answerer) -> SessionEvent {
    SessionEvent::NextClicked { turn: block.turn, nth: block.nth, work, session, by }
}

/// A fork from a turn that has ended: what is noted in the session that it was forked from. Turn 0 is its beginning.
pub(crate) fn fork(
    session: &crate::Session,
    turn: crate::Turn,
    begun: SessionId,
    by: Answerer,
) -> Result<Vec<SessionEvent>, Rejection> {
    let row = &session.row;
    if turn > row.turns {
        return Err(Rejection::NoSuchTurn { turn, newest: row.turns });
    }
    if row.running.is_some_and(|running| running.turn == turn) {
        return Err(Rejection::ForkOfRunningTurn { turn });
    }
    Ok(vec![SessionEvent::SessionForked { turn, session: begun, by }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_has_one_spelling() {
        let same = ["Loom", "  Loom ", "Lo\u{200b}om", "\u{feff}Loom\n"];
        assert!(same.iter().all(|name| work_name(name).as_deref() == Some("Loom")));
        assert_eq!(work_name("Cafe\u{301}"), work_name("Café"));
        assert_ne!(work_name("loom"), work_name("Loom"));
        assert_eq!(work_name("the  loom").as_deref(), Some("the  loom"));
        for none in ["", "  ", "\u{200b}", &"x".repeat(MAX_NAME_CHARS + 1)] {
            assert_eq!(work_name(none), None);
        }
    }
}
