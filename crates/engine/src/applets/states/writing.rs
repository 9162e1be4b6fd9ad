//! The task that writes one state: its file, and then a version of it with an entry in the log.
//!
//! Invariants: one task at a time writes a state. It publishes a state only once it is flushed, and ends only when nothing newer is in
//! memory. A server that stops has it write what is left at once.

use std::sync::Arc;
use std::time::Duration;

use model::ServerEvent;
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, sleep_until};

use super::{AppletState, CachedState, FlushError, Held, KEPT_VERSIONS, StateKey};
use crate::applets::folder::{AppletFolder, Stamp, StateFolder, state_text};
use crate::applets::watching::{AppletChange, StateChanged};
use crate::id_source::hex;
use crate::reading::in_background;
use crate::{AppletError, Shared};

/// How long after a write the next one may begin.
const WRITE_PACE: Duration = Duration::from_millis(100);
/// How long after a version was kept, and noted in the log, the next one may be.
const VERSION_PACE: Duration = Duration::from_secs(1);

/// What the writing task does next.
enum Next {
    Write(AppletState, Option<Arc<str>>),
    /// Nothing before then, when a version is to be kept.
    KeepAt(Instant),
    Keep(AppletState),
    Done,
}

/// Decides under the lock what is done next, and notes that it is being done.
fn next_step(held: &mut Held, stops: bool) -> Next {
    let Some(now) = held.now.clone().filter(|_| !held.is_gone) else {
        held.has_task = false;
        return Next::Done;
    };
    if held.is_dirty {
        (held.is_dirty, held.is_flushing) = (false, true);
        return Next::Write(now, held.writer.clone());
    }
    if now.version <= held.kept {
        held.has_task = false;
        return Next::Done;
    }
    match held.kept_at.map(|at| at + VERSION_PACE).filter(|at| *at > Instant::now() && !stops) {
        Some(at) => Next::KeepAt(at),
        None => {
            (held.kept, held.kept_at) = (now.version, Some(Instant::now()));
            Next::Keep(now)
        }
    }
}

/// Notes that this state is kept as a version, if it is time for one.
fn begins_version(held: &mut Held, now: &AppletState) -> bool {
    let is_due = held.kept_at.is_none_or(|at| at + VERSION_PACE <= Instant::now());
    let begins = now.version > held.kept && !held.is_gone && is_due;
    if begins {
        (held.kept, held.kept_at) = (now.version, Some(Instant::now()));
    }
    begins
}

/// Writes a state until its file and its newest version hold what memory holds.
pub(super) async fn keep_written(shared: Arc<Shared>, key: StateKey, cell: Arc<CachedState>) {
    let Ok((folder, of)) = shared.folder_of(&key) else { return };
    loop {
        let removal = shared.applets.states.removal.read().await;
        let stops = shared.stopping.is_cancelled();
        let next = next_step(&mut cell.held(), stops);
        match next {
            Next::Done => return,
            Next::KeepAt(at) => {
                drop(removal);
                pause(&shared, at).await;
            }
            Next::Write(now, writer) => {
                let written = {
                    let _file = cell.file_lock.acquire().await.expect("it is never closed");
                    let (folder, of, now) = (folder.clone(), of.clone(), now.clone());
                    let write = move || Ok(folder.write_state(&of, &state_text(&now.state), now.version)?);
                    let written = in_background(write).await;
                    let mut held = cell.held();
                    held.is_flushing = false;
                    if let Ok(stamp) = &written {
                        held.stamp = *stamp;
                    }
                    drop(held);
                    written
                };
                let is_written = written.is_ok();
                settle(&shared, &key, &cell, now.clone(), writer, written);
                // One that never stops writing has versions too.
                if is_written && begins_version(&mut cell.held(), &now) {
                    keep_version(&shared, &key, &folder, &of, now).await;
                }
                drop(removal);
                pause(&shared, Instant::now() + WRITE_PACE).await;
            }
            Next::Keep(now) => keep_version(&shared, &key, &folder, &of, now).await,
        }
    }
}

/// Notifies whoever waits for a write of what became of it, and publishes a state that is on disk.
fn settle(
    shared: &Arc<Shared>,
    key: &StateKey,
    cell: &CachedState,
    now: AppletState,
    writer: Option<Arc<str>>,
    written: Result<Option<Stamp>, AppletError>,
) {
    match written {
        Ok(_) => {
            cell.settled.send_modify(|settled| settled.version = now.version);
            shared.applets.publish(AppletChange::State(StateChanged { key: key.clone(), now, writer }));
        }
        Err(err) => {
            tracing::warn!(applet = %key.applet, error = &err as &dyn std::error::Error, "a state could not be written");
            let err = match err {
                AppletError::File(err) => FlushError::File(Arc::new(err)),
                // Nothing else is done but to write the file, so it was not begun.
                _ => FlushError::Stopping,
            };
            let mut held = cell.held();
            // What is on disk holds, unless somebody has written something newer meanwhile.
            if !held.is_dirty {
                held.now = None;
            }
            cell.settled.send_modify(|settled| settled.failed = Some((now.version, err)));
        }
    }
}

/// Keeps a version, and notes it in the log.
async fn keep_version(shared: &Shared, key: &StateKey, folder: &AppletFolder, of: &StateFolder, now: AppletState) {
    let text = state_text(&now.state);
    let set = ServerEvent::AppletStateSet {
        applet: key.applet.clone(),
        session: key.session,
        version: now.version,
        bytes: text.len() as u64,
        sha256: hex(&Sha256::digest(text.as_bytes())),
    };
    let (folder, of) = (folder.clone(), of.clone());
    let keep = move || folder.keep_version(&of, now.version, &text, KEPT_VERSIONS).map_err(AppletError::from);
    if let Err(err) = in_background(keep).await {
        tracing::warn!(applet = %key.applet, error = &err as &dyn std::error::Error, "a version of a state is not kept");
    }
    if let Err(err) = shared.append_to_server(|| vec![set.clone()], None).await {
        tracing::warn!(applet = %key.applet, error = &err as &dyn std::error::Error, "a state is not noted in the log");
    }
}

async fn pause(shared: &Shared, until: Instant) {
    tokio::select! {
        () = sleep_until(until) => (),
        // What is left is written at once.
        () = shared.stopping.cancelled() => (),
    }
}
