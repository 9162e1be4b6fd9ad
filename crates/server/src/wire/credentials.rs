//! Credentials: browsers that sign in, tokens of programs, links for other devices.

use model::{SessionId, Timestamp, TokenId, TokenKind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Hidden;

/// The one-time code from the start line.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CodeExchange {
    #[schema(value_type = String)]
    pub code: Hidden,
    /// The code is only to be used up: nobody is signed in with it.
    #[serde(default)]
    pub discard: bool,
}

/// The half of the browser's credential that its page keeps; the other half is the cookie of the same answer.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Proof {
    #[schema(value_type = String)]
    pub proof: Hidden,
}

/// Who is asking, as the server sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Whoami {
    pub role: String,
    pub session: Option<String>,
    pub version: String,
    pub incarnation: String,
    /// Where the server was started, for whoever may begin sessions: the likeliest directory for the next one.
    pub directory: Option<String>,
    /// Where the guide can show a newcomer around, for whoever may begin sessions.
    pub tour_directory: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenPage {
    pub tokens: Vec<Token>,
    /// Which of them the caller has shown; null where it came in without one, as the command line does.
    #[serde(default)]
    pub own: Option<TokenId>,
}

/// A credential in force; never its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    pub id: TokenId,
    pub kind: TokenKind,
    pub name: String,
    pub session: Option<SessionId>,
    pub issued_at: Timestamp,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewToken {
    #[schema(min_length = 1, max_length = 100, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub name: String,
    /// Binds it to one session, for an agent's own use; without it the token is the person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
}

/// The only time the secret is shown.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct IssuedToken {
    pub token: Token,
    #[schema(value_type = String)]
    pub secret: Hidden,
}

/// What a sign-in link is for.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSignInLink {
    /// What to call the credential of the browser that uses it, such as the name of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 100, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub name: Option<String>,
    /// Refused: a secret can not be said twice.
    #[serde(default, skip_serializing)]
    #[schema(ignore)]
    pub key: Option<String>,
}

/// A fresh one-time sign-in link for a browser.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInLink {
    #[schema(value_type = String)]
    pub url: Hidden,
    /// From when on it signs nobody in.
    pub expires_at: Timestamp,
    /// Whether only the server's own machine reaches that address.
    pub local_only: bool,
    /// The link as a QR code for a phone's camera; null if only the server's own machine reaches it.
    #[serde(default)]
    pub picture: Option<LinkPicture>,
}

/// A QR code, to be drawn dark on light. Whoever sees it can sign in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct LinkPicture {
    /// How many squares it is wide and high, with the light frame that readers need.
    pub side: usize,
    /// The dark squares as an SVG path, in units of one square.
    #[schema(value_type = String)]
    pub path: Hidden,
}
