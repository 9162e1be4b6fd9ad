//! Tests of the doors from outside: real sockets, raw bytes, one binary.
//!
//! Invariant: every test uses a listener that was started as the server starts it, through [`doors::Door::mount`] and
//! a `serve_*` function. Threats (T…) are named where they are tested.

#![expect(clippy::unwrap_used, reason = "clippy knows test functions, but not the helpers beside them")]

mod connections;
mod credential;
mod host;
mod limits;
mod local;
mod origin;
mod shapes;
mod shutdown;
mod slow;
mod support;
mod tls;
