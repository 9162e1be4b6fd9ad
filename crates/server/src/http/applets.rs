//! Applets: listed, read, saved and deleted; their states and versions; what the person granted to them.
//!
//! Invariant: a grant is given by the person alone, and for the page that they saw. An agent reaches the applets of its own session here,
//! and changes none: it has its tools.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use doors::{Principal, Right};
use engine::{BegunStateWrite, StateChange, StateWrite, TicketResource, TicketTarget};
use model::{AppletName, AppletSlug, SessionId};

use crate::error::ApiError;
use crate::extract::{AppletVersionPath, AppletWord, Body, Named, NoKey, NoParams, Params, Unrepeatable};
use crate::{App, access, convert, who, wire};

/// Longest name that a writer gives itself, in characters.
const MAX_WRITER_CHARS: usize = 100;

/// All applets: the person's, the one that was saved last first, then those that come with the program.
#[utoipa::path(
    get,
    path = "/storage/applets", operation_id = "listApplets",
    responses((status = 200, body = Vec<wire::AppletRow>))
)]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
) -> Result<Json<Vec<wire::AppletRow>>, ApiError> {
    access::everything(&principal, Right::Read)?;
    let listed = app.engine.applets().await?;
    Ok(Json(listed.into_iter().map(convert::applet_row).collect()))
}

/// An applet with its page and its state.
#[utoipa::path(
    get,
    path = "/storage/applet/{applet}", operation_id = "showApplet",
    params(("applet" = String, Path), wire::AppletQuery),
    responses(
        (status = 200, body = wire::Applet),
        (status = 404, description = "No such applet, or the session shows none of its own", body = wire::ErrorBody)
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    principal: Principal,
    Named(word): Named<AppletWord>,
    Params(query): Params<wire::AppletQuery>,
) -> Result<Json<wire::Applet>, ApiError> {
    let name = reach(&principal, Right::Read, word, query.session)?;
    let applet = app.engine.applet(name.clone()).await?;
    let state = app.engine.applet_state(&name, query.session).await?;
    Ok(Json(convert::applet(applet, &state)))
}

/// Saves an applet, in place of the one of that slug. It takes no key: to do it twice is to do it once.
#[utoipa::path(
    put,
    path = "/storage/applet/{applet}", operation_id = "saveApplet",
    params(("applet" = String, Path)),
    request_body = wire::NewApplet,
    responses(
        (status = 200, description = "Replaced, and flushed to disk", body = wire::AppletRow),
        (status = 201, description = "Saved, and flushed to disk", body = wire::AppletRow),
        (status = 400, description = "It is no slug, or no applet", body = wire::ErrorBody),
        (status = 413, description = "It is too long", body = wire::ErrorBody)
    )
)]
pub(crate) async fn save(
    State(app): State<App>,
    principal: Principal,
    Named(word): Named<AppletWord>,
    _: NoParams,
    _: Unrepeatable,
    Body(new): Body<wire::NewApplet>,
) -> Result<(StatusCode, Json<wire::AppletRow>), ApiError> {
    access::everything(&principal, Right::Write)?;
    let slug = slug(word)?;
    let (applet, is_new) = app.engine.save_applet(slug, convert::new_applet(new)).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(convert::row_of_applet(&applet))))
}

/// Deletes an applet of the person's for good, with its state. One that comes with the program and had been replaced is there again.
#[utoipa::path(
    delete,
    path = "/storage/applet/{applet}", operation_id = "deleteApplet",
    params(("applet" = String, Path)),
    responses(
        (status = 204, description = "It is gone"),
        (status = 404, description = "No such applet", body = wire::ErrorBody),
        (status = 409, description = "It comes with the program", body = wire::ErrorBody)
    )
)]
pub(crate) async fn delete(
    State(app): State<App>,
    principal: Principal,
    Named(word): Named<AppletWord>,
    _: NoParams,
    _: NoKey,
) -> Result<StatusCode, ApiError> {
    access::everything(&principal, Right::Write)?;
    match app.engine.delete_applet(slug(word)?).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::AppletNotFound),
    }
}

/// An applet's state.
#[utoipa::path(
    get,
    path = "/storage/applet/{applet}/state", operation_id = "appletState",
    params(("applet" = String, Path), wire::AppletQuery),
    responses(
        (status = 200, body = wire::AppletState),
        (status = 404, description = "No such applet", body = wire::ErrorBody),
        (status = 409, description = "Its file holds no state", body = wire::ErrorBody)
    )
)]
pub(crate) async fn state(
    State(app): State<App>,
    principal: Principal,
    Named(word): Named<AppletWord>,
    Params(query): Params<wire::AppletQuery>,
) -> Result<Json<wire::AppletState>, ApiError> {
    let name = reach(&principal, Right::Read, word, query.session)?;
    Ok(Json(convert::applet_state(&app.engine.applet_state(&name, query.session).await?)))
}

/// Sets an applet's state, or keys of it. It takes no key: `version` says what the write expects.
#[utoipa::path(
    post,
    path = "/storage/applet/{applet}/state", operation_id = "setAppletState",
    params(("applet" = String, Path), wire::AppletQuery),
    request_body = wire::NewAppletState,
    responses(
        (status = 200, description = "Flushed to disk", body = wire::WrittenAppletState),
        (status = 404, description = "No such applet", body = wire::ErrorBody),
        (status = 409, description = "It has another version by now", body = wire::ErrorBody),
        (status = 413, description = "It is too large or too deep", body = wire::ErrorBody)
    )
)]
pub(crate) async fn set_state(
    State(app): State<App>,
    principal: Principal,
    Named(word): Named<AppletWord>,
    Params(query): Params<wire::AppletQuery>,
    _: Unrepeatable,
    Body(new): Body<wire::NewAppletState>,
) -> Result<Json<wire::WrittenAppletState>, ApiError> {
    let name = reach(&principal, Right::Write, word, query.session)?;
    write_state(&app, &name, query.session, new).await.map(Json)
}

/// Writes a state and waits until it is flushed.
pub(crate) async fn write_state(
    app: &App,
    name: &AppletName,
    session: Option<SessionId>,
    new: wire::NewAppletState,
) -> Result<wire::WrittenAppletState, ApiError> {
    written(begin_write(app, name, session, new).await?).await
}

/// Accepts a write of a state, in the order of the calls, and does not wait until it is flushed.
pub(crate) async fn begin_write(
    app: &App,
    name: &AppletName,
    session: Option<SessionId>,
    new: wire::NewAppletState,
) -> Result<BegunStateWrite, ApiError> {
    let wire::NewAppletState { state, merge, version, writer } = new;
    let change = match (state, merge) {
        (Some(state), None) => StateChange::Replace(state),
        (None, Some(merge)) => StateChange::Merge(merge),
        (Some(_), Some(_)) | (None, None) => {
            return Err(ApiError::InvalidBody("one of state and merge is needed".to_owned()));
        }
    };
    if writer.as_ref().is_some_and(|writer| writer.chars().count() > MAX_WRITER_CHARS) {
        return Err(ApiError::InvalidBody(format!("writer has at most {MAX_WRITER_CHARS} characters")));
    }
    let write = StateWrite { change, version, writer: writer.map(Into::into) };
    Ok(app.engine.begin_applet_state(name, session, write).await?)
}

/// Waits until a write is flushed.
pub(crate) async fn written(begun: BegunStateWrite) -> Result<wire::WrittenAppletState, ApiError> {
    Ok(wire::WrittenAppletState { version: begun.flushed().await? })
}

/// The versions of a state that one can go back to.
#[utoipa::path(
    get,
    path = "/storage/applet/{applet}/versions", operation_id = "appletVersions",
    params(("applet" = String, Path), wire::AppletQuery),
    responses(
        (status = 200, body = wire::AppletVersions),
        (status = 404, description = "No such applet", body = wire::ErrorBody)
    )
)]
pub(crate) async fn versions(
    State(app): State<App>,
    principal: Principal,
    Named(word): Named<AppletWord>,
    Params(query): Params<wire::AppletQuery>,
) -> Result<Json<wire::AppletVersions>, ApiError> {
    let name = reach(&principal, Right::Read, word, query.session)?;
    let versions = app.engine.applet_versions(&name, query.session).await?;
    let version = |engine::KeptVersion { version, bytes }| wire::AppletVersion { version, bytes };
    Ok(Json(wire::AppletVersions { versions: versions.into_iter().map(version).collect() }))
}

/// One of them.
#[utoipa::path(
    get,
    path = "/storage/applet/{applet}/versions/{version}", operation_id = "appletVersion",
    params(("applet" = String, Path), ("version" = u64, Path), wire::AppletQuery),
    responses(
        (status = 200, body = wire::AppletState),
        (status = 404, description = "No such applet, or no such version any more", body = wire::ErrorBody)
    )
)]
pub(crate) async fn version(
    State(app): State<App>,
    principal: Principal,
    Named(AppletVersionPath { word, version }): Named<AppletVersionPath>,
    Params(query): Params<wire::AppletQuery>,
) -> Result<Json<wire::AppletState>, ApiError> {
    let name = reach(&principal, Right::Read, word, query.session)?;
    Ok(Json(convert::applet_state(&app.engine.applet_version(&name, query.session, version).await?)))
}

/// What an applet may do as it is now.
#[utoipa::path(
    get,
    path = "/storage/applet/{applet}/grants", operation_id = "appletGrants",
    params(("applet" = String, Path), wire::AppletQuery),
    responses(
        (status = 200, body = wire::AppletGrants),
        (status = 404, description = "No such applet", body = wire::ErrorBody)
    )
)]
pub(crate) async fn grants(
    State(app): State<App>,
    principal: Principal,
    Named(word): Named<AppletWord>,
    Params(query): Params<wire::AppletQuery>,
) -> Result<Json<wire::AppletGrants>, ApiError> {
    let name = reach(&principal, Right::Read, word, query.session)?;
    Ok(Json(granted(app.engine.applet_grants(&name).await?)))
}

/// Grants something to an applet with the page that it has now, or takes it away. It takes no key: to do it twice is to do it once.
#[utoipa::path(
    post,
    path = "/storage/applet/{applet}/grants", operation_id = "grantApplet",
    params(("applet" = String, Path), wire::AppletQuery),
    request_body = wire::NewAppletGrant,
    responses(
        (status = 200, body = wire::AppletGrants),
        (status = 404, description = "No such applet", body = wire::ErrorBody),
        (status = 409, description = "It has another page by now", body = wire::ErrorBody)
    )
)]
pub(crate) async fn grant(
    State(app): State<App>,
    principal: Principal,
    Named(word): Named<AppletWord>,
    Params(query): Params<wire::AppletQuery>,
    _: Unrepeatable,
    Body(new): Body<wire::NewAppletGrant>,
) -> Result<Json<wire::AppletGrants>, ApiError> {
    access::everything(&principal, Right::Approve)?;
    let name = name(word, query.session)?;
    let by = who::answerer(&app, &principal);
    let wire::NewAppletGrant { hash, grant, granted: is_granted } = new;
    Ok(Json(granted(app.engine.grant_applet(&name, &hash, grant, is_granted, by).await?)))
}

/// An address at which a frame of the page shows an applet, for a minute.
#[utoipa::path(
    post,
    path = "/storage/applet/{applet}/ticket", operation_id = "ticketForApplet",
    params(("applet" = String, Path), wire::AppletTicketQuery),
    responses(
        (status = 201, body = wire::AppletTicket),
        (status = 404, description = "No such session, applet or output", body = wire::ErrorBody),
        (status = 410, description = "The output's file was moved or removed", body = wire::ErrorBody)
    )
)]
pub(crate) async fn offer_ticket(
    State(app): State<App>,
    principal: Principal,
    Named(word): Named<AppletWord>,
    Params(wire::AppletTicketQuery { session, output }): Params<wire::AppletTicketQuery>,
    _: NoKey,
) -> Result<(StatusCode, Json<wire::AppletTicket>), ApiError> {
    access::session(&principal, Right::Read, session)?;
    app.engine.session(session).await?;
    let (content, resource) = match output {
        Some(output) => {
            let row = app.engine.output(session, output).await?;
            (app.engine.applet_of_output(&row).await?, TicketResource::AppletAsShown(output))
        }
        None => {
            let name = name(word, Some(session))?;
            let content = app.engine.applet(name.clone()).await?.content;
            let hash = content.hash();
            (content, TicketResource::Applet { name, hash })
        }
    };
    let ticket = app.engine.offer_ticket(TicketTarget { session, resource, holder: principal.id });
    let url = wire::Hidden::new(format!("{}{}", crate::applet_frame::ROUTE_PREFIX, ticket.secret.expose()));
    let ticket = wire::AppletTicket { url, expires_at: ticket.expires_at, hash: content.hash() };
    Ok((StatusCode::CREATED, Json(ticket)))
}

/// The applet that an address means, if the caller may reach it: an agent only beside its own session.
fn reach(
    principal: &Principal,
    right: Right,
    word: AppletWord,
    session: Option<SessionId>,
) -> Result<AppletName, ApiError> {
    match session {
        Some(session) => access::session(principal, right, session)?,
        None => access::everything(principal, right)?,
    }
    name(word, session)
}

/// The applet that an address means: a slug, or `_shown`, which needs the session.
pub(crate) fn name(AppletWord(word): AppletWord, session: Option<SessionId>) -> Result<AppletName, ApiError> {
    match (word.as_str(), session) {
        (AppletName::SHOWN, Some(session)) => Ok(AppletName::Shown(session)),
        (AppletName::SHOWN, None) => Err(ApiError::InvalidQuery("the applet _shown needs ?session=ID".to_owned())),
        (word, _) => word.parse().map(AppletName::Saved).map_err(ApiError::AppletSlug),
    }
}

fn slug(AppletWord(word): AppletWord) -> Result<AppletSlug, ApiError> {
    word.parse().map_err(ApiError::AppletSlug)
}

fn granted(engine::GrantedNow { hash, grants }: engine::GrantedNow) -> wire::AppletGrants {
    wire::AppletGrants { hash, grants }
}
