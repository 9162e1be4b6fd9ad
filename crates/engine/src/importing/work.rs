//! The work of bringing in: which conversations there are, one after the other, and then those that change.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use agents::history::{self, Bookmark, Found, HistoryError, LastTurn, Limits, Reading, Tool};
use model::{ListKey, Session, StreamId, Timestamp};
use store::{AppendError, Batch, Head, ReadError, Room};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::teller::{Teller, Written};
use super::{MAX_FAILURES, session_of};
use crate::{Shared, navigation};

/// A record that nobody has touched for so long is at rest: its last turn is over.
const AT_REST_AFTER: Duration = Duration::from_secs(10 * 60);
/// How often it is looked whether tools have gone on.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How many parts wait to be written while the next ones are read.
const PARTS_AHEAD: usize = 4;
const SESSIONS_AT_ONCE: usize = 500;

#[derive(Debug, thiserror::Error)]
enum WorkError {
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Append(#[from] AppendError),
    #[error("it breaks a rule: {0}")]
    Rejected(#[from] model::Rejection),
    #[error("the reading broke off")]
    Broken,
}

/// What became of a conversation.
enum Became {
    Added(u64),
    Updated(u64),
    Unchanged,
    LeftAlone,
}

pub(super) async fn find(shared: &Shared, tools: &[Tool]) -> Vec<Found> {
    let Some(places) = shared.importing.places.clone() else { return Vec::new() };
    let tools = tools.to_vec();
    let found = spawn_blocking(move || {
        let mut found = history::find(&places);
        found.retain(|found| tools.contains(&found.tool));
        found
    });
    found.await.unwrap_or_default()
}

pub(super) async fn run(shared: &Shared, tools: &[Tool], follow: bool) {
    let Ok(_alone) = shared.importing.one_at_a_time.acquire().await else { return };
    let work = async {
        loop {
            round(shared, tools).await;
            if !follow {
                return;
            }
            sleep(LOOK_EVERY).await;
        }
    };
    tokio::select! {
        () = work => (),
        () = shared.importing.stop.notified() => (),
        () = shared.stopping.cancelled() => (),
    }
    shared.note_import(|state| (state.running, state.following) = (false, false));
}

/// Looks at every conversation that has changed since it was last looked at.
async fn round(shared: &Shared, tools: &[Tool]) {
    let mut found = find(shared, tools).await;
    found.retain(|found| !shared.importing.is_known(found));
    if found.is_empty() {
        return;
    }
    let hosted = match hosted(shared).await {
        Ok(hosted) => hosted,
        Err(err) => return shared.note_import(|state| state.failures.push(err.to_string())),
    };
    shared.note_import(|state| state.total += found.len());
    for found in found {
        let became = match hosted.contains(&found.id) {
            true => Ok(Became::LeftAlone),
            false => bring_in(shared, &found).await,
        };
        if became.is_err() {
            shared.importing.forget(&found);
        }
        shared.note_import(|state| {
            state.done += 1;
            match became {
                Ok(Became::Added(turns)) => (state.added, state.turns) = (state.added + 1, state.turns + turns),
                Ok(Became::Updated(turns)) => (state.updated, state.turns) = (state.updated + 1, state.turns + turns),
                Ok(Became::Unchanged) => state.unchanged += 1,
                Ok(Became::LeftAlone) => state.left_alone += 1,
                Err(err) => {
                    state.failed += 1;
                    if state.failures.len() < MAX_FAILURES {
                        state.failures.push(format!("{}: {err}", found.path.display()));
                    }
                }
            }
        });
    }
}

/// The agents' own ids of the conversations that are hosted here.
async fn hosted(shared: &Shared) -> Result<HashSet<String>, ReadError> {
    let (mut hosted, mut after) = (HashSet::new(), None);
    loop {
        let page = shared.store.sessions(after, SESSIONS_AT_ONCE).await?;
        let Some(last) = page.last() else { return Ok(hosted) };
        after = Some(ListKey::of(last));
        hosted.extend(page.into_iter().filter_map(|row| row.agent_session));
    }
}

async fn bring_in(shared: &Shared, found: &Found) -> Result<Became, WorkError> {
    let id = session_of(found);
    if shared.store.head(StreamId::Session(id)).await? == Head::Purged {
        return Ok(Became::LeftAlone);
    }
    let session = shared.store.session(id).await?;
    let known = session.as_ref().map(|session| &session.row);
    let bookmark = match known {
        None => None,
        Some(row) if row.deleted_at.is_some() || !row.is_imported() => return Ok(Became::LeftAlone),
        Some(row) => row.imported.as_ref().map(|imported| Bookmark::from_kept(imported.mark.clone())),
    };
    let lines = match known {
        Some(row) => navigation::newest_lines(&*shared.store, row).await?,
        None => Vec::new(),
    };
    let is_new = session.is_none();
    let rest_before = shared.clock.now().as_millis() - i64::try_from(AT_REST_AFTER.as_millis()).unwrap_or(i64::MAX);
    let last_turn = if found.modified_at.as_millis() < rest_before { LastTurn::Tell } else { LastTurn::IfEnded };
    let home = shared.home.as_ref().and_then(|home| home.to_str()).unwrap_or("/").to_owned();
    let teller = Teller::new(found, id, session.clone(), lines, Arc::clone(&shared.ids), home);
    let (parts, mut written) = mpsc::channel(PARTS_AHEAD);
    let reading = spawn_blocking({
        let found = found.clone();
        move || read(&found, bookmark.as_ref(), last_turn, teller, session, &parts)
    });
    while let Some(part) = written.recv().await {
        shared.write_told(part).await?;
    }
    let reading = reading.await.map_err(|_| WorkError::Broken)??;
    shared.note_import(|state| {
        for skipped in &reading.skipped {
            *state.skipped.entry(skipped.what.to_owned()).or_default() += skipped.count;
        }
    });
    Ok(match reading.turns {
        0 => Became::Unchanged,
        turns if is_new => Became::Added(turns),
        turns => Became::Updated(turns),
    })
}

/// Reads a record and hands out what is to be written, part by part; blocking.
fn read(
    found: &Found,
    after: Option<&Bookmark>,
    last_turn: LastTurn,
    mut teller: Teller,
    mut before: Option<Session>,
    parts: &mpsc::Sender<Written>,
) -> Result<Reading, WorkError> {
    let mut broken = None;
    let mut last: Option<(Bookmark, Timestamp)> = None;
    let mut sink = |told: history::Told| {
        if let history::Told::TurnEnd { at, bookmark, .. } = &told {
            last = Some((bookmark.clone(), *at));
        }
        match teller.tell(told, &mut before) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(part)) => match parts.blocking_send(part) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            },
            Err(err) => {
                broken = Some(err);
                ControlFlow::Break(())
            }
        }
    };
    let reading = history::read(found, after, last_turn, &Limits::default(), &mut sink)?;
    if let Some(err) = broken {
        return Err(err.into());
    }
    if let Some((bookmark, at)) = last.filter(|_| !teller.is_empty()) {
        let part = teller.flush(&bookmark, at, &mut before)?;
        // Whoever stopped listening has said why.
        drop(parts.blocking_send(part));
    }
    Ok(reading)
}

impl Shared {
    /// Writes what another tool's record tells, and tells everyone of it.
    async fn write_told(&self, written: Written) -> Result<(), AppendError> {
        let Written { part, before, after } = written;
        let entries = part.entries.clone();
        let position = self.store.append(Batch { parts: vec![part], receipt: None, room: Room::Ordinary }).await?;
        self.finding.committed(position);
        if let Some(copying) = &self.copying {
            copying.wake();
        }
        self.publish(before.as_ref().map(|session| &session.row), &after.row, entries);
        Ok(())
    }
}
