//! Live sessions: the only writer of the log.
//!
//! The engine knows how a session lives: one task each (`live_session.rs`), fed with inputs and with its agent's
//! updates, deciding with `model::Draft`, writing through `journal.rs`, which notifies followers (`fan_out.rs`, `feeds.rs`)
//! only of what is durable. It must never know HTTP, SQL or how an agent's protocol looks. Time, ids and tasks come
//! through seams, so tests run it with a paused clock. Start reading at [`Engine::submit`] and `wishes.rs`.

mod agent_places;
mod agent_views;
mod applets;
mod bodies;
mod bundles;
mod calls;
mod changes;
mod clock;
mod contents;
mod copies;
mod directories;
mod error;
mod fan_out;
mod feeds;
mod file_inspector;
mod file_listing;
mod file_writing;
mod finding;
mod follow;
mod forking;
mod git;
mod housekeeping;
mod id_source;
mod importing;
mod journal;
mod kept_tasks;
mod listing;
mod live_session;
mod mount;
mod navigation;
mod outputs;
mod own_calls;
mod packet;
mod paging;
mod pending;
mod policy;
mod queries;
mod reading;
mod records;
mod recovery;
mod remembered;
mod requests;
mod server_stream;
mod skills;
mod submitting;
mod summaries;
mod tickets;
mod tokens;
mod trials;
mod unsent;
mod usage;
mod wishes;
mod within;
mod work;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use agents::Agents;
use agents::catalog::{Brief, Catalog};
use agents::policy::PermissionPolicy;
use model::{InteractionId, RememberedRow, SessionId};
use store::{Copies, Reader, Store};
use tokio::sync::{Semaphore, broadcast, mpsc};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use agents::catalog::Listed;
// For programs that have an engine and know no agents: theirs has to be able to supervise what it starts.
pub use agents::process::{keep, supervise};
pub use agents::{OWN_MCP_SERVER, OWN_SHOW_SERVER, OwnTool};
pub use agents::{RecordsError, RecordsWish, Trial, TrialOutcome};
pub use applets::{
    APPLET_FILES, APPLET_HOWTO, ActiveApplet, Applet, AppletAbout, AppletChange, AppletContent, AppletError,
    AppletFiles, AppletParam, AppletState, AppletUsage, AskingApplet, BegunStateWrite, GrantedNow, KeptVersion,
    ListedApplet, MAX_APPLET_BYTES, MAX_STATE_BYTES, NewApplet, OpenApplet, ShownApplet, StateChange, StateChanged,
    StateSchema, StateUnreadable, StateWrite, ViewerId,
};
pub use bodies::BodyToRead;
pub use bundles::{BundleError, BundleWriter, TakenInBundle, missing_from_bundle};
pub use changes::{ChangesError, FileChanges, LeftOut, Since};
pub use clock::{Clock, SystemClock};
pub use contents::{Contents, Interaction, MAX_CONTENTS_LINES, MAX_TURNS_AT_ONCE, TurnView};
pub use directories::Reach;
pub use error::{DirectoryError, QueryError, ResetReason, SubmitError};
pub use feeds::{ListChange, Words};
pub use file_inspector::open_directory;
pub use file_listing::ListedDirectory;
pub use file_writing::{MAX_WRITTEN_BYTES, StoreFileError, StoredContent};
pub use files::{ContentHash, Deny, DirectoryItem, Expected, FileKind};
pub use finding::{
    Count, FoundInside, FoundTurn, PieceRole, SearchAnswer, SearchFailure, SearchParams, Snippet, Within,
    entries_set_aside, search_folder_failure, want_search_rebuild,
};
pub use follow::{ContextReason, Earlier, Follow, Followed};
pub use forking::{Fork, ForkPrompt};
pub use git::{GitBase, GitError};
pub use housekeeping::{RECEIPTS_KEPT_FOR, RESTORABLE_FOR};
pub use id_source::{IdSource, SystemIds, TokenSecret};
pub use importing::{ImportError, ImportProgress, ImportSource};
pub use journal::Attention;
pub use listing::ListPage;
pub use mount::OwnTools;
pub use outputs::{
    CommandEnd, CommandProgress, CommandState, CommandToShow, FileToShow, FoundLine, OutputEnds, OutputError,
    OutputPreview, OutputPruning, OutputSettings, OutputState, OutputText, OutputsFull, PruneMode, TextWish,
};
pub use packet::Packet;
pub use reading::{Amount, FileContent, MAX_WHOLE_BYTES, Outside, ShowError, ShownFile};
pub use records::{AgentSession, AgentSessions, AgentSessionsError};
pub use requests::{Asker, RequestKey};
pub use skills::{SKILL_FILE, SKILLS, Skill, SkillFile};
pub use store::{AppendError, Fence, FenceCause, PayloadError, ReadError};
pub use summaries::{SummariesProgress, Summarising};
pub use tickets::{ExportKind, OfferedTicket, TICKET_GOOD_FOR, TicketResource, TicketTarget};
pub use tokens::{CODE_GOOD_FOR, IssuedToken, OfferedCode, TokenWish, Tokens};
pub use trials::TrialError;
pub use unsent::{MAX_UNSENT_BYTES, UnsentPrompt};
pub use usage::{MAX_TURNS_USED, MAX_USAGE_SUMS, SessionUsage, TurnUsed, UsageReport, UsageSettings, UsageWarning};
pub use wishes::{
    Answer, Cancel, ChangePrompt, ChangeSession, Created, Delete, Observe, Observed, PromptAccepted, RemovePrompt,
    RemovedOutputs, Restore, SendPrompt, SetContext, SetOption, SignIn, StepTaken, Wish,
};
pub use within::{CountWithin, PageWithin};
pub use work::{Click, MAX_OFFERS, Work, WorkContents};

use fan_out::FanOut;
use live_session::QueuedInput;
use mount::WHAT_THE_TOOLS_ARE_FOR;

/// How many entries of a session are read at a time.
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
    /// What models cost, and from which cost on to warn.
    pub usage: UsageSettings,
    /// Where what agents show is kept.
    pub outputs: OutputSettings,
}

/// All that has to do with agents.
pub struct Agency {
    /// Starts them.
    pub agents: Agents,
    /// Those that there are.
    pub catalog: Catalog,
    /// What is answered without asking the person.
    pub policy: PermissionPolicy,
    /// The names of files that nobody may open.
    pub deny: Deny,
    /// The folders that are the person's and all agents': what lies in them is looked at like a session's own files,
    /// and the person writes there. The first one is listed where nobody names a directory.
    pub files: Vec<PathBuf>,
    /// The one of them that applets are kept in, if they are.
    pub applets: Option<PathBuf>,
    /// The text that every agent is given about its session, if there is one.
    pub brief: Option<String>,
    /// The tools that agents are lent with the MCP mount.
    pub own_tools: OwnTools,
    /// Whose agents are lent the tools that show something too.
    pub show_tools: AgentSwitch,
    /// How many sessions may have an agent at once.
    pub max_agents: usize,
}

/// A switch of the configuration that holds for all agents, and that single agents may have otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentSwitch {
    /// How it stands for every agent that `by_agent` does not name.
    pub by_default: bool,
    /// By the agent's name.
    pub by_agent: BTreeMap<String, bool>,
}

impl AgentSwitch {
    /// On for every agent.
    pub fn on() -> Self {
        Self { by_default: true, by_agent: BTreeMap::new() }
    }

    /// How it stands for one agent.
    pub fn is_on_for(&self, agent: &str) -> bool {
        self.by_agent.get(agent).copied().unwrap_or(self.by_default)
    }
}

impl Agency {
    /// The built-in guide alone, as a task of this process: for tests and measurements.
    pub fn only_guide() -> Self {
        let catalog = Catalog::new("throughline", &[], BTreeMap::new()).expect("nothing is changed in the catalog");
        let agents = Agents::new(agents::AgentSettings::in_process(catalog.entries()));
        let (policy, deny) = (PermissionPolicy::default(), Deny::standard());
        let (files, applets, brief, own_tools) = (Vec::new(), None, None, OwnTools::none());
        let show_tools = AgentSwitch::on();
        Self { agents, catalog, policy, deny, files, applets, brief, own_tools, show_tools, max_agents: usize::MAX }
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
    /// Whoever writes does so through the journal.
    store: Arc<dyn Reader>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    home: Option<PathBuf>,
    usage: UsageSettings,
    outputs: outputs::Outputs,
    commands: Arc<outputs::commands::Commands>,
    applets: applets::Applets,
    storing_bodies: bodies::StoringBodies,
    /// Addresses of outputs that are good for a minute.
    tickets: tickets::Tickets,
    agency: Agency,
    file_inspector: file_inspector::FileInspector,
    /// Writes of files take turns, so that what one of them expects stays true until it is done.
    writing_files: Arc<tokio::sync::Mutex<()>>,
    /// Files are compared for so many at once: each holds some of them in memory.
    /// Bundles are taken in one at a time: two of one session would write the same files.
    taking_in: Semaphore,
    comparing: Semaphore,
    finding: Arc<finding::Finding>,
    importing: importing::Importing,
    summaries: Arc<summaries::Summaries>,
    feeds: Arc<feeds::Feeds>,
    agent_views: Arc<agent_views::AgentViews>,
    /// What is being written.
    unsent: unsent::UnsentPrompts,
    changed_works: Arc<fan_out::ChangedWorks>,
    journal: journal::Journal,
    server_stream: server_stream::StreamLock,
    work_stream: server_stream::StreamLock,
    agent_places: agent_places::AgentPlaces,
    /// Where agents reach the MCP mount; known once the server listens.
    mount_url: OnceLock<String>,
    own_calls: own_calls::OwnCalls,
    started: housekeeping::Started,
    kept_tasks: kept_tasks::KeptTasks,
    live: Mutex<HashMap<SessionId, mpsc::Sender<QueuedInput>>>,
    copying: Option<copies::Copying>,
    tasks: TaskTracker,
    stopping: CancellationToken,
    /// Tasks that read what the others wrote, and so end after them.
    reader_tasks: TaskTracker,
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
    /// Settles what an earlier run left open, then is ready for commands.
    pub async fn start(store: Arc<dyn Store>, seams: Seams) -> Result<Self, StartError> {
        let Seams { clock, ids, home, copies, agency, summarising, search, history, usage, outputs } = seams;
        let started = housekeeping::Started::at(clock.now());
        let fan_out = FanOut {
            feeds: Arc::new(feeds::Feeds::new()),
            agent_views: Arc::default(),
            summaries: Arc::new(summaries::Summaries::new(summarising)),
            finding: Arc::new(finding::Finding::new(search)),
            changed_works: Arc::default(),
        };
        let journal = journal::Journal::open(Arc::clone(&store), fan_out.clone()).await?;
        let FanOut { feeds, agent_views, summaries, finding, changed_works } = fan_out;
        let shared = Arc::new(Shared {
            store,
            clock,
            ids,
            home,
            usage,
            outputs: outputs::Outputs::new(outputs),
            commands: Arc::default(),
            applets: applets::Applets::new(agency.applets.clone(), agency.deny.clone()),
            storing_bodies: bodies::StoringBodies::default(),
            tickets: tickets::Tickets::default(),
            file_inspector: file_inspector::FileInspector::new(agency.deny.clone(), agency.files.clone()),
            writing_files: Arc::default(),
            taking_in: Semaphore::new(1),
            comparing: Semaphore::new(changes::MAX_AT_ONCE),
            finding,
            importing: importing::Importing::new(history),
            summaries,
            agent_places: agent_places::AgentPlaces::new(agency.max_agents),
            agency,
            feeds,
            agent_views,
            changed_works,
            journal,
            server_stream: server_stream::StreamLock::new(),
            work_stream: server_stream::StreamLock::new(),
            mount_url: OnceLock::new(),
            own_calls: own_calls::OwnCalls::default(),
            unsent: unsent::UnsentPrompts::default(),
            started,
            kept_tasks: kept_tasks::KeptTasks::default(),
            live: Mutex::default(),
            copying: copies.map(copies::Copying::new),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            reader_tasks: TaskTracker::new(),
            settled: CancellationToken::new(),
        });
        let interrupted = shared.recover().await?;
        if interrupted > 0 {
            tracing::info!(sessions = interrupted, "sessions were running when the server last stopped");
        }
        kept_tasks::begin_all(&shared);
        Ok(Self { shared })
    }

    /// Says where on this machine agents reach the MCP mount; agents that are attached from now on are handed it. The first
    /// word holds.
    pub fn mount_at(&self, url: String) {
        if let Err(url) = self.shared.mount_url.set(url) {
            tracing::error!(url, "the MCP mount has an address already; the first is kept");
        }
    }

    /// A session's agent calls one of its own tools.
    pub fn own_tool_called(&self, session: SessionId, tool: &str, input: &serde_json::Map<String, serde_json::Value>) {
        self.shared.own_calls.arrived(session, tool, input);
    }

    /// The text that every agent is given about its session, if there is one.
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
        let Shared { stopping, tasks, settled, reader_tasks, .. } = &*self.shared;
        stopping.cancel();
        tasks.close();
        reader_tasks.close();
        let in_order = async {
            tasks.wait().await;
            self.shared.agency.agents.shutdown().await;
            settled.cancel();
            reader_tasks.wait().await;
        };
        if timeout(SHUTDOWN_LIMIT, in_order).await.is_err() {
            settled.cancel();
            tracing::warn!("not everything settled in time; the next start settles it");
        }
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

    /// Every agent of the catalog as far as is known without starting a program: no versions, and an agent that only the
    /// login shell finds may be missing while the shell has not answered.
    pub async fn agents_so_far(&self) -> Vec<Listed> {
        let Agency { agents, catalog, .. } = &self.shared.agency;
        catalog.list_without_versions(&agents.path_so_far()).await
    }

    /// Every answer that is remembered, oldest first.
    pub fn remembered(&self) -> Vec<RememberedRow> {
        self.shared.journal.remembered.all()
    }

    /// What is protected from everybody who names a path.
    pub fn deny(&self) -> &Deny {
        &self.shared.agency.deny
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
        self.attention().unobserved
    }

    /// How many sessions wait for the person.
    pub fn attention(&self) -> Attention {
        self.shared.journal.attention.now()
    }

    /// Changes of the list from now on.
    pub fn list_changes(&self) -> broadcast::Receiver<ListChange> {
        self.shared.feeds.subscribe_list()
    }

    /// A fresh id for a prompt.
    pub fn new_interaction(&self) -> InteractionId {
        InteractionId::from_uuid(self.shared.ids.uuid())
    }

    /// The parts of the engine that panicked lately; they have started again, or are about to.
    pub fn failing_parts(&self) -> Vec<&'static str> {
        self.shared.kept_tasks.failing()
    }

    /// Why sessions can not be searched, while they can not.
    pub fn search_failure(&self) -> Option<SearchFailure> {
        self.shared.finding.failure()
    }

    /// How often the copies of sessions were brought up to date; 0 where none are kept.
    pub fn copy_rounds(&self) -> u64 {
        self.shared.copying.as_ref().map_or(0, copies::Copying::rounds)
    }

    /// Which incarnation of the store this is.
    pub fn incarnation(&self) -> model::Incarnation {
        self.shared.store.incarnation()
    }
}
