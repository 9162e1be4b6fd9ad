//! A session's log, page by page.

use axum::Json;
use axum::extract::State;
use doors::{Principal, Right};
use model::{Cursor, Seq, SessionId, Turn};

use crate::error::ApiError;
use crate::extract::{Named, Params};
use crate::{App, access, turns, wire};

const DEFAULT_LIMIT: u32 = 200;
const MAX_LIMIT: u32 = 1_000;

/// Everything that happened in a session, in order.
#[utoipa::path(
    get,
    path = "/sessions/{id}/entries", operation_id = "listEntries",
    params(("id" = String, Path), wire::EntryQuery),
    responses(
        (status = 200, body = wire::EntryPage),
        (status = 409, description = "The cursor leads nowhere any more", body = wire::ErrorBody)
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::EntryQuery>,
) -> Result<Json<wire::EntryPage>, ApiError> {
    access::session(&principal, Right::Read, id)?;
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(ApiError::InvalidQuery(format!("limit is 1 to {MAX_LIMIT}")));
    }
    if let Some(turns) = turns_of(query.from_turn.as_deref(), query.to_turn.as_deref())? {
        let after = query.after.map(|after| cursor(&app, &after)).transpose()?;
        let (entries, more) = app.engine.entries_of_turns(id, turns, after, limit as usize).await?;
        let next = entries.last().filter(|_| more).map(|last| app.engine.cursor(last.seq).to_string());
        return Ok(Json(wire::EntryPage { entries, next_cursor: next }));
    }
    let after = query.after.map(|after| cursor(&app, &after)).transpose()?;
    let (entries, next) = app.engine.entries(id, after, limit as usize).await?;
    Ok(Json(wire::EntryPage { entries, next_cursor: next.map(|cursor| cursor.to_string()) }))
}

/// The turns that are asked for, if only some are.
pub(super) fn turns_of(from: Option<&str>, to: Option<&str>) -> Result<Option<(Turn, Turn)>, ApiError> {
    match (from.map(turns::parse).transpose()?, to.map(turns::parse).transpose()?) {
        (None, None) => Ok(None),
        (Some(Turn(0)), _) | (_, Some(Turn(0))) => Err(ApiError::InvalidQuery("turns are numbered from 1".to_owned())),
        (Some(from), Some(to)) if from <= to => Ok(Some((from, to))),
        (Some(_), Some(_)) | (None, Some(_)) | (Some(_), None) => {
            Err(ApiError::InvalidQuery("fromTurn and toTurn go together and not backwards".to_owned()))
        }
    }
}

/// A cursor as a caller writes it: whole, or a bare seq of this store.
pub(crate) fn cursor(app: &App, text: &str) -> Result<Cursor, ApiError> {
    match text.parse::<u64>() {
        Ok(seq) => Ok(app.engine.cursor(Seq(seq))),
        Err(_) => text.parse().map_err(|_| ApiError::InvalidCursor),
    }
}
