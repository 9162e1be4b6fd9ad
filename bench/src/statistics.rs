//! Summarises many readings in a few numbers.
//!
//! Invariant: nothing is left out and no distribution is assumed: the median, the extremes, and ranks.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The median of some readings, with the lowest and the highest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// Of at least one reading.
    pub(crate) fn of(readings: &[f64]) -> Self {
        let mut sorted = readings.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (Some(low), Some(high)) = (sorted.first(), sorted.last()) else {
            return Self { median: f64::NAN, low: f64::NAN, high: f64::NAN };
        };
        let middle = sorted.len() / 2;
        let median = if sorted.len().is_multiple_of(2) {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        } else {
            sorted[middle]
        };
        Self { median, low: *low, high: *high }
    }
}

/// How long each of many equal operations took.
#[derive(Debug, Default)]
pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(crate) fn push(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// In microseconds: the reading below which `percent` of all are (nearest rank).
    pub(crate) fn percentile_us(&mut self, percent: f64) -> f64 {
        self.0.sort_unstable();
        let rank = (percent / 100.0 * self.0.len() as f64).ceil() as usize;
        let at = rank.clamp(1, self.0.len().max(1)) - 1;
        self.0.get(at).map_or(f64::NAN, |took| micros(*took))
    }
}

impl Extend<Duration> for Latencies {
    fn extend<I: IntoIterator<Item = Duration>>(&mut self, more: I) {
        self.0.extend(more);
    }
}

impl IntoIterator for Latencies {
    type Item = Duration;
    type IntoIter = std::vec::IntoIter<Duration>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

pub(crate) fn micros(took: Duration) -> f64 {
    took.as_secs_f64() * 1e6
}

/// Operations per second.
pub(crate) fn per_second(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_few_and_of_even_many() {
        assert_eq!(Spread::of(&[3.0]), Spread { median: 3.0, low: 3.0, high: 3.0 });
        assert_eq!(Spread::of(&[9.0, 1.0, 2.0]), Spread { median: 2.0, low: 1.0, high: 9.0 });
        assert_eq!(Spread::of(&[4.0, 1.0, 2.0, 9.0]), Spread { median: 3.0, low: 1.0, high: 9.0 });
        assert!(Spread::of(&[]).median.is_nan());
    }

    #[test]
    fn percentiles_are_readings_that_were_taken() {
        let mut latencies = Latencies::default();
        latencies.extend((1..=100).rev().map(Duration::from_micros));
        for (percent, expected) in [(50.0, 50.0), (99.0, 99.0), (100.0, 100.0), (0.0, 1.0)] {
            assert_eq!(latencies.percentile_us(percent).round(), expected, "{percent}");
        }
        assert!(Latencies::default().percentile_us(50.0).is_nan());
    }
}
