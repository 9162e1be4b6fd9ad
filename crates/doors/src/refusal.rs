//! Every refusal of a guard.
//!
//! Invariant: one variant has one stable code; the body is always `{"error":{"code","message","details"}}`; the
//! message says what to do and never repeats what the caller sent, so nothing secret or hostile is echoed.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("send exactly one Host header that names this server")]
    HostMissing,
    #[error("send one Host header, equal to the host of the request target")]
    HostAmbiguous,
    #[error("use localhost or 127.0.0.1 with the server's port, or add this name to server.hosts")]
    HostNotAllowed,
    #[error("ask for a path: this server is not a proxy")]
    TargetNotAllowed,
    #[error("call from the page of this server, or from a program without an Origin header")]
    OriginNotAllowed,
    #[error("an upgrade with a cookie needs the Origin header that browsers send")]
    OriginMissing,
    #[error("another site caused this request; open the server's own page instead")]
    CrossSite,
    #[error("this method is not offered; there is no cross-origin access")]
    MethodNotAllowed,
    #[error("show one credential: either a bearer token, or the cookie and its proof")]
    AmbiguousCredentials,
    #[error("send a valid bearer token, or sign in again with the link that the server prints")]
    Unauthenticated,
    #[error("the cookie came without its proof; sign in again with the link that the server prints")]
    ProofMissing,
    #[error("too many wrong credentials from this address; wait, then use a right one")]
    TooManyFailures { retry_after: Duration },
    #[error("send the body as application/json")]
    UnsupportedMediaType,
    #[error("the address is too long; put the values into the body")]
    UriTooLong { limit_bytes: usize },
    #[error("the body is too large; send less")]
    BodyTooLarge { limit_bytes: u64 },
    #[error("the body did not arrive in time; send it again")]
    BodyTimeout,
    #[error("the body ended early or is not framed as HTTP asks; send it again")]
    BodyBroken,
    #[error("too many requests with this credential; wait, then go on more slowly")]
    RateLimited { retry_after: Duration },
    #[error("too many requests of this credential are running; wait for one to end")]
    TooManyInFlight { limit: usize },
    #[error(
        "the bodies of this credential's running requests are too large together; wait for one to end, then send it again"
    )]
    TooMuchInFlight { limit_bytes: u64 },
    #[error("too many connections of this credential are open; close one, or use one for several requests")]
    TooManyConnections { limit: usize },
    #[error("the server failed on this request; its log says why")]
    HandlerPanicked,
    #[error("the server is wired wrongly: this request came through no door")]
    NotThroughADoor,
}

impl Refusal {
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::HostMissing => "host_missing",
            Self::HostAmbiguous => "host_ambiguous",
            Self::HostNotAllowed => "host_not_allowed",
            Self::TargetNotAllowed => "target_not_allowed",
            Self::OriginNotAllowed => "origin_not_allowed",
            Self::OriginMissing => "origin_missing",
            Self::CrossSite => "cross_site",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::AmbiguousCredentials => "ambiguous_credentials",
            Self::Unauthenticated => "unauthenticated",
            Self::ProofMissing => "proof_missing",
            Self::TooManyFailures { .. } => "too_many_failures",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::UriTooLong { .. } => "uri_too_long",
            Self::BodyTooLarge { .. } => "body_too_large",
            Self::BodyTimeout => "body_timeout",
            Self::BodyBroken => "body_broken",
            Self::RateLimited { .. } => "rate_limited",
            Self::TooManyInFlight { .. } => "too_many_in_flight",
            Self::TooMuchInFlight { .. } => "too_much_in_flight",
            Self::TooManyConnections { .. } => "too_many_connections",
            Self::HandlerPanicked => "internal",
            Self::NotThroughADoor => "not_through_a_door",
        }
    }

    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::HostMissing
            | Self::HostAmbiguous
            | Self::TargetNotAllowed
            | Self::AmbiguousCredentials
            | Self::BodyBroken => StatusCode::BAD_REQUEST,
            Self::HostNotAllowed | Self::OriginNotAllowed | Self::OriginMissing | Self::CrossSite => {
                StatusCode::FORBIDDEN
            }
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Unauthenticated | Self::ProofMissing => StatusCode::UNAUTHORIZED,
            Self::TooManyFailures { .. }
            | Self::RateLimited { .. }
            | Self::TooManyInFlight { .. }
            | Self::TooMuchInFlight { .. }
            | Self::TooManyConnections { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::UriTooLong { .. } => StatusCode::URI_TOO_LONG,
            Self::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::HandlerPanicked | Self::NotThroughADoor => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::TooManyFailures { retry_after } | Self::RateLimited { retry_after } => {
                json!({ "retryAfterSeconds": whole_seconds(*retry_after) })
            }
            Self::UriTooLong { limit_bytes } => json!({ "limitBytes": limit_bytes }),
            Self::BodyTooLarge { limit_bytes } | Self::TooMuchInFlight { limit_bytes } => {
                json!({ "limitBytes": limit_bytes })
            }
            Self::TooManyInFlight { limit } | Self::TooManyConnections { limit } => json!({ "limit": limit }),
            Self::HostMissing
            | Self::HostAmbiguous
            | Self::HostNotAllowed
            | Self::TargetNotAllowed
            | Self::OriginNotAllowed
            | Self::OriginMissing
            | Self::CrossSite
            | Self::MethodNotAllowed
            | Self::AmbiguousCredentials
            | Self::Unauthenticated
            | Self::ProofMissing
            | Self::UnsupportedMediaType
            | Self::BodyTimeout
            | Self::BodyBroken
            | Self::HandlerPanicked
            | Self::NotThroughADoor => json!({}),
        }
    }

    fn extra_header(&self) -> Option<(header::HeaderName, HeaderValue)> {
        match self {
            Self::Unauthenticated | Self::ProofMissing => {
                Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")))
            }
            Self::TooManyFailures { retry_after } | Self::RateLimited { retry_after } => {
                Some((header::RETRY_AFTER, HeaderValue::from(whole_seconds(*retry_after))))
            }
            Self::TooManyInFlight { .. } => Some((header::RETRY_AFTER, HeaderValue::from(1))),
            // The rest of the body must not be read as the next request; and a connection too many has to end.
            Self::BodyTooLarge { .. }
            | Self::BodyTimeout
            | Self::BodyBroken
            | Self::TooMuchInFlight { .. }
            | Self::TooManyConnections { .. } => Some((header::CONNECTION, HeaderValue::from_static("close"))),
            Self::HostMissing
            | Self::HostAmbiguous
            | Self::HostNotAllowed
            | Self::TargetNotAllowed
            | Self::OriginNotAllowed
            | Self::OriginMissing
            | Self::CrossSite
            | Self::AmbiguousCredentials
            | Self::MethodNotAllowed
            | Self::UnsupportedMediaType
            | Self::UriTooLong { .. }
            | Self::HandlerPanicked
            | Self::NotThroughADoor => None,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        metrics::counter!("doors_refusals_total", "code" => self.code()).increment(1);
        let body = json!({ "error": { "code": self.code(), "message": self.to_string(), "details": self.details() } });
        let mut response = (self.status(), axum::Json(body)).into_response();
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some((name, value)) = self.extra_header() {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// Rounded up, and at least one: a caller that retries a moment early would be refused again.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0 || wait.is_zero())
}
