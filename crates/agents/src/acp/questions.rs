//! The questions of an agent that wait for their answers.
//!
//! Invariant: each is answered once, with an option that was offered, or as withdrawn. One that was asked in a turn does
//! not outlast it; one that was asked beside the turns waits as long as its session.

use std::collections::{BTreeMap, HashMap};

use agent_client_protocol::v1::schema::{
    CreateElicitationResponse, ElicitationAcceptAction, ElicitationAction, ElicitationContentValue,
    RequestPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome,
};
use model::{PermissionAnswer, Question, json_bytes};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::translate::{ACCEPT, Asking, DECLINE};

/// How many of one session are open at a time, and how many bytes they have together; one more is withdrawn at once. One that
/// is alone may have more.
const MAX_OPEN: usize = 32;
const MAX_OPEN_BYTES: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct Questions {
    next: u64,
    open: HashMap<u64, Open>,
}

#[derive(Debug)]
struct Open {
    /// The agent's own id of its request.
    id: Value,
    kind: Kind,
    of: Of,
    options: Vec<String>,
    bytes: usize,
}

/// What a question ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Turn,
    Session,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Permission,
    Elicitation,
}

impl Kind {
    pub(super) fn of(asking: &Asking) -> Self {
        match asking {
            Asking::Permission { .. } => Self::Permission,
            Asking::Elicitation(_) => Self::Elicitation,
        }
    }

    /// What the agent hears if nobody answers.
    pub(super) fn withdrawn(self) -> Value {
        match self {
            Self::Permission => json!(RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled)),
            Self::Elicitation => json!(CreateElicitationResponse::new(ElicitationAction::Cancel)),
        }
    }
}

impl Questions {
    /// Whether the turn that runs waits for an answer.
    pub(super) fn any_of_turn(&self) -> bool {
        self.open.values().any(|open| open.of == Of::Turn)
    }

    /// How many have ever been asked.
    pub(super) fn asked(&self) -> u64 {
        self.next
    }

    /// Whether one that was asked after the first so many still waits.
    pub(super) fn any_since(&self, asked: u64) -> bool {
        self.open.keys().any(|key| *key > asked)
    }

    pub(super) fn is_full(&self) -> bool {
        self.open.len() >= MAX_OPEN
    }

    /// Whether this one may wait beside those that are open.
    pub(super) fn has_room_for(&self, question: &Question) -> bool {
        let open: usize = self.open.values().map(|open| open.bytes).sum();
        open == 0 || open + bytes_of(question) <= MAX_OPEN_BYTES
    }

    /// The key of a new one.
    pub(super) fn open(&mut self, id: Value, kind: Kind, of: Of, question: &Question) -> u64 {
        self.next += 1;
        let options = question.options.iter().map(|option| option.id.clone()).collect();
        self.open.insert(self.next, Open { id, kind, of, options, bytes: bytes_of(question) });
        self.next
    }

    /// The agent's id and what it hears; `None` if it was answered before.
    pub(super) fn answer(&mut self, key: u64, answer: PermissionAnswer) -> Option<(Value, Value)> {
        let Open { id, kind, of: _, options, bytes: _ } = self.open.remove(&key)?;
        let chosen = answer.option.filter(|option| options.contains(option));
        let heard = match (kind, chosen.as_deref()) {
            (Kind::Permission, Some(option)) => {
                let selected = SelectedPermissionOutcome::new(option.to_owned());
                json!(RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected)))
            }
            (Kind::Elicitation, Some(ACCEPT)) => match content(answer.fields) {
                Some(content) => {
                    let accepted = ElicitationAction::Accept(ElicitationAcceptAction::new().content(content));
                    json!(CreateElicitationResponse::new(accepted))
                }
                None => kind.withdrawn(),
            },
            (Kind::Elicitation, Some(DECLINE)) => json!(CreateElicitationResponse::new(ElicitationAction::Decline)),
            (Kind::Permission | Kind::Elicitation, _) => kind.withdrawn(),
        };
        Some((id, heard))
    }

    /// Everything that is open, with what its agent hears.
    pub(super) fn withdraw_all(&mut self) -> Vec<(Value, Value)> {
        self.open.drain().map(|(_, open)| (open.id, open.kind.withdrawn())).collect()
    }

    /// What is open of the turn, likewise.
    pub(super) fn withdraw_of_turn(&mut self) -> Vec<(Value, Value)> {
        let ended = self.open.extract_if(|_, open| open.of == Of::Turn);
        ended.map(|(_, open)| (open.id, open.kind.withdrawn())).collect()
    }

    /// The agent does not wait any more: the key of what it waited for.
    pub(super) fn forget(&mut self, id: &Value) -> Option<u64> {
        let key = self.open.iter().find(|(_, open)| open.id == *id).map(|(key, _)| *key)?;
        self.open.remove(&key);
        Some(key)
    }
}

/// The fields as the protocol has them: flat. `None` if they are not.
fn content(fields: Option<Value>) -> Option<BTreeMap<String, ElicitationContentValue>> {
    match fields {
        None | Some(Value::Null) => Some(BTreeMap::new()),
        Some(fields) => BTreeMap::deserialize(fields).ok(),
    }
}
/// About how much a question takes wherever it waits.
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
        questions.open(json!(1), Kind::Permission, Of::Turn, &long);
        assert!(!questions.has_room_for(&short));
        questions.withdraw_all();
        questions.open(json!(2), Kind::Permission, Of::Turn, &short);
        assert!(questions.has_room_for(&short) && !questions.has_room_for(&long));
    }
}
