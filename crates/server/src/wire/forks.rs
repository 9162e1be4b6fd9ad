//! A session that goes on from a turn of another one.

use model::Turn;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::NewImage;

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewFork {
    /// The last turn that it goes on from; 0 is the session's beginning. Without it: the newest turn that has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// A name from `GET /agents`, if another agent is to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What its agent is sent first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// At most eight, with eight MiB of Base64 in all; they go with the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<NewImage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}
