//! Agent processes: how they are spawned, connected, watched and ended.
//!
//! Invariant: an agent and every process that it started end with it, with its [`Process`], and with this server,
//! however the server ends. A supervisor stands between the server and each agent and ensures this; it is this same
//! binary. A keeper above it does so if the supervisor is killed:
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
//! The data does not pass through the supervisor: the agent inherits the pipes that the server holds. When the
//! control socket is closed, also because the server was killed, the supervisor ends every descendant; the keeper
//! does so when the supervisor is killed. A login shell that is asked for its `PATH` then has two seconds to clean up
//! ([`Ending::HangUp`]). Processes that outlive both, or a supervisor that was stopped, are found by
//! their mark (`mark.rs`), by the server or by the next one, which gives such a shell its two seconds. Not reached are programs that have removed the mark by
//! then, programs that others started on the agent's behalf (a container, a timer) and those with another user's
//! rights.
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
pub use login_shell::{login_shell_path, own_path};
pub use mark::Folder;
pub use supervisor::supervise;
/// Without subreapers a keeper could do no more than the supervisor.
#[cfg(not(target_os = "linux"))]
pub use supervisor::supervise as keep;
pub use tree::end_leftovers;
pub use wire::{Ended, Ending, Exit, ProcessLimits, Spec, StartRefusal};
