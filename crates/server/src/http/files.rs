//! Names of files that a prompt could speak of.
//!
//! Invariant: nothing outside the session's directory is named, and nothing that is protected in it.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use doors::{Principal, Right};
use engine::{QueryError, ReadError};
use files::{Deny, DirectoryItem, FileKind, Trees};
use model::{SessionId, SessionRow};

use crate::error::ApiError;
use crate::extract::{Named, Params};
use crate::{App, access, wire};

const MAX_FILES: usize = 50;
/// How many names of one directory are looked at.
const MAX_NAMES: usize = 5_000;

/// Files of the session's directory whose path goes on from what was typed; for whoever may send it prompts.
#[utoipa::path(
    get,
    path = "/sessions/{id}/files", operation_id = "listFiles",
    params(("id" = String, Path), wire::FileQuery),
    responses(
        (status = 200, body = wire::FilePage),
        (status = 403, description = "The session's own agent", body = wire::ErrorBody)
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::FileQuery>,
) -> Result<Json<wire::FilePage>, ApiError> {
    access::session(&principal, Right::Write, id)?;
    let row = app.engine.session(id).await?.row;
    let deny = app.engine.deny().clone();
    let looking = tokio::task::spawn_blocking(move || wire::FilePage { files: named(&row, deny, &query.prefix) });
    match looking.await {
        Ok(page) => Ok(Json(page)),
        Err(err) if err.is_panic() => std::panic::resume_unwind(err.into_panic()),
        // The runtime is going.
        Err(_) => Err(QueryError::Read(ReadError::Closed).into()),
    }
}

/// What can not be looked at has nothing to offer.
fn named(row: &SessionRow, deny: Deny, prefix: &str) -> Vec<wire::FileName> {
    let (folder, begun) = prefix.rfind('/').map_or(("", prefix), |slash| prefix.split_at(slash + 1));
    let Ok(tree) = engine::open_directory(row) else { return Vec::new() };
    let trees = Trees::new(vec![tree]).denying(deny);
    // A path that begins with a slash takes the place of the directory, and lies outside it.
    let Ok(listing) = trees.list(Path::new(&row.cwd).join(folder), MAX_NAMES) else { return Vec::new() };
    let folded = begun.to_lowercase();
    let offered = listing.items.into_iter().filter_map(|item| {
        let is_hidden = item.name.starts_with('.') && !begun.starts_with('.');
        let lower = item.name.to_lowercase();
        // A name that is no text could be neither typed nor sent.
        let can_be_sent = !item.name.contains(['\u{FFFD}', '\n']) && item.kind != FileKind::Other;
        (can_be_sent && !is_hidden && lower.starts_with(&folded)).then(|| (!item.name.starts_with(begun), lower, item))
    });
    let mut offered: Vec<(bool, String, DirectoryItem)> = offered.collect();
    offered.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    offered.truncate(MAX_FILES);
    let path = |item: DirectoryItem| {
        format!("{folder}{}{}", item.name, if item.kind == FileKind::Directory { "/" } else { "" })
    };
    offered.into_iter().map(|(.., item)| wire::FileName { path: path(item) }).collect()
}
