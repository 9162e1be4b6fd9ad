//! Turns the items of a record into a session's entries. Each step goes through a [`Draft`], with the times of the record.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use agents::history::{Bookmark, FoundConversation, HistoryItem};
use model::{
    AgentReport, Author, Command, Draft, InteractionId, NewBody, NewSession, Rejection, Session, SessionId, Timestamp,
    TitleMaker, Titles, ToolCall, ToolStatus, Topics, prove,
};
use store::Part;
use tokio::sync::OwnedRwLockReadGuard;

use crate::id_source::IdSource;

/// A part of the log is handed out at the end of a turn once it has so many entries or bytes.
pub(super) const PART_ENTRIES: usize = 400;
pub(super) const PART_BYTES: usize = 768 << 10;

/// Replays one conversation into a session.
pub(super) struct Replay {
    id: SessionId,
    tool: &'static str,
    source: String,
    ids: Arc<dyn IdSource>,
    draft: Draft,
    calls: BTreeMap<u32, ToolCall>,
    prompt: Option<InteractionId>,
    home: String,
    last_at: Timestamp,
}

/// Entries that are ready to be appended in one batch.
pub(super) struct ReadyPart {
    pub(super) session: SessionId,
    pub(super) part: Part,
    /// About how many the part has.
    pub(super) bytes: usize,
    /// What its entries name and has to be stored before them.
    pub(super) bodies: Vec<NewBody>,
    /// Held from then on, until the part is appended.
    pub(super) storing: Option<OwnedRwLockReadGuard<()>>,
}

impl Replay {
    pub(super) fn new(
        found: &FoundConversation,
        id: SessionId,
        session: Option<Session>,
        topics: Topics,
        ids: Arc<dyn IdSource>,
        home: String,
        cut_over: usize,
    ) -> Self {
        let last_at = session.as_ref().map_or(found.modified_at, |session| session.row.active_at);
        let mut draft = Draft::new(id, session).cutting(cut_over);
        draft.set_topics(topics);
        Self {
            id,
            tool: found.tool.agent_name(),
            source: found.id.clone(),
            ids,
            draft,
            calls: BTreeMap::new(),
            prompt: None,
            home,
            last_at,
        }
    }

    /// Applies the next item. At the end of a turn it gives the part that is ready, if it is large enough.
    pub(super) fn apply(&mut self, item: HistoryItem) -> Result<Option<ReadyPart>, Rejection> {
        match item {
            HistoryItem::Session(about) => {
                let (cwd, project) = directory(&about.cwd, &self.home);
                let new = NewSession {
                    agent: self.tool.to_owned(),
                    cwd,
                    project,
                    name: String::new(),
                    ..NewSession::default()
                };
                self.act(Command::Create(new), about.created_at)?;
                // From here on its turns are another's; how far they go is noted with the last of them.
                self.note(String::new(), about.created_at)?;
                if let Some(title) = about.title {
                    self.title(title, about.created_at)?;
                }
            }
            HistoryItem::Prompt { at, text, images } => {
                let interaction_id = InteractionId::from_uuid(self.ids.uuid());
                self.prompt = Some(interaction_id);
                self.calls.clear();
                // Their tool does not say with which credential.
                let by = Author::default();
                self.act(Command::ImportPrompt { interaction_id, text, images, by }, at)?;
            }
            HistoryItem::Report { at, report } => self.report(report, at)?,
            HistoryItem::TurnEnd { at, stop, bookmark } => {
                self.act(Command::Agent(AgentReport::Stopped(stop)), at)?;
                let at = self.said_at(at);
                self.draft.sum_up(Titles::ByTerms, at)?;
                if self.draft.entries().len() >= PART_ENTRIES || self.draft.held_bytes() >= PART_BYTES {
                    return self.flush(&bookmark, at).map(Some);
                }
            }
        }
        Ok(None)
    }

    /// The part that was replayed and not yet handed out, with a note of how far it goes.
    pub(super) fn flush(&mut self, bookmark: &Bookmark, at: Timestamp) -> Result<ReadyPart, Rejection> {
        self.note(bookmark.as_str().to_owned(), at)?;
        let (bytes, bodies) = (self.draft.bytes(), self.draft.bodies().to_vec());
        Ok(ReadyPart { session: self.id, bytes, part: self.draft.take(), bodies, storing: None })
    }

    fn note(&mut self, mark: String, at: Timestamp) -> Result<(), Rejection> {
        let (tool, source) = (self.tool.to_owned(), self.source.clone());
        self.act(Command::Import { tool, source, mark }, at)
    }

    /// Nothing waits to be handed out.
    pub(super) fn is_empty(&self) -> bool {
        self.draft.entries().is_empty()
    }

    fn report(&mut self, report: AgentReport, at: Timestamp) -> Result<(), Rejection> {
        let mut proved = None;
        match &report {
            AgentReport::ToolStarted { tool, call_id, change } => {
                self.calls.insert(*tool, ToolCall::begin(*tool, call_id.clone(), change));
            }
            AgentReport::ToolChanged { tool, change } => {
                if let Some(call) = self.calls.get_mut(tool) {
                    call.change(change);
                    let cwd = self.draft.session().map_or("/", |session| &session.row.cwd);
                    if call.status == ToolStatus::Completed {
                        // What the files were like then, nobody knows.
                        proved = Some((*tool, prove(call, cwd)));
                    }
                }
            }
            AgentReport::Title(title) => return self.title(title.clone(), at),
            _ => (),
        }
        self.act(Command::Agent(report), at)?;
        if let Some((tool, facts)) = proved.filter(|(_, facts)| !facts.is_empty()) {
            self.calls.remove(&tool);
            self.act(Command::Prove { tool, facts }, at)?;
        }
        Ok(())
    }

    fn title(&mut self, title: String, at: Timestamp) -> Result<(), Rejection> {
        let by = TitleMaker::Agent;
        let turn = self.draft.session().map(|session| session.row.turns).filter(|turn| turn.0 > 0);
        let interaction_id = self.prompt.filter(|_| turn.is_some());
        self.act(Command::SetTitle { title, by, turn, interaction_id }, at)
    }

    fn act(&mut self, command: Command, at: Timestamp) -> Result<(), Rejection> {
        let at = self.said_at(at);
        self.draft.apply(command, at)
    }

    /// What a record says without a time was said when the line before it was.
    fn said_at(&mut self, at: Timestamp) -> Timestamp {
        if at.as_millis() > 0 {
            self.last_at = at;
        }
        self.last_at
    }
}

/// The directory of a record and its project; home if the record does not say.
fn directory(cwd: &str, home: &str) -> (String, String) {
    let cwd =
        if cwd.starts_with('/') && cwd.len() <= model::MAX_PATH_BYTES && !cwd.contains('\0') { cwd } else { home };
    let root = Path::new(cwd).ancestors().find(|above| above.join(".git").symlink_metadata().is_ok());
    let project = root.and_then(Path::to_str).unwrap_or(cwd);
    (cwd.to_owned(), project.to_owned())
}
