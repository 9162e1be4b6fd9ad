//! A server of its own for each test: clock, ids, store, engine, a port and a socket.
//!
//! Invariant: whatever a world starts it joins when it is closed, and whatever is waited for comes by the deadline or
//! fails the test.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agents::Agents;
use agents::catalog::{Catalog, CatalogEntry};
use agents::history::Places;
use doors::{AllowedHosts, GuardedApp, Limits, Rate, Transport};
use engine::{Agency, AgentSwitch, Clock, Engine, IdSource, Seams, Summarising, TokenSecret, TokenWish};
use model::{Incarnation, Position, Timestamp, TokenKind};
use server::ServerSettings;
use server::wire::{ChangePlace, Setting, SettingChange, SettingSource, Settings};
use store::conformance::future;
use store::{MemoryStore, SqliteStore, Store};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Far above anything a passing test needs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(25);
/// The cursors of a world begin with it.
pub(crate) const INCARNATION: &str = "00000000000000a1";
/// A directory that every machine has, so that answers that name it can be compared whole.
pub(crate) const CWD: &str = "/usr";

pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    timeout(DEADLINE, future).await.unwrap_or_else(|_| panic!("{what} did not come by the deadline"))
}

/// Stands still until a test moves it.
pub(crate) struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

impl TestClock {
    pub(crate) fn advance(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::Relaxed);
    }
}

/// Ids are 1, 2, 3 …; secrets look like secrets.
pub(crate) struct TestIds {
    ids: AtomicU64,
    secrets: AtomicU64,
}

impl IdSource for TestIds {
    fn uuid(&self) -> Uuid {
        Uuid::from_u128(
            0x0190_a8c0_0000_7000_8000_0000_0000_0000 + u128::from(self.ids.fetch_add(1, Ordering::Relaxed)),
        )
    }

    fn secret_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        fastrand::Rng::with_seed(self.secrets.fetch_add(1, Ordering::Relaxed)).fill(&mut bytes);
        bytes
    }
}

/// The id that a world's source gives as its `n`th.
/// Every fact that a rule declares, before anything was proved.
pub(crate) fn nothing_proved() -> serde_json::Value {
    serde_json::json!({
        "branch": null, "commands": [], "filesCreated": [], "filesDeleted": [], "filesEdited": [], "filesRead": [],
        "ports": [], "urls": [],
    })
}

pub(crate) fn id(n: u64) -> String {
    format!("0190a8c0-0000-7000-8000-{n:012x}")
}

pub(crate) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

/// How a client comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Port,
    Socket,
    /// A stream inside this process: no kernel in between, so a paused clock is exact.
    Inside,
}

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) store: Arc<dyn Store>,
    /// The person's own token, as the token file holds it.
    pub(crate) token: String,
    pub(crate) directory: TempDir,
    pub(crate) stopping: CancellationToken,
    /// Everything that any client of this world was sent.
    pub(crate) heard: Arc<Mutex<Vec<u8>>>,
    pub(crate) tasks: Mutex<JoinSet<()>>,
    ids: Arc<TestIds>,
    limits: Limits,
    app: GuardedApp,
    sqlite: Option<Arc<SqliteStore>>,
}

/// What a server is told beside the usual.
#[derive(Default)]
struct Kind {
    secure_cookie: bool,
    all_sessions: bool,
    summarising: Option<Summarising>,
    agency: Option<Agency>,
    embeds: Option<agents::embed::Embeds>,
    room: OutputRoom,
}

/// How much a session's outputs may be.
pub(crate) struct OutputRoom {
    pub(crate) max_bytes: u64,
    pub(crate) session_bytes: u64,
    pub(crate) session_count: u64,
}

impl Default for OutputRoom {
    fn default() -> Self {
        Self { max_bytes: 1 << 20, session_bytes: 3 << 20, session_count: engine::OutputSettings::SESSION_COUNT }
    }
}

/// What a server was started with, as it is shown.
pub(crate) fn configuration() -> Settings {
    let listen = Setting {
        key: "server.listen".to_owned(),
        about: "Where the server listens.".to_owned(),
        value: Some("\"127.0.0.1:7417\"".to_owned()),
        source: SettingSource::Config { line: 2 },
        change: SettingChange {
            text: "listen = \"127.0.0.1:7417\"".to_owned(),
            place: ChangePlace::Replace { line: 2 },
        },
    };
    Settings {
        file: "/home/ada/.throughline/config.toml".to_owned(),
        has_file: true,
        url: "http://127.0.0.1:7417".to_owned(),
        local_only: true,
        values: vec![listen],
    }
}

/// What does not refuse a test that asks quickly and often; `guards.rs` tests the real ones.
pub(crate) fn roomy() -> Limits {
    let plenty = Rate { per_second: 1e6, burst: 1e6 };
    Limits { requests: plenty, failures: plenty, ..Limits::default() }
}

impl World {
    /// On a store in memory.
    pub(crate) async fn open() -> Self {
        Self::with(roomy()).await
    }

    pub(crate) async fn with(limits: Limits) -> Self {
        let store = Arc::new(MemoryStore::new(incarnation()));
        Self::start(store, None, tempfile::tempdir().unwrap(), limits, clock(), ids(), Kind::default()).await
    }

    /// As if TLS were done here or by a proxy.
    pub(crate) async fn secure() -> Self {
        let store = Arc::new(MemoryStore::new(incarnation()));
        let kind = Kind { secure_cookie: true, ..Kind::default() };
        Self::start(store, None, tempfile::tempdir().unwrap(), roomy(), clock(), ids(), kind).await
    }

    /// With a model that is asked for summaries and titles.
    pub(crate) async fn asking(summarising: Summarising) -> Self {
        let store = Arc::new(MemoryStore::new(incarnation()));
        let kind = Kind { summarising: Some(summarising), ..Kind::default() };
        Self::start(store, None, tempfile::tempdir().unwrap(), roomy(), clock(), ids(), kind).await
    }

    /// Whose tools reach sessions of every project.
    pub(crate) async fn reaching_everything() -> Self {
        let store = Arc::new(MemoryStore::new(incarnation()));
        let kind = Kind { all_sessions: true, ..Kind::default() };
        Self::start(store, None, tempfile::tempdir().unwrap(), roomy(), clock(), ids(), kind).await
    }

    /// With a twin of the guide under the name `codex`, and a `gemini` that can not be started.
    pub(crate) async fn with_agents() -> Self {
        let catalog = Catalog::new("throughline", &[], BTreeMap::new()).unwrap();
        let known = |name: &str| CatalogEntry::clone(catalog.find_entry(name).unwrap());
        let twin = CatalogEntry { name: "codex".to_owned(), ..known("guide") };
        let broken = CatalogEntry { command: "/nowhere/agent".to_owned(), ..known("gemini") };
        let entries = [known("guide"), twin, broken].map(Arc::new);
        let agents = Agents::new(agents::AgentSettings::in_process(&entries));
        let kind = Kind { agency: Some(Agency { agents, catalog, ..Agency::only_guide() }), ..Kind::default() };
        let store = Arc::new(MemoryStore::new(incarnation()));
        Self::start(store, None, tempfile::tempdir().unwrap(), roomy(), clock(), ids(), kind).await
    }

    /// Which can run commands, on a store in a file.
    pub(crate) async fn running_commands() -> Self {
        let agency = Agency::only_guide();
        let settings = agents::AgentSettings {
            launcher: agents::process::Launcher::new(env!("CARGO_BIN_EXE_launch-for-server").into()),
            environment: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
            ..agents::AgentSettings::in_process(agency.catalog.entries())
        };
        let kind = Kind { agency: Some(Agency { agents: Agents::new(settings), ..agency }), ..Kind::default() };
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(&database(directory.path()), incarnation()).unwrap());
        Self::start(Arc::clone(&store) as _, Some(store), directory, roomy(), clock(), ids(), kind).await
    }

    /// Whose agents get this MCP server of the person's, beside the session's own.
    pub(crate) async fn with_mcp_server(server: agents::McpServer) -> Self {
        let agency = Agency::only_guide();
        let usual = agents::AgentSettings::in_process(agency.catalog.entries());
        let settings = agents::AgentSettings { mcp_servers: vec![server], ..usual };
        let kind = Kind { agency: Some(Agency { agents: Agents::new(settings), ..agency }), ..Kind::default() };
        let store = Arc::new(MemoryStore::new(incarnation()));
        Self::start(store, None, tempfile::tempdir().unwrap(), roomy(), clock(), ids(), kind).await
    }

    /// With a data folder, in which `files/` and `applets/` are open and not there yet.
    pub(crate) async fn keeping_files() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().canonicalize().unwrap().join("data");
        std::fs::create_dir(&data).unwrap();
        let names = ["files", "applets"];
        let deny = engine::Deny::standard().with_folder_but(&data, &names).unwrap();
        let files = names.map(|name| data.join(name)).to_vec();
        let applets = Some(data.join("applets"));
        let kind = Kind { agency: Some(Agency { deny, files, applets, ..Agency::only_guide() }), ..Kind::default() };
        let store = Arc::new(MemoryStore::new(incarnation()));
        Self::start(store, None, directory, roomy(), clock(), ids(), kind).await
    }

    /// Which asks sites about their media through this.
    pub(crate) async fn embedding(embeds: agents::embed::Embeds) -> Self {
        let store = Arc::new(MemoryStore::new(incarnation()));
        let kind = Kind { embeds: Some(embeds), ..Kind::default() };
        Self::start(store, None, tempfile::tempdir().unwrap(), roomy(), clock(), ids(), kind).await
    }

    /// On a store in a file, with sessions whose outputs are at most these.
    pub(crate) async fn with_room(room: OutputRoom) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(&database(directory.path()), incarnation()).unwrap());
        let kind = Kind { room, ..Kind::default() };
        Self::start(Arc::clone(&store) as _, Some(store), directory, roomy(), clock(), ids(), kind).await
    }

    /// On a store in a file.
    pub(crate) async fn on_disk() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(&database(directory.path()), incarnation()).unwrap());
        Self::start(Arc::clone(&store) as _, Some(store), directory, roomy(), clock(), ids(), Kind::default()).await
    }

    async fn start(
        store: Arc<dyn Store>,
        sqlite: Option<Arc<SqliteStore>>,
        directory: TempDir,
        limits: Limits,
        clock: Arc<TestClock>,
        ids: Arc<TestIds>,
        Kind { secure_cookie, all_sessions, summarising, agency, embeds, room }: Kind,
    ) -> Self {
        let home = directory.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        let seams = Seams {
            clock: Arc::clone(&clock) as _,
            ids: Arc::clone(&ids) as _,
            home: Some(home),
            copies: None,
            agency: Agency {
                brief: Some(server::STANDARD_BRIEF.to_owned()),
                own_tools: server::own_tools(),
                ..agency.unwrap_or_else(Agency::only_guide)
            },
            summarising,
            search: Some(directory.path().join("search")),
            history: Some(Places::below(directory.path().join("home"))),
            usage: engine::UsageSettings {
                prices: model::Prices::default(),
                warn_session: "0.6 USD".parse().ok(),
                warn_day: "1 USD".parse().ok(),
            },
            outputs: engine::OutputSettings {
                max_bytes: room.max_bytes,
                session_bytes: room.session_bytes,
                session_count: room.session_count,
                embeds: embeds.unwrap_or_else(agents::embed::Embeds::offline),
                ..engine::OutputSettings::new(Arc::new(store::PayloadFolder::at(directory.path().join("sessions"))))
            },
        };
        let engine = Engine::start(Arc::clone(&store), seams).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let socket = directory.path().join("server.sock");
        drop(std::fs::remove_file(&socket));
        let socket = UnixListener::bind(socket).unwrap();
        let uid = std::fs::metadata(directory.path()).unwrap().uid();
        let stopping = CancellationToken::new();
        let file = directory.path().join("token");
        let settings = ServerSettings {
            hosts: AllowedHosts::default(),
            limits: limits.clone(),
            url: format!("http://{address}"),
            local_only: !secure_cookie,
            secure_cookie,
            directory: Some(CWD.to_owned()),
            tour_directory: Some(CWD.to_owned()),
            incoming: directory.path().join("incoming"),
            configuration: configuration(),
            keep_token: Box::new(move |secret| std::fs::write(&file, secret.expose())),
            all_sessions: AgentSwitch { by_default: false, by_agent: [("guide".to_owned(), all_sessions)].into() },
            specs_label: "Threads".to_owned(),
            stopping: stopping.clone(),
        };
        let app = server::apps(engine.clone(), settings).whole;
        let mut tasks = JoinSet::new();
        let tcp = doors::serve_tcp(listener, Transport::Plain, app.clone(), stopping.clone());
        tasks.spawn(async move { tcp.await.unwrap() });
        tasks.spawn(doors::serve_unix(socket, uid, app.clone(), stopping.clone()));
        let token = keep_token(&engine, directory.path()).await.unwrap();
        let (tasks, heard) = (Mutex::new(tasks), Arc::default());
        Self { address, engine, clock, store, token, directory, stopping, heard, tasks, ids, limits, app, sqlite }
    }

    /// Ends the server and begins another one on the same file.
    pub(crate) async fn restart(self) -> Self {
        self.restart_after(|_| ()).await
    }

    /// The same, with a byte of what is stored changed in between, as a disk might.
    pub(crate) async fn restart_damaged(self, stored: &str) -> Self {
        self.restart_after(|file| {
            let mut bytes = std::fs::read(file).unwrap();
            let parts = bytes.windows(stored.len()).enumerate();
            let places: Vec<_> = parts.filter(|(_, part)| *part == stored.as_bytes()).map(|(place, _)| place).collect();
            assert!(!places.is_empty(), "{stored} is not in the file");
            // A page that was split keeps a second one where nobody reads.
            for place in places {
                bytes[place + stored.len() / 2] ^= 1;
            }
            std::fs::write(file, bytes).unwrap();
        })
        .await
    }

    /// The same, after a newer version of the program wrote to a session.
    pub(crate) async fn restart_after_newer(self, session: &str) -> Self {
        let stream = model::StreamId::Session(session.parse().unwrap());
        let lines: Vec<&str> = future::FUTURE.lines().collect();
        self.restart_after(|file| future::write_as(file, future::NEWER, stream, &lines)).await
    }

    /// The same, with something done in between.
    pub(crate) async fn restart_between(self, between: impl FnOnce()) -> Self {
        self.restart_after(|_| between()).await
    }

    async fn restart_after(self, between: impl FnOnce(&Path)) -> Self {
        let Self { engine, directory, stopping, tasks, clock, ids, limits, sqlite, store, app, .. } = self;
        stopping.cancel();
        join(tasks).await;
        engine.shutdown().await;
        sqlite.as_ref().expect("only a store in a file outlives its server").close().await;
        drop((engine, sqlite, store, app));
        between(&database(directory.path()));
        let store = Arc::new(SqliteStore::open(&database(directory.path()), Incarnation::from_bits(0)).unwrap());
        Self::start(Arc::clone(&store) as _, Some(store), directory, limits, clock, ids, Kind::default()).await
    }

    pub(crate) async fn close(self) -> TempDir {
        self.stopping.cancel();
        within("the end of the listeners", join(self.tasks)).await;
        within("the end of the engine", self.engine.shutdown()).await;
        if let Some(store) = self.sqlite {
            store.close().await;
        }
        self.directory
    }

    pub(crate) async fn connect(&self, way: Way) -> io::Result<Box<dyn Io>> {
        Ok(match way {
            Way::Port => Box::new(TcpStream::connect(self.address).await?),
            Way::Socket => Box::new(UnixStream::connect(self.directory.path().join("server.sock")).await?),
            Way::Inside => {
                let (ours, theirs) = tokio::io::duplex(64 << 10);
                let served = doors::serve_stream(theirs, self.app.clone(), self.stopping.clone());
                self.tasks.lock().unwrap().spawn(served);
                Box::new(ours)
            }
        })
    }

    /// The place of the newest entry of all streams: what was refused must not move it.
    pub(crate) async fn position(&self) -> Position {
        let mut last = Position::default();
        loop {
            let page = self.store.read_all(last, 1_000).await.unwrap();
            match page.last() {
                Some(placed) => last = placed.position,
                None => return last,
            }
        }
    }

    pub(crate) fn token_file(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("token")).unwrap()
    }
}

fn incarnation() -> Incarnation {
    Incarnation::from_bits(0xa1)
}

fn clock() -> Arc<TestClock> {
    Arc::new(TestClock(AtomicI64::new(1_763_175_600_000)))
}

fn ids() -> Arc<TestIds> {
    Arc::new(TestIds { ids: AtomicU64::new(1), secrets: AtomicU64::new(1) })
}

pub(crate) fn database(directory: &Path) -> PathBuf {
    directory.join("throughline.db")
}

/// As the binary does: a token that opens something is kept, else a new one is made.
async fn keep_token(engine: &Engine, directory: &Path) -> Result<String, engine::SubmitError> {
    let file = directory.join("token");
    if let Ok(kept) = std::fs::read_to_string(&file)
        && engine.tokens().find(&TokenSecret::new(kept.as_str()), None).is_some()
    {
        return Ok(kept);
    }
    let wish = TokenWish { kind: TokenKind::Person, name: "token file".to_owned(), session: None };
    let issued = engine.issue_token(wish).await?;
    std::fs::write(&file, issued.secret.expose()).unwrap();
    Ok(issued.secret.expose().to_owned())
}

async fn join(tasks: Mutex<JoinSet<()>>) {
    let mut tasks = tasks.into_inner().unwrap();
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
}
