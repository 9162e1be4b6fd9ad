//! What an agent offers and says of itself, in our own words: no type of its protocol gets this far.

use serde::{Deserialize, Serialize};

use crate::{BodyRef, TurnUsage};

/// How a session came to its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Attached {
    /// The agent's own id of the conversation, by which it can be taken up again.
    pub agent_session: String,
    /// What the agent knows of earlier turns.
    pub memory: Memory,
    /// What the agent calls itself, with its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// What an agent knows of the turns before it was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// Nothing: its conversation is a new one.
    New,
    /// It took its own record up again.
    Resumed,
    /// It read its own record anew.
    Loaded,
}

/// Something about the agent that a person can choose: its mode, its model, how long it thinks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentOption {
    /// The agent's own name of it.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is about.
    pub category: OptionCategory,
    /// The choice in force; `true` or `false` where there are no choices to list.
    pub value: String,
    /// What can be chosen; empty for a switch.
    pub choices: Vec<Choice>,
}

impl AgentOption {
    /// Whether this is the one that is meant: by its own name, or as the `mode` or the `model`.
    pub fn is_called(&self, name: &str) -> bool {
        let category = match self.category {
            OptionCategory::Mode => Some("mode"),
            OptionCategory::Model => Some("model"),
            OptionCategory::Thinking | OptionCategory::Other => None,
        };
        self.id == name || category == Some(name)
    }
}

/// What an option is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum OptionCategory {
    Mode,
    Model,
    Thinking,
    Other,
}

/// One of an option's values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// The agent's own name of it.
    pub value: String,
    /// What people call it.
    pub name: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A command that the agent understands at the start of a prompt, as `/name`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentCommand {
    /// Without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A way to sign in to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SignInMethod {
    /// The agent's own name of it.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The line that the person runs in a terminal, where that is the way: it can not be chosen from afar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// How full the agent's window is, what it has cost, and what went through its model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens in the window.
    pub used: u64,
    /// Tokens that fit; 0 if the agent has not said so.
    pub size: u64,
    /// The session's cost so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// What the agent counted when it ended a turn, in entries before version 7: some counted the turn, some more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenCount>,
    /// What the turn used, once the agent has said so: the turn alone, whatever the agent counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnUsage>,
}

/// Tokens that went through the agent's model, as the agent counts them: some count a turn, some the whole session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Tokens))]
#[serde(rename_all = "camelCase")]
pub struct TokenCount {
    /// Of all kinds.
    pub total: u64,
    /// What it read.
    pub input: u64,
    /// What it wrote.
    pub output: u64,
    /// What it thought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought: Option<u64>,
    /// What it found in its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_read: Option<u64>,
    /// What it put into its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_write: Option<u64>,
}

/// An amount of money, as the agent wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// In decimal digits.
    pub amount: String,
    /// As ISO 4217 names it.
    pub currency: String,
}

/// A picture that goes with a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub mime_type: String,
    /// Base64; empty if the picture is kept beside the log.
    pub data: String,
    /// Where the picture is kept. Whoever sends a prompt sends the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<BodyRef>,
}

/// A step of the agent's plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlanStep {
    /// What is to be done.
    pub text: String,
    /// Where it stands.
    pub status: StepStatus,
    /// How much it matters to the agent.
    pub priority: Priority,
}

/// Where a step of a plan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum StepStatus {
    Pending,
    Running,
    Completed,
}

/// How much something matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Priority {
    High,
    Medium,
    Low,
}

/// How urgent a word of the agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Severity {
    Info,
    Warning,
    Error,
}

/// A message of the agent beside its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// How urgent it is.
    pub severity: Severity,
    /// In a line.
    pub title: String,
    /// At length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}
