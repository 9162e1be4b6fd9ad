//! The Agent Client Protocol, from the client's side.
//!
//! ```text
//!            lines                        messages, in order               calls ▼  ▲ news
//! agent ◄──────────────► connection.rs ───────────────────────► session.rs ───────┘
//!  transport.rs  wire.rs      routes.rs    inbox.rs                translate.rs
//! ```
//!
//! The messages are the SDK's types; its connection is not used, for its queues have no bounds and its typed handlers
//! never see what they do not know.

mod about;
mod connection;
mod inbox;
mod outbox;
mod prompt;
mod questions;
mod records;
mod routes;
mod session;
mod terminals;
mod translate;
mod transport;
mod wire;

pub(crate) use about::AgentProfile;
pub(crate) use connection::{Connection, Lease};
pub use records::{Record, Records, RecordsError, RecordsWish};
pub(crate) use session::{Ends, Session};
pub(crate) use translate::{MAX_KEPT_BYTES, cut_chars, cut_value, plain_line, start_of};
pub(crate) use transport::Transport;
