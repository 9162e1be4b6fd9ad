//! Everything that talks to AI agents: their protocol, their processes, the built-in guide.
//!
//! The only crate that knows ACP. It must never know the log: what an agent does leaves here as a
//! `model::AgentReport`, and whoever is given it decides what to keep.

pub mod guide;
pub mod process;
