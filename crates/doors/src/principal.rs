//! Who is calling, and what each role may do.
//!
//! Invariant: rights follow from the role, the role only from the stored credential, both in one exhaustive `match`.
//! Nothing that a caller sends can widen them.

use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::{refusal::Refusal, secret::Secret};

/// The holder of one stored credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Stable, and identifies the credential, so that limits and logs follow it through every listener.
    pub id: String,
    pub role: Role,
    /// The one session that an agent's or applet's credential is for.
    pub session: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Person,
    Agent,
    Applet,
}

/// What a route or a tool needs its caller to be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    Read,
    Write,
    /// Mark what a session is about.
    Mark,
    /// Answer a permission request. Only human credentials have it: an agent must not approve itself.
    Approve,
    /// Credentials, configuration, deletion.
    Manage,
}

impl Principal {
    #[must_use]
    pub fn may(&self, right: Right) -> bool {
        match (self.role, right) {
            (Role::Person, Right::Read | Right::Write | Right::Mark | Right::Approve | Right::Manage)
            | (Role::Agent, Right::Read | Right::Mark) => true,
            (Role::Agent, Right::Write | Right::Approve | Right::Manage)
            | (Role::Applet, Right::Read | Right::Write | Right::Mark | Right::Approve | Right::Manage) => false,
        }
    }
}

/// What the guard found out about the caller; every request of a protected or live route has one.
#[derive(Debug, Clone)]
pub enum Caller {
    Known(Principal),
    /// A browser that upgrades cannot set headers, so its proof comes as the first frame. Until the server has called
    /// [`crate::Gatekeeper::admit`] with this cookie and that proof, the caller has no rights.
    AwaitsProof(Secret),
}

impl<S: Sync> FromRequestParts<S> for Principal {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Refusal> {
        match parts.extensions.get::<Caller>() {
            Some(Caller::Known(principal)) => Ok(principal.clone()),
            Some(Caller::AwaitsProof(_)) => Err(Refusal::ProofMissing),
            None => Err(Refusal::Unauthenticated),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Refusal> {
        parts.extensions.get::<Self>().cloned().ok_or(Refusal::Unauthenticated)
    }
}
