//! The contents of recorded-like sessions, as a reader would see them, and what must hold for any text.

mod properties;
mod sessions;
