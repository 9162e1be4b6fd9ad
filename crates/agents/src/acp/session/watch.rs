//! How long a turn has been silent, and how long it goes on after it was cancelled.

use tokio::time::Instant;

use crate::AgentLimits;

#[derive(Debug)]
pub(super) struct Watch {
    heard_at: Instant,
    /// It was said in this turn that nothing comes for a while.
    is_quiet_told: bool,
    /// It is said already that nothing comes.
    is_told: bool,
    /// A question is open: it is not the agent that is silent.
    is_asking: bool,
    /// A tool call runs: that it takes its time is no news.
    is_calling: bool,
    cancelled_at: Option<Instant>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    /// To be told: it may wait for its model, or try something again and again.
    Quiet,
    /// To be told.
    Unresponsive,
    /// It did not stop.
    Failed,
}

impl Watch {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            heard_at: now,
            is_quiet_told: false,
            is_told: false,
            is_asking: false,
            is_calling: false,
            cancelled_at: None,
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled_at.is_some()
    }

    /// Something came, or is known.
    pub(super) fn hear(&mut self, now: Instant, is_asking: bool) {
        self.heard_at = now;
        self.is_asking = is_asking;
        // What comes after a cancel is no sign that it will stop.
        if self.cancelled_at.is_none() {
            self.is_told = false;
        }
    }

    pub(super) fn note_calls(&mut self, is_any_open: bool) {
        self.is_calling = is_any_open;
    }

    pub(super) fn cancel(&mut self, now: Instant) {
        if self.cancelled_at.is_none() {
            self.cancelled_at = Some(now);
            self.is_told = false;
        }
    }

    /// When to look again.
    pub(super) fn deadline(&self, limits: &AgentLimits) -> Option<Instant> {
        match self.cancelled_at {
            Some(at) if self.is_told => Some(at + limits.cancel + limits.cancel_failed),
            Some(at) => Some(at + limits.cancel),
            None if self.is_told || self.is_asking => None,
            None if !self.is_quiet_told && !self.is_calling && limits.quiet < limits.silence => {
                Some(self.heard_at + limits.quiet)
            }
            None => Some(self.heard_at + limits.silence),
        }
    }

    pub(super) fn look(&mut self, now: Instant, limits: &AgentLimits) -> Due {
        match self.deadline(limits) {
            Some(deadline) if deadline <= now => {
                if self.is_cancelled() && self.is_told {
                    return Due::Failed;
                }
                let is_silent = self.is_cancelled() || self.heard_at + limits.silence <= now;
                self.is_quiet_told = true;
                if !is_silent {
                    return Due::Quiet;
                }
                self.is_told = true;
                Due::Unresponsive
            }
            Some(_) | None => Due::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn silence_is_told_once_until_something_comes() {
        let limits = AgentLimits::default();
        let start = Instant::now();
        let mut watch = Watch::new(start);
        assert_eq!(watch.look(start + limits.quiet - Duration::from_secs(1), &limits), Due::Nothing);
        assert_eq!(watch.look(start + limits.quiet, &limits), Due::Quiet);
        assert_eq!(watch.look(start + limits.silence - Duration::from_secs(1), &limits), Due::Nothing);
        assert_eq!(watch.look(start + limits.silence, &limits), Due::Unresponsive);
        assert_eq!((watch.deadline(&limits), watch.look(start + 9 * limits.silence, &limits)), (None, Due::Nothing));
        watch.hear(start + limits.silence, true);
        assert_eq!(watch.deadline(&limits), None);
        watch.hear(start + limits.silence, false);
        assert_eq!(watch.deadline(&limits), Some(start + 2 * limits.silence));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_takes_its_time_is_not_told_as_silence() {
        let limits = AgentLimits::default();
        let start = Instant::now();
        let mut watch = Watch::new(start);
        watch.note_calls(true);
        assert_eq!(watch.deadline(&limits), Some(start + limits.silence));
        watch.hear(start + limits.quiet, false);
        watch.note_calls(false);
        assert_eq!(watch.look(start + 2 * limits.quiet, &limits), Due::Quiet);
    }

    #[tokio::test(start_paused = true)]
    async fn talk_does_not_put_off_the_end_of_a_cancelled_turn() {
        let limits = AgentLimits::default();
        let start = Instant::now();
        let mut watch = Watch::new(start);
        watch.cancel(start);
        watch.hear(start + limits.cancel, false);
        watch.cancel(start + limits.cancel);
        assert_eq!(watch.look(start + limits.cancel, &limits), Due::Unresponsive);
        watch.hear(start + limits.cancel, false);
        assert_eq!(watch.look(start + limits.cancel, &limits), Due::Nothing);
        assert_eq!(watch.look(start + limits.cancel + limits.cancel_failed, &limits), Due::Failed);
    }
}
