//! `meta.json`: what a session is, without its words.
//!
//! Invariant: every field can be brought back from this file and the finished turns alone, so that a store hydrated
//! from copies writes the same bytes again. Therefore a turn that runs leaves no trace: it is in no file yet, and a
//! folder that is cloned at that moment comes back at rest, as of the end of its last finished turn.

use std::collections::BTreeMap;

use model::{
    Clicked, Imported, InteractionId, NextId, NextRow, Origin, Session, SessionId, Timestamp, TitleMaker, TitleRow,
    Turn, WorkId,
};
use serde::{Deserialize, Serialize};

use crate::{ReadError, Reader};

pub(super) const NAME: &str = "meta.json";
pub(super) const MAX_BYTES: u64 = 1 << 20;
/// The shape of both files. A reader refuses a newer one.
pub(super) const FORMAT: u32 = 7;
/// How many clicks are listed, newest first.
const MAX_CLICKS: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meta {
    pub(super) format: u32,
    pub(super) id: SessionId,
    pub(super) agent: String,
    pub(super) cwd: String,
    pub(super) project: String,
    pub(super) name: String,
    pub(super) env_hint: String,
    /// The agent's own id of the conversation.
    #[serde(default)]
    pub(super) agent_session: Option<String>,
    /// What the agent called it, in formats before this one.
    #[serde(default, skip_serializing)]
    pub(super) agent_title: String,
    /// What it has been called, newest first.
    #[serde(default)]
    pub(super) titles: Vec<Title>,
    /// Whose record it comes from, if it was not begun here.
    #[serde(default)]
    pub(super) imported: Option<Imported>,
    /// The piece of work that it began in.
    #[serde(default)]
    pub(super) meta_context: Option<MetaContext>,
    /// The offer that it was started from.
    #[serde(default)]
    pub(super) from: Option<Origin>,
    /// Which of its agent's offers were taken, newest first.
    #[serde(default)]
    pub(super) clicks: Vec<Click>,
    /// What the agent says it is about to do.
    #[serde(default)]
    pub(super) current_intent: String,
    /// What is marked, by the sets' names.
    #[serde(default)]
    pub(super) context: BTreeMap<String, Vec<String>>,
    pub(super) created_at: Timestamp,
    /// When the last finished turn ended, else when the session began.
    pub(super) active_at: Timestamp,
    pub(super) last_observed_at: Option<Timestamp>,
    /// When it last came to rest; while a turn runs, when the last finished turn ended.
    pub(super) last_idle_at: Option<Timestamp>,
    pub(super) deleted_at: Option<Timestamp>,
    /// While it is pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pinned_at: Option<Timestamp>,
    /// While it is archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) archived_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tags: Vec<String>,
}

/// A piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MetaContext {
    pub(super) id: WorkId,
    /// What it is called; absent if the work was deleted, or the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
}

/// An offer that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Click {
    pub(super) block: NextId,
    /// The piece of work that went on.
    pub(super) meta_context: WorkId,
    /// The session that began.
    pub(super) session: SessionId,
    pub(super) at: Timestamp,
}

impl Click {
    fn of(row: &NextRow) -> Option<Self> {
        let Clicked { work, session, at } = row.clicked?;
        Some(Self { block: row.id, meta_context: work, session, at })
    }
}

/// A title that the session has, or had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Title {
    pub(super) title: String,
    pub(super) by: TitleMaker,
    pub(super) turn: Option<Turn>,
    pub(super) interaction_id: Option<InteractionId>,
    pub(super) changed_at: Timestamp,
}

impl Title {
    fn of(row: TitleRow) -> Self {
        let TitleRow { session: _, nth: _, title, by, turn, interaction_id, changed_at } = row;
        Self { title, by, turn, interaction_id, changed_at }
    }
}

impl Meta {
    /// What is to be said of a session that stands like this.
    pub(super) async fn of(store: &dyn Reader, session: &Session) -> Result<Self, ReadError> {
        let row = &session.row;
        let last_ended_at = match row.running {
            Some(running) => ended_before(store, row.id, running.turn).await?,
            None => None,
        };
        let titles = store.titles(row.id).await?.into_iter().map(Title::of).collect();
        let meta_context = match row.work {
            // A name that the work gets meanwhile is met again when the session comes back.
            Some(id) if row.deleted_at.is_some() => Some(MetaContext { id, name: None }),
            Some(id) => Some(MetaContext { id, name: store.work(id).await?.map(|work| work.name) }),
            None => None,
        };
        let clicked = store.clicked(row.id, MAX_CLICKS).await?;
        let has_ended = |row: &&NextRow| session.row.running.is_none_or(|running| running.turn != row.id.turn);
        let clicks = clicked.iter().filter(has_ended).filter_map(Click::of).collect();
        Ok(Self { meta_context, clicks, ..Self::at_rest(session, titles, last_ended_at) })
    }

    fn at_rest(session: &Session, titles: Vec<Title>, last_ended_at: Option<Timestamp>) -> Self {
        let row = &session.row;
        let (active_at, last_idle_at) = match (row.running, last_ended_at) {
            (Some(_), Some(ended_at)) => (ended_at, Some(ended_at)),
            (Some(_), None) => (row.created_at, row.last_idle_at),
            (None, _) => (row.active_at, row.last_idle_at),
        };
        Self {
            format: FORMAT,
            id: row.id,
            agent: row.agent.clone(),
            cwd: row.cwd.clone(),
            project: row.project.clone(),
            name: row.name.clone(),
            env_hint: row.env_hint.clone(),
            agent_session: row.agent_session.clone(),
            agent_title: String::new(),
            titles,
            imported: row.imported.clone(),
            meta_context: None,
            from: row.from,
            clicks: Vec::new(),
            current_intent: row.intent.clone(),
            context: session.context.sets.to_map(),
            created_at: row.created_at,
            active_at,
            last_observed_at: row.last_observed_at,
            last_idle_at,
            deleted_at: row.deleted_at,
            pinned_at: row.pinned_at,
            archived_at: row.archived_at,
            tags: row.tags.clone(),
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("it holds only texts and instants");
        bytes.push(b'\n');
        bytes
    }
}

/// When the turn before this one ended.
async fn ended_before(store: &dyn Reader, session: SessionId, turn: Turn) -> Result<Option<Timestamp>, ReadError> {
    let Some(two_before) = turn.0.checked_sub(2) else { return Ok(None) };
    let rows = store.turns(session, Turn(two_before), 1).await?;
    Ok(rows.first().and_then(|row| row.ended_at))
}
