//! Looks each second whether the files of open applets were edited, and publishes what changed.
//!
//! Invariant: nothing is looked at that nobody shows, and a change that is missed costs nothing: the next look compares with what was
//! known last.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use model::{AppletName, SessionId};
use tokio::sync::broadcast;
use tokio::time::sleep;

use super::AppletState;
use super::folder::Stamp;
use super::states::StateKey;
use crate::reading::in_background;
use crate::{AppletError, Engine, Shared};

/// How often files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Something about an applet changed.
#[derive(Debug, Clone)]
pub enum AppletChange {
    /// Its state.
    State(StateChanged),
    /// The file of its state was edited, and holds none.
    StateUnreadable(StateUnreadable),
    /// Its content.
    Content {
        /// Which applet.
        name: AppletName,
        /// What names its content now; `None` if it is gone.
        hash: Option<String>,
    },
}

/// A state changed.
#[derive(Debug, Clone)]
pub struct StateChanged {
    pub(super) key: StateKey,
    /// As it is now.
    pub now: AppletState,
    /// Who wrote it, by their own name for themselves.
    pub writer: Option<Arc<str>>,
}

/// A state can not be read any more.
#[derive(Debug, Clone)]
pub struct StateUnreadable {
    pub(super) key: StateKey,
    /// What is wrong with it.
    pub why: String,
}

impl StateChanged {
    /// Whether it is the state that an applet has beside this session.
    pub fn is_of(&self, name: &AppletName, session: SessionId) -> bool {
        self.key.is_of(name, session)
    }
}

impl StateUnreadable {
    /// Whether it is the state that an applet has beside this session.
    pub fn is_of(&self, name: &AppletName, session: SessionId) -> bool {
        self.key.is_of(name, session)
    }
}

impl Engine {
    /// Changes of applets from now on.
    pub fn applet_changes(&self) -> broadcast::Receiver<AppletChange> {
        self.shared.applets.changes.subscribe()
    }
}

/// What was known of an applet's files at the last look.
struct Known {
    stamps: Vec<Option<Stamp>>,
    hash: Option<String>,
}

/// Looks for as long as the server runs.
pub(crate) async fn run(shared: Arc<Shared>) {
    let mut known: HashMap<AppletName, Known> = HashMap::new();
    loop {
        let open = shared.applets.opened.all_open();
        if open.is_empty() {
            known.clear();
            tokio::select! {
                () = shared.stopping.cancelled() => return,
                () = shared.applets.opened.opened.notified() => continue,
            }
        }
        known.retain(|name, _| open.iter().any(|(_, is)| is == name));
        for (session, name) in open {
            if let Err(err) = look(&shared, session, &name, &mut known).await {
                tracing::debug!(applet = %name, error = &err as &dyn std::error::Error, "an applet could not be looked at");
            }
        }
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            () = sleep(LOOK_EVERY) => (),
        }
    }
}

async fn look(
    shared: &Arc<Shared>,
    session: SessionId,
    name: &AppletName,
    known: &mut HashMap<AppletName, Known>,
) -> Result<(), AppletError> {
    let (folder, of) = (shared.applets.folder()?, name.clone());
    let stamps = in_background::<_, AppletError>(move || folder.stamps(&of)).await?;
    if known.get(name).is_none_or(|known| known.stamps != stamps) {
        let hash = match shared.applet(name).await {
            Ok(applet) => Some(applet.content.hash()),
            Err(AppletError::NotFound { .. } | AppletError::NothingShown(_)) => None,
            // Its files can not be read, and are looked at again; its state may be.
            Err(_) => return shared.state_of(name, Some(session)).await.map(drop),
        };
        let before = known.insert(name.clone(), Known { stamps, hash: hash.clone() });
        // A save has published it already; to publish it twice does no harm. At the first look nobody knows with what it was opened.
        if before.is_none_or(|before| before.hash != hash) {
            shared.applets.publish(AppletChange::Content { name: name.clone(), hash });
        }
    }
    if known.get(name).is_some_and(|known| known.hash.is_some()) {
        // An edit of the state is found by reading it.
        shared.state_of(name, Some(session)).await?;
    }
    Ok(())
}
