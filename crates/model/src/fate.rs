//! What became of a call, in the words that the page, the command line and agents all use.
//!
//! Invariant: a call is done only if it ended well and nobody refused it. What the agent calls completed after a refusal
//! was not done.

use crate::context::{CallEnd, call_end};
use crate::transcript::{Item, TranscriptTurn};
use crate::{Outcome, PermissionAnswer, PermissionKind, ToolCall, ToolStatus};

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallFate {
    /// It did what it was to do.
    Done,
    /// The answer to its question was no.
    Refused,
    /// It failed.
    Failed,
    /// It was run, and ended with this exit code.
    Exited(i32),
    /// Its turn was cancelled before it ended.
    Cancelled,
    /// Its turn ended without it.
    NotFinished,
    /// It waits or runs, and so does its turn.
    Open,
}

impl CallFate {
    /// What is said of it beside its name; nothing, if it was done.
    pub fn note(self) -> Option<String> {
        let word = match self {
            Self::Done => return None,
            Self::Exited(code) => return Some(format!("exit code {code}")),
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::NotFinished => "not finished",
            Self::Open => "running",
        };
        Some(word.to_owned())
    }
}

impl TranscriptTurn {
    /// What became of a call of this turn.
    pub fn fate(&self, call: &ToolCall) -> CallFate {
        if self.is_refused(call.tool) {
            return CallFate::Refused;
        }
        match call.status {
            ToolStatus::Completed => match call_end(call) {
                CallEnd::Succeeded => CallFate::Done,
                CallEnd::Exited(code) => CallFate::Exited(code),
                CallEnd::Failed => CallFate::Failed,
            },
            ToolStatus::Failed => CallFate::Failed,
            ToolStatus::Cancelled | ToolStatus::Pending | ToolStatus::Running => match self.outcome {
                Some(Outcome::Cancelled) => CallFate::Cancelled,
                Some(Outcome::Completed | Outcome::Failed | Outcome::Interrupted) => CallFate::NotFinished,
                None => CallFate::Open,
            },
        }
    }

    /// The last answer to a question about this call was no.
    fn is_refused(&self, tool: u32) -> bool {
        let last = self.items.iter().rev().find_map(|item| match item {
            Item::Permission(asked) if asked.question.tool == Some(tool) => asked.answer.as_ref(),
            _ => None,
        });
        last.is_some_and(PermissionAnswer::refuses)
    }
}

impl PermissionAnswer {
    /// The answer is no. A question that was withdrawn has none.
    pub fn refuses(&self) -> bool {
        match self.kind {
            Some(PermissionKind::RejectOnce | PermissionKind::RejectAlways) => true,
            Some(PermissionKind::AllowOnce | PermissionKind::AllowAlways) | None => false,
        }
    }
}

impl Outcome {
    /// What is said of a turn that ended like this; nothing, if it was done.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Self::Completed => None,
            Self::Cancelled => Some("cancelled"),
            Self::Failed => Some("failed"),
            Self::Interrupted => Some("interrupted"),
        }
    }
}
