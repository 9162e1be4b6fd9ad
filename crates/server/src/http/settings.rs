//! What the server was started with. There is no route that changes it.

use axum::Json;
use axum::extract::State;
use doors::{Principal, Right};

use crate::error::ApiError;
use crate::extract::NoParams;
use crate::{App, access, wire};

/// The settings in force, each with where it comes from and the line of `config.toml` that changes it. Secrets are left out.
#[utoipa::path(get, path = "/settings", operation_id = "showSettings", responses((status = 200, body = wire::Settings)))]
pub(crate) async fn show(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
) -> Result<Json<wire::Settings>, ApiError> {
    access::everything(&principal, Right::Manage)?;
    Ok(Json(app.settings.configuration.clone()))
}
