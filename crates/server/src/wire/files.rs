//! Files of a session's directory, to be named in a prompt.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FileQuery {
    /// What was typed so far, from the session's directory on. A slash at the end asks for what lies in a directory, a
    /// dot at the beginning of the last name for hidden ones.
    #[serde(default)]
    pub prefix: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FilePage {
    /// At most 50 whose path goes on from what was typed, those in the same case first.
    pub files: Vec<FileName>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileName {
    /// From the session's directory on; that of a directory ends with a slash.
    pub path: String,
}
