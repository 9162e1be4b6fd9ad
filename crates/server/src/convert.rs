//! From the model's views to the wire's: sessions, pages of them, their directories, agents, credentials. Answers of a field or
//! two are put together where they are given.

use std::collections::BTreeMap;

use engine::{AgentSession, AgentSessions, Engine, Listed};
use files::Suggestion;
use model::{
    Context, DECLARED_FACTS, FactShape, ListKey, ProvedFact, RememberedRow, Session, SessionRow, SessionState, TokenRow,
};

use crate::wire;

/// Every declared fact is there, proved or not.
pub(crate) fn context(context: &Context) -> wire::Context {
    let nothing = |shape| match shape {
        FactShape::List => serde_json::Value::Array(Vec::new()),
        FactShape::Single => serde_json::Value::Null,
    };
    let mut facts: BTreeMap<String, serde_json::Value> =
        DECLARED_FACTS.iter().map(|(name, shape)| ((*name).to_owned(), nothing(*shape))).collect();
    let mut proofs = BTreeMap::new();
    for (name, list) in context.facts.iter() {
        let values: Vec<&str> = list.newest.iter().map(|fact| fact.value.as_str()).collect();
        let value = match list.shape {
            FactShape::List => serde_json::json!(values),
            FactShape::Single => serde_json::json!(values.last()),
        };
        facts.insert(name.to_owned(), value);
        let values = list.newest.iter().map(proved_value).collect();
        proofs.insert(name.to_owned(), wire::Proofs { count: list.count, values });
    }
    wire::Context { context: context.sets.to_map(), facts, proofs }
}

fn proved_value(fact: &ProvedFact) -> wire::ProvedValue {
    let ProvedFact { nth: _, value, proof, exit_code, file } = fact.clone();
    wire::ProvedValue { value, turn: proof.turn, tool: proof.tool, entry: proof.entry, exit_code, file }
}

pub(crate) fn session(engine: &Engine, session: &Session) -> wire::Session {
    let mut row = session_row(engine, &session.row);
    let about = context(&session.context);
    (row.meta.context, row.facts) = (about.context, about.facts);
    wire::Session {
        row,
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
        title: row.label().map(str::to_owned),
        state: match row.state() {
            // Its log takes no more, so whatever went on has been cut off.
            SessionState::Starting | SessionState::Running | SessionState::NeedsYou | SessionState::Unresponsive
                if damaged =>
            {
                SessionState::Interrupted
            }
            state => state,
        },
        read_only: match damaged {
            true => Some(wire::ReadOnly::Damaged),
            false => row.is_imported().then_some(wire::ReadOnly::Imported),
        },
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
            current_intent: Some(row.intent.clone()).filter(|intent| !intent.is_empty()),
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
    let RememberedRow { id, project, cwd, agent, kind, subject, digest, decision, by, remembered_at } = row;
    wire::RememberedPermission { id, project, cwd, agent, kind, subject, digest, decision, remembered_at, by }
}

pub(crate) fn token(row: &TokenRow) -> wire::Token {
    wire::Token { id: row.id, kind: row.kind, name: row.name.clone(), session: row.session, issued_at: row.issued_at }
}

pub(crate) fn agent(listed: Listed) -> wire::Agent {
    let Listed { name, title, description, installed, version, install, sign_in, notes } = listed;
    wire::Agent { name, title, description, installed, version, install, sign_in, notes }
}

pub(crate) fn agent_sessions(page: AgentSessions) -> wire::AgentSessionPage {
    let sessions = page.sessions.into_iter().map(|AgentSession { record, session }| wire::AgentSession {
        id: record.id,
        title: record.title,
        cwd: record.cwd,
        updated_at: record.updated_at,
        session_id: session,
    });
    wire::AgentSessionPage { sessions: sessions.collect(), next_cursor: page.next_cursor }
}
