//! Sends prompts, and rewrites or removes those that wait.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use doors::Right;
use engine::{Asker, AskingApplet, ChangePrompt, PromptAccepted, RemovePrompt, SendPrompt};
use model::{Author, InteractionId, SessionId, WhenBusy};

use crate::error::ApiError;
use crate::extract::{AppletWord, Asking, Body, Named, NoParams, OnlyKey};
use crate::http::{Success, applets};
use crate::{App, access, who, wire};

/// Sends words to the session's agent, now or in turn.
#[utoipa::path(
    post,
    path = "/sessions/{id}/prompts", operation_id = "sendPrompt",
    params(("id" = String, Path), wire::KeyHeader),
    request_body = wire::NewPrompt,
    responses(
        (status = 202, description = "Durable; the answer streams over the WebSocket", body = wire::PromptAccepted),
        (status = 409, description = "A turn runs and `whenBusy` is `reject`", body = wire::ErrorBody)
    )
)]
pub(crate) async fn send(
    State(app): State<App>,
    asking: Asking,
    Named(id): Named<SessionId>,
    _: NoParams,
    Body(mut prompt): Body<wire::NewPrompt>,
) -> Result<(StatusCode, Json<wire::PromptAccepted>), ApiError> {
    access::session(&asking.principal, Right::Write, id)?;
    let (key, by) = (prompt.key.take(), who::author(&app, &asking.principal));
    let asker = asking.asker(&prompt_request(id), &prompt, key)?;
    Ok((StatusCode::ACCEPTED, Json(send_prompt(&app, id, prompt, by, asker).await?)))
}

/// What a key stands for when a prompt is sent, whichever door it came through.
pub(crate) fn prompt_request(id: SessionId) -> String {
    format!("prompt {id}")
}

pub(crate) async fn send_prompt(
    app: &App,
    id: SessionId,
    prompt: wire::NewPrompt,
    by: Author,
    asker: Asker,
) -> Result<wire::PromptAccepted, ApiError> {
    // What was taken stays taken, whatever became of the applet since.
    if (prompt.applet.is_some() || prompt.applet_state.is_some())
        && let Some(PromptAccepted { interaction_id, turn }) = app.engine.prompt_sent_before(&asker).await?
    {
        return Ok(wire::PromptAccepted { interaction_id, turn });
    }
    let when_busy = match prompt.when_busy {
        wire::WhenBusy::Queue => WhenBusy::Queue,
        wire::WhenBusy::Reject => WhenBusy::Reject,
    };
    let interaction_id = app.engine.new_interaction();
    let wire::NewPrompt { text, images, applet_state, applet, when_busy: _, key: _ } = prompt;
    let by = match applet {
        Some(wire::SendingApplet { applet, hash }) => {
            let name = applets::name(AppletWord(applet), Some(id))?;
            app.engine.applet_author(&AskingApplet { name, hash, session: id }).await?
        }
        None => by,
    };
    if let Some(wire::UnsentAppletState { applet, merge }) = applet_state {
        let name = applets::name(AppletWord(applet), Some(id))?;
        app.engine.set_unsent_applet_state(&name, id, merge).await?;
    }
    let images = images.into_iter().map(Into::into).collect();
    let wish = SendPrompt { interaction_id, text, images, when_busy, by };
    let PromptAccepted { interaction_id, turn } = app.engine.submit(id, wish, asker).await?;
    Ok(wire::PromptAccepted { interaction_id, turn })
}

/// Rewrites a prompt that still waits.
#[utoipa::path(
    patch,
    path = "/sessions/{id}/prompts/{interaction}", operation_id = "changePrompt",
    params(("id" = String, Path), ("interaction" = String, Path), wire::KeyHeader),
    request_body = wire::PromptPatch,
    responses(
        (status = 200, body = Success),
        (status = 404, description = "It does not wait any more", body = wire::ErrorBody)
    )
)]
pub(crate) async fn change(
    State(app): State<App>,
    asking: Asking,
    Named((id, interaction_id)): Named<(SessionId, InteractionId)>,
    _: NoParams,
    Body(mut patch): Body<wire::PromptPatch>,
) -> Result<Json<Success>, ApiError> {
    access::session(&asking.principal, Right::Write, id)?;
    let (key, by) = (patch.key.take(), who::author(&app, &asking.principal));
    let asker = asking.asker(&format!("change prompt {id} {interaction_id}"), &patch, key)?;
    app.engine.submit(id, ChangePrompt { interaction_id, text: patch.text, by }, asker).await?;
    Ok(Json(Success::YES))
}

/// Takes a waiting prompt out of the queue.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/prompts/{interaction}", operation_id = "removePrompt",
    params(("id" = String, Path), ("interaction" = String, Path), wire::KeyHeader),
    responses(
        (status = 204, description = "It will not be sent"),
        (status = 404, description = "It does not wait any more", body = wire::ErrorBody)
    )
)]
pub(crate) async fn remove(
    State(app): State<App>,
    asking: Asking,
    Named((id, interaction_id)): Named<(SessionId, InteractionId)>,
    _: NoParams,
    OnlyKey(key): OnlyKey,
) -> Result<StatusCode, ApiError> {
    access::session(&asking.principal, Right::Write, id)?;
    let asker = asking.asker(&format!("remove prompt {id} {interaction_id}"), &(), key)?;
    app.engine.submit(id, RemovePrompt { interaction_id }, asker).await?;
    Ok(StatusCode::NO_CONTENT)
}
