//! From the model's views to the wire's: sessions, pages of them, their directories, agents, credentials. Answers of a field or
//! two are put together where they are given.

use std::collections::BTreeMap;

use engine::{
    AgentSession, AgentSessions, Attention, Engine, FenceCause, ListPage, Listed, QueryError, Trial, TrialOutcome,
    Work, WorkContents,
};
use files::Suggestion;
use model::{
    Context, DECLARED_FACTS, DeletedKey, FactShape, Offer, ProvedFact, RememberedRow, Session, SessionId, SessionRow,
    TokenRow, WorkKey, WorkRow,
};

use crate::{turns, wire};

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
    let ProvedFact { nth: _, value, evidence, exit_code, file } = fact.clone();
    wire::ProvedValue { value, turn: evidence.turn, tool: evidence.tool, entry: evidence.entry, exit_code, file }
}

/// With what stands around it.
pub(crate) async fn whole_session(engine: &Engine, session: &Session) -> Result<wire::Session, QueryError> {
    let work = engine.work_of(&session.row).await?;
    let meta_context = work.map(|work| wire::MetaContextName { id: work.id, name: work.name });
    let previous = engine.session_before(&session.row).await?;
    Ok(wire::Session { meta_context, previous, ..self::session(engine, session) })
}

fn session(engine: &Engine, session: &Session) -> wire::Session {
    let mut row = session_row(engine, &session.row);
    let about = context(&session.context);
    (row.meta.context, row.facts) = (Some(about.context), Some(about.facts));
    wire::Session {
        row,
        meta_context: None,
        previous: None,
        queue: session
            .queue
            .iter()
            .map(|prompt| wire::QueuedPrompt {
                interaction_id: prompt.interaction_id,
                text: prompt.text.clone(),
                images: prompt.images.clone(),
                queued_at: prompt.queued_at,
                by: prompt.by.clone(),
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
    let fence = engine.fence(row.id);
    wire::SessionRow {
        id: row.id,
        agent: row.agent.clone(),
        cwd: row.cwd.clone(),
        project: row.project.clone(),
        title: row.label().map(str::to_owned),
        state: if fence.is_some() { row.state_when_fenced() } else { row.state() },
        read_only: match fence.map(|fence| fence.cause) {
            Some(FenceCause::Damaged(_)) => Some(wire::ReadOnly::Damaged),
            Some(FenceCause::Newer) => Some(wire::ReadOnly::Newer),
            None => row.is_imported().then_some(wire::ReadOnly::Imported),
        },
        failure: row.failure.clone(),
        turns: row.turns,
        unobserved: row.unobserved(),
        meta_context_id: row.work,
        from: row.from,
        created_at: row.created_at,
        active_at: row.active_at,
        deleted_at: row.deleted_at,
        pinned_at: row.pinned_at,
        archived_at: row.archived_at,
        tags: row.tags.clone(),
        meta: wire::Meta {
            name: row.name.clone(),
            last_observed_at: row.last_observed_at,
            last_idle_at: row.last_idle_at,
            current_intent: Some(row.intent.clone()).filter(|intent| !intent.is_empty()),
            env_hint: Some(row.env_hint.clone()).filter(|hint| !hint.is_empty()),
            context: None,
        },
        facts: None,
    }
}

pub(crate) fn session_page(engine: &Engine, page: &ListPage, foremost: &[SessionRow]) -> wire::SessionPage {
    let Attention { unobserved, needs_you } = engine.attention();
    let rows = |rows: &[SessionRow]| rows.iter().map(|row| session_row(engine, row)).collect();
    wire::SessionPage {
        next_cursor: page.next.map(|key| key.to_string()),
        sessions: rows(&page.sessions),
        meta_contexts: Vec::new(),
        foremost: rows(foremost),
        unobserved_count: unobserved,
        needs_you_count: needs_you,
    }
}

/// `rows` holds one more than the page if there is another page.
pub(crate) fn deleted_page(mut rows: Vec<SessionRow>, limit: usize) -> wire::DeletedPage {
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next_cursor = rows.last().filter(|_| more).and_then(DeletedKey::of).map(|key| key.to_string());
    let of = |row: SessionRow| {
        let title = row.label().map(str::to_owned);
        let deleted_at = row.deleted_at?;
        let SessionRow { id, agent, project, turns, .. } = row;
        Some(wire::DeletedSession { id, agent, project, title, turns, deleted_at })
    };
    wire::DeletedPage { sessions: rows.into_iter().filter_map(of).collect(), next_cursor }
}

pub(crate) fn work(work: Work) -> wire::MetaContext {
    let Work { row: WorkRow { id, project, name, created_at, added_at }, sessions } = work;
    wire::MetaContext { id, name, project, session_ids: sessions, created_at, added_at }
}

/// `works` holds one more than the page if there is another page.
pub(crate) fn work_page(mut works: Vec<Work>, limit: usize) -> wire::MetaContextPage {
    let more = works.len() > limit;
    works.truncate(limit);
    wire::MetaContextPage {
        next_cursor: works.last().filter(|_| more).map(|work| WorkKey::of(&work.row).to_string()),
        meta_contexts: works.into_iter().map(self::work).collect(),
    }
}

pub(crate) fn work_toc(contents: WorkContents) -> wire::MetaContextToc {
    let WorkContents { work, sessions, lines, more } = contents;
    let names: BTreeMap<SessionId, &str> =
        sessions.iter().map(|row| (row.id, row.label().unwrap_or_default())).collect();
    let mut formatted: Vec<String> = Vec::new();
    let mut last = None;
    let mut entries = Vec::new();
    for (number, row) in &lines {
        let session_name = names.get(&row.session).copied().unwrap_or_default().to_owned();
        if last.replace(row.session) != Some(row.session) {
            formatted.push(format!("# {session_name} ({})", row.session));
        }
        let entry = turns::entry(row);
        formatted.push(format!("{number}. {} [{}]", entry.summary, row.turn));
        entries.push(wire::MetaContextTocEntry { number: *number, session_id: row.session, session_name, entry });
    }
    wire::MetaContextToc {
        meta_context_id: work.id,
        name: work.name,
        total_turns: sessions.iter().map(|row| row.turns.0).sum(),
        next_cursor: lines.last().filter(|_| more).map(|(number, _)| number.to_string()),
        entries,
        formatted: formatted.join("\n"),
    }
}

/// `offers` holds one more than the page if there is another page.
pub(crate) fn next_page(mut offers: Vec<Offer>, limit: usize) -> wire::NextPage {
    let more = offers.len() > limit;
    offers.truncate(limit);
    wire::NextPage {
        next_cursor: offers.last().filter(|_| more).map(|offer| offer.row.id.to_string()),
        blocks: offers.into_iter().map(next_block).collect(),
    }
}

fn next_block(offer: Offer) -> wire::NextBlock {
    let state = offer.state();
    let Offer { row, superseded_by } = offer;
    wire::NextBlock {
        id: row.id.to_string(),
        turn: row.id.turn.0,
        label: row.next.label,
        command: row.next.command,
        meta_context: row.next.meta_context,
        state,
        offered_at: row.offered_at,
        meta_context_id: row.clicked.map(|clicked| clicked.work),
        session_id: row.clicked.map(|clicked| clicked.session),
        superseded_by: superseded_by.map(|turn| turn.0),
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

pub(crate) fn agent_trial(trial: Trial) -> wire::AgentTrial {
    let Trial { program, outcome } = trial;
    let (outcome, methods, reason) = match outcome {
        TrialOutcome::Ready => (wire::AgentTrialOutcome::Ready, Vec::new(), None),
        TrialOutcome::SignedOut(methods) => (wire::AgentTrialOutcome::SignedOut, methods, None),
        TrialOutcome::Failed(reason) => (wire::AgentTrialOutcome::Failed, Vec::new(), Some(reason)),
    };
    wire::AgentTrial { program, outcome, methods, reason }
}

pub(crate) fn applet_row(applet: engine::ListedApplet) -> wire::AppletRow {
    let engine::ListedApplet { slug, about, bundled } = applet;
    applet_row_from(slug.to_string(), about, bundled)
}

pub(crate) fn row_of_applet(applet: &engine::Applet) -> wire::AppletRow {
    applet_row_from(applet.name.word().to_owned(), applet.about.clone(), applet.bundled)
}

fn applet_row_from(slug: String, about: engine::AppletAbout, bundled: bool) -> wire::AppletRow {
    let engine::AppletAbout {
        name,
        description,
        created_at,
        updated_at,
        per_session,
        params,
        agent_usage,
        state_schema,
    } = about;
    let param = |engine::AppletParam { required, description }| wire::AppletParam { required, description };
    let usage = |engine::AppletUsage { purpose, example }| wire::AppletUsage { purpose, example };
    let schema = |engine::StateSchema { get, set }| wire::AppletStateSchema { get, set };
    let about = wire::AppletAbout {
        name,
        description,
        per_session,
        params: params.into_iter().map(|(name, of)| (name, param(of))).collect(),
        agent_usage: agent_usage.map(usage),
        state_schema: state_schema.map(schema),
    };
    wire::AppletRow { slug, about, created_at, updated_at, bundled }
}

pub(crate) fn applet(applet: engine::Applet, state: &engine::AppletState) -> wire::Applet {
    let (row, hash) = (row_of_applet(&applet), applet.content.hash());
    let engine::AppletContent { html, js, css } = applet.content;
    wire::Applet { row, hash, html, js, css, state: applet_state(state) }
}

pub(crate) fn applet_state(state: &engine::AppletState) -> wire::AppletState {
    wire::AppletState { state: (*state.state).clone(), version: state.version }
}

pub(crate) fn new_applet(new: wire::NewApplet) -> engine::NewApplet {
    let wire::NewApplet { name, description, html, js, css, per_session, params, agent_usage, state_schema } = new;
    let param = |wire::AppletParam { required, description }| engine::AppletParam { required, description };
    let usage = |wire::AppletUsage { purpose, example }| engine::AppletUsage { purpose, example };
    let schema = |wire::AppletStateSchema { get, set }| engine::StateSchema { get, set };
    engine::NewApplet {
        name,
        description,
        content: engine::AppletContent { html, js, css },
        per_session,
        params: params.into_iter().map(|(name, of)| (name, param(of))).collect(),
        agent_usage: agent_usage.map(usage),
        state_schema: state_schema.map(schema),
    }
}
