//! Files for the person to look at. Reading only.
//!
//! Invariant: whatever is in a file, the answer is data to a browser that opens its address: it is JSON, is not sniffed,
//! and has no origin.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, header};
use doors::{Principal, Right};
use engine::Outside;

use crate::error::ApiError;
use crate::extract::Params;
use crate::{App, access, wire};

const AS_DATA: [(HeaderName, &str); 1] = [(header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox")];

/// A file of a session, or of any, or in `files/`; or one that the person marked or a result touched. For persons only.
#[utoipa::path(
    get,
    path = "/storage/file", operation_id = "readFile",
    params(wire::StoredFileQuery),
    responses(
        (status = 200, body = wire::StoredFile),
        (status = 400, description = "No plain file is meant", body = wire::ErrorBody),
        (status = 403, description = "Outside or protected, whether or not it is there", body = wire::ErrorBody),
        (status = 409, description = "Outside of the session's directories: ask with `confirm`", body = wire::ErrorBody)
    )
)]
pub(crate) async fn file(
    State(app): State<App>,
    principal: Principal,
    query: Result<Params<wire::StoredFileQuery>, ApiError>,
) -> Result<([(HeaderName, &'static str); 1], Json<wire::StoredFile>), ApiError> {
    // Whoever may write everywhere is a person; others are refused whatever they ask for.
    access::everything(&principal, Right::Write)?;
    let Params(wire::StoredFileQuery { session, path, confirm }) = query?;
    let outside = if confirm { Outside::Confirmed } else { Outside::Ask };
    let shown = match session {
        Some(session) => app.engine.show_file(session, path.clone(), outside).await?,
        None => app.engine.show_any_file(path.clone(), outside).await?,
    };
    let engine::ShownFile { text, bytes, cut, outside } = shown;
    let encoding = if text.is_some() { wire::FileEncoding::Utf8 } else { wire::FileEncoding::Binary };
    Ok((AS_DATA, Json(wire::StoredFile { path, content: text, encoding, bytes, cut, outside })))
}
