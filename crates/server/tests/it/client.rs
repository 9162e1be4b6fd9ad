//! The clients: HTTP with whatever headers a test wants, and the WebSocket.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::support::{CWD, Io, Way, World, within};

/// How long frames may come that are not the one that is waited for; marks and rows alone would go on for ever.
const LONG: Duration = Duration::from_secs(50);

/// Header lines beside Host.
pub(crate) type Lines = Vec<(&'static str, String)>;

/// An answer, whole.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body of an answer that must have this status.
    #[track_caller]
    pub(crate) fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        if self.body.is_empty() { Value::Null } else { self.json() }
    }

    /// Status and code of a refusal, whose shape is checked on the way; the bare status of anything else.
    #[track_caller]
    pub(crate) fn summary(&self) -> String {
        if self.status < 400 {
            return self.status.to_string();
        }
        assert_eq!(self.header("content-type"), Some("application/json"), "{}: {}", self.status, self.text());
        let body = self.json();
        let error = body["error"].as_object().unwrap_or_else(|| panic!("no error in {body}"));
        if body["jsonrpc"] == "2.0" {
            assert!(error["message"].as_str().is_some_and(|words| !words.is_empty()), "{body}");
            let ours = error.get("data").map(|data| format!(" {}", data["code"].as_str().unwrap())).unwrap_or_default();
            return format!("{} {}{ours}", self.status, error["code"]);
        }
        let mut keys: Vec<&str> = error.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["code", "details", "message"], "{body}");
        assert!(error["message"].is_string() && error["details"].is_object(), "{body}");
        format!("{} {}", self.status, error["code"].as_str().unwrap())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// A browser that has signed in.
#[derive(Debug, Clone)]
pub(crate) struct Browser {
    /// `name=value`, as the browser sends it back.
    pub(crate) cookie: String,
    pub(crate) proof: String,
}

impl World {
    pub(crate) fn bearer(&self) -> Lines {
        bearer(&self.token)
    }

    /// What a client calls the server.
    fn host(&self, way: Way) -> String {
        match way {
            Way::Port => self.address.to_string(),
            Way::Socket | Way::Inside => "localhost".to_owned(),
        }
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// As the person, with the token.
    pub(crate) async fn call(&self, request: &str, body: impl Into<Option<Value>>) -> Answer {
        self.call_as(self.bearer(), request, body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call(&format!("GET {path}"), None).await
    }

    pub(crate) async fn keyed(&self, key: &str, request: &str, body: impl Into<Option<Value>>) -> Answer {
        let mut lines = self.bearer();
        lines.push(("idempotency-key", key.to_owned()));
        self.call_as(lines, request, body).await
    }

    /// `request` is `METHOD /path`; a path that begins with neither `/api` nor `/` + something else is under `/api/v1`.
    pub(crate) async fn call_as(&self, lines: Lines, request: &str, body: impl Into<Option<Value>>) -> Answer {
        let body = body.into().map(|body| Bytes::from(serde_json::to_vec(&body).unwrap()));
        self.send(Way::Port, lines, request, body).await
    }

    pub(crate) async fn send(&self, way: Way, lines: Lines, request: &str, body: Option<Bytes>) -> Answer {
        let answer = within(request, self.exchange(way, lines, request, body)).await;
        let mut heard = self.heard.lock().unwrap();
        heard.extend_from_slice(format!("{:?}", answer.headers).as_bytes());
        heard.extend_from_slice(&answer.body);
        drop(heard);
        answer
    }

    async fn exchange(&self, way: Way, lines: Lines, request: &str, body: Option<Bytes>) -> Answer {
        let (method, path) = request.split_once(' ').unwrap();
        let mut builder = Request::builder().method(Method::from_bytes(method.as_bytes()).unwrap()).uri(path);
        if !lines.iter().any(|(name, _)| *name == "host") {
            builder = builder.header("host", self.host(way));
        }
        if body.is_some() && !lines.iter().any(|(name, _)| *name == "content-type") {
            builder = builder.header("content-type", "application/json");
        }
        for (name, value) in lines {
            builder = builder.header(name, value);
        }
        let request = builder.body(Full::new(body.unwrap_or_default())).unwrap();
        let stream = TokioIo::new(self.connect(way).await.unwrap());
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
        let exchange = async move {
            let response = sender.send_request(request).await.unwrap();
            let (parts, body) = response.into_parts();
            // An upgrade has no body, and waiting for one would wait for the socket's end.
            let body = if parts.status == 101 { Bytes::new() } else { body.collect().await.unwrap().to_bytes() };
            Answer { status: parts.status.as_u16(), headers: parts.headers, body }
        };
        let (mut exchange, mut connection) = (Box::pin(exchange), Box::pin(connection));
        tokio::select! {
            answer = &mut exchange => answer,
            // The server may close as soon as it has answered.
            _ = &mut connection => exchange.await,
        }
    }

    /// A session whose agent is ready; gives its id.
    pub(crate) async fn session(&self) -> String {
        let created = self.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": CWD })).await.ok(201);
        let id = created["id"].as_str().unwrap().to_owned();
        // The last that the guide tells of itself when it is there.
        self.until_entry(&id, |entry| entry["type"] == "agent.commands_changed").await;
        id
    }

    /// Sends a prompt; gives its interaction id.
    pub(crate) async fn prompt(&self, session: &str, text: &str) -> String {
        let request = format!("POST /api/v1/sessions/{session}/prompts");
        let accepted = self.call(&request, json!({ "text": text })).await.ok(202);
        accepted["interactionId"].as_str().unwrap().to_owned()
    }

    /// Sends a prompt and waits until its turn has ended.
    pub(crate) async fn turn(&self, session: &str, text: &str) {
        let interaction = self.prompt(session, text).await;
        let started = |entry: &Value| entry["type"] == "turn.started" && entry["data"]["interactionId"] == *interaction;
        let turn = self.until_entry(session, started).await["data"]["turn"].clone();
        self.until_entry(session, |entry| entry["type"] == "turn.ended" && entry["data"]["turn"] == turn).await;
    }

    /// Follows the session from its beginning until an entry is as wanted; gives that entry.
    pub(crate) async fn until_entry(&self, session: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut live = Live::local(self).await;
        live.ask(json!({ "type": "follow", "session": session })).await;
        loop {
            let frame = live.next().await;
            if frame["type"] == "entry" && wanted(&frame["entry"]) {
                return frame["entry"].clone();
            }
            assert!(frame["type"] != "error" && frame["type"] != "reset", "{frame}");
        }
    }

    /// Every entry of a session.
    pub(crate) async fn entries(&self, session: &str) -> Vec<Value> {
        let page = self.get(&format!("/api/v1/sessions/{session}/entries?limit=1000")).await.ok(200);
        assert_eq!(page["nextCursor"], Value::Null, "more entries than this helper reads");
        page["entries"].as_array().unwrap().clone()
    }

    /// How many entries a session has.
    pub(crate) async fn entries_count(&self, session: &str) -> u64 {
        let shown = self.get(&format!("/api/v1/sessions/{session}")).await.ok(200);
        shown["cursor"].as_str().unwrap().split_once('.').unwrap().1.parse().unwrap()
    }

    /// Signs a browser in, as the page does.
    pub(crate) async fn sign_in(&self) -> Browser {
        let code = self.engine.offer_code();
        let answer = self.call_as(vec![], "POST /api/v1/auth/exchange", json!({ "code": code.expose() })).await;
        let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        Browser { cookie, proof: answer.ok(200)["proof"].as_str().unwrap().to_owned() }
    }

    /// A token that an agent of this session holds.
    pub(crate) async fn agent_token(&self, session: &str) -> String {
        let issued = self.call("POST /api/v1/tokens", json!({ "name": "agent", "session": session })).await.ok(201);
        issued["secret"].as_str().unwrap().to_owned()
    }

    /// What a browser sends with a request of our own page.
    pub(crate) fn page_lines(&self, browser: &Browser) -> Lines {
        vec![
            ("cookie", browser.cookie.clone()),
            ("x-throughline-proof", browser.proof.clone()),
            ("origin", self.origin()),
            ("sec-fetch-site", "same-origin".to_owned()),
        ]
    }

    /// What it sends with an upgrade, where a page cannot add headers.
    pub(crate) fn upgrade_lines(&self, browser: &Browser) -> Lines {
        vec![("cookie", browser.cookie.clone()), ("origin", self.origin())]
    }
}

pub(crate) fn bearer(token: &str) -> Lines {
    vec![("authorization", format!("Bearer {token}"))]
}

/// A WebSocket to `/api/v1/live`.
pub(crate) struct Live {
    socket: WebSocketStream<Box<dyn Io>>,
    heard: Arc<Mutex<Vec<u8>>>,
    asked: u32,
}

impl Live {
    /// Over the Unix socket, signed in by being the same user.
    pub(crate) async fn local(world: &World) -> Self {
        Self::open(world, Way::Socket, vec![]).await.unwrap().greeted().await
    }

    pub(crate) async fn bearer(world: &World, token: &str) -> Self {
        Self::open(world, Way::Port, bearer(token)).await.unwrap().greeted().await
    }

    /// As a browser: the cookie with the upgrade, the proof as first frame.
    pub(crate) async fn browser(world: &World, browser: &Browser) -> Self {
        let mut live = Self::open(world, Way::Port, world.upgrade_lines(browser)).await.unwrap();
        live.ask(json!({ "type": "auth", "proof": browser.proof })).await;
        let ack = live.next().await;
        assert_eq!(ack["type"], "ack", "{ack}");
        live.greeted().await
    }

    pub(crate) async fn open(world: &World, way: Way, lines: Lines) -> Result<Self, Answer> {
        Self::open_at(world, way, "/api/v1/live", lines).await
    }

    /// The refusal where there is no upgrade.
    pub(crate) async fn open_at(world: &World, way: Way, path: &str, lines: Lines) -> Result<Self, Answer> {
        let mut request = format!("ws://{}{path}", world.host(way)).into_client_request().unwrap();
        for (name, value) in lines {
            request.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_str(&value).unwrap());
        }
        Self::upgrade(world, world.connect(way).await.unwrap(), request).await
    }

    /// Over a stream of the test's own, from inside this process.
    pub(crate) async fn over(world: &World, stream: Box<dyn Io>) -> Self {
        let request = "ws://localhost/api/v1/live".into_client_request().unwrap();
        Self::upgrade(world, stream, request).await.unwrap()
    }

    async fn upgrade(world: &World, stream: Box<dyn Io>, request: Request<()>) -> Result<Self, Answer> {
        match within("an upgrade", tokio_tungstenite::client_async(request, stream)).await {
            Ok((socket, _)) => Ok(Self { socket, heard: Arc::clone(&world.heard), asked: 0 }),
            Err(Error::Http(response)) => {
                let (parts, body) = response.into_parts();
                let body = body.unwrap_or_default().into();
                Err(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
            }
            Err(err) => panic!("{err}"),
        }
    }

    /// Past the two frames that everyone gets who may see the list.
    async fn greeted(mut self) -> Self {
        assert_eq!(self.next().await["type"], "hello");
        assert_eq!(self.next().await["type"], "list");
        self
    }

    /// Sends a request; gives its id.
    pub(crate) async fn ask(&mut self, mut request: Value) -> String {
        self.asked += 1;
        let id = format!("r{}", self.asked);
        request["id"] = json!(id);
        self.send_text(&request.to_string()).await;
        id
    }

    /// Asks the same so often, in one piece; gives the id of the last.
    pub(crate) async fn ask_often(&mut self, mut request: Value, times: usize) -> String {
        for _ in 0..times {
            self.asked += 1;
            request["id"] = json!(format!("r{}", self.asked));
            self.socket.feed(Message::text(request.to_string())).await.unwrap();
        }
        within("room for frames", self.socket.flush()).await.unwrap();
        format!("r{}", self.asked)
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.send(Message::text(text)).await;
    }

    pub(crate) async fn send(&mut self, message: Message) {
        within("room for a frame", self.socket.send(message)).await.unwrap();
    }

    /// Whether the server still takes anything; reads nothing.
    pub(crate) async fn is_open(&mut self) -> bool {
        within("room for a frame", self.socket.send(Message::Ping("open".into()))).await.is_ok()
    }

    /// The next frame.
    pub(crate) async fn next(&mut self) -> Value {
        match within("a frame", self.receive()).await {
            Ok(frame) => frame,
            Err(close) => panic!("the socket was closed: {close:?}"),
        }
    }

    /// Frames up to and with the first of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> Vec<Value> {
        self.until_that(|frame| frame["type"] == kind).await
    }

    pub(crate) async fn until_that(&mut self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut frames = Vec::new();
        let begun_at = Instant::now();
        loop {
            frames.push(self.next().await);
            if wanted(frames.last().unwrap()) {
                return frames;
            }
            assert!(begun_at.elapsed() < LONG, "it did not come among {} frames", frames.len());
        }
    }

    /// The answer to a request, past whatever else comes.
    pub(crate) async fn answer(&mut self, id: &str) -> Value {
        self.until_that(|frame| frame["id"] == id).await.pop().unwrap()
    }

    pub(crate) async fn call(&mut self, request: Value) -> Value {
        let id = self.ask(request).await;
        self.answer(&id).await
    }

    /// What comes until the server closes, and its code (0 if it closes without one).
    pub(crate) async fn until_closed(&mut self) -> (Vec<Value>, u16) {
        let mut frames = Vec::new();
        let begun_at = Instant::now();
        loop {
            match within("the end of the socket", self.receive()).await {
                Ok(frame) => frames.push(frame),
                Err(close) => return (frames, close.map_or(0, |close| close.code.into())),
            }
            assert!(begun_at.elapsed() < LONG, "it is still open after {} frames", frames.len());
        }
    }

    async fn receive(&mut self) -> Result<Value, Option<CloseFrame>> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    self.heard.lock().unwrap().extend_from_slice(text.as_bytes());
                    return Ok(serde_json::from_str(&text).unwrap());
                }
                Some(Ok(Message::Close(frame))) => return Err(frame),
                Some(Ok(_)) => (),
                Some(Err(_)) | None => return Err(None),
            }
        }
    }
}
