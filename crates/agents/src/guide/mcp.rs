//! Connections to the MCP servers that a client gives a session: HTTP on this machine, and programs with pipes.
//!
//! Invariant: nothing leaves the machine, and a program that was started here ends with its connection.

use std::io;
use std::path::Path;
use std::process::Stdio;

use agent_client_protocol::v1::schema::{HttpHeader, McpServer, McpServerHttp, McpServerStdio};
use http::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation, JsonObject,
    ProtocolVersion, Tool,
};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransport, StreamableHttpClientTransportConfig};
use rmcp::{ClientServiceExt as _, RoleClient};
use tokio::process::Command;

use super::group::ProcessGroup;
use super::mcp_http::McpHttp;
use crate::outbound::{Address, AddressRule, TrustError};

pub(super) struct Connection {
    service: RunningService<RoleClient, ClientConfig>,
    /// The server itself, if it is a program that we started.
    _program: Option<ProcessGroup>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("the guide reaches http servers on this machine only, not {url}")]
    Elsewhere { url: String },
    #[error("the guide speaks to MCP servers over http and on their pipes, not in other ways")]
    Transport,
    #[error("the header {name} cannot be sent")]
    Header { name: String },
    #[error("its program could not be started: {0}")]
    Start(#[from] io::Error),
    #[error("no http client could be made: {0}")]
    Http(#[from] TrustError),
    #[error("{0}")]
    Handshake(#[from] Box<ClientInitializeError>),
}

/// The server's name in the client's list.
pub(super) fn name(server: &McpServer) -> &str {
    match server {
        McpServer::Http(server) => &server.name,
        McpServer::Sse(server) => &server.name,
        McpServer::Stdio(server) => &server.name,
        _ => "a server",
    }
}

impl Connection {
    pub(super) async fn open(server: &McpServer, cwd: &Path) -> Result<Self, ConnectError> {
        match server {
            McpServer::Http(server) => Self::to_url(server).await,
            McpServer::Stdio(server) => Self::to_program(server, cwd).await,
            _ => Err(ConnectError::Transport),
        }
    }

    async fn to_url(server: &McpServerHttp) -> Result<Self, ConnectError> {
        let address = Address::parse(&server.url, AddressRule::ThisMachine);
        let client = McpHttp::new(address.map_err(|_| ConnectError::Elsewhere { url: server.url.clone() })?)?;
        let config = StreamableHttpClientTransportConfig::with_uri(server.url.as_str())
            .custom_headers(server.headers.iter().map(header).collect::<Result<_, _>>()?);
        let transport = StreamableHttpClientTransport::with_client(client, config);
        let service = identity().serve_with_lifecycle(transport, both_eras()).await.map_err(Box::new)?;
        Ok(Self { service, _program: None })
    }

    async fn to_program(server: &McpServerStdio, cwd: &Path) -> Result<Self, ConnectError> {
        let mut command = Command::new(&server.command);
        command.args(&server.args).envs(server.env.iter().map(|variable| (&variable.name, &variable.value)));
        command.current_dir(cwd).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut program = ProcessGroup::start(&mut command)?;
        let pipes = program.pipes().ok_or_else(|| io::Error::other("it has no pipes"))?;
        let service = identity().serve_with_lifecycle(pipes, both_eras()).await.map_err(Box::new)?;
        Ok(Self { service, _program: Some(program) })
    }

    /// Whether the connection can still be used.
    pub(super) fn is_open(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed()
    }

    pub(super) async fn tools(&self) -> Result<Vec<Tool>, ServiceError> {
        self.service.list_all_tools().await
    }

    pub(super) async fn call(&self, tool: &str, arguments: JsonObject) -> Result<CallToolResult, ServiceError> {
        self.service.call_tool(CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)).await
    }
}

fn identity() -> ClientConfig {
    let guide = Implementation::new("throughline-guide", env!("CARGO_PKG_VERSION"));
    ClientConfig::new(ClientCapabilities::default(), guide)
}

/// Servers that know the stateless revision are used with it, all others with the handshake of the one before.
fn both_eras() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: ProtocolVersion::KNOWN_VERSIONS.iter().rev().cloned().collect(),
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

fn header(header: &HttpHeader) -> Result<(HeaderName, HeaderValue), ConnectError> {
    let broken = || ConnectError::Header { name: header.name.clone() };
    let name = HeaderName::try_from(&header.name).map_err(|_| broken())?;
    let mut value = HeaderValue::try_from(&header.value).map_err(|_| broken())?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_would_break_the_request_is_refused() {
        assert!(header(&HttpHeader::new("Authorization", "Bearer abc")).is_ok());
        assert!(header(&HttpHeader::new("Authorization", "a\r\nX: b")).is_err());
        assert!(header(&HttpHeader::new("two words", "a")).is_err());
    }
}
