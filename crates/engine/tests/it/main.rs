//! The engine as its callers use it: the memory store, the built-in guide, a paused clock. Scenario in, log text out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agent_places;
mod applets;
mod bodies;
mod bundles;
mod changes;
mod clock;
mod commands;
mod context;
mod copies;
mod faults;
mod follow;
mod forking;
mod imports;
mod outputs;
mod permissions;
mod recovery;
mod remembered;
mod running;
mod sessions;
mod support;
mod taken_back;
mod tokens;
mod usage;
mod work;
