//! The only way to access a path that somebody named: open trees, protected names, atomic writes, and suggestions of
//! directories.
//!
//! A [`Tree`] is an open directory. [`Trees`] takes an absolute path, finds the tree that it is in, and walks down
//! from the open directory one name at a time (`walk.rs`). So no text is ever joined to a path and passed to the
//! system, and no link that is put somewhere in between leads out. [`Deny`] checks every name on the way. Outside and
//! protected paths are refused with the same error, whether or not something is there.
//!
//! This crate must never know a session, HTTP or an agent. Its calls block; callers run them on blocking threads. An
//! open tree stays with its directory, also when that is renamed. Open it anew for each piece of work, which is
//! cheap, by its [`Root`], so that nobody can put a link in its place. Start reading at `trees.rs`.

#![warn(missing_docs)]

mod complete;
mod deny;
mod error;
mod hash;
mod lexical;
mod list;
mod read;
mod temporary;
mod tree;
mod trees;
mod walk;
mod write;

pub use complete::{Suggestion, complete, is_directory};
pub use deny::{Access, Deny, PatternError};
pub use error::FileError;
pub use hash::{ContentHash, Expected, HashError};
pub use list::{DirectoryItem, DirectoryPage, FileKind, Listing, Stat};
pub use read::FileStart;
pub use tree::{Root, Tree};
pub use trees::Trees;
pub use write::Written;
