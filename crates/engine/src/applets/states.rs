//! The states of applets: one for each applet, or one for each session of it, as plain JSON beside the applet's files.
//!
//! Invariants: a state is flushed before it is acknowledged or anybody hears of it. However fast an applet writes, its file is written at
//! most ten times a second, and the log and the kept versions get at most one a second: what was there in between is not kept. Versions
//! only grow, over restarts too, for they follow the clock. An edit of the file by hand is a write like any other.

mod writing;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use files::FileError;
use model::{AppletName, SessionId};
use serde_json::{Map, Value};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, watch};
use tokio::time::Instant;

use super::folder::{AppletFolder, MAX_VERSION, Stamp, StateFolder};
use super::watching::{AppletChange, StateChanged, StateUnreadable};
use crate::reading::in_background;
use crate::{AppletError, Engine, QueryError, Shared};

/// How many bytes a state has at most, as compact JSON.
pub const MAX_STATE_BYTES: usize = 256 << 10;
/// How deep it is nested at most.
const MAX_DEPTH: usize = 32;
/// How many versions are kept, to go back to.
pub(super) const KEPT_VERSIONS: usize = 20;
/// For how long it is believed, without another look, that an applet is there, whose its state is, and that this session is there.
const KEY_KNOWN_FOR: Duration = Duration::from_secs(1);
/// With so many states in memory, those that nobody uses are dropped.
const MAX_HELD: usize = 100;

/// A state with its version; 0 where nothing was ever set.
#[derive(Debug, Clone, PartialEq)]
pub struct AppletState {
    /// Grows with each write.
    pub version: u64,
    /// What the applet keeps.
    pub state: Arc<Map<String, Value>>,
}

/// A version that one can go back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptVersion {
    /// Which: about the time of its writing, in milliseconds since 1970.
    pub version: u64,
    /// How long its file is.
    pub bytes: u64,
}

/// What is to become of a state.
#[derive(Debug, Clone, PartialEq)]
pub enum StateChange {
    /// This takes its place.
    Replace(Map<String, Value>),
    /// These keys are set; one that is null is removed.
    Merge(Map<String, Value>),
}

/// A write of a state.
#[derive(Debug, Clone, PartialEq)]
pub struct StateWrite {
    /// What is written.
    pub change: StateChange,
    /// The version that the writer knows: refused if there is another by now.
    pub version: Option<u64>,
    /// The writer's own name for itself, so that it knows its own writes again.
    pub writer: Option<Arc<str>>,
}

/// Which state: an applet's, or an applet's beside one session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct StateKey {
    pub(super) applet: AppletName,
    /// Only where each session has a state of its own.
    pub(super) session: Option<SessionId>,
}

impl StateKey {
    pub(super) fn is_of(&self, name: &AppletName, session: SessionId) -> bool {
        self.applet == *name && self.session.is_none_or(|of| of == session)
    }
}

/// By applet and the session that it is beside.
type KnownKeys = HashMap<(AppletName, Option<SessionId>), (Instant, StateKey)>;

/// A write that was accepted and is not flushed yet.
#[derive(Debug)]
pub struct BegunStateWrite {
    version: u64,
    settled: watch::Receiver<Settled>,
}

impl BegunStateWrite {
    /// Waits until it is flushed; gives its version.
    pub async fn flushed(mut self) -> Result<u64, AppletError> {
        let version = self.version;
        let is_settled = |settled: &Settled| {
            settled.is_gone
                || settled.version >= version
                || settled.failed.as_ref().is_some_and(|(failed, _)| *failed >= version)
        };
        let settled = self.settled.wait_for(is_settled).await.map_err(|_| crate::SubmitError::Stopping)?.clone();
        match settled.failed {
            Some((failed, err)) if settled.version < version && failed >= version => Err(match err {
                FlushError::File(err) => AppletError::StateNotWritten(err),
                FlushError::Stopping => crate::SubmitError::Stopping.into(),
            }),
            _ if settled.version < version => Err(AppletError::Deleted),
            _ => Ok(version),
        }
    }
}

#[derive(Default)]
pub(super) struct States {
    cells: Mutex<HashMap<StateKey, Arc<CachedState>>>,
    /// Which state an applet has beside a session, and when that was found out: a thousand writes a second find it out once.
    keys: Mutex<KnownKeys>,
    /// Held by whoever finds out where a state is and writes it there; alone by whoever removes an applet or a session's states, so that
    /// nothing comes back that is gone.
    removal: RwLock<()>,
}

/// Whose state it is, as long as nothing of it is removed.
pub(super) struct StateKeyGuard<'a> {
    pub(super) key: StateKey,
    _removal: RwLockReadGuard<'a, ()>,
}

/// One state in memory.
struct CachedState {
    /// Held by whoever reads or writes the file. A semaphore, since no guard of a mutex may be held while something is awaited.
    file_lock: Semaphore,
    held: Mutex<Held>,
    /// The newest version that is flushed, or that failed.
    settled: watch::Sender<Settled>,
}

#[derive(Default)]
struct Held {
    /// As it was last read or set; none before it was read.
    now: Option<AppletState>,
    /// What its file was like when it was last read or written.
    stamp: Option<Stamp>,
    /// It is to be written.
    is_dirty: bool,
    /// It is being written.
    is_flushing: bool,
    /// A task writes it, or is about to.
    has_task: bool,
    /// Its files were removed: nothing is written any more.
    is_gone: bool,
    /// Its file holds no state, which was published.
    is_unreadable: bool,
    writer: Option<Arc<str>>,
    /// The newest version that was kept.
    kept: u64,
    /// When that was.
    kept_at: Option<Instant>,
}

#[derive(Debug, Clone, Default)]
struct Settled {
    version: u64,
    failed: Option<(u64, FlushError)>,
    /// Its applet or its session was deleted.
    is_gone: bool,
}

/// Why a state did not reach the disk.
#[derive(Debug, Clone)]
enum FlushError {
    File(Arc<FileError>),
    Stopping,
}

impl Held {
    /// The state, where it is newer than its file.
    fn newest(&self) -> Option<AppletState> {
        self.now.clone().filter(|_| self.is_dirty || self.is_flushing)
    }
}

impl CachedState {
    fn new() -> Self {
        Self { file_lock: Semaphore::new(1), held: Mutex::default(), settled: watch::Sender::new(Settled::default()) }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl States {
    fn cell(&self, key: &StateKey) -> Arc<CachedState> {
        let mut cells = self.cells();
        if cells.len() >= MAX_HELD && !cells.contains_key(key) {
            // One that is in use, or is still to be written, has another owner beside this map.
            cells.retain(|_, cell| Arc::strong_count(cell) > 1);
        }
        Arc::clone(cells.entry(key.clone()).or_insert_with(|| Arc::new(CachedState::new())))
    }

    /// The newest version of a state that is in memory; 0 for one that is not.
    pub(super) fn known_version(&self, name: &AppletName, session: SessionId) -> u64 {
        let cells = self.cells();
        let of = |session| cells.get(&StateKey { applet: name.clone(), session }).map(|cell| cell.held());
        let version = |held: MutexGuard<'_, Held>| held.now.as_ref().map_or(0, |now| now.version);
        of(Some(session)).or_else(|| of(None)).map_or(0, version)
    }

    /// Until it is dropped no state is written, and none is found out about.
    pub(super) async fn removing(&self) -> RwLockWriteGuard<'_, ()> {
        self.removal.write().await
    }

    /// Forgets all states of an applet whose files are gone, also what was still to be written.
    pub(super) fn forget(&self, name: &AppletName) {
        self.forget_keys(name);
        self.forget_those(|key| key.applet == *name);
    }

    /// Forgets what applets kept for a session that is gone.
    pub(super) fn forget_session(&self, session: SessionId) {
        self.keys().retain(|(_, of), _| *of != Some(session));
        self.forget_those(|key| key.session == Some(session));
    }

    fn forget_those(&self, is_meant: impl Fn(&StateKey) -> bool) {
        let mut forgotten = Vec::new();
        self.cells().retain(|key, cell| {
            let is_meant = is_meant(key);
            if is_meant {
                forgotten.push(Arc::clone(cell));
            }
            !is_meant
        });
        for cell in forgotten {
            let mut held = cell.held();
            (held.now, held.is_dirty, held.is_gone) = (None, false, true);
            drop(held);
            cell.settled.send_modify(|settled| settled.is_gone = true);
        }
    }

    /// Has `perSession` of an applet read again: it may be different now.
    pub(super) fn forget_keys(&self, name: &AppletName) {
        self.keys().retain(|(of, _), _| of != name);
    }

    fn cells(&self) -> MutexGuard<'_, HashMap<StateKey, Arc<CachedState>>> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keys(&self) -> MutexGuard<'_, KnownKeys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// An applet's state; of one that keeps a state for each session, that of this session.
    pub async fn applet_state(
        &self,
        name: &AppletName,
        session: Option<SessionId>,
    ) -> Result<AppletState, AppletError> {
        self.shared.state_of(name, session).await
    }

    /// Sets an applet's state and waits until it is flushed; gives its new version.
    pub async fn set_applet_state(
        &self,
        name: &AppletName,
        session: Option<SessionId>,
        write: StateWrite,
    ) -> Result<u64, AppletError> {
        self.begin_applet_state(name, session, write).await?.flushed().await
    }

    /// Accepts a write, in the order of the calls, and does not wait until it is flushed.
    pub async fn begin_applet_state(
        &self,
        name: &AppletName,
        session: Option<SessionId>,
        write: StateWrite,
    ) -> Result<BegunStateWrite, AppletError> {
        self.shared.begin_state(name, session, write).await
    }

    /// The versions of a state that one can go back to, newest first.
    pub async fn applet_versions(
        &self,
        name: &AppletName,
        session: Option<SessionId>,
    ) -> Result<Vec<KeptVersion>, AppletError> {
        let StateKeyGuard { key, _removal } = self.shared.state_key(name, session).await?;
        let (folder, of) = self.shared.folder_of(&key)?;
        let versions = in_background::<_, AppletError>(move || Ok(folder.versions(&of)?)).await?;
        let newest = versions.into_iter().take(KEPT_VERSIONS);
        Ok(newest.map(|(version, bytes)| KeptVersion { version, bytes }).collect())
    }

    /// A state as it was in one of the versions that are kept.
    pub async fn applet_version(
        &self,
        name: &AppletName,
        session: Option<SessionId>,
        version: u64,
    ) -> Result<AppletState, AppletError> {
        let StateKeyGuard { key, _removal } = self.shared.state_key(name, session).await?;
        let (folder, of) = self.shared.folder_of(&key)?;
        let text = in_background::<_, AppletError>(move || Ok(folder.read_version(&of, version)?)).await?;
        // One that somebody scribbled on is none that can be put back.
        let state = text.and_then(|text| parse(&text).ok()).ok_or(AppletError::NoSuchVersion { version })?;
        Ok(AppletState { version, state: Arc::new(state) })
    }
}

impl Shared {
    /// Which state an applet has beside this session: the one that all share, or the session's. The applet must exist.
    pub(super) async fn state_key(
        &self,
        name: &AppletName,
        session: Option<SessionId>,
    ) -> Result<StateKeyGuard<'_>, AppletError> {
        let removal = self.applets.states.removal.read().await;
        let of = (name.clone(), session);
        let known = self.applets.states.keys().get(&of).cloned();
        let key = match known {
            Some((at, key)) if at.elapsed() < KEY_KNOWN_FOR => key,
            _ => {
                let per_session = self.applet(name).await?.about.per_session;
                let key = StateKey { applet: name.clone(), session: session.filter(|_| per_session) };
                if let Some(session) = key.session {
                    // One that is not there has no state, and gets none.
                    let found = self.store.session(session).await.map_err(QueryError::from)?;
                    found.filter(|found| found.row.deleted_at.is_none()).ok_or(QueryError::NotFound(session))?;
                }
                let mut keys = self.applets.states.keys();
                if keys.len() >= MAX_HELD {
                    keys.clear();
                }
                keys.insert(of, (Instant::now(), key.clone()));
                key
            }
        };
        Ok(StateKeyGuard { key, _removal: removal })
    }

    /// An applet's state in this session.
    pub(super) async fn state_of(
        self: &Arc<Self>,
        name: &AppletName,
        session: Option<SessionId>,
    ) -> Result<AppletState, AppletError> {
        let StateKeyGuard { key, _removal } = self.state_key(name, session).await?;
        let cell = self.applets.states.cell(&key);
        self.reload_if_edited(&key, &cell).await
    }

    fn folder_of(&self, key: &StateKey) -> Result<(AppletFolder, StateFolder), AppletError> {
        let folder = self.applets.folder()?;
        let of = folder.state_of(&key.applet, key.session);
        Ok((folder, of))
    }

    /// The state, read from its file if that is another one than the last that was read or written.
    async fn reload_if_edited(
        self: &Arc<Self>,
        key: &StateKey,
        cell: &Arc<CachedState>,
    ) -> Result<AppletState, AppletError> {
        let (folder, of) = self.folder_of(key)?;
        if let Some(now) = cell.held().newest() {
            return Ok(now);
        }
        let turn = cell.file_lock.acquire().await.expect("it is never closed");
        let known = {
            let held = cell.held();
            if let Some(now) = held.newest() {
                return Ok(now);
            }
            held.now.as_ref().map(|_| held.stamp)
        };
        let read = in_background::<_, AppletError>(move || {
            let stamp = folder.state_stamp(&of)?;
            if known == Some(stamp) {
                return Ok(None);
            }
            let newest = folder.versions(&of)?.first().map(|(version, _)| *version);
            let kept = match newest {
                Some(version) => folder.read_version(&of, version)?,
                None => None,
            };
            // A file that nobody could have written through us holds no state.
            let text = match folder.read_state(&of) {
                Err(err @ (FileError::TooLarge { .. } | FileError::NotAFile)) => Err(err.to_string()),
                text => Ok(text?),
            };
            Ok(Some((stamp, text, newest, kept)))
        });
        let Some((stamp, text, newest, kept)) = read.await? else {
            let now = cell.held().now.clone();
            let Some(now) = now else {
                // It was a write that failed meanwhile: what is on disk holds.
                drop(turn);
                return Box::pin(self.reload_if_edited(key, cell)).await;
            };
            return Ok(now);
        };
        let state = text.map_err(AppletError::StateUnreadable).and_then(|text| text.as_deref().map(parse).transpose());
        let state = match state {
            Ok(state) => state,
            Err(err) => {
                if !std::mem::replace(&mut cell.held().is_unreadable, true) {
                    let change = StateUnreadable { key: key.clone(), why: err.to_string() };
                    self.applets.publish(AppletChange::StateUnreadable(change));
                }
                return Err(err);
            }
        };
        let mut held = cell.held();
        let was_unreadable = std::mem::replace(&mut held.is_unreadable, false);
        // A write came in between: it is newer.
        if let Some(now) = held.newest() {
            return Ok(now);
        }
        held.kept = held.kept.max(newest.unwrap_or(0));
        let before = held.now.take();
        let newest_known = held.kept.max(before.as_ref().map_or(0, |before| before.version));
        let was_kept = || kept.as_deref().and_then(|text| parse(text).ok());
        // The file's time is the version that it was written as.
        let at = stamp.and_then(|stamp| u64::try_from(stamp.modified_at_ms()).ok()).unwrap_or(0).min(MAX_VERSION);
        let (version, is_edit) = match &state {
            None => (newest_known, false),
            Some(state) if before.as_ref().is_some_and(|before| *before.state == *state) => (newest_known, false),
            // It may have been set to something else in between, and back, within the second of one version.
            Some(state) if before.is_none() && was_kept().as_ref() == Some(state) => (held.kept.max(at), false),
            // Somebody edited the file, or it was written just before the server was killed.
            Some(_) => (at.max(newest_known + 1), true),
        };
        let now = AppletState { version, state: Arc::new(state.unwrap_or_default()) };
        (held.now, held.stamp) = (Some(now.clone()), stamp);
        if is_edit {
            held.writer = None;
            cell.settled.send_modify(|settled| settled.version = settled.version.max(version));
        }
        // After damage also one that is known: a page that was opened meanwhile shows none, and would write over it.
        if is_edit || was_unreadable {
            self.applets.publish(AppletChange::State(StateChanged {
                key: key.clone(),
                now: now.clone(),
                writer: None,
            }));
        }
        if is_edit {
            self.start_writing(key, cell, &mut held);
        }
        Ok(now)
    }

    pub(super) async fn begin_state(
        self: &Arc<Self>,
        name: &AppletName,
        session: Option<SessionId>,
        write: StateWrite,
    ) -> Result<BegunStateWrite, AppletError> {
        let StateKeyGuard { key, _removal } = self.state_key(name, session).await?;
        self.set_state(key, write).await
    }

    async fn set_state(self: &Arc<Self>, key: StateKey, write: StateWrite) -> Result<BegunStateWrite, AppletError> {
        let StateWrite { change, version: expected, writer } = write;
        check(match &change {
            StateChange::Replace(state) | StateChange::Merge(state) => state,
        })?;
        self.folder_of(&key)?;
        let cell = self.applets.states.cell(&key);
        let now = match self.reload_if_edited(&key, &cell).await {
            // A whole state may take the place of one that can not be read.
            Err(AppletError::StateUnreadable(_)) if matches!(change, StateChange::Replace(_)) => None,
            now => Some(now?),
        };
        let (version, settled) = {
            let mut held = cell.held();
            let now = held.now.clone().or(now);
            let known = now.as_ref().map_or(0, |now| now.version).max(held.kept);
            if let Some(expected) = expected
                && expected != known
            {
                return Err(AppletError::StateConflict { version: known });
            }
            let state = match change {
                StateChange::Replace(state) => state,
                StateChange::Merge(changes) => {
                    let mut state = now.map_or_else(Map::new, |now| (*now.state).clone());
                    for (key, value) in changes {
                        match value {
                            Value::Null => drop(state.shift_remove(&key)),
                            value => drop(state.insert(key, value)),
                        }
                    }
                    check(&state)?;
                    state
                }
            };
            let at = u64::try_from(self.clock.now().as_millis()).unwrap_or(0);
            let version = at.max(known + 1);
            held.now = Some(AppletState { version, state: Arc::new(state) });
            (held.is_dirty, held.is_unreadable, held.writer) = (true, false, writer);
            let settled = cell.settled.subscribe();
            self.start_writing(&key, &cell, &mut held);
            (version, settled)
        };
        Ok(BegunStateWrite { version, settled })
    }

    /// Starts the task that writes a state, unless there is one.
    fn start_writing(self: &Arc<Self>, key: &StateKey, cell: &Arc<CachedState>, held: &mut Held) {
        if std::mem::replace(&mut held.has_task, true) {
            return;
        }
        let (shared, key, cell) = (Arc::clone(self), key.clone(), Arc::clone(cell));
        self.tasks.spawn(async move { writing::keep_written(shared, key, cell).await });
    }
}

/// A state as its file has it.
fn parse(text: &[u8]) -> Result<Map<String, Value>, AppletError> {
    let state: Map<String, Value> =
        serde_json::from_slice(text).map_err(|err| AppletError::StateUnreadable(err.to_string()))?;
    check(&state).map_err(|err| AppletError::StateUnreadable(err.to_string()))?;
    Ok(state)
}

/// Refuses what is too much for a state.
fn check(state: &Map<String, Value>) -> Result<(), AppletError> {
    if state.values().any(|value| is_deeper(value, MAX_DEPTH - 1)) {
        return Err(AppletError::StateTooDeep { max: MAX_DEPTH });
    }
    let bytes = model::json_bytes(state);
    if bytes > MAX_STATE_BYTES { Err(AppletError::StateTooLarge { bytes, max: MAX_STATE_BYTES }) } else { Ok(()) }
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(fields) => levels == 0 || fields.values().any(|item| is_deeper(item, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(object) => object,
            other => panic!("{other} is no object"),
        }
    }

    #[test]
    fn a_state_is_bounded_in_size_and_depth() {
        let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({ "a": inner }));
        assert!(check(&state(nested(MAX_DEPTH))).is_ok());
        assert!(matches!(check(&state(nested(MAX_DEPTH + 1))), Err(AppletError::StateTooDeep { .. })));
        let long = |bytes: usize| state(json!({ "a": "x".repeat(bytes) }));
        assert!(check(&long(MAX_STATE_BYTES - 8)).is_ok());
        assert!(matches!(check(&long(MAX_STATE_BYTES - 7)), Err(AppletError::StateTooLarge { .. })));
    }

    #[test]
    fn what_is_no_object_is_no_state() {
        for bad in ["", "[]", "1", "null", "{", "{} {}"] {
            assert!(matches!(parse(bad.as_bytes()), Err(AppletError::StateUnreadable(_))), "{bad:?}");
        }
        assert_eq!(parse(b"{\"a\": 1}\n").unwrap(), state(json!({ "a": 1 })));
    }
}
