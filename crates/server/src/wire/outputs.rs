//! What agents showed, listed and read.

use model::{Output, OutputId, Timestamp, Turn};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{FileEncoding, Hidden};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputPage {
    /// In the order in which they were shown.
    pub outputs: Vec<ListedOutput>,
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedOutput {
    /// The turn in which it was shown.
    pub turn: Turn,
    pub created_at: Timestamp,
    #[serde(flatten)]
    pub output: Output,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OutputQuery {
    /// `json` for an object with the bytes in it; without it the bytes themselves.
    #[serde(default)]
    #[param(inline)]
    pub format: Option<OutputFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputFormat {
    Json,
}

/// An output with its bytes; at most 16 MiB.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputBody {
    pub id: OutputId,
    /// The text, or the bytes in base64; null if they are gone.
    pub data: Option<String>,
    pub encoding: FileEncoding,
    pub state: OutputState,
    pub created_at: Timestamp,
    pub metadata: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputStateNow {
    pub state: OutputState,
    /// Of a text that was edited: how many lines can be read of it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
}

/// What became of an output's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputState {
    /// They are as they were shown.
    Kept,
    /// Somebody edited its file.
    Changed,
    /// Its file is not there.
    Gone,
}

/// An address of something to read that needs no header.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ticket {
    /// Below this server; whoever has it can read what it is for.
    #[schema(value_type = String)]
    pub url: Hidden,
    /// From when on it opens nothing.
    pub expires_at: Timestamp,
}

/// Which outputs are to be removed by their age.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OutputPrune {
    /// Those that were shown more days ago than this; 0 is all of them.
    #[schema(maximum = 36500)]
    pub older_than_days: u32,
    /// Only counts them.
    #[serde(default)]
    pub dry_run: bool,
}

/// What was removed, or would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrunedOutputs {
    pub outputs: u64,
    pub bytes: u64,
    /// Of how many sessions.
    pub sessions: u64,
    pub dry_run: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OutputLinesQuery {
    /// From this line of the output on, counted from 1.
    #[param(minimum = 1)]
    pub first: Option<u64>,
    /// Up to this one, included.
    #[param(minimum = 1)]
    pub last: Option<u64>,
    /// Only lines that hold this text, whatever its case; 1 to 1,000 characters.
    #[param(min_length = 1, max_length = 1000)]
    pub grep: Option<String>,
    /// How many at most; 1 to 5,000, 1,000 by default. Fewer come where they are long.
    #[param(minimum = 1, maximum = 5000)]
    pub limit: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputLines {
    pub lines: Vec<OutputLine>,
    /// Give it as `first` for what follows; null when this is all.
    pub next: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutputLine {
    /// Its number in the output, from 1.
    pub number: u64,
    pub text: String,
    /// It is longer than what is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}
