//! The Agent Client Protocol, from the client's side.

mod translate;
