//! Agent processes: how they are started, spoken to, watched and ended.
//!
//! Invariant: an agent and all that it started end with it, with its [`Process`], and with this server, however that
//! ends. Between the server and each agent stands a supervisor, this same binary, that sees to it, under a keeper that does
//! so when the supervisor is killed:
//!
//! ```text
//!                             keeper             new session, reaper of orphans
//!                                │ starts
//! server ──control (socket)──► supervisor        reaper of orphans, limits
//!   │  ▲                         │ starts
//!   │  └───────────stdout───────  agent ──► whatever it starts
//!   └──────────────stdin────────►
//! ```
//!
//! The data does not pass through the supervisor: the agent has inherited the very pipes that the server holds. When
//! control is closed, also because the server was killed, the supervisor ends every descendant, and the keeper does when the
//! supervisor is killed. What outlives both, or a supervisor that was stopped, is found by its mark (`mark.rs`): by the
//! server, or by the next one. Out of reach are programs that have thrown the mark away by then,
//! programs that others started on the agent's behalf (a container, a timer) and those with another user's rights.
//!
//! Start reading at [`Launcher::spawn`], then `supervisor.rs`, then `tree.rs`.

mod environment;
mod guard;
#[cfg(target_os = "linux")]
mod keeper;
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
#[cfg(target_os = "linux")]
pub use keeper::keep;
pub use launcher::{LaunchError, Launched, Launcher, Process};
pub use line_sink::LineSink;
pub use lines::{Faults, Lines, PipeFault};
pub use login_shell::login_shell_path;
pub use mark::Folder;
pub use supervisor::supervise;
/// Where nobody can be the reaper of orphans, a keeper would know no more than the supervisor.
#[cfg(not(target_os = "linux"))]
pub use supervisor::supervise as keep;
pub use tree::end_leftovers;
pub use wire::{Ended, Exit, ProcessLimits, Spec, StartRefusal};
