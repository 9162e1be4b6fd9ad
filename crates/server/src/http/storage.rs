//! Files: read, listed, and written where they are kept for all sessions, or where an applet may write.
//!
//! Invariant: whatever is in a file, the answer is data to a browser that opens its address: it is JSON, is not sniffed,
//! and has no origin.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use doors::{Principal, Right};
use engine::{Amount, AskingApplet, ContentHash, DirectoryItem, FileContent, FileKind, ListedDirectory, Outside};
use model::SessionId;

use crate::error::ApiError;
use crate::extract::{AppletWord, Body, Params, Unrepeatable};
use crate::http::applets;
use crate::{App, access, conditions, wire};

/// How many items a page of a directory has.
const MAX_ITEMS: usize = 1_000;
/// No name of a file is longer on any system.
const MAX_NAME_BYTES: usize = 1_024;

const AS_DATA: [(HeaderName, &str); 1] = [(header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox")];

/// An answer with a file, or about one.
type Data<T> = ([(HeaderName, &'static str); 1], Option<[(HeaderName, String); 1]>, Json<T>);

/// A file of a session, or of any, or in `files/` or `applets/`; for the person also one that they marked or that a
/// result touched. An agent reads what is its own session's.
#[utoipa::path(
    get,
    path = "/storage/file", operation_id = "readFile",
    params(wire::StoredFileQuery),
    responses(
        (status = 200, body = wire::StoredFile, headers(
            ("ETag" = String, description = "The content's tag, for `If-Match`; absent where the content is cut")
        )),
        (status = 400, description = "No plain file is meant", body = wire::ErrorBody),
        (status = 403, description = "Outside or protected, whether or not it is there", body = wire::ErrorBody),
        (status = 409, description = "Outside of the session's directories: ask with `confirm`", body = wire::ErrorBody),
        (status = 413, description = "The whole file is too long to be read", body = wire::ErrorBody)
    )
)]
pub(crate) async fn file(
    State(app): State<App>,
    principal: Principal,
    query: Result<Params<wire::StoredFileQuery>, ApiError>,
) -> Result<Data<wire::StoredFile>, ApiError> {
    check_reach(&principal, query.as_ref().ok().and_then(|Params(query)| query.session))?;
    let Params(wire::StoredFileQuery { session, path, confirm, whole, applet, hash }) = query?;
    let outside = match (principal.may(Right::Write), confirm) {
        (false, _) => Outside::Never,
        (true, false) => Outside::Ask,
        (true, true) => Outside::Confirmed,
    };
    let amount = if whole { Amount::Whole } else { Amount::Beginning };
    let shown = match (asking(applet, hash, session)?, session) {
        (Some(applet), _) => app.engine.read_for_applet(&applet, path.clone(), amount).await?,
        (None, Some(session)) => app.engine.show_file(session, path.clone(), amount, outside).await?,
        (None, None) => app.engine.show_any_file(path.clone(), amount, outside).await?,
    };
    let engine::ShownFile { content, bytes, cut, outside, hash } = shown;
    let (content, encoding) = match content {
        FileContent::Text(text) => (text, wire::FileEncoding::Utf8),
        FileContent::Bytes(bytes) => (BASE64_STANDARD.encode(bytes), wire::FileEncoding::Base64),
    };
    Ok((AS_DATA, etag(hash), Json(wire::StoredFile { path, content, encoding, bytes, cut, outside })))
}

/// Writes a file in `files/` or `applets/` of the data folder, whole, with the directories on the way to it; for an applet that the
/// person allowed it, in the session's directories. For the person only. It takes no key: `If-Match` and `If-None-Match: *` say what the write expects, and it is refused if
/// something else is there.
#[utoipa::path(
    post,
    path = "/storage/file", operation_id = "writeFile",
    params(
        wire::FileWriteQuery,
        ("If-Match" = Option<String>, Header, description = "Tags of the contents that may be replaced, or `*` for any file"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: only if there is no file yet")
    ),
    request_body = wire::NewFileContent,
    responses(
        (status = 200, description = "Replaced, and flushed to disk", body = wire::WrittenFile, headers(
            ("ETag" = String, description = "The new content's tag")
        )),
        (status = 201, description = "Made, and flushed to disk", body = wire::WrittenFile, headers(
            ("ETag" = String, description = "The new content's tag")
        )),
        (status = 400, description = "No plain file is meant, or the request is not what this route takes", body = wire::ErrorBody),
        (status = 403, description = "Not to be written, whether or not it is there", body = wire::ErrorBody),
        (status = 412, description = "What is there is not what the condition says; nothing was changed", body = wire::ErrorBody),
        (status = 413, description = "The content or the body is too long", body = wire::ErrorBody)
    )
)]
pub(crate) async fn write(
    State(app): State<App>,
    principal: Principal,
    key: Result<Unrepeatable, ApiError>,
    headers: HeaderMap,
    query: Result<Params<wire::FileWriteQuery>, ApiError>,
    body: Result<Body<wire::NewFileContent>, ApiError>,
) -> Result<(StatusCode, Data<wire::WrittenFile>), ApiError> {
    access::everything(&principal, Right::Write)?;
    let Unrepeatable = key?;
    let (
        Params(wire::FileWriteQuery { path, session, applet, hash }),
        Body(wire::NewFileContent { content, encoding }),
    ) = (query?, body?);
    let expected = conditions::expected(&headers)?;
    let content = match encoding {
        wire::FileEncoding::Utf8 => content.into_bytes(),
        wire::FileEncoding::Base64 => BASE64_STANDARD
            .decode(content)
            .map_err(|err| ApiError::InvalidBody(format!("content is no base64: {err}")))?,
    };
    let stored = match asking(applet, hash, session)? {
        Some(applet) => app.engine.write_for_applet(&applet, path.clone(), content, expected).await?,
        None if session.is_some() => {
            return Err(ApiError::InvalidQuery("session goes with applet and hash".to_owned()));
        }
        None => app.engine.store_file(path.clone(), content, expected).await?,
    };
    let status = if stored.is_new { StatusCode::CREATED } else { StatusCode::OK };
    let written = wire::WrittenFile { path, bytes: stored.bytes, created: stored.is_new };
    Ok((status, (AS_DATA, etag(Some(stored.hash)), Json(written))))
}

/// A page of a directory of a session, or of any, or of `files/` or `applets/`. An agent lists what is its own session's.
#[utoipa::path(
    get,
    path = "/storage/list", operation_id = "listDirectory",
    params(wire::DirectoryListQuery),
    responses(
        (status = 200, body = wire::DirectoryListing),
        (status = 403, description = "Outside or protected, whether or not it is there", body = wire::ErrorBody),
        (status = 404, description = "No such session, or no directory", body = wire::ErrorBody),
        (status = 413, description = "The directory has too many names", body = wire::ErrorBody)
    )
)]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    query: Result<Params<wire::DirectoryListQuery>, ApiError>,
) -> Result<Data<wire::DirectoryListing>, ApiError> {
    check_reach(&principal, query.as_ref().ok().and_then(|Params(query)| query.session))?;
    let Params(wire::DirectoryListQuery { session, path, after, limit, applet, hash }) = query?;
    let limit = limit.unwrap_or(MAX_ITEMS);
    if !(1..=MAX_ITEMS).contains(&limit) {
        return Err(ApiError::InvalidQuery(format!("limit is 1 to {MAX_ITEMS}")));
    }
    let after = after.map(|cursor| name_in(&cursor)).transpose()?;
    let ListedDirectory { path, page } = match asking(applet, hash, session)? {
        Some(applet) => app.engine.list_for_applet(&applet, path, after, limit).await?,
        None => app.engine.list_directory(session, path, after, limit).await?,
    };
    let files = page.items.into_iter().map(listed).collect();
    let next_cursor = page.next.as_deref().map(cursor);
    Ok((AS_DATA, None, Json(wire::DirectoryListing { path, files, next_cursor })))
}

/// The applet that asks, if one does.
fn asking(
    applet: Option<String>,
    hash: Option<String>,
    session: Option<SessionId>,
) -> Result<Option<AskingApplet>, ApiError> {
    match (applet, hash, session) {
        (None, None, _) => Ok(None),
        (Some(word), Some(hash), Some(session)) => {
            let name = applets::name(AppletWord(word), Some(session))?;
            Ok(Some(AskingApplet { name, hash, session }))
        }
        _ => Err(ApiError::InvalidQuery("applet, hash and session go together".to_owned())),
    }
}

/// An agent names its own session; whoever names none reaches all of them, or is refused whatever they ask for.
fn check_reach(principal: &Principal, session: Option<SessionId>) -> Result<(), ApiError> {
    match session {
        Some(id) => access::session(principal, Right::Read, id),
        None => access::everything(principal, Right::Write),
    }
}

fn etag(hash: Option<ContentHash>) -> Option<[(HeaderName, String); 1]> {
    hash.map(|hash| [(header::ETAG, conditions::tag(&hash))])
}

fn listed(item: DirectoryItem) -> wire::ListedFile {
    let kind = match item.kind {
        FileKind::File => wire::ListedKind::File,
        FileKind::Directory => wire::ListedKind::Directory,
        FileKind::Link => wire::ListedKind::Link,
        FileKind::Other => wire::ListedKind::Other,
    };
    wire::ListedFile { name: item.name, kind, size: item.bytes }
}

/// A name is not always text, so its bytes are in the cursor.
fn cursor(name: &OsStr) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(name.as_bytes())
}

fn name_in(cursor: &str) -> Result<OsString, ApiError> {
    let name = BASE64_URL_SAFE_NO_PAD.decode(cursor).map_err(|_| ApiError::InvalidCursor)?;
    let is_name = (1..=MAX_NAME_BYTES).contains(&name.len()) && !name.contains(&b'/') && !name.contains(&0);
    if is_name { Ok(OsString::from_vec(name)) } else { Err(ApiError::InvalidCursor) }
}
