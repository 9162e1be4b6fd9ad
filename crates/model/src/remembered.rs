//! Answers that are given again, unasked, to the very same question.
//!
//! Invariant: the same is the same project and directory, agent, kind of work and all that the tool is given, to the last
//! character; never a title, which the agent words as it likes. For each there is one decision, the newest.

use serde::{Deserialize, Serialize};

use crate::limits::{MAX_REMEMBERED, MAX_REMEMBERED_SUBJECT_CHARS};
use crate::{
    Answerer, PermissionAnswer, PermissionKind, Question, Rejection, RememberedId, Request, ServerEvent, Session,
    SessionRow, Timestamp, ToolKind,
};

/// What an answer may be remembered for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Memorable {
    /// What sort of work is to be done.
    pub kind: ToolKind,
    /// The command, path or input, for people to read; a long one is cut.
    pub subject: String,
    /// SHA-256, in hex, of all that the tool is given.
    pub digest: String,
}

impl Memorable {
    /// What the question is about, if the same could be known again.
    pub fn of(question: &Question) -> Option<Self> {
        let (Some(subject), Some(digest), None) = (&question.subject, &question.digest, &question.form) else {
            return None;
        };
        let mut letters = subject.chars();
        let mut shown: String = letters.by_ref().take(MAX_REMEMBERED_SUBJECT_CHARS).collect();
        if letters.next().is_some() {
            shown.push('…');
        }
        Some(Self { kind: question.kind, subject: shown, digest: digest.clone() })
    }
}

/// What is answered again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum RememberedDecision {
    Allow,
    Deny,
}

impl RememberedDecision {
    /// What a chosen option means for the next time.
    pub fn of(kind: PermissionKind) -> Self {
        match kind {
            PermissionKind::AllowOnce | PermissionKind::AllowAlways => Self::Allow,
            PermissionKind::RejectOnce | PermissionKind::RejectAlways => Self::Deny,
        }
    }
}

/// An answer that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedRow {
    /// Its name in lists and logs.
    pub id: RememberedId,
    /// Where it holds.
    pub project: String,
    /// In which directory of it: the same command does something else in another.
    pub cwd: String,
    /// For which agent.
    pub agent: String,
    /// For which sort of work.
    pub kind: ToolKind,
    /// What it is about, for people to read.
    pub subject: String,
    /// What it is about, exactly.
    pub digest: String,
    /// What is answered.
    pub decision: RememberedDecision,
    /// Who decided.
    pub by: Answerer,
    /// When.
    pub remembered_at: Timestamp,
}

impl RememberedRow {
    /// Whether it answers this, asked in this session.
    pub fn answers(&self, session: &SessionRow, asked: &Memorable) -> bool {
        let is_there = self.project == session.project && self.cwd == session.cwd;
        is_there && self.agent == session.agent && self.kind == asked.kind && self.digest == asked.digest
    }
}

/// What an answer that is to be remembered writes beside itself, given what is remembered already.
pub fn remember(
    known: &[RememberedRow],
    session: &Session,
    request: Request,
    answer: &PermissionAnswer,
) -> Result<Vec<ServerEvent>, Rejection> {
    let Some(id) = answer.remembered else { return Ok(Vec::new()) };
    let open = session.row.open_requests.iter().find(|open| open.request == request);
    let open = open.ok_or(Rejection::RequestNotOpen(request))?;
    let (Some(asked), Some(chosen)) = (&open.memorable, answer.kind) else { return Err(Rejection::NothingToRemember) };
    let (earlier, others): (Vec<_>, Vec<_>) = known.iter().partition(|row| row.answers(&session.row, asked));
    if others.len() >= MAX_REMEMBERED {
        return Err(Rejection::RememberedFull);
    }
    let mut events: Vec<ServerEvent> =
        earlier.iter().map(|row| ServerEvent::PermissionForgotten { id: row.id }).collect();
    events.push(ServerEvent::PermissionRemembered {
        id,
        project: session.row.project.clone(),
        cwd: session.row.cwd.clone(),
        agent: session.row.agent.clone(),
        kind: asked.kind,
        subject: asked.subject.clone(),
        digest: asked.digest.clone(),
        decision: RememberedDecision::of(chosen),
        by: answer.by.clone(),
    });
    Ok(events)
}

#[cfg(test)]
mod tests;
