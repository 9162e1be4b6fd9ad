//! What handlers take from a request, each with an error of our own shape.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use axum::http::request::Parts;
use doors::Principal;
use engine::{Asker, RequestKey};
use model::{InteractionId, SessionId, TokenId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

const KEY_HEADER: &str = "idempotency-key";
const MAX_KEY_CHARS: usize = 200;

/// A JSON body. `doors` has seen to its size and type.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes = Bytes::from_request(request, state).await.map_err(|err| ApiError::InvalidBody(err.body_text()))?;
        // A list of values would be read as an object's fields in their order, which nobody means.
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            return Err(ApiError::InvalidBody("expected an object, found a list".to_owned()));
        }
        serde_json::from_slice(&bytes).map(Self).map_err(|err| ApiError::InvalidBody(err.to_string()))
    }
}

/// A query string.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query.map(|Query(params)| Self(params)).map_err(|err| ApiError::InvalidQuery(err.body_text()))
    }
}

/// The ids in a path. One that is not an id names nothing.
pub(crate) struct Named<T>(pub(crate) T);

/// An id that a path can hold.
pub(crate) trait PathId: Sized {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError>;
}

impl PathId for SessionId {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        param(params, "id").and_then(|text| text.parse().ok()).ok_or(ApiError::SessionNotFound)
    }
}

impl PathId for (SessionId, InteractionId) {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        let session = SessionId::from_path(params)?;
        let prompt = param(params, "interaction").and_then(|text| text.parse().ok());
        let missing = engine::SubmitError::Rejected(model::Rejection::PromptNotQueued);
        Ok((session, prompt.ok_or(ApiError::Submit(missing))?))
    }
}

impl PathId for TokenId {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        param(params, "id").and_then(|text| text.parse().ok()).ok_or(ApiError::TokenNotFound)
    }
}

fn param<'a>(params: &'a RawPathParams, name: &str) -> Option<&'a str> {
    params.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

impl<T: PathId, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| ApiError::RouteNotFound)?;
        T::from_path(&params).map(Self)
    }
}

/// The caller, with the idempotency key of the header.
pub(crate) struct From {
    pub(crate) principal: Principal,
    key: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for From {
    type Rejection = axum::response::Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, axum::response::Response> {
        use axum::response::IntoResponse as _;
        let principal =
            Principal::from_request_parts(parts, state).await.map_err(axum::response::IntoResponse::into_response)?;
        let mut keys = parts.headers.get_all(KEY_HEADER).iter();
        let key = match (keys.next(), keys.next()) {
            (None, _) => None,
            (Some(key), None) => Some(key.to_str().map_err(|_| ApiError::InvalidKey.into_response())?.to_owned()),
            (Some(_), Some(_)) => return Err(ApiError::InvalidKey.into_response()),
        };
        Ok(Self { principal, key })
    }
}

impl From {
    /// Who asks, where `request` and `body` are what makes a repeat the same.
    pub(crate) fn asker(
        self,
        request: &str,
        body: &impl Serialize,
        body_key: Option<String>,
    ) -> Result<Asker, ApiError> {
        let key = match (self.key, body_key) {
            (Some(_), Some(_)) => return Err(ApiError::InvalidKey),
            (key, None) | (None, key) => key,
        };
        asker(&self.principal, request, body, key)
    }
}

/// The same for requests that come over a socket.
pub(crate) fn asker(
    principal: &Principal,
    request: &str,
    body: &impl Serialize,
    key: Option<String>,
) -> Result<Asker, ApiError> {
    let key = match key {
        None => None,
        Some(key) => {
            let fits = (1..=MAX_KEY_CHARS).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
            if !fits {
                return Err(ApiError::InvalidKey);
            }
            let body = serde_json::to_vec(body).map_err(|err| ApiError::InvalidBody(err.to_string()))?;
            Some(RequestKey::new(key, &[request.as_bytes(), &body]))
        }
    };
    Ok(Asker { principal: principal.id.clone(), key })
}
