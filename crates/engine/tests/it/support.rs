//! A world of its own for each test: clock, ids, store, engine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agents::history::Places;
use async_trait::async_trait;
use engine::{Agency, Asker, Clock, Created, Engine, Follow, Followed, IdSource, Reach, Seams, SendPrompt};
use model::{
    Answerer, DeletedKey, Entry, Event, Incarnation, InteractionId, ListKey, NextId, NextRow, Offer, Position,
    RememberedRow, Seq, Session, SessionEvent, SessionId, SessionRow, StreamId, Timestamp, TitleRow, TokenRow, Turn,
    TurnRow, WhenBusy, WorkId, WorkKey, WorkRow,
};
use store::{
    AppendError, Batch, Changes, Copies, Damage, Head, Log, MemoryStore, PlacedEntry, ReadError, Receipt, Store,
    Tables, WholeWork,
};
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

/// The memory store with a disk that can be full or damaged, and with a writer that is faster than a purge or a batch.
pub(crate) struct FullDisk {
    store: Arc<MemoryStore>,
    pub(crate) full: AtomicBool,
    /// Full just for answers that a rule gives.
    pub(crate) full_for_rules: AtomicBool,
    pub(crate) damaged: Mutex<Option<SessionId>>,
    pub(crate) before_purge: Mutex<Option<Batch>>,
    /// Written before the next batch of several streams.
    pub(crate) before_batch: Mutex<Option<Batch>>,
    /// How many rows of a work's sessions were read.
    pub(crate) members_read: AtomicUsize,
    /// How many entries of single streams were read.
    pub(crate) entries_read: AtomicUsize,
    /// How many of agents' own ids were asked about.
    pub(crate) attached_asked: AtomicUsize,
}

#[async_trait]
impl Log for FullDisk {
    fn incarnation(&self) -> Incarnation {
        self.store.incarnation()
    }

    async fn append(&self, batch: Batch) -> Result<Position, AppendError> {
        let is_by_rule = |entry: &Entry<Event>| match &entry.event {
            Event::Session(SessionEvent::PermissionAnswered { answer, .. }) => {
                matches!(answer.by, Answerer::Policy { .. })
            }
            _ => false,
        };
        let by_rule = batch.parts.iter().flat_map(|part| &part.entries).any(is_by_rule);
        // `Full` cannot be made outside of the store; to the engine it is one failure like another.
        if self.full.load(Ordering::SeqCst) || (by_rule && self.full_for_rules.load(Ordering::SeqCst)) {
            return Err(AppendError::Closed);
        }
        if batch.parts.len() > 1 {
            let first = self.before_batch.lock().unwrap().take();
            if let Some(first) = first {
                self.store.append(first).await?;
            }
        }
        self.store.append(batch).await
    }

    async fn read(&self, stream: StreamId, after: Seq, limit: usize) -> Result<Vec<Entry<Event>>, ReadError> {
        let entries = self.store.read(stream, after, limit).await?;
        self.entries_read.fetch_add(entries.len(), Ordering::SeqCst);
        Ok(entries)
    }

    async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<PlacedEntry>, ReadError> {
        self.store.read_all(after, limit).await
    }

    async fn changed_since(&self, after: Position, limit: usize) -> Result<Changes, ReadError> {
        self.store.changed_since(after, limit).await
    }

    fn last_position(&self) -> Position {
        self.store.last_position()
    }

    async fn wait_after(&self, after: Position) -> Position {
        self.store.wait_after(after).await
    }

    async fn head(&self, stream: StreamId) -> Result<Head, ReadError> {
        self.store.head(stream).await
    }

    async fn purge(&self, session: SessionId, after: Seq, at: Timestamp) -> Result<(), AppendError> {
        let first = self.before_purge.lock().unwrap().take();
        if let Some(batch) = first {
            self.store.append(batch).await?;
        }
        if self.full.load(Ordering::SeqCst) {
            return Err(AppendError::Closed);
        }
        self.store.purge(session, after, at).await
    }

    async fn forget_receipts(&self, before: Timestamp) -> Result<(), AppendError> {
        self.store.forget_receipts(before).await
    }

    fn damage(&self, session: SessionId) -> Option<Damage> {
        let damaged = *self.damaged.lock().unwrap() == Some(session);
        damaged.then(|| Damage { stream: StreamId::Session(session), seq: Seq(3), what: "as the test wants".into() })
    }
}

#[async_trait]
impl Tables for FullDisk {
    async fn session(&self, id: SessionId) -> Result<Option<Session>, ReadError> {
        self.store.session(id).await
    }

    async fn sessions(&self, after: Option<ListKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
        self.store.sessions(after, limit).await
    }

    async fn unsettled(&self) -> Result<Vec<SessionId>, ReadError> {
        self.store.unsettled().await
    }

    async fn deleted_before(&self, at: Timestamp, limit: usize) -> Result<Vec<SessionId>, ReadError> {
        self.store.deleted_before(at, limit).await
    }

    async fn deleted(&self, after: Option<DeletedKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
        self.store.deleted(after, limit).await
    }

    async fn attached(&self, agent: &str, ids: Vec<String>) -> Result<Vec<(String, SessionId)>, ReadError> {
        self.attached_asked.fetch_add(ids.len(), Ordering::SeqCst);
        self.store.attached(agent, ids).await
    }

    async fn directories_above(&self, path: &str) -> Result<Vec<String>, ReadError> {
        self.store.directories_above(path).await
    }

    async fn may_name_file(
        &self,
        path: &str,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionId>, ReadError> {
        self.store.may_name_file(path, after, limit).await
    }

    async fn unobserved_count(&self) -> Result<u64, ReadError> {
        self.store.unobserved_count().await
    }

    async fn turns(&self, session: SessionId, after: Turn, limit: usize) -> Result<Vec<TurnRow>, ReadError> {
        self.store.turns(session, after, limit).await
    }

    async fn find_turn(&self, interaction: InteractionId) -> Result<Option<TurnRow>, ReadError> {
        self.store.find_turn(interaction).await
    }

    async fn titles(&self, session: SessionId) -> Result<Vec<TitleRow>, ReadError> {
        self.store.titles(session).await
    }

    async fn unsummarised(&self, after: Option<SessionId>, limit: usize) -> Result<Vec<SessionId>, ReadError> {
        self.store.unsummarised(after, limit).await
    }

    async fn context_entries(
        &self,
        session: SessionId,
        after: Seq,
        up_to: Seq,
        limit: usize,
    ) -> Result<Vec<Seq>, ReadError> {
        self.store.context_entries(session, after, up_to, limit).await
    }

    async fn next_blocks(
        &self,
        session: SessionId,
        before: Option<NextId>,
        limit: usize,
    ) -> Result<Vec<Offer>, ReadError> {
        self.store.next_blocks(session, before, limit).await
    }

    async fn next_block(&self, session: SessionId, id: NextId) -> Result<Option<Offer>, ReadError> {
        self.store.next_block(session, id).await
    }

    async fn works(&self, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError> {
        self.store.works(after, limit).await
    }

    async fn work(&self, id: WorkId) -> Result<Option<WorkRow>, ReadError> {
        self.store.work(id).await
    }

    async fn find_work(&self, project: &str, name: &str) -> Result<Option<WorkRow>, ReadError> {
        self.store.find_work(project, name).await
    }

    async fn works_named(&self, name: &str, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError> {
        self.store.works_named(name, after, limit).await
    }

    async fn work_sessions(&self, work: WorkId) -> Result<Vec<SessionRow>, ReadError> {
        let rows = self.store.work_sessions(work).await?;
        self.members_read.fetch_add(rows.len(), Ordering::SeqCst);
        Ok(rows)
    }

    async fn work_session_ids(&self, work: WorkId) -> Result<Vec<SessionId>, ReadError> {
        self.store.work_session_ids(work).await
    }

    async fn newest_of_work(
        &self,
        work: WorkId,
        before: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, ReadError> {
        let rows = self.store.newest_of_work(work, before, limit).await?;
        self.members_read.fetch_add(rows.len(), Ordering::SeqCst);
        Ok(rows)
    }

    async fn clicked(&self, session: SessionId, limit: usize) -> Result<Vec<NextRow>, ReadError> {
        self.store.clicked(session, limit).await
    }

    async fn whole_works(&self) -> Result<Vec<WholeWork>, ReadError> {
        self.store.whole_works().await
    }

    async fn unbegun(&self) -> Result<Vec<SessionId>, ReadError> {
        self.store.unbegun().await
    }

    async fn tokens(&self) -> Result<Vec<TokenRow>, ReadError> {
        self.store.tokens().await
    }

    async fn remembered(&self) -> Result<Vec<RememberedRow>, ReadError> {
        self.store.remembered().await
    }

    async fn find_receipt(&self, principal: &str, key: &str) -> Result<Option<Receipt>, ReadError> {
        self.store.find_receipt(principal, key).await
    }
}

pub(crate) struct World {
    pub(crate) disk: Arc<FullDisk>,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: Arc<TestClock>,
    ids: Arc<TestIds>,
    pub(crate) engine: Engine,
    pub(crate) directory: tempfile::TempDir,
    pub(crate) cwd: String,
    /// What engines that are started from now on keep and have.
    pub(crate) copies: Option<Copies>,
    pub(crate) agency: fn() -> Agency,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with_agency(Agency::only_guide).await
    }

    pub(crate) async fn with_agency(agency: fn() -> Agency) -> Self {
        let store = Arc::new(MemoryStore::new(Incarnation::from_bits(1)));
        let disk = Arc::new(FullDisk {
            store: Arc::clone(&store),
            full: AtomicBool::new(false),
            full_for_rules: AtomicBool::new(false),
            damaged: Mutex::default(),
            before_purge: Mutex::default(),
            before_batch: Mutex::default(),
            members_read: AtomicUsize::new(0),
            entries_read: AtomicUsize::new(0),
            attached_asked: AtomicUsize::new(0),
        });
        let clock = Arc::new(TestClock(AtomicI64::new(0)));
        let ids = Arc::new(TestIds(AtomicU64::new(1)));
        let directory = tempfile::tempdir().unwrap();
        let cwd = directory.path().canonicalize().unwrap().into_os_string().into_string().unwrap();
        let engine = start(&disk, &clock, &ids, None, agency(), directory.path()).await;
        Self { disk, store, clock, ids, engine, directory, cwd, copies: None, agency }
    }

    /// One whose engine keeps copies.
    pub(crate) async fn with_copies() -> Self {
        let mut world = Self::new().await;
        world.copies = Some(Copies::at(world.sessions_folder()));
        world.stop_and_restart().await;
        world
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
        let copies = self.copies.clone();
        start(&self.disk, &self.clock, &self.ids, copies, (self.agency)(), self.directory.path()).await
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
        let command =
            SendPrompt { interaction_id, text: text.to_owned(), images: Vec::new(), when_busy: WhenBusy::Queue };
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

    /// The session's log without what the agent tells of itself, a line an entry, numbered.
    pub(crate) async fn log(&self, session: SessionId) -> String {
        let entries = self.store.read_session(session, model::Seq::START, 10_000).await.unwrap();
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
    store: &Arc<FullDisk>,
    clock: &Arc<TestClock>,
    ids: &Arc<TestIds>,
    copies: Option<Copies>,
    agency: Agency,
    home: &Path,
) -> Engine {
    let history = Some(Places::below(home.to_owned()));
    let (clock, ids) = (Arc::clone(clock) as Arc<dyn Clock>, Arc::clone(ids) as Arc<dyn IdSource>);
    Engine::start(
        Arc::clone(store) as Arc<dyn Store>,
        Seams { clock, ids, home: None, copies, agency, summarising: None, search: None, history },
    )
    .await
    .unwrap()
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
