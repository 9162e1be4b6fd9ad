//! What other tools left on this machine, and how far bringing it in has got.

use std::collections::BTreeMap;

use model::SessionId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// What there is, and how far it is brought in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Imports {
    /// Tools that left conversations here.
    pub sources: Vec<ImportSource>,
    pub progress: ImportProgress,
}

/// A tool that left conversations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportSource {
    /// Its name in the catalog of agents.
    pub tool: String,
    pub sessions: usize,
    /// How many of them are here already, also if they were deleted since.
    #[serde(default)]
    pub known: usize,
    /// How large they are; 0 where that is not known without reading them.
    pub bytes: u64,
}

/// How far it has got. The counts are of conversations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportProgress {
    pub running: bool,
    /// It goes on as the tools do.
    pub following: bool,
    pub done: usize,
    pub total: usize,
    pub added: usize,
    pub updated: usize,
    pub unchanged: usize,
    /// Hosted, deleted or taken over here.
    pub left_alone: usize,
    pub turns: u64,
    /// Records that were not understood, by what they were.
    pub skipped: BTreeMap<String, u64>,
    pub failed: usize,
    /// Why, for the first of them.
    pub failures: Vec<String>,
}

/// What is to be brought in.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewImport {
    /// Of these tools; of all by default.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// Go on as they do.
    #[serde(default)]
    pub follow: bool,
}

/// A bundle that is to be taken in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBundle {
    /// Its file is `<name>.tar` in the folder `incoming` of the data folder.
    #[schema(value_type = String, format = "uuid")]
    pub name: Uuid,
}

/// What became of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportedBundle {
    pub session: SessionId,
    /// How many entries it has.
    pub entries: u64,
    /// How many files beside the log it has: what was shown, and what was too long for an entry.
    pub payloads: u64,
    /// How many such files it lacks: they were gone when it was written.
    pub missing: u64,
    /// It was here already, and nothing was changed.
    pub was_here: bool,
}
