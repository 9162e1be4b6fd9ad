//! What a session is about, now and as of a turn, and the resume packet that its agent would be sent.

use axum::Json;
use axum::extract::State;
use doors::{Principal, Right};
use model::SessionId;

use crate::error::ApiError;
use crate::extract::{Named, NoParams, Params};
use crate::{App, access, convert, turns, wire};

/// What a session is about: sets, and facts with their evidence, as of a turn or now.
#[utoipa::path(
    get,
    path = "/sessions/{id}/context", operation_id = "getContext",
    params(("id" = String, Path), wire::ContextQuery),
    responses(
        (status = 200, body = wire::ContextAsOf),
        (status = 404, description = "No such session, or it has not come to that turn", body = wire::ErrorBody)
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::ContextQuery>,
) -> Result<Json<wire::ContextAsOf>, ApiError> {
    access::session(&principal, Right::Read, id)?;
    let (turn, context) = match query.turn.as_deref().map(turns::parse).transpose()? {
        Some(turn) => (turn, convert::context(&app.engine.context_as_of(id, turn).await?)),
        None => {
            let session = app.engine.session(id).await?;
            (session.row.turns, convert::context(&session.context))
        }
    };
    Ok(Json(wire::ContextAsOf { turn, context }))
}

/// The resume packet that the agent would be sent now.
#[utoipa::path(
    get,
    path = "/sessions/{id}/resume-packet", operation_id = "getResumePacket",
    params(("id" = String, Path)),
    responses((status = 200, body = wire::ResumePacket))
)]
pub(crate) async fn packet(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    _: NoParams,
) -> Result<Json<wire::ResumePacket>, ApiError> {
    access::session(&principal, Right::Read, id)?;
    let packet = app.engine.resume_packet(id).await?;
    let characters = packet.text.chars().count();
    Ok(Json(wire::ResumePacket { text: packet.text, characters, tokens: packet.tokens }))
}
