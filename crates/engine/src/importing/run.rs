//! Runs an import: finds conversations, imports each, and then follows those that change.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use agents::history::{self, Bookmark, FoundConversation, HistoryError, HistoryLimits, LastTurn, Reading, Tool};
use model::{Seq, StreamId, Timestamp, Topics};
use store::{AppendError, Head, ReadError};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::gathering::Gathering;
use super::replay::{ReadyPart, Replay};
use super::session_of;
use crate::{Shared, navigation};

/// A record that nobody has touched for so long is at rest: its last turn is over.
const AT_REST_AFTER: Duration = Duration::from_secs(10 * 60);
/// How often it is looked whether tools have gone on.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How many parts wait to be written while the next ones are read. A part is as large as its largest turn.
const PARTS_AHEAD: usize = 1;

/// So many of the newest are brought in before older ones, in the order of their sessions' ids.
const SORTED_TOGETHER: usize = 1_000;

#[derive(Debug, thiserror::Error)]
pub(super) enum WorkError {
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
pub(super) enum Became {
    Added(u64),
    Updated(u64),
    Unchanged,
    LeftAlone,
}

/// What became of it, and whether its last turn waits.
pub(super) type Outcome = Result<(Became, bool), WorkError>;

pub(super) async fn find(shared: &Shared, tools: &[Tool]) -> Vec<FoundConversation> {
    let Some(places) = shared.importing.places.clone() else { return Vec::new() };
    let tools = tools.to_vec();
    let found = spawn_blocking(move || {
        let mut found = history::find(&places);
        found.retain(|found| tools.contains(&found.tool));
        found
    });
    found.await.unwrap_or_default()
}

/// What this run knows of conversations, by their tool and id.
#[derive(Default)]
pub(super) struct Seen {
    /// What each was like when it was last looked at.
    looked_at: HashMap<(Tool, String), (u64, Timestamp)>,
    /// Those that are or were hosted here, and stay so.
    hosted: HashSet<(Tool, String)>,
}

impl Seen {
    fn is_unchanged(&self, found: &FoundConversation) -> bool {
        self.looked_at.get(&key(found)) == Some(&(found.bytes, found.modified_at))
    }

    pub(super) fn note(&mut self, found: &FoundConversation) {
        self.looked_at.insert(key(found), (found.bytes, found.modified_at));
    }
}

fn key(found: &FoundConversation) -> (Tool, String) {
    (found.tool, found.id.clone())
}

/// Which of these conversations are here already, by their tool and id.
pub(super) async fn find_known(shared: &Shared, found: &[FoundConversation]) -> HashSet<(Tool, String)> {
    let mut known = HashSet::new();
    if let Err(err) = find_hosted(shared, found, &mut known).await {
        tracing::warn!(error = %err, "which conversations are hosted here could not be read");
    }
    for found in found {
        let head = shared.store.head(StreamId::Session(session_of(found))).await;
        if !matches!(head, Ok(Head::At(Seq::START)) | Err(_)) {
            known.insert(key(found));
        }
    }
    known
}

/// Says that the run is over, however it ends.
struct Run<'a>(&'a Shared);

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.0.note_import(|state| (state.running, state.following) = (false, false));
    }
}

pub(super) async fn run(shared: &Shared, tools: &[Tool], follow: bool, stop: &CancellationToken) {
    let _run = Run(shared);
    let mut seen = Seen::default();
    loop {
        round(shared, tools, &mut seen, stop).await;
        if !follow || stop.is_cancelled() {
            return;
        }
        tokio::select! {
            () = sleep(LOOK_EVERY) => (),
            () = stop.cancelled() => return,
        }
    }
}

/// Looks at every conversation that has changed since it was last looked at.
async fn round(shared: &Shared, tools: &[Tool], seen: &mut Seen, stop: &CancellationToken) {
    let mut found = find(shared, tools).await;
    // The newest first: of two files of one conversation the other one is an older copy.
    let mut ids = HashSet::new();
    found.retain(|found| ids.insert(key(found)) && !seen.is_unchanged(found));
    if found.is_empty() {
        return;
    }
    if let Err(err) = find_hosted(shared, &found, &mut seen.hosted).await {
        return shared.note_import(|state| state.failures = vec![err.to_string()]);
    }
    shared.note_import(|state| state.total += found.len());
    // Sessions that lie side by side in the tables are written side by side.
    found.chunks_mut(SORTED_TOGETHER).for_each(|newest| newest.sort_by_cached_key(session_of));
    let hosted = seen.hosted.clone();
    let mut gathering = Gathering::new(shared, seen);
    for found in found {
        if stop.is_cancelled() {
            break;
        }
        let became = match hosted.contains(&key(&found)) {
            true => Ok((Became::LeftAlone, false)),
            false => bring_in(shared, &found, &mut gathering, stop).await,
        };
        gathering.finish(found, became);
    }
    gathering.write().await;
}

/// Adds those that are or were hosted here, deleted ones too. Neither one that came in before nor one that is known to be hosted
/// is asked about again: a tool that writes on changes its record every moment.
async fn find_hosted(
    shared: &Shared,
    found: &[FoundConversation],
    hosted: &mut HashSet<(Tool, String)>,
) -> Result<(), ReadError> {
    let mut new = Vec::new();
    for found in found.iter().filter(|found| !hosted.contains(&key(found))) {
        if shared.store.head(StreamId::Session(session_of(found))).await? == Head::At(Seq::START) {
            new.push(found);
        }
    }
    for tool in Tool::ALL {
        let ids: Vec<String> = new.iter().filter(|found| found.tool == tool).map(|found| found.id.clone()).collect();
        if !ids.is_empty() {
            let attached = shared.store.attached(tool.agent_name(), ids).await?;
            hosted.extend(attached.into_iter().map(|(id, _)| (tool, id)));
        }
    }
    Ok(())
}

async fn bring_in(
    shared: &Shared,
    found: &FoundConversation,
    gathering: &mut Gathering<'_>,
    stop: &CancellationToken,
) -> Outcome {
    let id = session_of(found);
    if shared.store.head(StreamId::Session(id)).await? == Head::Purged {
        return Ok((Became::LeftAlone, false));
    }
    let session = shared.store.session(id).await?;
    let known = session.as_ref().map(|session| &session.row);
    let bookmark = match known {
        None => None,
        Some(row) if row.deleted_at.is_some() || !row.is_imported() => return Ok((Became::LeftAlone, false)),
        Some(row) => row.imported.as_ref().map(|imported| Bookmark::from_kept(imported.mark.clone())),
    };
    let topics = match known {
        Some(row) => navigation::newest_topics(&*shared.store, row).await?,
        None => Topics::default(),
    };
    let is_new = session.is_none();
    let is_at_rest = found.modified_at < shared.clock.now().minus(AT_REST_AFTER);
    let last_turn = if is_at_rest { LastTurn::Emit } else { LastTurn::IfEnded };
    let home = shared.home.as_ref().and_then(|home| home.to_str()).unwrap_or("/").to_owned();
    let replay =
        Replay::new(found, id, session, topics, Arc::clone(&shared.ids), home, shared.outputs.settings.body_bytes);
    let (parts, mut written) = mpsc::channel(PARTS_AHEAD);
    let reading = spawn_blocking({
        let found = found.clone();
        move || read(&found, bookmark.as_ref(), last_turn, replay, &parts)
    });
    while let Some(part) = written.recv().await {
        gathering.add(part).await;
        if gathering.is_refused(id) {
            // The reason is counted when it is finished; no more of it can be appended.
            return Err(WorkError::Broken);
        }
        if stop.is_cancelled() {
            written.close();
        }
    }
    let reading = reading.await.map_err(|_| WorkError::Broken)??;
    shared.note_import(|state| {
        for skipped in &reading.skipped {
            *state.skipped.entry(skipped.what.to_owned()).or_default() += skipped.count;
        }
    });
    let became = match reading.turns {
        0 => Became::Unchanged,
        turns if is_new => Became::Added(turns),
        turns => Became::Updated(turns),
    };
    Ok((became, reading.is_open))
}

/// Reads a record and hands out what is to be written, part by part; blocking.
fn read(
    found: &FoundConversation,
    after: Option<&Bookmark>,
    last_turn: LastTurn,
    mut replay: Replay,
    parts: &mpsc::Sender<ReadyPart>,
) -> Result<Reading, WorkError> {
    let mut broken = None;
    let mut last: Option<(Bookmark, Timestamp)> = None;
    let mut sink = |item: history::HistoryItem| {
        if let history::HistoryItem::TurnEnd { at, bookmark, .. } = &item {
            last = Some((bookmark.clone(), *at));
        }
        match replay.apply(item) {
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
    let reading = history::read(found, after, last_turn, &HistoryLimits::default(), &mut sink)?;
    if let Some(err) = broken {
        return Err(err.into());
    }
    if let Some((bookmark, at)) = last.filter(|_| !replay.is_empty()) {
        let part = replay.flush(&bookmark, at)?;
        // Whoever stopped listening has said why.
        drop(parts.blocking_send(part));
    }
    Ok(reading)
}
