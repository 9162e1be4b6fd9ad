//! What changed in a session's files. For persons only, since files are read for it.

use axum::Json;
use axum::extract::State;
use doors::{Principal, Right};
use engine::{FileChanges, GitBase, GitError, Since};
use model::{FileDiff, SessionId};

use crate::error::ApiError;
use crate::extract::{Named, Params};
use crate::{App, access, turns, wire};

/// The files that changed since the session or a turn began, in one turn, or since the newest commit.
#[utoipa::path(
    get,
    path = "/sessions/{id}/changes", operation_id = "listChanges",
    params(("id" = String, Path), wire::ChangesQuery),
    responses(
        (status = 200, body = wire::ChangesPage),
        (status = 403, description = "The session's own agent", body = wire::ErrorBody),
        (status = 409, description = "Git can not be compared with; `code` says why", body = wire::ErrorBody)
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::ChangesQuery>,
) -> Result<Json<wire::ChangesPage>, ApiError> {
    access::session(&principal, Right::Write, id)?;
    let since = since(query.since.as_deref(), query.turn.as_deref())?;
    let FileChanges { files, more, lines, earlier_left_out, left_out, git } = app.engine.changes(id, since).await?;
    let git_trouble = match git {
        Ok(()) | Err(GitError::NoRepository) => None,
        Err(why) => Some(why.to_string()),
    };
    Ok(Json(wire::ChangesPage {
        files,
        more,
        lines,
        earlier_left_out,
        incomplete: !left_out.is_empty(),
        left_out: left_out.iter().map(ToString::to_string).collect(),
        git: git.is_ok(),
        git_trouble,
    }))
}

/// The diff of one file, a page of lines at a time.
#[utoipa::path(
    get,
    path = "/sessions/{id}/changes/file", operation_id = "getFileDiff",
    params(("id" = String, Path), wire::FileDiffQuery),
    responses(
        (status = 200, body = FileDiff),
        (status = 403, description = "The session's own agent", body = wire::ErrorBody),
        (status = 404, description = "No such session or turn, or the file did not change", body = wire::ErrorBody),
        (status = 409, description = "Git can not be compared with; `code` says why", body = wire::ErrorBody)
    )
)]
pub(crate) async fn file(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::FileDiffQuery>,
) -> Result<Json<FileDiff>, ApiError> {
    access::session(&principal, Right::Write, id)?;
    let since = since(query.since.as_deref(), query.turn.as_deref())?;
    let after = usize::try_from(query.after).unwrap_or(usize::MAX);
    Ok(Json(app.engine.file_diff(id, query.path, since, after).await?))
}

fn since(since: Option<&str>, turn: Option<&str>) -> Result<Since, ApiError> {
    match (since, turn) {
        (Some(_), Some(_)) => Err(ApiError::InvalidQuery("give either since or turn".to_owned())),
        (None, Some(turn)) => Ok(Since::OnlyTurn(turns::parse(turn)?)),
        (None | Some("session"), None) => Ok(Since::Session),
        (Some("git"), None) => Ok(Since::Git(GitBase::Head)),
        (Some("index"), None) => Ok(Since::Git(GitBase::Index)),
        (Some(turn), None) => Ok(Since::Turn(turns::parse(turn)?)),
    }
}
