//! Contents, turns by number and by id, titles, and the progress of summaries.

use axum::Json;
use axum::extract::State;
use doors::{Principal, Right};
use engine::MAX_CONTENTS_LINES;
use model::{InteractionId, SessionId, Turn};

use crate::error::ApiError;
use crate::extract::{MaybeBody, Named, NoParams, Params};
use crate::{App, access, turns, wire};

/// A session's contents: a line a turn, oldest first.
#[utoipa::path(
    get,
    path = "/sessions/{id}/toc", operation_id = "getToc",
    params(("id" = String, Path), wire::TocQuery),
    responses(
        (status = 200, body = wire::Toc)
    )
)]
pub(crate) async fn toc(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::TocQuery>,
) -> Result<Json<wire::Toc>, ApiError> {
    access::session(&principal, Right::Read, id)?;
    let after = query.after.as_deref().map(turns::parse).transpose()?.unwrap_or_default();
    let limit = match query.limit.as_deref() {
        None => MAX_CONTENTS_LINES,
        Some(text) => text
            .parse()
            .ok()
            .filter(|limit| (1..=MAX_CONTENTS_LINES).contains(limit))
            .ok_or_else(|| ApiError::InvalidQuery(format!("limit is a number from 1 to {MAX_CONTENTS_LINES}")))?,
    };
    let contents = app.engine.contents(id, after, limit).await?;
    Ok(Json(turns::toc(contents)))
}

/// A turn with all that was said and done in it, between its neighbours.
#[utoipa::path(
    get,
    path = "/sessions/{id}/turns/{turn}", operation_id = "getTurn",
    params(("id" = String, Path), ("turn" = String, Path, description = "A number, or as in `t42`", pattern = "^t?[1-9][0-9]{0,8}$")),
    responses(
        (status = 200, body = wire::TurnPage),
        (status = 404, description = "No such session, or it has not come to that turn", body = wire::ErrorBody)
    )
)]
pub(crate) async fn turn(
    State(app): State<App>,
    principal: Principal,
    Named((id, turn)): Named<(SessionId, Turn)>,
    _: NoParams,
) -> Result<Json<wire::TurnPage>, ApiError> {
    access::session(&principal, Right::Read, id)?;
    let view = app.engine.turn(id, turn).await?;
    Ok(Json(wire::TurnPage {
        turn: turn.0,
        interaction: turns::interaction(&view.interaction),
        previous: view.previous.as_ref().map(turns::brief),
        next: view.next.as_ref().map(turns::brief),
    }))
}

/// Some turns one after the other, at most 20.
#[utoipa::path(
    get,
    path = "/sessions/{id}/turns", operation_id = "getTurns",
    params(("id" = String, Path), wire::TurnsQuery),
    responses(
        (status = 200, body = wire::TurnsPage)
    )
)]
pub(crate) async fn range(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::TurnsQuery>,
) -> Result<Json<wire::TurnsPage>, ApiError> {
    access::session(&principal, Right::Read, id)?;
    let (from, to) = turns::range(turns::parse(&query.from)?, turns::parse(&query.to)?)?;
    let row = app.engine.session(id).await?.row;
    let (newest, interactions) = app.engine.turns(id, from, to).await?;
    Ok(Json(wire::TurnsPage {
        session_id: id,
        session_name: row.label().unwrap_or_default().to_owned(),
        total_turns: newest.0,
        turns: interactions.iter().map(turns::interaction).collect(),
    }))
}

/// The titles that a session has had, newest first.
#[utoipa::path(
    get,
    path = "/sessions/{id}/title-history", operation_id = "getTitleHistory",
    params(("id" = String, Path)),
    responses((status = 200, body = wire::TitleHistory))
)]
pub(crate) async fn titles(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    _: NoParams,
) -> Result<Json<wire::TitleHistory>, ApiError> {
    access::session(&principal, Right::Read, id)?;
    let (row, titles) = app.engine.title_history(id).await?;
    Ok(Json(turns::title_history(&row, titles)))
}

/// A turn of any session by its id.
#[utoipa::path(
    get,
    path = "/interactions/{interaction}", operation_id = "getInteraction",
    params(("interaction" = String, Path)),
    responses((status = 200, body = wire::Interaction))
)]
pub(crate) async fn interaction(
    State(app): State<App>,
    principal: Principal,
    Named(interaction): Named<InteractionId>,
    _: NoParams,
) -> Result<Json<wire::Interaction>, ApiError> {
    let row = app.engine.find_interaction(interaction).await?;
    // One that is out of reach is not there.
    access::session(&principal, Right::Read, row.session).map_err(|err| match err {
        ApiError::SessionNotFound => engine::QueryError::NoSuchInteraction(interaction).into(),
        err => err,
    })?;
    Ok(Json(turns::interaction(&app.engine.interaction(interaction).await?)))
}

/// How summing up goes on.
#[utoipa::path(
    get,
    path = "/summaries", operation_id = "getSummaries",
    responses((status = 200, body = wire::SummariesProgress))
)]
pub(crate) async fn summaries(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
) -> Result<Json<wire::SummariesProgress>, ApiError> {
    access::everything(&principal, Right::Read)?;
    let engine::SummariesProgress { has_model, waiting, written, failed, caught_up, left_today } =
        app.engine.summaries();
    Ok(Json(wire::SummariesProgress { has_model, waiting, written, failed, caught_up, left_today }))
}

/// Has the model write anew what was summed up without it.
#[utoipa::path(
    post,
    path = "/summaries", operation_id = "upgradeSummaries",
    request_body = Option<wire::UpgradeSummaries>,
    responses(
        (status = 202, body = wire::Upgraded),
        (status = 409, description = "No model is configured", body = wire::ErrorBody)
    )
)]
pub(crate) async fn upgrade(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
    MaybeBody(wish): MaybeBody<wire::UpgradeSummaries>,
) -> Result<(axum::http::StatusCode, Json<wire::Upgraded>), ApiError> {
    access::everything(&principal, Right::Write)?;
    if !app.engine.summaries().has_model {
        return Err(ApiError::NoModel);
    }
    if let Some(id) = wish.session_id {
        app.engine.session(id).await?;
    }
    let queued = app.engine.upgrade_summaries(wish.session_id).await?;
    Ok((axum::http::StatusCode::ACCEPTED, Json(wire::Upgraded { queued })))
}
