//! Tests real processes under a real supervisor: how they start, what passes through their pipes, and that none is
//! left.
//!
//! Invariant: each test tags its processes with a variable of its own, so that it finds all of them, whoever's children
//! they have become, and no other test's.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "clippy knows test functions, but not the helpers beside them")]

mod ending;
mod lost;
mod pipes;
mod shell;
mod starting;
mod support;
