//! Tries an agent out: begins a conversation with a process that was started for this alone, and says what came back.
//!
//! Invariant: every request has a time limit, no prompt is sent, and a record that the agent kept of it is deleted where
//! the agent can.

use std::path::Path;

use agent_client_protocol::v1::schema::NewSessionRequest;
use model::SignInMethod;

use super::connection::{Connection, RequestFailure};
use super::profile::AgentProfile;
use crate::AgentLimits;

/// What a trial of an agent has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// The agent's own name with its version.
    pub program: Option<String>,
    /// Whether it takes prompts.
    pub outcome: TrialOutcome,
}

/// How far a trial came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrialOutcome {
    /// It began a conversation.
    Ready,
    /// It runs, and wants a sign-in first, in one of these ways.
    SignedOut(Vec<SignInMethod>),
    /// It could not be started, ended, refused or did not answer; the reason in words.
    Failed(String),
}

impl AgentProfile {
    /// Begins a conversation in `cwd` and gives it up.
    pub(crate) async fn try_out(&self, connection: &Connection, cwd: &Path, limits: &AgentLimits) -> Trial {
        let request = NewSessionRequest::new(cwd.to_owned());
        let outcome = match connection.ask(&request, limits.attach).await {
            Ok(begun) => {
                self.delete_record(connection, &begun.session_id.0, limits.delete).await;
                TrialOutcome::Ready
            }
            Err(RequestFailure::Refused(refused)) if refused.is_signed_out() => {
                TrialOutcome::SignedOut(self.sign_in.clone())
            }
            Err(RequestFailure::Refused(refused)) => {
                TrialOutcome::Failed(format!("the agent refused the session: {}", refused.message))
            }
            Err(RequestFailure::TooSlow) => {
                let seconds = limits.attach.as_secs_f32();
                TrialOutcome::Failed(format!("the agent did not begin a session within {seconds} seconds"))
            }
            Err(RequestFailure::Ended(why)) => TrialOutcome::Failed(why),
            Err(RequestFailure::NotUnderstood) => {
                TrialOutcome::Failed("the agent answered in a way that is not understood".to_owned())
            }
        };
        Trial { program: self.program.clone(), outcome }
    }
}
