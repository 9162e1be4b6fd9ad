//! Every agent of a server, and the processes that they share.
//!
//! Invariant: nothing that is started here outlives [`Agents::shutdown`]. A process that is shared serves sessions of
//! one command, one list of arguments and one environment; when it dies the next session gets another.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::AgentReport;
use tokio::sync::{OnceCell, Semaphore, mpsc};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::acp::{AgentProfile, Connection, Ends, Lease, Session, Transport};
use crate::catalog::{CatalogEntry, Fingerprint};
use crate::process::{Spec, environment, login_shell_path};
use crate::{Agent, AgentRequest, AgentSettings, AgentStart, AgentUpdate, Records, RecordsError, RecordsWish, guide};

/// How many calls and how many pieces of news wait.
const QUEUE: usize = 64;
/// How many bytes wait between the guide and us, each way, when it is a task.
const GUIDE_PIPE_BYTES: usize = 64 << 10;
/// How many agents are asked at a time what they keep: a process may be started for each.
const ASKED_AT_ONCE: usize = 2;

/// Every agent of a server. Its clones are the same.
#[derive(Debug, Clone)]
pub struct Agents {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Asked for when it is first needed: a shell may take seconds.
    path: OnceCell<String>,
    settings: Arc<AgentSettings>,
    tasks: TaskTracker,
    stopping: CancellationToken,
    shared: Mutex<HashMap<Key, Arc<OnceCell<Running>>>>,
    /// Every process that has said what it is, until after its end.
    running: Mutex<Vec<(Key, Running)>>,
    asking: Semaphore,
}

/// What has to be the same for sessions to share a process.
type Key = (String, Fingerprint);

/// A process that has said what it is.
#[derive(Debug, Clone)]
struct Running {
    connection: Connection,
    about: Arc<AgentProfile>,
}

impl Agents {
    /// None is started yet.
    pub fn new(settings: AgentSettings) -> Self {
        Self {
            inner: Arc::new(Inner {
                path: OnceCell::new(),
                settings: Arc::new(settings),
                tasks: TaskTracker::new(),
                stopping: CancellationToken::new(),
                shared: Mutex::default(),
                running: Mutex::default(),
                asking: Semaphore::new(ASKED_AT_ONCE),
            }),
        }
    }

    /// Starts an agent. Everything else comes as news.
    pub fn start(&self, start: AgentStart) -> Agent {
        let (calls, calls_in) = mpsc::channel(QUEUE);
        let (news_out, news) = mpsc::channel(QUEUE);
        let inner = self.inner.clone();
        self.inner.tasks.spawn(async move {
            let stopping = inner.stopping.clone();
            let held = inner.hold(start, calls_in, news_out);
            // Sessions are settled by whoever stops us; here they only end.
            stopping.run_until_cancelled(held).await;
        });
        Agent { calls, news }
    }

    /// What an agent itself keeps of conversations. One that is not there is started for it, and ends with it unless it
    /// is shared.
    pub async fn records(&self, agent: &str, wish: RecordsWish) -> Result<Records, RecordsError> {
        let limit = self.inner.settings.limits.records;
        let in_time = timeout(limit, self.inner.records(agent, wish));
        match self.inner.stopping.run_until_cancelled(in_time).await {
            Some(told) => told.unwrap_or(Err(RecordsError::TooSlow(limit))),
            None => Err(RecordsError::Failed("the server is stopping".to_owned())),
        }
    }

    /// Has an agent delete what it keeps of a conversation that nobody holds, if a process of it is there. None is started
    /// for it, and nobody waits for it.
    pub fn delete_record(&self, agent: &str, record: String) {
        let Some(entry) = self.inner.find_entry(agent) else { return };
        let Some(Running { connection, about }) = self.inner.find_running(&key_of(entry)) else { return };
        let inner = self.inner.clone();
        self.inner.tasks.spawn(async move {
            let deleted = about.delete_record(&connection, &record, inner.settings.limits.delete);
            inner.stopping.run_until_cancelled(deleted).await;
        });
    }

    /// Where agents' programs are looked for: the login shell's `PATH`, which is asked for once, and the server's own.
    pub async fn path(&self) -> &str {
        self.inner.path().await
    }

    /// Ends all agents, within a limit.
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

impl Inner {
    async fn hold(&self, start: AgentStart, calls: mpsc::Receiver<AgentRequest>, news: mpsc::Sender<AgentUpdate>) {
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
                let ends = Ends { calls, news };
                Box::pin(Session::new(self.settings.clone(), about, lease, env, start, ends).run()).await;
            }
            Err(reason) => drop(news.send(AgentUpdate::Report(AgentReport::Failed { reason })).await),
        }
    }

    async fn records(&self, agent: &str, wish: RecordsWish) -> Result<Records, RecordsError> {
        let entry = self.find_entry(agent).ok_or_else(|| RecordsError::Failed(self.unknown(agent)))?;
        let _asking = self.asking.acquire().await;
        let env = self.environment(entry).await;
        let connected = self.connect(entry, &env, &self.settings.neutral_dir).await;
        let (lease, about) = connected.map_err(RecordsError::Failed)?;
        about.records(lease.connection(), wish, self.settings.limits.records).await
    }

    fn find_entry(&self, agent: &str) -> Option<&Arc<CatalogEntry>> {
        self.settings.entries.iter().find(|entry| entry.name == agent)
    }

    fn unknown(&self, agent: &str) -> String {
        let names: Vec<_> = self.settings.entries.iter().map(|entry| entry.name.as_str()).collect();
        format!("there is no agent called {agent:?}; known are {}", names.join(", "))
    }

    /// Some process of an agent, whoever it was started for.
    fn find_running(&self, key: &Key) -> Option<Running> {
        let mut running = self.running();
        running.retain(|(_, running)| !running.connection.has_ended());
        running.iter().find(|(of, _)| of == key).map(|(_, running)| running.clone())
    }

    /// What the entry's process gets; our own program is found without asking a shell.
    async fn environment(&self, entry: &CatalogEntry) -> BTreeMap<String, String> {
        let base = &self.settings.environment;
        let mut env = environment(base, &entry.passed(base.keys().map(String::as_str)), &entry.env);
        if !entry.builtin && !entry.env.contains_key("PATH") {
            env.insert("PATH".to_owned(), self.path().await.to_owned());
        }
        if entry.quirks.settings_file.is_some() {
            let (entry, folder, unchanged) = (entry.clone(), self.settings.neutral_dir.clone(), env.clone());
            let give = move || {
                entry.give_settings(&folder, &mut env);
                env
            };
            return spawn_blocking(give).await.unwrap_or(unchanged);
        }
        env
    }

    async fn path(&self) -> &str {
        let AgentSettings { launcher, environment: base, .. } = &*self.settings;
        self.path
            .get_or_init(async || login_shell_path(launcher, &environment(base, &[], &BTreeMap::new())).await)
            .await
    }

    /// A process of this agent that has said what it is: one that is there already, if it may be shared.
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
                    Ok::<_, String>(Running { connection, about })
                })
                .await;
            match launched {
                Ok(shared) => {
                    if let Some(lease) = first.or_else(|| shared.connection.lease()) {
                        return Ok((lease, shared.about.clone()));
                    }
                    // It has ended since.
                    self.forget(&key, &cell);
                }
                Err(reason) => {
                    self.forget(&key, &cell);
                    return Err(reason);
                }
            }
        }
    }

    /// A new process that has said what it is.
    async fn launch(
        &self,
        entry: &CatalogEntry,
        env: &BTreeMap<String, String>,
        cwd: &Path,
        warm: Duration,
    ) -> Result<(Lease, Arc<AgentProfile>), String> {
        let transport = if entry.builtin && self.settings.in_process_guide {
            // A pipe each way: the two halves of one would be closed together only, and the guide ends with its input.
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
            };
            Transport::process(self.settings.launcher.spawn(spec).await.map_err(|err| err.to_string())?)
        };
        let limits = &self.settings.limits;
        let (lease, run) = Connection::open(transport, limits.clone(), warm, &self.stopping);
        self.tasks.spawn(run);
        match AgentProfile::ask(lease.connection(), limits, entry).await {
            Ok(about) => {
                let running = Running { connection: lease.connection().clone(), about: Arc::new(about) };
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

    fn running(&self) -> MutexGuard<'_, Vec<(Key, Running)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shared(&self) -> MutexGuard<'_, HashMap<Key, Arc<OnceCell<Running>>>> {
        // Nothing panics while it holds the lock.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next session that asks gets another one.
    fn forget(&self, key: &Key, cell: &Arc<OnceCell<Running>>) {
        let mut shared = self.shared();
        if shared.get(key).is_some_and(|kept| Arc::ptr_eq(kept, cell)) {
            shared.remove(key);
        }
    }
}

fn key_of(entry: &CatalogEntry) -> Key {
    (entry.name.clone(), entry.fingerprint())
}
