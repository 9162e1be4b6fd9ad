//! The folder of a session while the session is being purged: it waits under a name that is no session's.
//!
//! Invariants: it goes only once the log says that the session is purged, for no payload can be written again from the log; until
//! then it can come back with all that is in it, also after a crash; and what came into its place meanwhile is never
//! written over.

use model::{SessionId, StreamId};

use crate::copies::folder::{Folder, Moving};
use crate::copies::{Copies, Touched, blocking, find_ours, meta, outputs, transcript};
use crate::files::hash;
use crate::{CopyError, Head, Reader};

/// What stands behind the session in the folder's name. A number follows if that name is taken.
const SUFFIX: &str = "purging";
/// How deep folders are put together: ours have two levels.
const MAX_DEPTH: u8 = 8;
/// Files that are written from the log, so that of two with the same name any will do.
const WRITTEN_FROM_THE_LOG: [&str; 3] = [meta::NAME, outputs::NAME, transcript::NAME];

/// Whose folder has this name, if it is one of a session that is being purged.
pub(crate) fn session_put_away(name: &str) -> Option<SessionId> {
    let (session, rest) = name.split_once('.')?;
    let number = rest.strip_prefix(SUFFIX)?;
    let is_number = |number: &str| number.parse::<u32>().is_ok_and(|n| number == n.to_string());
    let is_ours = number.is_empty() || number.strip_prefix('-').is_some_and(is_number);
    session.parse().ok().filter(|_| is_ours)
}

fn name_of(session: SessionId, nth: u32) -> String {
    match nth {
        1 => format!("{session}.{SUFFIX}"),
        _ => format!("{session}.{SUFFIX}-{nth}"),
    }
}

impl Copies {
    /// Moves a session's folder out of the way, before the session is purged. [`Copies::remove`] then removes it, or
    /// [`Copies::put_back`] brings it back.
    pub async fn put_away(&self, id: SessionId) -> Result<(), CopyError> {
        let path = self.path.clone();
        blocking(move || {
            let Some(folder) = find_ours(&path)? else { return Ok(()) };
            let mut nth = 1;
            loop {
                match folder.move_soon(id.to_string(), &folder, name_of(id, nth))? {
                    Moving::Done => return folder.sync(),
                    Moving::NothingThere => return Ok(()),
                    // A file of it could not be put back, because another one had its name.
                    Moving::Taken => nth += 1,
                }
            }
        })
        .await
    }

    /// Brings a session's folder back that was put away. What is in its place by now stays; what is in neither place twice
    /// is put together there.
    pub async fn put_back(&self, id: SessionId) -> Result<(), CopyError> {
        let path = self.path.clone();
        blocking(move || {
            let Some(folder) = find_ours(&path)? else { return Ok(()) };
            for name in names_of(&folder, id)? {
                put_back(&folder, id, &name)?;
            }
            Ok(())
        })
        .await
    }

    /// Settles what a purge that was cut off has left: a folder that was put away goes if the log says that its session is
    /// purged, and comes back otherwise. One that can not be settled keeps no other.
    pub async fn settle_purges(&self, store: &dyn Reader) -> Result<(), CopyError> {
        let path = self.path.clone();
        let sessions = blocking(move || {
            let Some(folder) = find_ours(&path)? else { return Ok(Vec::new()) };
            let mut sessions: Vec<_> = folder.names()?.iter().filter_map(|name| session_put_away(name)).collect();
            sessions.sort_unstable();
            sessions.dedup();
            Ok(sessions)
        });
        let mut first_failure = None;
        for id in sessions.await? {
            if let Err(err) = self.settle_purge(store, id).await {
                first_failure = first_failure.or(Some(err));
            }
        }
        first_failure.map_or(Ok(()), Err)
    }

    async fn settle_purge(&self, store: &dyn Reader, id: SessionId) -> Result<(), CopyError> {
        match store.head(StreamId::Session(id)).await? {
            Head::Purged => self.remove(id).await.map(|_| ()),
            Head::At(_) => self.put_back(id).await,
        }
    }

    /// Removes a session's copy and its payloads for good, wherever they are.
    pub async fn remove(&self, id: SessionId) -> Result<Touched, CopyError> {
        let path = self.path.clone();
        let removed = blocking(move || {
            let Some(folder) = find_ours(&path)? else { return Ok(false) };
            let mut removed = folder.remove_all(id.to_string())?;
            for name in names_of(&folder, id)? {
                removed |= folder.remove_all(name)?;
            }
            Ok(removed)
        });
        let removed = removed.await?;
        self.indexes.forget(id);
        Ok(if removed { Touched::Yes } else { Touched::No })
    }
}

/// The names under which a session's folder was put away.
pub(super) fn names_of(folder: &Folder, id: SessionId) -> Result<Vec<String>, CopyError> {
    let mut names: Vec<_> = folder.names()?.into_iter().filter(|name| session_put_away(name) == Some(id)).collect();
    names.sort_unstable();
    Ok(names)
}

fn put_back(folder: &Folder, id: SessionId, name: &str) -> Result<(), CopyError> {
    let own = id.to_string();
    if folder.move_soon(name, folder, &own)? == Moving::Taken {
        // Nothing is moved through a link, nor into one.
        let (Some(away), Some(there)) = (find_plain(folder, name)?, find_plain(folder, &own)?) else { return Ok(()) };
        put_together(&away, &there, &WRITTEN_FROM_THE_LOG, MAX_DEPTH)?;
        if !folder.remove_empty_child(name)? {
            tracing::warn!(session = %id, name, "some files of the session stay here: others have their names");
        }
    }
    folder.sync()
}

fn find_plain(folder: &Folder, name: impl AsRef<std::path::Path>) -> Result<Option<Folder>, CopyError> {
    match folder.find_child(name) {
        Err(CopyError::Foreign { .. }) => Ok(None),
        found => found,
    }
}

/// Moves to `there` what has no namesake there, and drops what is there already. Folders of which both have one are put together
/// too, `depth` levels deep.
fn put_together(away: &Folder, there: &Folder, dropped: &[&str], depth: u8) -> Result<(), CopyError> {
    for name in away.all_names()? {
        if away.move_soon(&name, there, &name)? != Moving::Taken {
            continue;
        }
        match (find_plain(away, &name)?, find_plain(there, &name)?) {
            (Some(from), Some(to)) if depth > 0 => {
                put_together(&from, &to, &[], depth - 1)?;
                away.remove_empty_child(&name)?;
            }
            (None, None) if name.to_str().is_some_and(|name| dropped.contains(&name) || is_same(away, there, name)) => {
                away.remove_file_soon(&name)?;
            }
            // Neither is ours to remove.
            _ => (),
        }
    }
    // First where it is now, so that the power takes nothing from both.
    there.sync()?;
    away.sync()
}

/// Whether two files have the same bytes; what can not be read is not the same.
fn is_same(one: &Folder, other: &Folder, name: &str) -> bool {
    let hash_of = |folder: &Folder| {
        let mut file = folder.find_file(name).ok()??;
        hash(|piece| std::io::Read::read(&mut file, piece), |_, _| Ok(())).ok()
    };
    hash_of(one).is_some_and(|hash| hash_of(other) == Some(hash))
}
