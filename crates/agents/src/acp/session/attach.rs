//! Attaches a session to a conversation of the agent: resumes the earlier one if the agent can, else begins a new
//! one.

use agent_client_protocol::JsonRpcRequest;
use agent_client_protocol::v1::schema::{
    AuthenticateRequest, LoadSessionRequest, LoadSessionResponse, NewSessionRequest, NewSessionResponse,
    ResumeSessionRequest, SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use model::{AgentReport, Attached, Memory};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::{AcpSession, SessionEnd};
use crate::AgentRequest;
use crate::acp::inbox::Message;
use crate::acp::translate::OptionSetter;
use crate::acp::wire::Refused;

/// Some agents offer models in the way that the protocol had before options.
const SET_MODEL: &str = "session/set_model";

/// The result of an attempt to begin or resume a conversation.
enum AttachResult<T> {
    Done(T),
    SignedOut,
    Refused(Refused),
}

impl AcpSession {
    /// Returns once the agent accepts prompts.
    pub(super) async fn attach(&mut self) -> Result<(), SessionEnd> {
        let memory = loop {
            match self.begin().await? {
                AttachResult::Done(memory) => break memory,
                AttachResult::SignedOut => self.wait_for_sign_in().await?,
                AttachResult::Refused(refused) => {
                    return Err(SessionEnd::Failed(format!("the agent refused the session: {}", refused.message)));
                }
            }
        };
        // Not every agent remembers the chosen options of a conversation that it resumes.
        for (option, value) in std::mem::take(&mut self.start.options) {
            let is_offered = self.translator.find_option(&self.translator.option_name(&option)).is_some();
            if is_offered || memory == Memory::New {
                self.choose(&option, &value).await?;
            }
        }
        self.ensure_it_asks().await?;
        let attached = Attached { agent_session: self.name.clone(), memory, program: self.about.program.clone() };
        self.send_report(AgentReport::Ready { attached: Some(attached) }).await
    }

    async fn begin(&mut self) -> Result<AttachResult<Memory>, SessionEnd> {
        if let Some(earlier) = self.start.earlier.clone() {
            let mut why = None;
            for memory in [Memory::Resumed, Memory::Loaded] {
                match self.resume(&earlier, memory).await? {
                    Some(AttachResult::Refused(refused)) => why = Some(refused.message),
                    Some(tried) => return Ok(tried),
                    None => {}
                }
            }
            if let Some(why) = why {
                self.notice("The agent could not take up its own record of this session", Some(why)).await?;
            }
        }
        self.begin_new().await
    }

    async fn begin_new(&mut self) -> Result<AttachResult<Memory>, SessionEnd> {
        let request = NewSessionRequest::new(self.start.cwd.clone())
            .mcp_servers(self.mcp_servers())
            .system_prompt(self.system_prompt())
            .meta(self.meta());
        let id = self.connection().request_new(self.key, &request);
        let reply = match self.reply_in_time(id, "did not begin a session").await? {
            AttachResult::Done(reply) => reply,
            AttachResult::SignedOut => return Ok(AttachResult::SignedOut),
            AttachResult::Refused(refused) => return Ok(AttachResult::Refused(refused)),
        };
        self.translator.read_models(&reply);
        let Ok(reply) = serde_json::from_value::<NewSessionResponse>(reply) else {
            return Ok(AttachResult::Refused(Refused::new("it answered in a way that is not understood")));
        };
        self.name = reply.session_id.0.to_string();
        self.unsent_brief = self.brief_for_first_prompt();
        let reports = self.translator.offered(reply.modes, reply.config_options);
        self.send_reports(reports).await?;
        Ok(AttachResult::Done(Memory::New))
    }

    /// Resumes an earlier conversation in one of the two ways; `None` if the agent does not offer this way.
    async fn resume(&mut self, earlier: &str, memory: Memory) -> Result<Option<AttachResult<Memory>>, SessionEnd> {
        let capabilities = &self.about.capabilities;
        let is_offered = match memory {
            Memory::Resumed => capabilities.session_capabilities.resume.is_some(),
            Memory::Loaded => capabilities.load_session && !self.about.quirks.must_not_load,
            Memory::New => false,
        };
        if !is_offered {
            return Ok(None);
        }
        if !self.connection().name_session(self.key, earlier) {
            return Ok(Some(AttachResult::Refused(Refused::new("another session here holds it"))));
        }
        let (cwd, servers) = (self.start.cwd.clone(), self.mcp_servers());
        let (system_prompt, meta) = (self.system_prompt(), self.meta());
        let tried = match memory {
            Memory::Loaded => {
                let request = LoadSessionRequest::new(earlier.to_owned(), cwd)
                    .mcp_servers(servers)
                    .system_prompt(system_prompt)
                    .meta(meta);
                self.translator.begin_replay();
                let tried = self.request_resume(&request).await;
                self.translator.end_replay();
                let tried = tried?;
                if let AttachResult::Done(_) = tried {
                    self.wait_for_replay_end().await?;
                }
                tried
            }
            Memory::Resumed | Memory::New => {
                let request = ResumeSessionRequest::new(earlier.to_owned(), cwd)
                    .mcp_servers(servers)
                    .system_prompt(system_prompt)
                    .meta(meta);
                self.request_resume(&request).await?
            }
        };
        Ok(Some(match tried {
            // Both requests have the same answer.
            AttachResult::Done(reply) => {
                earlier.clone_into(&mut self.name);
                self.translator.read_models(&reply);
                let reply = serde_json::from_value::<LoadSessionResponse>(reply).unwrap_or_default();
                let reports = self.translator.offered(reply.modes, reply.config_options);
                self.send_reports(reports).await?;
                AttachResult::Done(memory)
            }
            AttachResult::SignedOut => AttachResult::SignedOut,
            AttachResult::Refused(refused) => {
                self.connection().unname_session(earlier);
                AttachResult::Refused(refused)
            }
        }))
    }

    async fn request_resume(&mut self, request: &impl JsonRpcRequest) -> Result<AttachResult<Value>, SessionEnd> {
        let id = self.connection().request(self.key, request);
        self.reply_in_time(id, "did not take its session up").await
    }

    /// Waits until the agent is silent. Some agents reply that they have loaded their record while they still replay
    /// it. Nothing in the protocol tells replayed text from new text: message ids are optional, call ids may begin
    /// anew with each process, the same text may be said twice, and an agent may replay and answer at the same time.
    /// So the next prompt waits until the agent is silent.
    async fn wait_for_replay_end(&mut self) -> Result<(), SessionEnd> {
        let end = Instant::now() + self.settings.limits.attach;
        let mut quiet_at = Instant::now() + self.settings.limits.replayed;
        loop {
            let message = tokio::select! {
                biased;
                () = self.updates.closed() => return Err(SessionEnd::OwnerGone),
                () = sleep_until(end) => {
                    let why = "Earlier words may stand in its next answer.".to_owned();
                    return self.notice("The agent reads out its own record and does not come to an end", Some(why)).await;
                }
                request = self.requests.next_new() => {
                    self.handle_request_while_waiting(request.ok_or(SessionEnd::OwnerGone)?).await?;
                    continue;
                }
                message = self.inbox.take() => message.map_err(SessionEnd::Failed)?,
                () = sleep_until(quiet_at) => return Ok(()),
            };
            if matches!(&message, Message::Update(update) if may_be_replayed(update)) {
                quiet_at = Instant::now() + self.settings.limits.replayed;
            }
            self.handle_message(message).await?;
        }
    }

    async fn reply_in_time(&mut self, id: i64, what: &str) -> Result<AttachResult<Value>, SessionEnd> {
        let limit = self.settings.limits.attach;
        match self.reply_to(id, limit).await? {
            Some(Ok(reply)) => Ok(AttachResult::Done(reply)),
            Some(Err(refused)) if refused.is_signed_out() => Ok(AttachResult::SignedOut),
            Some(Err(refused)) => Ok(AttachResult::Refused(refused)),
            None => {
                self.connection().give_up();
                Err(SessionEnd::Failed(format!("the agent {what} within {} seconds", limit.as_secs_f32())))
            }
        }
    }

    async fn wait_for_sign_in(&mut self) -> Result<(), SessionEnd> {
        self.report_signed_out().await?;
        loop {
            let request = tokio::select! {
                biased;
                () = self.updates.closed() => {
                    // A person who signed in elsewhere needs a process that has not checked yet.
                    self.connection().retire();
                    return Err(SessionEnd::OwnerGone);
                }
                request = self.requests.next() => request.ok_or(SessionEnd::OwnerGone)?,
                message = self.inbox.take() => {
                    self.handle_message(message.map_err(SessionEnd::Failed)?).await?;
                    continue;
                }
            };
            match request {
                AgentRequest::SignIn { method } => {
                    if self.sign_in(method).await? {
                        return Ok(());
                    }
                }
                // There is no conversation yet that they could apply to.
                AgentRequest::Prompt { .. } | AgentRequest::SetOption { .. } => {}
                request @ (AgentRequest::Cancel | AgentRequest::Answer { .. } | AgentRequest::Delete) => {
                    self.handle_request_while_waiting(request).await?;
                }
            }
        }
    }

    pub(super) async fn report_signed_out(&self) -> Result<(), SessionEnd> {
        self.send_report(AgentReport::SignedOut { methods: self.about.sign_in.clone() }).await
    }

    /// Returns whether the person is signed in now.
    pub(super) async fn sign_in(&mut self, method: String) -> Result<bool, SessionEnd> {
        let ways = &self.about.sign_in;
        if let Some(run) = ways.iter().find(|way| way.id == method).and_then(|way| way.run.clone()) {
            self.notice("This way to sign in needs a terminal", Some(format!("Run {run}, then try again"))).await?;
            self.report_signed_out().await?;
            return Ok(false);
        }
        let id = self.connection().request(self.key, &AuthenticateRequest::new(method));
        let why = match self.reply_to(id, self.settings.limits.sign_in).await? {
            Some(Ok(_)) => return Ok(true),
            Some(Err(refused)) => refused.message,
            None => format!("it took more than {} seconds", self.settings.limits.sign_in.as_secs_f32()),
        };
        self.notice("The agent did not sign in", Some(why)).await?;
        self.report_signed_out().await?;
        Ok(false)
    }

    /// Sets an option before the first prompt.
    async fn choose(&mut self, option: &str, value: &str) -> Result<(), SessionEnd> {
        let option = &self.translator.option_name(option);
        if self.translator.find_option(option).is_some_and(|offer| offer.value == value) {
            return Ok(());
        }
        let Some(id) = self.request_option(option, value).await? else { return Ok(()) };
        match self.reply_to(id, self.settings.limits.attach).await? {
            Some(result) => self.option_set(option, value, result).await,
            None => self.notice(&format!("The agent did not say whether it took {value:?} for {option:?}"), None).await,
        }
    }

    /// Sets an option and waits for the reply; returns why it was not set, if it was not.
    pub(super) async fn set_at_once(&mut self, option: &str, value: &str) -> Result<Option<String>, SessionEnd> {
        let Some(id) = self.request_option(option, value).await? else { return Ok(Some("it offers none".to_owned())) };
        match self.reply_to(id, self.settings.limits.attach).await? {
            Some(Ok(reply)) => {
                self.report_option(option, value, reply).await?;
                let is_set = self.translator.find_option(option).is_some_and(|offer| offer.value == value);
                Ok((!is_set).then(|| "it took the other one and did not keep it".to_owned()))
            }
            Some(Err(refused)) => Ok(Some(refused.message)),
            None => Ok(Some("it did not answer".to_owned())),
        }
    }

    /// Sets an option for the person; the reply is handled when it comes.
    pub(super) async fn set_option(&mut self, option: &str, value: &str) -> Result<(), SessionEnd> {
        self.chosen.insert(option.to_owned(), value.to_owned());
        if let Some(id) = self.request_option(option, value).await? {
            self.setting.insert(id, (option.to_owned(), value.to_owned()));
        }
        Ok(())
    }

    async fn request_option(&mut self, option: &str, value: &str) -> Result<Option<i64>, SessionEnd> {
        let (name, connection) = (self.name.clone(), self.connection());
        let id = match (self.translator.find_option(option).map(|offer| offer.setting), value) {
            (Some(OptionSetter::Mode), _) => {
                connection.request(self.key, &SetSessionModeRequest::new(name, value.to_owned()))
            }
            (Some(OptionSetter::Model), _) => {
                let params = json!({ "sessionId": name, "modelId": value });
                connection.request_named(self.key, SET_MODEL, &params)
            }
            (Some(OptionSetter::Choice), _) => {
                let request = SetSessionConfigOptionRequest::new(name, option.to_owned(), value);
                connection.request(self.key, &request)
            }
            (Some(OptionSetter::Switch), "true" | "false") => {
                let request = SetSessionConfigOptionRequest::new(name, option.to_owned(), value == "true");
                connection.request(self.key, &request)
            }
            (Some(OptionSetter::Switch), _) => {
                self.notice(&format!("{option:?} is either true or false"), None).await?;
                return Ok(None);
            }
            (None, _) => {
                self.notice(&format!("The agent offers no {option:?} to choose"), None).await?;
                return Ok(None);
            }
        };
        Ok(Some(id))
    }
}

/// Whether an update is of a kind that a replay consists of. The other kinds may come at any time, again and again.
fn may_be_replayed(update: &Value) -> bool {
    let kind = update.get("sessionUpdate").and_then(Value::as_str);
    matches!(
        kind,
        Some(
            "user_message_chunk"
                | "agent_message_chunk"
                | "agent_thought_chunk"
                | "tool_call"
                | "tool_call_update"
                | "plan"
        )
    )
}
