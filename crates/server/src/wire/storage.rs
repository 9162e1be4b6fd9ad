//! Files that the person looks at and keeps, and directories that are listed.

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
    /// The whole file, which may have at most 8 MiB, and not only its first MiB.
    #[serde(default)]
    pub whole: bool,
    /// An applet asks, which needs the person's grant for what it is at this moment.
    #[serde(default)]
    pub applet: Option<String>,
    /// SHA-256 of the applet's page.
    #[serde(default)]
    pub hash: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoredFile {
    pub path: String,
    /// The file, or its first mebibyte.
    pub content: String,
    pub encoding: FileEncoding,
    /// How long the whole file is.
    pub bytes: u64,
    /// The content is only the beginning.
    pub cut: bool,
    /// It lies outside of the session's directories.
    pub outside: bool,
}

/// How the bytes of a file are written in JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum FileEncoding {
    /// As text.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// In base64 with padding, because they are no text.
    #[serde(rename = "base64")]
    Base64,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FileWriteQuery {
    /// From `/` on, in `files/` or `applets/` of the data folder; where an applet writes, in the session's directories.
    #[param(min_length = 1, pattern = "^/")]
    pub path: String,
    /// Beside which session an applet writes.
    #[param(value_type = Option<String>, format = "uuid")]
    #[serde(default)]
    pub session: Option<SessionId>,
    /// An applet writes, which needs the person's grant for what it is at this moment.
    #[serde(default)]
    pub applet: Option<String>,
    /// SHA-256 of the applet's page.
    #[serde(default)]
    pub hash: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFileContent {
    /// All that the file is to hold: at most 8 MiB.
    pub content: String,
    #[serde(default)]
    pub encoding: FileEncoding,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WrittenFile {
    pub path: String,
    /// How long the file is now.
    pub bytes: u64,
    /// There was no file before.
    pub created: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DirectoryListQuery {
    /// Whose directories may be listed; without it those of all sessions may.
    #[param(value_type = Option<String>, format = "uuid")]
    #[serde(default)]
    pub session: Option<SessionId>,
    /// From `/` on. Without it the session's directory is listed, or without a session `files/` of the data folder.
    #[param(min_length = 1, pattern = "^/")]
    #[serde(default)]
    pub path: Option<String>,
    /// `nextCursor` of the page before.
    #[serde(default)]
    pub after: Option<String>,
    /// 1 to 1,000.
    #[param(minimum = 1, maximum = 1_000, default = 1_000)]
    #[serde(default)]
    pub limit: Option<usize>,
    /// An applet asks, which needs the person's grant for what it is at this moment.
    #[serde(default)]
    pub applet: Option<String>,
    /// SHA-256 of the applet's page.
    #[serde(default)]
    pub hash: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryListing {
    /// The directory.
    pub path: String,
    /// In the order of the bytes of their names, without what is protected. A page may be short.
    pub files: Vec<ListedFile>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ListedFile {
    /// Bytes that are not UTF-8 are shown as U+FFFD; such a file can not be opened here.
    pub name: String,
    #[serde(rename = "type")]
    pub kind: ListedKind,
    /// In bytes; of a link that of its target's name.
    pub size: u64,
}

/// What a name in a directory stands for; a link is a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ListedKind {
    File,
    Directory,
    Link,
    /// A pipe, a socket or a device.
    Other,
}
