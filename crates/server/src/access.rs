//! What a principal may reach. What it may not reach does not exist for it.

use doors::{Principal, Right};
use model::SessionId;

use crate::error::ApiError;

/// Lets a principal at one session, or says that there is none.
pub(crate) fn session(principal: &Principal, right: Right, id: SessionId) -> Result<(), ApiError> {
    let reaches = principal.session.as_ref().is_none_or(|own| *own == id.to_string());
    if !reaches {
        return Err(ApiError::SessionNotFound);
    }
    allow(principal, right)
}

/// Lets a principal at the whole server.
pub(crate) fn everything(principal: &Principal, right: Right) -> Result<(), ApiError> {
    if principal.session.is_some() {
        return Err(ApiError::Forbidden);
    }
    allow(principal, right)
}

fn allow(principal: &Principal, right: Right) -> Result<(), ApiError> {
    if principal.may(right) { Ok(()) } else { Err(ApiError::Forbidden) }
}
