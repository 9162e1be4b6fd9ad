//! Begins a session that goes on from a turn of another one. Only a person forks.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use doors::Right;
use engine::{Fork, ForkPrompt};
use model::SessionId;

use crate::error::ApiError;
use crate::extract::{Asking, MaybeBody, Named, NoParams};
use crate::{App, access, convert, who, wire};

/// Begins a session that goes on from a turn of this one, which stays as it is. Its agent is sent a record of the turns up to
/// there, ahead of its first prompt.
#[utoipa::path(
    post,
    path = "/sessions/{id}/fork", operation_id = "forkSession",
    params(("id" = String, Path), wire::KeyHeader),
    request_body = Option<wire::NewFork>,
    responses(
        (status = 201, description = "The new session is durable; its agent starts meanwhile", body = wire::Session),
        (status = 400, description = "There is no such agent, or the name, the prompt or a picture is not taken", body = wire::ErrorBody),
        (status = 404, description = "The session is not there, or has no such turn", body = wire::ErrorBody),
        (status = 409, description = "The turn is still running", body = wire::ErrorBody)
    )
)]
pub(crate) async fn fork(
    State(app): State<App>,
    asking: Asking,
    Named(id): Named<SessionId>,
    _: NoParams,
    MaybeBody(mut new): MaybeBody<wire::NewFork>,
) -> Result<(StatusCode, Json<wire::Session>), ApiError> {
    access::session(&asking.principal, Right::Write, id)?;
    access::everything(&asking.principal, Right::Write)?;
    let key = new.key.take();
    let (by, author) = (who::answerer(&app, &asking.principal), who::author(&app, &asking.principal));
    let asker = asking.asker(&format!("fork {id}"), &new, key)?;
    let wire::NewFork { turn, agent, name, prompt, images, key: _ } = new;
    let is_prompted = prompt.is_some() || !images.is_empty();
    let images = images.into_iter().map(Into::into).collect();
    let prompt = is_prompted.then(|| ForkPrompt { text: prompt.unwrap_or_default(), images, by: author });
    let fork = Fork { turn, agent, name: name.unwrap_or_default(), prompt, by };
    let created = app.engine.fork(id, fork, asker).await?;
    // As of its beginning, so that a repeat of the request is answered with the same words.
    let session = app.engine.session_as_of(created.session, created.entries).await?;
    Ok((StatusCode::CREATED, Json(convert::whole_session(&app.engine, &session).await?)))
}
