//! A listener with routes, and a client that sends exactly the given bytes.
//!
//! Invariant: a test that gets no response ends by the deadline instead of hanging, and the test server joins its
//! listener when it is closed.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::ws::{Message, WebSocketUpgrade},
    response::Response,
    routing::{any, get, post},
};
use doors::{
    AllowedHosts, Arrival, Caller, Door, Gatekeeper, GuardedApp, Limits, Presented, Principal, Role, Routes, Secret,
    ServeError, Transport, serve_tcp,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

/// Far above anything that a passing test needs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(10);
/// A limit small enough to wait for.
pub(crate) const SHORT: Duration = Duration::from_millis(50);

pub(crate) const BEARER: &str = "Authorization: Bearer person-token";
pub(crate) const COOKIE: &str = "Cookie: other=1; tl_test=good-cookie";
pub(crate) const PROOF: &str = "X-Throughline-Proof: good-proof";

pub(crate) const UPGRADE: &str =
    "Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";

/// Lets tests wait for what happens inside of a handler.
#[derive(Clone)]
pub(crate) struct Events {
    /// Grows by one when a request has reached `/api/hold`.
    pub(crate) entered: Arc<Semaphore>,
    /// A permit lets one `/api/hold` continue.
    pub(crate) release: Arc<Semaphore>,
    /// Grows by one when an endless response is dropped.
    pub(crate) dropped: Arc<Semaphore>,
}

pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) events: Events,
    pub(crate) shutdown: CancellationToken,
    listener: JoinSet<Result<(), ServeError>>,
}

struct TestKeys;

impl Gatekeeper for TestKeys {
    fn admit(&self, presented: &Presented) -> Option<Principal> {
        let (id, role) = match presented {
            Presented::Bearer(token) if token.expose() == "person-token" => ("person", Role::Person),
            Presented::Bearer(token) if token.expose() == "agent-token" => ("agent", Role::Agent),
            Presented::Cookie { cookie, proof }
                if cookie.expose() == "good-cookie" && proof.expose() == "good-proof" =>
            {
                ("browser", Role::Person)
            }
            Presented::Peer => ("peer", Role::Person),
            Presented::Bearer(_) | Presented::Cookie { .. } => return None,
        };
        Some(Principal { id: id.to_owned(), role, session: None })
    }

    fn knows_cookie(&self, cookie: &Secret) -> bool {
        cookie.expose() == "good-cookie"
    }

    fn cookie_name(&self) -> &str {
        "tl_test"
    }
}

pub(crate) fn app(limits: Limits, events: &Events) -> GuardedApp {
    let hosts = AllowedHosts::new(["desk.example", "desk.example:8443"]).unwrap();
    Door::new(Arc::new(TestKeys), hosts, limits).mount(routes(events.clone()))
}

fn routes(events: Events) -> Routes {
    let hold = events.clone();
    let protected = Router::new()
        .route("/api/who", get(|principal: Principal| async move { principal.id }))
        .route("/api/echo", post(|body: Bytes| async move { body.len().to_string() }))
        .route("/api/unread", post(|| async { "unread" }))
        .route("/api/panic", get(|| async { panic!("on purpose") as () }))
        .route("/api/cors", get(|| async { ([("access-control-allow-origin", "*")], "no") }))
        .route("/api/headers", get(|headers: http::HeaderMap| async move { format!("{:?}", headers.keys()) }))
        .route(
            "/api/hold",
            // With its body, which is read before it waits.
            any(move |body: Bytes| async move {
                hold.entered.add_permits(1);
                hold.release.acquire().await.unwrap().forget();
                format!("held {}", body.len())
            }),
        )
        .route("/api/endless", get(move || async move { Body::new(Endless(events)) }));
    Routes {
        page: Router::new()
            .route("/", get(|| async { "page" }))
            .fallback(|| async { (http::StatusCode::NOT_FOUND, "") }),
        open: Router::new()
            .route("/healthz", get(|| async { "ok" }))
            .route("/exchange", post(|arrival: axum::Extension<Arrival>| async move { arrival.credential_failed() })),
        protected,
        live: Router::new().route("/api/live", get(live)),
    }
}

/// Sends a greeting, then echoes each message.
async fn live(caller: Caller, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(async move |mut socket| {
        let greeting = match caller {
            Caller::Known(principal) => format!("known {}", principal.id),
            Caller::AwaitsProof(cookie) => format!("awaits proof of {}", cookie.expose()),
        };
        let mut reply = Message::Text(greeting.into());
        while socket.send(reply).await.is_ok()
            && let Some(Ok(message)) = socket.recv().await
        {
            reply = message;
        }
    })
}

/// A body that is always ready, so only the peer's reading bounds it.
struct Endless(Events);

impl axum::body::HttpBody for Endless {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Ready(Some(Ok(hyper::body::Frame::data(Bytes::from_static(&[b'x'; 65_536])))))
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.0.dropped.add_permits(1);
    }
}

impl Events {
    pub(crate) fn new() -> Self {
        let none = || Arc::new(Semaphore::new(0));
        Self { entered: none(), release: none(), dropped: none() }
    }
}

/// Waits until something has happened once.
pub(crate) async fn happens(event: &Semaphore) {
    timeout(DEADLINE, event.acquire()).await.expect("it happens before the deadline").unwrap().forget();
}

impl TestServer {
    pub(crate) async fn open() -> Self {
        Self::with(Limits::default()).await
    }

    pub(crate) async fn with(limits: Limits) -> Self {
        Self::behind(limits, Transport::Plain).await
    }

    pub(crate) async fn behind(limits: Limits, transport: Transport) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let events = Events::new();
        let shutdown = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(serve_tcp(listener, transport, app(limits, &events), shutdown.clone()));
        Self { address, events, shutdown, listener: tasks }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// The bytes of a request: a request line without version, header lines, and after an empty line the body. `PORT`
    /// stands for the server's port.
    pub(crate) fn bytes(&self, request: &str) -> Vec<u8> {
        to_bytes(&request.replace("PORT", &self.address.port().to_string()))
    }

    /// Sends a request on a connection of its own and reads to the end.
    pub(crate) async fn ask(&self, request: &str) -> HttpResponse {
        self.send(&self.bytes(request)).await
    }

    pub(crate) async fn send(&self, bytes: &[u8]) -> HttpResponse {
        let mut stream = self.connect().await;
        // A server that refuses early may close before everything is written; its response is what counts.
        drop(stream.write_all(bytes).await);
        HttpResponse::read(&mut stream).await
    }

    /// Checks each row: a name, a request, and `STATUS` or `STATUS code`.
    pub(crate) async fn check(&self, rows: &[(&str, &str, &str)]) {
        for (name, request, expected) in rows {
            let answer = self.ask(request).await;
            assert_eq!(answer.summary(), *expected, "{name}: {}", answer.text);
            answer.assert_hardened();
        }
    }

    /// Upgrades with the given headers and reads the greeting.
    pub(crate) async fn live(&self, lines: &str) -> (TcpStream, String) {
        let mut stream = self.connect().await;
        let request = self.bytes(&format!("GET /api/live\nHost: localhost:PORT\n{UPGRADE}\n{lines}"));
        let request = String::from_utf8(request).unwrap().replace("Connection: close\r\n", "");
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = HttpResponse::read_one(&mut stream).await;
        assert_eq!(answer.status(), "101", "{}", answer.text);
        let greeting = read_frame(&mut stream).await;
        (stream, greeting)
    }

    pub(crate) async fn close(mut self) {
        self.shutdown.cancel();
        self.ended().await;
    }

    pub(crate) async fn ended(&mut self) {
        let ended = timeout(DEADLINE, self.listener.join_next()).await.expect("the listener ends by the deadline");
        ended.expect("it was not joined before").unwrap().unwrap();
    }
}

/// The text of the next WebSocket frame: two bytes of head, then a short text.
pub(crate) async fn read_frame(stream: &mut TcpStream) -> String {
    let mut head = [0; 2];
    timeout(DEADLINE, stream.read_exact(&mut head)).await.expect("a frame comes by the deadline").unwrap();
    let mut text = vec![0; usize::from(head[1])];
    stream.read_exact(&mut text).await.unwrap();
    String::from_utf8(text).unwrap()
}

pub(crate) fn to_bytes(request: &str) -> Vec<u8> {
    let (head, body) = request.split_once("\n\n").unwrap_or((request, ""));
    let mut lines = head.lines().map(str::trim);
    let mut bytes = format!("{} HTTP/1.1\r\n", lines.next().unwrap());
    for line in lines {
        bytes += &format!("{line}\r\n");
    }
    bytes += "Connection: close\r\n\r\n";
    bytes += body.trim_start();
    bytes.into_bytes()
}

/// Everything that came back on one connection.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) text: String,
}

impl HttpResponse {
    pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Self {
        let mut bytes = Vec::new();
        // A reset ends the response just as a close does.
        drop(timeout(DEADLINE, stream.read_to_end(&mut bytes)).await.expect("the server closes by the deadline"));
        Self { text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    /// Reads one response with a Content-Length and leaves the connection open.
    pub(crate) async fn read_one(stream: &mut (impl AsyncRead + Unpin)) -> Self {
        let mut text = String::new();
        loop {
            if let Some((head, body)) = text.split_once("\r\n\r\n")
                && body.len() >= content_length(head)
            {
                return Self { text };
            }
            let byte = timeout(DEADLINE, stream.read_u8()).await.expect("the answer comes by the deadline");
            text.push(byte.expect("the connection stays open").into());
        }
    }

    pub(crate) fn status(&self) -> &str {
        self.text.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)).unwrap_or("closed")
    }

    /// The status, and the code of the error if there is one.
    pub(crate) fn summary(&self) -> String {
        match self.code() {
            Some(code) => format!("{} {code}", self.status()),
            None => self.status().to_owned(),
        }
    }

    fn code(&self) -> Option<String> {
        let body: serde_json::Value = serde_json::from_str(self.body()).ok()?;
        let error = body.get("error")?;
        assert!(error["message"].is_string() && error["details"].is_object(), "{body}");
        Some(error["code"].as_str().expect("a code is text").to_owned())
    }

    pub(crate) fn body(&self) -> &str {
        self.text.split_once("\r\n\r\n").map_or("", |(_, body)| body)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let (head, _) = self.text.split_once("\r\n\r\n")?;
        head.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// Checks the headers of every response of ours. hyper's own responses to unreadable bytes have no body and are
    /// no risk.
    pub(crate) fn assert_hardened(&self) {
        assert!(!self.text.to_ascii_lowercase().contains("access-control-"), "{}", self.text);
        if self.body().is_empty() {
            return;
        }
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(self.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(self.header("cross-origin-resource-policy"), Some("same-origin"));
        assert_eq!(self.header("cross-origin-opener-policy"), Some("same-origin"));
        if self.body() != "page" {
            assert_eq!(self.header("cache-control"), Some("no-store"), "{}", self.text);
        }
    }
}

fn content_length(head: &str) -> usize {
    let head = head.to_ascii_lowercase();
    head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0)
}
