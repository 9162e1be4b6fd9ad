//! What is being written to a session, so that it follows the person to another device. It is no part of the log.

use axum::Json;
use axum::extract::State;
use doors::{Principal, Right};
use model::SessionId;

use crate::error::ApiError;
use crate::extract::{Body, Named, NoParams};
use crate::http::Success;
use crate::{App, access, wire};

/// What is being written to a session.
#[utoipa::path(
    get,
    path = "/sessions/{id}/unsent", operation_id = "getUnsent",
    params(("id" = String, Path)),
    responses((status = 200, body = wire::Unsent))
)]
pub(crate) async fn show(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    _: NoParams,
) -> Result<Json<wire::Unsent>, ApiError> {
    access::session(&principal, Right::Write, id)?;
    access::everything(&principal, Right::Write)?;
    let unsent = app.engine.unsent(id).await?;
    let (text, writer) = unsent.map(|unsent| (unsent.text.to_string(), unsent.writer.to_string())).unzip();
    Ok(Json(wire::Unsent { text, writer }))
}

/// Takes what is being written to a session. The last writer wins; all that follow the session hear of it. A repeat changes
/// nothing, with a key or without.
#[utoipa::path(
    patch,
    path = "/sessions/{id}/unsent", operation_id = "putUnsent",
    params(("id" = String, Path)),
    request_body = wire::NewUnsent,
    responses(
        (status = 200, body = Success),
        (status = 413, description = "It is longer than is kept", body = wire::ErrorBody)
    )
)]
pub(crate) async fn put(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    _: NoParams,
    Body(new): Body<wire::NewUnsent>,
) -> Result<Json<Success>, ApiError> {
    access::session(&principal, Right::Write, id)?;
    access::everything(&principal, Right::Write)?;
    app.engine.put_unsent(id, &new.text, &new.writer).await?;
    Ok(Json(Success::YES))
}
