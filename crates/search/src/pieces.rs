//! What is searched: a session's entries folded into pieces of text, each of which is found and shown by itself.
//!
//! Invariant: pure and deterministic; the same entries give the same pieces, however they are read. Whoever begins in
//! the middle of a turn first folds the turn's earlier entries and drops what they give; and whoever folds an entry gives it its
//! bodies first. Memory is bounded, whatever a
//! turn says: words leave in chunks, and of what a tool shows its beginning and its end are kept.

mod call;
mod words;

use model::{Entry, Seq, SessionEvent, SessionId, SummaryMaker, Timestamp, ToolChange, Turn};

use self::call::OpenCall;
use self::words::{Words, chunks};

/// How many calls of one turn may be open; the oldest is told as it stands when there are more.
const MAX_OPEN_CALLS: usize = 64;

/// What is searched: one piece of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Whose it is.
    pub session: SessionId,
    /// The turn it belongs to; zero for a title.
    pub turn: Turn,
    /// What it is of the turn.
    pub role: PieceRole,
    /// The number of the tool call, else of the chunk, from 0.
    pub number: u32,
    /// The entry in which it begins.
    pub first_seq: Seq,
    /// The entry with which it ended.
    pub last_seq: Seq,
    /// When it ended.
    pub at: Timestamp,
    /// The words.
    pub text: String,
    /// The tool's name and kind, or its title if it has no name.
    pub tool: Option<String>,
    /// The files it names.
    pub files: Vec<String>,
    /// How the call ended, if it did.
    pub outcome: Option<CallOutcome>,
    /// The exit code of its command.
    pub exit: Option<i32>,
}

/// What a piece is of its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the words say it")]
pub enum PieceRole {
    Prompt,
    Answer,
    Thought,
    Tool,
    Summary,
    Title,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallOutcome {
    /// It succeeded, and its command, if it ran one, ended with 0.
    Ok,
    /// It did not.
    Fail,
}

/// What the session was like when a piece of it was told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionAttributes {
    /// The session's project.
    pub project: String,
    /// The session's agent.
    pub agent: String,
}

/// The fold of one session.
#[derive(Debug, Clone)]
pub struct Pieces {
    session: SessionId,
    open: Option<OpenTurn>,
}

#[derive(Debug, Clone)]
struct OpenTurn {
    turn: Turn,
    answer: Words,
    thought: Words,
    calls: Vec<OpenCall>,
}

impl PieceRole {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Prompt, Self::Answer, Self::Thought, Self::Tool, Self::Summary, Self::Title];

    /// Its word, as filters and answers write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Thought => "thought",
            Self::Tool => "tool",
            Self::Summary => "summary",
            Self::Title => "title",
        }
    }
}

impl Pieces {
    /// The fold of a session from its first entry.
    pub fn new(session: SessionId) -> Self {
        Self { session, open: None }
    }

    /// The fold of a session in the middle of `turn`: the entries from a piece's `first_seq` to its `last_seq` give the
    /// piece again, at times with words around it.
    pub fn within(session: SessionId, turn: Turn) -> Self {
        Self { session, open: Some(OpenTurn::new(turn)) }
    }

    /// Folds in the session's next entry and gives the pieces that ended with it.
    pub fn apply(&mut self, entry: &Entry) -> Vec<Piece> {
        let mut done = Done { session: self.session, entry, pieces: Vec::new() };
        match &entry.event {
            SessionEvent::SessionCreated { name, .. } | SessionEvent::SessionChanged { name: Some(name), .. } => done.title(name),
            SessionEvent::TitleSet { title, .. } => done.title(title),
            SessionEvent::SummarySet { turn, summary, by: SummaryMaker::Model, .. } => {
                done.chunked(*turn, PieceRole::Summary, summary);
            }
            SessionEvent::TurnStarted { turn, .. } => {
                self.end_turn(&mut done);
                self.open = Some(OpenTurn::new(*turn));
            }
            SessionEvent::TurnEnded { .. } => self.end_turn(&mut done),
            SessionEvent::PromptSent { text, .. } => {
                if let Some(open) = &self.open {
                    done.chunked(open.turn, PieceRole::Prompt, text);
                }
            }
            SessionEvent::TextPart { turn, block, text } => {
                if let Some(open) = self.turn(*turn) {
                    let turn = open.turn;
                    open.answer.push(*block, text, entry.seq, |number, first, text| {
                        done.words(turn, PieceRole::Answer, number, first, text);
                    });
                }
            }
            SessionEvent::ThoughtPart { turn, block, text } => {
                if let Some(open) = self.turn(*turn) {
                    let turn = open.turn;
                    open.thought.push(*block, text, entry.seq, |number, first, text| {
                        done.words(turn, PieceRole::Thought, number, first, text);
                    });
                }
            }
            SessionEvent::ToolStarted { turn, tool, change, .. } => {
                if let Some(open) = self.turn(*turn) {
                    open.calls.push(OpenCall::begin(*tool, change, entry.seq));
                    if open.calls.len() > MAX_OPEN_CALLS {
                        let oldest = open.calls.remove(0);
                        done.call(open.turn, &oldest);
                    }
                }
            }
            SessionEvent::ToolChanged { turn, tool, change } => {
                if let Some(call) = self.turn(*turn).and_then(|open| open.find_call(*tool)) {
                    call.change(change);
                }
            }
            SessionEvent::ToolPart { turn, tool, text, body: _ } => {
                if let Some(call) = self.turn(*turn).and_then(|open| open.find_call(*tool)) {
                    call.add_text(text);
                }
            }
            SessionEvent::ToolEnded { turn, tool, change } => self.end_call(*turn, *tool, change, &mut done),
            SessionEvent::SessionChanged { name: None, .. }
            // Words of the turns themselves.
            | SessionEvent::SummarySet { by: SummaryMaker::Extract, .. }
            | SessionEvent::NextOffered { .. }
            | SessionEvent::NextClicked { .. }
            | SessionEvent::BlockShown { .. }
            | SessionEvent::OutputStored { .. }
            | SessionEvent::AppletShown { .. }
            | SessionEvent::AppletSaved { .. }
            | SessionEvent::OutputRemoved { .. }
            | SessionEvent::SessionImported { .. }
            | SessionEvent::SessionObserved {}
            | SessionEvent::SessionDeleted {}
            | SessionEvent::SessionRestored {}
            | SessionEvent::SessionForked { .. }
            | SessionEvent::AgentStateChanged { .. }
            | SessionEvent::AgentOptionsChanged { .. }
            | SessionEvent::AgentOptionChosen { .. }
            | SessionEvent::AgentCommandsChanged { .. }
            | SessionEvent::AgentRaw { .. }
            | SessionEvent::AgentNoticed { .. }
            | SessionEvent::PromptQueued { .. }
            | SessionEvent::PromptChanged { .. }
            | SessionEvent::PromptRemoved { .. }
            // Repeats what earlier turns said.
            | SessionEvent::ResumeSent { .. }
            | SessionEvent::PlanChanged { .. }
            | SessionEvent::PermissionAsked { .. }
            | SessionEvent::PermissionAnswered { .. }
            | SessionEvent::UsageReported { .. }
            | SessionEvent::CompactionSeen { .. }
            | SessionEvent::ContextSet { .. }
            | SessionEvent::FactProved { .. } => (),
        }
        done.pieces
    }

    /// Goes on behind an entry that could not be folded. What its turn had gathered is let go: it may be half changed.
    pub fn begin_again(&mut self) {
        self.open = self.open.take().map(|open| OpenTurn::new(open.turn));
    }

    /// The pieces of the running turn as far as they have come, as of an entry at `at`; they are told again when they
    /// end.
    pub fn open(&self, at: Timestamp) -> Vec<Piece> {
        let Some(open) = &self.open else { return Vec::new() };
        let mut pieces = Vec::new();
        for (words, role) in [(&open.answer, PieceRole::Answer), (&open.thought, PieceRole::Thought)] {
            if let Some((number, first, last, text)) = words.so_far() {
                pieces.push(piece_of(self.session, open.turn, role, number, (first, last), at, text.to_owned()));
            }
        }
        for call in &open.calls {
            pieces.push(call.piece(self.session, open.turn, call.first_seq(), at));
        }
        pieces
    }

    fn turn(&mut self, turn: Turn) -> Option<&mut OpenTurn> {
        self.open.as_mut().filter(|open| open.turn == turn)
    }

    fn end_call(&mut self, turn: Turn, tool: u32, change: &ToolChange, done: &mut Done<'_>) {
        let Some(open) = self.turn(turn) else { return };
        let Some(at) = open.calls.iter().position(|call| call.tool() == tool) else { return };
        let mut call = open.calls.remove(at);
        call.change(change);
        done.call(turn, &call);
    }

    /// What is left of the turn: its last words, and calls that it cut off.
    fn end_turn(&mut self, done: &mut Done<'_>) {
        let Some(open) = self.open.take() else { return };
        for (words, role) in [(&open.answer, PieceRole::Answer), (&open.thought, PieceRole::Thought)] {
            if let Some((number, first, _, text)) = words.so_far() {
                done.words(open.turn, role, number, first, text.to_owned());
            }
        }
        for call in &open.calls {
            done.call(open.turn, call);
        }
    }
}

impl OpenTurn {
    fn new(turn: Turn) -> Self {
        Self { turn, answer: Words::default(), thought: Words::default(), calls: Vec::new() }
    }

    fn find_call(&mut self, tool: u32) -> Option<&mut OpenCall> {
        self.calls.iter_mut().find(|call| call.tool() == tool)
    }
}

/// What ended with an entry.
struct Done<'a> {
    session: SessionId,
    entry: &'a Entry,
    pieces: Vec<Piece>,
}

impl Done<'_> {
    fn title(&mut self, title: &str) {
        self.chunked(Turn(0), PieceRole::Title, title);
    }

    fn chunked(&mut self, turn: Turn, role: PieceRole, text: &str) {
        for (number, chunk) in (0..).zip(chunks(text)) {
            self.words(turn, role, number, self.entry.seq, chunk.to_owned());
        }
    }

    fn words(&mut self, turn: Turn, role: PieceRole, number: u32, first: Seq, text: String) {
        if !text.trim().is_empty() {
            let seqs = (first, self.entry.seq);
            self.pieces.push(piece_of(self.session, turn, role, number, seqs, self.entry.at, text));
        }
    }

    fn call(&mut self, turn: Turn, call: &OpenCall) {
        self.pieces.push(call.piece(self.session, turn, self.entry.seq, self.entry.at));
    }
}

fn piece_of(
    session: SessionId,
    turn: Turn,
    role: PieceRole,
    number: u32,
    (first_seq, last_seq): (Seq, Seq),
    at: Timestamp,
    text: String,
) -> Piece {
    let (tool, files, outcome, exit) = (None, Vec::new(), None, None);
    Piece { session, turn, role, number, first_seq, last_seq, at, text, tool, files, outcome, exit }
}

#[cfg(test)]
mod tests;
