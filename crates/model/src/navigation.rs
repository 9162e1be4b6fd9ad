//! What leads a reader through a session: the summaries of its turns and the titles it has had.

use serde::{Deserialize, Serialize};

use crate::{InteractionId, SessionId, Timestamp, Turn};

/// How many titles of a session are kept.
pub const MAX_TITLES: u32 = 20;

/// Who thought of a title.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TitleMaker {
    /// The session's agent.
    #[default]
    Agent,
    /// We did, from the words of the newest turns.
    Terms,
    /// A model that was asked for one.
    Model,
}

/// Who wrote a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryMaker {
    /// It is a line of the turn itself.
    Extract,
    /// A model that was asked for one.
    Model,
}

/// How much there is of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Extent {
    /// Characters of the prompt.
    pub prompt: u32,
    /// Characters of the answer.
    pub response: u32,
    /// Calls of tools.
    pub tools: u32,
}

/// What a turn was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// One line.
    pub text: String,
    /// Who wrote it.
    pub by: SummaryMaker,
    /// When.
    pub made_at: Timestamp,
}

/// A title that a session has, or had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TitleRow {
    /// Which session.
    pub session: SessionId,
    /// Its number among all titles of the session, from 1.
    pub nth: u32,
    /// One line.
    pub title: String,
    /// Who thought of it.
    pub by: TitleMaker,
    /// The newest turn at that time, if there was one.
    pub turn: Option<Turn>,
    /// That turn's prompt.
    pub interaction_id: Option<InteractionId>,
    /// When it was given.
    pub changed_at: Timestamp,
}

impl TitleRow {
    /// The place that it takes among those that are kept.
    pub fn slot(&self) -> u32 {
        self.nth % MAX_TITLES
    }
}
