//! From the model's views to the wire's: sessions, pages of them, their directories, agents, credentials. Answers of a field or
//! two are put together where they are given.

use std::collections::BTreeMap;

use engine::{Engine, Listed};
use files::Suggestion;
use model::{ListKey, RememberedRow, Session, SessionRow, SessionState, TokenRow};

use crate::wire;

pub(crate) fn session(engine: &Engine, session: &Session) -> wire::Session {
    wire::Session {
        row: session_row(engine, &session.row),
        queue: session
            .queue
            .iter()
            .map(|prompt| wire::QueuedPrompt {
                interaction_id: prompt.interaction_id,
                text: prompt.text.clone(),
                images: prompt.images.clone(),
                queued_at: prompt.queued_at,
            })
            .collect(),
        open_requests: session
            .row
            .open_requests
            .iter()
            .map(|open| wire::OpenRequest { request: open.request.to_string(), options: open.options.clone() })
            .collect(),
        cursor: engine.cursor(session.head).to_string(),
    }
}

pub(crate) fn session_row(engine: &Engine, row: &SessionRow) -> wire::SessionRow {
    let damaged = engine.damage(row.id).is_some();
    wire::SessionRow {
        id: row.id,
        agent: row.agent.clone(),
        cwd: row.cwd.clone(),
        project: row.project.clone(),
        title: row.title().map(str::to_owned),
        state: match row.state() {
            // Its log takes no more, so whatever went on has been cut off.
            SessionState::Starting | SessionState::Running | SessionState::NeedsYou | SessionState::Unresponsive
                if damaged =>
            {
                SessionState::Interrupted
            }
            state => state,
        },
        read_only: damaged.then_some(wire::ReadOnly::Damaged),
        failure: row.failure.clone(),
        turns: row.turns,
        unobserved: row.unobserved(),
        created_at: row.created_at,
        active_at: row.active_at,
        deleted_at: row.deleted_at,
        meta: wire::Meta {
            name: row.name.clone(),
            last_observed_at: row.last_observed_at,
            last_idle_at: row.last_idle_at,
            current_intent: None,
            env_hint: Some(row.env_hint.clone()).filter(|hint| !hint.is_empty()),
            context: BTreeMap::new(),
        },
        facts: BTreeMap::new(),
    }
}

/// `rows` holds one more than the page if there is another page.
pub(crate) fn session_page(engine: &Engine, mut rows: Vec<SessionRow>, limit: usize) -> wire::SessionPage {
    let more = rows.len() > limit;
    rows.truncate(limit);
    wire::SessionPage {
        next_cursor: rows.last().filter(|_| more).map(|row| ListKey::of(row).to_string()),
        sessions: rows.iter().map(|row| session_row(engine, row)).collect(),
        meta_contexts: Vec::new(),
        unobserved_count: engine.unobserved_count(),
    }
}

pub(crate) fn directory(suggestion: Suggestion) -> wire::Directory {
    wire::Directory { path: suggestion.path, is_project: suggestion.is_project }
}

pub(crate) fn recent_directory(row: &SessionRow) -> wire::RecentDirectory {
    wire::RecentDirectory {
        path: row.cwd.clone(),
        project: row.project.clone(),
        agent: row.agent.clone(),
        active_at: row.active_at,
    }
}

pub(crate) fn remembered(row: RememberedRow) -> wire::RememberedPermission {
    let RememberedRow { id, project, agent, kind, subject, digest, decision, by, remembered_at } = row;
    wire::RememberedPermission { id, project, agent, kind, subject, digest, decision, remembered_at, by }
}

pub(crate) fn token(row: &TokenRow) -> wire::Token {
    wire::Token { id: row.id, kind: row.kind, name: row.name.clone(), session: row.session, issued_at: row.issued_at }
}

pub(crate) fn agent(listed: Listed) -> wire::Agent {
    let Listed { name, title, description, installed, version, install, sign_in, notes } = listed;
    wire::Agent { name, title, description, installed, version, install, sign_in, notes }
}
