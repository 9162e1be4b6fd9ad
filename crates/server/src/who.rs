//! The author or answerer that the log names, from the caller's credential.
//!
//! Invariant: it follows from the credential that was shown, never from what is asked.

use doors::{Principal, Role};
use model::{Answerer, Author, TokenId};

use crate::App;

/// Who answers a request or takes a step.
pub(crate) fn answerer(app: &App, principal: &Principal) -> Answerer {
    let (token_id, name) = credential(app, principal);
    Answerer::Person { token_id, name }
}

/// Who wrote a prompt.
pub(crate) fn author(app: &App, principal: &Principal) -> Author {
    let (token_id, name) = credential(app, principal);
    match principal.role {
        Role::Person => Author::Person { token_id, name },
        Role::Agent => Author::Agent { session: principal.session.clone().unwrap_or_default() },
        Role::Applet => Author::Applet { name },
    }
}

/// The credential and what it is called.
fn credential(app: &App, principal: &Principal) -> (Option<TokenId>, String) {
    match principal.id.parse() {
        Ok(id) => (Some(id), app.engine.tokens().name(id).unwrap_or_default()),
        Err(_) => (None, "command line".to_owned()),
    }
}
