//! Token buckets, one per key, in a table of fixed capacity.
//!
//! Invariant: the table never holds more than its capacity, and a key that was dropped because its bucket had
//! refilled behaves exactly as if it had been kept. The `governor` crate was the alternative: its keyed store grows
//! until someone sweeps it, and it would be the workspace's only user of a concurrent map for two tables this small.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::limits::Rate;

pub(crate) struct Buckets<K> {
    rate: Rate,
    capacity: usize,
    held: Mutex<HashMap<K, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl<K: Hash + Eq + Clone> Buckets<K> {
    pub(crate) fn new(rate: Rate, capacity: usize) -> Self {
        Self { rate, capacity: capacity.max(1), held: Mutex::new(HashMap::new()) }
    }

    /// Takes one token, or returns how long until there is one.
    pub(crate) fn take(&self, key: &K, now: Instant) -> Result<(), Duration> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.contains_key(key) && held.len() >= self.capacity {
            self.make_room(&mut held, now);
        }
        let bucket = held.entry(key.clone()).or_insert(Bucket { tokens: self.rate.burst, at: now });
        bucket.tokens = self.filled(*bucket, now);
        bucket.at = now;
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            return Ok(());
        }
        let wait = (1.0 - bucket.tokens) / self.rate.per_second.max(f64::MIN_POSITIVE);
        // A day is as good as never, and keeps a rate of zero from overflowing the Duration.
        Err(Duration::from_secs_f64(wait.min(86_400.0)))
    }

    fn filled(&self, bucket: Bucket, now: Instant) -> f64 {
        let gained = now.saturating_duration_since(bucket.at).as_secs_f64() * self.rate.per_second;
        (bucket.tokens + gained).min(self.rate.burst)
    }

    /// Full buckets hold no information and are dropped first; if every caller is busy, the stalest one is dropped.
    fn make_room(&self, held: &mut HashMap<K, Bucket>, now: Instant) {
        held.retain(|_, bucket| self.filled(*bucket, now) < self.rate.burst);
        if held.len() >= self.capacity
            && let Some(stalest) = held.iter().min_by_key(|(_, bucket)| bucket.at).map(|(key, _)| key.clone())
        {
            held.remove(&stalest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn later(start: Instant, millis: u64) -> Instant {
        start + Duration::from_millis(millis)
    }

    #[test]
    fn a_bucket_gives_its_burst_then_its_rate() {
        let start = Instant::now();
        let buckets = Buckets::new(Rate { per_second: 2.0, burst: 3.0 }, 8);
        let granted = |at| (0..10).filter(|_| buckets.take(&"a", at).is_ok()).count();
        assert_eq!(granted(start), 3);
        assert_eq!(granted(later(start, 400)), 0);
        assert_eq!(granted(later(start, 1_000)), 2);
        assert_eq!(granted(later(start, 60_000)), 3, "no more than the burst is saved up");
    }

    #[test]
    fn the_wait_is_how_long_until_the_next_token() {
        let start = Instant::now();
        let buckets = Buckets::new(Rate { per_second: 0.5, burst: 1.0 }, 8);
        assert_eq!(buckets.take(&"a", start), Ok(()));
        assert_eq!(buckets.take(&"a", start), Err(Duration::from_secs(2)));
        let never = Buckets::new(Rate { per_second: 0.0, burst: 0.0 }, 8);
        assert_eq!(never.take(&"a", start), Err(Duration::from_secs(86_400)));
    }

    #[test]
    fn the_table_keeps_its_capacity_and_forgets_the_stalest() {
        let start = Instant::now();
        let buckets = Buckets::new(Rate { per_second: 0.001, burst: 1.0 }, 3);
        for key in 0..100_u64 {
            assert!(buckets.take(&key, later(start, key)).is_ok());
        }
        assert_eq!(buckets.held.lock().unwrap().len(), 3);
        assert!(buckets.take(&99, later(start, 100)).is_err(), "the freshest is remembered");
    }
}
