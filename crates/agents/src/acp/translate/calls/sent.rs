//! What was told of one call, and what a message adds to it.

use std::hash::{BuildHasher as _, RandomState};

use agent_client_protocol::v1::schema::{
    ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind as AcpToolKind,
};
use model::{AgentReport, Location, MAX_PATH_BYTES, ToolChange, ToolContent, ToolKind, ToolStatus, json_bytes};
use serde::Serialize;
use serde_json::Value;

use super::AtHand;
use super::own_terminal::{OwnTerminal, WithOwn};
use super::shown::{Compared, Shown};
use crate::acp::translate::content::{self, Look, MAX_KEPT_BYTES, Screens, shows_terminal};
use crate::acp::translate::given::{Given, input_of};
use crate::acp::translate::question::{plain_title, shown_text, subject};
use crate::acp::translate::text::cut_chars;
use crate::acp::translate::{MAX_CALL_TITLE_CHARS, MAX_LISTED, MAX_TITLE_CHARS};

/// How many bytes of one call are told before it ends, again and again whole; more waits for its end.
const MAX_RESENT_BYTES: usize = 1 << 20;
/// How long an input may be that is kept for a question about it.
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
    shown: Shown,
    sent_bytes: usize,
    waiting: Waiting,
    /// What it shows, if a terminal is among it that prints on.
    terminal_items: Option<Vec<Value>>,
    own_terminal: Option<OwnTerminal>,
    title_at_hand: String,
    subject_at_hand: Option<String>,
    name_at_hand: Option<String>,
    input_at_hand: Option<Value>,
    /// The text that it shows, while its input is not known: some agents tell the input there first.
    shown_at_hand: Option<String>,
    given: Given,
}

/// What has to wait for the end of the call.
#[derive(Debug, Default)]
struct Waiting {
    content: Option<Vec<ToolContent>>,
    input: Option<Value>,
    output: Option<Value>,
}

/// What is to be told of a call.
#[derive(Debug, Default)]
pub(super) struct CallUpdate {
    growth: Option<String>,
    change: ToolChange,
}

impl CallUpdate {
    /// Of a call that has begun. Its end is told by itself, so that each call that ends has one.
    pub(super) fn start(mut self, tool: u32, call_id: String) -> Vec<AgentReport> {
        let end = self.change.status.take_if(|status| status.is_final());
        let mut reports = vec![AgentReport::ToolStarted { tool, call_id, change: self.change }];
        if end.is_some() {
            let change = ToolChange { status: end, ..ToolChange::default() };
            reports.push(AgentReport::ToolChanged { tool, change });
        }
        reports
    }

    /// Of a call that is known.
    pub(super) fn change(self, tool: u32) -> Vec<AgentReport> {
        let growth = self.growth.map(|text| AgentReport::ToolText { tool, text });
        let change = Some(self.change).filter(|change| *change != ToolChange::default());
        growth.into_iter().chain(change.map(|change| AgentReport::ToolChanged { tool, change })).collect()
    }
}

/// How a message is taken.
#[derive(Clone, Copy)]
pub(super) struct Now<'a> {
    pub(super) marks: &'a RandomState,
    pub(super) screens: &'a dyn Screens,
    /// There is room for what has to wait for the call's end.
    pub(super) may_wait: bool,
}

impl SentCall {
    /// It has not ended, as far as is told.
    pub(super) fn is_open(&self) -> bool {
        !self.status.is_final()
    }

    pub(super) fn message(&mut self, update: ToolCallUpdate, items: Option<Vec<Value>>, now: Now<'_>) -> CallUpdate {
        let fields = update.fields;
        self.keep_at_hand(&fields, items.as_deref());
        if let Some(meta) = &update.meta {
            let command = self.subject_at_hand.as_ref().unwrap_or(&self.title_at_hand);
            OwnTerminal::hear(&mut self.own_terminal, meta, command, now.may_wait);
        }
        let mut news = CallUpdate::default();
        // What has ended does not begin again.
        let status = fields.status.map(status).filter(|status| status.is_final() || !self.status.is_final());
        news.change.status = status.filter(|status| *status != self.status);
        self.status = status.unwrap_or(self.status);
        news.change.kind = fields.kind.map(kind).filter(|kind| *kind != self.kind);
        self.kind = news.change.kind.unwrap_or(self.kind);
        let title = fields.title.map(|title| cut_chars(plain_title(title), MAX_CALL_TITLE_CHARS));
        news.change.title = title.filter(|title| renew(&mut self.title, title, now));
        let name = fields.name.map(|name| cut_chars(name, MAX_TITLE_CHARS));
        news.change.name = name.filter(|name| renew(&mut self.name, name, now));
        let locations = fields.locations.map(|locations| {
            // What is longer than a path can be is none.
            let locations = locations.into_iter().filter(|at| at.path.as_os_str().len() <= MAX_PATH_BYTES);
            let locations = locations.take(MAX_LISTED);
            locations.map(|at| Location { path: at.path.to_string_lossy().into_owned(), line: at.line }).collect()
        });
        let locations = locations.filter(|locations: &Vec<_>| !locations.is_empty() || self.locations.is_some());
        news.change.locations = locations.filter(|locations| renew(&mut self.locations, locations, now));
        let is_end = self.status.is_final();
        self.values(fields.raw_input, fields.raw_output, is_end, now, &mut news);
        self.content(items, is_end, now, &mut news);
        if is_end {
            self.forget();
            self.own_terminal = None;
        }
        news
    }

    /// What waited, and what terminals have printed by now.
    pub(super) fn settle(&mut self, now: Now<'_>) -> CallUpdate {
        let mut news = CallUpdate::default();
        self.values(None, None, true, now, &mut news);
        self.content(None, true, now, &mut news);
        news
    }

    pub(super) fn is_waiting(&self) -> bool {
        let Waiting { content, input, output } = &self.waiting;
        content.is_some() || input.is_some() || output.is_some() || self.own_terminal.is_some()
    }

    pub(super) fn at_hand(&self, tool: u32) -> AtHand {
        let (title, subject) = (self.title_at_hand.clone(), self.subject_at_hand.clone());
        let digest = self.given.digest(self.name_at_hand.as_deref(), self.kind);
        let (name, input, shown) = (self.name_at_hand.clone(), self.input_at_hand.clone(), self.shown_at_hand.clone());
        let shows = !self.shown.is_empty();
        AtHand { tool: Some(tool), title, kind: self.kind, subject, name, input, shown, shows, digest }
    }

    pub(super) fn at_hand_bytes(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.title_at_hand.len()
            + length(&self.subject_at_hand)
            + length(&self.name_at_hand)
            + length(&self.shown_at_hand)
            + self.input_at_hand.as_ref().map_or(0, json_bytes)
    }

    /// Nobody will ask about it.
    pub(super) fn forget(&mut self) {
        self.title_at_hand = String::new();
        self.subject_at_hand = None;
        self.name_at_hand = None;
        self.input_at_hand = None;
        self.shown_at_hand = None;
        self.given.lose();
    }

    /// Something was said of it that is not understood.
    pub(super) fn doubt(&mut self) {
        self.input_at_hand = None;
        self.given.lose();
    }

    fn keep_at_hand(&mut self, fields: &ToolCallUpdateFields, items: Option<&[Value]>) {
        if let Some(title) = &fields.title {
            self.title_at_hand = cut_chars(plain_title(title.clone()), MAX_CALL_TITLE_CHARS);
        }
        let kind = fields.kind.map_or(self.kind, kind);
        // Files that are shown do not take the place of what the tool is given.
        let is_said = input_of(fields).is_some() || !self.given.has_input();
        if is_said && let Some(subject) = subject(fields, items, kind) {
            self.subject_at_hand = Some(subject);
        }
        if let Some(input) = input_of(fields) {
            self.input_at_hand = Some(input).filter(|input| json_bytes(*input) <= MAX_INPUT_AT_HAND).cloned();
        }
        self.given.hear(fields, items, kind);
        if self.given.has_input() {
            self.shown_at_hand = None;
        } else if let Some(text) = shown_text(items) {
            self.shown_at_hand = Some(text);
        }
        if fields.name.is_some() {
            self.name_at_hand.clone_from(&fields.name);
        }
    }

    /// Input and output: what came, else what waited.
    fn values(
        &mut self,
        input: Option<Value>,
        output: Option<Value>,
        is_end: bool,
        now: Now<'_>,
        news: &mut CallUpdate,
    ) {
        for (came, waits, mark, told) in [
            (input, &mut self.waiting.input, &mut self.input, &mut news.change.input),
            (output, &mut self.waiting.output, &mut self.output, &mut news.change.output),
        ] {
            let waited = waits.take();
            let Some(value) = came.map(content::value).or(waited) else { continue };
            let size = json_bytes(&value);
            if !is_end && self.sent_bytes + size > MAX_RESENT_BYTES {
                *waits = Some(value).filter(|_| now.may_wait);
            } else if renew(mark, &value, now) {
                self.sent_bytes += size;
                *told = Some(value);
            }
        }
    }

    /// What it shows: what came, else what its terminal has printed since, else, at its end, what waited or was printed.
    fn content(&mut self, items: Option<Vec<Value>>, is_end: bool, now: Now<'_>, news: &mut CallUpdate) {
        let earlier = self.terminal_items.take();
        let Some(items) = items.or(earlier) else {
            if !is_end {
                return;
            }
            let own_terminal = self.own_terminal.as_ref().filter(|_| self.shown.is_empty());
            if let Some(content) = self.waiting.content.take().or_else(|| own_terminal?.printed()) {
                self.show(content, is_end, now, news);
            }
            return;
        };
        let screens = WithOwn { own: self.own_terminal.as_ref(), others: now.screens };
        let look = if is_end { Look::Whole } else { Look::Command };
        self.show(content::content(&items, look, &screens), is_end, now, news);
        if !is_end && shows_terminal(&items) && json_bytes(&items) <= MAX_KEPT_BYTES {
            self.terminal_items = Some(items);
        }
    }

    fn show(&mut self, content: Vec<ToolContent>, is_end: bool, now: Now<'_>, news: &mut CallUpdate) {
        self.waiting.content = None;
        match self.shown.compare(&content, is_end, now.marks) {
            Compared::Same => {}
            Compared::Grew(text) => {
                self.shown = Shown::of(&content, now.marks);
                news.growth = Some(text);
            }
            Compared::Other => {
                let size = json_bytes(&content);
                if is_end || self.sent_bytes + size <= MAX_RESENT_BYTES {
                    self.shown = Shown::of(&content, now.marks);
                    self.sent_bytes += size;
                    news.change.content = Some(content);
                } else {
                    self.waiting.content = Some(content).filter(|_| now.may_wait);
                }
            }
        }
    }
}

pub(super) fn mark_of(value: &impl Serialize, marks: &RandomState) -> u64 {
    // What has been JSON is JSON again.
    marks.hash_one(serde_json::to_vec(value).unwrap_or_default())
}

/// Whether the value is another than the one that was told.
fn renew(mark: &mut Option<u64>, value: &impl Serialize, now: Now<'_>) -> bool {
    let new = Some(mark_of(value, now.marks));
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
