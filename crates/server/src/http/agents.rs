//! The agents that sessions can be started with.

use axum::Json;
use axum::extract::State;
use doors::{Principal, Scope};

use crate::error::ApiError;
use crate::extract::NoParams;
use crate::{App, access, convert, wire};

/// The agents that can be named in a new session: those that are installed first, of these the built-in guide last. The
/// first time this may take seconds, because each program is asked for its version.
#[utoipa::path(get, path = "/agents", operation_id = "listAgents", responses((status = 200, body = wire::AgentPage)))]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
) -> Result<Json<wire::AgentPage>, ApiError> {
    access::everything(&principal, Scope::Read)?;
    let agents = app.engine.agents().await;
    Ok(Json(wire::AgentPage { agents: agents.into_iter().map(convert::agent).collect() }))
}
