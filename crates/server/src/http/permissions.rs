//! What agents ask, answered by a person, and what is remembered of it. An agent's or an applet's credential never is
//! one.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use doors::{Principal, Right};
use engine::{Asker, Keep, SubmitError};
use model::{PermissionAnswer, Rejection, RememberedId, Request, SessionId};

use crate::error::ApiError;
use crate::extract::{Asking, Body, Named, NoParams, OnlyKey};
use crate::http::Success;
use crate::{App, access, convert, who, wire};

/// Answers what the agent asked. The first answer counts.
#[utoipa::path(
    post,
    path = "/sessions/{id}/permissions/{request}", operation_id = "answerPermission",
    params(("id" = String, Path), ("request" = String, Path, description = "As in `permission.asked`, written `p7`"), wire::KeyHeader),
    request_body = wire::NewAnswer,
    responses(
        (status = 200, description = "The answer is durable and was sent to the agent", body = Success),
        (status = 400, description = "The agent offers no such option, or there is nothing to remember", body = wire::ErrorBody),
        (status = 409, description = "It was answered or withdrawn; `details.answer` is the first answer", body = wire::ErrorBody)
    )
)]
pub(crate) async fn answer(
    State(app): State<App>,
    asking: Asking,
    Named((id, request)): Named<(SessionId, Request)>,
    _: NoParams,
    Body(mut answer): Body<wire::NewAnswer>,
) -> Result<Json<Success>, ApiError> {
    access::session(&asking.principal, Right::Approve, id)?;
    let key = answer.key.take();
    let principal = asking.principal.clone();
    let asker = asking.asker(&format!("answer {id} {request}"), &answer, key)?;
    answer_request(&app, &principal, (id, request), answer, asker).await?;
    Ok(Json(Success::YES))
}

pub(crate) async fn answer_request(
    app: &App,
    principal: &Principal,
    (id, request): (SessionId, Request),
    answer: wire::NewAnswer,
    asker: Asker,
) -> Result<(), ApiError> {
    let wire::NewAnswer { option, fields, remember, .. } = answer;
    let by = who::answerer(app, principal);
    let answer = PermissionAnswer { option: Some(option), kind: None, fields, by, remembered: None };
    let keep = if remember { Keep::Remembered } else { Keep::Once };
    match app.engine.answer(id, request, answer, keep, asker).await {
        Ok(()) => Ok(()),
        Err(refused @ SubmitError::Rejected(Rejection::RequestNotOpen(_))) => {
            match app.engine.find_answer(id, request).await? {
                Some(first) => Err(ApiError::Answered(Box::new(first))),
                None => Err(refused.into()),
            }
        }
        Err(err) => Err(err.into()),
    }
}

/// Every answer that is remembered.
#[utoipa::path(
    get,
    path = "/permissions", operation_id = "listRememberedPermissions",
    responses((status = 200, body = wire::RememberedPage))
)]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
) -> Result<Json<wire::RememberedPage>, ApiError> {
    access::everything(&principal, Right::Approve)?;
    let permissions = app.engine.remembered().into_iter().map(convert::remembered).collect();
    Ok(Json(wire::RememberedPage { permissions }))
}

/// Forgets an answer; the same is asked again.
#[utoipa::path(
    delete,
    path = "/permissions/{id}", operation_id = "forgetPermission",
    params(("id" = String, Path), wire::KeyHeader),
    responses((status = 204, description = "It answers nothing any more"))
)]
pub(crate) async fn forget(
    State(app): State<App>,
    asking: Asking,
    Named(id): Named<RememberedId>,
    _: NoParams,
    OnlyKey(key): OnlyKey,
) -> Result<StatusCode, ApiError> {
    access::everything(&asking.principal, Right::Approve)?;
    let asker = asking.asker(&format!("forget permission {id}"), &(), key)?;
    if app.engine.forget_permission(id, asker).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(ApiError::PermissionNotFound)
    }
}
