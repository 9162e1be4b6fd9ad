//! A client of the server that is as cheap as possible: one kept-open HTTP connection, one WebSocket.
//!
//! Invariant: frames are distinguished by their first bytes and not parsed, so that reading costs the client less
//! than sending costs the server, and the server is what is measured.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use futures_util::{SinkExt as _, StreamExt as _};
use http::{Method, Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::server::Endpoint;
use crate::stamp;
use crate::statistics::Latencies;

/// The library zeroes it at every read; a thousand followers read often.
const READ_BUFFER_BYTES: usize = 16 << 10;

/// Well below the time after which the server closes idle connections: a request must not meet the closing.
const KEPT_FOR: Duration = Duration::from_secs(1);

pub(crate) struct Http {
    endpoint: Endpoint,
    sender: SendRequest<Full<Bytes>>,
    used: Instant,
    /// Ends the connection with the client.
    _connection: JoinSet<Result<(), hyper::Error>>,
}

impl Http {
    pub(crate) async fn connect(endpoint: &Endpoint) -> Result<Self> {
        let stream = TcpStream::connect(endpoint.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let mut tasks = JoinSet::new();
        tasks.spawn(connection);
        Ok(Self { endpoint: endpoint.clone(), sender, used: Instant::now(), _connection: tasks })
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<Bytes> {
        self.send(Method::GET, path, None).await
    }

    pub(crate) async fn post(&mut self, path: &str, body: &Value) -> Result<Bytes> {
        self.send(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn patch(&mut self, path: &str, body: &Value) -> Result<Bytes> {
        self.send(Method::PATCH, path, Some(body)).await
    }

    async fn send(&mut self, method: Method, path: &str, body: Option<&Value>) -> Result<Bytes> {
        if self.sender.is_closed() || self.used.elapsed() > KEPT_FOR {
            *self = Self::connect(&self.endpoint).await?;
        }
        let Endpoint { address, token } = &self.endpoint;
        let mut request = Request::builder()
            .method(method)
            .uri(format!("/api/v1{path}"))
            .header(header::HOST, address.to_string())
            .header(header::AUTHORIZATION, format!("Bearer {token}"));
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let bytes = body.map(Value::to_string).unwrap_or_default();
        self.sender.ready().await?;
        let response = self.sender.send_request(request.body(Full::new(bytes.into()))?).await?;
        let status = response.status();
        let answer = response.into_body().collect().await?.to_bytes();
        self.used = Instant::now();
        ensure!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&answer));
        Ok(answer)
    }

    /// A session with the built-in agent, ready for prompts.
    pub(crate) async fn new_session(&mut self, cwd: &str) -> Result<String> {
        self.new_session_with("guide", cwd).await
    }

    pub(crate) async fn new_session_with(&mut self, agent: &str, cwd: &str) -> Result<String> {
        let answer = self.post("/sessions", &json!({ "agent": agent, "cwd": cwd })).await?;
        let answer: Value = serde_json::from_slice(&answer)?;
        Ok(answer["id"].as_str().context("a session without an id")?.to_owned())
    }
}

pub(crate) struct Live {
    socket: WebSocketStream<TcpStream>,
}

impl Live {
    pub(crate) async fn connect(endpoint: &Endpoint) -> Result<Self> {
        let mut request = format!("ws://{}/api/v1/live", endpoint.address).into_client_request()?;
        request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {}", endpoint.token).parse()?);
        Self::open(endpoint.address, request).await
    }

    /// The same client for something that is not our server.
    pub(crate) async fn connect_bare(address: SocketAddr) -> Result<Self> {
        Self::open(address, format!("ws://{address}/").into_client_request()?).await
    }

    async fn open(address: SocketAddr, request: Request<()>) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let config = WebSocketConfig::default().read_buffer_size(READ_BUFFER_BYTES);
        let (socket, _) = tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await?;
        Ok(Self { socket })
    }

    /// Follows from a cursor, or from the beginning.
    pub(crate) async fn follow(&mut self, session: &str, after: Option<&str>) -> Result<()> {
        let mut frame = json!({ "id": "f", "type": "follow", "session": session });
        if let Some(cursor) = after {
            frame["after"] = json!(cursor);
        }
        self.socket.send(Message::text(frame.to_string())).await?;
        Ok(())
    }

    pub(crate) async fn say(&mut self, frame: &Value) -> Result<()> {
        Ok(self.socket.send(Message::text(frame.to_string())).await?)
    }

    /// The next text.
    pub(crate) async fn next(&mut self) -> Result<Utf8Bytes> {
        loop {
            match self.socket.next().await.context("the server closed the socket")?? {
                Message::Text(text) => return Ok(text),
                Message::Close(reason) => bail!("the server closed the socket: {reason:?}"),
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => (),
            }
        }
    }

    /// Reads until a frame of this kind; returns how many entries came before it.
    pub(crate) async fn until(&mut self, kind: Kind) -> Result<usize> {
        let mut entries = 0;
        loop {
            let text = self.next().await?;
            if kind.is(&text) {
                return Ok(entries);
            }
            entries += usize::from(Kind::Entry.is(&text));
        }
    }

    /// The delays of the stamped frames of one kind, until a frame of the other kind.
    pub(crate) async fn delays(&mut self, stamped: Kind, last: Kind) -> Result<Latencies> {
        let mut delays = Latencies::default();
        loop {
            let text = self.next().await?;
            if stamped.is(&text) {
                let now = stamp::now();
                delays.extend(stamp::find(&text).map(|then| now.saturating_sub(then)));
            } else if last.is(&text) {
                return Ok(delays);
            }
        }
    }
}

/// Frames that benchmarks wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ack,
    CaughtUp,
    Entry,
    Error,
    Preview,
    ToolStarted,
    TurnEnded,
    /// A raw line of an agent, and the one that ends its turn.
    Update,
    Stopped,
}

impl Kind {
    pub(crate) fn is(self, text: &str) -> bool {
        match self {
            Self::Ack => text.starts_with(r#"{"type":"ack""#),
            Self::Error => text.starts_with(r#"{"type":"error""#),
            Self::CaughtUp => text.starts_with(r#"{"type":"caught_up""#),
            Self::Entry => text.starts_with(r#"{"type":"entry""#),
            Self::Preview => text.starts_with(r#"{"type":"preview""#),
            Self::ToolStarted => Self::Entry.is(text) && text.contains(r#""type":"tool.started""#),
            Self::TurnEnded => Self::Entry.is(text) && text.contains(r#""type":"turn.ended""#),
            Self::Update => text.starts_with(r#"{"jsonrpc":"2.0","method":"session/update""#),
            Self::Stopped => text.contains(r#""stopReason""#),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_told_apart_by_their_beginning() {
        let ended = r#"{"type":"entry","session":"x","entry":{"seq":1,"type":"turn.ended","data":{}}}"#;
        assert!(Kind::Entry.is(ended) && Kind::TurnEnded.is(ended) && !Kind::Preview.is(ended));
        let preview = r#"{"type":"preview","text":"\"type\":\"turn.ended\""}"#;
        assert!(Kind::Preview.is(preview) && !Kind::TurnEnded.is(preview));
        assert!(Kind::CaughtUp.is(r#"{"type":"caught_up","session":"x"}"#));
    }
}
