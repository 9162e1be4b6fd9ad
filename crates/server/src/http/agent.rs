//! Resumes a session's agent, hands the session over to another, sets options, and signs in.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use doors::Right;
use engine::{SetOption, SignIn};
use model::SessionId;

use crate::error::ApiError;
use crate::extract::{Asking, Body, Named, NoParams};
use crate::http::Success;
use crate::{App, access, wire};

/// Makes sure that the session's agent is there, or hands the session over to another.
#[utoipa::path(
    post,
    path = "/sessions/{id}/resume", operation_id = "resumeSession",
    params(("id" = String, Path), wire::KeyHeader),
    request_body = wire::Resume,
    responses(
        (status = 200, body = wire::Resumed),
        (status = 400, description = "There is no such agent", body = wire::ErrorBody),
        (status = 409, description = "A turn is running", body = wire::ErrorBody)
    )
)]
pub(crate) async fn resume(
    State(app): State<App>,
    asking: Asking,
    Named(id): Named<SessionId>,
    _: NoParams,
    Body(mut wish): Body<wire::Resume>,
) -> Result<Json<wire::Resumed>, ApiError> {
    access::session(&asking.principal, Right::Write, id)?;
    let key = wish.key.take();
    let asker = asking.asker(&format!("resume {id}"), &wish, key)?;
    let before = app.engine.session(id).await?.row;
    app.engine.resume(id, wish.agent, asker).await?;
    let row = app.engine.session(id).await?.row;
    Ok(Json(wire::Resumed {
        id,
        is_busy: row.running.is_some(),
        fallback: Some(row.cwd.clone()).filter(|cwd| *cwd != before.cwd),
        agent: row.agent,
        cwd: row.cwd,
    }))
}

/// Chooses one of the agent's options: its mode, its model. What came of it is an entry.
#[utoipa::path(
    post,
    path = "/sessions/{id}/options/{option}", operation_id = "setOption",
    params(("id" = String, Path), ("option" = String, Path), wire::KeyHeader),
    request_body = wire::NewValue,
    responses(
        (status = 202, description = "The request was sent to the agent", body = Success),
        (status = 409, description = "The agent is not there", body = wire::ErrorBody)
    )
)]
pub(crate) async fn set_option(
    State(app): State<App>,
    asking: Asking,
    Named((id, option)): Named<(SessionId, String)>,
    _: NoParams,
    Body(mut wish): Body<wire::NewValue>,
) -> Result<(StatusCode, Json<Success>), ApiError> {
    // A mode may free an agent from asking: only who may approve chooses.
    access::session(&asking.principal, Right::Approve, id)?;
    let key = wish.key.take();
    let asker = asking.asker(&format!("set option {id} {option}"), &wish, key)?;
    app.engine.submit(id, SetOption { option, value: wish.value }, asker).await?;
    Ok((StatusCode::ACCEPTED, Json(Success::YES)))
}

/// Signs in to the agent by one of its own methods.
#[utoipa::path(
    post,
    path = "/sessions/{id}/sign-in", operation_id = "signInToAgent",
    params(("id" = String, Path), wire::KeyHeader),
    request_body = wire::SignIn,
    responses(
        (status = 202, description = "The request was sent to the agent", body = Success),
        (status = 409, description = "The agent does not want it", body = wire::ErrorBody)
    )
)]
pub(crate) async fn sign_in(
    State(app): State<App>,
    asking: Asking,
    Named(id): Named<SessionId>,
    _: NoParams,
    Body(mut wish): Body<wire::SignIn>,
) -> Result<(StatusCode, Json<Success>), ApiError> {
    access::session(&asking.principal, Right::Approve, id)?;
    let key = wish.key.take();
    let asker = asking.asker(&format!("sign in {id}"), &wish, key)?;
    app.engine.submit(id, SignIn { method: wish.method }, asker).await?;
    Ok((StatusCode::ACCEPTED, Json(Success::YES)))
}
