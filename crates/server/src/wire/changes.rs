//! What changed in a session's files.

use model::{ChangedFile, LineCounts};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ChangesQuery {
    /// What files are compared with: `session` (how they were when it began; the default), `t7` (how they were when that
    /// turn began), `git` (the newest commit) or `index` (what is staged).
    #[param(pattern = "^(session|git|index|t?[0-9]{1,9})$")]
    pub since: Option<String>,
    /// What this turn alone changed, as a number or as `t7`; not together with `since`.
    #[param(pattern = "^t?[0-9]{1,9}$")]
    pub turn: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FileDiffQuery {
    /// The whole path of a file that the list names.
    pub path: String,
    /// As in the list.
    #[param(pattern = "^(session|git|index|t?[0-9]{1,9})$")]
    pub since: Option<String>,
    /// As in the list.
    #[param(pattern = "^t?[0-9]{1,9}$")]
    pub turn: Option<String>,
    /// Where the page begins: `nextAfter` of the one before.
    #[serde(default)]
    pub after: u32,
}

/// The files that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangesPage {
    /// By name; at most 500, of which the lines of at most 200 are counted.
    pub files: Vec<ChangedFile>,
    /// How many more there are.
    pub more: usize,
    /// Of all files that were compared.
    pub lines: LineCounts,
    /// So much happened that the oldest edits were not looked at.
    pub earlier_left_out: bool,
    /// More files may have changed; `leftOut` says why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// What was not compared, a sentence for each reason: names that are not valid UTF-8, repositories within this one, more
    /// untracked files than are listed, files that there was no time for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The session's project is a git repository that can be compared with.
    pub git: bool,
    /// Why it can not be, where there is a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_trouble: Option<String>,
}
