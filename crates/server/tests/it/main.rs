//! The server from outside: real sockets, the real engine, the built-in guide. One file a resource, as in the router.
//!
//! Invariant: every test speaks to a server that was started as the binary starts it, through `server::apps` and the
//! `serve_*` functions of `doors`. Clock and ids are the test's own, so answers are compared whole. Rows of trust.md
//! (T…) and promises (R…) are named where they are tested.

#![expect(clippy::unwrap_used, reason = "clippy knows test functions, but not the helpers beside them")]

mod agents;
mod applets;
mod auth;
mod bodies;
mod changes;
mod changes_of_calls;
mod changes_of_git;
mod client;
mod commands;
mod contents;
mod context;
mod damage;
mod directories;
mod embed;
mod entries;
mod export;
mod files;
mod forks;
mod guards;
mod idempotency;
mod imports;
mod input;
mod listing;
mod live;
mod live_guards;
mod live_large;
mod live_window;
mod markdown;
mod markers;
mod mcp;
mod mcp_applets;
mod mcp_reading;
mod mcp_scope;
mod mcp_skills;
mod metrics;
mod newer;
mod openapi;
mod outputs;
mod outputs_removed;
mod outputs_special;
mod page;
mod prompts;
mod remembered;
mod resume;
mod search;
mod search_rebuild;
mod secrets;
mod sessions;
mod settings;
mod storage;
mod storage_list;
mod storage_special;
mod storage_write;
mod summaries;
mod support;
mod tickets;
mod tokens;
mod unsent;
mod usage;
mod work;
