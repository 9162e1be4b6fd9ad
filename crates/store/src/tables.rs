//! Questions about the rows that the log left: a few traits, by who asks.
//!
//! Invariant: none of them has more than ten questions; `cargo xtask tidy` counts them.

mod offers;
mod outputs;
mod principals;
mod sessions;
mod turns;
mod unfinished;
mod usage;
mod works;

pub use offers::ReadOffers;
pub use outputs::ReadOutputs;
pub use principals::ReadPrincipals;
pub(crate) use sessions::last_part;
pub use sessions::{FILE_FACTS, ReadSessions};
pub use turns::{EntryOrder, ReadTurns};
pub use unfinished::ReadUnfinished;
pub use usage::ReadUsage;
pub use works::{ReadWorks, WholeWork};
