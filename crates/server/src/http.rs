//! HTTP handlers, a file a resource. Each turns the wire into one engine call and its answer back.

pub(crate) mod agent;
pub(crate) mod agents;
pub(crate) mod applets;
pub(crate) mod auth;
pub(crate) mod bodies;
pub(crate) mod changes;
pub(crate) mod contents;
pub(crate) mod context;
pub(crate) mod directories;
pub(crate) mod entries;
pub(crate) mod export;
pub(crate) mod files;
pub(crate) mod forks;
pub(crate) mod health;
pub(crate) mod imports;
pub(crate) mod markdown;
pub(crate) mod outputs;
pub(crate) mod permissions;
pub(crate) mod prompts;
pub(crate) mod search;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod storage;
pub(crate) mod tickets;
pub(crate) mod tokens;
pub(crate) mod unsent;
pub(crate) mod usage;
pub(crate) mod work;
mod written_session;

use serde::Serialize;
use utoipa::ToSchema;

/// It was done and is durable.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Success {
    success: bool,
}

impl Success {
    pub(crate) const YES: Self = Self { success: true };
}
