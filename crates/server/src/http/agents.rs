//! The agents that sessions can be started with.

use axum::Json;
use doors::{Principal, Scope};

use crate::error::ApiError;
use crate::extract::NoParams;
use crate::{access, wire};

/// The agents that can be named in a new session.
#[utoipa::path(get, path = "/agents", operation_id = "listAgents", responses((status = 200, body = wire::AgentPage)))]
pub(crate) async fn list(principal: Principal, _: NoParams) -> Result<Json<wire::AgentPage>, ApiError> {
    access::everything(&principal, Scope::Read)?;
    let agents = engine::CATALOG.iter().map(|entry| wire::Agent {
        name: entry.name.to_owned(),
        title: entry.title.to_owned(),
        description: entry.description.to_owned(),
    });
    Ok(Json(wire::AgentPage { agents: agents.collect() }))
}
