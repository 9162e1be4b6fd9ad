//! Agents: what can be started, how a trial ended, and the conversations that an agent keeps by itself.

use model::{SessionId, SignInMethod, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AgentQuery {
    /// Answer at once with what is known without starting a program: versions are null, and an agent that only the login
    /// shell finds may not be there yet.
    #[serde(default)]
    pub so_far: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentPage {
    pub agents: Vec<Agent>,
}

/// An agent that sessions can be started with, once it is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    pub name: String,
    pub title: String,
    pub description: String,
    /// Its program was found.
    pub installed: bool,
    /// In its program's own words; null while it is not installed, or does not report it.
    pub version: Option<String>,
    /// How to install it, in a sentence with the command in backticks.
    pub install: Option<String>,
    /// How to sign in to it, in a sentence.
    pub sign_in: Option<String>,
    /// What else one should know, a sentence each.
    pub notes: Vec<String>,
}

/// What came back when an agent was started, asked to begin a session, and ended again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentTrial {
    /// What it calls itself, with its version.
    pub program: Option<String>,
    pub outcome: AgentTrialOutcome,
    /// How it can be signed in to, where it wants that first.
    pub methods: Vec<SignInMethod>,
    /// Why it can not be used, where it failed.
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentTrialOutcome {
    /// It takes prompts.
    Ready,
    /// It runs, and wants a sign-in first.
    SignedOut,
    /// It could not be started, ended, refused or did not answer.
    Failed,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AgentSessionQuery {
    /// Only those of this directory; an absolute path.
    #[param(pattern = "^/")]
    pub cwd: Option<String>,
    /// `nextCursor` of the page before.
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSessionPage {
    /// At most 1,000.
    pub sessions: Vec<AgentSession>,
    /// The agent's own; give it as `cursor` for what follows. Null when this is all.
    pub next_cursor: Option<String>,
}

/// A conversation that an agent itself keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSession {
    /// The agent's own id of it.
    pub id: String,
    pub title: Option<String>,
    pub cwd: String,
    pub updated_at: Option<Timestamp>,
    /// The session here that it belongs to, deleted or not; null where the agent was used without Throughline, or the session
    /// has another conversation by now.
    pub session_id: Option<SessionId>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewValue {
    /// One of the option's choices; `true` or `false` for a switch.
    pub value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignIn {
    /// The id of one of the methods that the agent offers.
    pub method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}
