//! What must hold for any bytes at all: one check for each reader of names and texts that others wrote.
//!
//! Invariant: a check panics if and only if a promise is broken. `cargo xtask fuzz` feeds each with inputs that a
//! coverage-guided fuzzer makes up; the tests feed it with some that are known to be nasty. Each check has a program of
//! its own in `bin/`.

mod markers;
mod paths;
mod texts;

pub use markers::check_marker;
pub use paths::{Disk, check_path};
pub use texts::check_text;
