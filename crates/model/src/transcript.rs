//! What a reader sees of a session: its turns, each with the prompt and what the agent said and did, in order, and what
//! it asked between them.
//!
//! Invariant: live view and replay call the same [`Transcript::apply`]; folding a prefix and then the rest equals
//! folding all. The page folds the same way in `web/src/state/transcript.ts`; `fixtures/transcripts/` holds both to it.

use serde::{Deserialize, Serialize};

use crate::{
    Author, Card, Entry, Image, InteractionId, Next, Notice, Outcome, Output, OutputRemoval, PermissionAnswer,
    PlanStep, Question, Request, SessionEvent, SessionId, Span, Timestamp, ToolCall, ToolStatus, Turn, Usage,
};

/// The turns of a session, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// Oldest first.
    pub turns: Vec<TranscriptTurn>,
    /// Whom the session talks to.
    pub agent: Option<String>,
    /// Oldest first.
    pub hand_overs: Vec<HandOver>,
    /// What was asked while no turn ran, oldest first.
    pub asides: Vec<Aside>,
    /// Sessions that go on from a turn of this one, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forks: Vec<ForkedInto>,
}

/// Another session was begun from a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedInto {
    /// The newest turn then; 0 before the first.
    pub after: Turn,
    /// The turn that it goes on from; 0 is the session's beginning.
    pub turn: Turn,
    /// Which session.
    pub session: SessionId,
}

/// A question that belongs to no turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aside {
    /// The newest turn then; 0 before the first.
    pub after: Turn,
    /// What was asked, and what became of it.
    #[serde(flatten)]
    pub permission: Permission,
}

/// The session went from one agent to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandOver {
    /// The newest turn then; 0 before the first.
    pub after: Turn,
    /// Who had it.
    pub from: String,
    /// Who has it.
    pub to: String,
}

/// One turn as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptTurn {
    /// Its number.
    pub turn: Turn,
    /// Its prompt's id.
    pub interaction_id: InteractionId,
    /// Who wrote the prompt.
    #[serde(default)]
    pub by: Author,
    /// The words.
    pub prompt: String,
    /// Pictures that went with them.
    pub images: Vec<Image>,
    /// The resume packet that the agent was sent ahead of the prompt.
    pub resume: Option<String>,
    /// What the agent said and did, each where it began.
    pub items: Vec<Item>,
    /// Which of its words are shown as more than words, in their order.
    #[serde(default)]
    pub blocks: Vec<Block>,
    /// How full the agent's window was at last.
    pub usage: Option<Usage>,
    /// How it ended; `None` while it runs.
    pub outcome: Option<Outcome>,
    /// Why it ended so, where there is more to say.
    pub reason: Option<String>,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// Something in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "named after what they hold")]
pub enum Item {
    Text {
        block: u32,
        text: String,
    },
    Thought {
        block: u32,
        text: String,
    },
    Tool(ToolCall),
    Plan {
        steps: Vec<PlanStep>,
    },
    Permission(Permission),
    Notice(Notice),
    Output {
        output: Output,
        /// It is not kept any more, for this reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        removed: Option<OutputRemoval>,
    },
    Compaction {
        summary: Option<String>,
    },
}

/// Words that are shown as more than words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Its number among those of its sort, from 1.
    pub nth: u32,
    /// Which words.
    #[serde(flatten)]
    pub span: Span,
    /// What they are shown as.
    pub shown: Shown,
}

/// What words are shown as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// A step to be taken.
    Next(Next),
    /// Something to be looked at.
    Card(Card),
}

/// What live words belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WordsOf {
    /// A block of the answer.
    Text,
    /// A block of its thoughts.
    Thought,
    /// What a tool call shows.
    Tool,
}

/// What was asked, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permission {
    /// Its number.
    pub request: Request,
    /// What was asked.
    #[serde(flatten)]
    pub question: Question,
    /// `None` while nobody has answered.
    pub answer: Option<PermissionAnswer>,
}

impl Transcript {
    /// Folds in the next entry of the session.
    pub fn apply(&mut self, entry: &Entry) {
        match &entry.event {
            SessionEvent::TurnStarted { turn, interaction_id } => {
                self.turns.push(TranscriptTurn::begin(*turn, *interaction_id, entry.at));
            }
            SessionEvent::TurnEnded { stop, .. } => {
                if let Some(turn) = self.turn_of(&entry.event) {
                    turn.outcome = Some(stop.outcome);
                    turn.reason.clone_from(&stop.reason);
                    turn.ended_at = Some(entry.at);
                    turn.cut_off_calls();
                }
            }
            SessionEvent::SessionCreated { agent, .. } => self.agent = Some(agent.clone()),
            SessionEvent::SessionChanged { agent: Some(to), .. } => {
                if let Some(from) = self.agent.replace(to.clone()) {
                    let after = self.newest();
                    self.hand_overs.push(HandOver { after, from, to: to.clone() });
                }
            }
            SessionEvent::SessionForked { turn, session, .. } => {
                self.forks.push(ForkedInto { after: self.newest(), turn: *turn, session: *session });
            }
            SessionEvent::PermissionAsked { turn: None, request, question } => {
                let (after, request, question) = (self.newest(), *request, question.clone());
                self.asides.push(Aside { after, permission: Permission { request, question, answer: None } });
            }
            // Also while a later turn runs.
            SessionEvent::PermissionAnswered { turn: None, request, answer } => {
                let mut asides = self.asides.iter_mut().rev().map(|aside| &mut aside.permission);
                if let Some(asked) = asides.find(|asked| asked.request == *request) {
                    asked.answer = Some(answer.clone());
                }
            }
            // Also one of a turn that is long over.
            SessionEvent::OutputRemoved { id, reason, .. } => {
                for item in self.turns.iter_mut().flat_map(|turn| &mut turn.items) {
                    if let Item::Output { output, removed } = item
                        && output.id == *id
                    {
                        *removed = Some(*reason);
                    }
                }
            }
            event => {
                if let Some(turn) = self.turn_of(event) {
                    turn.apply(event);
                }
            }
        }
    }

    fn newest(&self) -> Turn {
        self.turns.last().map_or(Turn(0), |last| last.turn)
    }

    /// The newest turn, if the event belongs to it; an event that names no turn belongs to the one that runs.
    fn turn_of(&mut self, event: &SessionEvent) -> Option<&mut TranscriptTurn> {
        self.turns.last_mut().filter(|last| match event.turn() {
            Some(turn) => last.turn == turn,
            None => last.outcome.is_none(),
        })
    }
}

impl TranscriptTurn {
    /// A turn without any words or calls yet.
    pub fn begin(turn: Turn, interaction_id: InteractionId, started_at: Timestamp) -> Self {
        Self {
            turn,
            interaction_id,
            by: Author::default(),
            prompt: String::new(),
            images: Vec::new(),
            resume: None,
            items: Vec::new(),
            blocks: Vec::new(),
            usage: None,
            outcome: None,
            reason: None,
            started_at,
            ended_at: None,
        }
    }

    fn apply(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::PromptSent { interaction_id: _, text, images, by } => {
                self.by.clone_from(by);
                self.prompt.clone_from(text);
                self.images.clone_from(images);
            }
            SessionEvent::ResumeSent { text, .. } => self.resume = Some(text.clone()),
            SessionEvent::TextPart { block, text, .. } => {
                let open = self.items.iter_mut().rev().find_map(|item| match item {
                    Item::Text { block: open, text } if open == block => Some(text),
                    _ => None,
                });
                match open {
                    Some(words) => words.push_str(text),
                    None => self.items.push(Item::Text { block: *block, text: text.clone() }),
                }
            }
            SessionEvent::ThoughtPart { block, text, .. } => {
                let open = self.items.iter_mut().rev().find_map(|item| match item {
                    Item::Thought { block: open, text } if open == block => Some(text),
                    _ => None,
                });
                match open {
                    Some(words) => words.push_str(text),
                    None => self.items.push(Item::Thought { block: *block, text: text.clone() }),
                }
            }
            SessionEvent::ToolStarted { tool, call_id, change, .. } => {
                self.items.push(Item::Tool(ToolCall::begin(*tool, call_id.clone(), change)));
            }
            SessionEvent::ToolChanged { tool, change, .. } | SessionEvent::ToolEnded { tool, change, .. } => {
                if let Some(call) = self.find_call(*tool) {
                    call.change(change);
                }
            }
            SessionEvent::ToolPart { tool, text, body, .. } => {
                if let Some(call) = self.find_call(*tool) {
                    call.add_part(text, body.as_ref());
                }
            }
            SessionEvent::PlanChanged { steps, .. } => {
                let open = self.items.iter_mut().find_map(|item| match item {
                    Item::Plan { steps } => Some(steps),
                    _ => None,
                });
                match open {
                    Some(open) => open.clone_from(steps),
                    None => self.items.push(Item::Plan { steps: steps.clone() }),
                }
            }
            SessionEvent::PermissionAsked { request, question, .. } => {
                let (request, question) = (*request, question.clone());
                self.items.push(Item::Permission(Permission { request, question, answer: None }));
            }
            SessionEvent::PermissionAnswered { request, answer, .. } => {
                let asked = self.items.iter_mut().rev().find_map(|item| match item {
                    Item::Permission(asked) if asked.request == *request => Some(asked),
                    _ => None,
                });
                if let Some(asked) = asked {
                    asked.answer = Some(answer.clone());
                }
            }
            SessionEvent::NextOffered { nth, span, next, .. } => {
                self.blocks.push(Block { nth: *nth, span: *span, shown: Shown::Next(next.clone()) });
            }
            SessionEvent::BlockShown { nth, span, card, .. } => {
                self.blocks.push(Block { nth: *nth, span: *span, shown: Shown::Card(card.clone()) });
            }
            SessionEvent::UsageReported { usage } => self.usage = Some(usage.clone()),
            SessionEvent::AgentNoticed { notice } => self.items.push(Item::Notice(notice.clone())),
            SessionEvent::OutputStored { output, .. } => {
                self.items.push(Item::Output { output: output.clone(), removed: None });
            }
            SessionEvent::CompactionSeen { summary, remind: _ } => {
                self.items.push(Item::Compaction { summary: summary.clone() });
            }
            SessionEvent::TurnStarted { .. }
            | SessionEvent::TurnEnded { .. }
            | SessionEvent::SessionCreated { .. }
            | SessionEvent::SessionChanged { .. }
            | SessionEvent::SessionObserved {}
            | SessionEvent::SessionDeleted {}
            | SessionEvent::SessionRestored {}
            | SessionEvent::AgentStateChanged { .. }
            | SessionEvent::AgentOptionsChanged { .. }
            | SessionEvent::AgentOptionChosen { .. }
            | SessionEvent::AgentCommandsChanged { .. }
            | SessionEvent::AgentRaw { .. }
            | SessionEvent::PromptQueued { .. }
            | SessionEvent::PromptChanged { .. }
            | SessionEvent::PromptRemoved { .. }
            | SessionEvent::ContextSet { .. }
            | SessionEvent::FactProved { .. }
            | SessionEvent::TitleSet { .. }
            | SessionEvent::SummarySet { .. }
            | SessionEvent::SessionImported { .. }
            | SessionEvent::SessionForked { .. }
            // The output beside it is the item.
            | SessionEvent::AppletShown { .. }
            | SessionEvent::AppletSaved { .. }
            // Of whichever turn, it is folded above.
            | SessionEvent::OutputRemoved { .. }
            | SessionEvent::NextClicked { .. } => (),
        }
    }

    fn find_call(&mut self, tool: u32) -> Option<&mut ToolCall> {
        self.items.iter_mut().rev().find_map(|item| match item {
            Item::Tool(call) if call.tool == tool => Some(call),
            _ => None,
        })
    }

    fn cut_off_calls(&mut self) {
        for item in &mut self.items {
            if let Item::Tool(call) = item
                && !call.status.is_final()
            {
                call.status = ToolStatus::Cancelled;
            }
        }
    }

    /// What the agent said, without what it thought and did.
    pub fn answer(&self) -> String {
        let texts = self.items.iter().filter_map(|item| match item {
            Item::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// The calls of its tools.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.items.iter().filter_map(|item| match item {
            Item::Tool(call) => Some(call),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[derive(Deserialize)]
    struct Fixture {
        name: String,
        entries: Vec<Entry>,
        transcript: Transcript,
    }

    /// The same files that the page's tests fold.
    #[test]
    fn the_shared_fixtures_fold_as_they_say() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/transcripts");
        let files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(files.len() >= 14, "only {} fixtures in {folder}", files.len());
        for file in files {
            let fixture: Fixture = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
            let mut folded = Transcript::default();
            fixture.entries.iter().for_each(|entry| folded.apply(entry));
            assert_eq!(folded, fixture.transcript, "{} ({})", fixture.name, file.display());
        }
    }

    /// Folding a prefix and then the rest marks the card too, whichever turn runs by then.
    #[test]
    fn an_output_of_an_earlier_turn_is_marked_while_another_runs() {
        let read = |text: &str| serde_json::from_str::<Entry>(text).unwrap();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/transcripts");
        let shown = fs::read(format!("{folder}/outputs-where-they-were-shown.json")).unwrap();
        let mut folded = serde_json::from_slice::<Fixture>(&shown).unwrap().transcript;
        folded.apply(&read(
            r#"{"seq":11,"at":"2026-01-02T03:05:00.000Z","type":"turn.started","data":{"turn":2,"interactionId":"0190a8c0-0000-7000-8000-0000000000a2"}}"#,
        ));
        folded.apply(&read(
            r#"{"seq":12,"at":"2026-01-02T03:05:01.000Z","type":"output.removed","data":{"id":"out_0123456789abcdef0123456789abcdef","reason":"pruned"}}"#,
        ));
        let marks = folded.turns[0].items.iter().filter_map(|item| match item {
            Item::Output { removed, .. } => Some(*removed),
            _ => None,
        });
        assert!(marks.eq([Some(OutputRemoval::Pruned), None]));
        assert!(folded.turns[1].items.is_empty());
    }
}
