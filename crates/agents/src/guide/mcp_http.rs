//! MCP over HTTP as the protocol's library wants it of a client, through the one way out.
//!
//! Invariant: whatever address the library names, the one that was judged is asked.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{HEADER_LAST_EVENT_ID, HEADER_SESSION_ID};
use rmcp::transport::streamable_http_client::{StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse};
use sse_stream::{Error as SseError, Sse, SseStream};

use crate::outbound::{Address, Answer, Body, Client, OutboundError, OutboundLimits};

/// A tool may work for a while before it answers, and a stream may be silent for long.
const PATIENCE: Duration = Duration::from_secs(600);
/// What one answer, or one stream of events, may hold.
const MAX_ANSWER_BYTES: usize = 16 << 20;
const LIMITS: OutboundLimits = OutboundLimits { head: PATIENCE, pause: PATIENCE, body_bytes: MAX_ANSWER_BYTES };
/// How much of a refusal is shown.
const SHOWN_CHARS: usize = 200;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Asks one MCP server.
#[derive(Clone)]
pub(super) struct McpHttp {
    client: Arc<Client>,
    path: Arc<str>,
}

type Failure = StreamableHttpError<OutboundError>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

impl McpHttp {
    pub(super) fn new(address: Address) -> Result<Self, crate::outbound::TrustError> {
        let query = address.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = format!("{}{query}", address.path()).into();
        Ok(Self { client: Arc::new(Client::new(address, LIMITS)?), path })
    }

    async fn send(&self, method: Method, headers: HeaderMap, body: Vec<u8>) -> Result<Answer, Failure> {
        self.client.send(method, &self.path, headers, body).await.map_err(Failure::Client)
    }
}

impl StreamableHttpClient for McpHttp {
    type Error = OutboundError;

    async fn post_message(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let mut headers = headers(custom, session.as_deref(), token)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        let answer = self.send(Method::POST, headers, serde_json::to_vec(&message)?).await?;
        match answer.status {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => return Ok(StreamableHttpPostResponse::Accepted),
            StatusCode::NOT_FOUND if session.is_some() => return Err(Failure::SessionExpired),
            status if !status.is_success() => return refused(answer, &message).await,
            _ => (),
        }
        let given = answer.headers.get(HEADER_SESSION_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if is(&answer.headers, EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(events(answer.body), given));
        }
        let body = answer.body.read().await.map_err(Failure::Client)?;
        match serde_json::from_slice(&body) {
            Ok(message) if is(&answer.headers, JSON) => Ok(StreamableHttpPostResponse::Json(message, given)),
            // Nothing was asked, so nothing has to be answered.
            _ if !matches!(message, ClientJsonRpcMessage::Request(_)) => Ok(StreamableHttpPostResponse::Accepted),
            Ok(_) => Err(Failure::UnexpectedContentType(None)),
            Err(err) => Err(Failure::Deserialize(err)),
        }
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        // Whether it knows how or not: the session is used no more.
        self.send(Method::DELETE, headers(custom, Some(&session), token)?, Vec::new()).await.map(drop)
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Failure> {
        let mut headers = headers(custom, session.as_deref(), token)?;
        if let Some(id) = last_event {
            headers.insert(HEADER_LAST_EVENT_ID, value(&id)?);
        }
        let answer = self.send(Method::GET, headers, Vec::new()).await?;
        match answer.status {
            StatusCode::METHOD_NOT_ALLOWED => Err(Failure::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(unexpected(status, "")),
            _ if is(&answer.headers, EVENTS) => Ok(events(answer.body)),
            _ => Err(Failure::UnexpectedContentType(None)),
        }
    }
}

/// What a refusal says: the protocol's own error, if it is one.
async fn refused(answer: Answer, message: &ClientJsonRpcMessage) -> Result<StreamableHttpPostResponse, Failure> {
    let (status, is_json) = (answer.status, is(&answer.headers, JSON));
    let body = answer.body.read().await.map_err(Failure::Client)?;
    let error = serde_json::from_slice(&body).ok().filter(|_| is_json);
    let discovers = match message {
        ClientJsonRpcMessage::Request(request) => {
            let asks = matches!(request.request, ClientRequest::DiscoverRequest(_));
            (asks && status.is_client_error()).then(|| request.id.clone())
        }
        _ => None,
    };
    let shown: String = String::from_utf8_lossy(&body).chars().take(SHOWN_CHARS).collect();
    let message = match (error, discovers) {
        (_, _) if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
            return Err(unexpected(status, &shown));
        }
        // An older server does not know the question; its answer must be known as one to it.
        (Some(ServerJsonRpcMessage::Error(error)), Some(id)) => ServerJsonRpcMessage::error(error.error, Some(id)),
        (_, Some(id)) => {
            let error = ErrorData::invalid_request(format!("refused with status {status}: {shown}"), None);
            ServerJsonRpcMessage::error(error, Some(id))
        }
        (Some(error @ ServerJsonRpcMessage::Error(_)), None) => error,
        (_, None) => return Err(unexpected(status, &shown)),
    };
    Ok(StreamableHttpPostResponse::Json(message, None))
}

fn unexpected(status: StatusCode, body: &str) -> Failure {
    Failure::UnexpectedServerResponse(Cow::Owned(format!("HTTP {status}: {body}")))
}

fn headers(
    custom: HashMap<HeaderName, HeaderValue>,
    session: Option<&str>,
    token: Option<String>,
) -> Result<HeaderMap, Failure> {
    let mut headers: HeaderMap = custom.into_iter().collect();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    if let Some(session) = session {
        headers.insert(HEADER_SESSION_ID, value(session)?);
    }
    if let Some(token) = token {
        let mut bearer = value(&format!("Bearer {token}"))?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    Ok(headers)
}

fn value(text: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_str(text).map_err(|_| Failure::UnexpectedServerResponse("an id that can not be sent".into()))
}

fn is(headers: &HeaderMap, kind: &str) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(kind.as_bytes()))
}

fn events(body: Body) -> Events {
    let pieces = stream::unfold(Some(body), |body| async {
        let mut body = body?;
        match body.next().await {
            Ok(None) => None,
            Ok(Some(bytes)) => Some((Ok(bytes), Some(body))),
            Err(err) => Some((Err(err), None)),
        }
    });
    SseStream::from_bytes_stream(pieces.boxed()).boxed()
}
