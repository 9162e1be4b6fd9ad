//! Checks the body of a request to the mount before the protocol's library reads it, and answers every refusal with a
//! JSON-RPC error.
//!
//! Invariant: a caller that passed the doors gets each refusal of the mount as a JSON-RPC error with the id of its request,
//! if it has one. The library alone would answer some as plain text, and would call a broken body an unsupported type.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt as _, Limited};
use rmcp::model::ErrorCode;
use serde_json::{Value, json};

use crate::error::ApiError;

/// Longer words than these the library has for nothing.
const MAX_WORDS_BYTES: usize = 16 << 10;

/// Why a request is not carried out.
#[derive(Debug)]
pub(super) struct Refused {
    status: StatusCode,
    code: ErrorCode,
    message: String,
    data: Option<Box<Value>>,
    /// Of the request, if it can be read.
    id: Value,
}

impl Refused {
    fn invalid(message: &str, id: Value) -> Self {
        let code = ErrorCode::INVALID_REQUEST;
        Self { status: StatusCode::BAD_REQUEST, code, message: message.to_owned(), data: None, id }
    }

    pub(super) fn by(err: ApiError, id: Value) -> Self {
        let status = err.status();
        let code = match status.is_server_error() {
            true => ErrorCode::INTERNAL_ERROR,
            false => ErrorCode::INVALID_REQUEST,
        };
        let detail = err.into_detail();
        let data = Some(Box::new(json!({ "code": detail.code, "details": detail.details })));
        Self { status, code, message: detail.message, data, id }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut error = json!({ "code": self.code.0, "message": self.message });
        if let Some(data) = self.data {
            error["data"] = *data;
        }
        (self.status, Json(json!({ "jsonrpc": "2.0", "id": self.id, "error": error }))).into_response()
    }
}

/// The whole of what was posted; the doors bound it, and the mount bounds it more.
pub(super) async fn read(body: Body, most: usize) -> Result<Bytes, Refused> {
    let read = Limited::new(body, most).collect().await;
    read.map(http_body_util::Collected::to_bytes).map_err(|err| {
        let too_large = err.is::<http_body_util::LengthLimitError>();
        let (status, message) = match too_large {
            true => (StatusCode::PAYLOAD_TOO_LARGE, format!("a message has at most {most} bytes; send less")),
            false => (StatusCode::BAD_REQUEST, "the message did not arrive whole; send it again".to_owned()),
        };
        Refused { status, message, ..Refused::invalid("", Value::Null) }
    })
}

/// Whether it is one message of JSON-RPC; its id, if it has one.
pub(super) fn check(bytes: &[u8]) -> Result<Value, Refused> {
    let message: Value = serde_json::from_slice(bytes).map_err(|err| Refused {
        code: ErrorCode::PARSE_ERROR,
        ..Refused::invalid(&format!("the message is not JSON: {err}"), Value::Null)
    })?;
    let message = match message {
        Value::Object(message) => message,
        Value::Array(_) => {
            return Err(Refused::invalid("batches are not taken; send each message by itself", Value::Null));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(Refused::invalid("a message is an object", Value::Null));
        }
    };
    let id = match message.get("id") {
        None => Value::Null,
        Some(id @ Value::String(_)) => id.clone(),
        Some(id @ Value::Number(number)) if number.is_i64() || number.is_u64() => id.clone(),
        Some(_) => {
            return Err(Refused::invalid(
                "an id is a text or a whole number; leave it out to want no answer",
                Value::Null,
            ));
        }
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Refused::invalid("a message says \"jsonrpc\": \"2.0\"", id));
    }
    let answers = message.contains_key("result") || message.contains_key("error");
    let has_name = message.get("method").is_some_and(Value::is_string);
    let has_params = message.get("params").is_none_or(|params| params.is_object() || params.is_null());
    match (answers, has_name, has_params) {
        (false, true, true) => Ok(id),
        (true, false, _) if !id.is_null() => Ok(id),
        (false, true, false) => Err(Refused::invalid("params is an object", id)),
        (true, ..) | (false, false, _) => {
            Err(Refused::invalid("a request has a method; an answer has a result or an error, and an id", id))
        }
    }
}

/// What the library answers, in the protocol's words where it has plain ones.
pub(super) async fn in_protocol(response: Response, id: Value) -> Response {
    let status = response.status();
    let is_json = |value: &HeaderValue| value.as_bytes().starts_with(b"application/json");
    let refuses = status.is_client_error() || status.is_server_error();
    if !refuses || response.headers().get(header::CONTENT_TYPE).is_some_and(is_json) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let words = Limited::new(body, MAX_WORDS_BYTES).collect().await.map(http_body_util::Collected::to_bytes);
    let words = words.unwrap_or_default();
    // A body that is JSON, and yet not what the protocol has, is no matter of its type.
    let status = if status == StatusCode::UNSUPPORTED_MEDIA_TYPE { StatusCode::BAD_REQUEST } else { status };
    let code = if status.is_server_error() { ErrorCode::INTERNAL_ERROR } else { ErrorCode::INVALID_REQUEST };
    let message = String::from_utf8_lossy(&words).into_owned();
    let mut refusal = Refused { status, code, message, data: None, id }.into_response();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_TYPE);
    refusal.headers_mut().extend(parts.headers);
    refusal
}
