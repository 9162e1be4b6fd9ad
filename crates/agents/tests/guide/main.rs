//! Tests the guide as a client sees it: the protocol's own client at the other end of a pipe in memory, and
//! everything else real. A prompt in, what the client received out, as text.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cancel;
mod commands;
mod files;
mod markers;
mod mcp_server;
mod sessions;
mod support;
mod talk;
mod tools;
mod wire;
