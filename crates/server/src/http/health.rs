//! Whether the server is there, and what it has counted.

use axum::Json;
use axum::response::IntoResponse;
use doors::{Principal, Scope};

use crate::error::ApiError;
use crate::extract::NoParams;
use crate::{access, metrics, wire};

/// Needs no credential, so that anything may watch it; says nothing but that the server answers.
pub(crate) async fn healthz(_: NoParams) -> Json<wire::Health> {
    Json(wire::Health { status: "ok".to_owned() })
}

pub(crate) async fn metrics(principal: Principal, _: NoParams) -> Result<impl IntoResponse, ApiError> {
    access::everything(&principal, Scope::Read)?;
    Ok(([("content-type", "text/plain; version=0.0.4; charset=utf-8")], metrics::render()))
}
