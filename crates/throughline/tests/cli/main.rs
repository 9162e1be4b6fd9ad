//! Tests the real binary: what it prints, what it leaves on disk, and how it exits.
//!
//! Invariant: each test has a home and a data folder of its own, and ends the processes that it started, by their id.

#![expect(clippy::unwrap_used, reason = "clippy knows test functions, but not the helpers beside them")]

mod agents;
mod applets;
mod asking;
mod clicks;
mod client;
mod commands;
mod copies;
mod crashes;
mod device;
mod diff;
mod display;
mod doctor;
mod everyday;
mod finding;
mod full;
mod gone;
mod guide;
mod help;
mod here;
mod hints;
mod hostile;
mod interrupted;
mod log;
mod managing;
mod mcp;
mod memory;
mod outputs;
mod payloads;
mod permissions;
mod restore;
mod serve;
mod shared_files;
mod skill;
mod supervise;
mod support;
mod survival;
mod taking_along;
mod terminal;
mod tokens;
mod usage;
mod work;
