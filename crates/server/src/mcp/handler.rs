//! The mount towards the protocol's library: what is offered, and where a call goes.
//!
//! Invariant: what an agent can set right is answered as the tool's own error, in words; an error of the protocol, which
//! some hosts show to nobody, is left for what no tool was asked.

use std::sync::Arc;

use axum::http::request::Parts;
use doors::Role;
use engine::{AgentSwitch, Engine};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ContentBlock, CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use super::apps::Handles;
use super::tools::{CallError, Endpoint, NoSuchTool, Tool, ToolContext, ToolResult};
use super::{Calling, apps, replies, skills};

/// Skills are texts of the program, the same for everybody; they change with it, so a client looks again after a while.
const SKILLS_TTL_MS: u64 = 300_000;
const SKILLS_SCOPE: CacheScope = CacheScope::Public;
/// What the mount that shows things says of itself.
const WHAT_SHOWING_IS_FOR: &str = "Shows the person files, pictures and applets beside the conversation, where they stay. For \"show me\"; \
                                   what you want to know yourself, read with your own tools.";

#[derive(Clone)]
pub(crate) struct Handler {
    engine: Engine,
    all_sessions: Arc<AgentSwitch>,
    handles: Arc<Handles>,
    /// Whose tools are offered here.
    endpoint: Endpoint,
}

impl Handler {
    pub(super) fn new(engine: Engine, all_sessions: Arc<AgentSwitch>, endpoint: Endpoint) -> Self {
        Self { engine, all_sessions, handles: Arc::new(Handles::new()), endpoint }
    }

    async fn call(&self, request: CallToolRequestParams, calling: &Calling) -> Result<CallToolResult, ErrorData> {
        let tool = Tool::find(self.endpoint, &request.name)?;
        let arguments = request.arguments.unwrap_or_default();
        if calling.principal.role == Role::Agent {
            self.engine.own_tool_called(calling.session, &request.name, &arguments);
        }
        let call =
            ToolContext { engine: &self.engine, calling, all_sessions: &self.all_sessions, handles: &self.handles };
        Ok(match tool.call(&arguments, call).await {
            Ok(ToolResult { text, structured, meta }) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = structured;
                result.meta = meta;
                result
            }
            Err(err) => failed(&tool, err),
        })
    }
}

impl Handler {
    /// An agent that this server runs has our page, and is no host of other pages: its model is spared what those need.
    fn is_of_our_own_agent(&self, Calling { principal, .. }: &Calling) -> bool {
        let is_lent = |id| self.engine.tokens().name(id).is_none();
        principal.role == Role::Agent && principal.id.parse().is_ok_and(is_lent)
    }

    /// An agent that is given the brief in another way is not given it here too.
    async fn with_instructions(&self, mut info: ServerConfig, context: &RequestContext<RoleServer>) -> ServerConfig {
        if self.endpoint == Endpoint::Session
            && let Ok(calling) = calling(context)
            && calling.principal.role == Role::Agent
        {
            info.instructions = self.engine.instructions_for(calling.session).await.map(str::to_owned);
        }
        info
    }
}

fn failed(tool: &Tool, err: CallError) -> CallToolResult {
    let structured = tool.is_for_app_only().then(|| replies::code(&err));
    let mut result = CallToolResult::error(vec![ContentBlock::text(replies::error(tool, err))]);
    result.structured_content = structured;
    result
}

impl From<NoSuchTool> for ErrorData {
    fn from(err: NoSuchTool) -> Self {
        Self::invalid_params(err.to_string(), None)
    }
}

/// All lists are short and come whole, so no cursor was ever given.
fn without_cursor(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params("no list here has a cursor; leave it out to get all of it", None)),
    }
}

fn calling(context: &RequestContext<RoleServer>) -> Result<&Calling, ErrorData> {
    let parts = context.extensions.get::<Parts>();
    let calling = parts.and_then(|parts| parts.extensions.get());
    calling.ok_or_else(|| ErrorData::internal_error("nobody is known to call", None))
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let own = Implementation::new("throughline", env!("CARGO_PKG_VERSION")).with_title("Throughline");
        let offered = match self.endpoint {
            Endpoint::Session => {
                ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build()
            }
            Endpoint::Show => ServerCapabilities::builder().enable_tools().enable_resources().build(),
        };
        let info = ServerConfig::new(offered).with_server_info(own);
        match (self.endpoint, self.engine.brief()) {
            (Endpoint::Show, _) => info.with_instructions(WHAT_SHOWING_IS_FOR),
            (Endpoint::Session, Some(brief)) => info.with_instructions(brief),
            (Endpoint::Session, None) => info,
        }
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let info = self.negotiate_initialize(&request)?;
        Ok(self.with_instructions(info, &context).await)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let info = self.with_instructions(self.get_info(), &context).await;
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), info))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        without_cursor(request)?;
        // For this caller only, and asked for anew: what is offered may depend on the credential.
        let listed = match self.is_of_our_own_agent(calling(&context)?) {
            true => Tool::all(self.endpoint).filter(|tool| !tool.is_for_app_only()).map(|tool| tool.listed()).collect(),
            false => Tool::all(self.endpoint).map(|tool| tool.listed_with_ui_meta()).collect(),
        };
        Ok(ListToolsResult::with_all_items(listed).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let calling = calling(&context)?;
        Ok(self.call(request, calling).await?.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if self.endpoint == Endpoint::Show {
            let cursor = request.and_then(|request| request.cursor);
            let listed = apps::list(&self.engine, calling(&context)?.session, cursor.as_deref()).await?;
            return Ok(listed.with_ttl_ms(0).with_cache_scope(CacheScope::Private));
        }
        without_cursor(request)?;
        Ok(ListResourcesResult::with_all_items(skills::resources())
            .with_ttl_ms(SKILLS_TTL_MS)
            .with_cache_scope(SKILLS_SCOPE))
    }

    /// Of skills there are none, which is not the same as not being asked for them.
    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        without_cursor(request)?;
        let templates = match self.endpoint {
            Endpoint::Session => Vec::new(),
            Endpoint::Show => apps::templates(),
        };
        let listed = ListResourceTemplatesResult::with_all_items(templates);
        Ok(listed.with_ttl_ms(SKILLS_TTL_MS).with_cache_scope(SKILLS_SCOPE))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if self.endpoint == Endpoint::Show {
            let read = apps::read(&self.engine, &self.handles, calling(&context)?.session, &request.uri).await?;
            return Ok(read.with_ttl_ms(0).with_cache_scope(CacheScope::Private).into());
        }
        let read = skills::read(&request.uri)?;
        Ok(read.with_ttl_ms(SKILLS_TTL_MS).with_cache_scope(SKILLS_SCOPE).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        without_cursor(request)?;
        Ok(ListPromptsResult::with_all_items(skills::prompts())
            .with_ttl_ms(SKILLS_TTL_MS)
            .with_cache_scope(SKILLS_SCOPE))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(skills::prompt(&request.name, &request.arguments.unwrap_or_default())?.into())
    }

    /// Requests that the library can not read arrive here. A call with arguments that are no object is one.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "tools/call" {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        let named = request.params.as_ref().and_then(|params| params.get("name")).and_then(Value::as_str);
        let named = named.ok_or_else(|| ErrorData::invalid_params("a call names its tool: {\"name\": …}", None))?;
        let tool = Tool::find(self.endpoint, named)?;
        let result = serde_json::to_value(failed(&tool, CallError::NotACall { example: tool.example() }));
        result.map(CustomResult::new).map_err(|err| ErrorData::internal_error(err.to_string(), None))
    }

    /// The library answers this though it is not offered.
    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }
}
