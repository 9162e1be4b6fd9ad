//! Lists, renames and deletes pieces of work, and takes the steps that lead from one of their sessions to the next.
//!
//! Invariant: one writer of the `work` stream at a time, so that a name leads to one work however many ask at once.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use model::{
    AgentOption, Answerer, Command, Draft, NewSession, NextId, Offer, OptionCategory, Rejection, Seq, Session,
    SessionEvent, SessionId, SessionRow, StreamId, Timestamp, Turn, TurnRow, WorkEvent, WorkId, WorkKey, WorkRow,
    add_to_work, check_name, rename_work, work_name,
};
use serde::{Deserialize, Serialize};
use store::{AppendError, Head, Part, ReadError};
use tokio::sync::OwnedRwLockReadGuard;

use crate::agent_views::last_options;
use crate::feeds::ListChange;
use crate::requests::{Asker, InputKind};
use crate::submitting::expect_reply;
use crate::wishes::{Created, Reply, StepTaken};
use crate::{Engine, QueryError, Shared, SubmitError, paging};

/// How long after a full disk, or when too many agents are at work, an agent is started again.
const START_AGAIN_AFTER: Duration = Duration::from_secs(5);
/// How many offers of a session are listed at once.
pub const MAX_OFFERS: usize = 1_000;

/// A piece of work with its sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Its row.
    pub row: WorkRow,
    /// Its sessions, the newest last.
    pub sessions: Vec<SessionId>,
}

/// A page of the contents of a whole piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkContents {
    /// The work.
    pub work: WorkRow,
    /// Its sessions, the newest last.
    pub sessions: Vec<SessionRow>,
    /// Its turns, oldest first, each with its number in the work, from 1.
    pub lines: Vec<(u32, TurnRow)>,
    /// There are turns after these.
    pub more: bool,
}

/// A click on a block, with what the person chose otherwise than it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Click {
    /// Which block.
    pub block: NextId,
    /// Another agent.
    pub agent: Option<String>,
    /// Another model, by the agent's own name of it.
    pub model: Option<String>,
    /// Another mode, likewise.
    pub mode: Option<String>,
    /// Whose click it is.
    pub by: Answerer,
}

impl Engine {
    /// The steps that a session's agent offers, newest first, before one of them.
    pub async fn next_blocks(
        &self,
        id: SessionId,
        before: Option<NextId>,
        limit: usize,
    ) -> Result<Vec<Offer>, QueryError> {
        self.session(id).await?;
        Ok(self.shared.store.next_blocks(id, before, limit.min(MAX_OFFERS)).await?)
    }

    /// Takes a step that a session's agent offers: in a new session, whose agent is sent the block's command. A step that
    /// was taken leads to where it led then.
    pub async fn click_next(&self, id: SessionId, click: Click, asker: Asker) -> Result<StepTaken, SubmitError> {
        if let Some(agent) = &click.agent {
            self.check_agent(agent)?;
        }
        let engine = self.clone();
        self.run_detached(async move { engine.submit_input(id, InputKind::Click(click), asker).await }).await
    }

    /// A page of the pieces of work that have sessions, the one that was added to last first.
    pub async fn works(&self, after: Option<WorkKey>, limit: usize) -> Result<Vec<Work>, QueryError> {
        self.shared.all_with_sessions(self.shared.store.works(after, limit).await?).await
    }

    /// A page of those that a name leads to, at most one of a project: what it is called, or was.
    pub async fn works_named(&self, name: &str, after: Option<WorkKey>, limit: usize) -> Result<Vec<Work>, QueryError> {
        let Some(name) = work_name(name) else { return Ok(Vec::new()) };
        self.shared.all_with_sessions(self.shared.store.works_named(&name, after, limit).await?).await
    }

    /// A piece of work, with all its sessions.
    pub async fn work(&self, id: WorkId) -> Result<Work, QueryError> {
        let row = self.shared.store.work(id).await?.ok_or(QueryError::NoSuchWork(id))?;
        Ok(self.shared.with_sessions(row).await?)
    }

    /// The name of the piece of work that a session belongs to, if it is still there.
    pub async fn work_of(&self, row: &SessionRow) -> Result<Option<WorkRow>, QueryError> {
        match row.work {
            Some(work) => Ok(self.shared.store.work(work).await?),
            None => Ok(None),
        }
    }

    /// What stands before a session: the member of its work before it, else the one that it was started from by a step. A
    /// fork stands for itself: what came after its turn in the other session is no part of it.
    pub async fn session_before(&self, row: &SessionRow) -> Result<Option<SessionId>, QueryError> {
        if let Some(work) = self.work_of(row).await?
            && let Some(earlier) = self.shared.store.newest_of_work(work.id, Some(row.id), 1).await?.pop()
        {
            return Ok(Some(earlier.id));
        }
        let Some(from) = row.from.and_then(|from| from.step()) else { return Ok(None) };
        let from = self.shared.store.session(from.session).await?;
        Ok(from.filter(|from| from.row.deleted_at.is_none()).map(|from| from.row.id))
    }

    /// Turns of a whole piece of work after a number, as one list.
    pub async fn work_contents(&self, id: WorkId, after: u32, limit: usize) -> Result<WorkContents, QueryError> {
        let work = self.shared.store.work(id).await?.ok_or(QueryError::NoSuchWork(id))?;
        let sessions = self.shared.store.work_sessions(id).await?;
        let mut lines = Vec::new();
        let mut first = 0;
        let mut more = false;
        for session in &sessions {
            let last = first + session.turns.0;
            if last > after {
                let skipped = Turn(after.saturating_sub(first));
                let left = limit.saturating_sub(lines.len());
                // One more than there is room for shows that there is more.
                let rows = self.shared.store.turns(session.id, skipped, left + 1).await?;
                more = rows.len() > left;
                lines.extend(rows.into_iter().take(left).map(|row| (first + row.turn.0, row)));
                if more {
                    break;
                }
            }
            first = last;
        }
        Ok(WorkContents { work, sessions, lines, more })
    }

    /// Calls a piece of work something else.
    pub async fn rename_work(&self, id: WorkId, name: &str, asker: Asker) -> Result<Work, SubmitError> {
        let (engine, name) = (self.clone(), name.to_owned());
        self.run_detached(async move {
            let shared = &engine.shared;
            let _guard = shared.work_stream.lock().await;
            // Looked at under the lock and first: a repeat has the first answer, whatever became of the work since.
            if let Some(renamed) = engine.find_reply(&asker).await? {
                return Ok(renamed);
            }
            let row = shared.store.work(id).await?.ok_or(SubmitError::NoSuchWork(id))?;
            let wanted = work_name(&name).ok_or(Rejection::WorkNameInvalid)?;
            let other = shared.store.find_work(&row.project, &wanted).await?;
            let events = rename_work(&row, &wanted, other.as_ref())?;
            let renamed = shared.with_sessions(WorkRow { name: wanted, ..row }).await?;
            expect_reply(shared.append_to_work(events, Reply::WorkRenamed(renamed), &asker).await?)
        })
        .await
    }

    /// Takes a piece of work apart; its sessions stay.
    pub async fn delete_work(&self, id: WorkId, asker: Asker) -> Result<(), SubmitError> {
        let engine = self.clone();
        self.run_detached(async move {
            let shared = &engine.shared;
            let _guard = shared.work_stream.lock().await;
            // Looked at under the lock: the same request, sent twice at once, has one answer.
            if let Some(()) = engine.find_reply(&asker).await? {
                return Ok(());
            }
            if shared.store.work(id).await?.is_none() {
                return Err(SubmitError::NoSuchWork(id));
            }
            shared.append_to_work(vec![WorkEvent::WorkDeleted { work: id }], Reply::Done, &asker).await.map(drop)
        })
        .await
    }

    /// Begins a session as a part of the piece of work of that name, which begins with it if it is new.
    pub(crate) async fn create_in_work(
        &self,
        id: SessionId,
        new: NewSession,
        name: &str,
        asker: Asker,
    ) -> Result<Created, SubmitError> {
        let name = work_name(name).ok_or(Rejection::WorkNameInvalid)?;
        let shared = Arc::clone(&self.shared);
        self.run_detached(async move {
            // Nothing is begun without a place for its agent, which takes it at once.
            let place = shared.agent_places.enter().await?;
            let guard = shared.work_stream.lock().await;
            let at = shared.clock.now();
            let (work, work_part) = shared.join_work(&new.project, &name, id, at).await?;
            let first_part = Shared::first_part(id, NewSession { work: Some(work), ..new }, at)?;
            let reply = Reply::Created(Created { session: id, entries: first_part.entries.len() as u64 });
            let parts = [first_part].into_iter().chain(work_part).collect();
            let created: Created = expect_reply(shared.append_with_reply(parts, reply, &asker, at).await?)?;
            drop((guard, place));
            // A repeat has begun nothing.
            if created.session == id {
                start(&shared, id);
            }
            Ok(created)
        })
        .await
    }

    /// Starts the agents of sessions that were begun by a click or a fork and whose server ended before they were. What the
    /// person took back meanwhile is not sent: a prompt that was removed or cancelled is not there any more, and one whose
    /// session was deleted waits, also if it was restored. To be called once agents can reach what they are lent.
    pub async fn start_unbegun(&self) -> Result<usize, QueryError> {
        let mut started = 0;
        for id in self.shared.store.unbegun().await? {
            match self.shared.was_ever_deleted(id).await {
                Ok(Some(false)) => {
                    start(&self.shared, id);
                    started += 1;
                }
                Ok(Some(true) | None) => (),
                Err(err) => {
                    let error = &err as &dyn std::error::Error;
                    tracing::warn!(session = %id, error, "a session can not be read; its first prompt waits");
                }
            }
        }
        Ok(started)
    }
}

/// Has a session's agent started; what it is to be sent waits in the session's queue.
pub(crate) fn start(shared: &Arc<Shared>, id: SessionId) {
    let engine = Engine { shared: Arc::clone(shared) };
    shared.tasks.spawn(async move {
        fail::fail_point!("work-start");
        loop {
            match engine.command(id, Command::Start, Asker::server()).await {
                Ok(()) => break,
                // It is tried again for as long as this lasts; the next run would try it too.
                Err(
                    SubmitError::Append(AppendError::Full(_) | AppendError::Busy(_))
                    | SubmitError::TooManyAgents { .. },
                ) if !engine.shared.stopping.is_cancelled() => {
                    tokio::time::sleep(START_AGAIN_AFTER).await;
                }
                Err(err) => {
                    let error = &err as &dyn std::error::Error;
                    tracing::warn!(session = %id, error, "the agent of a new session was not started");
                    break;
                }
            }
        }
        fail::fail_point!("work-started");
    });
}

/// What the person chose about a new session's agent, where it is not as in the session that it is started from.
#[derive(Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) agent: Option<&'a str>,
    pub(crate) model: Option<String>,
    pub(crate) mode: Option<String>,
}

/// What a new session's agent is to be set to: as the session stands that offers the step, unless the person chose
/// otherwise. Another agent's models and modes are others.
pub(crate) async fn wanted_options(
    shared: &Shared,
    session: &Session,
    Wanted { agent, mut model, mut mode }: Wanted<'_>,
) -> Result<BTreeMap<String, String>, SubmitError> {
    let mut options = BTreeMap::new();
    let same_agent = agent.is_none_or(|agent| agent == session.row.agent);
    if same_agent {
        let known = shared.agent_views.of(&*shared.store, session).await.options;
        let known = match known.is_empty() {
            true => last_options(&*shared.store, session).await,
            false => known,
        };
        let usable = |option: &AgentOption| check_name(&option.id).and(check_name(&option.value)).is_ok();
        for option in known.into_iter().filter(usable) {
            let (about, other) = match option.category {
                OptionCategory::Model => ("model", model.take()),
                OptionCategory::Mode => ("mode", mode.take()),
                OptionCategory::Thinking | OptionCategory::Other => continue,
            };
            if let Some(wanted) = &other {
                check_offered(&session.row.agent, about, wanted, &option)?;
            }
            options.insert(option.id, other.unwrap_or(option.value));
        }
    }
    // By what they are about: how the agent calls them is known when it is there.
    options.extend(model.map(|model| ("model".to_owned(), model)));
    options.extend(mode.map(|mode| ("mode".to_owned(), mode)));
    Ok(options)
}

/// An agent that lists what can be chosen has nothing else.
fn check_offered(agent: &str, about: &'static str, wanted: &str, option: &AgentOption) -> Result<(), SubmitError> {
    let is_offered = option.choices.is_empty() || option.choices.iter().any(|choice| choice.value == wanted);
    // A name that is too long to be one is refused as such.
    if is_offered || check_name(wanted).is_err() {
        return Ok(());
    }
    let offered: Vec<&str> = option.choices.iter().map(|choice| choice.value.as_str()).take(MAX_NAMED).collect();
    let more = if option.choices.len() > MAX_NAMED { ", …" } else { "" };
    Err(SubmitError::NoSuchChoice {
        agent: agent.to_owned(),
        about,
        wanted: wanted.to_owned(),
        offered: offered.join(", ") + more,
    })
}

/// How many choices a refusal names.
const MAX_NAMED: usize = 30;

impl Shared {
    /// Whether the person has deleted the session at some time, though it may be there again; `None` if it is gone.
    async fn was_ever_deleted(&self, id: SessionId) -> Result<Option<bool>, ReadError> {
        let Some(session) = self.store.session(id).await? else { return Ok(None) };
        let mut was_deleted = false;
        paging::walk(&*self.store, id, Seq::START, session.head, |entry| match entry.event {
            SessionEvent::SessionDeleted {} => {
                was_deleted = true;
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        })
        .await?;
        Ok(Some(was_deleted))
    }

    /// The part that adds a session to the work of that name, which begins with it if it is new. The caller holds the lock
    /// of the works' stream until it is appended.
    pub(crate) async fn join_work(
        &self,
        project: &str,
        name: &str,
        session: SessionId,
        at: Timestamp,
    ) -> Result<(WorkId, Option<Part>), SubmitError> {
        let known = self.store.find_work(project, name).await?;
        let work = known.as_ref().map_or_else(|| WorkId::from_uuid(self.ids.uuid()), |known| known.id);
        let events = add_to_work(known.as_ref(), work, project, name, session);
        Ok((work, self.next_of_works(events, at).await?))
    }

    /// What begins a session whose first prompt has no pictures.
    pub(crate) fn first_part(id: SessionId, new: NewSession, at: Timestamp) -> Result<Part, Rejection> {
        let mut draft = Draft::new(id, None);
        draft.apply(Command::Create(new), at)?;
        Ok(draft.take())
    }

    /// What begins a session, with the pictures of its first prompt stored beside the log. The guard is to be dropped once it is
    /// appended.
    pub(crate) async fn first_part_with_pictures(
        &self,
        id: SessionId,
        new: NewSession,
        at: Timestamp,
    ) -> Result<(Part, Option<OwnedRwLockReadGuard<()>>), Rejection> {
        let mut draft = Draft::new(id, None).cutting(self.outputs.settings.body_bytes);
        draft.apply(Command::Create(new), at)?;
        let storing = self.keep_bodies_of(id, &mut draft).await;
        Ok((draft.take(), storing))
    }

    /// The next part of the works' stream, if there are events.
    async fn next_of_works(&self, events: Vec<WorkEvent>, at: Timestamp) -> Result<Option<Part>, SubmitError> {
        if events.is_empty() {
            return Ok(None);
        }
        Ok(Some(Part::of_works(self.head_of(StreamId::Work).await?, events, at)))
    }

    /// The newest entry of a stream that is no session's.
    pub(crate) async fn head_of(&self, stream: StreamId) -> Result<Seq, SubmitError> {
        match self.store.head(stream).await? {
            Head::At(seq) => Ok(seq),
            Head::Purged => Err(AppendError::Purged(stream).into()),
        }
    }

    async fn append_to_work(&self, events: Vec<WorkEvent>, reply: Reply, asker: &Asker) -> Result<Reply, SubmitError> {
        let at = self.clock.now();
        let part = self.next_of_works(events, at).await?;
        self.append_with_reply(part.into_iter().collect(), reply, asker, at).await
    }

    async fn with_sessions(&self, row: WorkRow) -> Result<Work, store::ReadError> {
        let sessions = self.store.work_session_ids(row.id).await?;
        Ok(Work { row, sessions })
    }

    async fn all_with_sessions(&self, rows: Vec<WorkRow>) -> Result<Vec<Work>, QueryError> {
        let mut works = Vec::new();
        for row in rows {
            works.push(self.with_sessions(row).await?);
        }
        Ok(works)
    }

    /// Publishes a piece of work as it is now.
    pub(crate) async fn publish_work(&self, id: WorkId) -> Result<(), store::ReadError> {
        let work = match self.store.work(id).await? {
            Some(row) => Some(self.with_sessions(row).await?),
            None => None,
        };
        self.feeds.publish_list(match work.filter(|work| !work.sessions.is_empty()) {
            Some(work) => ListChange::PutWork(Arc::new(work)),
            None => ListChange::RemovedWork { id },
        });
        Ok(())
    }
}
