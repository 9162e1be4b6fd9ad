//! One WebSocket to `/api/v1/live`, read frame by frame; it checks what must hold on a single connection.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use serde_json::{Value, json};
use tungstenite::{ClientRequestBuilder, Message, WebSocket, client};

use super::promises::{Promise, Violation};
use super::server::Endpoint;

const FRAME_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) struct Live {
    socket: WebSocket<TcpStream>,
    /// For each followed session, the seq of the newest entry that the server knows we have.
    at: BTreeMap<String, u64>,
    frames_sent: u64,
}

/// The server's frames, as far as they matter here.
pub(crate) enum Frame {
    Entry(SeenEntry),
    CaughtUp { session: String },
    Broken(Violation),
    Other,
}

/// An entry as a follower saw it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SeenEntry {
    pub(crate) session: String,
    pub(crate) seq: u64,
    pub(crate) cursor: String,
    pub(crate) entry: Value,
}

impl Live {
    pub(crate) fn connect(endpoint: &Endpoint) -> anyhow::Result<Self> {
        let stream = TcpStream::connect_timeout(&endpoint.address, FRAME_TIMEOUT)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(FRAME_TIMEOUT))?;
        let uri = format!("ws://{}/api/v1/live", endpoint.address).parse().context("not a URI")?;
        let request = ClientRequestBuilder::new(uri).with_header("Authorization", format!("Bearer {}", endpoint.token));
        let (socket, _) = client(request, stream).map_err(|err| anyhow!("WebSocket handshake: {err}"))?;
        Ok(Self { socket, at: BTreeMap::new(), frames_sent: 0 })
    }

    /// Follows from a cursor, or from the beginning.
    pub(crate) fn follow(&mut self, session: &str, after: Option<&str>) -> anyhow::Result<()> {
        let at = after.map(seq_of).transpose()?.unwrap_or(0);
        self.at.insert(session.to_owned(), at);
        let mut frame = json!({ "type": "follow", "session": session });
        if let Some(cursor) = after {
            frame["after"] = json!(cursor);
        }
        self.send(frame)
    }

    pub(crate) fn unfollow(&mut self, session: &str) -> anyhow::Result<()> {
        self.at.remove(session);
        self.send(json!({ "type": "unfollow", "session": session }))
    }

    fn send(&mut self, mut frame: Value) -> anyhow::Result<()> {
        self.frames_sent += 1;
        frame["id"] = json!(self.frames_sent.to_string());
        self.socket.send(Message::text(frame.to_string())).context("could not send a frame")
    }

    /// The next frame; an error once the connection is gone.
    pub(crate) fn read(&mut self) -> anyhow::Result<Frame> {
        let message = self.socket.read().context("could not read a frame")?;
        match message {
            Message::Text(text) => {
                let frame = serde_json::from_str(&text).with_context(|| format!("a frame that is no JSON: {text}"))?;
                self.parse_frame(frame)
            }
            Message::Close(reason) => bail!("the server closed the socket: {reason:?}"),
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => Ok(Frame::Other),
        }
    }

    fn parse_frame(&mut self, mut frame: Value) -> anyhow::Result<Frame> {
        let session = frame["session"].as_str().unwrap_or_default().to_owned();
        match frame["type"].as_str() {
            Some("entry") => {
                let entry = frame["entry"].take();
                let seq = entry["seq"].as_u64().with_context(|| format!("an entry without a seq: {entry}"))?;
                let cursor = frame["cursor"].as_str().context("an entry frame without a cursor")?.to_owned();
                let Some(at) = self.at.get_mut(&session) else {
                    // An entry that was on its way when the follow ended.
                    return Ok(Frame::Other);
                };
                let expected = *at + 1;
                *at = seq;
                if seq != expected || seq_of(&cursor)? != seq {
                    let what =
                        format!("session {session}: entry {seq} with cursor {cursor} came where {expected} is next");
                    return Ok(Frame::Broken(Violation::new(Promise::OrderedUniqueGapless, what)));
                }
                Ok(Frame::Entry(SeenEntry { session, seq, cursor, entry }))
            }
            Some("caught_up") => Ok(Frame::CaughtUp { session }),
            // Nothing was restored, pruned or deleted, so every cursor is still valid.
            Some("reset" | "error") => Ok(Frame::Broken(Violation::new(Promise::ResumableByCursor, frame.to_string()))),
            Some(_) | None => Ok(Frame::Other),
        }
    }
}

/// `1f0c5d6b7a8e9f01.42` → 42.
pub(crate) fn seq_of(cursor: &str) -> anyhow::Result<u64> {
    let digits = cursor.split_once('.').with_context(|| format!("not a cursor: {cursor:?}"))?.1;
    digits.parse().with_context(|| format!("not a cursor: {cursor:?}"))
}

/// The cursor of another entry in the same incarnation of the store.
pub(crate) fn cursor_at(cursor: &str, seq: u64) -> String {
    let incarnation = cursor.split('.').next().unwrap_or_default();
    format!("{incarnation}.{seq}")
}
