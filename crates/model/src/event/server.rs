//! What can happen to the server itself: its tokens, the answers that it remembers, and applets that all sessions share.

use serde::{Deserialize, Serialize};

use crate::{
    Answerer, AppletGrant, AppletName, RememberedDecision, RememberedId, SessionId, TokenId, TokenKind, ToolKind,
};

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
    /// All that an applet with this content may do from now on, in place of what it or another content of it might.
    #[serde(rename = "applet.granted")]
    AppletGranted { applet: AppletName, hash: String, grants: Vec<AppletGrant>, by: Answerer },
    /// An applet has another state, which is kept beside its files. Written at most once a second for each applet: states that
    /// were there for less time are not in the log.
    #[serde(rename = "applet.state_set", rename_all = "camelCase")]
    AppletStateSet {
        applet: AppletName,
        /// Whose state it is, where each session has its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        version: u64,
        bytes: u64,
        /// Of the state as it is kept, in hex.
        sha256: String,
    },
}
