//! What agents showed: listed, read as bytes, as JSON and by lines, and removed.
//!
//! Invariant: whatever an output holds, it is data to a browser that opens its address: it is not sniffed, has no origin and runs
//! nothing, and all but plain text and bitmaps is a download. An output is found by its session and its id.

use axum::Json;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use doors::{Principal, Right};
use engine::{OutputError, OutputPruning, PruneMode, RemovedOutputs, TextWish};
use futures_util::{StreamExt as _, stream};
use model::{OutputId, OutputRow, Seq, SessionId};

use crate::error::ApiError;
use crate::extract::{Asking, Body, Named, NoParams, OnlyKey, Params, Unrepeatable};
use crate::{App, access, who, wire};

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 200;
const DEFAULT_LINES: u32 = 1_000;
const MAX_LINES: u32 = 5_000;
const MAX_GREP_CHARS: usize = 1_000;
/// A hundred years.
const MAX_DAYS: u32 = 36_500;
/// Longest name that a file is saved under.
const MAX_NAME_CHARS: usize = 150;
/// How much is read at a time.
const PIECE_BYTES: usize = 256 << 10;
/// How much fits into one JSON answer.
const MAX_JSON_BYTES: u64 = 16 << 20;
const AS_DATA: (HeaderName, &str) =
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox; frame-ancestors 'self'");

/// What the session's agent showed.
#[utoipa::path(
    get,
    path = "/sessions/{id}/outputs", operation_id = "listOutputs",
    params(("id" = String, Path), wire::PageQuery),
    responses((status = 200, body = wire::OutputPage))
)]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<SessionId>,
    Params(query): Params<wire::PageQuery>,
) -> Result<Json<wire::OutputPage>, ApiError> {
    access::session(&principal, Right::Read, id)?;
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(ApiError::InvalidQuery(format!("limit is 1 to {MAX_LIMIT}")));
    }
    let after =
        query.after.map_or(Ok(Seq::START), |text| text.parse().map(Seq).map_err(|_| ApiError::InvalidCursor))?;
    let rows = app.engine.outputs(id, after, limit as usize).await?;
    let next_cursor = rows.last().filter(|_| rows.len() == limit as usize).map(|last| last.stored_seq.to_string());
    let outputs = rows.into_iter().map(|row| wire::ListedOutput {
        turn: row.turn,
        created_at: row.stored_at,
        output: row.output,
    });
    Ok(Json(wire::OutputPage { outputs: outputs.collect(), next_cursor }))
}

/// An output's bytes, or a range of them; with `format=json` an object with them.
#[utoipa::path(
    get,
    path = "/sessions/{id}/outputs/{output}", operation_id = "getOutput",
    params(("id" = String, Path), ("output" = String, Path), wire::OutputQuery),
    responses(
        (status = 200, description = "The bytes as they were shown; with `format=json` an OutputBody", body = wire::OutputBody),
        (status = 206, description = "The range of bytes that was asked for"),
        (status = 404, description = "No such session, or no such output in it", body = wire::ErrorBody),
        (status = 410, description = "Its file was moved or removed", body = wire::ErrorBody),
        (status = 416, description = "No such range", body = wire::ErrorBody)
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    principal: Principal,
    Named((session, output)): Named<(SessionId, OutputId)>,
    Params(query): Params<wire::OutputQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    access::session(&principal, Right::Read, session)?;
    let row = app.engine.output(session, output).await?;
    answer(app, principal.id, row, query, &headers).await
}

/// Whether an output's bytes are still those that were shown. All of them are read for it.
#[utoipa::path(
    get,
    path = "/sessions/{id}/outputs/{output}/state", operation_id = "getOutputState",
    params(("id" = String, Path), ("output" = String, Path)),
    responses(
        (status = 200, body = wire::OutputStateNow),
        (status = 404, description = "No such session, or no such output in it", body = wire::ErrorBody)
    )
)]
pub(crate) async fn state(
    State(app): State<App>,
    principal: Principal,
    Named((session, output)): Named<(SessionId, OutputId)>,
    _: NoParams,
) -> Result<Json<wire::OutputStateNow>, ApiError> {
    access::session(&principal, Right::Read, session)?;
    let row = app.engine.output(session, output).await?;
    let now = match state_now(&app, &row).await? {
        wire::OutputState::Changed => changed_state(app.engine.output_lines(&row).await)?,
        state @ (wire::OutputState::Kept | wire::OutputState::Gone) => wire::OutputStateNow { state, lines: None },
    };
    Ok(Json(now))
}

/// The state of an output that was found edited, with its lines, which were counted after that.
fn changed_state(counted: Result<Option<u64>, OutputError>) -> Result<wire::OutputStateNow, OutputError> {
    match counted {
        Ok(lines) => Ok(wire::OutputStateNow { state: wire::OutputState::Changed, lines }),
        // Its file was removed in between.
        Err(OutputError::Gone(_)) => Ok(wire::OutputStateNow { state: wire::OutputState::Gone, lines: None }),
        Err(err) => Err(err),
    }
}

/// Removes an output: its bytes go, its card stays and says so.
#[utoipa::path(
    delete,
    path = "/sessions/{id}/outputs/{output}", operation_id = "removeOutput",
    params(("id" = String, Path), ("output" = String, Path), wire::KeyHeader),
    responses(
        (status = 204, description = "It is removed"),
        (status = 404, description = "No such session, or no such output in it", body = wire::ErrorBody)
    )
)]
pub(crate) async fn remove(
    State(app): State<App>,
    asking: Asking,
    Named((session, output)): Named<(SessionId, OutputId)>,
    _: NoParams,
    OnlyKey(key): OnlyKey,
) -> Result<StatusCode, ApiError> {
    access::session(&asking.principal, Right::Manage, session)?;
    let by = who::answerer(&app, &asking.principal);
    let asker = asking.asker(&format!("remove output {output} of {session}"), &(), key)?;
    app.engine.remove_output(session, output, by, asker).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes outputs of all sessions that are older than so many days; with `dryRun` says what that would be.
#[utoipa::path(
    post,
    path = "/outputs/prune", operation_id = "pruneOutputs",
    request_body = wire::OutputPrune,
    responses((status = 200, body = wire::PrunedOutputs))
)]
pub(crate) async fn prune(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
    _: Unrepeatable,
    Body(wish): Body<wire::OutputPrune>,
) -> Result<Json<wire::PrunedOutputs>, ApiError> {
    access::everything(&principal, Right::Manage)?;
    let wire::OutputPrune { older_than_days, dry_run } = wish;
    if older_than_days > MAX_DAYS {
        return Err(ApiError::InvalidBody(format!("olderThanDays is 0 to {MAX_DAYS}")));
    }
    let mode = if dry_run { PruneMode::Count } else { PruneMode::Remove };
    let by = who::answerer(&app, &principal);
    let removed = app.engine.prune_outputs(OutputPruning { older_than_days, mode, by }).await?;
    let RemovedOutputs { outputs, bytes, sessions } = removed;
    Ok(Json(wire::PrunedOutputs { outputs, bytes, sessions, dry_run }))
}

/// The same, of whichever session the caller may read.
#[utoipa::path(
    get,
    path = "/outputs/{output}", operation_id = "findOutput",
    params(("output" = String, Path), wire::OutputQuery),
    responses(
        (status = 200, description = "The bytes as they were shown; with `format=json` an OutputBody", body = wire::OutputBody),
        (status = 206, description = "The range of bytes that was asked for"),
        (status = 404, description = "No output of this id", body = wire::ErrorBody),
        (status = 410, description = "Its file was moved or removed", body = wire::ErrorBody),
        (status = 416, description = "No such range", body = wire::ErrorBody)
    )
)]
pub(crate) async fn find(
    State(app): State<App>,
    principal: Principal,
    Named(output): Named<OutputId>,
    Params(query): Params<wire::OutputQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let row = row_of(&app, &principal, output).await?;
    answer(app, principal.id, row, query, &headers).await
}

/// The output of this id in a session that the caller may read; to all others there is none.
async fn row_of(app: &App, principal: &Principal, output: OutputId) -> Result<OutputRow, ApiError> {
    for session in app.engine.sessions_with_output(output).await? {
        if access::session(principal, Right::Read, session).is_err() {
            continue;
        }
        match app.engine.output(session, output).await {
            Ok(row) => return Ok(row),
            // Deleted meanwhile.
            Err(OutputError::NotFound(_) | OutputError::Query(engine::QueryError::NotFound(_))) => (),
            Err(err) => return Err(err.into()),
        }
    }
    Err(ApiError::OutputNotFound)
}

/// Lines of an output that is text, by their numbers or by a text in them.
#[utoipa::path(
    get,
    path = "/sessions/{id}/outputs/{output}/lines", operation_id = "getOutputLines",
    params(("id" = String, Path), ("output" = String, Path), wire::OutputLinesQuery),
    responses(
        (status = 200, body = wire::OutputLines),
        (status = 404, description = "No such session, or no such output in it", body = wire::ErrorBody),
        (status = 410, description = "Its file was moved or removed", body = wire::ErrorBody),
        (status = 415, description = "It is no text", body = wire::ErrorBody)
    )
)]
pub(crate) async fn lines(
    State(app): State<App>,
    principal: Principal,
    Named((session, output)): Named<(SessionId, OutputId)>,
    Params(query): Params<wire::OutputLinesQuery>,
) -> Result<Json<wire::OutputLines>, ApiError> {
    access::session(&principal, Right::Read, session)?;
    lines_of(&app, session, output, query).await
}

/// The same, of whichever session the caller may read.
#[utoipa::path(
    get,
    path = "/outputs/{output}/lines", operation_id = "findOutputLines",
    params(("output" = String, Path), wire::OutputLinesQuery),
    responses(
        (status = 200, body = wire::OutputLines),
        (status = 404, description = "No output of this id", body = wire::ErrorBody),
        (status = 410, description = "Its file was moved or removed", body = wire::ErrorBody),
        (status = 415, description = "It is no text", body = wire::ErrorBody)
    )
)]
pub(crate) async fn find_lines(
    State(app): State<App>,
    principal: Principal,
    Named(output): Named<OutputId>,
    Params(query): Params<wire::OutputLinesQuery>,
) -> Result<Json<wire::OutputLines>, ApiError> {
    let row = row_of(&app, &principal, output).await?;
    lines_of(&app, row.session, output, query).await
}

async fn lines_of(
    app: &App,
    session: SessionId,
    output: OutputId,
    query: wire::OutputLinesQuery,
) -> Result<Json<wire::OutputLines>, ApiError> {
    let wire::OutputLinesQuery { first, last, grep, limit } = query;
    let limit = limit.unwrap_or(DEFAULT_LINES);
    if !(1..=MAX_LINES).contains(&limit) {
        return Err(ApiError::InvalidQuery(format!("limit is 1 to {MAX_LINES}")));
    }
    if first == Some(0) || last == Some(0) {
        return Err(ApiError::InvalidQuery("lines are numbered from 1".to_owned()));
    }
    if grep.as_ref().is_some_and(|text| !(1..=MAX_GREP_CHARS).contains(&text.chars().count())) {
        return Err(ApiError::InvalidQuery(format!("grep has 1 to {MAX_GREP_CHARS} characters")));
    }
    let wish = TextWish { first, last, grep, limit: limit as usize };
    let found = app.engine.output_text(session, output, wish).await?;
    let lines =
        found.lines.into_iter().map(|line| wire::OutputLine { number: line.number, text: line.text, cut: line.cut });
    Ok(Json(wire::OutputLines { lines: lines.collect(), next: found.next }))
}

async fn answer(
    app: App,
    holder: String,
    row: OutputRow,
    query: wire::OutputQuery,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    match query.format {
        Some(wire::OutputFormat::Json) => as_json(&app, row).await,
        None => as_bytes(app, holder, row, headers).await,
    }
}

async fn as_json(app: &App, row: OutputRow) -> Result<Response, ApiError> {
    let state = state_now(app, &row).await?;
    let bytes = match state {
        wire::OutputState::Gone => None,
        wire::OutputState::Kept | wire::OutputState::Changed => {
            let most = usize::try_from(MAX_JSON_BYTES + 1).unwrap_or(usize::MAX);
            let bytes = app.engine.read_output(&row, 0, most).await?;
            if bytes.len() as u64 > MAX_JSON_BYTES {
                return Err(ApiError::OutputTooLargeForJson { max: MAX_JSON_BYTES });
            }
            Some(bytes)
        }
    };
    let (data, encoding) = match bytes.map(String::from_utf8) {
        None => (None, wire::FileEncoding::Utf8),
        Some(Ok(text)) => (Some(text), wire::FileEncoding::Utf8),
        Some(Err(err)) => (Some(BASE64_STANDARD.encode(err.as_bytes())), wire::FileEncoding::Base64),
    };
    let body = wire::OutputBody { id: row.id, data, encoding, state, created_at: row.stored_at, metadata: row.output };
    Ok(([AS_DATA], Json(body)).into_response())
}

async fn state_now(app: &App, row: &OutputRow) -> Result<wire::OutputState, ApiError> {
    Ok(match app.engine.output_state(row).await? {
        engine::OutputState::Kept => wire::OutputState::Kept,
        engine::OutputState::Changed => wire::OutputState::Changed,
        engine::OutputState::Gone => wire::OutputState::Gone,
    })
}

/// The bytes as they were shown, or the range of them that was asked for.
pub(crate) async fn as_bytes(
    app: App,
    holder: String,
    row: OutputRow,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let about = Sent {
        holder,
        mime_type: row.output.mime_type.clone(),
        file_name: row.output.file_name(),
        own_name: own_name(&row),
        bytes: row.bytes,
    };
    let engine = app.engine.clone();
    let read = move |from, most| {
        let (engine, row) = (engine.clone(), row.clone());
        async move { Ok(engine.read_output(&row, from, most).await?.into()) }
    };
    send(app, about, headers, read).await
}

/// What is known of bytes that are sent.
pub(super) struct Sent {
    /// Whose credential they are sent for, by the principal's id.
    pub(super) holder: String,
    pub(super) mime_type: String,
    pub(super) file_name: String,
    /// The parameter of a header that names it as the person knows it, or nothing.
    pub(super) own_name: String,
    pub(super) bytes: u64,
}

/// Sends bytes, or the range of them that is asked for, so that a browser takes them for nothing but data. `read` gives at most so many
/// from an offset on.
pub(super) async fn send<F>(
    app: App,
    about: Sent,
    headers: &HeaderMap,
    read: impl Fn(u64, usize) -> F + Send + Sync + 'static,
) -> Result<Response, ApiError>
where
    F: Future<Output = Result<Bytes, ApiError>> + Send,
{
    let Sent { holder, mime_type, file_name, own_name, bytes: length } = about;
    let range = headers.get(header::RANGE).map(|range| byte_range(range, length));
    let (from, to) = match range {
        None | Some(Range::Ignored) => (0, length),
        Some(Range::Bytes(from, to)) => (from, to),
        Some(Range::Outside) => return Err(ApiError::NoSuchRange { bytes: length }),
    };
    // Read before the answer begins, so that what is gone is a refusal.
    let first = read(from, piece_of(from, to)).await?;
    let is_part = (from, to) != (0, length);
    let mut response = Response::new(HttpBody::empty());
    let answered = response.headers_mut();
    let how = if is_shown_inline(&mime_type) { "inline" } else { "attachment" };
    let disposition = format!("{how}; filename=\"{file_name}\"{own_name}");
    let text = |text: &str| HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    answered.insert(header::CONTENT_TYPE, text(&mime_type));
    answered.insert(header::CONTENT_DISPOSITION, text(&disposition));
    answered.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    answered.insert(AS_DATA.0, HeaderValue::from_static(AS_DATA.1));
    if is_part {
        answered.insert(header::CONTENT_RANGE, text(&format!("bytes {from}-{}/{length}", to - 1)));
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    let next = from + first.len() as u64;
    let rest = stream::try_unfold((read, next), move |(read, at)| {
        // A slow reader may outlive its credential.
        let is_in_force = app.settings.gatekeeper.is_holder_in_force(&holder);
        async move {
            match (at >= to, is_in_force) {
                (true, _) => return Ok(None),
                (false, false) => return Err(ApiError::SessionNotFound),
                (false, true) => (),
            }
            let piece = read(at, piece_of(at, to)).await?;
            let next = at + piece.len() as u64;
            // Somebody cut the file meanwhile: what came is all there is.
            Ok((!piece.is_empty()).then_some((piece, (read, next))))
        }
    });
    *response.body_mut() = HttpBody::from_stream(stream::once(async move { Ok(first) }).chain(rest));
    Ok(response)
}

fn piece_of(from: u64, to: u64) -> usize {
    usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX).min(PIECE_BYTES)
}

/// The name of the file that was shown, for whoever saves it. Of a text that was given it holds nothing but what a header may.
fn own_name(row: &OutputRow) -> String {
    let path = row.output.about.path.as_deref().unwrap_or_default();
    let name = model::one_line(path.rsplit('/').next().unwrap_or_default(), MAX_NAME_CHARS);
    if name.is_empty() {
        return String::new();
    }
    let mut encoded = String::from("; filename*=UTF-8''");
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// What a browser may show by itself: it runs nothing and refers to nothing.
fn is_shown_inline(mime_type: &str) -> bool {
    matches!(mime_type.split(';').next(), Some("text/plain" | "image/png" | "image/jpeg" | "image/gif" | "image/webp"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Range {
    /// From a byte to before another.
    Bytes(u64, u64),
    /// Several, or another unit: then everything is sent.
    Ignored,
    Outside,
}

fn byte_range(header: &HeaderValue, length: u64) -> Range {
    let Some(spec) = header.to_str().ok().and_then(|text| text.strip_prefix("bytes=")) else { return Range::Ignored };
    let Some((from, to)) = spec.split_once('-').filter(|_| !spec.contains(',')) else { return Range::Ignored };
    match (from.parse::<u64>().ok(), to.parse::<u64>().ok()) {
        (Some(from), last) if last.is_some() || to.is_empty() => {
            let end = last.map_or(length, |last| last.saturating_add(1).min(length));
            if from < end { Range::Bytes(from, end) } else { Range::Outside }
        }
        (None, Some(suffix)) if from.is_empty() => match length.saturating_sub(suffix) {
            start if start < length => Range::Bytes(start, length),
            _ => Range::Outside,
        },
        _ => Range::Ignored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_file_that_is_removed_before_its_lines_are_counted_is_gone() {
        let gone = OutputError::Gone(OutputId::from_bytes([0; 16]));
        let now = changed_state(Err(gone)).unwrap();
        assert_eq!(now, wire::OutputStateNow { state: wire::OutputState::Gone, lines: None });
        assert!(matches!(changed_state(Err(OutputError::NotText)), Err(OutputError::NotText)));
    }

    #[test]
    fn ranges_are_read_as_browsers_write_them() {
        for (header, expected) in [
            ("bytes=0-", Range::Bytes(0, 10)),
            ("bytes=3-5", Range::Bytes(3, 6)),
            ("bytes=3-500", Range::Bytes(3, 10)),
            ("bytes=-4", Range::Bytes(6, 10)),
            ("bytes=-40", Range::Bytes(0, 10)),
            ("bytes=-0", Range::Outside),
            ("bytes=10-", Range::Outside),
            ("bytes=5-3", Range::Outside),
            ("bytes=0-1,3-4", Range::Ignored),
            ("bytes=a-b", Range::Ignored),
            ("bytes=", Range::Ignored),
            ("lines=1-2", Range::Ignored),
            ("bytes=0-18446744073709551615", Range::Bytes(0, 10)),
        ] {
            assert_eq!(byte_range(&HeaderValue::from_static(header), 10), expected, "{header}");
        }
        assert_eq!(byte_range(&HeaderValue::from_static("bytes=0-"), 0), Range::Outside);
    }
}
