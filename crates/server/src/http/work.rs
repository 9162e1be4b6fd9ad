//! Pieces of work, and the steps that lead from one of their sessions to the next. Only a person takes a step.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use doors::{Principal, Right};
use engine::{Asker, Click, MAX_CONTENTS_LINES};
use model::{NextId, SessionId, WorkId};

use crate::error::ApiError;
use crate::extract::{Asking, Body, MaybeBody, Named, NoParams, OnlyKey, Params};
use crate::{App, access, convert, who, wire};

const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 200;

/// The steps that a session's agent offers, newest first.
#[utoipa::path(
    get,
    path = "/sessions/{id}/next", operation_id = "listNext",
    params(("id" = String, Path), wire::NextQuery),
    responses(
        (status = 200, body = wire::NextPage)
    )
)]
pub(crate) async fn offers(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::NextQuery>,
) -> Result<Json<wire::NextPage>, ApiError> {
    access::session(&principal, Right::Read, id)?;
    let before = query.before.map(|text| text.parse::<NextId>()).transpose().map_err(|_| ApiError::InvalidCursor)?;
    let limit = page_limit(query.limit)?;
    let offers = app.engine.next_blocks(id, before, limit + 1).await?;
    Ok(Json(convert::next_page(offers, limit)))
}

/// Takes a step that the agent offers: a new session begins in its piece of work, and its agent is sent the command. Every
/// repeat, from any device, gives the same.
#[utoipa::path(
    post,
    path = "/sessions/{id}/next/{block}", operation_id = "clickNext",
    params(("id" = String, Path), ("block" = String, Path, description = "As in `t42.n1`"), wire::KeyHeader),
    request_body = Option<wire::NextClick>,
    responses(
        (status = 200, description = "The new session is durable; its agent starts meanwhile", body = wire::Clicked),
        (status = 400, description = "There is no such agent", body = wire::ErrorBody),
        (status = 404, description = "The session is not there, or offers no such step", body = wire::ErrorBody),
        (status = 409, description = "A later turn offers it again, or it does not say which meta-context it belongs to", body = wire::ErrorBody)
    )
)]
pub(crate) async fn click(
    State(app): State<App>,
    asking: Asking,
    Named((id, block)): Named<(SessionId, NextId)>,
    _: NoParams,
    MaybeBody(mut click): MaybeBody<wire::NextClick>,
) -> Result<Json<wire::Clicked>, ApiError> {
    let key = click.key.take();
    let principal = asking.principal.clone();
    let asker = asking.asker(&format!("click {id} {block}"), &click, key)?;
    take_step(&app, &principal, (id, block), click, asker).await.map(Json)
}

pub(crate) async fn take_step(
    app: &App,
    principal: &Principal,
    (id, block): (SessionId, NextId),
    click: wire::NextClick,
    asker: Asker,
) -> Result<wire::Clicked, ApiError> {
    access::session(principal, Right::Write, id)?;
    let wire::NextClick { agent, model, mode, key: _ } = click;
    if model.is_some() || mode.is_some() {
        // A mode may free an agent from asking.
        access::everything(principal, Right::Approve)?;
    }
    let by = who::answerer(app, principal);
    let clicked = app.engine.click_next(id, Click { block, agent, model, mode, by }, asker).await?;
    Ok(wire::Clicked { meta_context_id: clicked.work, session_id: clicked.session })
}

/// Pieces of work, the one that was added to last first: those that have sessions, or those that a name leads to.
#[utoipa::path(
    get,
    path = "/meta-contexts", operation_id = "listMetaContexts",
    params(wire::MetaContextQuery),
    responses((status = 200, body = wire::MetaContextPage))
)]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    Params(query): Params<wire::MetaContextQuery>,
) -> Result<Json<wire::MetaContextPage>, ApiError> {
    access::everything(&principal, Right::Read)?;
    let after = query.after.map(|text| text.parse()).transpose().map_err(|_| ApiError::InvalidCursor)?;
    let limit = page_limit(query.limit)?;
    let works = match query.name {
        Some(name) => app.engine.works_named(&name, after, limit + 1).await?,
        None => app.engine.works(after, limit + 1).await?,
    };
    Ok(Json(convert::work_page(works, limit)))
}

/// One piece of work.
#[utoipa::path(
    get,
    path = "/meta-contexts/{id}", operation_id = "showMetaContext",
    params(("id" = String, Path)),
    responses((status = 200, body = wire::MetaContext))
)]
pub(crate) async fn show(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<WorkId>,
    _: NoParams,
) -> Result<Json<wire::MetaContext>, ApiError> {
    access::everything(&principal, Right::Read)?;
    Ok(Json(convert::work(app.engine.work(id).await?)))
}

/// The contents of a whole piece of work: one numbered list over all its sessions.
#[utoipa::path(
    get,
    path = "/meta-contexts/{id}/toc", operation_id = "getMetaContextToc",
    params(("id" = String, Path), wire::MetaContextTocQuery),
    responses(
        (status = 200, body = wire::MetaContextToc)
    )
)]
pub(crate) async fn toc(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<WorkId>,
    Params(query): Params<wire::MetaContextTocQuery>,
) -> Result<Json<wire::MetaContextToc>, ApiError> {
    access::everything(&principal, Right::Read)?;
    let limit = query.limit.map_or(Ok(MAX_CONTENTS_LINES), |limit| match limit as usize {
        limit @ 1..=MAX_CONTENTS_LINES => Ok(limit),
        _ => Err(ApiError::InvalidQuery(format!("limit is a number from 1 to {MAX_CONTENTS_LINES}"))),
    })?;
    let contents = app.engine.work_contents(id, query.after.unwrap_or(0), limit).await?;
    Ok(Json(convert::work_toc(contents)))
}

/// Calls a piece of work something else.
#[utoipa::path(
    patch,
    path = "/meta-contexts/{id}", operation_id = "renameMetaContext",
    params(("id" = String, Path), wire::KeyHeader),
    request_body = wire::MetaContextPatch,
    responses(
        (status = 200, body = wire::MetaContext),
        (status = 409, description = "Another of the project has that name", body = wire::ErrorBody)
    )
)]
pub(crate) async fn rename(
    State(app): State<App>,
    asking: Asking,
    Named(id): Named<WorkId>,
    _: NoParams,
    Body(mut patch): Body<wire::MetaContextPatch>,
) -> Result<Json<wire::MetaContext>, ApiError> {
    access::everything(&asking.principal, Right::Write)?;
    let key = patch.key.take();
    let asker = asking.asker(&format!("rename meta-context {id}"), &patch, key)?;
    Ok(Json(convert::work(app.engine.rename_work(id, &patch.name, asker).await?)))
}

/// Takes a piece of work apart; its sessions stay.
#[utoipa::path(
    delete,
    path = "/meta-contexts/{id}", operation_id = "deleteMetaContext",
    params(("id" = String, Path), wire::KeyHeader),
    responses((status = 204, description = "Its sessions are for themselves"))
)]
pub(crate) async fn delete(
    State(app): State<App>,
    asking: Asking,
    Named(id): Named<WorkId>,
    _: NoParams,
    OnlyKey(key): OnlyKey,
) -> Result<StatusCode, ApiError> {
    access::everything(&asking.principal, Right::Manage)?;
    let asker = asking.asker(&format!("delete meta-context {id}"), &(), key)?;
    app.engine.delete_work(id, asker).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn page_limit(limit: Option<u32>) -> Result<usize, ApiError> {
    match limit.unwrap_or(DEFAULT_LIMIT) {
        limit @ 1..=MAX_LIMIT => Ok(limit as usize),
        _ => Err(ApiError::InvalidQuery(format!("limit is a number from 1 to {MAX_LIMIT}"))),
    }
}
