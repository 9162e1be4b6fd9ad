//! Tests model providers, played by servers on loopback that answer well, badly and not at all. A request in, the
//! answer or the error out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod hostile;
mod manners;
mod shapes;
mod stage;
