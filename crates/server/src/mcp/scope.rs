//! Which sessions the tools reach: those of the caller's project, or all where the configuration says so.
//!
//! Invariant: every other session is found here or nowhere. For one of another project and for one that is deleted the reply
//! is the same as for one that never was; of those out of scope only the number is shown. The caller's own session is the only one
//! that anything is marked in.

use engine::{AgentSwitch, Engine, QueryError, Within};
use model::{InteractionId, SessionId, SessionRow, TurnRow};

use super::{Calling, phrases};
use crate::access;
use crate::mcp::tools::CallError;

/// How many ids are named instead of one that is not there, and among how many they are looked for.
const NEAREST: usize = 3;
const NEAREST_AMONG: usize = 200;

/// What a caller may read, as of now.
pub(super) struct Scope<'a> {
    engine: &'a Engine,
    /// The session that the caller works in.
    pub(super) current: SessionRow,
    pub(super) within: Within,
}

impl<'a> Scope<'a> {
    pub(super) async fn open(engine: &'a Engine, calling: &Calling, all: &AgentSwitch) -> Result<Self, CallError> {
        let Calling { principal, session } = calling;
        access::session(principal, doors::Right::Read, *session)?;
        let current = engine.session(*session).await?.row;
        let within = match all.is_on_for(&current.agent) {
            true => Within::Everything,
            false => Within::Project(current.project.clone()),
        };
        Ok(Self { engine, current, within })
    }

    /// The session that is named: the current one, unless it is another.
    pub(super) async fn session(&self, named: Option<SessionId>) -> Result<SessionRow, CallError> {
        let Some(id) = named else { return Ok(self.current.clone()) };
        match self.find(id).await? {
            Some(row) => Ok(row),
            None => Err(self.missing(id).await?),
        }
    }

    /// The turn that an interaction is, if it may be read.
    pub(super) async fn interaction(&self, id: InteractionId) -> Result<Option<(SessionRow, TurnRow)>, CallError> {
        let row = match self.engine.find_interaction(id).await {
            Ok(row) => row,
            Err(QueryError::NoSuchInteraction(_)) => return Ok(None),
            Err(err) => return Err(err.into()),
        };
        Ok(self.find(row.session).await?.map(|session| (session, row)))
    }

    async fn find(&self, id: SessionId) -> Result<Option<SessionRow>, CallError> {
        match self.engine.session(id).await {
            Ok(session) => Ok(Some(session.row).filter(|row| self.within.includes(&row.project))),
            Err(QueryError::NotFound(_) | QueryError::Deleted(_)) => Ok(None),
            Err(err) => Err(err.into()),
        }
    }

    async fn missing(&self, id: SessionId) -> Result<CallError, CallError> {
        let page = self.engine.sessions_within(&self.within, None, NEAREST_AMONG).await?;
        let nearest = nearest(&id.to_string(), page.sessions.iter().map(|row| row.id.to_string()));
        Ok(match self.within {
            Within::Project(_) => CallError::SessionNotInScope { id, nearest },
            Within::Everything => CallError::NoSuchSession { id, nearest },
        })
    }

    pub(super) fn is_current(&self, id: SessionId) -> bool {
        self.current.id == id
    }

    /// `ID "what it is called" (current)`.
    pub(super) fn describe(&self, row: &SessionRow) -> String {
        let mark = if self.is_current(row.id) { " (current)" } else { "" };
        format!("{} {}{mark}", row.id, phrases::name(row))
    }

    /// What a next call has to say to mean the same session.
    pub(super) fn argument(&self, row: &SessionRow) -> Option<serde_json::Value> {
        (!self.is_current(row.id)).then(|| row.id.to_string().into())
    }

    /// Where is looked, for a heading.
    pub(super) fn place(&self) -> String {
        match &self.within {
            Within::Project(project) => format!("project {}", model::one_line(project, 200)),
            Within::Everything => "all projects".to_owned(),
        }
    }
}

/// Those that have most characters in the same places.
pub(super) fn nearest(wanted: &str, ids: impl Iterator<Item = String>) -> String {
    let likeness = |id: &str| id.chars().zip(wanted.chars()).filter(|(a, b)| a == b).count();
    let mut ids: Vec<_> = ids.collect();
    // What is equally like stays in its order.
    ids.sort_by_key(|id| std::cmp::Reverse(likeness(id)));
    ids.truncate(NEAREST);
    ids.join(", ")
}
