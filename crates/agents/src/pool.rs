//! All agents of a server, and the processes that they share.
//!
//! Invariant: no process that is started here outlives [`Agents::shutdown`]. A shared process serves sessions with
//! the same command, arguments and environment; when it dies the next session gets a new one.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::AgentReport;
use tokio::sync::{OnceCell, Semaphore, mpsc};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::acp::{AcpSession, AgentProfile, Connection, Lease, SessionChannels, Transport};
use crate::catalog::{CatalogEntry, Fingerprint};
use crate::process::{Ending, Spec, environment, login_shell_path, own_path};
use crate::{
    Agent, AgentRequest, AgentSettings, AgentStart, AgentUpdate, Records, RecordsError, RecordsWish, Trial,
    TrialOutcome, guide,
};

/// How many requests and how many updates may be queued.
const QUEUE: usize = 64;
/// The buffer between the guide and us, each way, when the guide is a task.
const GUIDE_PIPE_BYTES: usize = 64 << 10;
/// How many agents are asked for their records at a time: a process may be started for each.
const LISTED_AT_ONCE: usize = 2;

/// All agents of a server. Clones share the same state.
#[derive(Debug, Clone)]
pub struct Agents {
    inner: Arc<Pool>,
}

#[derive(Debug)]
struct Pool {
    /// Determined on first use: a shell may take seconds.
    path: OnceCell<String>,
    settings: Arc<AgentSettings>,
    tasks: TaskTracker,
    stopping: CancellationToken,
    shared: Mutex<HashMap<ProcessKey, Arc<OnceCell<RunningAgent>>>>,
    /// Every process that has answered `initialize`, until after its end.
    running: Mutex<Vec<(ProcessKey, RunningAgent)>>,
    asking: Semaphore,
}

/// Sessions with the same key may share a process.
type ProcessKey = (String, Fingerprint);

/// A process that has answered `initialize`.
#[derive(Debug, Clone)]
struct RunningAgent {
    connection: Connection,
    about: Arc<AgentProfile>,
}

impl Agents {
    /// Starts no agent yet.
    pub fn new(settings: AgentSettings) -> Self {
        Self {
            inner: Arc::new(Pool {
                path: OnceCell::new(),
                settings: Arc::new(settings),
                tasks: TaskTracker::new(),
                stopping: CancellationToken::new(),
                shared: Mutex::default(),
                running: Mutex::default(),
                asking: Semaphore::new(LISTED_AT_ONCE),
            }),
        }
    }

    /// Starts an agent. Success and failure both arrive as updates.
    pub fn start(&self, start: AgentStart) -> Agent {
        let (requests, requests_in) = mpsc::channel(QUEUE);
        let (updates_out, updates) = mpsc::channel(QUEUE);
        let inner = self.inner.clone();
        self.inner.tasks.spawn(async move {
            let stopping = inner.stopping.clone();
            let held = inner.run_agent(start, requests_in, updates_out);
            // Whoever stops us settles the sessions; here they only end.
            stopping.run_until_cancelled(held).await;
        });
        Agent { requests, updates }
    }

    /// The records that an agent itself keeps. A process is started if none runs, and ends afterwards unless it is
    /// shared.
    pub async fn records(&self, agent: &str, wish: RecordsWish) -> Result<Records, RecordsError> {
        let limit = self.inner.settings.limits.records;
        let in_time = timeout(limit, self.inner.records(agent, wish));
        match self.inner.stopping.run_until_cancelled(in_time).await {
            Some(told) => told.unwrap_or(Err(RecordsError::TooSlow(limit))),
            None => Err(RecordsError::Failed("the server is stopping".to_owned())),
        }
    }

    /// Starts an agent, begins a conversation and ends the process again, which was started for this alone. Returns when
    /// the process is gone.
    pub async fn try_out(&self, agent: &str) -> Trial {
        let tried = self.inner.stopping.run_until_cancelled(self.inner.try_out(agent)).await;
        tried.unwrap_or_else(|| failed_trial("the server is stopping".to_owned()))
    }

    /// Asks a running agent to delete its record of a conversation that nobody holds. No process is started for it,
    /// and nobody waits for it.
    pub fn delete_record(&self, agent: &str, record: String) {
        let Some(entry) = self.inner.find_entry(agent) else { return };
        let Some(RunningAgent { connection, about }) = self.inner.find_running(&key_of(entry)) else { return };
        let inner = self.inner.clone();
        self.inner.tasks.spawn(async move {
            let deleted = about.delete_record(&connection, &record, inner.settings.limits.delete);
            inner.stopping.run_until_cancelled(deleted).await;
        });
    }

    /// The `PATH` along which agents' programs are looked up: the server's own and the login shell's, determined
    /// once.
    pub async fn path(&self) -> &str {
        self.inner.path().await
    }

    pub(crate) fn settings(&self) -> &AgentSettings {
        &self.inner.settings
    }

    /// What is known of that `PATH` now: without the login shell's folders while the shell has not answered. It is asked
    /// in the background.
    pub fn path_so_far(&self) -> String {
        if let Some(path) = self.inner.path.get() {
            return path.clone();
        }
        drop(self.inner.ask_login_shell());
        own_path(&self.inner.settings.environment)
    }

    /// Ends all agents, within a time limit.
    pub async fn shutdown(&self) {
        self.inner.stopping.cancel();
        self.inner.tasks.close();
        let all_ended = async {
            self.inner.tasks.wait().await;
            self.inner.settings.launcher.wait_until_idle().await;
        };
        if timeout(self.inner.settings.limits.shutdown, all_ended).await.is_err() {
            tracing::error!("not all agents have ended in time");
        }
    }
}

impl Pool {
    async fn run_agent(
        self: &Arc<Self>,
        start: AgentStart,
        calls: mpsc::Receiver<AgentRequest>,
        news: mpsc::Sender<AgentUpdate>,
    ) {
        let Some(entry) = self.find_entry(&start.agent) else {
            let reason = self.unknown(&start.agent);
            return drop(news.send(AgentUpdate::Report(AgentReport::Failed { reason })).await);
        };
        let env = self.environment(entry).await;
        let connected = tokio::select! {
            biased;
            () = news.closed() => return,
            connected = self.connect(entry, &env, &start.cwd) => connected,
        };
        match connected {
            Ok((lease, about)) => {
                let channels = SessionChannels { requests: calls, updates: news };
                Box::pin(AcpSession::new(self.settings.clone(), about, lease, env, start, channels).run()).await;
            }
            Err(reason) => drop(news.send(AgentUpdate::Report(AgentReport::Failed { reason })).await),
        }
    }

    async fn records(self: &Arc<Self>, agent: &str, wish: RecordsWish) -> Result<Records, RecordsError> {
        let entry = self.find_entry(agent).ok_or_else(|| RecordsError::Failed(self.unknown(agent)))?;
        let _asking = self.asking.acquire().await;
        let env = self.environment(entry).await;
        let connected = self.connect(entry, &env, &self.settings.neutral_dir).await;
        let (lease, about) = connected.map_err(RecordsError::Failed)?;
        about.records(lease.connection(), wish, self.settings.limits.records).await
    }

    async fn try_out(self: &Arc<Self>, agent: &str) -> Trial {
        let Some(entry) = self.find_entry(agent) else { return failed_trial(self.unknown(agent)) };
        let _asking = self.asking.acquire().await;
        let (env, folder) = (self.environment(entry).await, &self.settings.neutral_dir);
        // Never a shared process: sessions may use it, and it would stay.
        match self.launch(entry, &env, folder, Duration::ZERO).await {
            Ok((lease, about)) => {
                let trial = about.try_out(lease.connection(), folder, &self.settings.limits).await;
                let connection = lease.connection().clone();
                // Dropped early, as when the caller hangs up, the lease ends the process just the same.
                drop(lease);
                connection.ended().await;
                trial
            }
            Err(reason) => failed_trial(reason),
        }
    }

    fn find_entry(&self, agent: &str) -> Option<&Arc<CatalogEntry>> {
        self.settings.entries.iter().find(|entry| entry.name == agent)
    }

    fn unknown(&self, agent: &str) -> String {
        let names: Vec<_> = self.settings.entries.iter().map(|entry| entry.name.as_str()).collect();
        format!("there is no agent called {agent:?}; known are {}", names.join(", "))
    }

    /// Any running process of an agent, whichever session it was started for.
    fn find_running(&self, key: &ProcessKey) -> Option<RunningAgent> {
        let mut running = self.running();
        running.retain(|(_, running)| !running.connection.has_ended());
        running.iter().find(|(of, _)| of == key).map(|(_, running)| running.clone())
    }

    /// The environment of an agent's process; our own program is found without asking a shell.
    async fn environment(self: &Arc<Self>, entry: &CatalogEntry) -> BTreeMap<String, String> {
        let base = &self.settings.environment;
        let mut env = environment(base, &entry.passed(base.keys().map(String::as_str)), &entry.env);
        if !entry.builtin && !entry.env.contains_key("PATH") {
            env.insert("PATH".to_owned(), self.path().await.to_owned());
        }
        if entry.quirks.settings_file.is_some() {
            let (entry, folder, unchanged) = (entry.clone(), self.settings.neutral_dir.clone(), env.clone());
            let give = move || {
                entry.write_settings(&folder, &mut env);
                env
            };
            return spawn_blocking(give).await.unwrap_or(unchanged);
        }
        env
    }

    async fn path(self: &Arc<Self>) -> &str {
        if self.path.get().is_none() {
            // If it has panicked, which is logged, the server's own remains.
            self.ask_login_shell().await.ok();
        }
        self.path.get_or_init(async || own_path(&self.settings.environment)).await
    }

    /// In a task of its own: whoever does not wait any more must not end the shell in the middle of its files.
    fn ask_login_shell(self: &Arc<Self>) -> JoinHandle<()> {
        let pool = Arc::clone(self);
        self.tasks.spawn(async move {
            let AgentSettings { launcher, environment: base, .. } = &*pool.settings;
            let base = environment(base, &[], &BTreeMap::new());
            pool.path.get_or_init(async || login_shell_path(launcher, &base, &pool.stopping).await).await;
        })
    }

    /// A connection to a process of this agent that has answered `initialize`; a running one, if it may be shared.
    async fn connect(
        &self,
        entry: &CatalogEntry,
        env: &BTreeMap<String, String>,
        cwd: &Path,
    ) -> Result<(Lease, Arc<AgentProfile>), String> {
        if !entry.shared {
            return self.launch(entry, env, cwd, Duration::ZERO).await;
        }
        let key = key_of(entry);
        loop {
            let cell = self.shared().entry(key.clone()).or_default().clone();
            let mut first = None;
            let launched = cell
                .get_or_try_init(async || {
                    let neutral = &self.settings.neutral_dir;
                    let (lease, about) = self.launch(entry, env, neutral, self.settings.limits.warm).await?;
                    let connection = lease.connection().clone();
                    connection.share();
                    first = Some(lease);
                    Ok::<_, String>(RunningAgent { connection, about })
                })
                .await;
            match launched {
                Ok(shared) => {
                    if let Some(lease) = first.or_else(|| shared.connection.lease()) {
                        return Ok((lease, shared.about.clone()));
                    }
                    // It has ended meanwhile.
                    self.forget(&key, &cell);
                }
                Err(reason) => {
                    self.forget(&key, &cell);
                    return Err(reason);
                }
            }
        }
    }

    /// Starts a process and waits for its answer to `initialize`.
    async fn launch(
        &self,
        entry: &CatalogEntry,
        env: &BTreeMap<String, String>,
        cwd: &Path,
        warm: Duration,
    ) -> Result<(Lease, Arc<AgentProfile>), String> {
        let transport = if entry.builtin && self.settings.in_process_guide {
            // One pipe each way: the two halves of a single one close only together, and the guide ends with its
            // input.
            let (input, their_input) = tokio::io::duplex(GUIDE_PIPE_BYTES);
            let (their_output, output) = tokio::io::duplex(GUIDE_PIPE_BYTES);
            let task = self.tasks.spawn(guide::serve(their_input, their_output));
            Transport::task(output, input, AbortOnDropHandle::new(task))
        } else {
            let spec = Spec {
                command: entry.command.clone(),
                args: entry.args.clone(),
                env: env.clone(),
                cwd: cwd.to_owned(),
                limits: self.settings.process_limits,
                ending: Ending::ClosedInput,
            };
            Transport::process(self.settings.launcher.spawn(spec).await.map_err(|err| err.to_string())?)
        };
        let limits = &self.settings.limits;
        let (lease, run) = Connection::open(transport, limits.clone(), warm, &self.stopping);
        self.tasks.spawn(run);
        match AgentProfile::ask(lease.connection(), limits, entry).await {
            Ok(about) => {
                let running = RunningAgent { connection: lease.connection().clone(), about: Arc::new(about) };
                let about = running.about.clone();
                let mut all = self.running();
                all.retain(|(_, running)| !running.connection.has_ended());
                all.push((key_of(entry), running));
                Ok((lease, about))
            }
            Err(reason) => {
                lease.connection().kill();
                Err(reason)
            }
        }
    }

    fn running(&self) -> MutexGuard<'_, Vec<(ProcessKey, RunningAgent)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shared(&self) -> MutexGuard<'_, HashMap<ProcessKey, Arc<OnceCell<RunningAgent>>>> {
        // No code panics while it holds the lock.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a shared process, so that the next session gets a new one.
    fn forget(&self, key: &ProcessKey, cell: &Arc<OnceCell<RunningAgent>>) {
        let mut shared = self.shared();
        if shared.get(key).is_some_and(|kept| Arc::ptr_eq(kept, cell)) {
            shared.remove(key);
        }
    }
}

fn failed_trial(reason: String) -> Trial {
    Trial { program: None, outcome: TrialOutcome::Failed(reason) }
}

fn key_of(entry: &CatalogEntry) -> ProcessKey {
    (entry.name.clone(), entry.fingerprint())
}
