//! The outcome of a turn, from the agent's answer to the prompt.

use agent_client_protocol::v1::schema::{PromptResponse, StopReason};
use model::{Outcome, Stop};
use serde::Deserialize as _;
use serde_json::Value;

use super::text::plain_line;

/// The error with which a prompt was answered.
#[derive(Debug)]
pub(crate) struct TurnError {
    /// In the agent's own words.
    pub(crate) message: String,
}

pub(super) fn stop(answer: Result<Value, TurnError>) -> Stop {
    let answer = match answer {
        Ok(answer) => answer,
        Err(TurnError { message }) => return Stop { outcome: Outcome::Failed, reason: Some(message) },
    };
    let word = answer.get("stopReason").and_then(Value::as_str).map(|word| plain_line(word, 100));
    let ended = |outcome, reason: Option<String>| Stop { outcome, reason };
    match PromptResponse::deserialize(&answer).map(|response| response.stop_reason) {
        Ok(StopReason::EndTurn) => ended(Outcome::Completed, None),
        Ok(StopReason::Cancelled) => ended(Outcome::Cancelled, None),
        Ok(StopReason::MaxTokens | StopReason::MaxTurnRequests | StopReason::Refusal) => {
            ended(Outcome::Completed, word)
        }
        // The turn did stop, for a reason that is not known here.
        Ok(_) | Err(_) if word.is_some() => ended(Outcome::Completed, word),
        Ok(_) | Err(_) => {
            let reason = "the agent ended the turn without saying how".to_owned();
            ended(Outcome::Failed, Some(reason))
        }
    }
}
