//! Random choices that a seed repeats. SplitMix64: eight lines, and good enough to choose moments.

use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;

pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in the range, which must not be empty.
    pub(super) fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }

    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.within(0..n) == 0
    }

    /// One of the items; `None` if there is none.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() {
            return None;
        }
        let count = u64::try_from(items.len()).expect("a slice's length fits 64 bits");
        let index = usize::try_from(self.within(0..count)).expect("smaller than the slice's length");
        Some(&items[index])
    }
}

/// Short enough to type again.
pub(super) fn fresh_seed() -> u64 {
    RandomState::new().hash_one(()) % 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_choices() {
        let choices = |seed| {
            let mut random = Random::new(seed);
            (0..8).map(|_| random.within(20..400)).collect::<Vec<_>>()
        };
        assert_eq!(choices(7), choices(7));
        assert_ne!(choices(7), choices(8));
        assert!(choices(7).iter().all(|choice| (20..400).contains(choice)));
    }
}
