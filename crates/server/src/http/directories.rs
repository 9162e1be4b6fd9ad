//! Directories to choose from when a session is begun.

use std::collections::HashSet;

use axum::Json;
use axum::extract::State;
use doors::{Principal, Right};
use engine::{QueryError, ReadError};

use crate::error::ApiError;
use crate::extract::Params;
use crate::{App, access, convert, wire};

const MAX_SUGGESTIONS: usize = 50;
const MAX_RECENT: usize = 10;
/// How many of the newest sessions are looked at for different directories.
const RECENT_SESSIONS: usize = 200;

/// Directories whose path goes on from what was typed, and those of the newest sessions; for whoever may begin sessions.
#[utoipa::path(
    get,
    path = "/directories", operation_id = "listDirectories",
    params(wire::DirectoryQuery),
    responses(
        (status = 200, body = wire::DirectoryPage),
        (status = 403, description = "An agent's token", body = wire::ErrorBody)
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    Params(query): Params<wire::DirectoryQuery>,
) -> Result<Json<wire::DirectoryPage>, ApiError> {
    access::everything(&principal, Right::Write)?;
    let mut seen = HashSet::new();
    let mut rows = app.engine.sessions(model::Shelf::All, None, RECENT_SESSIONS).await?;
    rows.retain(|row| seen.insert(row.cwd.clone()));
    rows.truncate(MAX_RECENT);
    let home = app.engine.home().map(ToOwned::to_owned);
    let looking = tokio::task::spawn_blocking(move || {
        let suggestions = files::complete(&query.prefix, home.as_deref(), MAX_SUGGESTIONS);
        let still_there = rows.iter().filter(|row| files::is_directory(&row.cwd));
        wire::DirectoryPage {
            directories: suggestions.into_iter().map(convert::directory).collect(),
            recent: still_there.map(convert::recent_directory).collect(),
        }
    });
    match looking.await {
        Ok(page) => Ok(Json(page)),
        Err(err) if err.is_panic() => std::panic::resume_unwind(err.into_panic()),
        // The runtime is going.
        Err(_) => Err(QueryError::Read(ReadError::Closed).into()),
    }
}
