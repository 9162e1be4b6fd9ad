//! Live sessions: the only writer of the log.
//!
//! The engine knows how a session lives: one task each (`live_session.rs`), fed with commands and with its agent's
//! news, deciding with `model::decide`, writing through `commit.rs`, and telling followers (`follow.rs`, `feeds.rs`)
//! only what is durable. It must never know HTTP, SQL or how an agent's protocol looks. Time, ids and tasks come
//! through seams, so tests run it with a paused clock. Start reading at [`Engine::submit`].

mod agent_places;
mod asking;
mod brief;
mod calls;
mod clock;
mod commit;
mod contents;
mod copies;
mod digest;
mod directories;
mod error;
mod feeds;
mod finding;
mod follow;
mod housekeeping;
mod id_source;
mod importing;
mod live_session;
mod looking;
mod mount;
mod navigation;
mod offers;
mod own_calls;
mod packet;
mod parts;
mod pending;
mod policy;
mod reading;
mod records;
mod recovery;
mod remembered;
mod server_stream;
mod skills;
mod summaries;
mod tokens;
mod within;
mod work;

use std::collections::{BTreeMap, HashMap};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use agents::Agents;
use agents::catalog::{Brief, Catalog};
use agents::policy::PermissionPolicy;
use futures_util::FutureExt as _;
use model::{
    Command, Context, DeletedKey, Event, InteractionId, ListKey, NewSession, PermissionAnswer, RememberedId,
    RememberedRow, Request, Seq, Session, SessionId, SessionRow, StreamId, Turn, Untold,
};
use store::{Copies, Head, Store};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use agents::OWN_TOOLS as UNASKED_TOOLS;
pub use agents::catalog::Listed;
pub use agents::{RecordsError, RecordsWish};
pub use asking::{Asker, Reply, RequestKey};
pub use brief::STANDARD_BRIEF;
pub use clock::{Clock, SystemClock};
pub use contents::{Contents, Interaction, MAX_CONTENTS_LINES, MAX_TURNS_AT_ONCE, TurnView};
pub use directories::Reach;
pub use error::{DirectoryError, QueryError, ResetReason, SubmitError};
pub use feeds::{ListChange, Words};
pub use files::Deny;
pub use finding::{
    Count, FoundInside, FoundTurn, Role, SearchAnswer, SearchFailure, SearchWish, Snippet, Within, entries_set_aside,
    search_folder_failure, want_search_rebuild,
};
pub use follow::{ContextReason, Earlier, Follow, Followed};
pub use housekeeping::{RECEIPTS_KEPT_FOR, RESTORABLE_FOR};
pub use id_source::{IdSource, Secret, SystemIds};
pub use importing::{ImportError, ImportProgress, ImportSource};
pub use looking::open_directory;
pub use own_calls::OwnToolCheck;
pub use packet::Packet;
pub use reading::{Outside, ShowError, ShownFile};
pub use records::{AgentSession, AgentSessions, AgentSessionsError};
pub use skills::{SKILL_FILE, SKILLS, Skill, SkillFile};
pub use store::{AppendError, Damage, ReadError};
pub use summaries::{SummariesProgress, Summarising};
pub use tokens::{CODE_GOOD_FOR, IssuedToken, OfferedCode, TokenWish};
pub use within::{CountWithin, PageWithin};
pub use work::{Click, MAX_OFFERS, Work, WorkContents};

use asking::{Asked, Then, Wish};
use brief::WHAT_THE_TOOLS_ARE_FOR;
use live_session::{Answer, Input, LiveSession};

/// How many commands may wait for one session.
const INPUT_QUEUE: usize = 64;
/// How far back the answer to a request is looked for, and how much is read at a time.
const ANSWERS_IN_TURNS: u32 = 3;
const ENTRIES_AT_ONCE: usize = 500;
/// How long a shutdown waits for sessions to settle.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(8);

/// What the engine is given.
pub struct Seams {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids and secrets.
    pub ids: Arc<dyn IdSource>,
    /// The person's home directory, which is no place for a session unless confirmed.
    pub home: Option<PathBuf>,
    /// Where readable copies of sessions are kept, if they are.
    pub copies: Option<Copies>,
    /// Agents, and what they may do unasked.
    pub agency: Agency,
    /// Who is asked for summaries and titles, if anybody is.
    pub summarising: Option<Summarising>,
    /// Where the search index is kept, if sessions are searched.
    pub search: Option<PathBuf>,
    /// Where other tools leave their records, if that is known.
    pub history: Option<agents::history::Places>,
}

/// All that has to do with agents.
pub struct Agency {
    /// Starts them.
    pub agents: Agents,
    /// Those that there are.
    pub catalog: Catalog,
    /// What is answered without asking the person.
    pub policy: PermissionPolicy,
    /// What nobody looks at.
    pub deny: Deny,
    /// The folder that is the person's and all agents': what lies in it is looked at like a session's own files.
    pub files: Option<PathBuf>,
    /// What every agent is told of its session, if it is told anything.
    pub brief: Option<String>,
    /// How many sessions may have an agent at once.
    pub max_agents: usize,
}

impl Agency {
    /// The built-in guide alone, as a task of this process: for tests and measurements.
    pub fn only_guide() -> Self {
        let catalog = Catalog::new("throughline", BTreeMap::new()).expect("nothing is changed in the catalog");
        let agents = Agents::new(agents::Settings::in_process(catalog.entries()));
        let brief = Some(STANDARD_BRIEF.to_owned());
        let (policy, deny) = (PermissionPolicy::default(), Deny::standard());
        Self { agents, catalog, policy, deny, files: None, brief, max_agents: usize::MAX }
    }
}

/// How far an answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// To this one request.
    Once,
    /// To the very same, asked again by the same agent in the same project.
    Remembered,
}

/// The engine; cheap to clone.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    home: Option<PathBuf>,
    agency: Agency,
    looking: looking::Looking,
    finding: finding::Finding,
    importing: importing::Importing,
    summaries: summaries::Summaries,
    feeds: Arc<feeds::Feeds>,
    agent_views: offers::AgentViews,
    server_stream: server_stream::Pen,
    work_stream: server_stream::Pen,
    tokens: tokens::Tokens,
    remembered: remembered::Remembered,
    agent_places: agent_places::AgentPlaces,
    /// The MCP mount; known once the server listens.
    mount: OnceLock<mount::Mount>,
    own_calls: own_calls::OwnCalls,
    unobserved: commit::Unobserved,
    started: housekeeping::Started,
    parts: parts::Parts,
    live: Mutex<HashMap<SessionId, mpsc::Sender<Input>>>,
    copying: Option<copies::Copying>,
    tasks: TaskTracker,
    stopping: CancellationToken,
    /// Tasks that read what the others wrote, and so end after them.
    followers: TaskTracker,
    /// The others have ended.
    settled: CancellationToken,
}

/// Why the engine could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// What was cut off could not be written down.
    #[error(transparent)]
    Append(#[from] AppendError),
}

impl Engine {
    /// Settles what an earlier life left open, then is ready for commands.
    pub async fn start(store: Arc<dyn Store>, seams: Seams) -> Result<Self, StartError> {
        let Seams { clock, ids, home, copies, agency, summarising, search, history } = seams;
        let tokens = tokens::Tokens::new(store.tokens().await?);
        let remembered = remembered::Remembered::new(store.remembered().await?);
        let unobserved = commit::Unobserved::new(store.unobserved_count().await?);
        let started = housekeeping::Started::at(clock.now());
        let shared = Arc::new(Shared {
            store,
            clock,
            ids,
            home,
            looking: looking::Looking::new(agency.deny.clone(), agency.files.clone()),
            finding: finding::Finding::new(search),
            importing: importing::Importing::new(history),
            summaries: summaries::Summaries::new(summarising),
            agent_places: agent_places::AgentPlaces::new(agency.max_agents),
            agency,
            feeds: Arc::new(feeds::Feeds::new()),
            agent_views: offers::AgentViews::default(),
            server_stream: server_stream::Pen::new(),
            work_stream: server_stream::Pen::new(),
            tokens,
            remembered,
            mount: OnceLock::new(),
            own_calls: own_calls::OwnCalls::default(),
            unobserved,
            started,
            parts: parts::Parts::default(),
            live: Mutex::default(),
            copying: copies.map(copies::Copying::new),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            followers: TaskTracker::new(),
            settled: CancellationToken::new(),
        });
        let interrupted = shared.recover().await?;
        if interrupted > 0 {
            tracing::info!(sessions = interrupted, "sessions were running when the server last stopped");
        }
        let (stopping, settled) = (&shared.stopping, &shared.settled);
        let Shared { tasks, followers, .. } = &*shared;
        tasks.spawn(parts::keep(Arc::clone(&shared), "housekeeping", stopping.clone(), housekeeping::run));
        followers.spawn(parts::keep(Arc::clone(&shared), "copies", settled.clone(), copies::run));
        tasks.spawn(parts::keep(Arc::clone(&shared), "summaries", stopping.clone(), summaries::run));
        followers.spawn(parts::keep(Arc::clone(&shared), "search", settled.clone(), finding::run));
        Ok(Self { shared })
    }

    /// Says where on this machine agents reach the MCP mount, and what its tools take; agents that are attached from now on
    /// are handed it. The first word holds.
    pub fn mount_at(&self, url: String, takes: OwnToolCheck) {
        if let Err(mount) = self.shared.mount.set(mount::Mount { url, takes }) {
            tracing::error!(mount.url, "the MCP mount has an address already; the first is kept");
        }
    }

    /// A session's agent calls one of its own tools.
    pub fn own_tool_called(&self, session: SessionId, tool: &str, input: &serde_json::Map<String, serde_json::Value>) {
        self.shared.own_calls.arrived(session, tool, input);
    }

    /// What every agent is told of its session, if it is told anything.
    pub fn brief(&self) -> Option<&str> {
        self.shared.agency.brief.as_deref()
    }

    /// What the MCP mount says of itself to a session's agent: the brief, unless this agent is given it in another way.
    pub async fn instructions_for(&self, session: SessionId) -> Option<&str> {
        let brief = self.brief()?;
        let session = self.session(session).await.ok();
        let entry = session.and_then(|session| self.shared.agency.catalog.find_entry(&session.row.agent));
        Some(match entry.map_or(Brief::Instructions, |entry| entry.quirks.brief) {
            Brief::Instructions => brief,
            Brief::SystemPrompt | Brief::FirstPrompt => WHAT_THE_TOOLS_ARE_FOR,
        })
    }

    /// Stops taking commands, settles every session, brings the copies up to date, and waits for that in bounded time.
    pub async fn shutdown(&self) {
        let Shared { stopping, tasks, settled, followers, .. } = &*self.shared;
        stopping.cancel();
        tasks.close();
        followers.close();
        let in_order = async {
            tasks.wait().await;
            self.shared.agency.agents.shutdown().await;
            settled.cancel();
            followers.wait().await;
        };
        if timeout(SHUTDOWN_LIMIT, in_order).await.is_err() {
            settled.cancel();
            tracing::warn!("not everything settled in time; the next start settles it");
        }
    }

    /// Begins a session in a directory that exists.
    pub async fn create_session(
        &self,
        agent: &str,
        cwd: &str,
        name: String,
        reach: Reach,
        asker: Asker,
    ) -> Result<Reply, SubmitError> {
        self.create_session_in(None, agent, cwd, name, reach, asker).await
    }

    /// The same, as a part of the piece of work of that name in the directory's project.
    pub async fn create_session_in(
        &self,
        work: Option<&str>,
        agent: &str,
        cwd: &str,
        name: String,
        reach: Reach,
        asker: Asker,
    ) -> Result<Reply, SubmitError> {
        // A repeat is answered as the first was, even if the directory is gone since.
        if let Some(answer) = self.answered(&asker).await? {
            return answer;
        }
        self.check_agent(agent)?;
        let directory = directories::inspect(cwd, self.shared.home.as_deref(), reach).await?;
        let id = SessionId::from_uuid(self.shared.ids.uuid());
        let (cwd, project) = (directory.cwd, directory.project);
        let new = NewSession { agent: agent.to_owned(), cwd, project, name, ..NewSession::default() };
        match work {
            Some(work) => self.create_in_work(id, new, work, asker).await,
            None => self.submit(id, Command::Create(new), asker).await,
        }
    }

    /// Makes sure that a session's agent is there, or has another take over.
    pub async fn resume(&self, id: SessionId, agent: Option<String>, asker: Asker) -> Result<Reply, SubmitError> {
        if let Some(agent) = &agent {
            self.check_agent(agent)?;
        }
        self.submit(id, Command::Resume { agent }, asker).await
    }

    fn check_agent(&self, name: &str) -> Result<(), SubmitError> {
        let catalog = &self.shared.agency.catalog;
        if catalog.find_entry(name).is_some() {
            return Ok(());
        }
        Err(SubmitError::UnknownAgent { name: name.to_owned(), known: self.known_agents() })
    }

    fn known_agents(&self) -> String {
        let names: Vec<&str> = self.shared.agency.catalog.entries().iter().map(|entry| entry.name.as_str()).collect();
        names.join(", ")
    }

    /// Every agent of the catalog, and whether it is installed.
    pub async fn agents(&self) -> Vec<Listed> {
        let Agency { agents, catalog, .. } = &self.shared.agency;
        catalog.list(agents.path().await, self.shared.home.as_deref()).await
    }

    /// What a request of one of the newest turns, or asked between them, was answered.
    pub async fn find_answer(&self, id: SessionId, request: Request) -> Result<Option<PermissionAnswer>, QueryError> {
        let session = self.session(id).await?;
        let newest = Turn(session.row.turns.0.saturating_sub(ANSWERS_IN_TURNS));
        let turns = self.shared.store.turns(id, newest, 1).await?;
        // Before the first turn something may have been asked, too.
        let mut after = turns.first().filter(|_| newest > Turn(0)).map_or(Seq::START, |turn| turn.first_seq);
        loop {
            let page = self.shared.store.read(StreamId::Session(id), after, ENTRIES_AT_ONCE).await?;
            let Some(last) = page.last() else { return Ok(None) };
            after = last.seq;
            let answer = page.into_iter().find_map(|entry| match entry.event {
                Event::PermissionAnswered { request: answered, answer, .. } if answered == request => Some(answer),
                _ => None,
            });
            if answer.is_some() {
                return Ok(answer);
            }
        }
    }

    /// Answers what an agent asked; one that is remembered is given again, unasked, to the very same.
    pub async fn answer(
        &self,
        id: SessionId,
        request: Request,
        answer: PermissionAnswer,
        keep: Keep,
        asker: Asker,
    ) -> Result<(), SubmitError> {
        let remembered = match keep {
            Keep::Once => None,
            Keep::Remembered => Some(RememberedId::from_uuid(self.shared.ids.uuid())),
        };
        let answer = PermissionAnswer { remembered, ..answer };
        self.submit(id, Command::Answer { request, answer }, asker).await.map(drop)
    }

    /// Every answer that is remembered, oldest first.
    pub fn remembered(&self) -> Vec<RememberedRow> {
        self.shared.remembered.all()
    }

    /// Forgets an answer, so that the same is asked again; whether there was one.
    pub async fn forget_permission(&self, id: RememberedId, asker: Asker) -> Result<bool, SubmitError> {
        if let Some(answer) = self.answered(&asker).await? {
            return answer.map(|_| true);
        }
        let shared = Arc::clone(&self.shared);
        self.to_the_end(async move { shared.forget_permission(id, &asker).await }).await
    }

    /// Carries out a command on a session and answers when what it did is durable.
    pub async fn submit(&self, id: SessionId, command: Command, asker: Asker) -> Result<Reply, SubmitError> {
        self.submit_and(id, Asked { wish: Wish::Command(command), asker, then: Then::Stay }).await
    }

    async fn submit_click(&self, id: SessionId, click: Click, asker: Asker) -> Result<Reply, SubmitError> {
        self.submit_and(id, Asked { wish: Wish::Click(click), asker, then: Then::Stay }).await
    }

    async fn submit_and(&self, id: SessionId, asked: Asked) -> Result<Reply, SubmitError> {
        let asker = asked.asker.clone();
        if let Some(answer) = self.answered(&asker).await? {
            return answer;
        }
        match self.carry_out(id, asked).await {
            // What is refused now may be what the same request, sent twice at once, has just done.
            Err(refused @ (SubmitError::Rejected(_) | SubmitError::NotFound(_))) => {
                self.answered(&asker).await?.unwrap_or(Err(refused))
            }
            answer => answer,
        }
    }

    /// The answer that a request with this key was given before.
    async fn answered(&self, asker: &Asker) -> Result<Option<Result<Reply, SubmitError>>, SubmitError> {
        let Some(key) = &asker.key else { return Ok(None) };
        let receipt = self.shared.store.find_receipt(&asker.principal, key.key()).await?;
        Ok(receipt.map(|receipt| asker.repeat(&receipt)))
    }

    async fn carry_out(&self, id: SessionId, mut asked: Asked) -> Result<Reply, SubmitError> {
        // A task that is just ending refuses the input; it is then asked of the next one.
        loop {
            if self.shared.stopping.is_cancelled() {
                return Err(SubmitError::Stopping);
            }
            let inputs = self.live(id, &asked.wish).await?;
            let (answer, answered) = oneshot::channel();
            asked = match inputs.send(Input { asked, answer }).await {
                Ok(()) => match answered.await {
                    Ok(Answer::Given(result)) => return result,
                    Ok(Answer::NotTaken(asked)) => asked,
                    // The task broke off in the middle; what it did, if anything, is in the log.
                    Err(_) => return Err(self.shared.broke_off()),
                },
                Err(mpsc::error::SendError(input)) => input.asked,
            };
            self.shared.forget(id, &inputs);
        }
    }

    /// The way to a session's task, which is started if there is none.
    async fn live(&self, id: SessionId, wish: &Wish) -> Result<mpsc::Sender<Input>, SubmitError> {
        let running = self.shared.live.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned();
        if let Some(inputs) = running {
            return Ok(inputs);
        }
        let session = self.shared.store.session(id).await?;
        if session.is_none() && !matches!(wish, Wish::Command(Command::Create(_))) {
            return Err(SubmitError::NotFound(id));
        }
        let mut live = self.shared.live.lock().unwrap_or_else(PoisonError::into_inner);
        // Another caller may have started it in the meantime.
        let inputs = live.entry(id).or_insert_with(|| {
            let (inputs, inputs_in) = mpsc::channel(INPUT_QUEUE);
            let task = LiveSession::new(Arc::clone(&self.shared), id, session, inputs_in);
            let shared = Arc::clone(&self.shared);
            let own = inputs.downgrade();
            self.shared.tasks.spawn(async move {
                if AssertUnwindSafe(task.run()).catch_unwind().await.is_err() {
                    shared.settle_broken(id).await;
                }
                if let Some(own) = own.upgrade() {
                    shared.forget(id, &own);
                }
            });
            inputs
        });
        Ok(inputs.clone())
    }

    /// Removes a session for good, unless a turn runs.
    pub async fn purge(&self, id: SessionId, asker: Asker) -> Result<(), SubmitError> {
        let engine = self.clone();
        self.to_the_end(async move {
            let session = engine.shared.store.session(id).await?;
            let damaged = engine.shared.store.damage(id).is_some();
            let asked = Asked { wish: Wish::Command(Command::Delete), asker, then: Then::Purge };
            if session.is_some_and(|session| damaged || session.row.deleted_at.is_some()) {
                engine.shared.leave_receipt(&asked.asker, &Reply::Done).await?;
            } else {
                // One that is gone is asked for all the same: a repeat is answered by its receipt, anything else with
                // "not found".
                engine.submit_and(id, asked).await?;
            }
            // One that somebody restored at this very moment stays.
            engine.shared.purge_deleted(id).await
        })
        .await
    }

    /// A session that is not deleted.
    pub async fn session(&self, id: SessionId) -> Result<Session, QueryError> {
        let session = self.shared.store.session(id).await?;
        session.filter(|session| session.row.deleted_at.is_none()).ok_or(QueryError::NotFound(id))
    }

    /// What a session was about at the end of a turn; as it is now, if that is the newest one.
    pub async fn context_as_of(&self, id: SessionId, turn: Turn) -> Result<Context, QueryError> {
        let session = self.session(id).await?;
        if turn > session.row.turns {
            return Err(QueryError::NoSuchTurn { turn, newest: session.row.turns });
        }
        let next = self.shared.store.turns(id, turn, 1).await?;
        let Some(up_to) = next.first().map(|next| next.first_seq.previous()) else {
            return Ok((*session.context).clone());
        };
        let mut context = Context::default();
        let mut after = Seq::START;
        loop {
            let page = self.shared.store.context_entries(id, after, up_to, ENTRIES_AT_ONCE).await?;
            let Some(last) = page.last() else { return Ok(context) };
            after = *last;
            for seq in page {
                let entries = self.shared.store.read(StreamId::Session(id), seq.previous(), 1).await?;
                entries.iter().for_each(|entry| drop(context.apply(entry)));
            }
        }
    }

    /// What is protected from everybody who names a path.
    pub fn deny(&self) -> &Deny {
        &self.shared.agency.deny
    }

    /// What the session's agent would be told if it were resumed now.
    pub async fn resume_packet(&self, id: SessionId) -> Result<Packet, QueryError> {
        let session = self.session(id).await?;
        let untold = match session.row.untold {
            Untold::Essentials => Untold::Essentials,
            Untold::Nothing | Untold::Everything => Untold::Everything,
        };
        Ok(packet::build(&*self.shared.store, &self.shared.looking, &session, untold).await?)
    }

    /// A session as it stood after its first entries.
    pub async fn session_as_of(&self, id: SessionId, entries: u64) -> Result<Session, QueryError> {
        let limit = usize::try_from(entries).unwrap_or(usize::MAX);
        let first = self.shared.store.read(StreamId::Session(id), Seq::START, limit).await?;
        let mut first = first.iter();
        let mut session = first.next().and_then(|entry| Session::begin(id, entry)).ok_or(QueryError::NotFound(id))?;
        first.for_each(|entry| session.apply(entry));
        Ok(session)
    }

    /// What is known to be wrong with a session; it is read up to there and takes no more.
    pub fn damage(&self, id: SessionId) -> Option<Damage> {
        self.shared.store.damage(id)
    }

    /// A page of the list.
    pub async fn sessions(&self, after: Option<ListKey>, limit: usize) -> Result<Vec<SessionRow>, QueryError> {
        Ok(self.shared.store.sessions(after, limit).await?)
    }

    /// A page of deleted sessions that can be restored, the one that was deleted last first.
    pub async fn deleted_sessions(
        &self,
        after: Option<DeletedKey>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, QueryError> {
        Ok(self.shared.store.deleted(after, limit).await?)
    }

    /// How far summing up has got.
    pub fn summaries(&self) -> SummariesProgress {
        self.shared.summaries.progress(summaries::today(&self.shared))
    }

    /// Asks the model for better lines of what was summed up without it: of one session, or of all. How many turns wait for
    /// it now that did not.
    pub async fn upgrade_summaries(&self, session: Option<SessionId>) -> Result<usize, QueryError> {
        summaries::upgrade(&self.shared, session).await
    }

    /// The person's home directory.
    pub fn home(&self) -> Option<&Path> {
        self.shared.home.as_deref()
    }

    /// How many sessions came to rest unseen.
    pub fn unobserved_count(&self) -> u64 {
        self.shared.unobserved.count()
    }

    /// Changes of the list from now on.
    pub fn list_changes(&self) -> broadcast::Receiver<ListChange> {
        self.shared.feeds.subscribe_list()
    }

    /// A fresh id for a prompt.
    pub fn new_interaction(&self) -> InteractionId {
        InteractionId::from_uuid(self.shared.ids.uuid())
    }

    /// Whether the session's entries were purged.
    pub async fn is_purged(&self, id: SessionId) -> Result<bool, QueryError> {
        Ok(self.shared.store.head(StreamId::Session(id)).await? == Head::Purged)
    }

    /// Carries work to its end even if whoever asked for it stops waiting, as callers that hang up do. Half of a
    /// revocation must not be left undone.
    pub async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, SubmitError>> + Send + 'static,
    ) -> Result<T, SubmitError> {
        self.shared.tasks.spawn(work).await.unwrap_or_else(|_| Err(self.shared.broke_off()))
    }

    /// The parts of the engine that panicked lately; they have started again, or are about to.
    pub fn failing_parts(&self) -> Vec<&'static str> {
        self.shared.parts.failing()
    }

    /// Why sessions can not be searched, while they can not.
    pub fn search_failure(&self) -> Option<SearchFailure> {
        self.shared.finding.failure()
    }

    /// How often the copies of sessions were brought up to date; 0 where none are kept.
    pub fn copy_rounds(&self) -> u64 {
        self.shared.copying.as_ref().map_or(0, copies::Copying::rounds)
    }

    /// Which life of the store this is.
    pub fn incarnation(&self) -> model::Incarnation {
        self.shared.store.incarnation()
    }
}

impl Shared {
    /// Why a task gave no answer: only a panic keeps one from it, or the end.
    fn broke_off(&self) -> SubmitError {
        if self.stopping.is_cancelled() { SubmitError::Stopping } else { SubmitError::Broken }
    }

    /// Lets go of a task that has ended, unless another has taken its place.
    fn forget(&self, id: SessionId, ended: &mpsc::Sender<Input>) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if live.get(&id).is_some_and(|current| current.same_channel(ended)) {
            live.remove(&id);
        }
    }
}
