//! The tools: each is one value, and this is the list of them. What is listed, called, bounded and shown as an example of a
//! call comes from it.
//!
//! Invariant: each is a question or a command that a route has as well, and what is read of other sessions goes through
//! `scope.rs`. What comes through here was marked by an agent, whoever's credential it came with.

mod applets;
mod contents;
mod marks;
mod run;
mod search;
mod sessions;
mod show;
mod turns;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use engine::{AgentSwitch, AppletError, Engine, OutputError, QueryError, SubmitError};
use model::{InteractionId, SessionId, Turn};
use rmcp::model::{JsonObject, MetaObject, ToolAnnotations};
use serde_json::{Value, json};

use super::Calling;
use super::apps::{self, Handles};
use super::arguments::{Argument, ArgumentError, Arguments, refuse_unknown};
use super::budget::AnswerBudget;
use super::scope::Scope;
use crate::error::ApiError;

/// All of them, in the order in which they are listed.
const TOOLS: [Tool; 27] = [
    marks::SET,
    marks::GET,
    sessions::CURRENT,
    contents::TOC,
    contents::TITLES,
    search::SESSION,
    search::ALL,
    sessions::LIST,
    turns::TURN,
    turns::TURNS,
    turns::INTERACTION,
    show::FILE,
    run::RUN,
    show::IMAGE,
    show::EMBED,
    show::RETRIEVE,
    applets::SET,
    applets::SAVE,
    applets::LOAD,
    applets::library::LIST,
    applets::state::GET,
    applets::state::SET,
    applets::library::USAGE,
    applets::library::HOWTO,
    applets::page_tools::DOCUMENT,
    applets::page_tools::GET_STATE,
    applets::page_tools::SET_STATE,
];

/// What is said of arguments that several tools have.
const SESSION_ID: &str = "Another session; this one without it";
const MAX_TOKENS: &str = "How long the answer may be";

/// One of our endpoints that speak MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// `/mcp`: the tools of the session that the caller works in.
    Session,
    /// `/mcp/show`: tools that show the person something; apart, so that agents which need none carry none.
    Show,
}

impl Endpoint {
    /// The name under which agents have it.
    fn server(self) -> &'static str {
        match self {
            Self::Session => engine::OWN_MCP_SERVER,
            Self::Show => engine::OWN_SHOW_SERVER,
        }
    }
}

/// What a call does to what is kept here; the list of tools says so to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Reads,
    /// Notes something that can be noted anew; nothing is lost by it.
    Marks,
    /// Adds something each time.
    Shows,
    /// Does whatever the person allows.
    Runs,
}

/// What is said of a tool beside what it takes and does.
#[derive(Debug, Clone, Copy)]
pub(super) struct About {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) endpoint: Endpoint,
    pub(super) effect: Effect,
    /// Whether a person is asked before an agent may call it.
    pub(super) asks_person: bool,
    pub(super) budget: AnswerBudget,
}

/// Who may call a tool in a host that shows pages of ours (MCP Apps). Where nothing is said both may, and no page is to run commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visibility {
    Model,
    /// Its result is shown by a page.
    ModelWithPage,
    Page,
}

/// A tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tool {
    pub(super) about: About,
    visibility: Visibility,
    arguments: &'static [Argument],
    read: fn(&JsonObject) -> Result<Ready, ArgumentError>,
}

/// A call whose arguments have been read.
type Ready = Box<dyn for<'a> FnOnce(ToolContext<'a>) -> Running<'a> + Send>;
type Running<'a> = Pin<Box<dyn Future<Output = Result<ToolResult, CallError>> + Send + 'a>>;

/// What a tool does with the arguments that it was given.
pub(super) trait Run: Arguments {
    fn run<'a>(self, call: ToolContext<'a>) -> impl Future<Output = Result<ToolResult, CallError>> + Send + 'a;
}

/// What a call is answered.
#[derive(Debug)]
pub(super) struct ToolResult {
    /// In words.
    pub(super) text: String,
    /// The same for programs, where there is more to it than words.
    pub(super) structured: Option<Value>,
    /// For the page that shows it.
    pub(super) meta: Option<MetaObject>,
}

impl From<String> for ToolResult {
    fn from(text: String) -> Self {
        Self { text, structured: None, meta: None }
    }
}

/// No tool has this name.
#[derive(Debug, thiserror::Error)]
#[error("there is no tool {named:?}; there are {known}")]
pub(super) struct NoSuchTool {
    named: String,
    known: String,
}

impl Tool {
    pub(super) const fn of<A: Run>(about: About) -> Self {
        Self { about, visibility: Visibility::Model, arguments: A::ALL, read: read::<A> }
    }

    /// One whose result is shown by a page.
    const fn with_page(self) -> Self {
        Self { visibility: Visibility::ModelWithPage, ..self }
    }

    /// One that such a page calls, and no model.
    const fn for_app_only(self) -> Self {
        Self { visibility: Visibility::Page, ..self }
    }

    pub(super) fn is_for_app_only(&self) -> bool {
        self.visibility == Visibility::Page
    }

    /// One that reads what is here, for which nobody has to be asked.
    const fn reading<A: Run>(name: &'static str, description: &'static str, budget: AnswerBudget) -> Self {
        let (endpoint, effect) = (Endpoint::Session, Effect::Reads);
        Self::of::<A>(About { name, description, endpoint, effect, asks_person: false, budget })
    }

    /// Those of an endpoint.
    pub(super) fn all(endpoint: Endpoint) -> impl Iterator<Item = Self> {
        TOOLS.into_iter().filter(move |tool| tool.about.endpoint == endpoint)
    }

    pub(super) fn find(endpoint: Endpoint, name: &str) -> Result<Self, NoSuchTool> {
        Self::all(endpoint).find(|tool| tool.about.name == name).ok_or_else(|| {
            let known: Vec<_> = Self::all(endpoint).map(|tool| tool.about.name).collect();
            NoSuchTool { named: name.chars().take(100).collect(), known: known.join(", ") }
        })
    }

    /// As clients see it in the list.
    pub(super) fn listed(&self) -> rmcp::model::Tool {
        let hints = ToolAnnotations::new().open_world(false);
        let hints = match self.about.effect {
            Effect::Reads => hints.idempotent(true).read_only(true),
            Effect::Marks => hints.idempotent(true).read_only(false).destructive(false),
            Effect::Shows => hints.idempotent(false).read_only(false).destructive(false),
            Effect::Runs => hints.idempotent(false).read_only(false).destructive(true).open_world(true),
        };
        let (name, description) = (self.about.name, self.about.description);
        rmcp::model::Tool::new(name, description, Arc::new(self.schema())).with_annotations(hints)
    }

    /// The same with what hosts that show pages have to know.
    pub(super) fn listed_with_ui_meta(&self) -> rmcp::model::Tool {
        let tool = self.listed();
        match self.about.endpoint {
            // No page is shown from there.
            Endpoint::Session => tool,
            Endpoint::Show => tool.with_meta(apps::ui_meta(match self.visibility {
                Visibility::Model => json!({ "visibility": ["model"] }),
                Visibility::ModelWithPage => json!({ "resourceUri": apps::SHELL, "visibility": ["model"] }),
                Visibility::Page => json!({ "visibility": ["app"] }),
            })),
        }
    }

    fn schema(&self) -> JsonObject {
        let properties = self.arguments.iter().map(|argument| (argument.name.to_owned(), argument.property()));
        let properties = Value::Object(properties.collect());
        let required: Vec<_> =
            self.arguments.iter().filter(|argument| argument.is_required).map(|argument| argument.name).collect();
        let mut schema = JsonObject::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), properties),
            ("additionalProperties".to_owned(), json!(false)),
        ]);
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        schema
    }

    /// Arguments with which it can be called.
    pub(super) fn example(&self) -> Value {
        let required = self.arguments.iter().filter(|argument| argument.is_required);
        Value::Object(required.map(|argument| (argument.name.to_owned(), argument.example())).collect())
    }

    /// Whether it would take this, as far as its schema says.
    fn takes(&self, input: &JsonObject) -> bool {
        refuse_unknown(input, self.arguments).is_ok() && self.arguments.iter().all(|argument| argument.fits(input))
    }

    /// Carries a call out. No answer is longer than the tool's budget.
    pub(super) async fn call(&self, given: &JsonObject, call: ToolContext<'_>) -> Result<ToolResult, CallError> {
        let result = (self.read)(given)?(call).await?;
        Ok(ToolResult { text: self.about.budget.cut(result.text), ..result })
    }
}

fn read<A: Run>(given: &JsonObject) -> Result<Ready, ArgumentError> {
    let arguments = A::read(given)?;
    Ok(Box::new(move |call| Box::pin(arguments.run(call))))
}

/// What the engine has to know of the tools that agents are lent.
pub fn own_tools() -> engine::OwnTools {
    let unasked = TOOLS.into_iter().filter(|tool| !tool.about.asks_person);
    let named = |About { endpoint, name, effect, .. }: About| engine::OwnTool {
        server: endpoint.server(),
        name: name.to_owned(),
        asks_itself: effect == Effect::Runs,
    };
    engine::OwnTools {
        unasked: unasked.map(|tool| named(tool.about)).collect(),
        takes: |name, input| TOOLS.iter().any(|tool| tool.about.name == name && tool.takes(input)),
        for_looking_back: format!("{} and {}", contents::TOC.about.name, turns::TURN.about.name),
    }
}

/// Why a call came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("a call has a name and, as arguments, an object such as {example}")]
    NotACall { example: Value },
    #[error(
        "session_id {id} is not found in this project, and sessions of other projects are out of scope; the nearest here: \
         {nearest}; list_sessions lists them"
    )]
    SessionNotInScope { id: SessionId, nearest: String },
    #[error("session_id {id} is not found; the nearest: {nearest}; list_sessions lists them")]
    NoSuchSession { id: SessionId, nearest: String },
    #[error("there is no turn {turn} in session {session}; {}", turns_there_are(*newest))]
    NoSuchTurn { turn: Turn, session: SessionId, newest: Turn },
    #[error("turn {turn} has no call {turn}.{call}; {}", calls_there_are(*turn, *calls))]
    NoSuchCall { turn: Turn, call: u32, calls: usize },
    #[error("there is no part {part}; {what} has parts 1 to {parts} with this max_tokens")]
    NoSuchPart { part: usize, what: String, parts: usize },
    #[error("from ({from}) comes after to ({to}); swap them")]
    Backwards { from: Turn, to: Turn },
    #[error(
        "from {from} to {to} are {count} turns, at most {} are shown at once; begin with to = \"{last}\"",
        engine::MAX_TURNS_AT_ONCE
    )]
    TooManyTurns { from: Turn, to: Turn, count: u64, last: Turn },
    #[error(
        "interaction_id {id} is not found in what can be read from here; the nearest in this session: {nearest}; \
         search_session and get_turn show others"
    )]
    NoSuchInteraction { id: InteractionId, nearest: String },
    #[error("this handle opens no applet any more; open the applet anew")]
    NoSuchHandle,
    #[error("give either state, which is all of it, or merge, which are keys of it")]
    StateOrKeys,
    #[error(transparent)]
    NotShown(Arc<OutputError>),
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    #[error(transparent)]
    Refused(#[from] ApiError),
}

impl From<SubmitError> for CallError {
    fn from(err: SubmitError) -> Self {
        Self::Refused(err.into())
    }
}

impl From<OutputError> for CallError {
    fn from(err: OutputError) -> Self {
        Self::Refused(err.into())
    }
}

impl From<AppletError> for CallError {
    fn from(err: AppletError) -> Self {
        Self::Refused(err.into())
    }
}

impl From<QueryError> for CallError {
    fn from(err: QueryError) -> Self {
        Self::Refused(err.into())
    }
}

fn turns_there_are(newest: Turn) -> String {
    match newest.0 {
        0 => "it has none yet".to_owned(),
        _ => format!("it has t1 to {newest}"),
    }
}

fn calls_there_are(turn: Turn, calls: usize) -> String {
    match calls {
        0 => "it has none".to_owned(),
        _ => format!("it has {turn}.1 to {turn}.{calls}"),
    }
}

/// Who calls a tool, and where.
#[derive(Clone, Copy)]
pub(super) struct ToolContext<'a> {
    pub(super) engine: &'a Engine,
    pub(super) calling: &'a Calling,
    pub(super) all_sessions: &'a AgentSwitch,
    pub(super) handles: &'a Handles,
}

impl<'a> ToolContext<'a> {
    async fn scope(&self) -> Result<Scope<'a>, CallError> {
        Scope::open(self.engine, self.calling, self.all_sessions).await
    }
}

#[cfg(test)]
mod tests;
