//! Ends whole process trees.
//!
//! Invariant: no process outside of the tree is signalled. Pids are reused, so each process is held by a pidfd and
//! identified by its start time, and a group is signalled only while one of its members is held.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::end_leftovers;
#[cfg(target_os = "linux")]
pub(super) use linux::{end_descendants, end_session, exit_descriptor};

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::end_leftovers;
#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{end_descendants, end_session, exit_descriptor};
