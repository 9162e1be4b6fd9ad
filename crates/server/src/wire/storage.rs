//! A file that the person looks at.

use model::SessionId;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StoredFileQuery {
    /// Whose directories and marks decide what is shown; without it those of all sessions do.
    #[param(value_type = Option<String>, format = "uuid")]
    #[serde(default)]
    pub session: Option<SessionId>,
    /// From `/` on.
    #[param(min_length = 1, pattern = "^/")]
    pub path: String,
    /// The person means to open a file outside of the session's directories.
    #[serde(default)]
    pub confirm: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoredFile {
    pub path: String,
    /// The text, or its first mebibyte; null if it is no text.
    pub content: Option<String>,
    pub encoding: FileEncoding,
    /// How long the whole file is.
    pub bytes: u64,
    /// The content is only the beginning.
    pub cut: bool,
    /// It lies outside of the session's directories.
    pub outside: bool,
}

/// What the bytes of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum FileEncoding {
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "binary")]
    Binary,
}
