//! Applets: small pages that agents make, kept as plain files, shown beside a session, with a state that lasts.
//!
//! Invariants: an applet is found by a checked name below one folder, so no name leads anywhere else. Its files are the truth and may be
//! edited; a session's own one, which nobody saved, lies in a folder of the session's. A state is flushed before anybody hears of it.
//! What the person granted holds for the content that they granted it to.

mod bundled;
mod content;
mod error;
mod folder;
mod grants;
mod opened;
mod session_files;
mod showing;
mod states;
mod unsent;
mod watching;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use files::{Deny, FileError};
use model::{AppletName, AppletSlug, SessionId, StreamId, Timestamp, is_applet_line};
use serde::{Deserialize, Serialize};
use serde_json::Map;
use store::Head;

use crate::reading::in_background;
use crate::{Engine, Shared};
pub use content::{AppletContent, MAX_APPLET_BYTES};
pub use error::AppletError;
use folder::AppletFolder;
pub use folder::{APPLET_FILES, AppletFiles};
pub use grants::GrantedNow;
pub(crate) use grants::Grants;
pub(crate) use opened::LastAppletNotice;
pub use opened::{ActiveApplet, OpenApplet, ViewerId};
pub use session_files::AskingApplet;
pub use showing::ShownApplet;
pub use states::{AppletState, BegunStateWrite, KeptVersion, MAX_STATE_BYTES, StateChange, StateWrite};
pub(crate) use watching::run as watch;
pub use watching::{AppletChange, StateChanged, StateUnreadable};

/// The text that tells agents how to write an applet.
pub const APPLET_HOWTO: &str = include_str!("../../../applets/howto.md");
/// How many applets the person has at most, so that a list of them stays a list.
const MAX_APPLETS: usize = 1_000;
/// Longest description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 1_000;
/// How many params an applet describes at most, and how many keys of its state.
const MAX_DESCRIBED: usize = 100;

/// What an applet says of itself: `meta.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AppletAbout {
    /// What people call it.
    pub name: String,
    /// What it is for, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// When it was first saved.
    pub created_at: Timestamp,
    /// When it was saved last.
    pub updated_at: Timestamp,
    /// Each session has a state of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub per_session: bool,
    /// Its params, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, AppletParam>,
    /// What agents use it for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_usage: Option<AppletUsage>,
    /// What is in its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_schema: Option<StateSchema>,
}

/// A param of an applet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppletParam {
    /// The applet does not work without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// What it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// What agents use an applet for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppletUsage {
    /// In a sentence.
    #[serde(default)]
    pub purpose: String,
    /// As an agent would write it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub example: String,
}

/// What is in an applet's state, by key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateSchema {
    /// What an agent can read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub get: BTreeMap<String, String>,
    /// What it can set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
}

/// An applet as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applet {
    /// Which.
    pub name: AppletName,
    /// What it says of itself.
    pub about: AppletAbout,
    /// It comes with the program.
    pub bundled: bool,
    /// Its HTML, script and style.
    pub content: AppletContent,
}

/// An applet in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedApplet {
    /// What it is saved as.
    pub slug: AppletSlug,
    /// What it says of itself.
    pub about: AppletAbout,
    /// It comes with the program.
    pub bundled: bool,
}

/// An applet that is to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewApplet {
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its HTML, script and style.
    pub content: AppletContent,
    /// Each session has a state of its own.
    pub per_session: bool,
    /// Its params, by name.
    pub params: BTreeMap<String, AppletParam>,
    /// What agents use it for.
    pub agent_usage: Option<AppletUsage>,
    /// What is in its state.
    pub state_schema: Option<StateSchema>,
}

/// The applets of a running server: their folder, their states in memory, and which are open.
pub(crate) struct Applets {
    /// Where they are kept; a server without a data folder keeps none.
    folder: Option<AppletFolder>,
    states: states::States,
    opened: opened::Opened,
    changes: tokio::sync::broadcast::Sender<AppletChange>,
}

/// How many changes a follower may be behind before it reads what is there instead.
const CHANGES_BACKLOG: usize = 64;

impl Applets {
    pub(crate) fn new(folder: Option<PathBuf>, deny: Deny) -> Self {
        Self {
            folder: folder.and_then(|path| AppletFolder::new(&path, deny)),
            states: states::States::default(),
            opened: opened::Opened::default(),
            changes: tokio::sync::broadcast::Sender::new(CHANGES_BACKLOG),
        }
    }

    fn folder(&self) -> Result<AppletFolder, AppletError> {
        self.folder.clone().ok_or(AppletError::NotKept)
    }

    /// What keeps a session to its own place among the applets.
    pub(crate) fn own_place(&self, session: SessionId) -> OwnPlace {
        OwnPlace { folder: self.folder.clone(), session }
    }

    fn publish(&self, change: AppletChange) {
        // Nobody looking at an applet is no failure.
        drop(self.changes.send(change));
    }
}

/// A session's own place among the applets.
pub(crate) struct OwnPlace {
    folder: Option<AppletFolder>,
    session: SessionId,
}

impl OwnPlace {
    /// Refuses a path that is another session's place; reads the disk.
    pub(crate) fn check(&self, path: &str) -> Result<(), FileError> {
        match &self.folder {
            Some(folder) if folder.is_of_another_session(self.session, path) => Err(FileError::NotAllowed),
            _ => Ok(()),
        }
    }
}

impl Engine {
    /// Every applet: the person's, the one that was saved last first, then those that come with the program.
    pub async fn applets(&self) -> Result<Vec<ListedApplet>, AppletError> {
        self.shared.list_applets().await
    }

    /// An applet as it is now.
    pub async fn applet(&self, name: AppletName) -> Result<Applet, AppletError> {
        self.shared.applet(&name).await
    }

    /// Where an applet's files are, whether or not they are there.
    pub fn applet_files(&self, name: &AppletName) -> Option<AppletFiles> {
        self.shared.applets.folder.as_ref().map(|folder| folder.files_of(name))
    }

    /// Saves an applet in place of the person's own of that slug; whether there was none.
    pub async fn save_applet(&self, slug: AppletSlug, new: NewApplet) -> Result<(Applet, bool), AppletError> {
        self.shared.save_applet(AppletName::Saved(slug), new).await
    }

    /// Removes an applet of the person's for good, with its state; whether there was one.
    pub async fn delete_applet(&self, slug: AppletSlug) -> Result<bool, AppletError> {
        // Whoever leaves leaves no applet half removed.
        self.shared.run_detached(remove_applet(Arc::clone(&self.shared), slug)).await
    }
}

async fn remove_applet(shared: Arc<Shared>, slug: AppletSlug) -> Result<bool, AppletError> {
    let name = AppletName::Saved(slug.clone());
    if !shared.remove_applet_files(&name).await? {
        return if bundled::find(&slug).is_some() { Err(AppletError::Bundled { slug }) } else { Ok(false) };
    }
    shared.write_applet_index().await;
    shared.withdraw_grants(&name).await;
    let uncovered = bundled::find(&slug);
    let hash = uncovered.as_ref().map(|applet| applet.content.hash());
    shared.applets.publish(AppletChange::Content { name: name.clone(), hash });
    // Pages that had the removed one open go on with this one, and not with the state of the other.
    if uncovered.is_some_and(|applet| !applet.about.per_session) {
        let empty = StateWrite { change: StateChange::Replace(Map::new()), version: None, writer: None };
        let emptied = async { shared.begin_state(&name, None, empty).await?.flushed().await };
        if let Err(err) = emptied.await {
            let error = &err as &dyn std::error::Error;
            tracing::warn!(applet = %name, error, "a state of an applet that comes with the program could not be made empty");
        }
    }
    Ok(true)
}

impl Shared {
    async fn list_applets(&self) -> Result<Vec<ListedApplet>, AppletError> {
        let mut listed = match self.applets.folder() {
            Ok(folder) => in_background(move || folder.list()).await?,
            Err(_) => Vec::new(),
        };
        listed.sort_by(|a, b| b.about.updated_at.cmp(&a.about.updated_at).then_with(|| a.slug.cmp(&b.slug)));
        let own: std::collections::BTreeSet<_> = listed.iter().map(|applet| applet.slug.clone()).collect();
        listed.extend(bundled::all().filter(|applet| !own.contains(&applet.slug)));
        Ok(listed)
    }

    pub(crate) async fn applet(&self, name: &AppletName) -> Result<Applet, AppletError> {
        if let Ok(folder) = self.applets.folder() {
            let wanted = name.clone();
            if let Some(found) = in_background(move || folder.read(&wanted)).await? {
                return Ok(found);
            }
        }
        match name {
            AppletName::Saved(slug) => match bundled::find(slug) {
                Some(found) => Ok(found),
                None => {
                    let known = self.list_applets().await?.into_iter().map(|applet| applet.slug).collect();
                    Err(AppletError::NotFound { slug: slug.clone(), known })
                }
            },
            AppletName::Shown(session) => Err(AppletError::NothingShown(*session)),
        }
    }

    /// Writes an applet's files; whether there were none.
    async fn save_applet(self: &Arc<Self>, name: AppletName, new: NewApplet) -> Result<(Applet, bool), AppletError> {
        check(&new)?;
        let shared = Arc::clone(self);
        // Whoever leaves leaves no two mixed.
        self.run_detached(async move { shared.write_applet(name, new).await }).await
    }

    async fn write_applet(&self, name: AppletName, new: NewApplet) -> Result<(Applet, bool), AppletError> {
        let folder = self.applets.folder()?;
        let _turn = Arc::clone(&self.writing_files).lock_owned().await;
        let now = self.clock.now();
        let saved = {
            let (folder, name) = (folder, name.clone());
            in_background(move || {
                let known = folder.about(&name)?;
                if known.is_none() && name.slug().is_some() && folder.list()?.len() >= MAX_APPLETS {
                    return Err(AppletError::TooMany);
                }
                let NewApplet { name: called, description, content, per_session, params, agent_usage, state_schema } =
                    new;
                let about = AppletAbout {
                    name: called,
                    description,
                    created_at: known.as_ref().map_or(now, |known| known.created_at),
                    updated_at: now,
                    per_session,
                    params,
                    agent_usage,
                    state_schema,
                };
                // One that grew beyond its limit can be replaced, and not put back.
                let before = folder.read(&name).ok().flatten();
                if let Err(err) = folder.write(&name, &about, &content) {
                    // A disk that got full between two of its files. What was there before takes no more room than it took.
                    let undone = match &before {
                        Some(before) => folder.write(&name, &before.about, &before.content),
                        None => Ok(()),
                    };
                    if let Err(err) = undone {
                        let error = &err as &dyn std::error::Error;
                        tracing::warn!(applet = %name, error, "an applet was written in part, and could not be put back");
                    }
                    return Err(err);
                }
                Ok((Applet { name, about, bundled: false, content }, known.is_none()))
            })
            .await?
        };
        if name.slug().is_some() {
            self.write_applet_index().await;
        }
        self.applets.states.forget_keys(&name);
        let hash = Some(saved.0.content.hash());
        self.applets.publish(AppletChange::Content { name, hash });
        Ok(saved)
    }

    /// Removes an applet's folder with its states; whether there was an applet.
    async fn remove_applet_files(&self, name: &AppletName) -> Result<bool, AppletError> {
        let folder = self.applets.folder()?;
        let _turn = Arc::clone(&self.writing_files).lock_owned().await;
        let _removing = self.applets.states.removing().await;
        let of = name.clone();
        let removed = in_background(move || folder.remove(&of)).await?;
        if removed {
            self.applets.states.forget(name);
        }
        Ok(removed)
    }

    /// Writes the list of applets that people and programs find in the folder. The server never reads it, so one that could not be written
    /// does no harm.
    async fn write_applet_index(&self) {
        let Ok(folder) = self.applets.folder() else { return };
        if let Err(err) = in_background::<_, AppletError>(move || folder.write_index()).await {
            tracing::warn!(error = &err as &dyn std::error::Error, "the list of applets could not be written");
        }
    }

    /// Removes what a session that is gone for good left with applets.
    pub(crate) async fn forget_applets_of(&self, session: SessionId) {
        self.applets.opened.forget(session);
        let own = AppletName::Shown(session);
        let _turn = Arc::clone(&self.writing_files).lock_owned().await;
        let removing = self.applets.states.removing().await;
        self.applets.states.forget(&own);
        self.applets.states.forget_session(session);
        if let Ok(folder) = self.applets.folder() {
            let remove = move || folder.remove_session(session).map_err(AppletError::from);
            if let Err(err) = in_background(remove).await {
                let error = &err as &dyn std::error::Error;
                tracing::warn!(%session, error, "applets of a session that is gone are left; it is tried again within an hour");
            }
        }
        drop(removing);
        self.withdraw_grants(&own).await;
    }

    /// Removes what purges that were cut off have left of applets.
    pub(crate) async fn settle_applets(&self) {
        let Ok(folder) = self.applets.folder() else { return };
        let sessions = match in_background::<_, AppletError>(move || Ok(folder.sessions()?)).await {
            Ok(sessions) => sessions,
            Err(err) => {
                let error = &err as &dyn std::error::Error;
                tracing::warn!(error, "whose the files of applets are can not be read; it is tried again in an hour");
                return;
            }
        };
        for session in sessions {
            // One that the log does not know may be of a store that comes back.
            if matches!(self.store.head(StreamId::Session(session)).await, Ok(Head::Purged)) {
                self.forget_applets_of(session).await;
            }
        }
    }
}

/// Refuses an applet that is too large, says too much about itself, or has no name.
fn check(new: &NewApplet) -> Result<(), AppletError> {
    let NewApplet { name, description, content, params, agent_usage, state_schema, per_session: _ } = new;
    content.check()?;
    if !is_applet_line(name) {
        return Err(AppletError::NotALine { what: "name" });
    }
    let is_short = |text: &str| text.chars().count() <= MAX_DESCRIPTION_CHARS;
    let words_fit = |words: &BTreeMap<String, String>| {
        words.len() <= MAX_DESCRIBED && words.iter().all(|(key, text)| is_short(key) && is_short(text))
    };
    let params_fit = params.len() <= MAX_DESCRIBED
        && params.iter().all(|(key, param)| is_short(key) && is_short(&param.description));
    let usage_fits = agent_usage.as_ref().is_none_or(|usage| is_short(&usage.purpose) && is_short(&usage.example));
    let schema_fits = state_schema.as_ref().is_none_or(|schema| words_fit(&schema.get) && words_fit(&schema.set));
    if is_short(description) && params_fit && usage_fits && schema_fits {
        Ok(())
    } else {
        Err(AppletError::AboutTooLong { max: MAX_DESCRIPTION_CHARS, words: MAX_DESCRIBED })
    }
}
