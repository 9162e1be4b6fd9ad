//! The guide: the built-in agent, a small real ACP agent that needs no key and no network and gives fixed answers.
//!
//! It shows a newcomer every feature in the first minute, and tests use it. It says that it is a guide and not a
//! model. It keeps nothing: the client says what a session is, so that any session can be resumed.
//!
//! Start reading at [`serve`]; the requests that it understands are in `request.rs`, the answers in `answer.rs`.

mod answer;
mod commands;
mod disk;
mod files;
mod group;
mod mcp;
mod mcp_http;
mod output;
mod pace;
mod pipeline;
mod request;
mod session;
mod tools;
mod tour;
mod turn;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, CancelNotification,
    CloseSessionRequest, CloseSessionResponse, Implementation, InitializeRequest, InitializeResponse, McpCapabilities,
    McpServer, NewSessionRequest, NewSessionResponse, PromptCapabilities, PromptRequest, PromptResponse,
    ResumeSessionRequest, ResumeSessionResponse, SessionCapabilities, SessionCloseCapabilities, SessionId,
    SessionNotification, SessionResumeCapabilities, SessionUpdate, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, StopReason, UnstructuredCommandInput,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, ByteStreams, Client, Error, on_receive_notification, on_receive_request};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

use pace::Pace;
use request::{COMMANDS, own_text};
use session::{GuideSession, SessionParams, Sessions, lock};
use turn::{ClientFiles, Turn};

/// Speaks ACP on these streams until the input ends or the output is closed. Running commands end with it.
///
/// It uses tokio's clock only, so that tests can pause it.
pub async fn serve(input: impl AsyncRead + Send + Unpin + 'static, output: impl AsyncWrite + Send + Unpin + 'static) {
    let guide = Arc::new(Guide::default());
    let (new, resume, close, set, prompt, cancel) =
        (guide.clone(), guide.clone(), guide.clone(), guide.clone(), guide.clone(), guide.clone());
    let agent = Agent
        .v1()
        .name("guide")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _| responder.respond(guide.initialize(&request)),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, client| new.new_session(request, responder, &client),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, responder, client| resume.resume(request, responder, &client),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CloseSessionRequest, responder, _| {
                responder.respond_with_result(close.close(&request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionConfigOptionRequest, responder, _| {
                responder.respond_with_result(set.set_option(&request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, client| prompt.prompt(request, responder, &client),
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |request: CancelNotification, _| {
                cancel.cancel(&request);
                Ok(())
            },
            on_receive_notification!(),
        );
    let transport = ByteStreams::new(output.compat_write(), input.compat());
    if let Err(err) = Box::pin(agent.connect_to(transport)).await {
        tracing::debug!(error = %err, "the guide's connection broke");
    }
}

/// The guide of one connection.
#[derive(Default)]
struct Guide {
    client_files: Mutex<ClientFiles>,
    sessions: Sessions,
}

impl Guide {
    fn initialize(&self, request: &InitializeRequest) -> InitializeResponse {
        let files = &request.client_capabilities.fs;
        *lock(&self.client_files) = ClientFiles { read: files.read_text_file, write: files.write_text_file };
        let sessions =
            SessionCapabilities::new().resume(SessionResumeCapabilities::new()).close(SessionCloseCapabilities::new());
        let capabilities = AgentCapabilities::new()
            .prompt_capabilities(PromptCapabilities::new().image(true).embedded_context(true))
            .mcp_capabilities(McpCapabilities::new().http(true))
            .session_capabilities(sessions);
        let info = Implementation::new("guide", env!("CARGO_PKG_VERSION")).title("Guide".to_owned());
        InitializeResponse::new(ProtocolVersion::V1).agent_capabilities(capabilities).agent_info(info)
    }

    fn new_session(
        &self,
        request: NewSessionRequest,
        responder: Responder<NewSessionResponse>,
        client: &ConnectionTo<Client>,
    ) -> Result<(), Error> {
        let begun = random_name().and_then(|id| {
            let id = SessionId::new(format!("guide-{id}"));
            self.begin(id, request.cwd, request.mcp_servers, Title::Wanted)
        });
        match begun {
            Ok(session) => {
                let answer = NewSessionResponse::new(session.id.clone()).config_options(session.pace().as_options());
                responder.respond(answer)?;
                send_commands(client, &session)
            }
            Err(err) => responder.respond_with_error(err),
        }
    }

    /// Nothing is stored, so any id will do.
    fn resume(
        &self,
        request: ResumeSessionRequest,
        responder: Responder<ResumeSessionResponse>,
        client: &ConnectionTo<Client>,
    ) -> Result<(), Error> {
        match self.begin(request.session_id, request.cwd, request.mcp_servers, Title::Given) {
            Ok(session) => {
                responder.respond(ResumeSessionResponse::new().config_options(session.pace().as_options()))?;
                send_commands(client, &session)
            }
            Err(err) => responder.respond_with_error(err),
        }
    }

    fn begin(
        &self,
        id: SessionId,
        cwd: PathBuf,
        servers: Vec<McpServer>,
        title: Title,
    ) -> Result<Arc<GuideSession>, Error> {
        if !cwd.is_absolute() {
            return Err(Error::invalid_params().data("cwd must be an absolute path"));
        }
        let wish = SessionParams { id, cwd, servers, life: random_name()?, has_title: matches!(title, Title::Given) };
        Ok(self.sessions.insert(GuideSession::new(wish)))
    }

    fn close(&self, request: &CloseSessionRequest) -> Result<CloseSessionResponse, Error> {
        self.sessions.remove(&request.session_id).ok_or_else(|| unknown(&request.session_id))?;
        Ok(CloseSessionResponse::new())
    }

    fn set_option(&self, request: &SetSessionConfigOptionRequest) -> Result<SetSessionConfigOptionResponse, Error> {
        let session = self.sessions.find(&request.session_id).ok_or_else(|| unknown(&request.session_id))?;
        let pace =
            Pace::requested(request).ok_or_else(|| Error::invalid_params().data("pace is slow, normal or fast"))?;
        session.set_pace(pace);
        Ok(SetSessionConfigOptionResponse::new(pace.as_options()))
    }

    fn cancel(&self, request: &CancelNotification) {
        if let Some(session) = self.sessions.find(&request.session_id) {
            session.cancel();
        }
    }

    /// Answers in a task of its own, so that other sessions, and a cancel of this one, are handled meanwhile.
    fn prompt(
        &self,
        request: PromptRequest,
        responder: Responder<PromptResponse>,
        client: &ConnectionTo<Client>,
    ) -> Result<(), Error> {
        let Some(session) = self.sessions.find(&request.session_id) else {
            return responder.respond_with_error(unknown(&request.session_id));
        };
        let Some(running) = session.begin() else {
            let busy = "the session is still answering; wait for it, or send session/cancel";
            return responder.respond_with_error(Error::invalid_request().data(busy));
        };
        let turn = Turn::new(client.clone(), session, *lock(&self.client_files));
        client.spawn(async move {
            let given_up = responder.cancellation();
            let stopped = tokio::select! {
                biased;
                () = running.cancelled.cancelled() => Ok(StopReason::Cancelled),
                () = given_up.cancelled() => Ok(StopReason::Cancelled),
                stopped = answer::answer(&turn, &request.prompt) => stopped,
            };
            let stopped = turn.finish(own_text(&request.prompt)).and(stopped);
            // The client may prompt again as soon as it has the answer.
            drop(running);
            responder.respond_with_result(stopped.map(|stop| turn.response(stop)))
        })
    }
}

/// Whether the first prompt becomes the session's title.
#[derive(Clone, Copy)]
enum Title {
    Wanted,
    Given,
}

fn send_commands(client: &ConnectionTo<Client>, session: &GuideSession) -> Result<(), Error> {
    let commands = COMMANDS.iter().map(|word| {
        let command = AvailableCommand::new(word.name, word.description);
        if word.hint.is_empty() {
            return command;
        }
        command.input(AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(word.hint)))
    });
    let update = SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(commands.collect()));
    client.send_notification(SessionNotification::new(session.id.clone(), update))
}

fn unknown(session: &SessionId) -> Error {
    Error::invalid_params().data(format!("there is no session {session}; begin or resume it first"))
}

/// A random session id, unique across processes.
fn random_name() -> Result<String, Error> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).map_err(|err| Error::internal_error().data(err.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
