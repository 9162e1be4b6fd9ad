//! MCP over HTTP for the protocol's library, through `outbound.rs`.
//!
//! Invariant: whatever address the library passes, the request goes to the address that was checked.

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

use crate::outbound::{Address, HttpResponse, OutboundClient, OutboundError, OutboundLimits, ResponseBody};

/// A tool may work for a while before it answers, and a stream may be silent for long.
const TIME_LIMIT: Duration = Duration::from_secs(600);
/// The size limit of one response, or of one stream of events.
const MAX_ANSWER_BYTES: usize = 16 << 20;
const LIMITS: OutboundLimits = OutboundLimits { head: TIME_LIMIT, pause: TIME_LIMIT, body_bytes: MAX_ANSWER_BYTES };
/// How much of an error response is shown.
const SHOWN_CHARS: usize = 200;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Sends requests to one MCP server.
#[derive(Clone)]
pub(super) struct McpHttp {
    client: Arc<OutboundClient>,
    path: Arc<str>,
}

type Failure = StreamableHttpError<OutboundError>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

impl McpHttp {
    pub(super) fn new(address: Address) -> Result<Self, crate::outbound::TrustError> {
        let query = address.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = format!("{}{query}", address.path()).into();
        Ok(Self { client: Arc::new(OutboundClient::new(address, LIMITS)?), path })
    }

    async fn send(&self, method: Method, headers: HeaderMap, body: Vec<u8>) -> Result<HttpResponse, Failure> {
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
            // Not a request, so there is nothing to answer.
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
        // Whether the server supports this or not, the session is no longer used.
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

/// Reads an error response: the protocol's own error, if it is one.
async fn refused(answer: HttpResponse, message: &ClientJsonRpcMessage) -> Result<StreamableHttpPostResponse, Failure> {
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
        // An older server does not know the request and leaves the id out; the error must carry it.
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

fn events(body: ResponseBody) -> Events {
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
