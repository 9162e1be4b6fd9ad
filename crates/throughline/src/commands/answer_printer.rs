//! Prints what happens in a session as it is stored: the answer to one prompt, or every turn.

mod questions;
mod text_printer;

use std::time::Duration;

use anyhow::{Result, bail};
use futures_util::{SinkExt as _, StreamExt as _};
use model::{
    Entry, InteractionId, Item, Outcome, PlanStep, Request as Asked, SessionEvent, SessionId, SignInMethod, Stop,
    ToolCall, Turn,
};
use server::wire::{ClientFrame, EntryPage, Observed, Request, ServerFrame, Session};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use self::questions::{AnswerPlace, Questions};
use self::text_printer::{Print, TextPrinter};
use crate::client::{Client, Stream};
use crate::commands::answer;
use crate::commands::list::tail;
use crate::commands::seen::mark_seen;
use crate::outcome_text::reason_suffix;
use crate::terminal::{self, safe, safe_json};
use crate::transcript_text::{item_lines, prompt_line};

/// A rule answers a question within this time, if the disk is not slow.
const RULES_TAKE: Duration = Duration::from_millis(250);
/// The reason of a turn that failed because the agent wants a sign-in.
const SIGNED_OUT: &str = "signed_out";

/// Prints what happens in a session: the answer to one prompt, or every turn.
pub(super) struct AnswerPrinter {
    socket: WebSocketStream<Box<dyn Stream>>,
    session: SessionId,
    json: bool,
    /// The prompt's turn, once it has started, and its text.
    turn: Option<Turn>,
    words: Option<TextPrinter>,
    /// The open calls of the turn.
    calls: Vec<ToolCall>,
    questions: Questions,
    /// A server runs, so others can answer while this waits.
    has_server: bool,
    /// The last printed text ended its line.
    at_line_start: bool,
    target: Target,
    /// The plan as it was printed last.
    plan: Vec<PlanStep>,
    /// Calls that ended in the middle of a printed line; they are printed after it.
    held_back: Vec<ToolCall>,
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// The answer to this prompt, up to its end.
    Prompt(InteractionId),
    /// Every turn, for ever.
    EveryTurn,
}

impl Target {
    fn is(self, prompt: InteractionId) -> bool {
        match self {
            Self::Prompt(wanted) => wanted == prompt,
            Self::EveryTurn => true,
        }
    }
}

impl AnswerPrinter {
    /// Follows the session from a cursor, or from its beginning, for the answer to a prompt.
    pub(super) async fn follow(client: &Client, session: SessionId, after: Option<&str>, json: bool) -> Result<Self> {
        Self::begin(client, session, after, None, json).await
    }

    /// Follows the session from its newest turn on.
    pub(super) async fn follow_newest(client: &Client, session: SessionId, json: bool) -> Result<Self> {
        Self::begin(client, session, None, Some(1), json).await
    }

    async fn begin(
        client: &Client,
        session: SessionId,
        after: Option<&str>,
        turns: Option<u32>,
        json: bool,
    ) -> Result<Self> {
        let mut socket = client.live().await?;
        let request = Request::Follow { session, after: after.map(str::to_owned), turns, batch: false };
        let frame = ClientFrame { id: "follow".to_owned(), request };
        socket.send(Message::text(serde_json::to_string(&frame)?)).await?;
        Ok(Self {
            socket,
            session,
            json,
            turn: None,
            words: None,
            calls: Vec::new(),
            questions: Questions::new(),
            has_server: client.has_server(),
            at_line_start: true,
            target: Target::EveryTurn,
            plan: Vec::new(),
            held_back: Vec::new(),
        })
    }

    /// Prints the answer to a prompt.
    pub(super) async fn print(&mut self, client: &Client, prompt: InteractionId) -> Result<()> {
        self.target = Target::Prompt(prompt);
        self.print_all(client).await
    }

    /// Prints every turn, until the connection ends.
    pub(super) async fn watch(&mut self, client: &Client) -> Result<()> {
        self.target = Target::EveryTurn;
        // Watching only reads: questions are answered with `answer`, or on the page.
        self.questions.leave_terminal();
        self.print_all(client).await
    }

    async fn print_all(&mut self, client: &Client) -> Result<()> {
        loop {
            let message = tokio::select! {
                message = self.socket.next() => message,
                line = self.questions.line() => {
                    self.take_line(client, &line?).await?;
                    continue;
                }
            };
            // A killed server breaks the connection; the error itself helps nobody.
            let Some(Ok(message)) = message else { break };
            let Message::Text(text) = message else { continue };
            match serde_json::from_str(&text)? {
                ServerFrame::LargeEntry { session, entry, .. } if session == self.session => {
                    let page: EntryPage = client.get(entry.read.trim_start_matches("/api/v1")).await?;
                    for entry in page.entries {
                        if let Some(stop) = self.print_entry(client, entry).await? {
                            return self.end(&stop);
                        }
                    }
                }
                ServerFrame::Entry { session, entry, .. } if session == self.session => {
                    if let Some(stop) = self.print_entry(client, entry).await? {
                        return self.end(&stop);
                    }
                }
                ServerFrame::Reset { session, .. } if session == self.session => {
                    bail!("the session was deleted")
                }
                ServerFrame::Error { error, .. } => bail!("{} ({})", error.message, error.code),
                ServerFrame::Bye { reason, .. } => bail!("the server closed the connection: {reason}"),
                _ => (),
            }
        }
        if !self.json {
            self.lines(&[])?;
        }
        bail!("the server went away; what it stored is there: `throughline show {}`", tail(self.session))
    }

    /// Prints an entry; returns how the turn ended, if it did.
    async fn print_entry(&mut self, client: &Client, entry: Entry) -> Result<Option<Stop>> {
        if self.json && self.concerns(&entry.event) {
            terminal::line(&safe_json(&serde_json::to_string(&entry)?))?;
        }
        // A question outside of the turns may be what the prompt waits for.
        if let SessionEvent::PermissionAsked { request, question, turn } = &entry.event
            && (turn.is_none() || *turn == self.turn)
            && !self.json
        {
            self.ask(client, *request, question).await?;
        }
        let is_turn_end = matches!(&entry.event, SessionEvent::TurnEnded { turn, .. } if Some(*turn) == self.turn);
        let printed = self.print_event(entry.event)?;
        if is_turn_end {
            mark_seen(client, self.session, self.json).await;
        }
        Ok(printed)
    }

    fn concerns(&self, event: &SessionEvent) -> bool {
        if self.target == Target::EveryTurn {
            return true;
        }
        match event {
            SessionEvent::TurnStarted { interaction_id, .. } | SessionEvent::PromptQueued { interaction_id, .. } => {
                self.target.is(*interaction_id)
            }
            SessionEvent::PermissionAsked { turn: None, .. } | SessionEvent::PermissionAnswered { turn: None, .. } => {
                true
            }
            _ => self.turn.is_some(),
        }
    }

    /// Prints what an event adds; returns how the turn ended, once it has.
    fn print_event(&mut self, event: SessionEvent) -> Result<Option<Stop>> {
        match event {
            SessionEvent::TurnStarted { turn, interaction_id } if self.target.is(interaction_id) => {
                self.turn = Some(turn);
                self.words = Some(TextPrinter::new(turn, tail(self.session)));
                self.plan.clear();
            }
            SessionEvent::PromptSent { text, by, .. } if self.target == Target::EveryTurn && !self.json => {
                if let Some(turn) = self.turn {
                    self.lines(&[String::new(), prompt_line(turn, &by, &text), String::new()])?;
                }
            }
            SessionEvent::TextPart { turn, block, text } if Some(turn) == self.turn && !self.json => {
                self.print_words(|words| words.add_durable(block, &text))?;
            }
            SessionEvent::ToolStarted { turn, tool, call_id, change } if Some(turn) == self.turn && !self.json => {
                // What was being said is said: the call comes after it.
                self.lines(&[])?;
                self.calls.push(ToolCall::begin(tool, call_id, &change));
                self.finish_call(tool)?;
            }
            SessionEvent::ToolChanged { turn, tool, change } | SessionEvent::ToolEnded { turn, tool, change }
                if Some(turn) == self.turn && !self.json =>
            {
                if let Some(call) = self.calls.iter_mut().find(|call| call.tool == tool) {
                    call.change(&change);
                }
                self.finish_call(tool)?;
            }
            SessionEvent::ToolPart { turn, tool, text, body } if Some(turn) == self.turn && !self.json => {
                if let Some(call) = self.calls.iter_mut().find(|call| call.tool == tool) {
                    call.add_part(&text, body.as_ref());
                }
            }
            SessionEvent::OutputStored { turn, output } if Some(turn) == self.turn && !self.json => {
                self.item(&Item::Output { output, removed: None })?;
            }
            SessionEvent::PlanChanged { turn, steps } if Some(turn) == self.turn && !self.json => {
                self.print_plan(steps)?;
            }
            SessionEvent::AgentNoticed { notice } if self.turn.is_some() && !self.json => {
                self.item(&Item::Notice(notice))?;
            }
            SessionEvent::PermissionAnswered { turn, request, answer }
                if (turn.is_none() || turn == self.turn) && !self.json =>
            {
                let lines = self.questions.settle(request, &answer);
                if !lines.is_empty() {
                    self.lines(&lines)?;
                }
                self.show_questions()?;
            }
            SessionEvent::TurnEnded { turn, stop } if self.target == Target::EveryTurn => {
                if Some(turn) == self.turn && !self.json {
                    self.print_words(TextPrinter::end)?;
                    self.lines(&[])?;
                    self.calls.clear();
                    if let Some(words) = stop_words(&stop) {
                        self.lines(&[words])?;
                    }
                }
                self.turn = None;
            }
            SessionEvent::AgentStateChanged { state: model::AgentState::SignedOut, .. }
                if self.target == Target::EveryTurn =>
            {
                terminal::remark("the agent wants you to sign in; the page says how");
            }
            SessionEvent::AgentStateChanged { state: model::AgentState::Failed, reason, .. }
                if self.target == Target::EveryTurn =>
            {
                terminal::remark(&format!("the agent failed: {}", reason.unwrap_or_default()));
            }
            // The advice about it follows.
            SessionEvent::TurnEnded { stop, .. } if stop.reason.as_deref() == Some(SIGNED_OUT) => (),
            SessionEvent::TurnEnded { turn, stop } if Some(turn) == self.turn => return Ok(Some(stop)),
            SessionEvent::AgentStateChanged { state: model::AgentState::SignedOut, methods, .. } => {
                let then = match self.turn {
                    Some(_) => "Then send the prompt again.".to_owned(),
                    None => {
                        format!("The prompt is kept and waits; then run `throughline resume {}`.", tail(self.session))
                    }
                };
                bail!("the agent wants you to sign in\n{}  {then}", sign_in_words(&methods))
            }
            SessionEvent::PromptRemoved { interaction_id } if self.target == Target::Prompt(interaction_id) => {
                bail!("the prompt was taken out of the queue before it was sent")
            }
            SessionEvent::AgentStateChanged { state: model::AgentState::Failed, reason, .. } if self.turn.is_none() => {
                let session = tail(self.session);
                bail!(
                    "the agent failed: {}\n  The prompt is kept and waits: it goes out when the agent is back, as after \
                     `throughline resume {session}`. The page can take it out of the queue.",
                    safe(&reason.unwrap_or_default())
                )
            }
            _ => (),
        }
        Ok(None)
    }

    /// Prints a call once it has ended.
    fn finish_call(&mut self, tool: u32) -> Result<()> {
        let ended = self.calls.iter().position(|call| call.tool == tool && call.status.is_final());
        match ended {
            Some(index) => {
                let call = self.calls.remove(index);
                // A call that ends while a sentence is being said does not cut it.
                if self.at_line_start {
                    self.item(&Item::Tool(call))
                } else {
                    self.held_back.push(call);
                    Ok(())
                }
            }
            None => Ok(()),
        }
    }

    /// Prints a plan: whole at first, then the steps that changed.
    fn print_plan(&mut self, steps: Vec<PlanStep>) -> Result<()> {
        let is_same = steps.len() == self.plan.len() && steps.iter().zip(&self.plan).all(|(a, b)| a.text == b.text);
        let changed = |(index, step): &(usize, &PlanStep)| !is_same || self.plan[*index].status != step.status;
        let shown: Vec<PlanStep> = steps.iter().enumerate().filter(changed).map(|(_, step)| step.clone()).collect();
        self.plan = steps;
        if shown.is_empty() { Ok(()) } else { self.item(&Item::Plan { steps: shown }) }
    }

    /// Handles a question. One that a rule answers at once is not shown.
    async fn ask(&mut self, client: &Client, request: Asked, question: &model::Question) -> Result<()> {
        self.questions.add(request, question.clone());
        // In doubt the question is shown.
        if self.is_open(client, request).await.unwrap_or(true) { self.show_questions() } else { Ok(()) }
    }

    /// Whether a request is still open after the rules had time to answer.
    async fn is_open(&self, client: &Client, request: Asked) -> Result<bool> {
        let path = format!("/sessions/{}", self.session);
        if self.questions.at_terminal() {
            // A person who reads here observes the session, and the server answers once its rules are done.
            client.post::<Observed>(&format!("{path}/observe"), None::<&()>).await?;
        } else {
            // A script sees nothing, so nothing may be marked as seen.
            tokio::time::sleep(RULES_TAKE).await;
        }
        let now: Session = client.get(&path).await?;
        Ok(now.open_requests.iter().any(|open| open.request == request.to_string()))
    }

    fn show_questions(&mut self) -> Result<()> {
        while let Some((lines, how)) = self.questions.show_next() {
            self.lines(&lines)?;
            match how {
                AnswerPlace::Here(prompt) => self.piece(&prompt)?,
                AnswerPlace::Elsewhere if !self.has_server => anyhow::bail!(
                    "the agent asks, and nobody can answer here; run this at a terminal, or while `throughline serve` runs"
                ),
                AnswerPlace::Elsewhere => {
                    let session = tail(self.session);
                    terminal::remark(&format!(
                        "the agent waits: answer on the page, or `throughline answer {session} allow`"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Handles a line that the person typed.
    async fn take_line(&mut self, client: &Client, line: &str) -> Result<()> {
        // The person ended the line.
        self.at_line_start = true;
        let Some((request, question)) = self.questions.question() else { return Ok(()) };
        if line.is_empty() {
            self.questions.leave_terminal();
            terminal::remark("nothing more can be typed here; the agent waits, `throughline answer` answers it");
            return self.show_questions();
        }
        let choices = match answer::choices(&question.options, line.trim(), false) {
            Ok(choices) => choices,
            Err(err) => {
                terminal::remark(&err.to_string());
                let prompt = self.questions.prompt().unwrap_or_default();
                return self.piece(&prompt);
            }
        };
        self.questions.set_given(request);
        if let Err(err) = answer::send_answer(client, &self.session.to_string(), &request.to_string(), choices).await {
            self.questions.set_not_taken(request);
            terminal::remark(&format!("{err}; if it still waits, `throughline answer` answers it"));
        }
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Result<()> {
        self.lines(&item_lines(item, &tail(self.session)))
    }

    /// Prints what the change of the turn's text yields.
    fn print_words(&mut self, what: impl FnOnce(&mut TextPrinter) -> Vec<Print>) -> Result<()> {
        for print in self.words.as_mut().map(what).unwrap_or_default() {
            match print {
                Print::Words(words) => self.piece(&words)?,
                Print::Lines(lines) => self.put(&lines)?,
            }
        }
        Ok(())
    }

    /// Prints lines that are not part of the turn's text, after it.
    fn lines(&mut self, lines: &[String]) -> Result<()> {
        self.print_words(TextPrinter::pause)?;
        self.put(&[])?;
        self.print_held_back()?;
        self.put(lines)
    }

    /// Prints the calls that ended in the midst of a line.
    fn print_held_back(&mut self) -> Result<()> {
        for call in std::mem::take(&mut self.held_back) {
            self.put(&item_lines(&Item::Tool(call), &tail(self.session)))?;
        }
        Ok(())
    }

    fn put(&mut self, lines: &[String]) -> Result<()> {
        if !self.at_line_start {
            terminal::line("")?;
        }
        for line in lines {
            terminal::line(line)?;
        }
        self.at_line_start = true;
        Ok(())
    }

    fn piece(&mut self, text: &str) -> Result<()> {
        let (line, rest) = match text.find('\n') {
            Some(end) if !self.held_back.is_empty() => text.split_at(end + 1),
            Some(_) | None => (text, ""),
        };
        for part in [line, rest] {
            if !part.is_empty() {
                terminal::print_text(&safe(part))?;
                self.at_line_start = part.ends_with('\n');
            }
            if self.at_line_start {
                self.print_held_back()?;
            }
        }
        Ok(())
    }

    fn end(&mut self, stop: &Stop) -> Result<()> {
        if !self.json {
            self.print_words(TextPrinter::end)?;
            self.lines(&[])?;
        }
        match stop_words(stop) {
            None => Ok(()),
            Some(words) => bail!(words),
        }
    }
}

/// How a turn ended, if not well.
fn stop_words(stop: &Stop) -> Option<String> {
    let reason = reason_suffix(stop.reason.as_deref());
    match stop.outcome {
        Outcome::Completed => None,
        Outcome::Cancelled => Some(format!("the turn was stopped{reason}")),
        Outcome::Failed => Some(format!("the turn failed{reason}")),
        Outcome::Interrupted => Some(format!("the turn was interrupted{reason}")),
    }
}

/// The sign-in methods of an agent, a line each.
fn sign_in_words(methods: &[SignInMethod]) -> String {
    let in_terminal =
        methods.iter().filter_map(|way| way.run.as_ref()).map(|run| format!("  Run {run} in a terminal.\n"));
    let mut words: String = in_terminal.collect();
    let chosen: Vec<&str> = methods.iter().filter(|way| way.run.is_none()).map(|way| way.name.as_str()).collect();
    if !chosen.is_empty() {
        words.push_str(&format!("  Choose on the page: {}.\n", chosen.join(", ")));
    }
    if words.is_empty() {
        words.push_str("  Sign in with the agent's own program; `throughline agents --json` says how.\n");
    }
    words
}
