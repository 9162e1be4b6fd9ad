//! Doors: the accept loops and the guards of every listener.
//!
//! Invariant: no handler runs before its request has passed, in this order, the Host allow-list, the Origin and
//! Fetch-Metadata rules, the credential and the limits. The types ensure it: only [`Door::mount`] makes a
//! [`GuardedApp`], the `serve_*` functions accept nothing else, and a guard that finds no [`Arrival`] (someone served
//! the routes in another way) refuses everything.
//!
//! This crate knows bytes, headers, sockets, and that a [`Gatekeeper`] can map a credential to a [`Principal`]. It
//! must never know sessions, agents, the log, where credentials are stored, or any other crate of this workspace. An
//! address never grants anything, and forwarded headers are never read.
//!
//! Start reading at [`Door`], then `guard.rs`, which has all checks in order on one page; each check has its own
//! file.

mod accept;
mod arrival;
mod bind;
mod body;
mod buckets;
mod connection;
mod credential;
mod door;
mod framing;
mod guard;
mod host;
mod limits;
mod origin;
mod principal;
mod refusal;
mod secret;
mod slots;
mod stream;
mod tally;
mod tls;

pub use accept::{ServeError, serve_stream, serve_tcp, serve_unix};
pub use arrival::Arrival;
pub use bind::{BindError, Transport};
pub use credential::{Gatekeeper, PROOF_HEADER, Presented};
pub use door::{Door, GuardedApp, Routes};
pub use host::{AllowedHosts, HostNameError};
pub use limits::{Limits, Rate};
pub use principal::{Caller, Principal, Right, Role};
pub use refusal::Refusal;
pub use secret::{Secret, same_bytes};
pub use tls::{TlsError, TlsSettings};
