//! Addresses of outputs and of exported sessions for pictures, frames and downloads, which can not carry the page's proof.
//!
//! Invariants: a ticket is made only for whoever may read the session, and opens one thing of it while that credential is in force, for a
//! minute, for reading alone. No cookie is asked for and none is enough. A browser redeems it for our own page only, and never as
//! something that runs.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use doors::{Principal, Right};
use engine::{TicketResource, TicketTarget};
use model::{OutputId, SessionId};

use crate::error::ApiError;
use crate::extract::{Named, NoKey, NoParams, Params, TicketSecret};
use crate::http::{export, outputs};
use crate::{App, access, wire};

/// What a browser may want the bytes for: to show them, or to save them.
const DESTINATIONS: [&str; 7] = ["image", "document", "iframe", "frame", "audio", "video", "empty"];

/// An address that opens this output for a minute, without a header.
#[utoipa::path(
    post,
    path = "/sessions/{id}/outputs/{output}/ticket", operation_id = "ticketForOutput",
    params(("id" = String, Path), ("output" = String, Path)),
    responses(
        (status = 201, body = wire::Ticket),
        (status = 404, description = "No such session, or no such output in it", body = wire::ErrorBody),
        (status = 410, description = "Its file was moved or removed", body = wire::ErrorBody)
    )
)]
pub(crate) async fn offer(
    State(app): State<App>,
    principal: Principal,
    Named((session, output)): Named<(SessionId, OutputId)>,
    _: NoParams,
    _: NoKey,
) -> Result<(StatusCode, Json<wire::Ticket>), ApiError> {
    access::session(&principal, Right::Read, session)?;
    let row = app.engine.output(session, output).await?;
    // Whoever follows the address could not be told that its bytes are gone.
    app.engine.read_output(&row, 0, 0).await?;
    Ok(offered(&app, TicketTarget { session, resource: TicketResource::Output(output), holder: principal.id }))
}

/// An address that opens the session as a file for a minute, without a header.
#[utoipa::path(
    post,
    path = "/sessions/{id}/export/ticket", operation_id = "ticketForExport",
    params(("id" = String, Path), wire::ExportQuery),
    responses(
        (status = 201, body = wire::Ticket),
        (status = 404, description = "No such session", body = wire::ErrorBody)
    )
)]
pub(crate) async fn offer_export(
    State(app): State<App>,
    principal: Principal,
    Named(session): Named<SessionId>,
    Params(query): Params<wire::ExportQuery>,
    _: NoKey,
) -> Result<(StatusCode, Json<wire::Ticket>), ApiError> {
    access::session(&principal, Right::Read, session)?;
    // Whoever follows the address could not be told that there is no such session.
    app.engine.session(session).await?;
    let resource = TicketResource::Export(export::kind_of(&query));
    Ok(offered(&app, TicketTarget { session, resource, holder: principal.id }))
}

fn offered(app: &App, target: TicketTarget) -> (StatusCode, Json<wire::Ticket>) {
    let ticket = app.engine.offer_ticket(target);
    let url = wire::Hidden::new(format!("/api/v1/tickets/{}", ticket.secret.expose()));
    (StatusCode::CREATED, Json(wire::Ticket { url, expires_at: ticket.expires_at }))
}

/// The bytes that a ticket is for; of an output also a range of them.
#[utoipa::path(
    get,
    path = "/tickets/{ticket}", operation_id = "readTicket",
    security(()),
    params(("ticket" = String, Path)),
    responses(
        (status = 200, description = "The bytes as they were shown, or the session as a file"),
        (status = 206, description = "The range of bytes that was asked for"),
        (status = 404, description = "No such ticket, or not any more", body = wire::ErrorBody),
        (status = 410, description = "Its file was moved or removed", body = wire::ErrorBody),
        (status = 416, description = "No such range", body = wire::ErrorBody)
    )
)]
pub(crate) async fn read(
    State(app): State<App>,
    Named(TicketSecret(secret)): Named<TicketSecret>,
    _: NoParams,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let target = app.engine.find_ticket(&secret).ok_or(ApiError::TicketNotFound)?;
    if !app.settings.gatekeeper.is_holder_in_force(&target.holder) {
        return Err(ApiError::TicketNotFound);
    }
    check_destination(&headers)?;
    match target.resource {
        TicketResource::Output(output) => {
            let row = app.engine.output(target.session, output).await?;
            outputs::as_bytes(app, target.holder, row, &headers).await
        }
        TicketResource::Export(kind) => export::as_file(app, target.holder, target.session, kind).await,
        // They are opened where they can do no harm.
        TicketResource::Applet { .. } | TicketResource::AppletAsShown(_) => Err(ApiError::TicketNotFound),
    }
}

/// Browsers say for whom and what for they fetch; what says nothing is no browser.
fn check_destination(headers: &HeaderMap) -> Result<(), ApiError> {
    let is_one_of = |name: &str, allowed: &[&str]| {
        headers.get_all(name).iter().all(|value| value.to_str().is_ok_and(|value| allowed.contains(&value)))
    };
    let fits = is_one_of("sec-fetch-site", &["same-origin"]) && is_one_of("sec-fetch-dest", &DESTINATIONS);
    if fits { Ok(()) } else { Err(ApiError::TicketNotForThis) }
}
