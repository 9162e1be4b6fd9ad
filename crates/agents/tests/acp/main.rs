//! Agents of all kinds, good and bad, as real processes: what their sessions hear of them.
//!
//! Invariant: every misbehaviour ends in words that name it, and nobody hears of it but the session that it befell.

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
mod turns;
