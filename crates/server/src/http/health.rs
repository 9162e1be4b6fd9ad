//! Whether the server is there, and what it has counted.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use doors::{Principal, Right};

use crate::error::ApiError;
use crate::extract::NoParams;
use crate::{App, access, metrics, wire};

/// Needs no credential, so that anything may watch it; says nothing but that the server answers, whether a part of it
/// keeps failing, which the log names, and whether sessions can be searched.
pub(crate) async fn healthz(State(app): State<App>, _: NoParams) -> Json<wire::Health> {
    let search = app.engine.search_failure().map(|failure| format!("not available: {}", failure.in_short));
    let is_well = app.engine.failing_parts().is_empty() && search.is_none();
    Json(wire::Health { status: if is_well { "ok" } else { "degraded" }.to_owned(), search })
}

pub(crate) async fn metrics(principal: Principal, _: NoParams) -> Result<impl IntoResponse, ApiError> {
    access::everything(&principal, Right::Read)?;
    Ok(([("content-type", "text/plain; version=0.0.4; charset=utf-8")], metrics::render()))
}
