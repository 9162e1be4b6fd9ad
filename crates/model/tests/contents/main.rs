//! The contents of recorded-like sessions, as a reader would see them, and what must hold for any text.

#![expect(clippy::unwrap_used, reason = "clippy knows test functions, but not the helpers beside them")]

mod properties;
mod sessions;
