//! An MCP server on its standard input and output, for the tests of the guide.

#[path = "../tests/guide/mcp_server.rs"]
mod mcp_server;

use rmcp::ServiceExt as _;
use rmcp::model::ProtocolVersion;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let notes = mcp_server::Notes::new(ProtocolVersion::KNOWN_VERSIONS);
    notes.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
