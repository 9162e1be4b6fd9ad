//! The questions of an agent that wait for an answer.
//!
//! Invariant: each question is answered once, with an option that was offered, or as withdrawn. A question asked in a
//! turn ends with the turn at the latest; one asked outside of a turn waits as long as its session.

use std::collections::{BTreeMap, HashMap};

use agent_client_protocol::v1::schema::{
    CreateElicitationResponse, ElicitationAcceptAction, ElicitationAction, ElicitationContentValue,
    RequestPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome,
};
use model::{PermissionAnswer, Question, json_bytes};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::translate::{ACCEPT, DECLINE, QuestionRequest};

/// How many questions of a session may be open, and how many bytes they may have together; one more is withdrawn at
/// once. A single open question may be larger.
const MAX_OPEN: usize = 32;
const MAX_OPEN_BYTES: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct Questions {
    next: u64,
    open: HashMap<u64, OpenQuestion>,
}

#[derive(Debug)]
struct OpenQuestion {
    /// The agent's own id of the request.
    id: Value,
    kind: QuestionKind,
    of: QuestionScope,
    options: Vec<String>,
    bytes: usize,
}

/// Whether a question belongs to the running turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionScope {
    Turn,
    Session,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum QuestionKind {
    Permission,
    Elicitation,
}

impl QuestionKind {
    pub(super) fn of(asking: &QuestionRequest) -> Self {
        match asking {
            QuestionRequest::Permission { .. } => Self::Permission,
            QuestionRequest::Elicitation(_) => Self::Elicitation,
        }
    }

    /// The answer that the agent gets if nobody answers.
    pub(super) fn withdrawn(self) -> Value {
        match self {
            Self::Permission => json!(RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled)),
            Self::Elicitation => json!(CreateElicitationResponse::new(ElicitationAction::Cancel)),
        }
    }
}

impl Questions {
    /// Whether a question of the running turn is open.
    pub(super) fn any_of_turn(&self) -> bool {
        self.open.values().any(|open| open.of == QuestionScope::Turn)
    }

    /// How many questions have ever been asked.
    pub(super) fn asked(&self) -> u64 {
        self.next
    }

    /// Whether a question is open that was asked after the first `asked` ones.
    pub(super) fn any_since(&self, asked: u64) -> bool {
        self.open.keys().any(|key| *key > asked)
    }

    pub(super) fn is_full(&self) -> bool {
        self.open.len() >= MAX_OPEN
    }

    /// Whether this question may be opened beside the open ones.
    pub(super) fn has_room_for(&self, question: &Question) -> bool {
        let open: usize = self.open.values().map(|open| open.bytes).sum();
        open == 0 || open + bytes_of(question) <= MAX_OPEN_BYTES
    }

    /// Opens a question and returns its key.
    pub(super) fn open(&mut self, id: Value, kind: QuestionKind, of: QuestionScope, question: &Question) -> u64 {
        self.next += 1;
        let options = question.options.iter().map(|option| option.id.clone()).collect();
        self.open.insert(self.next, OpenQuestion { id, kind, of, options, bytes: bytes_of(question) });
        self.next
    }

    /// Closes a question: returns the agent's request id and the answer for it; `None` if it is not open.
    pub(super) fn answer(&mut self, key: u64, answer: PermissionAnswer) -> Option<(Value, Value)> {
        let OpenQuestion { id, kind, of: _, options, bytes: _ } = self.open.remove(&key)?;
        let chosen = answer.option.filter(|option| options.contains(option));
        let answer = match (kind, chosen.as_deref()) {
            (QuestionKind::Permission, Some(option)) => {
                let selected = SelectedPermissionOutcome::new(option.to_owned());
                json!(RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected)))
            }
            (QuestionKind::Elicitation, Some(ACCEPT)) => match content(answer.fields) {
                Some(content) => {
                    let accepted = ElicitationAction::Accept(ElicitationAcceptAction::new().content(content));
                    json!(CreateElicitationResponse::new(accepted))
                }
                None => kind.withdrawn(),
            },
            (QuestionKind::Elicitation, Some(DECLINE)) => {
                json!(CreateElicitationResponse::new(ElicitationAction::Decline))
            }
            (QuestionKind::Permission | QuestionKind::Elicitation, _) => kind.withdrawn(),
        };
        Some((id, answer))
    }

    /// Closes every question, each with its answer for the agent.
    pub(super) fn withdraw_all(&mut self) -> Vec<(Value, Value)> {
        self.open.drain().map(|(_, open)| (open.id, open.kind.withdrawn())).collect()
    }

    /// Closes the questions of the running turn, each with its answer for the agent.
    pub(super) fn withdraw_of_turn(&mut self) -> Vec<(Value, Value)> {
        let ended = self.open.extract_if(|_, open| open.of == QuestionScope::Turn);
        ended.map(|(_, open)| (open.id, open.kind.withdrawn())).collect()
    }

    /// Closes the question of a request that the agent has cancelled, and returns its key.
    pub(super) fn forget(&mut self, id: &Value) -> Option<u64> {
        let key = self.open.iter().find(|(_, open)| open.id == *id).map(|(key, _)| *key)?;
        self.open.remove(&key);
        Some(key)
    }
}

/// The form fields as the protocol wants them: flat. `None` if they are nested.
fn content(fields: Option<Value>) -> Option<BTreeMap<String, ElicitationContentValue>> {
    match fields {
        None | Some(Value::Null) => Some(BTreeMap::new()),
        Some(fields) => BTreeMap::deserialize(fields).ok(),
    }
}
/// About how many bytes a question takes.
fn bytes_of(question: &Question) -> usize {
    let texts = [Some(&question.title), question.subject.as_ref(), question.said.as_ref()];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    texts + question.form.as_ref().map_or(0, json_bytes)
}

#[cfg(test)]
mod tests {
    use model::ToolKind;

    use super::*;

    #[test]
    fn what_waits_is_bounded_in_bytes() {
        let question = |bytes: usize| Question {
            tool: None,
            title: "Run".to_owned(),
            kind: ToolKind::Execute,
            subject: Some("x".repeat(bytes)),
            said: None,
            digest: None,
            options: Vec::new(),
            form: None,
        };
        let (long, short) = (question(MAX_OPEN_BYTES), question(10));
        let mut questions = Questions::default();
        assert!(questions.has_room_for(&long), "one that is alone may be long");
        questions.open(json!(1), QuestionKind::Permission, QuestionScope::Turn, &long);
        assert!(!questions.has_room_for(&short));
        questions.withdraw_all();
        questions.open(json!(2), QuestionKind::Permission, QuestionScope::Turn, &short);
        assert!(questions.has_room_for(&short) && !questions.has_room_for(&long));
    }
}
