//! What an agent sends, in the words of [`AgentReport`]. The only file that names both the protocol's updates and the
//! model's reports; its parts lie in `translate/`.
//!
//! Invariant: nothing is told twice and nothing is lost in silence. A change carries what differs from what was told;
//! what is not understood, or comes when no turn runs, is kept as it came, up to a budget whose end is told as well.
//! Everything here is a function of what came before: no clock, no IO.

mod blocks;
mod calls;
mod compactions;
mod content;
mod given;
mod offers;
mod question;
mod raw;
mod retries;
mod stop;
mod text;
mod usage;

use agent_client_protocol::schema::MaybeUndefined;
use agent_client_protocol::v1::schema::{
    AvailableCommand, AvailableCommandInput, ContentBlock, ContentChunk, Notice as AcpNotice, NoticeSeverity, Plan,
    PlanEntryPriority, PlanEntryStatus, SessionConfigOption, SessionModeState, SessionUpdate, UsageUpdate,
};
use model::{
    AgentCommand, AgentOption, AgentReport, Cost, MAX_PART_BYTES, Notice, PlanStep, Priority, Question, Severity,
    StepStatus, TokenCount, ToolStatus, Usage, parts,
};
use serde::Deserialize as _;
use serde_json::{Value, json};

use blocks::{Blocks, Speech};
use calls::{Calls, MAX_CALLS, NotTold};
use compactions::Compactions;
use offers::Offers;
use raw::Budget;
use retries::Retries;
use stop::stop;

pub(crate) use content::{Look, MAX_KEPT_BYTES, Screen, Screens, value as cut_value};
pub(crate) use offers::{Offer, Setting};
pub(crate) use question::{ACCEPT, Asked, Asking, DECLINE};
pub(crate) use stop::TurnError;
pub(crate) use text::{command_line, cut_chars, error_in_words, plain_line, start_of, what_is_run};

/// How many commands, options or steps of a plan are listed.
const MAX_LISTED: usize = 500;
/// Longest name or title, in characters.
const MAX_TITLE_CHARS: usize = 2_000;
/// Longest title of a call: with some agents it is the only place that tells the whole command.
const MAX_CALL_TITLE_CHARS: usize = 16_000;
/// Longest description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 8_000;

/// What one attachment of an agent has told so far.
#[derive(Debug, Default)]
pub(crate) struct Translator {
    turn: Option<Turn>,
    /// The calls of the turn before, and what came after it: a question may still be about them.
    between: Calls,
    is_replaying: bool,
    /// It was asked to read its record and nothing since: what it says can only be of the past, whenever it says it.
    only_reads: bool,
    offers: Offers,
    commands: Vec<AgentCommand>,
    usage: Option<Usage>,
    title: String,
    compactions: Compactions,
    raw: Budget,
}

/// What the running turn has told so far.
#[derive(Debug, Default)]
struct Turn {
    blocks: Blocks,
    calls: Calls,
    plan: Vec<PlanStep>,
    retries: Retries,
    /// What it has cost, as far as that is told before its end.
    tokens: Option<TokenCount>,
}

impl Translator {
    /// What it says from now on belongs to a new turn.
    pub(crate) fn begin_turn(&mut self) {
        self.turn = Some(Turn::default());
        self.between = Calls::default();
        self.only_reads = false;
    }

    /// The agent reads its record to us, which we have; only what it says of the present is told.
    pub(crate) fn begin_replay(&mut self) {
        self.is_replaying = true;
        self.only_reads = true;
    }

    /// It says that it has read all of it.
    pub(crate) fn end_replay(&mut self) {
        self.is_replaying = false;
    }

    /// The params of a `session/update`, without the session.
    pub(crate) fn update(&mut self, mut update: Value, screens: &dyn Screens) -> Vec<AgentReport> {
        let list = match update.get("sessionUpdate").and_then(Value::as_str) {
            Some("tool_call" | "tool_call_update") => return self.tool(update, screens),
            Some("plan") => Some("entries"),
            Some("available_commands_update") => Some("availableCommands"),
            Some("config_option_update") => Some("configOptions"),
            Some(_) | None => None,
        };
        // The SDK would take what is no list for an empty one.
        if list.is_some_and(|list| !update.get(list).is_some_and(Value::is_array)) {
            return self.raw(update);
        }
        let long = take_long_words(&mut update);
        // The SDK's own type says `non_exhaustive`, so a kind that only it knows is kept like one that nobody knows.
        match SessionUpdate::deserialize(&update) {
            Ok(SessionUpdate::UserMessageChunk(_)) => Vec::new(),
            Ok(SessionUpdate::AgentMessageChunk(chunk)) => self.words(Speech::Text, chunk, update, long),
            Ok(SessionUpdate::AgentThoughtChunk(chunk)) => self.words(Speech::Thought, chunk, update, long),
            Ok(SessionUpdate::Plan(plan)) => self.plan(plan, &update),
            Ok(SessionUpdate::AvailableCommandsUpdate(update)) => self.commands(update.available_commands),
            Ok(SessionUpdate::CurrentModeUpdate(update)) => self.offers.mode_is(&update.current_mode_id.0),
            Ok(SessionUpdate::ConfigOptionUpdate(update)) => self.offers.options_are(update.config_options),
            Ok(SessionUpdate::SessionInfoUpdate(info)) => {
                let retry = self.turn.as_mut().and_then(|turn| turn.retries.hear(&update));
                retry.map(AgentReport::Noticed).into_iter().chain(self.title(info.title)).collect()
            }
            Ok(SessionUpdate::UsageUpdate(usage)) => self.usage(usage),
            Ok(SessionUpdate::Notice(notice)) => self.notice(notice),
            Ok(SessionUpdate::CompactionUpdate(update)) => {
                self.break_off();
                self.if_live(|translator| translator.compactions.update(update))
            }
            Ok(SessionUpdate::CompactionSummaryChunk(chunk)) => {
                self.compactions.chunk(chunk);
                Vec::new()
            }
            Ok(_) | Err(_) => {
                put_back(&mut update, long);
                self.raw(update)
            }
        }
    }

    /// A message of the agent that is no update and that nobody here understands.
    pub(crate) fn raw(&mut self, message: Value) -> Vec<AgentReport> {
        if self.is_replaying { Vec::new() } else { self.raw.keep(message) }
    }

    /// What can be chosen, as the answer that begins a conversation says.
    pub(crate) fn offered(
        &mut self,
        modes: Option<SessionModeState>,
        options: Option<Vec<SessionConfigOption>>,
    ) -> Vec<AgentReport> {
        self.offers.begin(modes, options)
    }

    /// Models in the reply that begins a conversation, which some agents do not offer as an option.
    pub(crate) fn read_models(&mut self, reply: &Value) {
        self.offers.read_models(reply.get("models"));
    }

    /// What is offered under this name.
    pub(crate) fn find_option(&self, option: &str) -> Option<Offer<'_>> {
        self.offers.find(option)
    }

    /// The same with all that can be chosen.
    pub(crate) fn offered_option(&self, option: &str) -> Option<&AgentOption> {
        self.offers.option(option)
    }

    /// The agent's own name of an option that somebody wants by its name, or as its `model` or `mode`.
    pub(crate) fn option_name(&self, wanted: &str) -> String {
        self.offers.name_of(wanted).to_owned()
    }

    /// The agent took a choice: all options, if it answered with them.
    pub(crate) fn option_set(
        &mut self,
        option: &str,
        value: &str,
        all: Option<Vec<SessionConfigOption>>,
    ) -> Vec<AgentReport> {
        match all {
            Some(all) => self.offers.options_are(all),
            None => self.offers.option_is(option, value),
        }
    }

    /// The params of a `session/request_permission` or an `elicitation/create`: what is to be told first, and what is
    /// asked. When no turn runs, the call that it is about is kept as it came: there is no turn that it could stand in.
    pub(crate) fn ask(&mut self, asking: Asking, screens: &dyn Screens) -> Asked {
        if let Some(turn) = &mut self.turn {
            turn.blocks.close();
            return question::ask(asking, &mut turn.calls, screens);
        }
        let reports = match &asking {
            Asking::Permission { call, .. } => self.late(call),
            Asking::Elicitation(_) => Vec::new(),
        };
        let asked = question::ask(asking, &mut self.between, screens);
        Asked { reports, question: Question { tool: None, ..asked.question }, ..asked }
    }

    /// Whether a call of the running turn has begun and not ended.
    pub(crate) fn has_open_call(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.calls.any_open())
    }

    /// The turn is over, and how it ended is told otherwise.
    pub(crate) fn abandon_turn(&mut self, screens: &dyn Screens) -> Vec<AgentReport> {
        let Some(mut turn) = self.turn.take() else { return Vec::new() };
        let reports = turn.calls.settle(screens);
        self.between = turn.calls;
        reports
    }

    /// The turn ended with an answer or an error of the agent.
    pub(crate) fn end_turn(&mut self, answer: Result<Value, TurnError>, screens: &dyn Screens) -> Vec<AgentReport> {
        let told_before = self.turn.as_ref().and_then(|turn| turn.tokens);
        let mut reports = self.abandon_turn(screens);
        let tokens = answer.as_ref().ok().and_then(usage::tokens).or(told_before);
        match (tokens, answer.as_ref().ok().and_then(usage::not_understood)) {
            (Some(tokens), _) => reports.push(self.spent(tokens)),
            (None, Some(usage)) => reports.push(AgentReport::Raw(json!({ "usage": usage }))),
            (None, None) => {}
        }
        reports.push(AgentReport::Stopped(stop(answer)));
        reports
    }

    fn tool(&mut self, update: Value, screens: &dyn Screens) -> Vec<AgentReport> {
        if self.only_reads {
            return Vec::new();
        }
        let Some(turn) = &mut self.turn else {
            // Told as late; noted for whoever is asked about it.
            drop(self.between.message(update.clone(), screens));
            return self.late(&update);
        };
        match turn.calls.message(update, screens) {
            Ok(reports) => {
                for report in &reports {
                    match report {
                        AgentReport::ToolStarted { .. } => turn.blocks.close(),
                        AgentReport::ToolChanged { change, .. } if change.status.is_some_and(ToolStatus::is_final) => {
                            turn.blocks.close_unnamed();
                        }
                        _ => {}
                    }
                }
                reports
            }
            Err(NotTold::NotUnderstood(update)) => self.raw(update),
            // Kept as they came, as far as that goes.
            Err(NotTold::TooMany(update)) => {
                let notice = turn.calls.is_to_be_said_full().then(|| AgentReport::Noticed(too_many_calls()));
                notice.into_iter().chain(self.raw(update)).collect()
            }
        }
    }

    fn words(
        &mut self,
        speech: Speech,
        chunk: ContentChunk,
        mut update: Value,
        long: Option<String>,
    ) -> Vec<AgentReport> {
        if self.only_reads {
            return Vec::new();
        }
        if let Some(turn) = &mut self.turn
            && let Some(tokens) = usage::tokens(&update)
        {
            turn.tokens = Some(usage::sum(turn.tokens, tokens));
        }
        let ContentBlock::Text(words) = chunk.content else { return self.raw(update) };
        if words.text.is_empty() && long.is_none() {
            return Vec::new();
        }
        let Some(turn) = &mut self.turn else {
            put_back(&mut update, long);
            return self.late(&update);
        };
        let block = turn.blocks.number(speech, chunk.message_id);
        let report = |text: String| match speech {
            Speech::Text => AgentReport::Text { block, text },
            Speech::Thought => AgentReport::Thought { block, text },
        };
        match long {
            None => vec![report(words.text)],
            // In parts, so that what waits for the session is bounded by its number.
            Some(long) => in_parts(long).into_iter().map(report).collect(),
        }
    }

    fn plan(&mut self, plan: Plan, update: &Value) -> Vec<AgentReport> {
        if self.only_reads {
            return Vec::new();
        }
        let Some(turn) = &mut self.turn else { return self.late(update) };
        turn.blocks.close();
        let steps = plan.entries.into_iter().take(MAX_LISTED).map(|entry| PlanStep {
            text: cut_chars(entry.content, MAX_DESCRIPTION_CHARS),
            status: match entry.status {
                PlanEntryStatus::InProgress => StepStatus::Running,
                PlanEntryStatus::Completed => StepStatus::Completed,
                PlanEntryStatus::Pending | _ => StepStatus::Pending,
            },
            priority: match entry.priority {
                PlanEntryPriority::High => Priority::High,
                PlanEntryPriority::Low => Priority::Low,
                PlanEntryPriority::Medium | _ => Priority::Medium,
            },
        });
        let steps: Vec<_> = steps.collect();
        if turn.plan == steps {
            return Vec::new();
        }
        turn.plan.clone_from(&steps);
        vec![AgentReport::Plan(steps)]
    }

    fn commands(&mut self, commands: Vec<AvailableCommand>) -> Vec<AgentReport> {
        let commands = commands.into_iter().take(MAX_LISTED).map(|command| AgentCommand {
            name: cut_chars(command.name, MAX_TITLE_CHARS),
            description: cut_chars(command.description, MAX_DESCRIPTION_CHARS),
            hint: match command.input {
                Some(AvailableCommandInput::Unstructured(input)) => Some(cut_chars(input.hint, MAX_TITLE_CHARS)),
                Some(_) | None => None,
            },
        });
        let commands: Vec<_> = commands.collect();
        if self.commands == commands {
            return Vec::new();
        }
        self.commands.clone_from(&commands);
        vec![AgentReport::Commands(commands)]
    }

    fn title(&mut self, title: MaybeUndefined<String>) -> Vec<AgentReport> {
        let MaybeUndefined::Value(title) = title else { return Vec::new() };
        let title = cut_chars(title, MAX_TITLE_CHARS);
        if self.is_replaying || title.trim().is_empty() || self.title == title {
            return Vec::new();
        }
        self.title.clone_from(&title);
        vec![AgentReport::Title(title)]
    }

    fn usage(&mut self, update: UsageUpdate) -> Vec<AgentReport> {
        let UsageUpdate { used, size, cost, .. } = update;
        // Decimal digits, however small: `Display` of a float knows no exponent.
        let cost = cost.map(|cost| Cost { amount: cost.amount.to_string(), currency: cut_chars(cost.currency, 16) });
        // Some agents say only at the end of a turn what it has cost.
        let cost = cost.or_else(|| self.usage.as_ref()?.cost.clone());
        let usage = Usage { used, size, cost, tokens: None };
        if self.usage.as_ref() == Some(&usage) {
            return Vec::new();
        }
        self.usage = Some(usage.clone());
        vec![AgentReport::Usage(usage)]
    }

    /// What a turn has cost, beside what was told of the window. One for each turn is no flood.
    fn spent(&self, tokens: TokenCount) -> AgentReport {
        let window = self.usage.clone().unwrap_or(Usage { used: 0, size: 0, cost: None, tokens: None });
        AgentReport::Usage(Usage { tokens: Some(tokens), ..window })
    }

    fn notice(&mut self, notice: AcpNotice) -> Vec<AgentReport> {
        let severity = match notice.severity {
            NoticeSeverity::Warning => Severity::Warning,
            NoticeSeverity::Error => Severity::Error,
            NoticeSeverity::Info | NoticeSeverity::Other(_) | _ => Severity::Info,
        };
        let title = cut_chars(notice.title, MAX_TITLE_CHARS);
        let description = notice.description.map(|description| cut_chars(description, MAX_DESCRIPTION_CHARS));
        self.if_live(|_| vec![AgentReport::Noticed(Notice { severity, title, description })])
    }

    /// The next words begin a new block.
    fn break_off(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.blocks.close();
        }
    }

    fn if_live(&mut self, tell: impl FnOnce(&mut Self) -> Vec<AgentReport>) -> Vec<AgentReport> {
        let reports = tell(self);
        if self.is_replaying { Vec::new() } else { reports }
    }

    /// What belongs to a turn and came when none ran.
    fn late(&mut self, update: &Value) -> Vec<AgentReport> {
        self.raw(json!({ "late": update }))
    }
}

/// Takes the words of a chunk out of their message if they are long, so that reading it does not copy them.
fn take_long_words(update: &mut Value) -> Option<String> {
    let kind = update.get("sessionUpdate").and_then(Value::as_str);
    if !matches!(kind, Some("agent_message_chunk" | "agent_thought_chunk")) {
        return None;
    }
    let content = update.get_mut("content").filter(|content| content.get("type").is_some_and(|kind| kind == "text"))?;
    match content.get_mut("text")? {
        Value::String(text) if text.len() > MAX_PART_BYTES => Some(std::mem::take(text)),
        _ => None,
    }
}

fn put_back(update: &mut Value, long: Option<String>) {
    if let Some(long) = long {
        update["content"]["text"] = Value::String(long);
    }
}

/// A long text as parts. They are split off from its end, and its room shrinks with it: there are never two of it.
fn in_parts(mut text: String) -> Vec<String> {
    let mut ends: Vec<usize> = Vec::new();
    for part in parts(&text) {
        ends.push(ends.last().copied().unwrap_or(0) + part.len());
    }
    ends.pop();
    let mut backwards = Vec::with_capacity(ends.len() + 1);
    for end in ends.into_iter().rev() {
        backwards.push(text.split_off(end));
        text.shrink_to_fit();
    }
    backwards.push(text);
    backwards.reverse();
    backwards
}

fn too_many_calls() -> Notice {
    Notice {
        severity: Severity::Warning,
        title: format!("The agent makes more than {MAX_CALLS} tool calls in this turn"),
        description: Some(
            "Those beyond are carried out and not shown; the log keeps the first of them as they came.".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests;
