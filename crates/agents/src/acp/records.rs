//! What an agent itself keeps of conversations: asked for, and taken away.
//!
//! Invariant: nobody waits for it without a limit, and nothing that is told of it is without a bound.

use std::path::PathBuf;
use std::time::Duration;

use agent_client_protocol::v1::schema::{DeleteSessionRequest, ListSessionsRequest, SessionInfo};
use model::Timestamp;
use serde_json::Value;
use tokio::time::timeout;

use super::about::AgentProfile;
use super::connection::{Connection, NoAnswer};
use super::translate::plain_line;

/// How many records are told at a time; an agent that tells more is cut off.
const MAX_RECORDS: usize = 1_000;
/// Longest id and cursor, in bytes: one that is cut would be another.
const MAX_ID_BYTES: usize = 1_000;
const MAX_PATH_BYTES: usize = 4_096;
const MAX_TITLE_CHARS: usize = 200;

/// A page of what an agent keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    /// In the agent's own order.
    pub records: Vec<Record>,
    /// The agent's own word for where the next page begins.
    pub next_cursor: Option<String>,
}

/// What an agent itself keeps of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The agent's own id of the conversation.
    pub id: String,
    /// What the agent calls it, on one line.
    pub title: Option<String>,
    /// Where it works.
    pub cwd: String,
    /// When something last happened in it, if the agent says so in a way that is understood.
    pub updated_at: Option<Timestamp>,
}

/// Which records are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordsWish {
    /// Only those of conversations in this directory.
    pub cwd: Option<PathBuf>,
    /// Where to go on, as the page before said.
    pub cursor: Option<String>,
}

/// Why an agent's records are not told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordsError {
    /// It has no way to tell.
    #[error("this agent does not tell which sessions it keeps")]
    NotSupported,
    /// It wants somebody to sign in first.
    #[error("this agent wants you to sign in first; begin a session with it to do so")]
    SignedOut,
    /// Nothing came.
    #[error("this agent did not answer within {} seconds; try again", .0.as_secs())]
    TooSlow(Duration),
    /// It could not be started, ended, or refused.
    #[error("{0}")]
    Failed(String),
}

impl AgentProfile {
    /// Asks the agent what it keeps.
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
            NoAnswer::Refused(refused) if refused.is_signed_out() => RecordsError::SignedOut,
            NoAnswer::Refused(refused) => RecordsError::Failed(format!("the agent refused: {}", refused.message)),
            NoAnswer::TooSlow => RecordsError::TooSlow(limit),
            NoAnswer::Ended(why) => RecordsError::Failed(why),
            NoAnswer::NotUnderstood => {
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

    /// Whether the agent can be asked to delete what it keeps.
    pub(crate) fn deletes_records(&self) -> bool {
        self.capabilities.session_capabilities.delete.is_some()
    }

    /// Has the agent delete what it keeps of a conversation, if it can. What does not come to pass is logged.
    pub(crate) async fn delete_record(&self, connection: &Connection, record: &str, limit: Duration) {
        if !self.deletes_records() {
            return;
        }
        let request = DeleteSessionRequest::new(record.to_owned());
        match timeout(limit, connection.ask(&request, limit)).await {
            Ok(Ok(_)) => tracing::info!("an agent deleted its own record of a session that was purged"),
            Ok(Err(NoAnswer::Refused(refused))) => {
                tracing::warn!(why = refused.message, "an agent did not delete its record");
            }
            Ok(Err(NoAnswer::Ended(why))) => tracing::warn!(why, "an agent ended before it deleted its record"),
            // What it answers does not matter, as long as it is no error.
            Ok(Err(NoAnswer::NotUnderstood)) => (),
            Ok(Err(NoAnswer::TooSlow)) | Err(_) => {
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
