//! Finds the credential that a caller presented and makes it a [`Principal`]. Its role comes from the stored credential, never
//! from what the caller says.

use doors::{Gatekeeper, Presented, Principal, Role};
use engine::{Engine, TokenSecret};
use model::{TokenId, TokenKind, TokenRow};

/// The principal of the person's own processes on the Unix socket.
const LOCAL: &str = "local";

#[derive(Clone)]
pub(crate) struct TokenGatekeeper {
    engine: Engine,
    cookie_name: String,
}

impl TokenGatekeeper {
    pub(crate) fn new(engine: Engine, secure_cookie: bool) -> Self {
        // Browsers take a name that begins so only from a host itself over TLS: no neighbour can plant one.
        let prefix = if secure_cookie { "__Host-" } else { "" };
        // Two servers on one host share cookies whatever their ports; the store's own name keeps them apart.
        let cookie_name = format!("{prefix}throughline-{}", engine.incarnation());
        Self { engine, cookie_name }
    }

    /// Whether what the principal showed would still be let in.
    pub(crate) fn is_in_force(&self, principal: &Principal) -> bool {
        self.is_holder_in_force(&principal.id)
    }

    /// The same by the principal's id.
    pub(crate) fn is_holder_in_force(&self, id: &str) -> bool {
        match id.parse::<TokenId>() {
            Ok(id) => self.engine.tokens().is_in_force(id),
            Err(_) => id == LOCAL,
        }
    }
}

impl Gatekeeper for TokenGatekeeper {
    fn admit(&self, presented: &Presented) -> Option<Principal> {
        let row = match presented {
            Presented::Peer => {
                return Some(Principal { id: LOCAL.to_owned(), role: Role::Person, session: None });
            }
            Presented::Bearer(secret) => self.engine.tokens().find(&TokenSecret::new(secret.expose()), None)?,
            Presented::Cookie { cookie, proof } => self
                .engine
                .tokens()
                .find(&TokenSecret::new(cookie.expose()), Some(&TokenSecret::new(proof.expose())))?,
        };
        Some(principal(&row))
    }

    fn knows_cookie(&self, cookie: &doors::Secret) -> bool {
        self.engine.tokens().knows(&TokenSecret::new(cookie.expose()))
    }

    fn cookie_name(&self) -> &str {
        &self.cookie_name
    }
}

fn principal(row: &TokenRow) -> Principal {
    let role = match row.kind {
        TokenKind::Person | TokenKind::Browser => Role::Person,
        TokenKind::Agent => Role::Agent,
        TokenKind::Applet => Role::Applet,
    };
    Principal { id: row.id.to_string(), role, session: row.session.map(|session| session.to_string()) }
}
