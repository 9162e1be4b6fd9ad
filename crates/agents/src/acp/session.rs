//! One conversation with an agent: a task that handles the agent's messages and the engine's requests, and keeps the
//! time limits.
//!
//! Invariant: the agent's actions are reported in the order of the wire. A turn that has begun ends with the
//! agent's answer or with its failure. Every wait for the agent has a limit except a turn; a turn in which nothing
//! arrives is reported as silent.

mod asks;
mod attach;
mod files;
mod lent;
mod new_files;
mod request_queue;
mod serve;
mod titles;
mod turn;
mod watch;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    CLIENT_METHOD_NAMES, CancelNotification, CloseSessionRequest, SetSessionConfigOptionResponse,
};
use agent_client_protocol::{Error, ErrorCode};
use model::{AgentReport, Notice, PermissionAnswer, Severity};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::connection::{Connection, Lease};
use super::inbox::{Inbox, Message};
use super::profile::AgentProfile;
use super::questions::Questions;
use super::terminals::Terminals;
use super::translate::Translator;
use super::wire::Refused;
use crate::{AgentRequest, AgentSettings, AgentStart, AgentUpdate};
use files::Files;
use new_files::NewFiles;
use request_queue::RequestQueue;
use watch::TurnWatch;

pub(crate) struct AcpSession {
    settings: Arc<AgentSettings>,
    about: Arc<AgentProfile>,
    lease: Lease,
    /// The key of this session on the connection.
    key: u64,
    inbox: Inbox,
    requests: RequestQueue,
    updates: mpsc::Sender<AgentUpdate>,
    start: AgentStart,
    /// The agent's own id of the conversation; empty before it has one.
    name: String,
    translator: Translator,
    turn: Option<Turn>,
    questions: Questions,
    /// Options that are being set, by request id.
    setting: HashMap<i64, (String, String)>,
    terminals: Terminals,
    files: Files,
    new_files: NewFiles,
    /// Tasks that serve the agent's requests.
    served: JoinSet<()>,
    /// The options that the person chose, by the name under which they were chosen.
    chosen: BTreeMap<String, String>,
    /// The brief, until a prompt has carried it.
    unsent_brief: Option<String>,
    /// The agent accepts prompts.
    is_attached: bool,
    /// The agent's own record is to be deleted at the end.
    is_purged: bool,
}

/// The turn that runs.
struct Turn {
    request: i64,
    watch: TurnWatch,
}

/// The channels between a session and its owner.
pub(crate) struct SessionChannels {
    pub(crate) requests: mpsc::Receiver<AgentRequest>,
    pub(crate) updates: mpsc::Sender<AgentUpdate>,
}

/// Why a session ends.
enum SessionEnd {
    /// The agent failed.
    Failed(String),
    /// The owner has dropped the session.
    OwnerGone,
}

impl AcpSession {
    /// `env` is the environment of the agent; its terminals get the same.
    pub(crate) fn new(
        settings: Arc<AgentSettings>,
        about: Arc<AgentProfile>,
        lease: Lease,
        env: BTreeMap<String, String>,
        start: AgentStart,
        channels: SessionChannels,
    ) -> Self {
        let (key, inbox) = lease.connection().add_session();
        let terminals = Terminals::new(settings.clone(), env, start.cwd.clone());
        let SessionChannels { requests, updates } = channels;
        let chosen = start.options.clone();
        let files = Files::of(&start.cwd, settings.deny.clone());
        let mut translator = Translator::default();
        if about.quirks.counts_its_life {
            translator.count_life();
        }
        Self {
            files,
            new_files: NewFiles::default(),
            settings,
            about,
            lease,
            key,
            inbox,
            requests: RequestQueue::new(requests),
            updates,
            start,
            name: String::new(),
            translator,
            turn: None,
            questions: Questions::default(),
            setting: HashMap::new(),
            terminals,
            served: JoinSet::new(),
            chosen,
            unsent_brief: None,
            is_attached: false,
            is_purged: false,
        }
    }

    /// Runs until the agent fails or the owner drops the session.
    pub(crate) async fn run(mut self) {
        let mut now = self.attach().await;
        while now.is_ok() {
            now = self.step().await;
        }
        if let Err(SessionEnd::Failed(reason)) = now {
            drop(self.send_report(AgentReport::Failed { reason }).await);
        }
        self.leave().await;
    }

    async fn step(&mut self) -> Result<(), SessionEnd> {
        let deadline = self.turn.as_ref().and_then(|turn| turn.watch.deadline(&self.settings.limits));
        tokio::select! {
            biased;
            () = self.updates.closed() => Err(SessionEnd::OwnerGone),
            // Before the agent's messages, so that a flood of them cannot delay the clock or the owner's requests.
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => self.check_deadlines().await,
            request = self.requests.next() => self.handle_request(request.ok_or(SessionEnd::OwnerGone)?).await,
            message = self.inbox.take() => self.handle_message(message.map_err(SessionEnd::Failed)?).await,
            Some(_) = self.served.join_next() => Ok(()),
        }
    }

    async fn handle_request(&mut self, request: AgentRequest) -> Result<(), SessionEnd> {
        match request {
            AgentRequest::Prompt { text, images, packet, beside } => self.prompt(text, images, packet, beside).await,
            AgentRequest::Cancel => {
                self.cancel();
                Ok(())
            }
            AgentRequest::Answer { key, answer } => {
                self.answer_question(key, answer);
                Ok(())
            }
            AgentRequest::SetOption { option, value } => self.set_option(&option, &value).await,
            AgentRequest::SignIn { method } => {
                if self.sign_in(method).await? {
                    self.send_report(AgentReport::Ready { attached: None }).await?;
                }
                Ok(())
            }
            AgentRequest::Delete => self.purge(),
        }
    }

    async fn handle_message(&mut self, message: Message) -> Result<(), SessionEnd> {
        self.note_activity();
        match message {
            Message::Update(update) => {
                let is_about_modes = update.get("sessionUpdate").and_then(Value::as_str).is_some_and(concerns_options);
                let before = if is_about_modes { self.asking_options() } else { Vec::new() };
                let reports = self.translator.update(update, &self.terminals);
                if let Some(turn) = &mut self.turn {
                    turn.watch.note_calls(self.translator.has_open_call());
                }
                self.send_reports(reports).await?;
                self.notice_if_it_asks_less(&before).await
            }
            Message::Request { id, method, params } => self.serve(id, &method, params).await,
            Message::Reply { id, result } => self.handle_reply(id, result).await,
            Message::Withdrawn { id } => match self.questions.forget(&id) {
                Some(key) => {
                    self.connection().answer(&id, Err(Error::from(ErrorCode::REQUEST_CANCELLED)));
                    self.updates.send(AgentUpdate::Withdrawn { key }).await.map_err(|_| SessionEnd::OwnerGone)
                }
                None => Ok(()),
            },
            // The person's answer says the same.
            Message::Other { method, .. } if method == CLIENT_METHOD_NAMES.elicitation_complete => Ok(()),
            Message::Other { method, params } => {
                let reports = self.translator.raw(json!({ "method": method, "params": params }));
                self.send_reports(reports).await
            }
        }
    }

    async fn handle_reply(&mut self, id: i64, result: Result<Value, Refused>) -> Result<(), SessionEnd> {
        if let Some(turn) = self.turn.take_if(|turn| turn.request == id) {
            return self.end_turn(&turn, result).await;
        }
        let Some((option, value)) = self.setting.remove(&id) else { return Ok(()) };
        self.option_set(&option, &value, result).await
    }

    async fn option_set(
        &mut self,
        option: &str,
        value: &str,
        result: Result<Value, Refused>,
    ) -> Result<(), SessionEnd> {
        let reply = match result {
            Ok(reply) => reply,
            Err(refused) => {
                return self
                    .notice(&format!("The agent did not take {value:?} for {option:?}"), Some(refused.message))
                    .await;
            }
        };
        let before = self.asking_options();
        self.report_option(option, value, reply).await?;
        self.notice_if_it_asks_less(&before).await
    }

    async fn report_option(&mut self, option: &str, value: &str, reply: Value) -> Result<(), SessionEnd> {
        let all = serde_json::from_value::<SetSessionConfigOptionResponse>(reply).ok();
        let reports = self.translator.option_set(option, value, all.map(|all| all.config_options));
        self.send_reports(reports).await
    }

    /// Waits for the reply to a request, handling other messages meanwhile; `None` if it does not come in time. While
    /// the agent waits for a person's answer, the limit does not run.
    async fn reply_to(
        &mut self,
        id: i64,
        limit: std::time::Duration,
    ) -> Result<Option<Result<Value, Refused>>, SessionEnd> {
        let mut until = Instant::now() + limit;
        let asked = self.questions.asked();
        loop {
            let is_asking = self.questions.any_since(asked);
            let message = tokio::select! {
                biased;
                () = self.updates.closed() => return Err(SessionEnd::OwnerGone),
                () = sleep_until(until), if !is_asking => return Ok(None),
                request = self.requests.next_new() => {
                    self.handle_request_while_waiting(request.ok_or(SessionEnd::OwnerGone)?).await?;
                    None
                }
                message = self.inbox.take() => Some(message.map_err(SessionEnd::Failed)?),
            };
            if is_asking {
                until = Instant::now() + limit;
            }
            match message {
                Some(Message::Reply { id: of, result }) if of == id => return Ok(Some(result)),
                Some(message) => self.handle_message(message).await?,
                None => (),
            }
        }
    }

    /// Handles a request while a reply is awaited. What has to wait for that reply is deferred.
    async fn handle_request_while_waiting(&mut self, request: AgentRequest) -> Result<(), SessionEnd> {
        match request {
            AgentRequest::Answer { key, answer } => self.answer_question(key, answer),
            AgentRequest::Cancel => self.cancel(),
            AgentRequest::Delete => self.purge()?,
            request @ (AgentRequest::Prompt { .. } | AgentRequest::SetOption { .. } | AgentRequest::SignIn { .. }) => {
                self.requests.defer(request);
            }
        }
        Ok(())
    }

    fn answer_question(&mut self, key: u64, answer: PermissionAnswer) {
        if let Some((id, answer)) = self.questions.answer(key, answer) {
            self.connection().answer(&id, Ok(answer));
            self.note_activity();
        }
    }

    fn withdraw_questions(&mut self) {
        for (id, answer) in self.questions.withdraw_all() {
            self.connection().answer(&id, Ok(answer));
        }
    }

    fn purge(&mut self) -> Result<(), SessionEnd> {
        self.is_purged = true;
        Err(SessionEnd::OwnerGone)
    }

    /// Ends the conversation, whether or not its process ends as well.
    async fn leave(&mut self) {
        // The owner may have asked for deletion just before it dropped the session.
        self.is_purged |= self.requests.close().iter().any(|request| matches!(request, AgentRequest::Delete));
        self.withdraw_questions();
        if self.turn.is_some() {
            self.connection().notify(&CancelNotification::new(self.name.clone()));
        }
        let closes = self.about.capabilities.session_capabilities.close.is_some();
        if !self.name.is_empty() && closes && !(self.is_purged && self.about.deletes_records()) {
            self.connection().request(self.key, &CloseSessionRequest::new(self.name.clone()));
        }
        // From here on the agent's messages are dropped, so they cannot delay the answer to the deletion below.
        self.connection().remove_session(self.key);
        self.served.shutdown().await;
        let record = Some(&self.name).filter(|name| !name.is_empty()).or(self.start.earlier.as_ref());
        if let Some(record) = record.filter(|_| self.is_purged) {
            self.about.delete_record(self.connection(), record, self.settings.limits.delete).await;
        }
    }

    fn connection(&self) -> &Connection {
        self.lease.connection()
    }

    async fn send_report(&self, report: AgentReport) -> Result<(), SessionEnd> {
        self.updates.send(AgentUpdate::Report(report)).await.map_err(|_| SessionEnd::OwnerGone)
    }

    async fn send_reports(&mut self, reports: Vec<AgentReport>) -> Result<(), SessionEnd> {
        for mut report in reports {
            self.read_command_of_title(&mut report);
            self.look_for_new_files(&mut report).await;
            self.send_report(report).await?;
        }
        Ok(())
    }

    async fn notice(&self, title: &str, description: Option<String>) -> Result<(), SessionEnd> {
        let notice = Notice { severity: Severity::Warning, title: title.to_owned(), description };
        self.send_report(AgentReport::Noticed(notice)).await
    }
}

/// Whether an update may change an option's value.
fn concerns_options(kind: &str) -> bool {
    matches!(kind, "current_mode_update" | "config_option_update")
}
