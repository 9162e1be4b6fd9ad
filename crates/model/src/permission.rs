//! What an agent asks before it goes on, and what it was answered.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Memorable, ParseIdError, RememberedId, Seq, TokenId, ToolKind, Turn};

/// A request's number in its session, from 1, true for ever. Written `p7` where it stands alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RequestNumber))]
#[serde(transparent)]
pub struct Request(pub u32);

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0)
    }
}

impl FromStr for Request {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let number = text.strip_prefix('p').and_then(|number| number.parse().ok()).map(Self);
        // One spelling only: no sign, no leading zero.
        number.filter(|request| request.to_string() == text).ok_or(ParseIdError { kind: "permission request" })
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The call that waits for it, by its number in the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<u32>,
    /// In the agent's words. What is really to be done is in `subject`.
    pub title: String,
    /// What sort of work is to be done.
    pub kind: ToolKind,
    /// The very command, path or input that is to be used, whole; a policy looks at this and never at the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What the agent shows of the call, in its own words, where it does not say what the tool is given. Nothing holds it
    /// to them, so no policy looks at them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// SHA-256, in hex, of all that the tool is given; an answer is remembered by it. Absent where the agent does not say all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What can be answered.
    pub options: Vec<PermissionOption>,
    /// Fields to fill in, as a JSON schema of one flat object, where more is asked than a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
    pub form: Option<Value>,
}

/// A possible answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PermissionOption {
    /// The agent's own name of it.
    pub id: String,
    /// What people read.
    pub name: String,
    /// What it means.
    pub kind: PermissionKind,
}

/// What a possible answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum PermissionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
}

impl PermissionKind {
    /// What is said of a request that was answered like this.
    pub fn note(self) -> &'static str {
        match self {
            Self::AllowOnce => "allowed once",
            Self::AllowAlways => "always allowed",
            Self::RejectOnce => "rejected",
            Self::RejectAlways => "always rejected",
        }
    }
}

/// A request that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenRequest {
    /// Its number.
    pub request: Request,
    /// What can be answered.
    pub options: Vec<PermissionOption>,
    /// What an answer to it may be remembered for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memorable: Option<Memorable>,
    /// The entry that holds it, if it was asked while no turn ran; such a one belongs to no turn and outlasts those that
    /// begin while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<Seq>,
}

impl OpenRequest {
    /// The turn it belongs to, if that one runs now.
    pub(crate) fn turn(&self, running: Option<Turn>) -> Option<Turn> {
        running.filter(|_| self.aside.is_none())
    }
}

/// What a request was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PermissionAnswer {
    /// The option that was chosen; absent if the request was withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// What the chosen option means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<PermissionKind>,
    /// The fields that were filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
    pub fields: Option<Value>,
    /// Who answered.
    pub by: Answerer,
    /// What it was remembered as, so that the very same is not asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remembered: Option<RememberedId>,
}

/// Who answers requests. An agent never does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Answerer {
    /// A person, with this credential.
    #[serde(rename_all = "camelCase")]
    Person {
        /// The credential; the command line needs none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_id: Option<TokenId>,
        /// What the credential is called.
        name: String,
    },
    /// A rule that the person set.
    Policy {
        /// Which, as the configuration names it.
        rule: String,
    },
    /// What a person answered to the very same before.
    Remembered {
        /// As what it is remembered.
        id: RememberedId,
    },
    /// Nobody: it was withdrawn, with its turn or with its agent.
    Nobody,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_one_spelling() {
        assert_eq!("p12".parse(), Ok(Request(12)));
        assert_eq!(Request(12).to_string(), "p12");
        for other in ["12", "p", "p012", "p+1", "P1", "p-1", "p99999999999"] {
            assert!(other.parse::<Request>().is_err(), "{other}");
        }
    }
}
