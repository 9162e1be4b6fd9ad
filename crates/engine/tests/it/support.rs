//! A world of its own for each test: clock, ids, store, engine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use agents::history::Places;
use engine::{
    Agency, Asker, Clock, Created, Engine, Follow, Followed, IdSource, OutputSettings, Reach, Seams, SendPrompt,
};
use model::{Author, Incarnation, InteractionId, Seq, SessionEvent, SessionId, StreamId, Timestamp, WhenBusy};
use store::conformance::faulty::{Faulty, StoreCall, StoreFault};
use store::prelude::*;
use store::{Copies, Fence, MemoryStore, Store};
use tokio::task::JoinSet;
use uuid::Uuid;

/// Goes forward by a second whenever it is asked, and by as much as a test says.
pub(crate) struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1_000, Ordering::Relaxed))
    }
}

impl TestClock {
    pub(crate) fn advance(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap(), Ordering::Relaxed);
    }

    pub(crate) fn jump_to(&self, millis: i64) {
        self.0.store(millis, Ordering::Relaxed);
    }
}

/// 1, 2, 3 …
pub(crate) struct TestIds(AtomicU64);

impl IdSource for TestIds {
    fn uuid(&self) -> Uuid {
        Uuid::from_u128(self.0.fetch_add(1, Ordering::Relaxed).into())
    }

    fn secret_bytes(&self) -> [u8; 32] {
        let mut bytes = [7; 32];
        bytes[..8].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        bytes
    }
}

pub(crate) struct World {
    pub(crate) disk: Arc<Faulty<MemoryStore>>,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: Arc<TestClock>,
    ids: Arc<TestIds>,
    pub(crate) engine: Engine,
    pub(crate) directory: tempfile::TempDir,
    pub(crate) cwd: String,
    /// What engines that are started from now on keep and have.
    pub(crate) copies: Option<Copies>,
    pub(crate) agency: fn() -> Agency,
    pub(crate) outputs: OutputSettings,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with_agency(Agency::only_guide).await
    }

    pub(crate) async fn with_agency(agency: fn() -> Agency) -> Self {
        Self::showing(agency, OutputSettings::in_memory()).await
    }

    /// One that keeps what is shown like this.
    pub(crate) async fn showing(agency: fn() -> Agency, outputs: OutputSettings) -> Self {
        let store = Arc::new(MemoryStore::new(Incarnation::from_bits(1)));
        let disk = Arc::new(Faulty::new(Arc::clone(&store)));
        let clock = Arc::new(TestClock(AtomicI64::new(0)));
        let ids = Arc::new(TestIds(AtomicU64::new(1)));
        let directory = tempfile::tempdir().unwrap();
        let cwd = directory.path().canonicalize().unwrap().into_os_string().into_string().unwrap();
        let engine = start(&disk, &clock, &ids, None, agency(), outputs.clone(), directory.path()).await;
        Self { disk, store, clock, ids, engine, directory, cwd, copies: None, agency, outputs }
    }

    /// One whose engine keeps copies.
    pub(crate) async fn with_copies() -> Self {
        let mut world = Self::new().await;
        world.copies = Some(Copies::at(world.sessions_folder()));
        world.stop_and_restart().await;
        world
    }

    pub(crate) fn applets_folder(&self) -> PathBuf {
        self.directory.path().join("applets")
    }

    pub(crate) fn sessions_folder(&self) -> PathBuf {
        self.directory.path().join("sessions")
    }

    /// The process dies and another takes the store over: nothing is settled by the first.
    pub(crate) async fn crash_and_restart(&mut self) {
        self.engine = self.start().await;
    }

    pub(crate) async fn stop_and_restart(&mut self) {
        self.engine.shutdown().await;
        self.engine = self.start().await;
    }

    async fn start(&self) -> Engine {
        let (copies, outputs) = (self.copies.clone(), self.outputs.clone());
        start(&self.disk, &self.clock, &self.ids, copies, (self.agency)(), outputs, self.directory.path()).await
    }

    /// Time passes on both clocks, and what is due happens.
    pub(crate) async fn pass(&self, by: Duration) {
        self.clock.advance(by);
        tokio::time::sleep(by).await;
    }

    pub(crate) async fn session(&self) -> SessionId {
        self.session_of("guide", &self.cwd).await
    }

    pub(crate) async fn session_of(&self, agent: &str, cwd: &str) -> SessionId {
        let reply = self.engine.create_session(agent, cwd, String::new(), Reach::Careful, asker()).await;
        let Ok(Created { session, .. }) = reply else { panic!("{reply:?}") };
        session
    }

    pub(crate) async fn prompt(&self, session: SessionId, text: &str) -> InteractionId {
        let interaction_id = self.engine.new_interaction();
        let command = SendPrompt {
            interaction_id,
            text: text.to_owned(),
            images: Vec::new(),
            when_busy: WhenBusy::Queue,
            by: Author::default(),
        };
        self.engine.submit(session, command, asker()).await.unwrap();
        interaction_id
    }

    /// Follows until the prompt's turn has ended.
    pub(crate) async fn finish(&self, session: SessionId, prompt: InteractionId) {
        let mut follow = self.engine.follow(session, None).await.unwrap();
        let mut turn = None;
        loop {
            match next_event(&mut follow).await {
                SessionEvent::TurnStarted { turn: started, interaction_id } if interaction_id == prompt => {
                    turn = Some(started);
                }
                SessionEvent::TurnEnded { turn: ended, .. } if Some(ended) == turn => return,
                _ => (),
            }
        }
    }

    /// From now on nothing can be written, until the disk is mended.
    pub(crate) fn fill_disk(&self) {
        self.disk.when(StoreCall::Append).fail(StoreFault::Full);
        self.disk.when(StoreCall::Purge).fail(StoreFault::Full);
    }

    /// The session's log is said to be damaged.
    pub(crate) fn damage(&self, session: SessionId) {
        self.disk.say_damaged(Fence::damaged(StreamId::Session(session), Seq(3), "as the test wants"));
    }

    /// The session's log without what the agent tells of itself, a line an entry, numbered.
    pub(crate) async fn log(&self, session: SessionId) -> String {
        let entries = self.store.read_session(session, Seq::START, 10_000).await.unwrap();
        let told =
            entries.iter().filter(|entry| !is_about_the_agent(&entry.event)).enumerate().map(|(index, entry)| {
                let json = serde_json::to_value(&entry.event).unwrap();
                let data: BTreeMap<&String, &serde_json::Value> = json["data"].as_object().unwrap().iter().collect();
                let left_out = ["attached", "cwd", "interactionId", "project"];
                let words = data.iter().filter(|(key, _)| !left_out.contains(&key.as_str()));
                let words = words.map(|(_, value)| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
                format!("{} {} {}", index + 1, json["type"].as_str().unwrap(), words.join(" ")).trim_end().to_owned()
            });
        told.collect::<Vec<_>>().join("\n")
    }
}

fn is_about_the_agent(event: &SessionEvent) -> bool {
    matches!(
        event,
        SessionEvent::AgentOptionsChanged { .. }
            | SessionEvent::AgentCommandsChanged { .. }
            | SessionEvent::UsageReported { .. }
            | SessionEvent::TitleSet { .. }
            | SessionEvent::SummarySet { .. }
            | SessionEvent::SessionImported { .. }
    )
}

async fn start(
    store: &Arc<Faulty<MemoryStore>>,
    clock: &Arc<TestClock>,
    ids: &Arc<TestIds>,
    copies: Option<Copies>,
    agency: Agency,
    outputs: OutputSettings,
    home: &Path,
) -> Engine {
    let history = Some(Places::below(home.to_owned()));
    let agency = Agency { applets: Some(home.join("applets")), ..agency };
    let (clock, ids) = (Arc::clone(clock) as Arc<dyn Clock>, Arc::clone(ids) as Arc<dyn IdSource>);
    Engine::start(
        Arc::clone(store) as Arc<dyn Store>,
        Seams {
            clock,
            ids,
            home: None,
            copies,
            agency,
            summarising: None,
            search: None,
            history,
            usage: engine::UsageSettings::default(),
            outputs,
        },
    )
    .await
    .unwrap()
}

/// Work that goes on while the test does something else, and ends with it.
pub(crate) struct Background<T>(JoinSet<T>);

impl<T: Send + 'static> Background<T> {
    pub(crate) fn start(work: impl Future<Output = T> + Send + 'static) -> Self {
        let mut tasks = JoinSet::new();
        tasks.spawn(work);
        Self(tasks)
    }

    pub(crate) async fn result(mut self) -> T {
        self.0.join_next().await.unwrap().unwrap()
    }
}

pub(crate) fn asker() -> Asker {
    Asker { principal: "ada".to_owned(), key: None }
}

pub(crate) async fn next_event(follow: &mut Follow) -> SessionEvent {
    loop {
        if let Followed::Entry(entry) = follow.next().await.unwrap() {
            return entry.event;
        }
    }
}
