//! One conversation with an agent: a task that hears the agent and its session, and keeps the time.
//!
//! Invariant: what the agent does is told in the order of the wire; a turn that was begun ends with the agent's answer or
//! with its failure. Nothing waits for the agent without a limit but a turn, and of a turn in which nothing comes it is
//! said that nothing comes.

mod asks;
mod attach;
mod calls;
mod files;
mod lent;
mod new_files;
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

use super::about::AgentProfile;
use super::connection::{Connection, Lease};
use super::inbox::{Inbox, Message};
use super::questions::Questions;
use super::terminals::Terminals;
use super::translate::Translator;
use super::wire::Refused;
use crate::{AgentRequest, AgentSettings, AgentStart, AgentUpdate};
use calls::Calls;
use files::Files;
use new_files::NewFiles;
use watch::Watch;

pub(crate) struct Session {
    settings: Arc<AgentSettings>,
    about: Arc<AgentProfile>,
    lease: Lease,
    /// Our key of it on the connection.
    key: u64,
    inbox: Inbox,
    calls: Calls,
    news: mpsc::Sender<AgentUpdate>,
    start: AgentStart,
    /// The agent's own id of the conversation; empty before it has one.
    name: String,
    translator: Translator,
    turn: Option<Turn>,
    questions: Questions,
    /// Options that are being set, by request.
    setting: HashMap<i64, (String, String)>,
    terminals: Terminals,
    files: Files,
    new_files: NewFiles,
    /// What is being done for the agent.
    served: JoinSet<()>,
    /// What the person chose of what the agent offers, by the name under which it was chosen.
    chosen: BTreeMap<String, String>,
    /// The brief, until a prompt has gone out with it.
    untold_brief: Option<String>,
    /// The agent takes prompts.
    is_attached: bool,
    /// The agent is to keep no record of it.
    is_purged: bool,
}

/// The turn that runs.
struct Turn {
    request: i64,
    watch: Watch,
}

/// What a session is held with.
pub(crate) struct Ends {
    pub(crate) calls: mpsc::Receiver<AgentRequest>,
    pub(crate) news: mpsc::Sender<AgentUpdate>,
}

/// Why a session is over.
enum Gone {
    /// The agent failed.
    Failed(String),
    /// Nobody listens any more.
    LetGo,
}

impl Session {
    /// `env` is what the agent itself runs with; so do its terminals.
    pub(crate) fn new(
        settings: Arc<AgentSettings>,
        about: Arc<AgentProfile>,
        lease: Lease,
        env: BTreeMap<String, String>,
        start: AgentStart,
        ends: Ends,
    ) -> Self {
        let (key, inbox) = lease.connection().add_session();
        let terminals = Terminals::new(settings.clone(), env, start.cwd.clone());
        let Ends { calls, news } = ends;
        let chosen = start.options.clone();
        let files = Files::of(&start.cwd, settings.deny.clone());
        Self {
            files,
            new_files: NewFiles::default(),
            settings,
            about,
            lease,
            key,
            inbox,
            calls: Calls::new(calls),
            news,
            start,
            name: String::new(),
            translator: Translator::default(),
            turn: None,
            questions: Questions::default(),
            setting: HashMap::new(),
            terminals,
            served: JoinSet::new(),
            chosen,
            untold_brief: None,
            is_attached: false,
            is_purged: false,
        }
    }

    /// Until the agent fails or nobody listens.
    pub(crate) async fn run(mut self) {
        let mut now = self.attach().await;
        while now.is_ok() {
            now = self.step().await;
        }
        if let Err(Gone::Failed(reason)) = now {
            drop(self.send_report(AgentReport::Failed { reason }).await);
        }
        self.leave().await;
    }

    async fn step(&mut self) -> Result<(), Gone> {
        let deadline = self.turn.as_ref().and_then(|turn| turn.watch.deadline(&self.settings.limits));
        tokio::select! {
            biased;
            () = self.news.closed() => Err(Gone::LetGo),
            // Ahead of the agent, so that none can talk the clock or its session down.
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => self.look_at_clock().await,
            call = self.calls.next() => self.call(call.ok_or(Gone::LetGo)?).await,
            message = self.inbox.take() => self.hear(message.map_err(Gone::Failed)?).await,
            Some(_) = self.served.join_next() => Ok(()),
        }
    }

    async fn call(&mut self, call: AgentRequest) -> Result<(), Gone> {
        match call {
            AgentRequest::Prompt { text, images, packet } => self.prompt(text, images, packet).await,
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

    async fn hear(&mut self, message: Message) -> Result<(), Gone> {
        self.heard();
        match message {
            Message::Update(update) => {
                let is_about_modes = update.get("sessionUpdate").and_then(Value::as_str).is_some_and(concerns_options);
                let before = if is_about_modes { self.standing() } else { Vec::new() };
                let reports = self.translator.update(update, &self.terminals);
                if let Some(turn) = &mut self.turn {
                    turn.watch.note_calls(self.translator.has_open_call());
                }
                self.send_reports(reports).await?;
                self.notice_if_it_asks_less(&before).await
            }
            Message::Request { id, method, params } => self.serve(id, &method, params).await,
            Message::Reply { id, result } => self.replied(id, result).await,
            Message::Withdrawn { id } => match self.questions.forget(&id) {
                Some(key) => {
                    self.connection().answer(&id, Err(Error::from(ErrorCode::REQUEST_CANCELLED)));
                    self.news.send(AgentUpdate::Withdrawn { key }).await.map_err(|_| Gone::LetGo)
                }
                None => Ok(()),
            },
            // The person says so as well.
            Message::Other { method, .. } if method == CLIENT_METHOD_NAMES.elicitation_complete => Ok(()),
            Message::Other { method, params } => {
                let reports = self.translator.raw(json!({ "method": method, "params": params }));
                self.send_reports(reports).await
            }
        }
    }

    async fn replied(&mut self, id: i64, result: Result<Value, Refused>) -> Result<(), Gone> {
        if let Some(turn) = self.turn.take_if(|turn| turn.request == id) {
            return self.end_turn(&turn, result).await;
        }
        let Some((option, value)) = self.setting.remove(&id) else { return Ok(()) };
        self.option_set(&option, &value, result).await
    }

    async fn option_set(&mut self, option: &str, value: &str, result: Result<Value, Refused>) -> Result<(), Gone> {
        let reply = match result {
            Ok(reply) => reply,
            Err(refused) => {
                return self
                    .notice(&format!("The agent did not take {value:?} for {option:?}"), Some(refused.message))
                    .await;
            }
        };
        let before = self.standing();
        self.take_option(option, value, reply).await?;
        self.notice_if_it_asks_less(&before).await
    }

    async fn take_option(&mut self, option: &str, value: &str, reply: Value) -> Result<(), Gone> {
        let all = serde_json::from_value::<SetSessionConfigOptionResponse>(reply).ok();
        let reports = self.translator.option_set(option, value, all.map(|all| all.config_options));
        self.send_reports(reports).await
    }

    /// The reply to a request, however much comes before it; `None` if it does not come in time. An agent that waits for
    /// a person's answer meanwhile is not late.
    async fn reply_to(&mut self, id: i64, limit: std::time::Duration) -> Result<Option<Result<Value, Refused>>, Gone> {
        let mut until = Instant::now() + limit;
        let asked = self.questions.asked();
        loop {
            let is_asking = self.questions.any_since(asked);
            let message = tokio::select! {
                biased;
                () = self.news.closed() => return Err(Gone::LetGo),
                () = sleep_until(until), if !is_asking => return Ok(None),
                call = self.calls.next_new() => {
                    self.call_meanwhile(call.ok_or(Gone::LetGo)?).await?;
                    None
                }
                message = self.inbox.take() => Some(message.map_err(Gone::Failed)?),
            };
            if is_asking {
                until = Instant::now() + limit;
            }
            match message {
                Some(Message::Reply { id: of, result }) if of == id => return Ok(Some(result)),
                Some(message) => self.hear(message).await?,
                None => (),
            }
        }
    }

    /// What may be asked of an agent that is about to answer something else: the rest has to wait.
    async fn call_meanwhile(&mut self, call: AgentRequest) -> Result<(), Gone> {
        match call {
            AgentRequest::Answer { key, answer } => self.answer_question(key, answer),
            AgentRequest::Cancel => self.cancel(),
            AgentRequest::Delete => self.purge()?,
            call @ (AgentRequest::Prompt { .. } | AgentRequest::SetOption { .. } | AgentRequest::SignIn { .. }) => {
                self.calls.put_off(call);
            }
        }
        Ok(())
    }

    fn answer_question(&mut self, key: u64, answer: PermissionAnswer) {
        if let Some((id, heard)) = self.questions.answer(key, answer) {
            self.connection().answer(&id, Ok(heard));
            self.heard();
        }
    }

    fn withdraw_questions(&mut self) {
        for (id, heard) in self.questions.withdraw_all() {
            self.connection().answer(&id, Ok(heard));
        }
    }

    fn purge(&mut self) -> Result<(), Gone> {
        self.is_purged = true;
        Err(Gone::LetGo)
    }

    /// Lets the conversation go, whether or not its process goes with it.
    async fn leave(&mut self) {
        // Whoever lets go at once may have said a last thing.
        self.is_purged |= self.calls.close().iter().any(|call| matches!(call, AgentRequest::Delete));
        self.withdraw_questions();
        if self.turn.is_some() {
            self.connection().notify(&CancelNotification::new(self.name.clone()));
        }
        let closes = self.about.capabilities.session_capabilities.close.is_some();
        if !self.name.is_empty() && closes && !(self.is_purged && self.about.deletes_records()) {
            self.connection().request(self.key, &CloseSessionRequest::new(self.name.clone()));
        }
        // What it still says is not heard, and so can not keep its answer from coming.
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

    async fn send_report(&self, report: AgentReport) -> Result<(), Gone> {
        self.news.send(AgentUpdate::Report(report)).await.map_err(|_| Gone::LetGo)
    }

    async fn send_reports(&mut self, reports: Vec<AgentReport>) -> Result<(), Gone> {
        for mut report in reports {
            self.read_command_of_title(&mut report);
            self.look_for_new_files(&mut report).await;
            self.send_report(report).await?;
        }
        Ok(())
    }

    async fn notice(&self, title: &str, description: Option<String>) -> Result<(), Gone> {
        let notice = Notice { severity: Severity::Warning, title: title.to_owned(), description };
        self.send_report(AgentReport::Noticed(notice)).await
    }
}

/// Whether an update may change what is chosen.
fn concerns_options(kind: &str) -> bool {
    matches!(kind, "current_mode_update" | "config_option_update")
}
