//! Creates, lists, shows, renames, stops, deletes and restores sessions.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use doors::{Principal, Right, Role};
use engine::{Asker, Cancel, ChangeSession, Delete, Observe, Observed, QueryError, Reach, Restore, SetContext};
use model::{
    ContextWish, DeletedKey, FilingWish, ListKey, Marker, SessionFilter, SessionId, Shelf, TagWish, clean_tag,
};

use crate::error::ApiError;
use crate::extract::{Asking, Body, Named, NoParams, OnlyKey, Params};
use crate::http::Success;
use crate::{App, access, convert, wire};

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 200;
const MAX_TEXT_CHARS: usize = 200;

/// Sessions, most recently active first. Where a filter is met by few, a page may be short while `nextCursor` goes on.
#[utoipa::path(
    get,
    path = "/sessions", operation_id = "listSessions",
    params(wire::SessionQuery),
    responses((status = 200, body = wire::SessionPage))
)]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    Params(query): Params<wire::SessionQuery>,
) -> Result<Json<wire::SessionPage>, ApiError> {
    access::everything(&principal, Right::Read)?;
    page(&app, query).await.map(Json)
}

fn filter(query: wire::SessionQuery) -> Result<(Shelf, SessionFilter), ApiError> {
    let text = query.text.unwrap_or_default();
    if text.chars().count() > MAX_TEXT_CHARS {
        return Err(ApiError::InvalidQuery(format!("text has at most {MAX_TEXT_CHARS} characters")));
    }
    let shelf = match query.archived {
        wire::ArchivedQuery::No => Shelf::Listed,
        wire::ArchivedQuery::Only => Shelf::Archived,
        wire::ArchivedQuery::Any => Shelf::All,
    };
    let tag = query.tag.map(|tag| clean_tag(&tag)).transpose();
    let filter = SessionFilter {
        state: query.state,
        unobserved: query.unobserved,
        agent: query.agent,
        project: query.project,
        tag: tag.map_err(|err| ApiError::InvalidQuery(err.to_string()))?,
        pinned: query.pinned,
        work: query.meta_context,
        words: text.split_whitespace().map(str::to_lowercase).collect(),
    };
    Ok((shelf, filter))
}

fn page_limit(limit: Option<u32>) -> Result<u32, ApiError> {
    match limit.unwrap_or(DEFAULT_LIMIT) {
        limit @ 1..=MAX_LIMIT => Ok(limit),
        _ => Err(ApiError::InvalidQuery(format!("limit is 1 to {MAX_LIMIT}"))),
    }
}

/// A page of the list; also the one that a socket gets at connect.
pub(crate) async fn page(app: &App, query: wire::SessionQuery) -> Result<wire::SessionPage, ApiError> {
    let limit = page_limit(query.limit)?;
    let after = query.after.as_deref().map(str::parse::<ListKey>).transpose();
    let after = after.map_err(|_| ApiError::InvalidCursor)?;
    let (shelf, filter) = filter(query)?;
    let is_beginning = after.is_none() && shelf == Shelf::Listed && filter.is_empty();
    let foremost = if is_beginning { app.engine.foremost_sessions().await? } else { Vec::new() };
    let listed = app.engine.list_sessions(shelf, &filter, after, limit as usize).await?;
    let mut page = convert::session_page(&app.engine, &listed, &foremost);
    let rows = page.sessions.iter().chain(&page.foremost);
    let works: BTreeSet<_> = rows.filter_map(|row| row.meta_context_id).collect();
    for work in works {
        match app.engine.work(work).await {
            Ok(work) => page.meta_contexts.push(convert::work(work)),
            // It was deleted.
            Err(QueryError::NoSuchWork(_)) => (),
            Err(err) => return Err(err.into()),
        }
    }
    Ok(page)
}

/// The first page, of the default length.
pub(crate) async fn first_page(app: &App) -> Result<wire::SessionPage, ApiError> {
    page(app, wire::SessionQuery::default()).await
}

/// The tags that sessions have.
#[utoipa::path(get, path = "/tags", operation_id = "listTags", responses((status = 200, body = wire::Tags)))]
pub(crate) async fn tags(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
) -> Result<Json<wire::Tags>, ApiError> {
    access::everything(&principal, Right::Read)?;
    let tags = app.engine.tags().await?.into_iter().map(|(tag, sessions)| wire::Tag { tag, sessions });
    Ok(Json(wire::Tags { tags: tags.collect() }))
}

/// Begins a session; its agent starts meanwhile, and prompts are taken at once.
#[utoipa::path(
    post,
    path = "/sessions", operation_id = "createSession",
    params(wire::KeyHeader),
    request_body = wire::NewSession,
    responses(
        (status = 201, body = wire::Session),
        (status = 409, description = "The directory is far-reaching and needs `confirm`", body = wire::ErrorBody)
    )
)]
pub(crate) async fn create(
    State(app): State<App>,
    asking: Asking,
    _: NoParams,
    Body(mut new): Body<wire::NewSession>,
) -> Result<(StatusCode, Json<wire::Session>), ApiError> {
    access::everything(&asking.principal, Right::Write)?;
    let key = new.key.take();
    let asker = asking.asker("create session", &new, key)?;
    let reach = if new.confirm { Reach::Confirmed } else { Reach::Careful };
    let (work, name) = (new.meta_context.as_deref(), new.name.unwrap_or_default());
    let created = app.engine.create_session_in(work, &new.agent, &new.cwd, name, reach, asker).await?;
    // As of its beginning, so that a repeat of the request is answered with the same words.
    let session = app.engine.session_as_of(created.session, created.entries).await?;
    Ok((StatusCode::CREATED, Json(convert::whole_session(&app.engine, &session).await?)))
}

/// One session.
#[utoipa::path(
    get,
    path = "/sessions/{id}", operation_id = "showSession",
    params(("id" = String, Path)),
    responses((status = 200, body = wire::Session))
)]
pub(crate) async fn show(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    _: NoParams,
) -> Result<Json<wire::Session>, ApiError> {
    access::session(&principal, Right::Read, id)?;
    let session = app.engine.session(id).await?;
    Ok(Json(convert::whole_session(&app.engine, &session).await?))
}

/// Renames, pins, archives or tags a session, notes its environment, or changes what is marked.
#[utoipa::path(
    patch,
    path = "/sessions/{id}", operation_id = "changeSession",
    params(("id" = String, Path), wire::KeyHeader),
    request_body = wire::SessionPatch,
    responses(
        (status = 200, body = wire::Changed),
        (status = 409, description = "A set would hold too much, there would be too many tags, or the agent waits for an answer", body = wire::ErrorBody)
    )
)]
pub(crate) async fn change(
    State(app): State<App>,
    asking: Asking,
    Named(id): Named<SessionId>,
    _: NoParams,
    Body(mut patch): Body<wire::SessionPatch>,
) -> Result<Json<wire::Changed>, ApiError> {
    let renames = patch.name.is_some() || patch.pinned_title.is_some() || patch.env_hint.is_some();
    let filing = filing_wish(&patch)?;
    let right = if renames || filing != FilingWish::default() { Right::Write } else { Right::Mark };
    access::session(&asking.principal, right, id)?;
    let key = patch.key.take();
    let role = asking.principal.role;
    let asker = asking.asker(&format!("change session {id}"), &patch, key)?;
    let name = name_wish(patch.name, patch.pinned_title)?;
    let wish = context_wish(patch.context, patch.set_context)?;
    let by = match role {
        Role::Person => Marker::Person,
        Role::Agent => Marker::Agent,
        Role::Applet => Marker::Applet,
    };
    let sets = match (wish, by) {
        (context, Marker::Person) => {
            let change = ChangeSession { name, env_hint: patch.env_hint, context, filing };
            app.engine.submit(id, change, asker).await?
        }
        (Some(wish), by) => app.engine.submit(id, SetContext { wish, by }, asker).await?,
        (None, _) => return Err(ApiError::Forbidden),
    };
    Ok(Json(wire::Changed { success: true, sets }))
}

fn filing_wish(patch: &wire::SessionPatch) -> Result<FilingWish, ApiError> {
    let some = (!patch.add_tags.is_empty() || !patch.remove_tags.is_empty())
        .then(|| TagWish::Some { add: patch.add_tags.clone(), remove: patch.remove_tags.clone() });
    let tags = match (patch.tags.clone().map(TagWish::All), some) {
        (Some(_), Some(_)) => {
            return Err(ApiError::InvalidBody("send tags, or addTags and removeTags, not both".to_owned()));
        }
        (all, some) => all.or(some),
    };
    Ok(FilingWish { pinned: patch.pinned, archived: patch.archived, tags })
}

/// A name that the person gives is the pinned title: no title takes its place until it is taken away.
fn name_wish(name: Option<String>, pinned_title: Option<Option<String>>) -> Result<Option<String>, ApiError> {
    match (name, pinned_title) {
        (name, None) => Ok(name),
        (None, Some(pinned)) => Ok(Some(pinned.unwrap_or_default())),
        (Some(_), Some(_)) => Err(ApiError::InvalidBody("send name or pinnedTitle, not both".to_owned())),
    }
}

fn context_wish(
    all: Option<BTreeMap<String, Vec<String>>>,
    one: Option<wire::SetContext>,
) -> Result<Option<ContextWish>, ApiError> {
    match (all, one) {
        (None, None) => Ok(None),
        (Some(all), None) => Ok(Some(ContextWish::All(all))),
        (None, Some(wire::SetContext { set_name, items, mode })) => {
            Ok(Some(ContextWish::One { set: set_name, items, mode }))
        }
        (Some(_), Some(_)) => Err(ApiError::InvalidBody("send context or setContext, not both".to_owned())),
    }
}

/// Puts a session away; for seven days it can be restored, unless `now` purges it at once.
#[utoipa::path(
    delete,
    path = "/sessions/{id}", operation_id = "deleteSession",
    params(("id" = String, Path), wire::DeleteQuery, wire::KeyHeader),
    responses(
        (status = 204, description = "Gone from lists at once"),
        (status = 409, description = "A turn is running", body = wire::ErrorBody)
    )
)]
pub(crate) async fn delete(
    State(app): State<App>,
    asking: Asking,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::DeleteQuery>,
    OnlyKey(key): OnlyKey,
) -> Result<StatusCode, ApiError> {
    access::session(&asking.principal, Right::Manage, id)?;
    let asker = asking.asker(&format!("delete session {id}"), &query.now, key)?;
    if query.now {
        app.engine.purge(id, asker).await?;
    } else {
        app.engine.submit(id, Delete, asker).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Brings a deleted session back.
#[utoipa::path(
    post,
    path = "/sessions/{id}/restore", operation_id = "restoreSession",
    params(("id" = String, Path), wire::KeyHeader),
    responses((status = 200, body = Success))
)]
pub(crate) async fn restore(
    State(app): State<App>,
    asking: Asking,
    Named(id): Named<SessionId>,
    _: NoParams,
    OnlyKey(key): OnlyKey,
) -> Result<Json<Success>, ApiError> {
    access::session(&asking.principal, Right::Manage, id)?;
    let asker = asking.asker(&format!("restore session {id}"), &(), key)?;
    app.engine.submit(id, Restore, asker).await?;
    Ok(Json(Success::YES))
}

/// Deleted sessions that can be brought back, the one that was deleted last first.
#[utoipa::path(
    get,
    path = "/deleted-sessions", operation_id = "listDeletedSessions",
    params(wire::PageQuery),
    responses((status = 200, body = wire::DeletedPage))
)]
pub(crate) async fn deleted(
    State(app): State<App>,
    principal: Principal,
    Params(query): Params<wire::PageQuery>,
) -> Result<Json<wire::DeletedPage>, ApiError> {
    // Whoever may bring them back: to all others they are gone.
    access::everything(&principal, Right::Manage)?;
    let limit = page_limit(query.limit)?;
    let after = query.after.map(|text| text.parse::<DeletedKey>()).transpose().map_err(|_| ApiError::InvalidCursor)?;
    let rows = app.engine.deleted_sessions(after, limit as usize + 1).await?;
    Ok(Json(convert::deleted_page(rows, limit as usize)))
}

/// Stops the running turn, or takes back the prompt that the session was begun with while it waits for its agent. What else
/// waits goes on.
#[utoipa::path(
    post,
    path = "/sessions/{id}/cancel", operation_id = "cancelTurn",
    params(("id" = String, Path), wire::KeyHeader),
    responses(
        (status = 202, description = "The turn's end, or that the prompt was removed, is an entry", body = Success),
        (status = 409, description = "There is nothing to stop", body = wire::ErrorBody)
    )
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    asking: Asking,
    Named(id): Named<SessionId>,
    _: NoParams,
    OnlyKey(key): OnlyKey,
) -> Result<(StatusCode, Json<Success>), ApiError> {
    access::session(&asking.principal, Right::Write, id)?;
    let asker = asking.asker(&format!("cancel {id}"), &(), key)?;
    app.engine.submit(id, Cancel, asker).await?;
    Ok((StatusCode::ACCEPTED, Json(Success::YES)))
}

/// Notes that the person has seen where the session stands.
#[utoipa::path(
    post,
    path = "/sessions/{id}/observe", operation_id = "observeSession",
    params(("id" = String, Path), wire::KeyHeader),
    responses((status = 200, body = wire::Observed))
)]
pub(crate) async fn observe(
    State(app): State<App>,
    asking: Asking,
    Named(id): Named<SessionId>,
    _: NoParams,
    OnlyKey(key): OnlyKey,
) -> Result<Json<wire::Observed>, ApiError> {
    access::session(&asking.principal, Right::Write, id)?;
    let asker = asking.asker(&format!("observe {id}"), &(), key)?;
    observed(&app, id, asker).await.map(Json)
}

pub(crate) async fn observed(app: &App, id: SessionId, asker: Asker) -> Result<wire::Observed, ApiError> {
    let Observed { was_unobserved, unobserved_count } = app.engine.submit(id, Observe, asker).await?;
    Ok(wire::Observed { success: true, was_unobserved, unobserved_count })
}
