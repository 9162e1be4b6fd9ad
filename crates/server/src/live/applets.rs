//! The applets that one socket's page has open: it is sent their states, and is told when their content changes.
//!
//! Invariant: bounded in number, and forgotten with the socket. A socket that missed changes is sent all current states instead.

use std::collections::{BTreeMap, VecDeque};

use engine::{AppletChange, AppletError, Engine, OpenApplet, StateChanged, ViewerId};
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
}

impl ShownApplets {
    pub(super) fn new(engine: Engine) -> Self {
        let (viewer, changes) = (engine.new_viewer(), engine.applet_changes());
        Self { engine, viewer, open: BTreeMap::new(), changes, frames: VecDeque::new() }
    }

    /// Notes that the page has an applet open; its state is sent at once.
    pub(super) async fn open(&mut self, session: SessionId, applet: OpenApplet) -> Result<(), ApiError> {
        if self.open.len() >= MAX_OPEN && !self.open.contains_key(&session) {
            return Err(ApiError::TooManyFollows(MAX_OPEN));
        }
        let name = applet.name.clone();
        self.engine.open_applet(self.viewer, session, applet).await?;
        self.open.insert(session, name.clone());
        // What waits here is of what was open before, or as old: a page may ask faster than it reads.
        self.forget_frames_of(session);
        self.note_state(session, &name).await;
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
            match self.changes.recv().await {
                Ok(AppletChange::State(changed)) => self.note_changed(&changed),
                Ok(AppletChange::Content { name, hash }) => self.note_content(&name, hash.as_deref()),
                Err(RecvError::Lagged(_)) => self.note_all().await,
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

    fn note_content(&mut self, changed: &AppletName, hash: Option<&str>) {
        let of = self.open.iter().filter(|(_, name)| *name == changed);
        self.frames.extend(of.map(|(session, name)| (*session, changed_frame(*session, name, hash))));
    }

    /// Sends how each applet is now, after changes were missed.
    async fn note_all(&mut self) {
        for (session, name) in self.open.clone() {
            let hash = self.engine.applet(name.clone()).await.ok().map(|applet| applet.content.hash());
            self.frames.push_back((session, changed_frame(session, &name, hash.as_deref())));
            self.note_state(session, &name).await;
        }
    }

    async fn note_state(&mut self, session: SessionId, name: &AppletName) {
        let frame = match self.engine.applet_state(name, Some(session)).await {
            Ok(now) => state_frame(session, name, &now, None),
            // The page says so where its own write is refused; here it has nothing to show.
            Err(AppletError::StateUnreadable(_)) => return,
            Err(err) => {
                let error = ApiError::from(err).into_detail();
                ServerFrame::Error { id: None, session: None, error }
            }
        };
        self.frames.push_back((session, frame));
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

fn changed_frame(session: SessionId, name: &AppletName, hash: Option<&str>) -> ServerFrame {
    ServerFrame::AppletChanged { session, applet: name.word().to_owned(), hash: hash.map(ToOwned::to_owned) }
}
