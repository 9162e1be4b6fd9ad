//! The mark of a session that is being taken in: its payloads are here before its entries are.
//!
//! Invariants: the mark is flushed before the first payload is stored, and made only where nothing of the session lies yet; so as long
//! as the log does not have the session, the payloads in its folder came with it and go with it. Whatever lay there before, a copy
//! that was written since, and what a person put beside the payloads stay.

use model::{PAYLOAD_FOLDERS, Seq, SessionId, StreamId, is_payload_name};

use crate::copies::folder::{Folder, written_name};
use crate::copies::{Copies, blocking, find_ours, meta};
use crate::{CopyError, Head, Reader};

/// What stands behind the session in the mark's name.
const SUFFIX: &str = "arriving";

fn name_of(session: SessionId) -> String {
    format!("{session}.{SUFFIX}")
}

/// Whose mark has this name, if it is one.
fn session_of(name: &str) -> Option<SessionId> {
    let (session, rest) = name.split_once('.')?;
    session.parse().ok().filter(|_| rest == SUFFIX)
}

impl Copies {
    /// Notes that a session's payloads are stored before its entries. Where something of it lies already, nothing is noted.
    pub async fn begin_arrival(&self, id: SessionId) -> Result<(), CopyError> {
        let path = self.path.clone();
        blocking(move || {
            let all = Folder::make(&path)?;
            match all.find_child(id.to_string()) {
                Ok(None) => all.write_whole(&name_of(id), b""),
                Ok(Some(_)) | Err(CopyError::Foreign { .. }) => Ok(()),
                Err(err) => Err(err),
            }
        })
        .await
    }

    /// Settles a session that was noted: its payloads go if the log does not have it, and the mark goes in any case.
    pub async fn settle_arrival(&self, store: &dyn Reader, id: SessionId) -> Result<(), CopyError> {
        let is_here = match store.head(StreamId::Session(id)).await? {
            Head::At(seq) => seq > Seq::START,
            Head::Purged => false,
        };
        let path = self.path.clone();
        blocking(move || {
            let Some(all) = find_ours(&path)? else { return Ok(()) };
            // Of one that was not noted, nothing is known.
            if all.mark(&name_of(id))?.is_none() {
                return Ok(());
            }
            if !is_here {
                remove_payloads(&all, id)?;
            }
            all.remove_file(name_of(id)).map(drop)
        })
        .await
    }

    /// Settles all that were noted, as after a crash. One that can not be settled keeps no other.
    pub async fn settle_arrivals(&self, store: &dyn Reader) -> Result<(), CopyError> {
        let path = self.path.clone();
        let sessions = blocking(move || {
            let Some(all) = find_ours(&path)? else { return Ok(Vec::new()) };
            Ok(all.names()?.iter().filter_map(|name| session_of(name)).collect::<Vec<_>>())
        });
        let mut first_failure = None;
        for id in sessions.await? {
            if let Err(err) = self.settle_arrival(store, id).await {
                first_failure = first_failure.or(Some(err));
            }
        }
        first_failure.map_or(Ok(()), Err)
    }
}

fn remove_payloads(all: &Folder, id: SessionId) -> Result<(), CopyError> {
    let own = match all.find_child(id.to_string()) {
        Ok(Some(own)) => own,
        // Behind a link is nothing of ours.
        Ok(None) | Err(CopyError::Foreign { .. }) => return Ok(()),
        Err(err) => return Err(err),
    };
    // The log had the session once, and has lost it: this may be all that is left.
    if own.mark(meta::NAME)?.is_some() {
        return Ok(());
    }
    for folder in PAYLOAD_FOLDERS {
        remove_payloads_in(&own, folder)?;
    }
    all.remove_empty_child(id.to_string())?;
    all.sync()
}

/// Removes what has a payload's name; the folder goes too if nobody put something else there.
fn remove_payloads_in(own: &Folder, folder: &str) -> Result<(), CopyError> {
    let inside = match own.find_child(folder) {
        Ok(Some(inside)) => inside,
        Ok(None) | Err(CopyError::Foreign { .. }) => return Ok(()),
        Err(err) => return Err(err),
    };
    let is_ours = |name: &&String| is_payload_name(folder, name) || is_payload_name(folder, written_name(name));
    for name in inside.names()?.iter().filter(is_ours) {
        match inside.remove_file_soon(name) {
            // A folder with such a name is a person's.
            Ok(_) | Err(CopyError::Foreign { .. }) => (),
            Err(err) => return Err(err),
        }
    }
    inside.sync()?;
    own.remove_empty_child(folder)?;
    own.sync()
}
