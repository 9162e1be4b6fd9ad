//! Agents that mean ill, or break, under the real server, as whoever uses its API sees them.
//!
//! Invariant: each case ends in a state that has a name, and a session of the guide, with a turn that runs all the while,
//! does not notice.

mod beginnings;
mod between_turns;
mod processes;
mod questions;
mod records;
mod sign_in;
mod stops;
mod turns;
pub(crate) mod world;
