//! Tests the crate from outside, on a real disk. Threats (T…) are named where they are tested.

#![expect(clippy::unwrap_used, reason = "clippy knows test functions, but not the helpers beside them")]

mod complete;
mod denied;
mod escapes;
mod listing;
mod reading;
mod support;
#[cfg(target_os = "linux")]
mod swaps;
mod writing;
