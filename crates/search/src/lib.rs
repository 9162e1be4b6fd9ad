//! Search: what is searched ([`Piece`]), how words are told apart ([`tokens`]), what people type ([`Query`]), the
//! scanner that looks through a text ([`Scanner`]), what is shown of it ([`snippet`]), and the [`Index`] over all
//! sessions.
//!
//! One tokenizer serves all of them, so that a text which the scanner finds today is found by the index tomorrow. The
//! index holds no text and no fact of its own: it may be deleted at any time and is rebuilt from the log.
//!
//! This crate must never know a runtime, the store or the engine: its calls block, and whoever calls brings entries,
//! texts and the time. It is the only one that knows tantivy. Start reading at `pieces.rs`, then `query.rs` and
//! `index.rs`.

#![warn(missing_docs)]

mod index;
mod pieces;
mod query;
mod scan;
mod snippet;
mod tail;
mod tokenizer;

pub use index::{Beside, Count, Hit, Hits, Index, Opened, SearchError, State, Trust, Wanted, Within};
pub use pieces::{CallOutcome, Piece, PieceRole, Pieces, SessionAttributes};
pub use query::{Clause, Filter, FilterField, Mode, Query};
pub use scan::{Match, Scanner};
pub use snippet::{Snippet, snippet};
pub use tail::search_tail;
pub use tokenizer::{Token, TokenShape, tokens};
