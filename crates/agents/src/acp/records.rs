//! Lists and deletes the records that an agent itself keeps of conversations.
//!
//! Invariant: every request has a time limit, and everything that is returned is bounded.

use std::path::PathBuf;
use std::time::Duration;

use agent_client_protocol::v1::schema::{DeleteSessionRequest, ListSessionsRequest, SessionInfo};
use model::Timestamp;
use serde_json::Value;
use tokio::time::timeout;

use super::connection::{Connection, RequestFailure};
use super::profile::AgentProfile;
use super::translate::plain_line;

/// How many records are returned at a time; the rest of the agent's list is cut off.
const MAX_RECORDS: usize = 1_000;
/// Longest id and cursor, in bytes. Longer ones are dropped, for a cut one would be another id.
const MAX_ID_BYTES: usize = 1_000;
const MAX_PATH_BYTES: usize = 4_096;
const MAX_TITLE_CHARS: usize = 200;

/// A page of an agent's records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    /// In the order that the agent gave.
    pub records: Vec<Record>,
    /// The agent's cursor for the next page.
    pub next_cursor: Option<String>,
}

/// What an agent itself keeps of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The agent's own id of the conversation.
    pub id: String,
    /// The agent's title for it, on one line.
    pub title: Option<String>,
    /// The directory in which the conversation works.
    pub cwd: String,
    /// When something last happened in it, if the agent says so in a known format.
    pub updated_at: Option<Timestamp>,
}

/// Which records to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordsWish {
    /// Only those of conversations in this directory.
    pub cwd: Option<PathBuf>,
    /// The cursor that the page before returned.
    pub cursor: Option<String>,
}

/// Why an agent's records could not be listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordsError {
    /// The agent cannot list its records.
    #[error("this agent does not tell which sessions it keeps")]
    NotSupported,
    /// Somebody has to sign in first.
    #[error("this agent wants you to sign in first; begin a session with it to do so")]
    SignedOut,
    /// No answer came in time.
    #[error("this agent did not answer within {} seconds; try again", .0.as_secs())]
    TooSlow(Duration),
    /// The agent could not be started, ended, or refused.
    #[error("{0}")]
    Failed(String),
}

impl AgentProfile {
    /// Asks the agent for its records.
    pub(crate) async fn records(
        &self,
        connection: &Connection,
        wish: RecordsWish,
        limit: Duration,
    ) -> Result<Records, RecordsError> {
        if self.capabilities.session_capabilities.list.is_none() {
            return Err(RecordsError::NotSupported);
        }
        let mut request = ListSessionsRequest::new();
        request.cwd = wish.cwd;
        request.cursor = wish.cursor;
        let answer = connection.ask(&request, limit).await.map_err(|no_answer| match no_answer {
            RequestFailure::Refused(refused) if refused.is_signed_out() => RecordsError::SignedOut,
            RequestFailure::Refused(refused) => RecordsError::Failed(format!("the agent refused: {}", refused.message)),
            RequestFailure::TooSlow => RecordsError::TooSlow(limit),
            RequestFailure::Ended(why) => RecordsError::Failed(why),
            RequestFailure::NotUnderstood => {
                RecordsError::Failed("the agent's list of its sessions is not understood".to_owned())
            }
        })?;
        if answer.sessions.len() > MAX_RECORDS {
            tracing::warn!(told = answer.sessions.len(), "an agent told of more sessions than are taken at once");
        }
        let records = answer.sessions.into_iter().take(MAX_RECORDS).filter_map(record).collect();
        let next_cursor = answer.next_cursor.filter(|cursor| cursor.len() <= MAX_ID_BYTES);
        Ok(Records { records, next_cursor })
    }

    /// Whether the agent can delete its records.
    pub(crate) fn deletes_records(&self) -> bool {
        self.capabilities.session_capabilities.delete.is_some()
    }

    /// Asks the agent to delete its record of a conversation, if it can. A failure is logged.
    pub(crate) async fn delete_record(&self, connection: &Connection, record: &str, limit: Duration) {
        if !self.deletes_records() {
            return;
        }
        let request = DeleteSessionRequest::new(record.to_owned());
        match timeout(limit, connection.ask(&request, limit)).await {
            Ok(Ok(_)) => tracing::info!("an agent deleted its own record of a session that was purged"),
            Ok(Err(RequestFailure::Refused(refused))) => {
                tracing::warn!(why = refused.message, "an agent did not delete its record");
            }
            Ok(Err(RequestFailure::Ended(why))) => tracing::warn!(why, "an agent ended before it deleted its record"),
            // An answer of any shape will do, as long as it is no error.
            Ok(Err(RequestFailure::NotUnderstood)) => (),
            Ok(Err(RequestFailure::TooSlow)) | Err(_) => {
                tracing::warn!("an agent did not say in time whether it deleted its record");
            }
        }
    }
}

fn record(info: SessionInfo) -> Option<Record> {
    let id = info.session_id.0.to_string();
    let cwd = info.cwd.into_os_string().into_string().ok()?;
    if id.is_empty() || id.len() > MAX_ID_BYTES || cwd.len() > MAX_PATH_BYTES {
        return None;
    }
    let title = info.title.map(|title| plain_line(&title, MAX_TITLE_CHARS)).filter(|title| !title.is_empty());
    let updated_at = info.updated_at.and_then(|at| serde_json::from_value(Value::String(at)).ok());
    Some(Record { id, title, cwd, updated_at })
}
