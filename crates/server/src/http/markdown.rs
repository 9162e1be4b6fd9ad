//! A session as Markdown, to copy or to keep.
//!
//! Invariant: no more than a page of entries and the turn that they belong to is held. A failure on the way breaks the
//! transfer off, so that a part is not taken for the whole.

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use doors::{Principal, Right};
use futures_util::{StreamExt as _, stream};
use model::{Cursor, Entry, MarkdownWriter, SessionId, Turn};

use crate::error::ApiError;
use crate::extract::{Named, Params};
use crate::http::entries::turns_of;
use crate::{App, access, wire};

const PAGE_ENTRIES: usize = 200;

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
    let writing = Writing { app, principal, id, turns, after: None, writer: MarkdownWriter::default() };
    // Read before the answer begins, so that what can not be read at all is a refusal.
    let (text, rest) = writing.part().await?;
    let first = stream::once(async move { Ok(head + &text) });
    let rest = stream::try_unfold(rest, async |rest| match rest {
        Some(writing) => writing.part().await.map(Some),
        None => Ok(None),
    });
    let body = Body::from_stream(first.chain(rest));
    Ok(([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], body).into_response())
}

/// A text that is written a page of entries at a time.
struct Writing {
    app: App,
    principal: Principal,
    id: SessionId,
    turns: Option<(Turn, Turn)>,
    after: Option<Cursor>,
    writer: MarkdownWriter,
}

impl Writing {
    /// The next part of the text, and what writes the rest.
    async fn part(mut self) -> Result<(String, Option<Self>), ApiError> {
        // A slow reader may outlive its credential.
        if !self.app.settings.gatekeeper.is_in_force(&self.principal) {
            return Err(ApiError::SessionNotFound);
        }
        let (entries, next) = self.page().await?;
        // Comparing long texts takes a while.
        let writing = tokio::task::spawn_blocking(move || {
            let text = self.writer.apply(&entries);
            match next {
                Some(next) => (text, Some(Self { after: Some(next), ..self })),
                None => (text + &self.writer.end(), None),
            }
        });
        match writing.await {
            Ok(part) => Ok(part),
            Err(err) if err.is_panic() => std::panic::resume_unwind(err.into_panic()),
            // The runtime is going.
            Err(_) => Err(ApiError::SessionNotFound),
        }
    }

    /// A page of entries, and where the next one begins.
    async fn page(&self) -> Result<(Vec<Entry>, Option<Cursor>), ApiError> {
        let engine = &self.app.engine;
        let Some(turns) = self.turns else { return Ok(engine.entries(self.id, self.after, PAGE_ENTRIES).await?) };
        let (entries, more) = engine.entries_of_turns(self.id, turns, self.after, PAGE_ENTRIES).await?;
        let next = entries.last().filter(|_| more).map(|last| engine.cursor(last.seq));
        Ok((entries, next))
    }
}
