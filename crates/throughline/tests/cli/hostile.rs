//! Tests malicious and broken agents under the real server, as a client of its API sees them.
//!
//! Invariant: each case ends in a named state, and a session of the guide, whose turn runs all the while, does not
//! notice.

mod beginnings;
mod between_turns;
mod processes;
mod questions;
mod records;
mod sign_in;
mod stops;
mod turns;
pub(crate) mod world;
