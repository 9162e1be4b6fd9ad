//! Agent processes: how they are started, spoken to, watched and ended.
//!
//! Invariant: an agent and all that it started end with it, with its [`Process`], and with this server, however that
//! ends. Between the server and each agent stands a supervisor, this same binary, that sees to it:
//!
//! ```text
//! server ──control (socket)──► supervisor        new session, reaper of orphans, limits
//!   │  ▲                            │ starts
//!   │  └───────────stdout───────  agent ──► whatever it starts
//!   └──────────────stdin────────►
//! ```
//!
//! The data does not pass through the supervisor: the agent has inherited the very pipes that the server holds. When
//! control is closed, also because the server was killed, the supervisor ends every descendant. What outlives a supervisor
//! that was killed or stopped is found by its mark (`mark.rs`): by the server, or by the next one. Out of reach are
//! programs that have thrown the mark away by then,
//! programs that others started on the agent's behalf (a container, a timer) and those with another user's rights.
//!
//! Start reading at [`Launcher::spawn`], then `supervisor.rs`, then `tree.rs`.

mod environment;
mod guard;
mod launcher;
mod line_sink;
mod lines;
mod login_shell;
mod mark;
mod start;
mod supervisor;
mod tail;
mod tree;
mod wire;

pub use environment::environment;
pub(crate) use environment::may_ever_pass;
pub use launcher::{LaunchError, Launched, Launcher, Process};
pub use line_sink::LineSink;
pub use lines::{Fault, Faults, Lines};
pub use login_shell::login_shell_path;
pub use mark::Folder;
pub use supervisor::supervise;
pub use tree::end_leftovers;
pub use wire::{Ended, Exit, Limits, Refusal, Spec};
