//! `/mcp` and `/mcp/show`: a session's own tools for its agent, and the skills that come with the program, over streamable HTTP.
//!
//! Invariant: no state between requests. Whose session is meant follows from the credential, or, for a person's, from what
//! the request names; the doors have let the request in before, and what a tool does is one call of the engine that a
//! route makes as well.

mod apps;
mod arguments;
mod brief;
mod budget;
mod envelope;
mod handler;
mod parts;
mod phrases;
mod quote;
mod replies;
mod scope;
mod skills;
mod tools;
mod work;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use doors::{Principal, Right};
use engine::{AgentSwitch, Engine};
use model::SessionId;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::error::ApiError;
use crate::{App, access};
pub use brief::STANDARD_BRIEF;
use envelope::Refused;
use handler::Handler;
use tools::Endpoint;
pub use tools::own_tools;

/// Names the session where the credential does not.
pub(crate) const SESSION_HEADER: &str = "throughline-session";
/// Ten items of the longest are far below.
const MAX_BODY_BYTES: usize = 256 << 10;
/// An applet of the longest, whose quotes and line ends JSON writes as two characters each, and what is said beside it. An agent's
/// request may not be longer anywhere.
const MAX_SHOW_BODY_BYTES: usize = 4 << 20;

/// The mount, cheap to clone.
#[derive(Clone)]
pub(crate) struct Mount {
    session: Service,
    show: Service,
}

type Service = StreamableHttpService<Handler, NeverSessionManager>;

/// Who calls, about which session.
#[derive(Debug, Clone)]
pub(crate) struct Calling {
    principal: Principal,
    session: SessionId,
}

impl Mount {
    pub(crate) fn new(engine: &Engine, all_sessions: AgentSwitch, stopping: CancellationToken) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            // The doors have judged both, by the names that are configured.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_cancellation_token(stopping);
        let all_sessions = Arc::new(all_sessions);
        let service = |endpoint| {
            let handler = Handler::new(engine.clone(), Arc::clone(&all_sessions), endpoint);
            let handler = move || Ok(handler.clone());
            let config = config.clone().with_max_request_body_bytes(max_body_bytes(endpoint));
            StreamableHttpService::new(handler, Arc::new(NeverSessionManager::default()), config)
        };
        Self { session: service(Endpoint::Session), show: service(Endpoint::Show) }
    }

    fn of(&self, endpoint: Endpoint) -> Service {
        match endpoint {
            Endpoint::Session => self.session.clone(),
            Endpoint::Show => self.show.clone(),
        }
    }
}

fn max_body_bytes(endpoint: Endpoint) -> usize {
    match endpoint {
        Endpoint::Session => MAX_BODY_BYTES,
        Endpoint::Show => MAX_SHOW_BODY_BYTES,
    }
}

/// Any method: the protocol has its own reply to one that is not offered.
pub(crate) async fn serve(State(app): State<App>, principal: Principal, request: Request) -> Response {
    serve_endpoint(&app, Endpoint::Session, principal, request).await
}

/// The same for the tools that show something.
pub(crate) async fn serve_show(State(app): State<App>, principal: Principal, request: Request) -> Response {
    serve_endpoint(&app, Endpoint::Show, principal, request).await
}

async fn serve_endpoint(app: &App, endpoint: Endpoint, principal: Principal, request: Request) -> Response {
    match answer(app, endpoint, principal, request).await {
        Ok(response) => response,
        Err(refused) => refused.into_response(),
    }
}

async fn answer(app: &App, endpoint: Endpoint, principal: Principal, request: Request) -> Result<Response, Refused> {
    let (parts, body) = request.into_parts();
    let bytes = envelope::read(body, max_body_bytes(endpoint)).await?;
    let id = if parts.method == Method::POST { envelope::check(&bytes)? } else { Value::Null };
    let session = find(app, &principal, &parts).await.map_err(|err| Refused::by(err, id.clone()))?;
    let mut request = Request::from_parts(parts, Body::from(bytes));
    request.extensions_mut().insert(Calling { principal, session });
    match app.settings.mcp.of(endpoint).oneshot(request).await {
        Ok(response) => Ok(envelope::in_protocol(response.into_response(), id).await),
        Err(never) => match never {},
    }
}

/// The session that is meant, if it is there and the caller may read it.
async fn find(app: &App, principal: &Principal, parts: &Parts) -> Result<SessionId, ApiError> {
    let session = session_of(principal, parts)?;
    access::session(principal, Right::Read, session)?;
    app.engine.session(session).await?;
    Ok(session)
}

/// The session that the credential was made for, or the one that the request names: both, only if they are the same.
fn session_of(principal: &Principal, parts: &Parts) -> Result<SessionId, ApiError> {
    let parse = |text: &str| text.parse::<SessionId>().map_err(|_| ApiError::SessionNotFound);
    let own = principal.session.as_deref().map(parse).transpose()?;
    let named = named(parts)?.map(parse).transpose()?;
    match (own, named) {
        (Some(own), Some(named)) if own != named => Err(ApiError::SessionNotFound),
        (Some(session), _) | (None, Some(session)) => Ok(session),
        (None, None) => Err(ApiError::SessionNotNamed),
    }
}

/// What the query or the header names.
fn named(parts: &Parts) -> Result<Option<&str>, ApiError> {
    let in_query = parts.uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let session = pair.strip_prefix("session=");
        session.ok_or_else(|| ApiError::InvalidQuery("session is the only parameter here".to_owned()))
    });
    let in_headers = parts.headers.get_all(SESSION_HEADER).iter();
    let in_headers = in_headers.map(|value| value.to_str().map_err(|_| ApiError::SessionNotFound));
    let named = in_query.chain(in_headers).collect::<Result<Vec<_>, _>>()?;
    match named.as_slice() {
        [] => Ok(None),
        [session] => Ok(Some(session)),
        _ => Err(ApiError::InvalidQuery("a session is named once, in the query or in a header".to_owned())),
    }
}
