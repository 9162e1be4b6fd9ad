//! Finds the entries that the index can not take, and leaves them out.
//!
//! Invariant: no entry keeps the others from being found. One that can not be folded is known at once. Where the index
//! itself failed, the entries since its last commit are given to it again one by one, each with a commit of its own; the
//! one at which it fails again is set aside, and the rest goes on.

use std::collections::HashSet;

use model::{Position, Seq, SessionId};

/// What one feeder knows of entries that the index can not take.
#[derive(Debug, Default)]
pub(super) struct BadEntries {
    /// Up to here each entry has a commit of its own.
    one_by_one_up_to: Position,
    /// What is being given to the index: how far the log is read with it, and which entry it is.
    at: Option<(Position, SessionId, Seq)>,
    aside: HashSet<(SessionId, Seq)>,
}

impl BadEntries {
    /// An entry is about to be folded in; whether it may be.
    pub(super) fn begin(&mut self, position: Position, session: SessionId, seq: Seq) -> bool {
        self.at = Some((position, session, seq));
        !self.aside.contains(&(session, seq))
    }

    /// The entry that is being folded in has to be on disk before the next one is looked at.
    pub(super) fn is_alone(&self) -> bool {
        self.at.is_some_and(|(position, ..)| position <= self.one_by_one_up_to)
    }

    /// It is on disk.
    pub(super) fn done(&mut self) {
        self.at = None;
    }

    /// The index failed, perhaps because of an entry; that entry, once it is known.
    pub(super) fn failed(&mut self) -> Option<(SessionId, Seq)> {
        let is_alone = self.is_alone();
        let (position, session, seq) = self.at.take()?;
        if is_alone {
            self.aside.insert((session, seq));
            return Some((session, seq));
        }
        self.one_by_one_up_to = self.one_by_one_up_to.max(position);
        None
    }

    /// What is left out of whatever index is filled.
    pub(super) fn aside(&self) -> impl Iterator<Item = (SessionId, Seq)> {
        self.aside.iter().copied()
    }

    /// The index that failed is gone, and so is what is known of its failure.
    pub(super) fn begin_anew(&mut self) {
        self.one_by_one_up_to = Position(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_alone_is_set_aside() {
        let session = SessionId::from_bytes([1; 16]);
        let mut bad_entries = BadEntries::default();
        for n in 1..=9 {
            assert!(bad_entries.begin(Position(n), session, Seq(n)) && !bad_entries.is_alone());
        }
        assert_eq!(bad_entries.failed(), None);
        for n in 4..=6 {
            assert!(bad_entries.begin(Position(n), session, Seq(n)) && bad_entries.is_alone());
            bad_entries.done();
        }
        assert!(bad_entries.begin(Position(7), session, Seq(7)));
        assert_eq!(bad_entries.failed(), Some((session, Seq(7))));
        assert!(!bad_entries.begin(Position(7), session, Seq(7)));
        assert!(bad_entries.begin(Position(8), session, Seq(8)) && bad_entries.is_alone());
        bad_entries.done();
        // What fails while nothing is given to it is nobody's fault.
        assert_eq!(bad_entries.failed(), None);
        assert!(bad_entries.begin(Position(10), session, Seq(10)) && !bad_entries.is_alone());
    }
}
