//! Which applet is open where: what pages say that they show, and what agents showed last.
//!
//! Invariant: this is about this run alone, bounded, and decides nothing but what an agent is told and which files are watched.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use model::{AppletName, SessionId};
use tokio::sync::Notify;

use super::Applets;
use crate::{AppletError, Engine};

/// For how many sessions the applet that was opened or shown last is remembered.
const MAX_REMEMBERED: usize = 1_000;

/// How many characters of an applet's params an agent is sent.
const MAX_GIVEN_CHARS: usize = 500;

/// Whoever shows applets: a page, by the socket that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ViewerId(u64);

/// An applet as a page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenApplet {
    /// Which.
    pub name: AppletName,
    /// What it was given.
    pub params: BTreeMap<String, String>,
}

/// A session's active applet: the one that was opened last of those that are open, else the one that was opened or shown last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveApplet {
    /// Which, and with what.
    pub applet: OpenApplet,
    /// Some page shows it at this moment.
    pub is_open: bool,
}

#[derive(Debug, Default)]
pub(super) struct Opened {
    kept: Mutex<Kept>,
    viewers: AtomicU64,
    /// A page began to show one.
    pub(super) opened: Notify,
}

#[derive(Debug, Default)]
struct Kept {
    open: HashMap<(ViewerId, SessionId), (u64, OpenApplet)>,
    newest: HashMap<SessionId, (u64, OpenApplet)>,
    /// How often an applet was opened or shown; the number says which was last.
    counted: u64,
}

impl Opened {
    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, viewer: ViewerId, session: SessionId, applet: OpenApplet) {
        let mut kept = self.kept();
        kept.remember(session, applet.clone());
        let nth = kept.counted;
        kept.open.insert((viewer, session), (nth, applet));
        drop(kept);
        self.opened.notify_one();
    }

    /// An agent showed it.
    pub(super) fn shown(&self, session: SessionId, applet: OpenApplet) {
        self.kept().remember(session, applet);
    }

    pub(super) fn forget(&self, session: SessionId) {
        let mut kept = self.kept();
        kept.newest.remove(&session);
        kept.open.retain(|(_, of), _| *of != session);
    }

    /// The applets that some page shows, each once for each session.
    pub(super) fn all_open(&self) -> Vec<(SessionId, AppletName)> {
        let mut open: Vec<_> =
            self.kept().open.iter().map(|((_, session), (_, applet))| (*session, applet.name.clone())).collect();
        open.sort_unstable();
        open.dedup();
        open
    }

    fn active(&self, session: SessionId) -> Option<ActiveApplet> {
        let kept = self.kept();
        let open = kept.open.iter().filter(|((_, of), _)| *of == session).map(|(_, open)| open);
        let open = open.max_by_key(|(nth, _)| *nth).map(|(_, applet)| applet.clone());
        let is_open = open.is_some();
        let applet = open.or_else(|| kept.newest.get(&session).map(|(_, applet)| applet.clone()))?;
        Some(ActiveApplet { applet, is_open })
    }
}

/// What an agent was last sent about the applet that is open beside its session.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LastAppletNotice {
    open: Option<OpenApplet>,
    version: u64,
}

impl Applets {
    /// Returns a sentence for the agent if the open applet or its state changed since the last one.
    pub(crate) fn notice_for_agent(&self, session: SessionId, told: &mut LastAppletNotice) -> Option<String> {
        let active = self.opened.active(session).filter(|active| active.is_open);
        let open = active.map(|active| active.applet);
        let version = open.as_ref().map_or(0, |open| self.states.known_version(&open.name, session));
        let now = LastAppletNotice { open, version };
        if *told == now {
            return None;
        }
        let before = std::mem::replace(told, now);
        Some(match &told.open {
            None => "The person has closed the applet that was open.".to_owned(),
            Some(open) if before.open.as_ref() == Some(open) => {
                format!("The state of the applet {} has changed; get_applet_state gives it.", open.name.word())
            }
            Some(open) => {
                let given: Vec<String> =
                    open.params.iter().map(|(name, value)| format!("{name:?} = {value:?}")).collect();
                // Quoted, since an applet may have set them: they are no words of the person.
                let given = if given.is_empty() {
                    String::new()
                } else {
                    format!(", with the quoted parameters {}", given.join(", "))
                };
                let given = model::one_line(&given, MAX_GIVEN_CHARS);
                let word = open.name.word();
                format!("The person has the applet {word} open{given}. get_applet_state gives its state.")
            }
        })
    }
}

impl Kept {
    fn remember(&mut self, session: SessionId, applet: OpenApplet) {
        self.counted += 1;
        self.newest.insert(session, (self.counted, applet));
        if self.newest.len() > MAX_REMEMBERED
            && let Some(oldest) = self.newest.iter().min_by_key(|(_, (nth, _))| *nth).map(|(id, _)| *id)
        {
            self.newest.remove(&oldest);
        }
    }
}

impl Engine {
    /// A name for somebody who shows applets.
    pub fn new_viewer(&self) -> ViewerId {
        ViewerId(self.shared.applets.opened.viewers.fetch_add(1, Ordering::Relaxed))
    }

    /// Somebody shows an applet beside a session from now on, in place of the one that they showed there.
    pub async fn open_applet(
        &self,
        viewer: ViewerId,
        session: SessionId,
        applet: OpenApplet,
    ) -> Result<(), AppletError> {
        if !model::are_applet_params(&applet.params) {
            return Err(AppletError::BadParams);
        }
        self.session(session).await?;
        self.shared.applet(&applet.name).await?;
        self.shared.applets.opened.open(viewer, session, applet);
        Ok(())
    }

    /// A viewer no longer shows an applet beside this session.
    pub fn close_applet(&self, viewer: ViewerId, session: SessionId) {
        self.shared.applets.opened.kept().open.remove(&(viewer, session));
    }

    /// A viewer is gone, and shows nothing any more.
    pub fn viewer_left(&self, viewer: ViewerId) {
        self.shared.applets.opened.kept().open.retain(|(of, _), _| *of != viewer);
    }

    /// A session's active applet, as far as this run of the server knows.
    pub fn active_applet(&self, session: SessionId) -> Option<ActiveApplet> {
        self.shared.applets.opened.active(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_active_applet_is_the_newest_that_is_open() {
        let opened = Opened::default();
        let session = SessionId::from_bytes([1; 16]);
        let applet = |slug: &str| OpenApplet { name: slug.parse().unwrap(), params: BTreeMap::new() };
        let active = |slug: &str, is_open| Some(ActiveApplet { applet: applet(slug), is_open });
        assert_eq!(opened.active(session), None);
        opened.shown(session, applet("shown"));
        assert_eq!(opened.active(session), active("shown", false));
        opened.open(ViewerId(1), session, applet("one"));
        opened.open(ViewerId(2), session, applet("two"));
        assert_eq!(opened.active(session), active("two", true));
        opened.kept().open.remove(&(ViewerId(2), session));
        assert_eq!(opened.active(session), active("one", true));
        opened.kept().open.remove(&(ViewerId(1), session));
        assert_eq!(opened.active(session), active("two", false), "the newest of all");
        opened.forget(session);
        assert_eq!(opened.active(session), None);
    }
}
