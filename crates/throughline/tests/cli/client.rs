//! A client of a server that fails under it: it keeps the answers that it got, and what it saw.
//!
//! Invariant: it assumes nothing. An incomplete answer is no answer, and a follower keeps every frame until its
//! socket ends.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::support::{DEADLINE, Folder, Running};

pub(crate) struct Client {
    address: String,
    token: String,
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Told {
    /// Status and code of a refusal; the bare status of anything else.
    pub(crate) fn summary(&self) -> String {
        match self.body["error"]["code"].as_str() {
            Some(code) => format!("{} {code}", self.status),
            None => self.status.to_string(),
        }
    }
}

impl Client {
    pub(crate) fn new(folder: &Folder, server: &Running) -> Self {
        let token = fs::read_to_string(folder.file("token")).unwrap();
        Self { address: server.address().to_owned(), token }
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Sends once; `None` if the server was gone before it had answered.
    pub(crate) fn call(&self, request: &str, key: Option<&str>, body: &Value) -> Option<Told> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let Self { address, token } = self;
        let key = key.map(|key| format!("Idempotency-Key: {key}\r\n")).unwrap_or_default();
        let length = body.len();
        let head = format!(
            "{request} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{key}\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all((head + &body).as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        // An empty body is complete if none was announced; any other has to be complete JSON.
        let body = if body.is_empty() { Value::Null } else { serde_json::from_str(body).ok()? };
        Some(Told { status, body })
    }

    pub(crate) fn get(&self, path: &str) -> Told {
        self.call(&format!("GET /api/v1{path}"), None, &Value::Null).unwrap()
    }

    /// Makes a session of the guide; returns its id.
    pub(crate) fn session(&self) -> String {
        let body = json!({ "agent": "guide", "cwd": "/usr" });
        let created = self.call("POST /api/v1/sessions", None, &body).unwrap();
        assert_eq!(created.status, 201, "{}", created.body);
        created.body["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn prompt(&self, session: &str, key: &str, text: &str) -> Option<Told> {
        self.call(&format!("POST /api/v1/sessions/{session}/prompts"), Some(key), &json!({ "text": text }))
    }

    /// Every entry of a session.
    pub(crate) fn entries(&self, session: &str) -> Vec<Value> {
        let page = self.get(&format!("/sessions/{session}/entries?limit=1000"));
        assert_eq!((page.status, &page.body["nextCursor"]), (200, &Value::Null), "{}", page.body);
        page.body["entries"].as_array().unwrap().clone()
    }

    /// Follows the session until an entry matches.
    pub(crate) fn until_entry(&self, session: &str, wanted: impl Fn(&Value) -> bool) {
        let mut follower = self.follow(session);
        let asked_at = Instant::now();
        while !wanted(&follower.next()["entry"]) {
            // Marks come for ever, so the time since the call counts.
            assert!(asked_at.elapsed() < DEADLINE, "no such entry came by the deadline");
        }
    }

    /// Follows a session from its beginning.
    pub(crate) fn follow(&self, session: &str) -> Follower {
        let mut request = format!("ws://{}/api/v1/live", self.address).into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {}", self.token).parse().unwrap());
        let stream = TcpStream::connect(&self.address).unwrap();
        let (mut socket, _) = tungstenite::client(request, stream).unwrap();
        let follow = json!({ "id": "f", "type": "follow", "session": session });
        socket.send(Message::text(follow.to_string())).unwrap();
        let (heard, frames) = mpsc::channel();
        thread::spawn(move || {
            while let Ok(message) = socket.read() {
                let frame = match message {
                    Message::Text(text) => serde_json::from_str(&text).unwrap(),
                    Message::Close(Some(close)) => json!({ "type": "close", "code": u16::from(close.code) }),
                    _ => continue,
                };
                if heard.send(frame).is_err() {
                    return;
                }
            }
        });
        Follower { frames }
    }
}

/// What a socket receives, until it ends.
pub(crate) struct Follower {
    frames: mpsc::Receiver<Value>,
}

impl Follower {
    pub(crate) fn next(&mut self) -> Value {
        self.frames.recv_timeout(DEADLINE).expect("a frame did not come by the deadline")
    }

    /// All frames up to the end of the socket.
    pub(crate) fn rest(self) -> Vec<Value> {
        let mut frames = Vec::new();
        let asked_at = Instant::now();
        loop {
            // Marks come for ever, so the time since the call counts.
            match self.frames.recv_timeout(DEADLINE.saturating_sub(asked_at.elapsed())) {
                Ok(frame) => frames.push(frame),
                Err(mpsc::RecvTimeoutError::Disconnected) => return frames,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("the socket is still open after {frames:?}"),
            }
        }
    }
}
