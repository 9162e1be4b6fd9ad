//! Credentials as the log keeps them: whom they stand for and the hash of the secret, never the secret itself.

use serde::{Deserialize, Serialize};

use crate::{SessionId, Timestamp, TokenId};

/// What kind of caller a credential stands for; scopes follow from it and from nothing the caller says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// The person, from a program: the whole server.
    Person,
    /// The person, at a browser: a cookie and a proof that belong together.
    Browser,
    /// An agent: its own session, and nothing that only a person may do.
    Agent,
    /// An applet of a session: less still.
    Applet,
}

/// A credential in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    /// Its name in lists and logs.
    pub id: TokenId,
    /// Whom it stands for.
    pub kind: TokenKind,
    /// What the person called it.
    pub name: String,
    /// The session it is bound to, for agents and applets.
    pub session: Option<SessionId>,
    /// SHA-256 of the secret, in hex.
    pub secret_hash: String,
    /// SHA-256 of a browser's proof, in hex.
    pub proof_hash: Option<String>,
    /// When it was made.
    pub issued_at: Timestamp,
}
