//! Imports the conversations that other tools have recorded on this machine, and bundles of sessions.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use doors::{Principal, Right};

use crate::error::ApiError;
use crate::extract::{Body, MaybeBody, NoParams};
use crate::{App, access, wire};

/// What there is, and how far it has been brought in.
#[utoipa::path(get, path = "/imports", operation_id = "getImports", responses((status = 200, body = wire::Imports)))]
pub(crate) async fn show(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
) -> Result<Json<wire::Imports>, ApiError> {
    access::everything(&principal, Right::Read)?;
    let sources = app.engine.import_sources().await.into_iter().map(|source| wire::ImportSource {
        tool: source.tool.to_owned(),
        sessions: source.sessions,
        known: source.known,
        bytes: source.bytes,
    });
    Ok(Json(wire::Imports { sources: sources.collect(), progress: progress(&app) }))
}

/// Brings in what other tools left, as sessions that an agent can take over. Nothing of theirs is changed.
#[utoipa::path(
    post,
    path = "/imports", operation_id = "beginImport",
    request_body = Option<wire::NewImport>,
    responses(
        (status = 202, body = wire::ImportProgress),
        (status = 409, description = "One is under way", body = wire::ErrorBody)
    )
)]
pub(crate) async fn begin(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
    MaybeBody(wish): MaybeBody<wire::NewImport>,
) -> Result<(StatusCode, Json<wire::ImportProgress>), ApiError> {
    access::everything(&principal, Right::Write)?;
    app.engine.import(wish.tools.as_deref(), wish.follow)?;
    Ok((StatusCode::ACCEPTED, Json(progress(&app))))
}

/// Ends what is under way.
#[utoipa::path(
    delete,
    path = "/imports", operation_id = "stopImport",
    responses((status = 200, body = wire::ImportProgress))
)]
pub(crate) async fn stop(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
) -> Result<Json<wire::ImportProgress>, ApiError> {
    access::everything(&principal, Right::Write)?;
    app.engine.stop_import();
    Ok(Json(progress(&app)))
}

/// Takes in a bundle as the same session, read-only until an agent takes it over. Its file lies in the folder `incoming` of the data
/// folder, where only the person's own programs can put it; it stays there.
#[utoipa::path(
    post,
    path = "/imports/bundle", operation_id = "importBundle",
    request_body = wire::NewBundle,
    responses(
        (status = 200, body = wire::ImportedBundle),
        (status = 400, description = "It is damaged, or no server wrote it", body = wire::ErrorBody),
        (status = 404, description = "There is no such file", body = wire::ErrorBody),
        (status = 409, description = "The session is here with other entries, it shows more than is kept here, or a newer version wrote the bundle", body = wire::ErrorBody),
        (status = 410, description = "The session was removed here for good", body = wire::ErrorBody),
        (status = 413, description = "It has more than is taken in", body = wire::ErrorBody),
        (status = 415, description = "It is no bundle", body = wire::ErrorBody)
    )
)]
pub(crate) async fn take_in_bundle(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
    Body(wish): Body<wire::NewBundle>,
) -> Result<Json<wire::ImportedBundle>, ApiError> {
    access::everything(&principal, Right::Manage)?;
    let path = app.settings.incoming.join(format!("{}.tar", wish.name));
    let opened = tokio::task::spawn_blocking(move || open_file(&path));
    let file = opened.await.ok().flatten().ok_or(ApiError::NoIncomingFile)?;
    let taken = app.engine.take_in_bundle(file).await?;
    let engine::TakenInBundle { session, entries, payloads, missing, was_here } = taken;
    Ok(Json(wire::ImportedBundle { session, entries, payloads, missing, was_here }))
}

/// A file at this very place, and nothing that a link leads to.
fn open_file(path: &Path) -> Option<File> {
    let found = fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let file = File::open(path).ok()?;
    let opened = file.metadata().ok()?;
    ((found.dev(), found.ino()) == (opened.dev(), opened.ino())).then_some(file)
}

fn progress(app: &App) -> wire::ImportProgress {
    let engine::ImportProgress {
        running,
        following,
        done,
        total,
        added,
        updated,
        unchanged,
        left_alone,
        turns,
        skipped,
        failed,
        failures,
    } = app.engine.import_progress();
    wire::ImportProgress {
        running,
        following,
        done,
        total,
        added,
        updated,
        unchanged,
        left_alone,
        turns,
        skipped,
        failed,
        failures,
    }
}
