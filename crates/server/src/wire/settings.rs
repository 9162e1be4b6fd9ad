//! The settings that are in force, each with where it comes from and the line that changes it. They are shown here and
//! never set: that is done in `config.toml`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the server was started with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// The full path of `config.toml`, whether or not it is there.
    pub file: String,
    /// Whether it was there when the server started.
    pub has_file: bool,
    /// The address that sign-in links lead to.
    pub url: String,
    /// Whether only the server's own machine reaches that address.
    pub local_only: bool,
    /// Every setting, those that `config.toml` does not have last.
    pub values: Vec<Setting>,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Setting {
    /// Its name, such as `server.listen`; a flag for what `config.toml` does not have.
    pub key: String,
    /// What it is for, in a sentence.
    pub about: String,
    /// As TOML, with `[secret]` in place of secrets; null while nothing is set.
    pub value: Option<String>,
    pub source: SettingSource,
    pub change: SettingChange,
}

/// Where a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SettingSource {
    /// Nobody has set it.
    Default,
    /// `config.toml` sets it, in this line.
    Config { line: usize },
    /// This flag of the command line sets it.
    Flag { name: String },
    /// This variable sets it.
    Environment { name: String },
    /// The system allows no more.
    System { reason: String },
}

/// How a setting is changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingChange {
    /// What to write: lines of `config.toml`, or a command.
    pub text: String,
    pub place: ChangePlace,
}

/// Where the text of a change goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ChangePlace {
    /// In place of this line of `config.toml`.
    Replace { line: usize },
    /// Below this line of `config.toml`, where its section begins.
    Below { line: usize },
    /// At the end of `config.toml`, which has no such section yet.
    End,
    /// Into a terminal, to start the server with it.
    Terminal,
}
