//! What was reported of one call, and what a message adds to it.

use std::hash::{BuildHasher as _, RandomState};

use agent_client_protocol::v1::schema::{
    ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind as AcpToolKind,
};
use model::{AgentReport, Location, MAX_PATH_BYTES, ToolChange, ToolContent, ToolKind, ToolStatus, json_bytes};
use serde::Serialize;
use serde_json::Value;

use super::KnownCall;
use super::own_terminal::{OwnTerminal, WithOwn};
use super::shown::{ContentChange, ContentHashes};
use crate::acp::translate::content::{self, MAX_KEPT_BYTES, TerminalOutputs, TerminalPart, shows_terminal};
use crate::acp::translate::input_digest::{InputDigest, input_of};
use crate::acp::translate::question::{plain_title, shown_text, subject};
use crate::acp::translate::text::cut_chars;
use crate::acp::translate::{MAX_CALL_TITLE_CHARS, MAX_LISTED, MAX_TITLE_CHARS};

/// How many bytes of content may be reported before a call ends, counting each repetition; beyond that content waits
/// for the end.
const MAX_RESENT_BYTES: usize = 1 << 20;
/// Longest input that is kept for a question, in bytes.
const MAX_INPUT_AT_HAND: usize = 16 << 10;

#[derive(Debug, Default)]
pub(super) struct SentCall {
    kind: ToolKind,
    status: ToolStatus,
    title: Option<u64>,
    name: Option<u64>,
    locations: Option<u64>,
    input: Option<u64>,
    output: Option<u64>,
    shown: ContentHashes,
    sent_bytes: usize,
    held_back: HeldBack,
    /// The content items, if one of them is a terminal that may print more.
    terminal_items: Option<Vec<Value>>,
    own_terminal: Option<OwnTerminal>,
    title_at_hand: String,
    subject_at_hand: Option<String>,
    name_at_hand: Option<String>,
    input_at_hand: Option<Value>,
    /// The text that the call shows, while its input is not known: some agents send the input there first.
    shown_at_hand: Option<String>,
    input_digest: InputDigest,
}

/// Values that are held back until the call ends.
#[derive(Debug, Default)]
struct HeldBack {
    content: Option<Vec<ToolContent>>,
    input: Option<Value>,
    output: Option<Value>,
}

/// What to report of a call.
#[derive(Debug, Default)]
pub(super) struct CallUpdate {
    growth: Option<String>,
    change: ToolChange,
}

impl CallUpdate {
    /// The reports of a new call. If it has ended already, the end is a report of its own, so that each call that
    /// ends has one.
    pub(super) fn start(mut self, tool: u32, call_id: String) -> Vec<AgentReport> {
        let end = self.change.status.take_if(|status| status.is_final());
        let mut reports = vec![AgentReport::ToolStarted { tool, call_id, change: self.change }];
        if end.is_some() {
            let change = ToolChange { status: end, ..ToolChange::default() };
            reports.push(AgentReport::ToolChanged { tool, change });
        }
        reports
    }

    /// The reports of a call that was reported before.
    pub(super) fn change(self, tool: u32) -> Vec<AgentReport> {
        let growth = self.growth.map(|text| AgentReport::ToolText { tool, text });
        let change = Some(self.change).filter(|change| *change != ToolChange::default());
        growth.into_iter().chain(change.map(|change| AgentReport::ToolChanged { tool, change })).collect()
    }
}

/// The context in which a message is handled.
#[derive(Clone, Copy)]
pub(super) struct CallContext<'a> {
    pub(super) hasher: &'a RandomState,
    pub(super) terminals: &'a dyn TerminalOutputs,
    /// There is room to hold back values until the call's end.
    pub(super) may_hold_back: bool,
}

impl SentCall {
    /// Whether no end of the call was reported.
    pub(super) fn is_open(&self) -> bool {
        !self.status.is_final()
    }

    pub(super) fn message(
        &mut self,
        update: ToolCallUpdate,
        items: Option<Vec<Value>>,
        context: CallContext<'_>,
    ) -> CallUpdate {
        let fields = update.fields;
        self.keep_for_questions(&fields, items.as_deref());
        if let Some(meta) = &update.meta {
            let command = self.subject_at_hand.as_ref().unwrap_or(&self.title_at_hand);
            OwnTerminal::hear(&mut self.own_terminal, meta, command, context.may_hold_back);
        }
        let mut news = CallUpdate::default();
        // A call that has ended does not begin again.
        let status = fields.status.map(status).filter(|status| status.is_final() || !self.status.is_final());
        news.change.status = status.filter(|status| *status != self.status);
        self.status = status.unwrap_or(self.status);
        news.change.kind = fields.kind.map(kind).filter(|kind| *kind != self.kind);
        self.kind = news.change.kind.unwrap_or(self.kind);
        let title = fields.title.map(|title| cut_chars(plain_title(title), MAX_CALL_TITLE_CHARS));
        news.change.title = title.filter(|title| replace_hash(&mut self.title, title, context));
        let name = fields.name.map(|name| cut_chars(name, MAX_TITLE_CHARS));
        news.change.name = name.filter(|name| replace_hash(&mut self.name, name, context));
        let locations = fields.locations.map(|locations| {
            // A path that is longer than paths can be is dropped.
            let locations = locations.into_iter().filter(|at| at.path.as_os_str().len() <= MAX_PATH_BYTES);
            let locations = locations.take(MAX_LISTED);
            locations.map(|at| Location { path: at.path.to_string_lossy().into_owned(), line: at.line }).collect()
        });
        let locations = locations.filter(|locations: &Vec<_>| !locations.is_empty() || self.locations.is_some());
        news.change.locations = locations.filter(|locations| replace_hash(&mut self.locations, locations, context));
        let is_end = self.status.is_final();
        self.values(fields.raw_input, fields.raw_output, is_end, context, &mut news);
        self.content(items, is_end, context, &mut news);
        if is_end {
            self.forget();
            self.own_terminal = None;
        }
        news
    }

    /// Reports what was held back, and what terminals have printed by now.
    pub(super) fn settle(&mut self, context: CallContext<'_>) -> CallUpdate {
        let mut news = CallUpdate::default();
        self.values(None, None, true, context, &mut news);
        self.content(None, true, context, &mut news);
        news
    }

    pub(super) fn holds_back(&self) -> bool {
        let HeldBack { content, input, output } = &self.held_back;
        content.is_some() || input.is_some() || output.is_some() || self.own_terminal.is_some()
    }

    pub(super) fn at_hand(&self, tool: u32) -> KnownCall {
        let (title, subject) = (self.title_at_hand.clone(), self.subject_at_hand.clone());
        let digest = self.input_digest.digest(self.name_at_hand.as_deref(), self.kind);
        let (name, input, shown) = (self.name_at_hand.clone(), self.input_at_hand.clone(), self.shown_at_hand.clone());
        let shows = !self.shown.is_empty();
        KnownCall { tool: Some(tool), title, kind: self.kind, subject, name, input, shown, shows, digest }
    }

    pub(super) fn at_hand_bytes(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.title_at_hand.len()
            + length(&self.subject_at_hand)
            + length(&self.name_at_hand)
            + length(&self.shown_at_hand)
            + self.input_at_hand.as_ref().map_or(0, json_bytes)
    }

    /// Drops what is kept for questions.
    pub(super) fn forget(&mut self) {
        self.title_at_hand = String::new();
        self.subject_at_hand = None;
        self.name_at_hand = None;
        self.input_at_hand = None;
        self.shown_at_hand = None;
        self.input_digest.set_incomplete();
    }

    /// A message about the call was not understood, so its input is no longer known for certain.
    pub(super) fn mark_unknown(&mut self) {
        self.input_at_hand = None;
        self.input_digest.set_incomplete();
    }

    fn keep_for_questions(&mut self, fields: &ToolCallUpdateFields, items: Option<&[Value]>) {
        if let Some(title) = &fields.title {
            self.title_at_hand = cut_chars(plain_title(title.clone()), MAX_CALL_TITLE_CHARS);
        }
        let kind = fields.kind.map_or(self.kind, kind);
        // Files that are shown do not replace the input.
        let is_said = input_of(fields).is_some() || !self.input_digest.has_input();
        if is_said && let Some(subject) = subject(fields, items, kind) {
            self.subject_at_hand = Some(subject);
        }
        if let Some(input) = input_of(fields) {
            self.input_at_hand = Some(input).filter(|input| json_bytes(*input) <= MAX_INPUT_AT_HAND).cloned();
        }
        self.input_digest.update(fields, items, kind);
        if self.input_digest.has_input() {
            self.shown_at_hand = None;
        } else if let Some(text) = shown_text(items) {
            self.shown_at_hand = Some(text);
        }
        if fields.name.is_some() {
            self.name_at_hand.clone_from(&fields.name);
        }
    }

    /// Reports input and output: the new values, else those that were held back.
    fn values(
        &mut self,
        input: Option<Value>,
        output: Option<Value>,
        is_end: bool,
        context: CallContext<'_>,
        news: &mut CallUpdate,
    ) {
        for (came, waits, mark, reported) in [
            (input, &mut self.held_back.input, &mut self.input, &mut news.change.input),
            (output, &mut self.held_back.output, &mut self.output, &mut news.change.output),
        ] {
            let waited = waits.take();
            let Some(value) = came.map(content::value).or(waited) else { continue };
            let size = json_bytes(&value);
            if !is_end && self.sent_bytes + size > MAX_RESENT_BYTES {
                *waits = Some(value).filter(|_| context.may_hold_back);
            } else if replace_hash(mark, &value, context) {
                self.sent_bytes += size;
                *reported = Some(value);
            }
        }
    }

    /// Reports the content: new items, else what the terminal has printed since, else, at the end, what was held back
    /// or printed.
    fn content(&mut self, items: Option<Vec<Value>>, is_end: bool, context: CallContext<'_>, news: &mut CallUpdate) {
        let earlier = self.terminal_items.take();
        let Some(items) = items.or(earlier) else {
            if !is_end {
                return;
            }
            let own_terminal = self.own_terminal.as_ref().filter(|_| self.shown.is_empty());
            if let Some(content) = self.held_back.content.take().or_else(|| own_terminal?.printed()) {
                self.show(content, is_end, context, news);
            }
            return;
        };
        let terminals = WithOwn { own: self.own_terminal.as_ref(), others: context.terminals };
        let look = if is_end { TerminalPart::Whole } else { TerminalPart::Command };
        self.show(content::content(&items, look, &terminals), is_end, context, news);
        if !is_end && shows_terminal(&items) && json_bytes(&items) <= MAX_KEPT_BYTES {
            self.terminal_items = Some(items);
        }
    }

    fn show(&mut self, content: Vec<ToolContent>, is_end: bool, context: CallContext<'_>, news: &mut CallUpdate) {
        self.held_back.content = None;
        match self.shown.compare(&content, is_end, context.hasher) {
            ContentChange::Same => {}
            ContentChange::Grew(text) => {
                self.shown = ContentHashes::of(&content, context.hasher);
                news.growth = Some(text);
            }
            ContentChange::Other => {
                let size = json_bytes(&content);
                if is_end || self.sent_bytes + size <= MAX_RESENT_BYTES {
                    self.shown = ContentHashes::of(&content, context.hasher);
                    self.sent_bytes += size;
                    news.change.content = Some(content);
                } else {
                    self.held_back.content = Some(content).filter(|_| context.may_hold_back);
                }
            }
        }
    }
}

pub(super) fn hash_of(value: &impl Serialize, hasher: &RandomState) -> u64 {
    // A value that was parsed from JSON can be written as JSON.
    hasher.hash_one(serde_json::to_vec(value).unwrap_or_default())
}

/// Replaces the hash; returns whether the value differs from the one reported before.
fn replace_hash(mark: &mut Option<u64>, value: &impl Serialize, context: CallContext<'_>) -> bool {
    let new = Some(hash_of(value, context.hasher));
    let is_other = *mark != new;
    *mark = new;
    is_other
}

pub(in crate::acp::translate) fn kind(kind: AcpToolKind) -> ToolKind {
    match kind {
        AcpToolKind::Read => ToolKind::Read,
        AcpToolKind::Edit => ToolKind::Edit,
        AcpToolKind::Delete => ToolKind::Delete,
        AcpToolKind::Move => ToolKind::Move,
        AcpToolKind::Search => ToolKind::Search,
        AcpToolKind::Execute => ToolKind::Execute,
        AcpToolKind::Think => ToolKind::Think,
        AcpToolKind::Fetch => ToolKind::Fetch,
        AcpToolKind::SwitchMode => ToolKind::SwitchMode,
        AcpToolKind::Other | _ => ToolKind::Other,
    }
}

fn status(status: ToolCallStatus) -> ToolStatus {
    match status {
        ToolCallStatus::InProgress => ToolStatus::Running,
        ToolCallStatus::Completed => ToolStatus::Completed,
        ToolCallStatus::Failed => ToolStatus::Failed,
        ToolCallStatus::Pending | _ => ToolStatus::Pending,
    }
}
