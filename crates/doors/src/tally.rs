//! How many of something each key holds at once.
//!
//! Invariant: a key's count is the number of its living permits, and a key without permits takes no memory. Permits
//! give their place back when dropped, so no path (panic, abort, upgrade) can leak one.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

pub(crate) struct Tally<K: Hash + Eq>(Arc<Mutex<Counts<K>>>);

struct Counts<K> {
    total: usize,
    by_key: HashMap<K, usize>,
}

pub(crate) struct Permit<K: Hash + Eq> {
    tally: Arc<Mutex<Counts<K>>>,
    key: K,
}

/// Which bound was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    InAll,
    ForKey,
}

impl<K: Hash + Eq + Clone> Tally<K> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Counts { total: 0, by_key: HashMap::new() })))
    }

    pub(crate) fn enter(&self, key: K, max_in_all: usize, max_for_key: usize) -> Result<Permit<K>, Full> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.total >= max_in_all {
            return Err(Full::InAll);
        }
        if counts.by_key.get(&key).is_some_and(|held| *held >= max_for_key) || max_for_key == 0 {
            return Err(Full::ForKey);
        }
        *counts.by_key.entry(key.clone()).or_insert(0) += 1;
        counts.total += 1;
        Ok(Permit { tally: Arc::clone(&self.0), key })
    }
}

impl<K: Hash + Eq> Drop for Permit<K> {
    fn drop(&mut self) {
        let mut counts = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        counts.total -= 1;
        if let Some(held) = counts.by_key.get_mut(&self.key) {
            *held -= 1;
            if *held == 0 {
                counts.by_key.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_bounds_hold_and_places_come_back() {
        let tally = Tally::new();
        let first = tally.enter("a", 3, 2).ok().unwrap();
        let _second = tally.enter("a", 3, 2).ok().unwrap();
        assert_eq!(tally.enter("a", 3, 2).err(), Some(Full::ForKey));
        let third = tally.enter("b", 3, 2).ok().unwrap();
        assert_eq!(tally.enter("b", 3, 2).err(), Some(Full::InAll));
        drop(first);
        assert!(tally.enter("a", 3, 2).is_ok());
        drop(third);
        assert!(!tally.0.lock().unwrap().by_key.contains_key("b"));
    }
}
