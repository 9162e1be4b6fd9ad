//! The applets that one socket's page has open: it is sent their states, and is told when their content changes.
//!
//! Invariant: bounded in number, and forgotten with the socket. A socket that missed changes is sent all current states instead.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use engine::{AppletChange, AppletError, Engine, OpenApplet, StateChanged, StateUnreadable, ViewerId};
use model::{AppletName, SessionId};
use tokio::sync::broadcast::{self, error::RecvError};

use crate::convert;
use crate::error::ApiError;
use crate::wire::{AppletState, ServerFrame};

/// As many sessions as a socket follows.
const MAX_OPEN: usize = 100;

pub(super) struct ShownApplets {
    engine: Engine,
    viewer: ViewerId,
    open: BTreeMap<SessionId, AppletName>,
    changes: broadcast::Receiver<AppletChange>,
    /// What is to be sent next, each with its session.
    frames: VecDeque<(SessionId, ServerFrame)>,
    /// Changes were missed: what their applets are like now is still to be read.
    behind: BTreeSet<SessionId>,
}

impl ShownApplets {
    pub(super) fn new(engine: Engine) -> Self {
        let (viewer, changes) = (engine.new_viewer(), engine.applet_changes());
        Self { engine, viewer, open: BTreeMap::new(), changes, frames: VecDeque::new(), behind: BTreeSet::new() }
    }

    /// Notes that the page has an applet open; how it is now is sent at once, for the page may have missed a change.
    pub(super) async fn open(&mut self, session: SessionId, applet: OpenApplet) -> Result<(), ApiError> {
        if self.open.len() >= MAX_OPEN && !self.open.contains_key(&session) {
            return Err(ApiError::TooManyFollows(MAX_OPEN));
        }
        let name = applet.name.clone();
        self.engine.open_applet(self.viewer, session, applet).await?;
        self.open.insert(session, name.clone());
        // What waits here is of what was open before, or as old: a page may ask faster than it reads.
        self.forget_frames_of(session);
        self.send_now(session, &name).await;
        Ok(())
    }

    pub(super) fn close(&mut self, session: SessionId) {
        self.engine.close_applet(self.viewer, session);
        self.open.remove(&session);
        self.forget_frames_of(session);
    }

    fn forget_frames_of(&mut self, closed: SessionId) {
        self.frames.retain(|(session, _)| *session != closed);
    }

    /// The next frame; never, while there is none. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> ServerFrame {
        loop {
            if let Some((_, frame)) = self.frames.pop_front() {
                return frame;
            }
            if let Some(session) = self.behind.first().copied() {
                self.catch_up(session).await;
                continue;
            }
            match self.changes.recv().await {
                Ok(AppletChange::State(changed)) => self.note_changed(&changed),
                Ok(AppletChange::StateUnreadable(unreadable)) => self.note_unreadable(&unreadable),
                Ok(AppletChange::Content { name, hash }) => self.note_content(&name, hash.as_deref()),
                Err(RecvError::Lagged(_)) => self.behind.extend(self.open.keys()),
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    fn note_changed(&mut self, changed: &StateChanged) {
        let of = self.open.iter().filter(|(session, name)| changed.is_of(name, **session));
        let writer = changed.writer.as_deref().map(ToOwned::to_owned);
        let frames = of.map(|(session, name)| (*session, state_frame(*session, name, &changed.now, writer.clone())));
        self.frames.extend(frames);
    }

    fn note_unreadable(&mut self, unreadable: &StateUnreadable) {
        let of = self.open.iter().filter(|(session, name)| unreadable.is_of(name, **session));
        let frames = of.map(|(session, name)| (*session, unreadable_frame(*session, name, unreadable.why.clone())));
        self.frames.extend(frames);
    }

    fn note_content(&mut self, changed: &AppletName, hash: Option<&str>) {
        let of = self.open.iter().filter(|(_, name)| *name == changed);
        self.frames.extend(of.map(|(session, name)| (*session, changed_frame(*session, name, hash))));
    }

    /// Sends how an applet is now, after changes were missed. Whoever drops the future before it is done begins it again.
    async fn catch_up(&mut self, session: SessionId) {
        if let Some(name) = self.open.get(&session).cloned() {
            self.send_now(session, &name).await;
        }
        self.behind.remove(&session);
    }

    async fn send_now(&mut self, session: SessionId, name: &AppletName) {
        let content = match self.engine.applet(name.clone()).await {
            Ok(applet) => Some(changed_frame(session, name, Some(&applet.content.hash()))),
            Err(AppletError::NotFound { .. } | AppletError::NothingShown(_)) => {
                Some(changed_frame(session, name, None))
            }
            // It is there, and can not be read.
            Err(_) => None,
        };
        let state = self.state_now(session, name).await;
        self.frames.extend(content.into_iter().chain([state]).map(|frame| (session, frame)));
    }

    async fn state_now(&self, session: SessionId, name: &AppletName) -> ServerFrame {
        match self.engine.applet_state(name, Some(session)).await {
            Ok(now) => state_frame(session, name, &now, None),
            Err(err @ AppletError::StateUnreadable(_)) => unreadable_frame(session, name, err.to_string()),
            Err(err) => {
                let error = ApiError::from(err).into_detail();
                ServerFrame::Error { id: None, session: None, error }
            }
        }
    }
}

impl Drop for ShownApplets {
    fn drop(&mut self) {
        self.engine.viewer_left(self.viewer);
    }
}

fn state_frame(
    session: SessionId,
    name: &AppletName,
    now: &engine::AppletState,
    writer: Option<String>,
) -> ServerFrame {
    let AppletState { state, version } = convert::applet_state(now);
    ServerFrame::AppletState { session, applet: name.word().to_owned(), state, version, writer }
}

fn unreadable_frame(session: SessionId, name: &AppletName, message: String) -> ServerFrame {
    ServerFrame::AppletStateUnreadable { session, applet: name.word().to_owned(), message }
}

fn changed_frame(session: SessionId, name: &AppletName, hash: Option<&str>) -> ServerFrame {
    ServerFrame::AppletChanged { session, applet: name.word().to_owned(), hash: hash.map(ToOwned::to_owned) }
}
