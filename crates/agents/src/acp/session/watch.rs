//! Measures how long a turn has been silent, and how long it goes on after a cancel.

use tokio::time::Instant;

use crate::AgentLimits;

#[derive(Debug)]
pub(super) struct TurnWatch {
    heard_at: Instant,
    /// The first, early notice about silence was sent in this turn.
    is_quiet_reported: bool,
    /// The current silence is reported already.
    is_reported: bool,
    /// A question is open: the agent waits for a person.
    is_asking: bool,
    /// A tool call runs: its silence is not reported early.
    is_calling: bool,
    cancelled_at: Option<Instant>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    /// Report that nothing arrives: the agent may wait for its model, or retry.
    Quiet,
    /// Report that the agent does not respond.
    Unresponsive,
    /// The agent did not stop in time after a cancel.
    Failed,
}

impl TurnWatch {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            heard_at: now,
            is_quiet_reported: false,
            is_reported: false,
            is_asking: false,
            is_calling: false,
            cancelled_at: None,
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled_at.is_some()
    }

    /// Something arrived, or the state of the questions changed.
    pub(super) fn note_activity(&mut self, now: Instant, is_asking: bool) {
        self.heard_at = now;
        self.is_asking = is_asking;
        // Messages after a cancel are no sign that the agent will stop.
        if self.cancelled_at.is_none() {
            self.is_reported = false;
        }
    }

    pub(super) fn note_calls(&mut self, is_any_open: bool) {
        self.is_calling = is_any_open;
    }

    pub(super) fn cancel(&mut self, now: Instant) {
        if self.cancelled_at.is_none() {
            self.cancelled_at = Some(now);
            self.is_reported = false;
        }
    }

    /// When to check again.
    pub(super) fn deadline(&self, limits: &AgentLimits) -> Option<Instant> {
        match self.cancelled_at {
            Some(at) if self.is_reported => Some(at + limits.cancel + limits.cancel_failed),
            Some(at) => Some(at + limits.cancel),
            None if self.is_reported || self.is_asking => None,
            None if !self.is_quiet_reported && !self.is_calling && limits.quiet < limits.silence => {
                Some(self.heard_at + limits.quiet)
            }
            None => Some(self.heard_at + limits.silence),
        }
    }

    pub(super) fn check(&mut self, now: Instant, limits: &AgentLimits) -> Due {
        match self.deadline(limits) {
            Some(deadline) if deadline <= now => {
                if self.is_cancelled() && self.is_reported {
                    return Due::Failed;
                }
                let is_silent = self.is_cancelled() || self.heard_at + limits.silence <= now;
                self.is_quiet_reported = true;
                if !is_silent {
                    return Due::Quiet;
                }
                self.is_reported = true;
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
        let mut watch = TurnWatch::new(start);
        assert_eq!(watch.check(start + limits.quiet - Duration::from_secs(1), &limits), Due::Nothing);
        assert_eq!(watch.check(start + limits.quiet, &limits), Due::Quiet);
        assert_eq!(watch.check(start + limits.silence - Duration::from_secs(1), &limits), Due::Nothing);
        assert_eq!(watch.check(start + limits.silence, &limits), Due::Unresponsive);
        assert_eq!((watch.deadline(&limits), watch.check(start + 9 * limits.silence, &limits)), (None, Due::Nothing));
        watch.note_activity(start + limits.silence, true);
        assert_eq!(watch.deadline(&limits), None);
        watch.note_activity(start + limits.silence, false);
        assert_eq!(watch.deadline(&limits), Some(start + 2 * limits.silence));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_takes_its_time_is_not_told_as_silence() {
        let limits = AgentLimits::default();
        let start = Instant::now();
        let mut watch = TurnWatch::new(start);
        watch.note_calls(true);
        assert_eq!(watch.deadline(&limits), Some(start + limits.silence));
        watch.note_activity(start + limits.quiet, false);
        watch.note_calls(false);
        assert_eq!(watch.check(start + 2 * limits.quiet, &limits), Due::Quiet);
    }

    #[tokio::test(start_paused = true)]
    async fn talk_does_not_put_off_the_end_of_a_cancelled_turn() {
        let limits = AgentLimits::default();
        let start = Instant::now();
        let mut watch = TurnWatch::new(start);
        watch.cancel(start);
        watch.note_activity(start + limits.cancel, false);
        watch.cancel(start + limits.cancel);
        assert_eq!(watch.check(start + limits.cancel, &limits), Due::Unresponsive);
        watch.note_activity(start + limits.cancel, false);
        assert_eq!(watch.check(start + limits.cancel, &limits), Due::Nothing);
        assert_eq!(watch.check(start + limits.cancel + limits.cancel_failed, &limits), Due::Failed);
    }
}
