//! Keeps the log and the read tables.
//!
//! Narrow traits: [`Append`] appends one atomic batch over streams, [`Log`] reads it back, and those in `tables.rs` answer
//! named questions about rows that changed in the same transaction. A [`Reader`] has all but the first, a [`Store`] has
//! all. [`SqliteStore`] is the embedded default, [`MemoryStore`] its twin for tests; `conformance.rs` is the one suite
//! that both must pass, and any later store with them.
//!
//! This is the only crate that knows SQL. It decides nothing: rows come from `model::fold`, rules from
//! `model::decide`. Invariants: an acknowledged append is flushed; an entry is never changed; a stream's seqs are
//! 1, 2, 3 … without gaps. Start reading at [`Append::append`], then `sqlite/writer.rs`.

#![warn(missing_docs)]

mod append;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod copies;
mod files;
#[cfg(test)]
mod histories;
mod log;
mod memory;
mod payloads;
mod rows;
mod sqlite;
mod tables;

pub use append::{Append, AppendError, Batch, Receipt, Room};
pub use copies::{Copies, CopyError};
pub use log::{Changes, Fence, FenceCause, Head, Log, MAX_PAGE_BYTES, PlacedEntry, ReadError};
pub use memory::MemoryStore;
pub use model::Part;
pub use payloads::{
    MemoryPayloads, PayloadError, PayloadFolder, PayloadKind, PayloadName, PayloadSource, Payloads, StoredPayload,
};
pub use sqlite::{OpenError, RESERVE_BYTES, SqliteStore, outside};
pub use tables::{
    EntryOrder, FILE_FACTS, ReadOffers, ReadOutputs, ReadPrincipals, ReadSessions, ReadTurns, ReadUnfinished,
    ReadUsage, ReadWorks, WholeWork,
};

/// Everything that can be asked of a store. Whoever has only this can not change it.
pub trait Reader:
    Log + ReadSessions + ReadTurns + ReadUsage + ReadUnfinished + ReadOffers + ReadOutputs + ReadWorks + ReadPrincipals
{
}

impl<T> Reader for T where
    T: Log
        + ReadSessions
        + ReadTurns
        + ReadUsage
        + ReadUnfinished
        + ReadOffers
        + ReadOutputs
        + ReadWorks
        + ReadPrincipals
{
}

/// A place that keeps the log and the tables.
pub trait Store: Reader + Append {}

impl<T: Reader + Append> Store for T {}

/// The traits, for whoever asks a store of a known type.
pub mod prelude {
    pub use crate::{
        Append as _, Log as _, ReadOffers as _, ReadOutputs as _, ReadPrincipals as _, ReadSessions as _,
        ReadTurns as _, ReadUnfinished as _, ReadUsage as _, ReadWorks as _,
    };
}

/// What the storage itself said.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct StorageError(pub(crate) Box<dyn std::error::Error + Send + Sync>);
