//! Text that opens something.
//!
//! Invariant: it goes over the wire as the text it is, and nowhere else: Debug, and so every log and panic, shows none
//! of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A secret, or what holds one.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hidden(String);

impl Hidden {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for whoever it is for.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use crate::wire::{
        ClientFrame, CodeExchange, Hidden, IssuedToken, LinkPicture, Proof, Request, SignInLink, Ticket, Token,
    };

    /// T42: none of the types that carry a secret shows it.
    #[test]
    fn secrets_are_sent_and_not_shown() {
        let hidden = || Hidden::new("canary-4711");
        let token: Token = serde_json::from_str(
            r#"{"id":"0190a8c0-0000-7000-8000-0000000000ab","kind":"person","name":"x","session":null,
                "issuedAt":"2026-01-01T00:00:00.000Z"}"#,
        )
        .unwrap();
        let frame = ClientFrame { id: "r1".to_owned(), request: Request::Auth { proof: hidden() } };
        assert_eq!(
            serde_json::to_string(&frame).unwrap(),
            r#"{"id":"r1","type":"auth","proof":"canary-4711"}"#,
            "it is sent as it is"
        );
        let issued = IssuedToken { token, secret: hidden() };
        let picture = Some(LinkPicture { side: 1, path: hidden() });
        let link = SignInLink { url: hidden(), expires_at: Timestamp::from_millis(0), local_only: true, picture };
        let (proof, exchange) = (Proof { proof: hidden() }, CodeExchange { code: hidden(), discard: false });
        let ticket = Ticket { url: hidden(), expires_at: Timestamp::from_millis(0) };
        let shown = format!("{frame:?} {issued:#?} {proof:?} {link:?} {exchange:?} {ticket:?}");
        assert!(!shown.contains("canary"), "{shown}");
    }
}
