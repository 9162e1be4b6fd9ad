//! Places for TCP connections: their own for callers who have shown no credential yet.
//!
//! Invariant: strangers never keep out whoever has a credential. At accept everybody is a stranger; when there is no room
//! for another one, the stranger who has been there longest is cut, so a newcomer always has the time to show what it has,
//! and who has shown it is never cut for a stranger. This counts by what was shown and not by address, because behind a
//! proxy all callers have one.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

use crate::{limits::Limits, refusal::Refusal};

#[derive(Default)]
pub(crate) struct Places(Mutex<Taken>);

#[derive(Default)]
struct Taken {
    /// All connections whose bytes can move.
    open: usize,
    /// In the order of their arrival, with what cuts them.
    strangers: BTreeMap<u64, CancellationToken>,
    arrivals: u64,
    /// How many connections each credential has.
    known: HashMap<String, usize>,
}

/// A connection's place, given back when dropped.
pub(crate) struct Place {
    places: Arc<Places>,
    standing: Mutex<Standing>,
}

enum Standing {
    Stranger(u64),
    Known(String),
}

impl Places {
    /// A place for a stranger, whose connection ends with `cut`; none, if all are taken by callers who are known.
    pub(crate) fn enter(self: &Arc<Self>, limits: &Limits, cut: CancellationToken) -> Option<Arc<Place>> {
        let mut taken = self.taken();
        if taken.strangers.len() >= limits.max_strangers.max(1) || taken.open >= limits.max_connections {
            match taken.strangers.pop_first() {
                Some((_, oldest)) => {
                    metrics::counter!("doors_strangers_cut_total").increment(1);
                    oldest.cancel();
                }
                None => return None,
            }
        }
        let arrival = taken.arrivals;
        taken.arrivals += 1;
        taken.open += 1;
        taken.strangers.insert(arrival, cut);
        Some(Arc::new(Place { places: Arc::clone(self), standing: Mutex::new(Standing::Stranger(arrival)) }))
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Whoever has this connection has shown a credential. A connection stays with the first one.
    pub(crate) fn recognise(&self, credential: &str, limit: usize) -> Result<(), Refusal> {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        let Standing::Stranger(arrival) = &*standing else { return Ok(()) };
        let mut taken = self.places.taken();
        let held = taken.known.entry(credential.to_owned()).or_default();
        if *held >= limit {
            return Err(Refusal::TooManyConnections { limit });
        }
        *held += 1;
        taken.strangers.remove(arrival);
        *standing = Standing::Known(credential.to_owned());
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.open -= 1;
        match self.standing.get_mut().unwrap_or_else(PoisonError::into_inner) {
            Standing::Stranger(arrival) => {
                taken.strangers.remove(arrival);
            }
            Standing::Known(credential) => {
                if let Some(held) = taken.known.get_mut(credential) {
                    *held -= 1;
                    if *held == 0 {
                        taken.known.remove(credential);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(places: &Arc<Places>, limits: &Limits) -> Option<(Arc<Place>, CancellationToken)> {
        let cut = CancellationToken::new();
        Some((places.enter(limits, cut.clone())?, cut))
    }

    #[test]
    fn the_oldest_stranger_goes_and_who_is_known_stays() {
        let places = Arc::new(Places::default());
        let limits = Limits { max_strangers: 2, ..Limits::default() };
        let (known, known_cut) = enter(&places, &limits).unwrap();
        known.recognise("token", 9).unwrap();
        let (_first, first_cut) = enter(&places, &limits).unwrap();
        let (_second, second_cut) = enter(&places, &limits).unwrap();
        let (_third, third_cut) = enter(&places, &limits).unwrap();
        let cut = [known_cut, first_cut, second_cut, third_cut].map(|cut| cut.is_cancelled());
        assert_eq!(cut, [false, true, false, false]);
    }

    #[test]
    fn nobody_enters_where_all_are_known_and_places_come_back() {
        let places = Arc::new(Places::default());
        let limits = Limits { max_connections: 2, ..Limits::default() };
        let (first, _) = enter(&places, &limits).unwrap();
        let (second, _) = enter(&places, &limits).unwrap();
        first.recognise("token", 2).unwrap();
        second.recognise("token", 2).unwrap();
        assert!(enter(&places, &limits).is_none());
        drop(first);
        let (third, _) = enter(&places, &limits).unwrap();
        assert!(third.recognise("other", 2).is_ok());
        drop((second, third));
        let taken = places.taken();
        assert!(taken.open == 0 && taken.known.is_empty() && taken.strangers.is_empty());
    }

    #[test]
    fn one_credential_has_a_limit_of_its_own() {
        let places = Arc::new(Places::default());
        let limits = Limits::default();
        let [first, second] = [(); 2].map(|()| enter(&places, &limits).unwrap().0);
        first.recognise("token", 1).unwrap();
        assert_eq!(second.recognise("token", 1), Err(Refusal::TooManyConnections { limit: 1 }));
        assert_eq!(second.recognise("other", 1), Ok(()));
        assert_eq!(second.recognise("token", 1), Ok(()), "it stays with the first");
    }
}
