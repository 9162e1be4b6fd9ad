//! Imports the conversations that other tools have recorded on this machine.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use doors::{Principal, Right};

use crate::error::ApiError;
use crate::extract::{MaybeBody, NoParams};
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
