//! How a session comes to its conversation with the agent: the earlier one if the agent can take it up, else a new one.

use agent_client_protocol::JsonRpcRequest;
use agent_client_protocol::v1::schema::{
    AuthenticateRequest, LoadSessionRequest, LoadSessionResponse, NewSessionRequest, NewSessionResponse,
    ResumeSessionRequest, SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use model::{AgentReport, Attached, Memory};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::{Gone, Session};
use crate::AgentRequest;
use crate::acp::inbox::Message;
use crate::acp::translate::Setting;
use crate::acp::wire::Refused;

/// Some agents offer models in a way that the protocol had before it knew options.
const SET_MODEL: &str = "session/set_model";

/// What became of a try.
enum Try<T> {
    Done(T),
    SignedOut,
    Refused(Refused),
}

impl Session {
    /// Until the agent takes prompts.
    pub(super) async fn attach(&mut self) -> Result<(), Gone> {
        let memory = loop {
            match self.begin().await? {
                Try::Done(memory) => break memory,
                Try::SignedOut => self.wait_for_sign_in().await?,
                Try::Refused(refused) => {
                    return Err(Gone::Failed(format!("the agent refused the session: {}", refused.message)));
                }
            }
        };
        // Agents that take a conversation up again do not all remember what was chosen in it.
        for (option, value) in std::mem::take(&mut self.start.options) {
            let is_offered = self.translator.find_option(&self.translator.option_name(&option)).is_some();
            if is_offered || memory == Memory::New {
                self.choose(&option, &value).await?;
            }
        }
        self.see_that_it_asks().await?;
        let attached = Attached { agent_session: self.name.clone(), memory, program: self.about.program.clone() };
        self.send_report(AgentReport::Ready { attached: Some(attached) }).await
    }

    async fn begin(&mut self) -> Result<Try<Memory>, Gone> {
        if let Some(earlier) = self.start.earlier.clone() {
            let mut why = None;
            for memory in [Memory::Resumed, Memory::Loaded] {
                match self.take_up(&earlier, memory).await? {
                    Some(Try::Refused(refused)) => why = Some(refused.message),
                    Some(tried) => return Ok(tried),
                    None => {}
                }
            }
            if let Some(why) = why {
                self.notice("The agent could not take up its own record of this session", Some(why)).await?;
            }
        }
        self.begin_anew().await
    }

    async fn begin_anew(&mut self) -> Result<Try<Memory>, Gone> {
        let request = NewSessionRequest::new(self.start.cwd.clone())
            .mcp_servers(self.mcp_servers())
            .system_prompt(self.system_prompt())
            .meta(self.meta());
        let id = self.connection().request_new(self.key, &request);
        let reply = match self.in_time(id, "did not begin a session").await? {
            Try::Done(reply) => reply,
            Try::SignedOut => return Ok(Try::SignedOut),
            Try::Refused(refused) => return Ok(Try::Refused(refused)),
        };
        self.translator.read_models(&reply);
        let Ok(reply) = serde_json::from_value::<NewSessionResponse>(reply) else {
            return Ok(Try::Refused(Refused::new("it answered in a way that is not understood")));
        };
        self.name = reply.session_id.0.to_string();
        self.untold_brief = self.brief_for_first_prompt();
        let reports = self.translator.offered(reply.modes, reply.config_options);
        self.send_reports(reports).await?;
        Ok(Try::Done(Memory::New))
    }

    /// Takes an earlier conversation up; `None` if the agent does not offer this way.
    async fn take_up(&mut self, earlier: &str, memory: Memory) -> Result<Option<Try<Memory>>, Gone> {
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
            return Ok(Some(Try::Refused(Refused::new("another session here holds it"))));
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
                let tried = self.take_up_with(&request).await;
                self.translator.end_replay();
                let tried = tried?;
                if let Try::Done(_) = tried {
                    self.hear_replay_out().await?;
                }
                tried
            }
            Memory::Resumed | Memory::New => {
                let request = ResumeSessionRequest::new(earlier.to_owned(), cwd)
                    .mcp_servers(servers)
                    .system_prompt(system_prompt)
                    .meta(meta);
                self.take_up_with(&request).await?
            }
        };
        Ok(Some(match tried {
            // Both ways are answered alike.
            Try::Done(reply) => {
                earlier.clone_into(&mut self.name);
                self.translator.read_models(&reply);
                let reply = serde_json::from_value::<LoadSessionResponse>(reply).unwrap_or_default();
                let reports = self.translator.offered(reply.modes, reply.config_options);
                self.send_reports(reports).await?;
                Try::Done(memory)
            }
            Try::SignedOut => Try::SignedOut,
            Try::Refused(refused) => {
                self.connection().unname_session(earlier);
                Try::Refused(refused)
            }
        }))
    }

    async fn take_up_with(&mut self, request: &impl JsonRpcRequest) -> Result<Try<Value>, Gone> {
        let id = self.connection().request(self.key, request);
        self.in_time(id, "did not take its session up").await
    }

    /// Some agents say that they have loaded their record while they still read it out. Nothing in the protocol tells old
    /// words from new ones: message ids are optional, ids of calls may begin anew with each process, the same words may be
    /// said twice, and an agent may read out and answer at the same time. So the next prompt waits until it is silent.
    async fn hear_replay_out(&mut self) -> Result<(), Gone> {
        let end = Instant::now() + self.settings.limits.attach;
        let mut quiet_at = Instant::now() + self.settings.limits.replayed;
        loop {
            let message = tokio::select! {
                biased;
                () = self.news.closed() => return Err(Gone::LetGo),
                () = sleep_until(end) => {
                    let why = "Earlier words may stand in its next answer.".to_owned();
                    return self.notice("The agent reads out its own record and does not come to an end", Some(why)).await;
                }
                call = self.calls.next_new() => {
                    self.call_meanwhile(call.ok_or(Gone::LetGo)?).await?;
                    continue;
                }
                message = self.inbox.take() => message.map_err(Gone::Failed)?,
                () = sleep_until(quiet_at) => return Ok(()),
            };
            if matches!(&message, Message::Update(update) if may_be_replayed(update)) {
                quiet_at = Instant::now() + self.settings.limits.replayed;
            }
            self.hear(message).await?;
        }
    }

    async fn in_time(&mut self, id: i64, what: &str) -> Result<Try<Value>, Gone> {
        let limit = self.settings.limits.attach;
        match self.reply_to(id, limit).await? {
            Some(Ok(reply)) => Ok(Try::Done(reply)),
            Some(Err(refused)) if refused.is_signed_out() => Ok(Try::SignedOut),
            Some(Err(refused)) => Ok(Try::Refused(refused)),
            None => {
                self.connection().give_up();
                Err(Gone::Failed(format!("the agent {what} within {} seconds", limit.as_secs_f32())))
            }
        }
    }

    async fn wait_for_sign_in(&mut self) -> Result<(), Gone> {
        self.report_signed_out().await?;
        loop {
            let call = tokio::select! {
                biased;
                () = self.news.closed() => {
                    // Whoever signed in elsewhere wants one that has not looked yet.
                    self.connection().retire();
                    return Err(Gone::LetGo);
                }
                call = self.calls.next() => call.ok_or(Gone::LetGo)?,
                message = self.inbox.take() => {
                    self.hear(message.map_err(Gone::Failed)?).await?;
                    continue;
                }
            };
            match call {
                AgentRequest::SignIn { method } => {
                    if self.sign_in(method).await? {
                        return Ok(());
                    }
                }
                // There is no conversation yet that they could be about.
                AgentRequest::Prompt { .. } | AgentRequest::SetOption { .. } => {}
                call @ (AgentRequest::Cancel | AgentRequest::Answer { .. } | AgentRequest::Delete) => {
                    self.call_meanwhile(call).await?;
                }
            }
        }
    }

    pub(super) async fn report_signed_out(&self) -> Result<(), Gone> {
        self.send_report(AgentReport::SignedOut { methods: self.about.sign_in.clone() }).await
    }

    /// Says whether the person is signed in now.
    pub(super) async fn sign_in(&mut self, method: String) -> Result<bool, Gone> {
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
    async fn choose(&mut self, option: &str, value: &str) -> Result<(), Gone> {
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

    /// Sets an option and waits for it; why it was not set, if it was not.
    pub(super) async fn set_at_once(&mut self, option: &str, value: &str) -> Result<Option<String>, Gone> {
        let Some(id) = self.request_option(option, value).await? else { return Ok(Some("it offers none".to_owned())) };
        match self.reply_to(id, self.settings.limits.attach).await? {
            Some(Ok(reply)) => {
                self.take_option(option, value, reply).await?;
                let is_set = self.translator.find_option(option).is_some_and(|offer| offer.value == value);
                Ok((!is_set).then(|| "it took the other one and did not keep it".to_owned()))
            }
            Some(Err(refused)) => Ok(Some(refused.message)),
            None => Ok(Some("it did not answer".to_owned())),
        }
    }

    /// Sets an option as the person wishes; what comes of it is heard later.
    pub(super) async fn set_option(&mut self, option: &str, value: &str) -> Result<(), Gone> {
        self.chosen.insert(option.to_owned(), value.to_owned());
        if let Some(id) = self.request_option(option, value).await? {
            self.setting.insert(id, (option.to_owned(), value.to_owned()));
        }
        Ok(())
    }

    async fn request_option(&mut self, option: &str, value: &str) -> Result<Option<i64>, Gone> {
        let (name, connection) = (self.name.clone(), self.connection());
        let id = match (self.translator.find_option(option).map(|offer| offer.setting), value) {
            (Some(Setting::Mode), _) => {
                connection.request(self.key, &SetSessionModeRequest::new(name, value.to_owned()))
            }
            (Some(Setting::Model), _) => {
                let params = json!({ "sessionId": name, "modelId": value });
                connection.request_named(self.key, SET_MODEL, &params)
            }
            (Some(Setting::Choice), _) => {
                let request = SetSessionConfigOptionRequest::new(name, option.to_owned(), value);
                connection.request(self.key, &request)
            }
            (Some(Setting::Switch), "true" | "false") => {
                let request = SetSessionConfigOptionRequest::new(name, option.to_owned(), value == "true");
                connection.request(self.key, &request)
            }
            (Some(Setting::Switch), _) => {
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

/// Whether an update is one of those that a conversation consists of. Others may come at any time, again and again.
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
