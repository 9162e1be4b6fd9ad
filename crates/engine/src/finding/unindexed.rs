//! A list of the entries that could not be indexed. A search warns that it can not find them, `throughline doctor` names
//! them, and the list is kept in a file beside the index, so that it outlives a restart.
//!
//! Invariant: the list belongs to the index that answers searches. It begins empty with an index that is filled from the log's
//! beginning, and it is bounded.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{Seq, SessionId};

/// The file beside the index, a line for each entry.
const FILE: &str = "set-aside";
/// The list has at most so many.
const MOST: usize = 1_000;

type Entries = BTreeSet<(SessionId, Seq)>;

/// The entries that were set aside.
#[derive(Debug, Default)]
pub(super) struct Unindexed {
    folder: Option<PathBuf>,
    noted: Mutex<Noted>,
}

#[derive(Debug, Default)]
struct Noted {
    all: Entries,
    /// Those since another index began to be filled, which will lack no others.
    since_beside: Option<Entries>,
}

impl Unindexed {
    /// With those that earlier runs noted in this folder.
    pub(super) fn kept_in(folder: Option<PathBuf>) -> Self {
        let all = folder.as_deref().map(entries_set_aside).unwrap_or_default().into_iter().collect();
        Self { folder, noted: Mutex::new(Noted { all, since_beside: None }) }
    }

    /// Says of an entry that it is not found by its words.
    pub(super) fn note(&self, session: SessionId, seq: Seq) {
        tracing::error!(%session, entry = %seq, "an entry can not be indexed and is set aside; it is in the log, and not found by its words");
        metrics::counter!("search_entries_set_aside_total").increment(1);
        self.change(|noted| {
            let entries = [Some(&mut noted.all), noted.since_beside.as_mut()];
            for entries in entries.into_iter().flatten().filter(|entries| entries.len() < MOST) {
                entries.insert((session, seq));
            }
        });
    }

    /// The index that answers is filled from the log's beginning, but for these entries.
    pub(super) fn begin_anew(&self, but: impl Iterator<Item = (SessionId, Seq)>) {
        self.change(|noted| *noted = Noted { all: but.take(MOST).collect(), since_beside: None });
    }

    /// Another index is filled beside it; from the beginning, or on from where an earlier run left it.
    pub(super) fn begin_beside(&self, from_beginning: bool) {
        self.change(|noted| {
            noted.since_beside = Some(if from_beginning { Entries::new() } else { noted.all.clone() });
        });
    }

    /// The other index answers now.
    pub(super) fn take_over(&self) {
        self.change(|noted| {
            if let Some(entries) = noted.since_beside.take() {
                noted.all = entries;
            }
        });
    }

    /// A session is gone, and its entries with it.
    pub(super) fn forget(&self, session: SessionId) {
        self.change(|noted| {
            let entries = [Some(&mut noted.all), noted.since_beside.as_mut()];
            entries.into_iter().flatten().for_each(|entries| entries.retain(|(of, _)| *of != session));
        });
    }

    /// For whoever searches.
    pub(super) fn warning(&self) -> Option<String> {
        match self.noted().all.len() {
            0 => None,
            1 => Some("one entry could not be indexed and is not found; `throughline doctor` names it".to_owned()),
            count => {
                let at_least = if count == MOST { "at least " } else { "" };
                Some(format!(
                    "{at_least}{count} entries could not be indexed and are not found; `throughline doctor` names them"
                ))
            }
        }
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Noted)) {
        let mut noted = self.noted();
        let before = noted.all.clone();
        change(&mut noted);
        if noted.all != before
            && let Some(folder) = &self.folder
            && let Err(err) = write(folder, &noted.all)
        {
            tracing::warn!(error = %err, "which entries are not found could not be written down; a restart forgets it");
        }
    }
}

/// Which entries the index in this folder lacks, as the server noted it.
pub fn entries_set_aside(folder: &Path) -> Vec<(SessionId, Seq)> {
    let text = fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    let entry = |line: &str| {
        let (session, seq) = line.split_once(' ')?;
        Some((session.parse().ok()?, Seq(seq.parse().ok()?)))
    };
    text.lines().filter_map(entry).take(MOST).collect()
}

fn write(folder: &Path, entries: &Entries) -> io::Result<()> {
    let file = folder.join(FILE);
    if entries.is_empty() {
        return match fs::remove_file(file) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
            Ok(()) | Err(_) => Ok(()),
        };
    }
    let text: String = entries.iter().map(|(session, seq)| format!("{session} {seq}\n")).collect();
    let beside = folder.join("set-aside.new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&beside)?.write_all(text.as_bytes())?;
    fs::rename(beside, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_aside_is_kept_until_an_index_is_filled_that_lacks_it_not() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Unindexed::kept_in(Some(folder.path().to_owned()));
        let [one, two] = [[1; 16], [2; 16]].map(SessionId::from_bytes);
        let aside = open();
        assert_eq!(aside.warning(), None);
        aside.note(one, Seq(7));
        aside.note(one, Seq(7));
        aside.note(two, Seq(8));
        let aside = open();
        assert!(aside.warning().is_some_and(|told| told.starts_with("2 entries")), "{:?}", aside.warning());
        assert_eq!(entries_set_aside(folder.path()), [(one, Seq(7)), (two, Seq(8))]);
        // Another index takes the one, and not the other.
        aside.begin_beside(true);
        aside.note(two, Seq(8));
        assert_eq!(entries_set_aside(folder.path()).len(), 2);
        aside.take_over();
        assert_eq!(entries_set_aside(folder.path()), [(two, Seq(8))]);
        aside.forget(two);
        assert_eq!((open().warning(), fs::read_dir(folder.path()).unwrap().count()), (None, 0));
        aside.note(one, Seq(7));
        aside.note(two, Seq(8));
        aside.begin_anew(std::iter::once((two, Seq(8))));
        assert_eq!(entries_set_aside(folder.path()), [(two, Seq(8))]);
        aside.begin_anew(std::iter::empty());
        assert_eq!(open().warning(), None);
    }
}
