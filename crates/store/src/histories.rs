//! Random histories, told to both stores at once: whatever can be asked, they answer the same after every step.
//!
//! Invariant: the tables are a function of the log. At the end of each history they are folded anew from its entries
//! and must come out as they stand.

mod actions;

use std::collections::HashMap;
use std::path::Path;

use model::{
    Answerer, Command, ContextWish, Entry, Event, Extent, Fact, FactShape, FileStamp, Incarnation, ListKey, Marker,
    NextRow, Offer, OutputRemoval, PermissionAnswer, Position, RememberedRow, Request, Seq, ServerEvent, Session,
    SessionId, SessionRow, SetMode, StreamId, SummaryMaker, Timestamp, TitleMaker, TitleRow, TokenKind, TokenRow, Turn,
    TurnRow, TurnSummary, UsageBy, UsageQuery, UsageRow, UsageSum, WorkEvent, WorkKey, WorkRow, fold, rename_work,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::conformance::{
    at, batch, click, create, interaction_id, next_step, offers, output, part_of_command, pictures, prompt_by,
    remembered_id, remembers, session_id, stream, text_part, token_id, work_id,
};
use crate::prelude::*;
use crate::{Batch, Changes, Head, MemoryStore, Part, PlacedEntry, Receipt, SqliteStore, Store, WholeWork};

pub(crate) use actions::{Action, Step, lively, step};

pub(crate) const SESSIONS: u8 = 7;
/// So many of them are begun by the first action on them; the others by a click.
const BY_HAND: u8 = 4;
const WORKS: [&str; 3] = ["loom", "weft", "the \u{1f9f5}"];
const TOKENS: u8 = 3;
const PRINCIPALS: [&str; 2] = ["person", "agent"];
const KEYS: [&str; 3] = ["a", "b", "c"];
const INCARNATION: u64 = 0xfedc_ba98_7654_3210;

/// Everything that can be asked about the rows.
#[derive(Debug, PartialEq)]
struct Rows {
    sessions: Vec<Option<Session>>,
    turns: Vec<TurnRow>,
    titles: Vec<TitleRow>,
    turns_used: Vec<UsageRow>,
    usage: Vec<Vec<UsageSum>>,
    list: Vec<SessionRow>,
    offers: Vec<Offer>,
    clicked: Vec<NextRow>,
    works: Vec<WorkRow>,
    whole_works: Vec<WholeWork>,
    found_works: Vec<Option<WorkRow>>,
    works_named: Vec<Vec<WorkRow>>,
    work_sessions: Vec<Vec<SessionRow>>,
    work_session_ids: Vec<Vec<SessionId>>,
    unbegun: Vec<SessionId>,
    unsummarised: Vec<SessionId>,
    unsettled: Vec<SessionId>,
    deleted: Vec<SessionId>,
    deleted_rows: Vec<SessionRow>,
    unobserved_count: u64,
    archived: Vec<SessionRow>,
    foremost: Vec<SessionRow>,
    tagged: Vec<(SessionId, Vec<String>)>,
    tokens: Vec<TokenRow>,
    remembered: Vec<RememberedRow>,
}

/// Everything that can be asked about the log.
#[derive(Debug, PartialEq)]
struct Entries {
    heads: Vec<Head>,
    streams: Vec<Vec<Entry<Event>>>,
    all: Vec<PlacedEntry>,
    changes: Vec<Changes>,
    receipts: Vec<Option<Receipt>>,
}

async fn rows(store: &dyn Store) -> Rows {
    let mut list: Vec<SessionRow> = Vec::new();
    loop {
        let page = store.sessions(model::Shelf::All, list.last().map(ListKey::of), 2).await.unwrap();
        if page.is_empty() {
            break;
        }
        list.extend(page);
    }
    let mut sessions = Vec::new();
    let mut turns: Vec<TurnRow> = Vec::new();
    let mut titles: Vec<TitleRow> = Vec::new();
    let mut turns_used: Vec<UsageRow> = Vec::new();
    let (mut offers, mut clicked) = (Vec::new(), Vec::new());
    for n in 0..SESSIONS {
        sessions.push(store.session(session_id(n)).await.unwrap());
        turns.extend(store.turns(session_id(n), Turn(0), 100).await.unwrap());
        titles.extend(store.titles(session_id(n)).await.unwrap());
        turns_used.extend(store.turns_used(session_id(n), Turn(n.into()), 9).await.unwrap());
        clicked.extend(store.clicked(session_id(n), 3).await.unwrap());
        let mut before = None;
        loop {
            let page = store.next_blocks(session_id(n), before, 2).await.unwrap();
            let Some(last) = page.last() else { break };
            before = Some(last.row.id);
            offers.extend(page);
        }
    }
    let mut usage = Vec::new();
    for by in [UsageBy::Day, UsageBy::Agent, UsageBy::Model, UsageBy::Project, UsageBy::Work, UsageBy::Session] {
        for session in [None, Some(session_id(1))] {
            let query = UsageQuery { by, from: at(2), to: at(30), offset_minutes: -90, session, limit: 5 };
            usage.push(store.usage(query).await.unwrap());
        }
    }
    let mut works: Vec<WorkRow> = Vec::new();
    loop {
        let page = store.works(works.last().map(WorkKey::of), 2).await.unwrap();
        if page.is_empty() {
            break;
        }
        works.extend(page);
    }
    let (mut found_works, mut works_named) = (Vec::new(), Vec::new());
    let (mut work_sessions, mut work_session_ids) = (Vec::new(), Vec::new());
    for name in WORKS {
        found_works.push(store.find_work("/w", name).await.unwrap());
        works_named.push(store.works_named(name, None, 9).await.unwrap());
    }
    for n in BY_HAND..SESSIONS {
        found_works.push(store.work(work_id(n)).await.unwrap());
        work_sessions.push(store.work_sessions(work_id(n)).await.unwrap());
        work_sessions.push(store.newest_of_work(work_id(n), Some(session_id(n + 2)), 2).await.unwrap());
        work_session_ids.push(store.work_session_ids(work_id(n)).await.unwrap());
    }
    Rows {
        sessions,
        turns,
        titles,
        turns_used,
        usage,
        list,
        offers,
        clicked,
        works,
        whole_works: store.whole_works().await.unwrap(),
        found_works,
        works_named,
        work_sessions,
        work_session_ids,
        unbegun: store.unbegun().await.unwrap(),
        unsummarised: store.unsummarised(None, 3).await.unwrap(),
        unsettled: store.unsettled().await.unwrap(),
        deleted: store.deleted_before(at(20), 2).await.unwrap(),
        deleted_rows: store.deleted(None, 3).await.unwrap(),
        archived: store.sessions(model::Shelf::Archived, None, 9).await.unwrap(),
        foremost: store.foremost(9).await.unwrap(),
        tagged: store.tagged().await.unwrap(),
        unobserved_count: store.unobserved_count().await.unwrap(),
        tokens: store.tokens().await.unwrap(),
        remembered: store.remembered().await.unwrap(),
    }
}

async fn entries(store: &dyn Store) -> Entries {
    let mut all: Vec<PlacedEntry> = Vec::new();
    loop {
        let after = all.last().map_or(Position(0), |placed| placed.position);
        let page = store.read_all(after, 16).await.unwrap();
        if page.is_empty() {
            break;
        }
        all.extend(page);
    }
    let mut changes = Vec::new();
    for after in [0, 1, 5, 20, 1_000] {
        for limit in [1, 3, 1_000] {
            changes.push(store.changed_since(Position(after), limit).await.unwrap());
        }
    }
    let mut heads = Vec::new();
    let mut streams = Vec::new();
    for stream in (0..SESSIONS).map(stream).chain([StreamId::Server, StreamId::Work]) {
        heads.push(store.head(stream).await.unwrap());
        streams.push(store.read(stream, Seq::START, 1000).await.unwrap());
    }
    let mut receipts = Vec::new();
    for principal in PRINCIPALS {
        for key in KEYS {
            receipts.push(store.find_receipt(principal, key).await.unwrap());
        }
    }
    Entries { heads, streams, all, changes, receipts }
}

/// The tables that the log alone gives.
async fn refolded(log: &dyn Store) -> MemoryStore {
    let fresh = MemoryStore::new(Incarnation::from_bits(0));
    let mut sessions: HashMap<StreamId, Session> = HashMap::new();
    for PlacedEntry { stream, entry, .. } in entries(log).await.all {
        let (session, rows) = fold(stream, sessions.remove(&stream), &entry);
        sessions.extend(session.map(|session| (stream, session)));
        let after = Seq(entry.seq.0 - 1);
        let part = Part { entries: vec![entry], rows, ..Part::empty(stream, after) };
        fresh.append(batch([part])).await.unwrap();
    }
    fresh
}

pub(crate) struct Twins {
    memory: MemoryStore,
    pub(crate) sqlite: SqliteStore,
    prompts: u64,
    /// How many steps each session's agent has offered in which turn.
    offered: HashMap<SessionId, (Turn, u32)>,
}

impl Twins {
    pub(crate) fn begin(path: &Path) -> Self {
        Self {
            memory: MemoryStore::new(Incarnation::from_bits(INCARNATION)),
            sqlite: SqliteStore::open(path, Incarnation::from_bits(INCARNATION)).unwrap(),
            prompts: 0,
            offered: HashMap::new(),
        }
    }

    pub(crate) async fn take(&mut self, step: Step, path: &Path) {
        match step {
            Step::Act { actions, receipt, when } => {
                let mut written = Batch::default();
                for (n, action) in actions {
                    let before = self.memory.session(session_id(n)).await.unwrap();
                    if before.is_none() && n >= BY_HAND {
                        continue;
                    }
                    // Two actions for one session in one batch: the second is stale and the whole batch conflicts.
                    written.parts.extend(self.part(n, before, action, at(when)));
                }
                written.receipt = receipt.map(|(principal, key)| Receipt {
                    principal: principal.to_owned(),
                    key: key.to_owned(),
                    fingerprint: self.prompts.to_le_bytes().to_vec(),
                    reply: vec![0; 3],
                    at: at(when),
                    holds_words: false,
                });
                self.append(written).await;
            }
            Step::Stale { session, behind } => {
                let head = match self.memory.head(stream(session)).await.unwrap() {
                    Head::At(head) => head.0.cast_signed(),
                    Head::Purged => 0,
                };
                let after = (head - behind).max(0).cast_unsigned();
                // Without entries, so that a step that is not stale after all leaves no entry without its rows.
                self.append(batch([text_part(stream(session), after, &[])])).await;
            }
            Step::IssueToken { token, kind, when } => {
                let event = ServerEvent::TokenIssued {
                    token_id: token_id(token),
                    kind,
                    name: format!("{when}"),
                    session_id: (kind == TokenKind::Agent).then(|| session_id(0)),
                    secret_hash: "0".repeat(64),
                    proof_hash: (kind == TokenKind::Browser).then(|| "1".repeat(64)),
                };
                self.append_to_server(event, when).await;
            }
            Step::RevokeToken { token, when } => {
                self.append_to_server(ServerEvent::TokenRevoked { token_id: token_id(token) }, when).await;
            }
            Step::Remember { id, subject, decision, when } => {
                self.append_to_server(remembers(id, &subject, decision), when).await;
            }
            Step::Forget { id, when } => {
                self.append_to_server(ServerEvent::PermissionForgotten { id: remembered_id(id) }, when).await;
            }
            Step::Click { session, nth, new, when } => {
                let offers = self.memory.next_blocks(session_id(session), None, 10).await.unwrap();
                let Some(offer) = offers.get(nth % offers.len().max(1)) else { return };
                // One that begins a session which is there already conflicts, and nothing of it may be left.
                if let Some(clicked) = click(&self.memory, session, offer.row.id, new, when).await {
                    self.append(clicked).await;
                }
            }
            Step::RenameWork { nth, name, when } => {
                let Some(row) = self.find_work(nth).await else { return };
                let other = self.memory.find_work(&row.project, name).await.unwrap();
                if let Ok(events) = rename_work(&row, name, other.as_ref()) {
                    self.append_to_works(events, when).await;
                }
            }
            Step::DeleteWork { nth, when } => {
                let Some(row) = self.find_work(nth).await else { return };
                self.append_to_works(vec![WorkEvent::WorkDeleted { work: row.id }], when).await;
            }
            Step::Purge { session } => {
                let after = match self.memory.head(stream(session)).await.unwrap() {
                    Head::At(head) => head,
                    Head::Purged => Seq(7),
                };
                let stale = Seq(after.0 + 1);
                for after in [stale, after] {
                    let in_memory = self.memory.purge(session_id(session), after, at(0)).await;
                    let in_sqlite = self.sqlite.purge(session_id(session), after, at(0)).await;
                    assert_eq!(format!("{in_memory:?}"), format!("{in_sqlite:?}"));
                }
            }
            Step::ForgetReceipts { before } => {
                self.memory.forget_receipts(at(before)).await.unwrap();
                self.sqlite.forget_receipts(at(before)).await.unwrap();
            }
            Step::Reopen => {
                self.sqlite.close().await;
                self.sqlite = SqliteStore::open(path, Incarnation::from_bits(0)).unwrap();
            }
        }
    }

    fn part(&mut self, n: u8, before: Option<Session>, action: Action, at: Timestamp) -> Option<Part> {
        match (before, action) {
            (Some(session), Action::Offer(work)) => {
                let running = session.row.running?;
                let offered = self.offered.entry(session.row.id).or_default();
                let nth = if offered.0 == running.turn { offered.1 + 1 } else { 1 };
                *offered = (running.turn, nth);
                let event = offers(running.turn.0, nth, next_step(&format!("step {nth}"), work));
                Some(Part::of_session(session_id(n), session.head, Some(session), vec![event], at).0)
            }
            (before, action) => {
                let command = self.command(before.as_ref(), action);
                part_of_command(session_id(n), before, command, at).ok()
            }
        }
    }

    fn command(&mut self, before: Option<&Session>, action: Action) -> Command {
        let Some(session) = before else { return create("") };
        self.prompts += 1;
        let queued = |n: usize| session.queue.get(n).map_or(interaction_id(0), |prompt| prompt.interaction_id);
        match action {
            Action::Rename(name) => Command::Change {
                name: Some(name),
                env_hint: None,
                context: None,
                filing: model::FilingWish::default(),
            },
            Action::Hint(hint) => Command::Change {
                name: None,
                env_hint: Some(hint),
                context: None,
                filing: model::FilingWish::default(),
            },
            Action::Pin(pinned) => filed(model::FilingWish { pinned: Some(pinned), ..Default::default() }),
            Action::Archive(archived) => filed(model::FilingWish { archived: Some(archived), ..Default::default() }),
            Action::Tag(tags) => {
                filed(model::FilingWish { tags: Some(model::TagWish::All(tags)), ..Default::default() })
            }
            Action::Prompt { text, pictures: count, by } => prompt_by(self.prompts, &text, pictures(count), by),
            Action::ChangePrompt(n, text, by) => Command::ChangePrompt { interaction_id: queued(n), text, by },
            Action::RemovePrompt(n) => Command::RemovePrompt { interaction_id: queued(n) },
            Action::Observe => Command::Observe,
            Action::Delete => Command::Delete,
            Action::Restore => Command::Restore,
            Action::Agent(report) => Command::Agent(report),
            Action::Answer(option) => {
                let open = session.row.open_requests.first();
                let request = open.map_or(Request(0), |open| open.request);
                let by = Answerer::Policy { rule: "r".to_owned() };
                let answer = PermissionAnswer {
                    option: Some(option.to_owned()),
                    kind: None,
                    fields: None,
                    by,
                    remembered: None,
                };
                Command::Answer { request, answer }
            }
            Action::Cancel => Command::Cancel,
            Action::Resume(agent) => Command::Resume { agent: agent.map(str::to_owned) },
            Action::TellResume(text) => Command::SendPacket { text },
            Action::Mark { set, items, merge } => {
                let mode = if merge { SetMode::Merge } else { SetMode::Replace };
                let wish = ContextWish::One { set: set.to_owned(), items, mode };
                Command::SetContext { wish, by: if merge { Marker::Agent } else { Marker::Person } }
            }
            Action::Show(n) => Command::StoreOutput(Box::new(output(n))),
            Action::Hide(n) => {
                let reason = if n % 2 == 0 { OutputRemoval::Removed } else { OutputRemoval::Pruned };
                Command::RemoveOutputs { ids: vec![output(n).id], reason, by: None }
            }
            Action::Prove(facts) => Command::Prove { tool: 1, facts: facts.into_iter().map(fact).collect() },
            Action::Intend(intent) => Command::SetIntent { intent },
            Action::Summarise(turn, summary) => {
                let extent = (turn > 1).then_some(Extent { prompt: turn, response: 2, tools: 3 });
                let (turn, by) = (Turn(turn), SummaryMaker::Extract);
                Command::Summarise(vec![TurnSummary { turn, summary, by, extent }])
            }
            Action::Title(title) => {
                Command::SetTitle { title, by: TitleMaker::Terms, turn: Some(Turn(1)), interaction_id: None }
            }
            Action::Import(mark) => Command::Import { tool: "claude".to_owned(), source: "s".to_owned(), mark },
            // A session that is not there is begun, whatever the action is.
            Action::Offer(_) => create(""),
            Action::MoveTo(cwd) => Command::MoveTo { cwd: cwd.to_owned() },
            Action::Interrupt => Command::Interrupt { reason: "server_restart".to_owned() },
        }
    }

    async fn find_work(&self, nth: usize) -> Option<WorkRow> {
        let works = self.memory.whole_works().await.unwrap();
        works.get(nth % works.len().max(1)).map(|whole| whole.row.clone())
    }

    async fn append_to_server(&self, event: ServerEvent, when: i64) {
        let after = self.head(StreamId::Server).await;
        self.append(batch([Part::of_server(after, vec![event], at(when))])).await;
    }

    async fn append_to_works(&self, events: Vec<WorkEvent>, when: i64) {
        let after = self.head(StreamId::Work).await;
        self.append(batch([Part::of_works(after, events, at(when))])).await;
    }

    async fn head(&self, stream: StreamId) -> Seq {
        let Head::At(head) = self.memory.head(stream).await.unwrap() else { panic!("it is never purged") };
        head
    }

    async fn append(&self, batch: Batch) {
        let memory = self.memory.append(batch.clone()).await;
        let sqlite = self.sqlite.append(batch).await;
        assert_eq!(format!("{memory:?}"), format!("{sqlite:?}"));
    }

    async fn compare(&self) {
        assert_eq!(rows(&self.memory).await, rows(&self.sqlite).await);
        assert_eq!(entries(&self.memory).await, entries(&self.sqlite).await);
        assert_eq!(self.sqlite.incarnation(), Incarnation::from_bits(INCARNATION));
    }
}

/// A history of any kind.
pub(crate) fn history() -> impl Strategy<Value = Vec<Step>> {
    vec(prop_oneof![lively(), step()], 1..60)
}

/// The store that a history leaves at `path`.
pub(crate) async fn write(steps: Vec<Step>, path: &Path) -> SqliteStore {
    let mut twins = Twins::begin(path);
    for step in steps {
        twins.take(step, path).await;
    }
    twins.sqlite
}

async fn run(steps: Vec<Step>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("throughline.db");
    let mut twins = Twins::begin(&path);
    for step in steps {
        twins.take(step, &path).await;
        twins.compare().await;
    }
    assert_eq!(rows(&refolded(&twins.sqlite).await).await, rows(&twins.sqlite).await);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn both_stores_answer_the_same_and_the_tables_follow_from_the_log(steps in history()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(run(steps));
    }
}

fn fact((name, value): (&str, String)) -> Fact {
    let shape = if name == "branch" { FactShape::Single } else { FactShape::List };
    let file = (shape == FactShape::List).then(|| FileStamp {
        modified_at: Timestamp::from_millis(7),
        bytes: 3,
        hash: Some("0f".to_owned()),
    });
    Fact { name: name.to_owned(), shape, value, rule: "r".to_owned(), exit_code: Some(1), file }
}

/// Keeps a session so in the list.
pub(crate) fn filed(filing: model::FilingWish) -> Command {
    Command::Change { name: None, env_hint: None, context: None, filing }
}
