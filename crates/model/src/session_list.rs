//! Places in the lists of sessions, by when they were last active and by when they were deleted, and which sessions a list is of.
//!
//! Invariant: a page is found by the key it starts after, never by counting rows, so a page costs the same at any
//! depth and rows that move while somebody pages are neither doubled within a page nor make others vanish.

use std::fmt;
use std::str::FromStr;

use crate::{CursorError, SessionId, SessionRow, SessionState, Timestamp, WorkId};

/// A row's place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListKey {
    /// When it was last active.
    pub active_at: Timestamp,
    /// Tells rows of one instant apart.
    pub id: SessionId,
}

impl ListKey {
    /// Where `row` stands.
    pub fn of(row: &SessionRow) -> Self {
        Self { active_at: row.active_at, id: row.id }
    }
}

impl fmt::Display for ListKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.active_at.as_millis(), self.id)
    }
}

impl FromStr for ListKey {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let (millis, id) = text.split_once('.').ok_or(CursorError)?;
        let key = Self {
            active_at: Timestamp::from_millis(millis.parse().map_err(|_| CursorError)?),
            id: id.parse().map_err(|_| CursorError)?,
        };
        if key.to_string() == text { Ok(key) } else { Err(CursorError) }
    }
}

/// A deleted session's place among those, the one that was deleted last first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeletedKey {
    /// When it was deleted.
    pub deleted_at: Timestamp,
    /// Tells those of one instant apart.
    pub id: SessionId,
}

impl DeletedKey {
    /// Where `row` stands; nowhere, if it is not deleted.
    pub fn of(row: &SessionRow) -> Option<Self> {
        Some(Self { deleted_at: row.deleted_at?, id: row.id })
    }
}

impl fmt::Display for DeletedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ListKey { active_at: self.deleted_at, id: self.id }.fmt(f)
    }
}

impl FromStr for DeletedKey {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let ListKey { active_at, id } = text.parse()?;
        Ok(Self { deleted_at: active_at, id })
    }
}

/// Which of the sessions that are not deleted a list is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shelf {
    /// Those that are not archived.
    #[default]
    Listed,
    /// Those that are.
    Archived,
    /// Both.
    All,
}

impl Shelf {
    /// Whether a session stands here.
    pub fn holds(self, row: &SessionRow) -> bool {
        row.deleted_at.is_none()
            && match self {
                Self::Listed => row.archived_at.is_none(),
                Self::Archived => row.archived_at.is_some(),
                Self::All => true,
            }
    }
}

/// What a session has to be like to be listed; nothing asked for is met by all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// It stands so.
    pub state: Option<SessionState>,
    /// It came to rest and nobody has looked since, or somebody has.
    pub unobserved: Option<bool>,
    /// It talks to this agent.
    pub agent: Option<String>,
    /// It belongs to this project, by its whole path or the last part of it.
    pub project: Option<String>,
    /// It has this tag, as [`crate::clean_tag`] writes it.
    pub tag: Option<String>,
    /// It is pinned, or it is not.
    pub pinned: Option<bool>,
    /// It belongs to this piece of work.
    pub work: Option<WorkId>,
    /// These words, in small letters, are each somewhere in what it is called, its project, agent, work or tags.
    pub words: Vec<String>,
}

impl SessionFilter {
    /// Nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a session that stands in this `state` and belongs to the work of this name is meant.
    pub fn matches(&self, row: &SessionRow, state: SessionState, work: Option<&str>) -> bool {
        let Self { state: wanted, unobserved, agent, project, tag, pinned, work: of_work, words } = self;
        let is_project = |project: &String| {
            row.project == *project || row.project.rsplit('/').find(|part| !part.is_empty()) == Some(project)
        };
        wanted.is_none_or(|wanted| wanted == state)
            && unobserved.is_none_or(|unobserved| unobserved == row.unobserved())
            && agent.as_ref().is_none_or(|agent| *agent == row.agent)
            && project.as_ref().is_none_or(is_project)
            && tag.as_ref().is_none_or(|tag| row.tags.contains(tag))
            && pinned.is_none_or(|pinned| pinned == row.pinned_at.is_some())
            && of_work.is_none_or(|work| row.work == Some(work))
            && has_words(row, work, words)
    }
}

fn has_words(row: &SessionRow, work: Option<&str>, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let parts = [row.label().unwrap_or_default(), &row.project, &row.agent, work.unwrap_or_default()];
    let text = parts.into_iter().chain(row.tags.iter().map(String::as_str)).collect::<Vec<_>>().join("\n");
    let text = text.to_lowercase();
    words.iter().all(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, FilingWish, NewSession, Session, TagWish, decide};

    fn row() -> SessionRow {
        let new = NewSession {
            agent: "codex".to_owned(),
            cwd: "/home/ada/engine".to_owned(),
            project: "/home/ada/engine".to_owned(),
            name: "Flaky Upload".to_owned(),
            ..NewSession::default()
        };
        let mut session: Option<Session> = None;
        let tags = Some(TagWish::All(vec!["bug".to_owned()]));
        let filing = FilingWish { pinned: Some(true), archived: None, tags };
        for command in [Command::Create(new), Command::Change { name: None, env_hint: None, context: None, filing }] {
            let mut part = crate::Part::begin_session(
                SessionId::from_uuid(uuid::Uuid::nil()),
                session.as_ref().map_or(crate::Seq::START, |session| session.head),
            );
            for event in decide(session.as_ref(), command).unwrap() {
                session = part.push(session, event, Timestamp::from_millis(5));
            }
        }
        session.unwrap().row
    }

    #[test]
    fn each_part_of_a_filter_has_to_fit() {
        let row = row();
        let fits = |filter: SessionFilter| filter.matches(&row, row.state(), Some("Checkout"));
        let text = |text: &str| Some(text.to_owned());
        let nothing = SessionFilter::default;
        assert!(fits(nothing()));
        assert!(fits(SessionFilter { agent: text("codex"), tag: text("bug"), pinned: Some(true), ..nothing() }));
        assert!(!fits(SessionFilter { agent: text("claude"), tag: text("bug"), ..nothing() }));
        assert!(!fits(SessionFilter { tag: text("bu"), ..nothing() }));
        assert!(fits(SessionFilter { project: text("engine"), ..nothing() }));
        assert!(fits(SessionFilter { project: text("/home/ada/engine"), ..nothing() }));
        assert!(!fits(SessionFilter { project: text("ada"), ..nothing() }));
        assert!(fits(SessionFilter { state: Some(SessionState::Starting), unobserved: Some(false), ..nothing() }));
        assert!(!fits(SessionFilter { state: Some(SessionState::Idle), ..nothing() }));
        assert!(!fits(SessionFilter { pinned: Some(false), ..nothing() }));
        for (words, expected) in [("upload flaky", true), ("check", true), ("bug ada", true), ("upload nothing", false)]
        {
            let words = words.split(' ').map(str::to_owned).collect();
            assert_eq!(fits(SessionFilter { words, ..nothing() }), expected);
        }
    }

    #[test]
    fn a_shelf_holds_what_is_not_deleted() {
        let listed = row();
        let archived = SessionRow { archived_at: Some(Timestamp::from_millis(7)), ..listed.clone() };
        let deleted = SessionRow { deleted_at: Some(Timestamp::from_millis(8)), ..archived.clone() };
        let holds = |shelf: Shelf| [&listed, &archived, &deleted].map(|row| shelf.holds(row));
        assert_eq!(holds(Shelf::Listed), [true, false, false]);
        assert_eq!(holds(Shelf::Archived), [false, true, false]);
        assert_eq!(holds(Shelf::All), [true, true, false]);
    }
}
