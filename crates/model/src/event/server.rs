//! What can happen to the server itself: its tokens and the answers that it remembers.

use serde::{Deserialize, Serialize};

use crate::{Answerer, RememberedDecision, RememberedId, SessionId, TokenId, TokenKind, ToolKind};

/// What happened to the server, in the past tense.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the variants and their fields are the glossary's own words")]
pub enum ServerEvent {
    #[serde(rename = "token.issued", rename_all = "camelCase")]
    TokenIssued {
        token_id: TokenId,
        kind: TokenKind,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// SHA-256 of the secret, in hex; the secret itself is never stored.
        secret_hash: String,
        /// Likewise of the second half that a browser keeps.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proof_hash: Option<String>,
    },
    #[serde(rename = "token.revoked", rename_all = "camelCase")]
    TokenRevoked { token_id: TokenId },
    /// A person's answer that is given again, unasked, to the very same question.
    #[serde(rename = "permission.remembered")]
    PermissionRemembered {
        id: RememberedId,
        project: String,
        cwd: String,
        agent: String,
        kind: ToolKind,
        /// For people to read; a long one is cut.
        subject: String,
        /// Of all that the tool is given, never cut.
        digest: String,
        decision: RememberedDecision,
        by: Answerer,
    },
    #[serde(rename = "permission.forgotten")]
    PermissionForgotten { id: RememberedId },
}
