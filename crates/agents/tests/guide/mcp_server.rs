//! A tiny MCP server with tools that a test can tell apart.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::Notify;

#[derive(Clone)]
pub(crate) struct Notes {
    pub(crate) versions: &'static [ProtocolVersion],
    calls: Arc<AtomicU32>,
    /// `hang` was called.
    pub(crate) hangs: Arc<Notify>,
}

impl Notes {
    pub(crate) fn new(versions: &'static [ProtocolVersion]) -> Self {
        Self { versions, calls: Arc::default(), hangs: Arc::default() }
    }
}

impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.versions.into()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema: JsonObject = serde_json::from_str("{\"type\": \"object\"}").expect("this is JSON");
        let names = ["lookup", "count", "sour", "hang"];
        Ok(ListToolsResult::with_all_items(names.map(|name| Tool::new(name, "For tests", schema.clone())).into()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = |text: String| vec![ContentBlock::text(text)];
        let result = match &*request.name {
            "lookup" => {
                let arguments = request.arguments.unwrap_or_default();
                let version = context.protocol_version().map(|version| version.to_string()).unwrap_or_default();
                CallToolResult::success(text(format!("{} in {version}", arguments["note"])))
            }
            "count" => CallToolResult::success(text((self.calls.fetch_add(1, Ordering::Relaxed) + 1).to_string())),
            "sour" => CallToolResult::error(text("the milk is sour".to_owned())),
            "hang" => {
                self.hangs.notify_one();
                std::future::pending().await
            }
            other => return Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        };
        Ok(result.into())
    }
}
