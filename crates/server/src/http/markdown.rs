//! A session as Markdown, to copy or to keep.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use doors::{Principal, Right};
use model::{MarkdownWriter, SessionId};

use crate::error::ApiError;
use crate::extract::{Named, Params};
use crate::http::entries::turns_of;
use crate::http::written_session::{SessionWriter, WrittenSession};
use crate::{App, access, wire};

/// A session, or some of its turns, as Markdown.
#[utoipa::path(
    get,
    path = "/sessions/{id}/markdown", operation_id = "getMarkdown",
    params(("id" = String, Path), wire::MarkdownQuery),
    responses((status = 200, description = "The text", body = String, content_type = "text/markdown"))
)]
pub(crate) async fn show(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::MarkdownQuery>,
) -> Result<Response, ApiError> {
    access::session(&principal, Right::Read, id)?;
    let turns = turns_of(query.from_turn.as_deref(), query.to_turn.as_deref())?;
    let head = match turns {
        None => MarkdownWriter::head(&app.engine.session(id).await?.row),
        Some(_) => String::new(),
    };
    let writer = SessionWriter::Markdown(MarkdownWriter::default());
    let body = WrittenSession::begin(app, principal.id, id, turns, (head, writer)).await?;
    Ok(([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], body).into_response())
}
