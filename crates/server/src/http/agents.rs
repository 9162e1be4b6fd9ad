//! The agents that sessions can be started with.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use doors::{Principal, Right};
use engine::RecordsWish;

use crate::error::ApiError;
use crate::extract::{AgentName, Named, NoKey, NoParams, Params};
use crate::{App, access, convert, wire};

/// The agents that can be named in a new session: those that are installed first, of these the built-in guide last. The
/// first time this may take seconds, because each program is asked for its version, and the login shell for its `PATH`;
/// `soFar` does not wait for either.
#[utoipa::path(
    get,
    path = "/agents", operation_id = "listAgents",
    params(wire::AgentQuery),
    responses((status = 200, body = wire::AgentPage))
)]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    Params(query): Params<wire::AgentQuery>,
) -> Result<Json<wire::AgentPage>, ApiError> {
    access::everything(&principal, Right::Read)?;
    let agents = if query.so_far { app.engine.agents_so_far().await } else { app.engine.agents().await };
    Ok(Json(wire::AgentPage { agents: agents.into_iter().map(convert::agent).collect() }))
}

/// The sessions that an agent itself keeps, in its own order and its own pages, and which of them are sessions here. An
/// agent that does not run is started for this, which may take many seconds.
#[utoipa::path(
    get,
    path = "/agents/{name}/sessions", operation_id = "listAgentSessions",
    params(("name" = String, Path), wire::AgentSessionQuery),
    responses(
        (status = 200, body = wire::AgentSessionPage),
        (status = 404, description = "There is no such agent", body = wire::ErrorBody),
        (status = 409, description = "It is not installed, does not list them, or wants a sign-in", body = wire::ErrorBody),
        (status = 502, description = "It failed or refused", body = wire::ErrorBody),
        (status = 504, description = "It did not answer in time", body = wire::ErrorBody)
    )
)]
pub(crate) async fn sessions(
    State(app): State<App>,
    principal: Principal,
    Named(AgentName(name)): Named<AgentName>,
    Params(query): Params<wire::AgentSessionQuery>,
) -> Result<Json<wire::AgentSessionPage>, ApiError> {
    // A process is started, and what it lists is not of this server alone.
    access::everything(&principal, Right::Manage)?;
    let cwd = query.cwd.map(PathBuf::from);
    if cwd.as_ref().is_some_and(|cwd| !cwd.is_absolute()) {
        return Err(ApiError::InvalidQuery("cwd must be an absolute path".to_owned()));
    }
    let page = app.engine.agent_sessions(&name, RecordsWish { cwd, cursor: query.cursor }).await?;
    Ok(Json(convert::agent_sessions(page)))
}

/// Starts an agent, asks it to begin a session, and ends it: whether it works. No prompt is sent and no session is made here.
/// May take as long as an agent may take to start.
#[utoipa::path(
    post,
    path = "/agents/{name}/test", operation_id = "testAgent",
    params(("name" = String, Path)),
    responses(
        (status = 200, body = wire::AgentTrial),
        (status = 404, description = "There is no such agent", body = wire::ErrorBody),
        (status = 409, description = "It is not installed", body = wire::ErrorBody)
    )
)]
pub(crate) async fn test(
    State(app): State<App>,
    principal: Principal,
    Named(AgentName(name)): Named<AgentName>,
    _: NoParams,
    _: NoKey,
) -> Result<Json<wire::AgentTrial>, ApiError> {
    // A process is started.
    access::everything(&principal, Right::Manage)?;
    Ok(Json(convert::agent_trial(app.engine.try_agent(&name).await?)))
}
