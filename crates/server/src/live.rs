//! The WebSocket: one socket, many follows, bounded queues.
//!
//! Invariant: nothing is sent before the caller is known. A program shows its token with the upgrade; a browser
//! cannot set headers there, so its cookie opens the socket and the proof must be the first frame, within five
//! seconds. `live/socket.rs` is the loop that follows.

mod applets;
mod follows;
mod joined;
mod requests;
mod socket;

use std::io;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::response::{IntoResponse as _, Response};
use doors::{Arrival, Caller, Gatekeeper as _, Presented, Principal, Role, Secret};
use futures_util::SinkExt as _;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{self, error::ProtocolError};

use crate::App;
use crate::error::ApiError;
use crate::extract::NoParams;
use crate::live::socket::Socket;
use crate::wire::{ClientFrame, Request, ServerFrame};

/// Room for the longest prompt (1 MiB) with every character of it escaped (six bytes each), and what is around it.
const MAX_MESSAGE_BYTES: usize = (6 << 20) + (64 << 10);
/// Agents and applets only follow, which takes few words.
const MAX_AGENT_MESSAGE_BYTES: usize = 64 << 10;
/// What the library takes before it calls the peer gone. Frames wait for room in a queue of our own, so that this is
/// never reached by what is sent: a longest line of an agent, and what is around it, is far shorter.
const MAX_WRITE_BUFFER_BYTES: usize = 64 << 20;
/// The library fills its buffer with zeros at every look whether the peer said something, which is once for each frame
/// that is sent. Clients say little, so little is enough.
const READ_BUFFER_BYTES: usize = 4 << 10;
const PROOF_WITHIN: Duration = Duration::from_secs(5);
/// How long the last words may take.
const GOODBYE_WITHIN: Duration = Duration::from_secs(1);

/// Why the server closed a socket, for programs.
mod close {
    pub(super) const GOING_AWAY: u16 = 1001;
    pub(super) const PROTOCOL_ERROR: u16 = 1002;
    pub(super) const NOT_UTF8: u16 = 1007;
    pub(super) const TOO_LARGE: u16 = 1009;
    pub(super) const UNAUTHENTICATED: u16 = 4001;
    pub(super) const SIGNED_OUT: u16 = 4003;
    pub(super) const TOO_SLOW: u16 = 4008;
}

pub(crate) async fn upgrade(
    State(app): State<App>,
    caller: Caller,
    _: NoParams,
    Extension(arrival): Extension<Arrival>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Ok(upgrade) = upgrade else { return ApiError::UpgradeRequired.into_response() };
    let max_message_bytes = match &caller {
        Caller::Known(Principal { role: Role::Agent | Role::Applet, .. }) => MAX_AGENT_MESSAGE_BYTES,
        Caller::Known(Principal { role: Role::Person, .. }) | Caller::AwaitsProof(_) => MAX_MESSAGE_BYTES,
    };
    upgrade
        .max_message_size(max_message_bytes)
        .max_frame_size(max_message_bytes)
        .max_write_buffer_size(MAX_WRITE_BUFFER_BYTES)
        .read_buffer_size(READ_BUFFER_BYTES)
        .on_upgrade(async move |mut socket| {
            let principal = match caller {
                Caller::Known(principal) => Some(principal),
                Caller::AwaitsProof(cookie) => {
                    let stopping = app.settings.stopping.clone();
                    let signed_in = stopping.run_until_cancelled(sign_in(&app, &mut socket, cookie, &arrival)).await;
                    let Some(principal) = signed_in else {
                        return farewell(&mut socket, close::GOING_AWAY, "the server is stopping").await;
                    };
                    principal
                }
            };
            match principal {
                Some(principal) => Socket::new(app, principal, socket).run().await,
                None => farewell(&mut socket, close::UNAUTHENTICATED, "sign in first").await,
            }
        })
}

/// Waits for the proof that belongs to the cookie.
async fn sign_in(app: &App, socket: &mut WebSocket, cookie: Secret, arrival: &Arrival) -> Option<Principal> {
    let Ok(Some(Ok(Message::Text(text)))) = timeout(PROOF_WITHIN, socket.recv()).await else { return None };
    let frame: ClientFrame = serde_json::from_str(&text).ok()?;
    let Request::Auth { proof } = frame.request else { return None };
    let presented = Presented::Cookie { cookie, proof: Secret::new(proof.expose()) };
    let Some(principal) = app.settings.gatekeeper.admit(&presented) else {
        // The refusal's body has no way out of a socket; the count is what matters.
        let _counted = arrival.credential_failed();
        return None;
    };
    write(socket, text_of(&ServerFrame::Ack { id: frame.id, result: None })).await.ok()?;
    Some(principal)
}

/// The peer has stopped reading, or is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Broken {
    Gone,
    TooSlow,
}

fn text_of(frame: &ServerFrame) -> String {
    serde_json::to_string(frame).expect("frames are plain data")
}

/// Takes as long as the peer does, provided that it goes on reading: `doors` ends a connection that stands still.
async fn write(socket: &mut WebSocket, text: String) -> Result<(), Broken> {
    send(socket, Message::Text(text.into())).await
}

async fn send(socket: &mut WebSocket, message: Message) -> Result<(), Broken> {
    socket.send(message).await.map_err(|err| broken(&err))
}

/// Hands a frame over without seeing to it that it leaves; [`flush`] does.
async fn feed(socket: &mut WebSocket, text: String) -> Result<(), Broken> {
    socket.feed(Message::Text(text.into())).await.map_err(|err| broken(&err))
}

async fn flush(socket: &mut WebSocket) -> Result<(), Broken> {
    socket.flush().await.map_err(|err| broken(&err))
}

fn broken(err: &axum::Error) -> Broken {
    if stands_still(err) { Broken::TooSlow } else { Broken::Gone }
}

/// How to close on a peer that breaks the rules of WebSocket; not at all on one that is gone.
fn violation(err: &axum::Error) -> Option<(u16, &'static str)> {
    let mut causes = std::iter::successors(Some(err as &dyn std::error::Error), |err| err.source());
    match causes.find_map(|err| err.downcast_ref::<tungstenite::Error>())? {
        tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
        tungstenite::Error::Protocol(_) => Some((close::PROTOCOL_ERROR, "a frame is not as the protocol asks")),
        tungstenite::Error::Utf8(_) => Some((close::NOT_UTF8, "a text is not UTF-8")),
        tungstenite::Error::Capacity(_) => Some((close::TOO_LARGE, "a message is too large")),
        // The library's own list of what else can happen; none of it is the peer's doing.
        _ => None,
    }
}

fn stands_still(err: &axum::Error) -> bool {
    let causes = std::iter::successors(Some(err as &dyn std::error::Error), |err| err.source());
    causes.filter_map(|err| err.downcast_ref::<io::Error>()).any(|err| err.kind() == io::ErrorKind::TimedOut)
}

async fn farewell(socket: &mut WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame { code, reason: reason.into() };
    // A peer that does not listen any more is closed without a word when the socket is dropped.
    drop(timeout(GOODBYE_WITHIN, socket.send(Message::Close(Some(frame)))).await);
}
