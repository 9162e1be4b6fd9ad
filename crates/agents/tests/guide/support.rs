//! A guide and a client that records what it receives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, ContentBlock, FileSystemCapabilities, InitializeRequest,
    InitializeResponse, McpServer, NewSessionRequest, NewSessionResponse, PermissionOptionKind, PromptRequest,
    ReadTextFileRequest, ReadTextFileResponse, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, SessionId, SessionNotification, TextContent,
    WriteTextFileRequest, WriteTextFileResponse,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, ByteStreams, Client, Error, on_receive_notification, on_receive_request};
use tempfile::TempDir;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

use crate::wire::line;

/// How the client answers a request for permission.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    Choose(PermissionOptionKind),
    Cancelled,
    Refuse,
    /// It does not answer.
    Nothing,
}

/// What the client received, a line each, and the files that it keeps itself.
#[derive(Default)]
pub(crate) struct Heard {
    lines: Mutex<Vec<(SessionId, String)>>,
    changed: Notify,
    pub(crate) files: Mutex<BTreeMap<PathBuf, String>>,
    answer: Mutex<Option<Answer>>,
    unanswered: Mutex<Vec<Responder<RequestPermissionResponse>>>,
}

impl Heard {
    fn add(&self, session: &SessionId, line: String) {
        self.lines.lock().unwrap().push((session.clone(), line));
        self.changed.notify_waiters();
    }

    fn permission(
        &self,
        request: &RequestPermissionRequest,
        responder: Responder<RequestPermissionResponse>,
    ) -> Result<(), Error> {
        let title = request.tool_call.fields.title.as_deref().unwrap_or_default();
        let names: Vec<_> = request.options.iter().map(|option| option.name.as_str()).collect();
        self.add(&request.session_id, format!("ask {title}: {}", names.join(", ")));
        let outcome = match self.answer.lock().unwrap().unwrap_or(Answer::Nothing) {
            Answer::Choose(kind) => {
                let chosen = request.options.iter().find(|option| option.kind == kind).unwrap();
                RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(chosen.option_id.clone()))
            }
            Answer::Cancelled => RequestPermissionOutcome::Cancelled,
            Answer::Refuse => return responder.respond_with_error(Error::internal_error().data("no screen")),
            Answer::Nothing => {
                self.unanswered.lock().unwrap().push(responder);
                return Ok(());
            }
        };
        responder.respond(RequestPermissionResponse::new(outcome))
    }

    fn read(&self, request: &ReadTextFileRequest) -> Result<ReadTextFileResponse, Error> {
        let shown = request.limit.map_or_else(String::new, |limit| format!(", {limit} lines"));
        self.add(&request.session_id, format!("client reads {}{shown}", request.path.display()));
        let files = self.files.lock().unwrap();
        let text = files.get(&request.path).ok_or_else(|| Error::invalid_params().data("no such file"))?;
        Ok(ReadTextFileResponse::new(text))
    }

    fn write(&self, request: WriteTextFileRequest) -> WriteTextFileResponse {
        self.add(&request.session_id, format!("client writes {}", request.path.display()));
        self.files.lock().unwrap().insert(request.path, request.content);
        WriteTextFileResponse::new()
    }
}

pub(crate) struct World {
    pub(crate) agent: ConnectionTo<Agent>,
    pub(crate) initialized: InitializeResponse,
    pub(crate) heard: Arc<Heard>,
    folder: TempDir,
    /// Ends the client, and with it the guide.
    stop: oneshot::Sender<()>,
    tasks: JoinSet<()>,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(FileSystemCapabilities::new()).await
    }

    /// A client that offers these of its own files.
    pub(crate) async fn with(files: FileSystemCapabilities) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (guide_reads, guide_writes) = tokio::io::split(theirs);
        let (client_reads, client_writes) = tokio::io::split(ours);
        let mut tasks = JoinSet::new();
        tasks.spawn(agents::guide::serve(guide_reads, guide_writes));
        let heard = Arc::new(Heard::default());
        let (ready, readied) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        tasks.spawn(client(
            ByteStreams::new(client_writes.compat_write(), client_reads.compat()),
            heard.clone(),
            ready,
            stopped,
        ));
        let agent: ConnectionTo<Agent> = readied.await.unwrap();
        let request =
            InitializeRequest::new(ProtocolVersion::V1).client_capabilities(ClientCapabilities::new().fs(files));
        let initialized = agent.send_request(request).block_task().await.unwrap();
        Self { agent, initialized, heard, folder: tempfile::tempdir().unwrap(), stop, tasks }
    }

    /// The working directory of sessions.
    pub(crate) fn cwd(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) async fn begin(&self) -> NewSessionResponse {
        self.begin_with(Vec::new()).await
    }

    pub(crate) async fn begin_with(&self, servers: Vec<McpServer>) -> NewSessionResponse {
        let request = NewSessionRequest::new(self.cwd()).mcp_servers(servers);
        self.agent.send_request(request).block_task().await.unwrap()
    }

    /// A session that has sent its commands.
    pub(crate) async fn session(&self) -> SessionId {
        self.session_with(Vec::new()).await
    }

    pub(crate) async fn session_with(&self, servers: Vec<McpServer>) -> SessionId {
        let id = self.begin_with(servers).await.session_id;
        self.until(&id, "commands").await;
        self.clear(&id);
        id
    }

    pub(crate) fn answer(&self, answer: Answer) {
        *self.heard.answer.lock().unwrap() = Some(answer);
    }

    /// Returns the stop reason.
    pub(crate) async fn prompt(&self, session: &SessionId, text: &str) -> String {
        self.prompt_with(session, vec![ContentBlock::Text(TextContent::new(text))]).await
    }

    pub(crate) async fn prompt_with(&self, session: &SessionId, prompt: Vec<ContentBlock>) -> String {
        let request = PromptRequest::new(session.clone(), prompt);
        match self.agent.send_request(request).block_task().await {
            Ok(answer) => format!("{:?}", answer.stop_reason),
            Err(err) => format!("{}: {}", err.message, err.data.unwrap_or_default()),
        }
    }

    /// Sends a prompt; returns what the client received until it stopped.
    pub(crate) async fn turn(&self, session: &SessionId, text: &str) -> String {
        self.turn_with(session, vec![ContentBlock::Text(TextContent::new(text))]).await
    }

    pub(crate) async fn turn_with(&self, session: &SessionId, prompt: Vec<ContentBlock>) -> String {
        let stopped = self.prompt_with(session, prompt).await;
        format!("{}\n{stopped}", self.take(session))
    }

    pub(crate) fn cancel(&self, session: &SessionId) {
        self.agent.send_notification(CancelNotification::new(session.clone())).unwrap();
    }

    /// What a session sent since the last call. The directory is written as CWD.
    pub(crate) fn take(&self, session: &SessionId) -> String {
        let said = self.said(session).join("\n");
        self.clear(session);
        said
    }

    fn clear(&self, session: &SessionId) {
        self.heard.lines.lock().unwrap().retain(|(other, _)| other != session);
    }

    fn said(&self, session: &SessionId) -> Vec<String> {
        let cwd = self.cwd().to_str().unwrap();
        let lines = self.heard.lines.lock().unwrap();
        let lines = lines.iter().filter(|(other, _)| other == session);
        let mut said: Vec<String> = Vec::new();
        for (_, line) in lines {
            let line = line.replace(cwd, "CWD");
            // Consecutive chunks of text are joined.
            let mark = line.get(..2).filter(|mark| matches!(*mark, "> " | "~ "));
            match (mark, said.last_mut()) {
                (Some(mark), Some(last)) if last.starts_with(mark) => last.push_str(&line[2..]),
                _ => said.push(line),
            }
        }
        said
    }

    /// The updates one by one.
    pub(crate) fn pieces(&self, session: &SessionId) -> Vec<String> {
        let lines = self.heard.lines.lock().unwrap();
        lines.iter().filter(|(other, _)| other == session).map(|(_, line)| line.clone()).collect()
    }

    /// Waits until a session has sent a line that begins like this.
    pub(crate) async fn until(&self, session: &SessionId, beginning: &str) {
        loop {
            let changed = self.heard.changed.notified();
            if self.said(session).iter().any(|line| line.starts_with(beginning)) {
                return;
            }
            changed.await;
        }
    }

    /// Waits until the guide has withdrawn its question.
    pub(crate) async fn withdrawn(&self) {
        let question = self.heard.unanswered.lock().unwrap()[0].cancellation();
        question.cancelled().await;
    }

    /// The client disconnects; returns when the guide has ended too.
    pub(crate) async fn end(self) {
        self.stop.send(()).unwrap();
        self.tasks.join_all().await;
    }
}

async fn client(
    transport: impl agent_client_protocol::ConnectTo<Client> + 'static,
    heard: Arc<Heard>,
    ready: oneshot::Sender<ConnectionTo<Agent>>,
    stopped: oneshot::Receiver<()>,
) {
    let (updates, asked, read, written) = (heard.clone(), heard.clone(), heard.clone(), heard);
    let done = Client
        .v1()
        .on_receive_notification(
            async move |update: SessionNotification, _| {
                updates.add(&update.session_id, line(&update.update));
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _| asked.permission(&request, responder),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReadTextFileRequest, responder, _| responder.respond_with_result(read.read(&request)),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WriteTextFileRequest, responder, _| responder.respond(written.write(request)),
            on_receive_request!(),
        )
        .connect_with(transport, async move |agent| {
            ready.send(agent).ok();
            stopped.await.ok();
            Ok(())
        })
        .await;
    done.unwrap();
}
