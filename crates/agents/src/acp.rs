//! The Agent Client Protocol, from the client's side.
//!
//! ```text
//!            lines                    messages, in order           requests ▼  ▲ updates
//! agent ◄──────────────► connection.rs ─────────────────► session.rs ───────────┘
//!  transport.rs  wire.rs      routes.rs    inbox.rs          translate.rs
//! ```
//!
//! The messages are the SDK's types. The SDK's connection is not used: its queues have no bounds, and its typed
//! handlers never see a message that they do not know.

mod connection;
mod inbox;
mod outbox;
mod profile;
mod prompt;
mod questions;
mod records;
mod routes;
mod session;
mod terminals;
mod translate;
mod transport;
mod trial;
mod wire;

pub(crate) use connection::{Connection, Lease};
pub(crate) use profile::AgentProfile;
pub use records::{Record, Records, RecordsError, RecordsWish};
pub(crate) use session::{AcpSession, SessionChannels};
pub(crate) use translate::{MAX_KEPT_BYTES, cut_chars, cut_value, plain_line, start_of};
pub(crate) use transport::Transport;
pub use trial::{Trial, TrialOutcome};
