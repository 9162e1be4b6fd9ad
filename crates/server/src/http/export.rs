//! A session to take along: as Markdown, as a web page, or as a bundle that another server takes in.
//!
//! Invariant: whatever it holds, a browser that opens this address downloads it and runs nothing of it.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use doors::{Principal, Right};
use engine::ExportKind;
use futures_util::stream;
use model::{HtmlWriter, MarkdownWriter, SessionId, SessionRow, Turn};
use sha2::{Digest as _, Sha256};

use crate::error::ApiError;
use crate::extract::{Named, Params};
use crate::http::written_session::{SessionWriter, WrittenSession};
use crate::{App, access, wire};

/// How many lines of contents are read at a time.
const CONTENTS_LINES: usize = 500;

/// Whatever it is, a browser keeps it as a file, named by its ending.
const AS_FILE: &str = "application/octet-stream";

/// A session as a file.
#[utoipa::path(
    get,
    path = "/sessions/{id}/export", operation_id = "exportSession",
    params(("id" = String, Path), wire::ExportQuery),
    responses(
        (status = 200, description = "The file, streamed", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 404, description = "No such session", body = wire::ErrorBody),
        (status = 409, description = "It has more than a bundle can have", body = wire::ErrorBody)
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::ExportQuery>,
) -> Result<Response, ApiError> {
    access::session(&principal, Right::Read, id)?;
    as_file(app, principal.id, id, kind_of(&query)).await
}

/// What a query asks a session to be exported as.
pub(crate) fn kind_of(query: &wire::ExportQuery) -> ExportKind {
    match query.kind {
        wire::ExportKind::Markdown => ExportKind::Markdown,
        wire::ExportKind::Html => ExportKind::Html,
        wire::ExportKind::Bundle => ExportKind::Bundle,
    }
}

/// A session as a file, which is sent for as long as the holder's credential is in force.
pub(crate) async fn as_file(app: App, holder: String, id: SessionId, kind: ExportKind) -> Result<Response, ApiError> {
    let row = app.engine.session(id).await?.row;
    let extension = match kind {
        ExportKind::Markdown => "md",
        ExportKind::Html => "html",
        ExportKind::Bundle => "tar",
    };
    let name = format!("{}-{}.{extension}", file_stem(&row), last_digits(id));
    let body = match kind {
        ExportKind::Markdown => {
            let writer = (MarkdownWriter::head(&row), SessionWriter::Markdown(MarkdownWriter::default()));
            WrittenSession::begin(app, holder, id, None, writer).await?
        }
        ExportKind::Html => {
            let writer = (html_head(&app, &row).await?, SessionWriter::Html(HtmlWriter::default()));
            WrittenSession::begin(app, holder, id, None, writer).await?
        }
        ExportKind::Bundle => bundle(app, holder, id).await?,
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(AS_FILE));
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    headers.insert(header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment")));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
    Ok(response)
}

/// The page's head with its contents.
async fn html_head(app: &App, row: &SessionRow) -> Result<String, ApiError> {
    static STYLE_HASH: LazyLock<String> =
        LazyLock::new(|| BASE64_STANDARD.encode(Sha256::digest(HtmlWriter::STYLE.as_bytes())));
    let mut head = HtmlWriter::head(row, &STYLE_HASH);
    let mut after = Turn(0);
    loop {
        let page = app.engine.contents(row.id, after, CONTENTS_LINES).await?;
        head += &HtmlWriter::contents(&page.turns);
        match page.turns.last() {
            Some(last) if page.more => after = last.turn,
            Some(_) | None => break,
        }
    }
    Ok(head + HtmlWriter::begin())
}

async fn bundle(app: App, holder: String, id: SessionId) -> Result<Body, ApiError> {
    let mut bundle = app.engine.bundle(id).await?;
    // Read before the answer begins, so that what can not be read at all is a refusal.
    let first = bundle.next().await?;
    let body = stream::try_unfold((first, bundle), move |(ready, mut bundle)| {
        let (app, holder) = (app.clone(), holder.clone());
        async move {
            // A slow reader may outlive its credential.
            if !app.settings.gatekeeper.is_holder_in_force(&holder) {
                return Err(ApiError::SessionNotFound);
            }
            let Some(piece) = ready else { return Ok(None) };
            let next = bundle.next().await?;
            Ok(Some((piece, (next, bundle))))
        }
    });
    Ok(Body::from_stream(body))
}

/// What the file is called: some words of the session's own name, in letters that every system takes.
fn file_stem(row: &SessionRow) -> String {
    let words = row.label().unwrap_or("session").to_lowercase();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut stem = String::new();
    for word in words.take(8) {
        if stem.len() + word.len() > 48 {
            break;
        }
        if !stem.is_empty() {
            stem.push('-');
        }
        stem += word;
    }
    if stem.is_empty() { "session".to_owned() } else { stem }
}

fn last_digits(id: SessionId) -> String {
    let id = id.to_string();
    id[id.len().saturating_sub(8)..].to_owned()
}
