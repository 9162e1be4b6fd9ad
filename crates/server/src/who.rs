//! The author or answerer that the log names, from the caller's credential.
//!
//! Invariant: it follows from the credential that was shown, never from what is asked; but for an applet that a person's prompt names,
//! which `Engine::applet_author` checks.

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
    author_of(principal, credential(app, principal))
}

fn author_of(principal: &Principal, (token_id, name): (Option<TokenId>, String)) -> Author {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// No route lets a credential of an agent or an applet send a prompt yet; whoever adds one finds it attributed.
    #[test]
    fn the_author_follows_from_the_role_of_the_credential() {
        let token_id = Some(TokenId::from_bytes([1; 16]));
        let author = |role| {
            let principal = Principal { id: "1".to_owned(), role, session: Some("0190".to_owned()) };
            author_of(&principal, (token_id, "phone".to_owned()))
        };
        assert_eq!(author(Role::Person), Author::Person { token_id, name: "phone".to_owned() });
        assert_eq!(author(Role::Agent), Author::Agent { session: "0190".to_owned() });
        assert_eq!(author(Role::Applet), Author::Applet { name: "phone".to_owned() });
    }
}
