//! What handlers take from a request, each with an error of our own shape.
//!
//! Invariant: the parameters of a path are read by [`Named`] alone, since axum's own extractors answer in another shape.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use doors::Principal;
use engine::{Asker, RequestKey, TokenSecret};
use model::{BodyHash, InteractionId, NextId, OutputId, RememberedId, SessionId, TokenId, Turn, WorkId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::turns;

const KEY_HEADER: &str = "idempotency-key";
const MAX_KEY_CHARS: usize = 200;

/// A JSON body. `doors` has seen to its size and type.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        parse(&read(request, state).await?).map(Self)
    }
}

/// A JSON body that may be left away, or be null.
pub(crate) struct MaybeBody<T>(pub(crate) T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for MaybeBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes = read(request, state).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        parse::<Option<T>>(&bytes).map(|body| Self(body.unwrap_or_default()))
    }
}

/// The body of a request that says everything in its address: none, or a key.
pub(crate) struct OnlyKey(pub(crate) Option<String>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyBody {
    #[serde(default)]
    key: Option<String>,
}

impl<S: Send + Sync> FromRequest<S> for OnlyKey {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes = read(request, state).await?;
        if bytes.is_empty() {
            return Ok(Self(None));
        }
        parse::<KeyBody>(&bytes).map(|body| Self(body.key))
    }
}

async fn read<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, ApiError> {
    Bytes::from_request(request, state).await.map_err(|err| ApiError::InvalidBody(err.body_text()))
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // A list of values would be read as an object's fields in their order, which nobody means.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(ApiError::InvalidBody("expected an object, found a list".to_owned()));
    }
    serde_json::from_slice(bytes).map_err(|err| ApiError::InvalidBody(err.to_string()))
}

/// The query string of a request that takes none.
pub(crate) struct NoParams;

impl<S: Send + Sync> FromRequestParts<S> for NoParams {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        match parts.uri.query() {
            None | Some("") => Ok(Self),
            Some(_) => Err(ApiError::InvalidQuery("there are no parameters here".to_owned())),
        }
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

impl PathId for (SessionId, model::Request) {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        let session = SessionId::from_path(params)?;
        let request = param(params, "request").and_then(|text| text.parse().ok());
        Ok((session, request.ok_or(ApiError::RequestNotFound)?))
    }
}

impl PathId for (SessionId, NextId) {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        let session = SessionId::from_path(params)?;
        let block = param(params, "block").and_then(|text| text.parse().ok());
        Ok((session, block.ok_or(ApiError::NextNotFound)?))
    }
}

impl PathId for OutputId {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        param(params, "output").and_then(|text| text.parse().ok()).ok_or(ApiError::OutputNotFound)
    }
}

impl PathId for (SessionId, OutputId) {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        Ok((SessionId::from_path(params)?, OutputId::from_path(params)?))
    }
}

impl PathId for (SessionId, BodyHash) {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        let hash = param(params, "sha256").and_then(|text| text.parse().ok());
        Ok((SessionId::from_path(params)?, hash.ok_or(ApiError::BodyNotFound)?))
    }
}

impl PathId for WorkId {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        param(params, "id").and_then(|text| text.parse().ok()).ok_or(ApiError::MetaContextNotFound)
    }
}

impl PathId for (SessionId, Turn) {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        let session = SessionId::from_path(params)?;
        let turn = turns::parse(param(params, "turn").unwrap_or_default())?;
        if turn.0 == 0 {
            return Err(ApiError::InvalidQuery("turns are numbered from 1".to_owned()));
        }
        Ok((session, turn))
    }
}

impl PathId for InteractionId {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        param(params, "interaction").and_then(|text| text.parse().ok()).ok_or(ApiError::InteractionNotFound)
    }
}

/// An option's name is the agent's own and may be any text.
impl PathId for (SessionId, String) {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        let session = SessionId::from_path(params)?;
        Ok((session, param(params, "option").unwrap_or_default().to_owned()))
    }
}

/// An agent's name; whether there is such an agent is for the catalog to say.
pub(crate) struct AgentName(pub(crate) String);

impl PathId for AgentName {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        Ok(Self(param(params, "name").unwrap_or_default().to_owned()))
    }
}

/// What an applet is called in an address: a slug, or `_shown`; which it is depends on the session.
pub(crate) struct AppletWord(pub(crate) String);

impl PathId for AppletWord {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        Ok(Self(param(params, "applet").unwrap_or_default().to_owned()))
    }
}

/// An applet, and a version of its state.
pub(crate) struct AppletVersionPath {
    pub(crate) word: AppletWord,
    pub(crate) version: u64,
}

impl PathId for AppletVersionPath {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        let version = param(params, "version").and_then(|text| text.parse().ok());
        let version = version.ok_or_else(|| ApiError::InvalidQuery("a version is a whole number".to_owned()))?;
        Ok(Self { word: AppletWord::from_path(params)?, version })
    }
}

/// A ticket's secret; whether there is such a ticket is for the engine to say.
pub(crate) struct TicketSecret(pub(crate) TokenSecret);

impl PathId for TicketSecret {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        Ok(Self(TokenSecret::new(param(params, "ticket").unwrap_or_default())))
    }
}

impl PathId for TokenId {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        param(params, "id").and_then(|text| text.parse().ok()).ok_or(ApiError::TokenNotFound)
    }
}

impl PathId for RememberedId {
    fn from_path(params: &RawPathParams) -> Result<Self, ApiError> {
        param(params, "id").and_then(|text| text.parse().ok()).ok_or(ApiError::PermissionNotFound)
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
pub(crate) struct Asking {
    pub(crate) principal: Principal,
    key: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for Asking {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let principal = Principal::from_request_parts(parts, state).await.map_err(IntoResponse::into_response)?;
        let mut keys = parts.headers.get_all(KEY_HEADER).iter();
        let key = match (keys.next(), keys.next()) {
            (None, _) => None,
            (Some(key), None) => Some(key.to_str().map_err(|_| ApiError::InvalidKey.into_response())?.to_owned()),
            (Some(_), Some(_)) => return Err(ApiError::InvalidKey.into_response()),
        };
        Ok(Self { principal, key })
    }
}

impl Asking {
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

/// A request whose repeat is not answered like the first: it must not come with a key.
pub(crate) struct Unrepeatable;

impl<S: Send + Sync> FromRequestParts<S> for Unrepeatable {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        if parts.headers.contains_key(KEY_HEADER) { Err(ApiError::KeyNotTaken) } else { Ok(Self) }
    }
}

/// The same, where the key could also come in the body.
pub(crate) struct NoKey;

impl<S: Send + Sync> FromRequest<S> for NoKey {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        if request.headers().contains_key(KEY_HEADER) {
            return Err(ApiError::KeyNotTaken);
        }
        match OnlyKey::from_request(request, state).await? {
            OnlyKey(Some(_)) => Err(ApiError::KeyNotTaken),
            OnlyKey(None) => Ok(Self),
        }
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
