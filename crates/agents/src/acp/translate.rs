//! Translates what an agent sends into [`AgentReport`]s. The only module that names both the protocol's updates and
//! the model's reports; its parts are in `translate/`.
//!
//! Invariant: nothing is reported twice and nothing is dropped silently. A change carries only what differs from what
//! was reported before. What is not understood, or arrives when no turn runs, is kept as raw JSON, up to a budget
//! whose end is reported as well. Everything here is a function of the earlier messages: no clock, no IO.

mod blocks;
mod calls;
mod compactions;
mod content;
mod input_digest;
mod options;
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
    StepStatus, ToolStatus, TurnUsage, Usage, parts,
};
use serde::Deserialize as _;
use serde_json::{Value, json};

use blocks::{Blocks, Speech};
use calls::{MAX_CALLS, NotReported, TurnCalls};
use compactions::Compactions;
use options::AgentOptions;
use raw::RawBudget;
use retries::Retries;
use stop::stop;
use usage::Counter;

pub(crate) use content::{MAX_KEPT_BYTES, TerminalOutput, TerminalOutputs, TerminalPart, value as cut_value};
pub(crate) use options::{OfferedOption, OptionSetter};
pub(crate) use question::{ACCEPT, DECLINE, QuestionRequest, TranslatedQuestion};
pub(crate) use stop::TurnError;
pub(crate) use text::{command_line, command_run, cut_chars, error_text, plain_line, start_of};

/// How many commands, options or steps of a plan are listed.
const MAX_LISTED: usize = 500;
/// Longest name or title, in characters.
const MAX_TITLE_CHARS: usize = 2_000;
/// Longest title of a call: for some agents it is the only place with the whole command.
const MAX_CALL_TITLE_CHARS: usize = 16_000;
/// Longest description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 8_000;

/// What one attachment of an agent has reported so far.
#[derive(Debug, Default)]
pub(crate) struct Translator {
    turn: Option<Turn>,
    /// The calls of the last turn, and those that arrived after it: a question may still be about them.
    between: TurnCalls,
    is_replaying: bool,
    /// The agent has only been asked to load its record: whatever it says belongs to the past, even after the reply.
    only_reads: bool,
    options: AgentOptions,
    commands: Vec<AgentCommand>,
    usage: Option<Usage>,
    counter: Counter,
    title: String,
    compactions: Compactions,
    raw: RawBudget,
}

/// What the running turn has reported so far.
#[derive(Debug, Default)]
struct Turn {
    blocks: Blocks,
    calls: TurnCalls,
    plan: Vec<PlanStep>,
    retries: Retries,
}

impl Translator {
    /// Starts a new turn: what the agent says from now on belongs to it.
    pub(crate) fn begin_turn(&mut self) {
        self.turn = Some(Turn::default());
        self.counter.begin_turn();
        self.between = TurnCalls::default();
        self.only_reads = false;
    }

    /// The agent counts the life of its process where others count a turn.
    pub(crate) fn count_life(&mut self) {
        self.counter.count_life();
    }

    /// The agent begins to replay its record, which we have; only options, commands and the like are reported from
    /// it.
    pub(crate) fn begin_replay(&mut self) {
        self.is_replaying = true;
        self.only_reads = true;
    }

    /// The agent says that the replay is complete.
    pub(crate) fn end_replay(&mut self) {
        self.is_replaying = false;
    }

    /// Translates the params of a `session/update`, without the session id.
    pub(crate) fn update(&mut self, mut update: Value, terminals: &dyn TerminalOutputs) -> Vec<AgentReport> {
        let list = match update.get("sessionUpdate").and_then(Value::as_str) {
            Some("tool_call" | "tool_call_update") => return self.tool(update, terminals),
            Some("plan") => Some("entries"),
            Some("available_commands_update") => Some("availableCommands"),
            Some("config_option_update") => Some("configOptions"),
            Some(_) | None => None,
        };
        // The SDK would read anything else as an empty list.
        if list.is_some_and(|list| !update.get(list).is_some_and(Value::is_array)) {
            return self.raw(update);
        }
        let long = take_long_words(&mut update);
        // The SDK's enum is `non_exhaustive`; a kind that only the SDK knows is kept raw like an unknown one.
        match SessionUpdate::deserialize(&update) {
            Ok(SessionUpdate::UserMessageChunk(_)) => Vec::new(),
            Ok(SessionUpdate::AgentMessageChunk(chunk)) => self.text_chunk(Speech::Text, chunk, update, long),
            Ok(SessionUpdate::AgentThoughtChunk(chunk)) => self.text_chunk(Speech::Thought, chunk, update, long),
            Ok(SessionUpdate::Plan(plan)) => self.plan(plan, &update),
            Ok(SessionUpdate::AvailableCommandsUpdate(update)) => self.commands(update.available_commands),
            Ok(SessionUpdate::CurrentModeUpdate(update)) => self.options.mode_is(&update.current_mode_id.0),
            Ok(SessionUpdate::ConfigOptionUpdate(update)) => self.options.options_are(update.config_options),
            Ok(SessionUpdate::SessionInfoUpdate(info)) => {
                let retry = self.turn.as_mut().and_then(|turn| turn.retries.notice(&update));
                retry.map(AgentReport::Noticed).into_iter().chain(self.title(info.title)).collect()
            }
            Ok(SessionUpdate::UsageUpdate(usage)) => self.usage(usage),
            Ok(SessionUpdate::Notice(notice)) => self.notice(notice),
            Ok(SessionUpdate::CompactionUpdate(update)) => {
                self.close_block();
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

    /// Keeps a message that is no update and that is not understood.
    pub(crate) fn raw(&mut self, message: Value) -> Vec<AgentReport> {
        if self.is_replaying { Vec::new() } else { self.raw.keep(message) }
    }

    /// Takes over the modes and options from the answer that begins a conversation.
    pub(crate) fn offered(
        &mut self,
        modes: Option<SessionModeState>,
        options: Option<Vec<SessionConfigOption>>,
    ) -> Vec<AgentReport> {
        self.options.begin(modes, options)
    }

    /// Takes over models from the answer that begins a conversation; some agents do not offer them as an option.
    pub(crate) fn read_models(&mut self, reply: &Value) {
        self.options.read_models(reply.get("models"));
    }

    /// The offered option of this name.
    pub(crate) fn find_option(&self, option: &str) -> Option<OfferedOption<'_>> {
        self.options.find(option)
    }

    /// The same with all its choices.
    pub(crate) fn offered_option(&self, option: &str) -> Option<&AgentOption> {
        self.options.option(option)
    }

    /// The agent's own id of an option, which is wanted by its id or as `model` or `mode`.
    pub(crate) fn option_name(&self, wanted: &str) -> String {
        self.options.name_of(wanted).to_owned()
    }

    /// The agent has set an option; `all` are its options, if it answered with them.
    pub(crate) fn option_set(
        &mut self,
        option: &str,
        value: &str,
        all: Option<Vec<SessionConfigOption>>,
    ) -> Vec<AgentReport> {
        match all {
            Some(all) => self.options.options_are(all),
            None => self.options.option_is(option, value),
        }
    }

    /// Translates the params of a `session/request_permission` or an `elicitation/create` into reports and a
    /// question. When no turn runs, the call that it is about is kept raw: it belongs to no turn.
    pub(crate) fn ask(&mut self, asking: QuestionRequest, terminals: &dyn TerminalOutputs) -> TranslatedQuestion {
        if let Some(turn) = &mut self.turn {
            turn.blocks.close();
            return question::ask(asking, &mut turn.calls, terminals);
        }
        let reports = match &asking {
            QuestionRequest::Permission { call, .. } => self.outside_turn(call),
            QuestionRequest::Elicitation(_) => Vec::new(),
        };
        let asked = question::ask(asking, &mut self.between, terminals);
        TranslatedQuestion { reports, question: Question { tool: None, ..asked.question }, ..asked }
    }

    /// Whether a call of the running turn has not ended.
    pub(crate) fn has_open_call(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.calls.any_open())
    }

    /// Ends the turn; its outcome is reported by someone else.
    pub(crate) fn abandon_turn(&mut self, terminals: &dyn TerminalOutputs) -> Vec<AgentReport> {
        let Some(mut turn) = self.turn.take() else { return Vec::new() };
        let reports = turn.calls.settle(terminals);
        self.between = turn.calls;
        reports
    }

    /// Ends the turn with the agent's answer or error.
    pub(crate) fn end_turn(
        &mut self,
        answer: Result<Value, TurnError>,
        terminals: &dyn TerminalOutputs,
    ) -> Vec<AgentReport> {
        let mut reports = self.abandon_turn(terminals);
        let model = self.options.option(self.options.name_of("model")).map(|option| option.value.as_str());
        let used = self.counter.end_turn(answer.as_ref().ok(), model);
        match (used, answer.as_ref().ok().and_then(usage::not_understood)) {
            (Some(used), _) => reports.push(self.usage_report(used)),
            (None, Some(usage)) => reports.push(AgentReport::Raw(json!({ "usage": usage }))),
            (None, None) => {}
        }
        reports.push(AgentReport::Stopped(stop(answer)));
        reports
    }

    fn tool(&mut self, update: Value, terminals: &dyn TerminalOutputs) -> Vec<AgentReport> {
        if self.only_reads {
            return Vec::new();
        }
        let Some(turn) = &mut self.turn else {
            // Reported as late, and noted for a question about it.
            drop(self.between.message(update.clone(), terminals));
            return self.outside_turn(&update);
        };
        match turn.calls.message(update, terminals) {
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
            Err(NotReported::NotUnderstood(update)) => self.raw(update),
            // Kept raw, within the budget.
            Err(NotReported::TooMany(update)) => {
                let notice = turn.calls.take_full_notice().then(|| AgentReport::Noticed(too_many_calls()));
                notice.into_iter().chain(self.raw(update)).collect()
            }
        }
    }

    fn text_chunk(
        &mut self,
        speech: Speech,
        chunk: ContentChunk,
        mut update: Value,
        long: Option<String>,
    ) -> Vec<AgentReport> {
        if self.only_reads {
            return Vec::new();
        }
        if self.turn.is_some() {
            self.counter.update(&update);
        }
        let ContentBlock::Text(text_chunk) = chunk.content else { return self.raw(update) };
        if text_chunk.text.is_empty() && long.is_none() {
            return Vec::new();
        }
        let Some(turn) = &mut self.turn else {
            put_back(&mut update, long);
            return self.outside_turn(&update);
        };
        let block = turn.blocks.number(speech, chunk.message_id);
        let report = |text: String| match speech {
            Speech::Text => AgentReport::Text { block, text },
            Speech::Thought => AgentReport::Thought { block, text },
        };
        match long {
            None => vec![report(text_chunk.text)],
            // In parts, so that the memory of the queue is bounded by its length.
            Some(long) => in_parts(long).into_iter().map(report).collect(),
        }
    }

    fn plan(&mut self, plan: Plan, update: &Value) -> Vec<AgentReport> {
        if self.only_reads {
            return Vec::new();
        }
        let Some(turn) = &mut self.turn else { return self.outside_turn(update) };
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
        // `Display` of a float writes decimal digits without an exponent, however small it is.
        let cost = cost.map(|cost| Cost { amount: cost.amount.to_string(), currency: cut_chars(cost.currency, 16) });
        // Some agents report the cost only at the end of a turn.
        let cost = cost.or_else(|| self.usage.as_ref()?.cost.clone());
        let usage = Usage { cost, ..Usage::window(used, size) };
        if self.usage.as_ref() == Some(&usage) {
            return Vec::new();
        }
        self.usage = Some(usage.clone());
        vec![AgentReport::Usage(usage)]
    }

    /// What a turn used, together with the last known use of the context window. One report for each turn is no
    /// flood.
    fn usage_report(&self, turn: TurnUsage) -> AgentReport {
        let window = self.usage.clone().unwrap_or(Usage::window(0, 0));
        AgentReport::Usage(Usage { turn: Some(turn), ..window })
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

    /// The next text begins a new block.
    fn close_block(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.blocks.close();
        }
    }

    fn if_live(&mut self, tell: impl FnOnce(&mut Self) -> Vec<AgentReport>) -> Vec<AgentReport> {
        let reports = tell(self);
        if self.is_replaying { Vec::new() } else { reports }
    }

    /// Keeps an update that belongs to a turn but arrived when none ran.
    fn outside_turn(&mut self, update: &Value) -> Vec<AgentReport> {
        self.raw(json!({ "late": update }))
    }
}

/// Takes a long text out of its message, so that deserializing does not copy it.
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

/// Splits a long text into parts, from its end, shrinking the text as it goes: it is never in memory twice.
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
