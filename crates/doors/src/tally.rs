//! Counts how many of something each key holds at once.
//!
//! Invariant: a key's count is what its living permits hold, and a key that holds nothing takes no memory. Permits
//! return what they hold when dropped, so no path (panic, abort, upgrade) can leak any of it.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

pub(crate) struct Tally<K: Hash + Eq>(Arc<Mutex<Counts<K>>>);

struct Counts<K> {
    total: usize,
    by_key: HashMap<K, usize>,
}

pub(crate) struct Permit<K: Hash + Eq> {
    tally: Arc<Mutex<Counts<K>>>,
    key: K,
    held: AtomicUsize,
}

/// Which limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    InAll,
    ForKey,
}

impl<K: Hash + Eq + Clone> Tally<K> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Counts { total: 0, by_key: HashMap::new() })))
    }

    /// A permit for one.
    pub(crate) fn enter(&self, key: K, max_in_all: usize, max_for_key: usize) -> Result<Permit<K>, Full> {
        let permit = self.open(key);
        permit.grow(1, max_in_all, max_for_key)?;
        Ok(permit)
    }

    /// A permit that holds nothing yet.
    pub(crate) fn open(&self, key: K) -> Permit<K> {
        Permit { tally: Arc::clone(&self.0), key, held: AtomicUsize::new(0) }
    }
}

impl<K: Hash + Eq + Clone> Permit<K> {
    /// Adds to what the permit holds; on error it holds as much as before.
    pub(crate) fn grow(&self, by: usize, max_in_all: usize, max_for_key: usize) -> Result<(), Full> {
        let mut counts = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let total = counts.total.saturating_add(by);
        if total > max_in_all {
            return Err(Full::InAll);
        }
        let of_key = counts.by_key.get(&self.key).copied().unwrap_or(0).saturating_add(by);
        if of_key > max_for_key {
            return Err(Full::ForKey);
        }
        counts.total = total;
        counts.by_key.insert(self.key.clone(), of_key);
        self.held.fetch_add(by, Ordering::Relaxed);
        Ok(())
    }
}

impl<K: Hash + Eq> Drop for Permit<K> {
    fn drop(&mut self) {
        let own = *self.held.get_mut();
        let mut counts = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        counts.total -= own;
        if let Some(held) = counts.by_key.get_mut(&self.key) {
            *held -= own;
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

    #[test]
    fn what_a_permit_holds_grows_to_the_bound_and_comes_back() {
        let tally = Tally::new();
        let (first, second) = (tally.open("a"), tally.open("a"));
        assert_eq!(first.grow(6, usize::MAX, 10), Ok(()));
        assert_eq!(second.grow(5, usize::MAX, 10), Err(Full::ForKey));
        assert_eq!(second.grow(4, usize::MAX, 10), Ok(()));
        assert_eq!(tally.open("b").grow(usize::MAX, usize::MAX, 10), Err(Full::ForKey));
        drop(first);
        assert_eq!(second.grow(6, usize::MAX, 10), Ok(()));
        drop(second);
        let counts = tally.0.lock().unwrap();
        assert!(counts.total == 0 && counts.by_key.is_empty());
    }
}
