//! What was too long for an entry: its bytes, by their hash.
//!
//! Invariant: only what an entry of the session names is found, and only as it was stored; to a browser it is a bitmap or plain text, as
//! for outputs.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use doors::{Principal, Right};
use model::{BodyHash, SessionId};

use crate::error::ApiError;
use crate::extract::{Named, NoParams};
use crate::http::outputs::{Sent, send};
use crate::{App, access, wire};

/// The bytes of a text or picture that an entry has only the head of, or a range of them.
#[utoipa::path(
    get,
    path = "/sessions/{id}/bodies/{sha256}", operation_id = "getBody",
    params(("id" = String, Path), ("sha256" = String, Path)),
    responses(
        (status = 200, description = "The bytes: plain text, JSON as plain text, or a bitmap", body = String, content_type = "text/plain"),
        (status = 206, description = "The range of bytes that was asked for"),
        (status = 404, description = "No such session, or none of its entries names such a body", body = wire::ErrorBody),
        (status = 410, description = "Its file was moved, removed or edited", body = wire::ErrorBody),
        (status = 416, description = "No such range", body = wire::ErrorBody)
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    principal: Principal,
    Named((session, hash)): Named<(SessionId, BodyHash)>,
    _: NoParams,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    access::session(&principal, Right::Read, session)?;
    let body = app.engine.body(session, hash).await?;
    let about = Sent {
        holder: principal.id,
        mime_type: body.mime_type.to_owned(),
        file_name: hash.to_string(),
        own_name: String::new(),
        bytes: body.row.bytes,
    };
    let engine = app.engine.clone();
    let read = move |from, most| {
        let (engine, row) = (engine.clone(), body.row.clone());
        async move { Ok(engine.read_body(&row, from, most).await?.into()) }
    };
    send(app, about, &headers, read).await
}
