//! Slots for TCP connections, with separate ones for callers that have shown no credential yet.
//!
//! Invariant: strangers never keep out a caller with a credential. At accept every caller is a stranger. When there
//! is no room for another one, the oldest stranger is closed, so a newcomer always has time to show its credential,
//! and a caller that has shown one is never closed for a stranger. Callers are counted by credential and not by
//! address, because behind a proxy all have the same.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

use crate::{limits::Limits, refusal::Refusal};

#[derive(Default)]
pub(crate) struct ConnectionSlots(Mutex<SlotCounts>);

#[derive(Default)]
struct SlotCounts {
    /// All connections whose bytes can move.
    open: usize,
    /// In order of arrival, each with the token that closes it.
    strangers: BTreeMap<u64, CancellationToken>,
    arrivals: u64,
    /// How many connections each credential has.
    known: HashMap<String, usize>,
}

/// The slot of a connection, freed when dropped.
pub(crate) struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    owner: Mutex<SlotOwner>,
}

enum SlotOwner {
    Stranger(u64),
    Known(String),
}

impl ConnectionSlots {
    /// A slot for a stranger, whose connection `cut` closes; `None` if known callers have all slots.
    pub(crate) fn enter(self: &Arc<Self>, limits: &Limits, cut: CancellationToken) -> Option<Arc<ConnectionSlot>> {
        let mut counts = self.counts();
        if counts.strangers.len() >= limits.max_strangers.max(1) || counts.open >= limits.max_connections {
            match counts.strangers.pop_first() {
                Some((_, oldest)) => {
                    metrics::counter!("doors_strangers_cut_total").increment(1);
                    oldest.cancel();
                }
                None => return None,
            }
        }
        let arrival = counts.arrivals;
        counts.arrivals += 1;
        counts.open += 1;
        counts.strangers.insert(arrival, cut);
        Some(Arc::new(ConnectionSlot { slots: Arc::clone(self), owner: Mutex::new(SlotOwner::Stranger(arrival)) }))
    }

    fn counts(&self) -> MutexGuard<'_, SlotCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionSlot {
    /// Assigns the connection to a credential. It stays with the first one.
    pub(crate) fn recognise(&self, credential: &str, limit: usize) -> Result<(), Refusal> {
        let mut owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        let SlotOwner::Stranger(arrival) = &*owner else { return Ok(()) };
        let mut counts = self.slots.counts();
        let held = counts.known.entry(credential.to_owned()).or_default();
        if *held >= limit {
            return Err(Refusal::TooManyConnections { limit });
        }
        *held += 1;
        counts.strangers.remove(arrival);
        *owner = SlotOwner::Known(credential.to_owned());
        Ok(())
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut counts = self.slots.counts();
        counts.open -= 1;
        match self.owner.get_mut().unwrap_or_else(PoisonError::into_inner) {
            SlotOwner::Stranger(arrival) => {
                counts.strangers.remove(arrival);
            }
            SlotOwner::Known(credential) => {
                if let Some(held) = counts.known.get_mut(credential) {
                    *held -= 1;
                    if *held == 0 {
                        counts.known.remove(credential);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(slots: &Arc<ConnectionSlots>, limits: &Limits) -> Option<(Arc<ConnectionSlot>, CancellationToken)> {
        let cut = CancellationToken::new();
        Some((slots.enter(limits, cut.clone())?, cut))
    }

    #[test]
    fn the_oldest_stranger_goes_and_who_is_known_stays() {
        let slots = Arc::new(ConnectionSlots::default());
        let limits = Limits { max_strangers: 2, ..Limits::default() };
        let (known, known_cut) = enter(&slots, &limits).unwrap();
        known.recognise("token", 9).unwrap();
        let (_first, first_cut) = enter(&slots, &limits).unwrap();
        let (_second, second_cut) = enter(&slots, &limits).unwrap();
        let (_third, third_cut) = enter(&slots, &limits).unwrap();
        let cut = [known_cut, first_cut, second_cut, third_cut].map(|cut| cut.is_cancelled());
        assert_eq!(cut, [false, true, false, false]);
    }

    #[test]
    fn nobody_enters_where_all_are_known_and_places_come_back() {
        let slots = Arc::new(ConnectionSlots::default());
        let limits = Limits { max_connections: 2, ..Limits::default() };
        let (first, _) = enter(&slots, &limits).unwrap();
        let (second, _) = enter(&slots, &limits).unwrap();
        first.recognise("token", 2).unwrap();
        second.recognise("token", 2).unwrap();
        assert!(enter(&slots, &limits).is_none());
        drop(first);
        let (third, _) = enter(&slots, &limits).unwrap();
        assert!(third.recognise("other", 2).is_ok());
        drop((second, third));
        let counts = slots.counts();
        assert!(counts.open == 0 && counts.known.is_empty() && counts.strangers.is_empty());
    }

    #[test]
    fn one_credential_has_a_limit_of_its_own() {
        let slots = Arc::new(ConnectionSlots::default());
        let limits = Limits::default();
        let [first, second] = [(); 2].map(|()| enter(&slots, &limits).unwrap().0);
        first.recognise("token", 1).unwrap();
        assert_eq!(second.recognise("token", 1), Err(Refusal::TooManyConnections { limit: 1 }));
        assert_eq!(second.recognise("other", 1), Ok(()));
        assert_eq!(second.recognise("token", 1), Ok(()), "it stays with the first");
    }
}
