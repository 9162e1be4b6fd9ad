//! What a session is about.

use std::collections::BTreeMap;

use model::{FileStamp, Seq, SetChange, SetMode, Turn};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// What a session is about: what somebody marked, and what successful results proved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Context {
    /// Set name to items.
    pub context: BTreeMap<String, Vec<String>>,
    /// Every fact that a rule can prove: a list, or a single value, or null.
    #[schema(value_type = Object)]
    pub facts: BTreeMap<String, serde_json::Value>,
    /// For each fact that was proved, by which calls.
    pub proofs: BTreeMap<String, Proofs>,
}

/// A fact's values and where they come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Proofs {
    /// How many values there have been; the newest hundred are kept.
    pub count: u32,
    /// In the order in which they were first proved.
    pub values: Vec<ProvedValue>,
}

/// A value with its newest evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProvedValue {
    pub value: String,
    pub turn: Turn,
    /// The call's number in that turn.
    pub tool: u32,
    /// The entry that ended the call.
    pub entry: Seq,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileStamp>,
}

/// A context as of some turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContextAsOf {
    /// At the end of which turn.
    pub turn: Turn,
    #[serde(flatten)]
    pub context: Context,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ContextQuery {
    /// At the end of which turn, as a number or as `t7`; now by default.
    #[param(pattern = "^t?[0-9]{1,9}$")]
    pub turn: Option<String>,
}

/// A change of one set.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetContext {
    /// `files`, `applet`, `endpoints`, `ports` or any other name.
    pub set_name: String,
    /// At most ten lines; none removes the set.
    pub items: Vec<String>,
    #[serde(default)]
    pub mode: SetMode,
}

/// What a change did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Changed {
    pub success: bool,
    /// What became of each set that was to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<SetChange>,
}

/// The resume packet that the agent would be sent now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResumePacket {
    pub text: String,
    pub characters: usize,
    /// About how many tokens it costs.
    pub tokens: usize,
}
