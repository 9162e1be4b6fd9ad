//! Searches: in one session, and over all of them.

use axum::Json;
use axum::extract::State;
use doors::{Principal, Right};
use engine::{Count, FoundInside, FoundTurn, PieceRole, SearchAnswer, SearchParams, Within};
use model::SessionId;

use crate::error::ApiError;
use crate::extract::{Named, Params};
use crate::{App, access, turns, wire};

const INSIDE_LIMIT: usize = 10;
const EVERYWHERE_LIMIT: usize = 20;
const MAX_LIMIT: usize = 100;
/// A longer query is cut by the search itself; this much is not even looked at.
const MAX_QUERY_BYTES: usize = 128 << 10;

/// The turns of a session that have some words, oldest first, as lines of its contents.
#[utoipa::path(
    get,
    path = "/sessions/{id}/search", operation_id = "searchSession",
    params(("id" = String, Path), wire::SessionSearchQuery),
    responses(
        (status = 200, body = wire::Toc)
    )
)]
pub(crate) async fn inside(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::SessionSearchQuery>,
) -> Result<Json<wire::Toc>, ApiError> {
    access::session(&principal, Right::Read, id)?;
    let words = words(query.q.as_deref())?;
    let limit = limit(query.limit.as_deref(), INSIDE_LIMIT);
    let found = app.engine.search_session(id, words, query.exact.unwrap_or(false), limit).await?;
    Ok(Json(toc(found)))
}

/// Turns of all sessions that have some words, best first.
#[utoipa::path(
    get,
    path = "/search", operation_id = "search",
    params(wire::SearchQuery),
    responses(
        (status = 200, body = wire::SearchPage),
        (status = 503, description = "The index is being opened", body = wire::ErrorBody)
    )
)]
pub(crate) async fn everywhere(
    State(app): State<App>,
    principal: Principal,
    Params(query): Params<wire::SearchQuery>,
) -> Result<Json<wire::SearchPage>, ApiError> {
    access::everything(&principal, Right::Read)?;
    let words = words(query.q.as_deref())?.to_owned();
    let skip = match query.after.as_deref() {
        None => 0,
        Some(text) => text.parse().map_err(|_| ApiError::InvalidCursor)?,
    };
    let within = query.project.map_or(Within::Everything, Within::Project);
    let limit = limit(query.limit.as_deref(), EVERYWHERE_LIMIT);
    let exact = query.exact.unwrap_or(false);
    let found = app.engine.search(SearchParams { words: words.clone(), exact, within, skip, limit }).await?;
    Ok(Json(page(&words, skip.saturating_add(limit), found)))
}

/// Looked at only when the caller is known to be allowed to search.
fn words(q: Option<&str>) -> Result<&str, ApiError> {
    let words = q.filter(|words| !words.trim().is_empty());
    let words = words.ok_or_else(|| ApiError::InvalidQuery("q is missing: the words to look for".to_owned()))?;
    Ok(&words[..words.floor_char_boundary(MAX_QUERY_BYTES)])
}

/// What is no number that could be meant is as good as none.
fn limit(text: Option<&str>, default: usize) -> usize {
    text.and_then(|text| text.parse().ok()).filter(|limit| (1..=MAX_LIMIT).contains(limit)).unwrap_or(default)
}

pub(crate) fn toc(found: FoundInside) -> wire::Toc {
    let entries = found.turns.iter().map(|(row, found)| {
        let snippet = Some(snippet(found));
        wire::TocEntry { snippet, ..turns::entry(row) }
    });
    let mut toc = turns::toc_of(&found.session.row, entries.collect(), None);
    toc.matches = Some(u32::try_from(found.total).unwrap_or(u32::MAX));
    toc.notes = found.notes;
    toc
}

fn page(query: &str, end: usize, found: SearchAnswer) -> wire::SearchPage {
    let (total, more_than_total) = match found.total {
        Count::Exactly(total) => (total, false),
        Count::AtLeast(total) => (total, true),
    };
    wire::SearchPage {
        query: query.chars().take(1_000).collect(),
        total: u32::try_from(total).unwrap_or(u32::MAX),
        more_than_total,
        results: found.turns.iter().map(result).collect(),
        next_cursor: found.more.then(|| end.to_string()),
        notes: found.notes,
        indexing: found.behind.map(|(done, total)| wire::Indexing { done, total }),
    }
}

fn result(found: &FoundTurn) -> wire::SearchResult {
    let FoundTurn { session, turn, role, number, at, snippet: words } = found;
    wire::SearchResult {
        session_id: session.id,
        session_name: session.label().unwrap_or_default().to_owned(),
        project: session.project.clone(),
        agent: session.agent.clone(),
        turn: turn.as_ref().map_or(0, |row| row.turn.0),
        id: turn.as_ref().map(|row| row.interaction_id),
        tool: turn.as_ref().filter(|_| *role == PieceRole::Tool).map(|row| format!("{}.{number}", row.turn)),
        role: role.as_str().to_owned(),
        summary: turn.as_ref().map(turns::summary).unwrap_or_default(),
        created: *at,
        snippet: snippet(words),
    }
}

fn snippet(found: &engine::Snippet) -> wire::Snippet {
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let highlights = found.highlights.iter().map(|range| (place(range.start), place(range.end))).collect();
    wire::Snippet { text: found.text.clone(), highlights }
}
