//! Tests agents of all kinds, good and bad, as real processes: what their sessions receive from them.
//!
//! Invariant: every misbehaviour ends in a text that names it, and only the session that it affects notices it.

#![expect(clippy::unwrap_used, reason = "clippy knows test functions, but not the helpers beside them")]

mod asks;
mod beginnings;
mod favours;
mod guide;
mod lent;
mod misbehaviour;
mod questions;
mod records;
mod sharing;
mod support;
mod trials;
mod turns;
