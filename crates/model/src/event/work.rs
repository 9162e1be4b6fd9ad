//! What can happen to the pieces of work, which share one stream.

use serde::{Deserialize, Serialize};

use crate::{SessionId, WorkId};

/// What happened to a piece of work, in the past tense.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the variants and their fields are the glossary's own words")]
pub enum WorkEvent {
    #[serde(rename = "work.created")]
    WorkCreated { work: WorkId, project: String, name: String },
    #[serde(rename = "work.renamed")]
    WorkRenamed { work: WorkId, project: String, name: String },
    /// Its sessions stay, each for itself.
    #[serde(rename = "work.deleted")]
    WorkDeleted { work: WorkId },
    /// A session began in it.
    #[serde(rename = "work.session_added")]
    WorkSessionAdded { work: WorkId, session: SessionId },
}
