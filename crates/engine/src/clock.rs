//! The seam for time: whoever needs the wall clock is given one.

use model::Timestamp;

/// Tells the time. Only shown, never used for order.
pub trait Clock: Send + Sync + 'static {
    /// The instant now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the wall clock")]
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
    }
}
