//! Rebuilds a session's entries from its copy.
//!
//! Invariant: nothing is taken on trust. Each step goes through `model::decide`, as if a person and an agent did it
//! again, so a copy can make no session that they could not have made; a copy that does not hold together is refused
//! whole. At the end no turn runs and the agent is stopped.

mod blocks;

use std::collections::{BTreeSet, HashSet};
use std::io::{self, BufRead as _, BufReader, Read as _};

use model::{
    AgentReport, AgentState, Answerer, Attached, BodyHash, BodyLoss, Command, ContextWish, Draft, Filing, FilingWish,
    FoundBody, Imported, Item, MAX_BODY_BYTES, Marker, Memory, NewSession, NextId, OutputId, OutputRemoval, Permission,
    PermissionAnswer, Question, Rejection, Request, SessionEvent, SessionId, Stop, TagWish, Timestamp, ToolCall,
    ToolChange, TranscriptTurn, WhenBusy, check_name, decide, note_click, prove,
};

use crate::copies::folder::Folder;
use crate::copies::meta::{self, Click, FORMAT, Meta, Title};
use crate::copies::older_formats;
use crate::copies::outputs::KeptOutputs;
use crate::copies::{MAX_LINE_BYTES, transcript};
use crate::{CopyError, Part, PayloadKind};

/// No session has this many requests, whatever its copy says.
const MAX_REQUEST: u32 = 1 << 30;
/// Answers are written down in parts of this size, as a live one is, so that no follower meets a huge one.
const TEXT_PART_BYTES: usize = 64 << 10;
/// A part of the log is handed out once it has this many entries …
const PART_ENTRIES: usize = 500;
/// … or comes from this many bytes of a transcript.
const PART_BYTES: usize = 512 << 10;
/// Why an agent is not there that no log speaks of.
const REASON: &str = "hydrated";

/// Why a copy is not taken.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// Its files cannot be reached.
    #[error(transparent)]
    Files(#[from] CopyError),
    /// There is no `meta.json`.
    #[error("it has no meta.json")]
    NoMeta,
    /// `meta.json` is not what this program writes.
    #[error("its meta.json cannot be understood")]
    Meta(#[source] serde_json::Error),
    /// A newer version of the program wrote it.
    #[error("its format is {0}, this program knows formats up to {FORMAT}")]
    Newer(u32),
    /// It was put under another session's name.
    #[error("its meta.json names the session {0}")]
    OtherSession(SessionId),
    /// A line of the transcript cannot be read.
    #[error("line {line} of its transcript cannot be read")]
    Line {
        /// Counted from 1.
        line: u64,
        /// What the system said.
        source: io::Error,
    },
    /// A line of the transcript is no finished turn.
    #[error("line {line} of its transcript is no finished turn")]
    NoTurn {
        /// Counted from 1.
        line: u64,
        /// Why not; absent if it is a turn that has not ended.
        source: Option<serde_json::Error>,
    },
    /// A line of the transcript is longer than [`MAX_LINE_BYTES`].
    #[error("line {line} of its transcript is longer than {MAX_LINE_BYTES} bytes")]
    TooLong {
        /// Counted from 1.
        line: u64,
    },
    /// Turns are numbered 1, 2, 3 ….
    #[error("line {line} of its transcript is the turn {found}")]
    OutOfOrder {
        /// Counted from 1.
        line: u64,
        /// What it says it is.
        found: model::Turn,
    },
    /// A line of the transcript shows what no agent can have offered.
    #[error("line {line} of its transcript shows blocks that are none")]
    NoBlock {
        /// Counted from 1.
        line: u64,
    },
    /// A click on what was not offered, or a second one.
    #[error("its meta.json tells of a click on {0}, which does not wait for one")]
    NoOffer(NextId),
    /// A rule of sessions says no.
    #[error("it breaks a rule: {0}")]
    Rejected(#[from] Rejection),
}

/// Reads what a session is.
pub(super) fn read_meta(folder: &Folder, id: SessionId) -> Result<Meta, Unreadable> {
    #[derive(serde::Deserialize)]
    struct Format {
        format: u32,
    }
    let bytes = folder.read(meta::NAME, meta::MAX_BYTES)?.ok_or(Unreadable::NoMeta)?;
    // Before anything else: a newer shape need not have the fields of this one.
    let Format { format } = serde_json::from_slice(&bytes).map_err(Unreadable::Meta)?;
    if format > FORMAT {
        return Err(Unreadable::Newer(format));
    }
    let meta: Meta = serde_json::from_slice(&bytes).map_err(Unreadable::Meta)?;
    if meta.id != id {
        return Err(Unreadable::OtherSession(meta.id));
    }
    Ok(meta)
}

/// Rebuilds a session, entry by entry.
pub(super) struct CopyReplay {
    meta: Meta,
    lines: Option<Lines>,
    /// Where what is too long for a line is kept.
    bodies: Option<Folder>,
    draft: Draft,
    last_ended_at: Option<Timestamp>,
    /// What was offered and has not been clicked.
    offers: HashSet<NextId>,
    kept_outputs: KeptOutputs,
    /// What was shown and has not been removed in the same turn.
    shown: BTreeSet<OutputId>,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Beginning,
    Turns,
    Done,
}

impl CopyReplay {
    pub(super) fn new(folder: &Folder, meta: Meta) -> Result<Self, Unreadable> {
        let lines = folder.find_file(transcript::NAME)?.map(|file| Lines {
            file: BufReader::new(file),
            format: meta.format,
            number: 0,
        });
        let draft = Draft::of_copy(meta.id);
        // Behind a link is nothing of ours.
        let bodies = folder.find_child(PayloadKind::Body.folder()).unwrap_or(None);
        Ok(Self {
            meta,
            lines,
            bodies,
            draft,
            last_ended_at: None,
            offers: HashSet::new(),
            kept_outputs: KeptOutputs::read(folder)?,
            shown: BTreeSet::new(),
            stage: Stage::Beginning,
        })
    }

    /// The next entries, of a few turns or of one long one; `None` after the last.
    pub(super) fn next_part(&mut self) -> Result<Option<Part>, Unreadable> {
        if self.stage == Stage::Done {
            return Ok(None);
        }
        let mut read_bytes = 0;
        while self.stage != Stage::Done && self.draft.entries().len() < PART_ENTRIES && read_bytes < PART_BYTES {
            read_bytes += self.step()?;
        }
        Ok(Some(self.draft.take()))
    }

    /// Replays the beginning, the next turn or the end; gives how much was read for it.
    fn step(&mut self) -> Result<usize, Unreadable> {
        match self.stage {
            Stage::Beginning => {
                self.begin()?;
                self.stage = Stage::Turns;
            }
            Stage::Turns => match self.lines.as_mut().map_or(Ok(None), Lines::next)? {
                Some(line) => {
                    self.replay_turn(line.number, line.turn)?;
                    return Ok(line.bytes);
                }
                None => {
                    self.end()?;
                    self.stage = Stage::Done;
                }
            },
            Stage::Done => (),
        }
        Ok(0)
    }

    fn begin(&mut self) -> Result<(), Unreadable> {
        check_name(&self.meta.agent)?;
        let Meta { agent, cwd, project, name, created_at, meta_context, .. } = self.meta.clone();
        let work = meta_context.map(|work| work.id);
        // Without what was to be chosen about its agent: whoever changed a copy must not let an agent do more.
        let new = NewSession { agent, cwd, project, name, work, ..NewSession::default() };
        let mut created = decide(None, Command::Create(new))?;
        // Without the prompt that it was begun for, which is the first turn's, or waited and is in no copy.
        if let Some(SessionEvent::SessionCreated { from, .. }) = created.first_mut() {
            *from = self.meta.from;
        }
        self.note(created, created_at);
        if let Some(Imported { tool, source, mark, continued }) = self.meta.imported.clone() {
            self.act(Command::Import { tool, source, mark }, created_at)?;
            if continued {
                self.act(Command::Resume { agent: None }, created_at)?;
            }
        }
        let attached = self.meta.agent_session.clone().map(|agent_session| Attached {
            agent_session,
            memory: Memory::Resumed,
            program: None,
        });
        self.act(Command::Agent(AgentReport::Ready { attached }), created_at)?;
        self.act(Command::Agent(AgentReport::Title(self.meta.agent_title.clone())), created_at)?;
        for title in self.meta.titles.clone().into_iter().rev() {
            let Title { title, by, turn, interaction_id, changed_at } = title;
            self.act(Command::SetTitle { title, by, turn, interaction_id }, changed_at)?;
        }
        let env_hint = Some(self.meta.env_hint.clone());
        let tags = Some(self.meta.tags.clone()).filter(|tags| !tags.is_empty()).map(TagWish::All);
        let filing = FilingWish { tags, ..FilingWish::default() };
        self.act(Command::Change { name: None, env_hint, context: None, filing }, created_at)?;
        self.act(Command::SetIntent { intent: self.meta.current_intent.clone() }, created_at)?;
        // Who marked what is not in the copy; nobody is given more than an agent's mark gives.
        let wish = ContextWish::All(self.meta.context.clone());
        self.act(Command::SetContext { wish, by: Marker::Agent }, created_at)
    }

    fn replay_turn(&mut self, line: u64, turn: TranscriptTurn) -> Result<(), Unreadable> {
        let unfinished = Unreadable::NoTurn { line, source: None };
        let (Some(outcome), Some(ended_at)) = (turn.outcome, turn.ended_at) else { return Err(unfinished) };
        if u64::from(turn.turn.0) != line {
            return Err(Unreadable::OutOfOrder { line, found: turn.turn });
        }
        let TranscriptTurn { interaction_id, prompt: text, images, by, .. } = turn;
        let by = by.with_plain_name();
        let is_imported = self.draft.session().is_some_and(|session| session.row.is_imported());
        let prompt = match is_imported {
            true => Command::ImportPrompt { interaction_id, text, images, by },
            false => Command::SendPrompt { interaction_id, text, images, when_busy: WhenBusy::Reject, by },
        };
        self.act(prompt, turn.started_at)?;
        if let Some(text) = turn.resume {
            self.act(Command::SendPacket { text }, turn.started_at)?;
        }
        for item in turn.items {
            let shown_at = match &item {
                Item::Output { output, .. } => self.kept_outputs.shown_at(output.id, turn.turn),
                _ => None,
            };
            self.replay_item(item, shown_at.unwrap_or(ended_at))?;
        }
        let shown = blocks::shown(turn.turn, turn.blocks).ok_or(Unreadable::NoBlock { line })?;
        self.offers.extend(shown.iter().filter_map(blocks::offer));
        self.note(shown, ended_at);
        if let Some(usage) = turn.usage {
            self.act(Command::Agent(AgentReport::Usage(usage)), ended_at)?;
        }
        self.act(Command::Agent(AgentReport::Stopped(Stop { outcome, reason: turn.reason })), ended_at)?;
        self.last_ended_at = Some(ended_at);
        Ok(())
    }

    /// A call with what of it is kept beside the copy, as far as that is there.
    fn whole(&self, mut call: ToolCall) -> ToolCall {
        call.restore(&|body| {
            let found = body.sha256.filter(|_| body.bytes <= MAX_BODY_BYTES).zip(self.bodies.as_ref());
            let Some((hash, folder)) = found else { return FoundBody::Lost(BodyLoss::NotKept) };
            match folder.read_ours(&hash.to_string(), body.bytes) {
                Ok(Some(bytes)) if BodyHash::of(&bytes) == hash => FoundBody::Whole(bytes),
                Ok(_) | Err(_) => FoundBody::Lost(BodyLoss::Gone),
            }
        });
        call
    }

    fn replay_item(&mut self, item: Item, at: Timestamp) -> Result<(), Unreadable> {
        let report = match item {
            Item::Text { block, text } => {
                return self.replay_words(&text, at, |text| AgentReport::Text { block, text });
            }
            Item::Thought { block, text } => {
                return self.replay_words(&text, at, |text| AgentReport::Thought { block, text });
            }
            Item::Tool(call) => {
                let (tool, call_id, change) = (call.tool, call.call_id.clone(), call.as_change());
                let status = Some(call.status).filter(|status| status.is_final());
                self.act(Command::Agent(AgentReport::ToolStarted { tool, call_id, change }), at)?;
                let ended = ToolChange { status, ..ToolChange::default() };
                self.act(Command::Agent(AgentReport::ToolChanged { tool, change: ended }), at)?;
                // What the files were like then is not in the copy.
                let facts = prove(&self.whole(call), &self.meta.cwd);
                return self.act(Command::Prove { tool, facts }, at);
            }
            Item::Plan { steps } => AgentReport::Plan(steps),
            Item::Permission(Permission { request, question, answer }) => {
                self.ask(request, question, at)?;
                return match answer.filter(|answer| answer.option.is_some()) {
                    // What is remembered is no session's: a copy that was changed must not let agents do more.
                    Some(answer) => self
                        .act(Command::Answer { request, answer: PermissionAnswer { remembered: None, ..answer } }, at),
                    // It was withdrawn, at the latest with the turn's end.
                    None => self.act(Command::Cancel, at),
                };
            }
            Item::Notice(notice) => AgentReport::Noticed(notice),
            // Its bytes are where they were, or are missed by whoever asks for them.
            Item::Output { output, removed } => {
                let id = output.id;
                self.act(Command::StoreOutput(Box::new(output)), at)?;
                self.shown.insert(id);
                return removed.map_or(Ok(()), |reason| {
                    self.shown.remove(&id);
                    self.act(Command::RemoveOutputs { ids: vec![id], reason, by: None }, at)
                });
            }
            Item::Compaction { summary } => AgentReport::Compacted { summary },
        };
        self.act(Command::Agent(report), at)
    }

    /// What was asked beside the turns is not in the copy, so numbers may be left out; none is given twice.
    fn ask(&mut self, request: Request, question: Question, at: Timestamp) -> Result<(), Unreadable> {
        for event in decide(self.draft.session(), Command::Agent(AgentReport::Asked(question)))? {
            let event = match event {
                SessionEvent::PermissionAsked { turn, request: next, question } if request.0 < MAX_REQUEST => {
                    SessionEvent::PermissionAsked { turn, request: request.max(next), question }
                }
                other => other,
            };
            self.draft.push(event, at);
        }
        Ok(())
    }

    fn replay_words(
        &mut self,
        words: &str,
        at: Timestamp,
        report: impl Fn(String) -> AgentReport,
    ) -> Result<(), Unreadable> {
        let mut rest = words;
        while !rest.is_empty() {
            let (text, later) = rest.split_at(rest.floor_char_boundary(TEXT_PART_BYTES));
            self.act(Command::Agent(report(text.to_owned())), at)?;
            rest = later;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Unreadable> {
        let Meta { last_idle_at, last_observed_at, deleted_at, active_at, .. } = self.meta;
        // A session comes to rest with a turn's end or with its agent's failure; so if not the one, then the other.
        if let Some(failed_at) = last_idle_at.filter(|at| Some(*at) != self.last_ended_at) {
            self.act(Command::Agent(AgentReport::Failed { reason: REASON.to_owned() }), failed_at)?;
        }
        if self.draft.session().is_some_and(|session| session.row.agent_state == AgentState::Failed) {
            self.act(Command::Agent(AgentReport::Ready { attached: None }), active_at)?;
        }
        self.act(Command::Interrupt { reason: REASON.to_owned() }, active_at)?;
        for Click { block, meta_context, session, at } in std::mem::take(&mut self.meta.clicks).into_iter().rev() {
            if !self.offers.remove(&block) {
                return Err(Unreadable::NoOffer(block));
            }
            // Whose click it was is not in the copy.
            let by = Answerer::Person { token_id: None, name: String::new() };
            self.note(vec![note_click(block, meta_context, session, by)], at);
        }
        let removed = |id: &OutputId| !self.kept_outputs.keeps(*id);
        let ids: Vec<OutputId> = std::mem::take(&mut self.shown).into_iter().filter(removed).collect();
        // Why it went is not in the copy, nor who wanted it.
        self.act(Command::RemoveOutputs { ids, reason: OutputRemoval::Removed, by: None }, active_at)?;
        if let Some(observed_at) = last_observed_at {
            self.act(Command::Observe, observed_at)?;
        }
        self.file(Filing { pinned: Some(true), ..Filing::default() }, self.meta.pinned_at);
        // What was seen has been said above, so this is no command, which would say it again.
        self.file(Filing { archived: Some(true), ..Filing::default() }, self.meta.archived_at);
        if let Some(deleted_at) = deleted_at {
            self.act(Command::Delete, deleted_at)?;
        }
        Ok(())
    }

    fn file(&mut self, filing: Filing, at: Option<Timestamp>) {
        let changed =
            SessionEvent::SessionChanged { name: None, env_hint: None, agent: None, cwd: None, intent: None, filing };
        if let Some(at) = at {
            self.note(vec![changed], at);
        }
    }

    fn act(&mut self, command: Command, at: Timestamp) -> Result<(), Unreadable> {
        Ok(self.draft.apply(command, at)?)
    }

    fn note(&mut self, events: Vec<SessionEvent>, at: Timestamp) {
        events.into_iter().for_each(|event| self.draft.push(event, at));
    }
}

struct Line {
    number: u64,
    bytes: usize,
    turn: TranscriptTurn,
}

/// The turns of a transcript, a line at a time.
struct Lines {
    file: BufReader<std::fs::File>,
    format: u32,
    number: u64,
}

impl Lines {
    /// The next line. What a crash left after the last line end is none.
    fn next(&mut self) -> Result<Option<Line>, Unreadable> {
        self.number += 1;
        let line = self.number;
        let mut bytes = Vec::new();
        let limit = MAX_LINE_BYTES as u64 + 1;
        let read = self.file.by_ref().take(limit).read_until(b'\n', &mut bytes);
        let read = read.map_err(|source| Unreadable::Line { line, source })?;
        if bytes.last() != Some(&b'\n') {
            return if read as u64 == limit { Err(Unreadable::TooLong { line }) } else { Ok(None) };
        }
        match older_formats::read(self.format, &bytes) {
            Ok(turn) => Ok(Some(Line { number: line, bytes: read, turn })),
            Err(err) => Err(Unreadable::NoTurn { line, source: Some(err) }),
        }
    }
}
