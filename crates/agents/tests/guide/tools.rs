//! Tests `tool`: MCP servers over HTTP and on pipes, working and failing.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    CloseSessionRequest, HttpHeader, McpServer, McpServerHttp, McpServerSse, McpServerStdio,
};
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, Response, StatusCode, body::Incoming, header::AUTHORIZATION, service::service_fn};
use hyper_util::rt::TokioIo;
use rmcp::ServerHandler;
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::commands::held;
use crate::mcp_server::Notes;
use crate::support::World;

const BOTH: &[ProtocolVersion] = &[ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];
const LEGACY: &[ProtocolVersion] = &[ProtocolVersion::V_2025_11_25];

/// A server on a port of this machine that wants a token; it ends with the value.
pub(crate) struct Server<H> {
    pub(crate) handler: H,
    address: SocketAddr,
    _tasks: JoinSet<()>,
}

impl<H: ServerHandler + Clone> Server<H> {
    pub(crate) async fn start(handler: H, config: StreamableHttpServerConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let kept = handler.clone();
        let manager = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(handler.clone()), manager, config);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let service = service.clone();
                let answer = service_fn(move |request: Request<Incoming>| {
                    let service = service.clone();
                    async move {
                        if request.headers().get(AUTHORIZATION).is_none_or(|token| token != "Bearer let-me-in") {
                            let mut refused = Response::new(Full::default().boxed());
                            *refused.status_mut() = StatusCode::UNAUTHORIZED;
                            return Ok::<_, Infallible>(refused);
                        }
                        Ok(service.handle(request).await)
                    }
                });
                let connection =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                connections.spawn(async move {
                    connection.await.ok();
                });
            }
        });
        Self { handler: kept, address, _tasks: tasks }
    }

    fn with_token(&self, token: &str) -> McpServer {
        self.named("notes", token)
    }

    /// The server under this name.
    pub(crate) fn named(&self, name: &str, token: &str) -> McpServer {
        let header = HttpHeader::new("Authorization", format!("Bearer {token}"));
        McpServer::Http(McpServerHttp::new(name, format!("http://{}/mcp", self.address)).headers(vec![header]))
    }
}

pub(crate) fn stateless() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true)
}

fn program() -> McpServer {
    McpServer::Stdio(McpServerStdio::new("on pipes", program_path()))
}

fn program_path() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    let path = path.join("examples").join("mcp_on_pipes");
    assert!(path.exists(), "cargo builds the examples of a crate with its tests");
    path
}

#[tokio::test]
async fn a_tool_of_an_http_server_is_called() {
    for (versions, config, version) in [
        (BOTH, stateless(), "2026-07-28"),
        (LEGACY, stateless(), "2025-11-25"),
        (LEGACY, StreamableHttpServerConfig::default(), "2025-11-25"),
    ] {
        let server = Server::start(Notes::new(versions), config).await;
        let world = World::new().await;
        let session = world.session_with(vec![server.with_token("let-me-in")]).await;
        let said = world.turn(&session, "tool lookup {\"note\": \"tea\"}").await;
        assert_eq!(
            said.lines().take(3).collect::<Vec<_>>(),
            [
                "call lookup (Other) inprogress input {\"note\":\"tea\"}".to_owned(),
                format!("completed: \"tea\" in {version}"),
                "> That is what the tool answered.".to_owned(),
            ]
        );
        world.end().await;
    }
}

#[tokio::test]
async fn a_tool_of_a_program_is_called_and_the_program_stays() {
    let world = World::new().await;
    let session = world.session_with(vec![program()]).await;
    for count in ["1", "2", "3"] {
        let said = world.turn(&session, "tool count").await;
        assert!(said.contains(&format!("\ncompleted: {count}\n")), "{said}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_program_ends_with_its_session() {
    let world = World::new().await;
    let ended = held(&world, "hold");
    let script = "exec 3>hold; sleep 1000 & exec \"$0\"";
    let path = program_path().to_str().unwrap().to_owned();
    let server = McpServerStdio::new("on pipes", "/bin/sh").args(vec!["-c".to_owned(), script.to_owned(), path]);
    let session = world.session_with(vec![McpServer::Stdio(server)]).await;
    assert!(world.turn(&session, "tool count").await.contains("\ncompleted: 1\n"));
    world.agent.send_request(CloseSessionRequest::new(session)).block_task().await.unwrap();
    ended.await.unwrap();
    world.end().await;
}

#[tokio::test]
async fn the_server_that_has_the_tool_is_asked() {
    let world = World::new().await;
    let nobody = McpServer::Http(McpServerHttp::new("nobody", "http://127.0.0.1:1/mcp"));
    let session = world.session_with(vec![nobody, program()]).await;
    let said = world.turn(&session, "tool count {}").await;
    assert!(said.contains("\ncompleted: 1\n"), "{said}");
    world.end().await;
}

#[tokio::test]
async fn an_unknown_tool_is_told_with_those_there_are() {
    let world = World::new().await;
    let session = world.session_with(vec![program()]).await;
    let said = world.turn(&session, "tool brew {}").await;
    assert!(said.contains("\nfailed: There is no tool brew. Known are: lookup, count, sour, hang.\n"), "{said}");
    assert!(said.ends_with("EndTurn"), "{said}");
    let session = world.session().await;
    let said = world.turn(&session, "tool brew").await;
    assert!(
        said.contains("\nfailed: There is no tool brew. A session has tools while a server runs: start one"),
        "{said}"
    );
    world.end().await;
}

#[tokio::test]
async fn arguments_that_are_no_object_call_nothing() {
    let world = World::new().await;
    let session = world.session_with(vec![program()]).await;
    for (prompt, why) in [
        ("tool count {\"note\": ", "The arguments are not JSON: EOF while parsing a value"),
        ("tool count [1]", "The arguments of a tool are a JSON object"),
    ] {
        let said = world.turn(&session, prompt).await;
        assert!(said.contains(&format!("\nfailed: {why}")) && said.ends_with("EndTurn"), "{said}");
    }
    assert!(world.turn(&session, "tool count").await.contains("\ncompleted: 1\n"));
    world.end().await;
}

#[tokio::test]
async fn a_tool_that_says_it_failed_has_failed() {
    let world = World::new().await;
    let session = world.session_with(vec![program()]).await;
    let said = world.turn(&session, "tool sour").await;
    assert!(said.contains("\nfailed: the milk is sour\n> The tool failed: the milk is sour\n"), "{said}");
    world.end().await;
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_named() {
    let server = Server::start(Notes::new(BOTH), stateless()).await;
    let world = World::new().await;
    for (server, why) in [
        (server.with_token("wrong"), "Server notes: "),
        (
            McpServer::Http(McpServerHttp::new("far", "http://example.com/mcp")),
            "Server far: the guide reaches http servers on this machine only",
        ),
        (
            McpServer::Sse(McpServerSse::new("old", "http://127.0.0.1:1/sse")),
            "Server old: the guide speaks to MCP servers over http and on",
        ),
        (
            McpServer::Stdio(McpServerStdio::new("gone", "/not/there")),
            "Server gone: its program could not be started: ",
        ),
        (McpServer::Stdio(McpServerStdio::new("mute", "/bin/true")), "Server mute: "),
    ] {
        let session = world.session_with(vec![server]).await;
        let said = world.turn(&session, "tool count").await;
        let told = format!("\nfailed: There is no tool count. None is known. {why}");
        assert!(said.contains(&told) && said.ends_with("EndTurn"), "{said}");
        assert!(!said.contains("wrong"), "{said}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_tool_that_hangs_can_be_cancelled() {
    let server = Server::start(Notes::new(BOTH), stateless()).await;
    let world = World::new().await;
    let session = world.session_with(vec![server.with_token("let-me-in")]).await;
    let cancel = async {
        server.handler.hangs.notified().await;
        world.cancel(&session);
    };
    let (stopped, ()) = tokio::join!(world.prompt(&session, "tool hang"), cancel);
    assert_eq!(stopped, "Cancelled");
    assert!(world.take(&session).contains("\nfailed: Cancelled.\n"));
    let said = world.turn(&session, "tool lookup {\"note\": 1}").await;
    assert!(said.contains("\ncompleted: 1 in 2026-07-28\n"), "{said}");
    world.end().await;
}
