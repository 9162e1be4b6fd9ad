//! Builds whole turns from consecutive records, and emits them.
//!
//! Invariant: a turn is held back until it has ended; then it is emitted from its prompt to its end, with the
//! bookmark after it. What is emitted depends on the records alone, not on how many were read at a time.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use model::{
    AgentReport, Cost, Image, MAX_PROMPT_BYTES, Notice, Outcome, PlanStep, Stop, Timestamp, ToolChange, ToolContent,
    TurnUsage, Usage, UsedTokens,
};

use super::bookmark::{self, BookmarkContent, RecordPosition, TitleMark};
use super::{Bookmark, Conversation, HistoryItem, HistoryLimits, LastTurn, Reading, SkippedRecords};
use crate::acp::{cut_chars, start_of};

/// How many calls of a turn are emitted.
const MAX_CALLS: usize = 10_000;
const MAX_TITLE_CHARS: usize = 200;
/// How many answers of models are counted in a turn.
const MAX_ANSWERS: usize = 20_000;

pub(super) struct TurnBuilder<'a> {
    limits: &'a HistoryLimits,
    sink: &'a mut dyn FnMut(HistoryItem) -> ControlFlow<()>,
    /// The bookmark after the last turn that was emitted.
    bookmark: BookmarkContent,
    /// The last title that a record gave.
    title: TitleMark,
    header: ConversationHeader,
    /// A title that came while no turn was open.
    pending_title: Option<(Timestamp, String)>,
    turn: Option<Turn>,
    turns: u64,
    is_over: bool,
    skipped: BTreeMap<&'static str, u64>,
}

/// What is known of the conversation before its first turn is emitted.
#[derive(Debug, Default)]
pub(super) struct ConversationHeader {
    pub(super) cwd: Option<String>,
    pub(super) created_at: Option<Timestamp>,
    pub(super) model: Option<String>,
    pub(super) version: Option<String>,
    title: Option<String>,
}

#[derive(Debug)]
struct Turn {
    items: Vec<HistoryItem>,
    bytes: usize,
    last_at: Timestamp,
    next_block: u32,
    calls: HashMap<String, OpenCall>,
    open_calls: usize,
    usage: Option<Usage>,
    /// What each answer of a model used, by the record's own name of the answer.
    counted: BTreeMap<String, Counted>,
    stop: Option<Stop>,
    is_answered: bool,
}

/// What one answer of a model used.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) model: Option<String>,
    pub(super) tokens: UsedTokens,
    /// In dollars, where the record says that.
    pub(super) cost: f64,
}

#[derive(Debug)]
struct OpenCall {
    /// The index of its start among the turn's items.
    started: usize,
    tool: u32,
    is_open: bool,
}

/// Who chose a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TitledBy {
    Person,
    Tool,
}

impl<'a> TurnBuilder<'a> {
    pub(super) fn new(
        after: BookmarkContent,
        limits: &'a HistoryLimits,
        sink: &'a mut dyn FnMut(HistoryItem) -> ControlFlow<()>,
    ) -> Self {
        Self {
            limits,
            sink,
            title: after.title,
            bookmark: after,
            header: ConversationHeader::default(),
            pending_title: None,
            turn: None,
            turns: 0,
            is_over: false,
            skipped: BTreeMap::new(),
        }
    }

    pub(super) fn limits(&self) -> &'a HistoryLimits {
        self.limits
    }

    /// Where the reading begins.
    pub(super) fn position(&self) -> &RecordPosition {
        &self.bookmark.position
    }

    /// Whether the sink wants no more.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The header of the conversation, which is emitted with the first turn.
    pub(super) fn header(&mut self) -> &mut ConversationHeader {
        &mut self.header
    }

    /// Counts a record that is left out.
    pub(super) fn skip(&mut self, what: &'static str) {
        *self.skipped.entry(what).or_default() += 1;
    }

    /// Adds a prompt, which ends the turn before it. `position` is the one before the prompt's record.
    pub(super) fn prompt(&mut self, at: Timestamp, text: String, images: Vec<Image>, position: RecordPosition) {
        self.end_turn(position, Outcome::Completed);
        self.header.created_at.get_or_insert(at);
        let mut text = text;
        if text.len() > MAX_PROMPT_BYTES {
            const CUT: &str = "\n[cut]";
            text = start_of(&text, MAX_PROMPT_BYTES - CUT.len()).to_owned() + CUT;
        }
        let bytes = text.len();
        let items = vec![HistoryItem::Prompt { at, text, images }];
        let mut turn = Turn {
            items,
            bytes,
            last_at: at,
            next_block: 0,
            calls: HashMap::new(),
            open_calls: 0,
            usage: None,
            counted: BTreeMap::new(),
            stop: None,
            is_answered: false,
        };
        if let Some((at, title)) = self.pending_title.take() {
            turn.items.push(HistoryItem::Report { at, report: AgentReport::Title(title) });
        }
        self.turn = Some(turn);
    }

    pub(super) fn text(&mut self, at: Timestamp, text: String) {
        self.chunk(at, text, |block, text| AgentReport::Text { block, text });
    }

    pub(super) fn thought(&mut self, at: Timestamp, text: String) {
        self.chunk(at, text, |block, text| AgentReport::Thought { block, text });
    }

    fn chunk(&mut self, at: Timestamp, text: String, report: fn(u32, String) -> AgentReport) {
        if text.trim().is_empty() {
            return;
        }
        let max = self.limits.turn_bytes;
        let Some(turn) = self.open() else { return };
        if turn.bytes + text.len() > max {
            return self.skip("beyond the size of a turn");
        }
        turn.bytes += text.len();
        turn.set_running();
        let block = turn.next_block;
        turn.next_block += 1;
        turn.report(at, report(block, text));
    }

    /// Adds the start of a call.
    pub(super) fn call(&mut self, at: Timestamp, call_id: &str, change: ToolChange) {
        let max = self.limits.turn_bytes;
        let Some(turn) = self.open() else { return };
        let bytes = call_bytes(&change);
        if turn.calls.contains_key(call_id) {
            return self.skip("a call told twice");
        }
        if turn.calls.len() == MAX_CALLS || turn.bytes + bytes > max {
            return self.skip("beyond the size of a turn");
        }
        turn.bytes += bytes;
        turn.set_running();
        turn.open_calls += 1;
        let tool = u32::try_from(turn.calls.len() + 1).unwrap_or(u32::MAX);
        turn.calls.insert(call_id.to_owned(), OpenCall { started: turn.items.len(), tool, is_open: true });
        turn.report(at, AgentReport::ToolStarted { tool, call_id: call_id.to_owned(), change });
    }

    /// The start of a call that has not ended.
    pub(super) fn find_call(&self, call_id: &str) -> Option<&ToolChange> {
        let turn = self.turn.as_ref()?;
        let call = turn.calls.get(call_id).filter(|call| call.is_open)?;
        match &turn.items[call.started] {
            HistoryItem::Report { report: AgentReport::ToolStarted { change, .. }, .. } => Some(change),
            _ => None,
        }
    }

    /// Whether the call began in this turn, ended or not.
    pub(super) fn knows_call(&self, call_id: &str) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.calls.contains_key(call_id))
    }

    /// Adds a change of a call; a final status ends it.
    pub(super) fn change_call(&mut self, at: Timestamp, call_id: &str, mut change: ToolChange) {
        let max = self.limits.turn_bytes;
        let Some(turn) = self.turn.as_mut() else { return self.skip("a result without its call") };
        let Some(call) = turn.calls.get_mut(call_id).filter(|call| call.is_open) else {
            return self.skip("a result without its call");
        };
        let bytes = call_bytes(&change);
        if turn.bytes + bytes > max {
            change.content = Some(vec![ToolContent::Omitted { bytes: bytes as u64 }]);
            change.input = None;
            change.output = None;
        } else {
            turn.bytes += bytes;
        }
        if change.status.is_some_and(model::ToolStatus::is_final) {
            call.is_open = false;
            turn.open_calls -= 1;
        }
        let tool = call.tool;
        turn.report(at, AgentReport::ToolChanged { tool, change });
    }

    pub(super) fn plan(&mut self, at: Timestamp, steps: Vec<PlanStep>) {
        if let Some(turn) = self.open() {
            turn.set_running();
            turn.report(at, AgentReport::Plan(steps));
        }
    }

    /// Sets how full the context window is; emitted once a turn, at its end.
    pub(super) fn usage(&mut self, usage: Usage) {
        if let Some(turn) = self.turn.as_mut() {
            turn.usage = Some(usage);
        }
    }

    /// Counts what one answer of a model used. Records tell of an answer more than once, as it grows: a later count under the
    /// same key takes the place of an earlier one. Without a key the answer is told of once.
    pub(super) fn count(&mut self, key: Option<&str>, counted: Counted) {
        let Some(turn) = self.turn.as_mut() else { return };
        if turn.counted.len() == MAX_ANSWERS {
            return self.skip("beyond the size of a turn");
        }
        let key = key.map_or_else(|| format!("#{}", turn.counted.len()), str::to_owned);
        turn.counted.insert(key, counted);
    }

    /// Whether the agent has said or done anything in the open turn.
    pub(super) fn is_answered(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.is_answered)
    }

    pub(super) fn notice(&mut self, at: Timestamp, notice: Notice) {
        if let Some(turn) = self.open() {
            turn.report(at, AgentReport::Noticed(notice));
        }
    }

    pub(super) fn compacted(&mut self, at: Timestamp, summary: Option<String>) {
        if let Some(turn) = self.open() {
            turn.report(at, AgentReport::Compacted { summary });
        }
    }

    /// Adds a title that holds from now on.
    pub(super) fn title(&mut self, at: Option<Timestamp>, title: &str, by: TitledBy) {
        let title = cut_chars(title.trim().to_owned(), MAX_TITLE_CHARS);
        let hash = bookmark::hash(title.as_bytes());
        let is_chosen = by == TitledBy::Person;
        if title.is_empty() || (self.title.is_chosen && !is_chosen) {
            return;
        }
        let is_known = self.title.hash == hash;
        self.title = TitleMark { hash, is_chosen };
        if is_known {
            return;
        }
        if let Some(turn) = &mut self.turn {
            let at = at.unwrap_or(turn.last_at);
            turn.report(at, AgentReport::Title(title));
        } else if self.bookmark.position == RecordPosition::Start {
            self.header.title = Some(title);
        } else {
            self.pending_title = Some((at.unwrap_or(Timestamp::from_millis(0)), title));
        }
    }

    /// The record says how the turn ended. What follows without a new prompt still belongs to this turn.
    pub(super) fn stopped(&mut self, at: Timestamp, outcome: Outcome, reason: Option<String>) {
        if let Some(turn) = &mut self.turn {
            turn.last_at = turn.last_at.max(at);
            turn.stop = Some(Stop { outcome, reason });
        }
    }

    /// There are no more records; `position` is the one after the last.
    pub(super) fn end(&mut self, position: RecordPosition, last_turn: LastTurn) {
        let has_ended = self.turn.as_ref().is_some_and(|turn| turn.stop.is_some());
        match last_turn {
            LastTurn::Wait => (),
            LastTurn::IfEnded if !has_ended => (),
            LastTurn::IfEnded | LastTurn::Emit => self.end_turn(position, Outcome::Interrupted),
        }
    }

    pub(super) fn finish(self) -> Reading {
        let skipped = self.skipped.into_iter().map(|(what, count)| SkippedRecords { what, count }).collect();
        Reading {
            bookmark: Bookmark::new(&self.bookmark),
            turns: self.turns,
            is_open: self.turn.is_some() && !self.is_over,
            skipped,
        }
    }

    fn open(&mut self) -> Option<&mut Turn> {
        if self.turn.is_none() {
            self.skip("outside of a turn");
        }
        self.turn.as_mut()
    }

    /// Emits the open turn. `otherwise` is its outcome if the record has none and nothing seems to be missing.
    fn end_turn(&mut self, position: RecordPosition, otherwise: Outcome) {
        let Some(mut turn) = self.turn.take() else { return };
        if self.is_over {
            return;
        }
        let used = turn.used();
        if turn.usage.is_some() || used.is_some() {
            let window = turn.usage.take().unwrap_or(Usage::window(0, 0));
            turn.report(turn.last_at, AgentReport::Usage(Usage { turn: used, ..window }));
        }
        let stop = turn.stop.unwrap_or_else(|| {
            let is_whole = turn.is_answered && turn.open_calls == 0;
            Stop { outcome: if is_whole { otherwise } else { Outcome::Interrupted }, reason: None }
        });
        if self.bookmark.position == RecordPosition::Start {
            let header = std::mem::take(&mut self.header);
            let about = Conversation {
                cwd: header.cwd.unwrap_or_default(),
                title: header.title,
                created_at: header.created_at.unwrap_or(turn.last_at),
                model: header.model,
                version: header.version,
            };
            self.emit(HistoryItem::Session(about));
        }
        for item in turn.items {
            self.emit(item);
        }
        if self.is_over {
            return;
        }
        self.bookmark = BookmarkContent { position, title: self.title };
        self.turns += 1;
        self.emit(HistoryItem::TurnEnd { at: turn.last_at, stop, bookmark: Bookmark::new(&self.bookmark) });
    }

    fn emit(&mut self, item: HistoryItem) {
        self.is_over = self.is_over || (self.sink)(item).is_break();
    }
}

impl Turn {
    /// The agent does something, so the turn has not ended, whatever a record said before.
    fn set_running(&mut self) {
        self.is_answered = true;
        self.stop = None;
    }

    /// What its answers used together.
    fn used(&self) -> Option<TurnUsage> {
        let mut used = TurnUsage::default();
        for Counted { model, tokens, .. } in self.counted.values() {
            used.add(model.as_deref(), *tokens);
        }
        let cost: f64 = self.counted.values().map(|counted| counted.cost).filter(|cost| *cost > 0.0).sum();
        used.cost = (cost > 0.0).then(|| Cost { amount: cost.to_string(), currency: "USD".to_owned() });
        used.finished()
    }

    fn report(&mut self, at: Timestamp, report: AgentReport) {
        self.last_at = self.last_at.max(at);
        self.items.push(HistoryItem::Report { at, report });
    }
}

/// About how many bytes a change holds.
fn call_bytes(change: &ToolChange) -> usize {
    let shown = change.content.iter().flatten().map(|content| match content {
        ToolContent::Text { text } => text.len(),
        ToolContent::Image { data, .. } => data.len(),
        ToolContent::Link { uri, name } => uri.len() + name.len(),
        ToolContent::Diff { old_text, new_text, .. } => old_text.as_ref().map_or(0, String::len) + new_text.len(),
        ToolContent::Terminal { command, output, .. } => command.len() + output.len(),
        ToolContent::Omitted { .. } | ToolContent::Raw { .. } => 64,
    });
    let given = [&change.input, &change.output].into_iter().flatten().map(value_bytes);
    shown.chain(given).sum::<usize>() + 256
}

fn value_bytes(value: &serde_json::Value) -> usize {
    use serde_json::Value;
    match value {
        Value::String(text) => text.len() + 24,
        Value::Array(items) => items.iter().map(value_bytes).sum::<usize>() + 24,
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + value_bytes(value) + 48).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 24,
    }
}
