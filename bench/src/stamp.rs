//! A time stamp that one process writes into a text and another reads from it.
//!
//! Invariant: both sides read CLOCK_MONOTONIC, which all processes of a machine share.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

const MARK: char = '@';

pub(crate) fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec.cast_unsigned(), now.tv_nsec as u32)
}

/// The current time as a word, about as long as a few tokens.
pub(crate) fn word() -> String {
    format!("{MARK}{} ", now().as_nanos())
}

/// The last time stamp in a text.
pub(crate) fn find(text: &str) -> Option<Duration> {
    let (_, rest) = text.rsplit_once(MARK)?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_found_again() {
        let before = now();
        let found = find(&format!(r#"{{"type":"preview","text":"{}"}}"#, word())).unwrap();
        assert!(before <= found && found <= now());
        assert_eq!(find(r#"{"text":"@12 @34 "}"#), Some(Duration::from_nanos(34)));
        assert_eq!(find(r#"{"text":"no moment"}"#), None);
    }
}
