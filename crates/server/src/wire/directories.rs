//! Directories for a new session.

use model::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DirectoryQuery {
    /// What was typed so far: absolute, or from `~`, the home directory. A slash at the end asks for what lies in a
    /// directory, a dot at the beginning of the last name for hidden ones; empty asks for what lies in the home.
    #[serde(default)]
    pub prefix: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DirectoryPage {
    /// At most 50 whose path goes on from what was typed, those in the same case first.
    pub directories: Vec<Directory>,
    /// Where the newest sessions work: at most 10 that are still there, whatever was typed.
    pub recent: Vec<RecentDirectory>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Directory {
    /// Absolute.
    pub path: String,
    /// It holds `.git`.
    pub is_project: bool,
}

/// A directory that a session works in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecentDirectory {
    pub path: String,
    /// The git root of the directory, else the directory.
    pub project: String,
    /// The agent of its newest session.
    pub agent: String,
    pub active_at: Timestamp,
}
