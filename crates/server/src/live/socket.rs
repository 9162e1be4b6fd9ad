//! The loop of one socket: frames in, frames out, and the reasons to end.
//!
//! Invariant: memory per socket is bounded. Follows wait when the peer does not read and take up the log where they
//! were; a peer that reads nothing for ten seconds is closed, with its cursors if it still receives them. A peer
//! that is signed out is sent nothing more and its frames are not handled, whether it reads or not.

use std::collections::BTreeMap;
use std::future::pending;
use std::mem::take;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use doors::{Principal, Right};
use engine::{Attention, Earlier, ListChange, OpenApplet};
use model::{SessionId, WorkId};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::applets::ShownApplets;
use super::follows::{Begin, Follows, Ready, UnsentWords, reset_frame};
use super::requests::Requests;
use super::{Broken, GOODBYE_WITHIN, close, farewell, feed, flush, send, text_of, violation, write};
use crate::error::ApiError;
use crate::extract::AppletWord;
use crate::gatekeeper::TokenGatekeeper;
use crate::http::{applets, entries, sessions};
use crate::wire::{self, ClientFrame, ContextReason, Request, ServerFrame, Window};
use crate::{App, access, convert};

/// How often quiet follows are marked and the peer is asked whether it lives.
const BEAT: Duration = Duration::from_secs(15);
/// A peer that says nothing for this long after it was asked is gone. With the beat, that is found within 40 seconds.
const ANSWER_WITHIN: Duration = Duration::from_secs(25);

/// Follows that have said nothing for this long have nothing left to say.
const QUIET_FOR: Duration = Duration::from_millis(50);
/// How many turns back a follow may begin.
const MAX_TURNS: u32 = 200;
/// As many frames of follows go out before anything else has its turn.
const FRAMES_A_FLUSH: usize = 64;

pub(super) struct Socket {
    app: App,
    principal: Principal,
    leave: Leave,
    socket: WebSocket,
    follows: Follows,
    requests: Requests,
    applets: ShownApplets,
    /// Changes of the list, for callers that may see all of it.
    list: Option<broadcast::Receiver<ListChange>>,
    /// When the peer was asked whether it lives, while it has said nothing since.
    asked_at: Option<Instant>,
}

/// What ends a socket whatever its peer does.
struct Leave {
    stopping: CancellationToken,
    tokens: watch::Receiver<u64>,
    gatekeeper: TokenGatekeeper,
    principal: Principal,
}

impl Leave {
    /// Waits until the socket may not go on. Dropping the future loses nothing.
    async fn taken(&mut self) -> End {
        loop {
            if !self.gatekeeper.is_in_force(&self.principal) {
                return End::SignedOut;
            }
            tokio::select! {
                biased;
                () = self.stopping.cancelled() => return End::Stopping,
                changed = self.tokens.changed() => if changed.is_err() { return End::Stopping },
            }
        }
    }
}

/// Why the loop ended.
enum End {
    PeerLeft,
    PeerSilent,
    /// The peer broke the rules of WebSocket: the code and the words that the socket is closed with.
    Violation(u16, &'static str),
    Broken(Broken),
    SignedOut,
    Stopping,
}

impl From<Broken> for End {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl Socket {
    pub(super) fn new(app: App, principal: Principal, socket: WebSocket) -> Self {
        let list = access::everything(&principal, Right::Read).ok().map(|()| app.engine.list_changes());
        let unsent = match access::everything(&principal, Right::Write) {
            Ok(()) => UnsentWords::Told,
            Err(_) => UnsentWords::Kept,
        };
        let follows = Follows::new(app.engine.clone(), unsent);
        let requests = Requests::new(app.clone(), principal.clone());
        let applets = ShownApplets::new(app.engine.clone());
        // Watched from before the greeting: a credential that ends while the peer reads slowly must not be missed.
        let leave = Leave {
            stopping: app.settings.stopping.clone(),
            tokens: app.engine.tokens().changes(),
            gatekeeper: app.settings.gatekeeper.clone(),
            principal: principal.clone(),
        };
        Self { app, principal, leave, socket, follows, requests, applets, list, asked_at: None }
    }

    pub(super) async fn run(mut self) {
        let end = match self.live().await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        let (code, reason) = match end {
            End::PeerLeft | End::Broken(Broken::Gone) => return,
            // What it said can not be understood, and so nothing more is said but this.
            End::Violation(code, reason) => return farewell(&mut self.socket, code, reason).await,
            End::PeerSilent => (close::TOO_SLOW, "no answer to pings"),
            End::Broken(Broken::TooSlow) => (close::TOO_SLOW, "reads too slowly"),
            End::SignedOut => (close::SIGNED_OUT, "signed out"),
            End::Stopping => (close::GOING_AWAY, "the server is stopping"),
        };
        if matches!(end, End::Stopping) {
            drop(timeout(GOODBYE_WITHIN, self.last_words()).await);
        }
        let cursors = self.follows.cursors().map(|(session, cursor)| (session, cursor.to_string())).collect();
        let bye = ServerFrame::Bye { reason: reason.to_owned(), cursors };
        // A peer that does not receive it has its own last cursor.
        drop(timeout(GOODBYE_WITHIN, write(&mut self.socket, text_of(&bye))).await);
        farewell(&mut self.socket, code, reason).await;
    }

    /// The engine has settled its sessions: how they ended is on its way and still to be sent.
    async fn last_words(&mut self) {
        while let Ok(mut ready) = timeout(QUIET_FOR, self.follows.next()).await {
            if write(&mut self.socket, take(&mut ready.frame.text)).await.is_err() {
                return;
            }
            self.follows.sent(&ready);
        }
    }

    async fn live(&mut self) -> Result<std::convert::Infallible, End> {
        let incarnation = self.app.engine.incarnation().to_string();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let specs_label = self.app.settings.specs_label.clone();
        self.send(ServerFrame::Hello { incarnation, version, specs_label }).await?;
        if self.list.is_some() {
            self.send_list().await?;
        }
        let mut beat = interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // In this order: reasons to end come before anything that could keep the loop busy, what the peer said
                // before what its silence means, and what is rare before what may come without end.
                biased;
                end = self.leave.taken() => return Err(end),
                answer = self.requests.next() => self.send(answer).await?,
                message = self.socket.recv() => {
                    self.asked_at = None;
                    match message {
                        Some(Ok(message)) => self.handle(message).await?,
                        Some(Err(err)) => {
                            return Err(violation(&err).map_or(End::PeerLeft, |(code, why)| End::Violation(code, why)));
                        }
                        None => return Err(End::PeerLeft),
                    }
                }
                () = silence(self.asked_at) => return Err(End::PeerSilent),
                _ = beat.tick() => self.beat().await?,
                change = next_change(&mut self.list) => self.send_change(change).await?,
                frame = self.applets.next() => self.send(frame).await?,
                ready = self.follows.next() => self.send_ready(ready).await?,
            }
        }
    }

    async fn send(&mut self, frame: ServerFrame) -> Result<(), End> {
        self.send_text(text_of(&frame)).await
    }

    /// Hands over all that is ready and flushes once: a socket that is behind catches up in few system calls.
    async fn send_ready(&mut self, first: Ready) -> Result<(), End> {
        let mut next = Some(first);
        let mut fed = 0;
        while let Some(mut ready) = next.take() {
            let text = take(&mut ready.frame.text);
            self.unless_over(async |socket| feed(socket, text).await).await?;
            self.follows.sent(&ready);
            fed += 1;
            if fed < FRAMES_A_FLUSH {
                next = self.follows.try_next();
            }
        }
        self.unless_over(flush).await
    }

    async fn send_text(&mut self, text: String) -> Result<(), End> {
        self.unless_over(async |socket| write(socket, text).await).await
    }

    /// Writes, but no longer than the socket may go on.
    async fn unless_over(&mut self, write: impl AsyncFnOnce(&mut WebSocket) -> Result<(), Broken>) -> Result<(), End> {
        tokio::select! {
            biased;
            end = self.leave.taken() => Err(end),
            written = write(&mut self.socket) => Ok(written?),
        }
    }

    async fn send_list(&mut self) -> Result<(), End> {
        let frame = match sessions::first_page(&self.app).await {
            Ok(page) => ServerFrame::List { id: None, page },
            Err(err) => ServerFrame::Error { id: None, session: None, error: err.into_detail() },
        };
        self.send(frame).await
    }

    async fn beat(&mut self) -> Result<(), End> {
        for frame in self.follows.progress() {
            self.send(frame).await?;
        }
        self.unless_over(async |socket| send(socket, Message::Ping("beat".into())).await).await?;
        self.asked_at.get_or_insert_with(Instant::now);
        Ok(())
    }

    async fn send_change(&mut self, change: Result<ListChange, RecvError>) -> Result<(), End> {
        match change {
            Ok(ListChange::Put { row, attention }) => {
                let session = Some(convert::session_row(&self.app.engine, &row));
                self.send(row_frame(session, None, attention)).await
            }
            Ok(ListChange::Removed { session, attention }) => {
                self.send(row_frame(None, Some(session), attention)).await
            }
            Ok(ListChange::PutWork(work)) => {
                let work = Some(convert::work((*work).clone()));
                self.send(self.work_frame(work, None)).await
            }
            Ok(ListChange::RemovedWork { id }) => self.send(self.work_frame(None, Some(id))).await,
            // Changes were missed: the first page says how things stand.
            Err(RecvError::Lagged(_)) => self.send_list().await,
            Err(RecvError::Closed) => Err(End::Stopping),
        }
    }

    fn work_frame(&self, work: Option<wire::MetaContext>, removed_work: Option<WorkId>) -> ServerFrame {
        let Attention { unobserved: unobserved_count, needs_you: needs_you_count } = self.app.engine.attention();
        ServerFrame::Row { session: None, removed: None, work, removed_work, unobserved_count, needs_you_count }
    }

    async fn handle(&mut self, message: Message) -> Result<(), End> {
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => return self.refuse(None, "frames are text").await,
            // The library has answered a ping; a pong counts as a sign of life; after a close comes the end.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => return Ok(()),
        };
        let frame: ClientFrame = match serde_json::from_str(&text) {
            Ok(frame) => frame,
            Err(err) => return self.refuse(id_of(&text), &err.to_string()).await,
        };
        match frame.request {
            Request::Follow { session, after, turns, batch } => {
                let begun = self.begin_follow(session, after, turns).await;
                self.follow(frame.id, session, begun, batch).await
            }
            Request::Unfollow { session } => {
                self.follows.unfollow(session);
                self.answer(frame.id, Ok(())).await
            }
            Request::AppletOpen { session, applet, params } => {
                let opened = self.open_applet(session, applet, params).await;
                self.answer(frame.id, opened).await
            }
            Request::AppletClose { session } => {
                self.applets.close(session);
                self.answer(frame.id, Ok(())).await
            }
            Request::Ping {} => self.answer(frame.id, Ok(())).await,
            Request::Auth { .. }
            | Request::List { .. }
            | Request::Prompt { .. }
            | Request::Cancel { .. }
            | Request::Answer { .. }
            | Request::NextBlockClick { .. }
            | Request::AppletState { .. }
            | Request::Observe { .. } => match self.requests.take(frame) {
                None => Ok(()),
                Some(refusal) => self.send(refusal).await,
            },
        }
    }

    async fn open_applet(
        &mut self,
        session: SessionId,
        applet: String,
        params: BTreeMap<String, String>,
    ) -> Result<(), ApiError> {
        access::session(&self.principal, Right::Write, session)?;
        let name = applets::name(AppletWord(applet), Some(session))?;
        self.applets.open(session, OpenApplet { name, params }).await
    }

    async fn answer(&mut self, id: String, done: Result<(), ApiError>) -> Result<(), End> {
        let frame = match done {
            Ok(()) => ServerFrame::Ack { id, result: None },
            Err(err) => ServerFrame::Error { id: Some(id), session: None, error: err.into_detail() },
        };
        self.send(frame).await
    }

    async fn refuse(&mut self, id: Option<String>, why: &str) -> Result<(), End> {
        let error = ApiError::InvalidFrame(why.to_owned()).into_detail();
        self.send(ServerFrame::Error { id, session: None, error }).await
    }

    async fn follow(
        &mut self,
        id: String,
        session: SessionId,
        begun: Result<engine::Follow, ApiError>,
        batch: bool,
    ) -> Result<(), End> {
        let mut follow = match begun {
            Ok(follow) => follow,
            Err(err) => {
                if let Some(reset) = reset_frame(session, &err) {
                    self.send(reset).await?;
                }
                return self
                    .send(ServerFrame::Error { id: Some(id), session: Some(session), error: err.into_detail() })
                    .await;
            }
        };
        self.send(ServerFrame::Ack { id, result: None }).await?;
        let snapshot = match convert::whole_session(&self.app.engine, &follow.snapshot).await {
            Ok(snapshot) => snapshot,
            Err(err) => {
                let error = ApiError::from(err).into_detail();
                return self.send(ServerFrame::Error { id: None, session: Some(session), error }).await;
            }
        };
        let context = convert::context(&follow.snapshot.context);
        let after = follow.cursor().to_string();
        let window = follow.earlier.take().map(|Earlier { agent, asked }| Box::new(Window { after, agent, asked }));
        self.send(ServerFrame::Session { session, snapshot, window }).await?;
        let reason = ContextReason::Load;
        self.send(ServerFrame::SessionContext { session, reason, set_name: None, context }).await?;
        self.follows.start(follow, batch);
        Ok(())
    }

    async fn begin_follow(
        &mut self,
        session: SessionId,
        after: Option<String>,
        turns: Option<u32>,
    ) -> Result<engine::Follow, ApiError> {
        access::session(&self.principal, Right::Read, session)?;
        let begin = match (after, turns) {
            (after, None) => Begin::After(after.map(|after| entries::cursor(&self.app, &after)).transpose()?),
            (None, Some(turns)) if (1..=MAX_TURNS).contains(&turns) => Begin::Newest(turns),
            (None, Some(_)) => return Err(ApiError::InvalidFrame(format!("turns is a number from 1 to {MAX_TURNS}"))),
            (Some(_), Some(_)) => return Err(ApiError::InvalidFrame("after and turns do not go together".to_owned())),
        };
        self.follows.follow(session, begin).await
    }
}

/// Waits until a peer that was asked has been silent for too long; for ever, while it owes no answer.
async fn silence(asked_at: Option<Instant>) {
    match asked_at {
        Some(asked_at) => sleep_until(asked_at + ANSWER_WITHIN).await,
        None => pending().await,
    }
}

/// The next change of the list; never, for callers that may not see it.
async fn next_change(list: &mut Option<broadcast::Receiver<ListChange>>) -> Result<ListChange, RecvError> {
    match list {
        Some(list) => list.recv().await,
        None => pending().await,
    }
}

/// The id of a frame that could not be understood, so that whoever sent it knows which one it was.
fn id_of(frame: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        id: String,
    }
    serde_json::from_str::<Named>(frame).ok().map(|named| named.id)
}

fn row_frame(session: Option<wire::SessionRow>, removed: Option<SessionId>, attention: Attention) -> ServerFrame {
    let Attention { unobserved: unobserved_count, needs_you: needs_you_count } = attention;
    ServerFrame::Row { session, removed, work: None, removed_work: None, unobserved_count, needs_you_count }
}
