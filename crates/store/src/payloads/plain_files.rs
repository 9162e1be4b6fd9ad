//! Payloads as plain files, for whoever copies, compares or brings back those of whole sessions while no engine is at hand.
//!
//! Invariant: nothing here follows a link, and a path that no payload of ours can have is not opened. What is copied is a file
//! of its own: the one that it was copied from can be edited without changing it. No more of it is read than [`NamedPayload::most_bytes`] says,
//! so that a file put in its place can not make a copy grow without end. What a purge that was cut off has put away is found where
//! it waits for the next start, which brings it back or removes it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use model::{NamedPayload, PAYLOAD_FOLDERS, SessionId, is_payload_name, payload_path};

use crate::CopyError;
use crate::copies::{Folder, io_error, session_put_away};
use crate::files::hash;

/// The payloads below a folder of copies.
#[derive(Debug, Clone)]
pub(crate) struct PlainPayloads {
    path: PathBuf,
    /// The folders that were put away, as they were when one was first needed: looking for them costs a look at all names.
    put_away: Arc<OnceLock<HashMap<SessionId, Vec<String>>>>,
}

/// How a payload's file compares with the entry that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PayloadState {
    /// It has the bytes that were stored.
    Kept,
    /// It has others.
    Changed,
    /// There is none, or none that can be read.
    Missing,
}

impl PlainPayloads {
    /// Those in the folder of copies at `path`.
    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), put_away: Arc::default() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A payload's file; `None` if there is none of ours.
    pub(crate) fn find(&self, session: SessionId, path: &str) -> Result<Option<File>, CopyError> {
        let Some((folder, name)) = payload_path(path) else { return Ok(None) };
        let find_in = |own: &str| {
            let found = self.find_folder(own, folder)?.map_or(Ok(None), |folder| folder.find_file(name));
            ours(found)
        };
        if let Some(file) = find_in(&session.to_string())? {
            return Ok(Some(file));
        }
        for away in self.put_away(session)? {
            if let Some(file) = find_in(away)? {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }

    /// The paths of a session's payloads, by name, whether an entry names them or not.
    pub(crate) fn list(&self, session: SessionId) -> Result<Vec<String>, CopyError> {
        let mut paths = Vec::new();
        let own = session.to_string();
        for own in std::iter::once(&own).chain(self.put_away(session)?) {
            for folder in PAYLOAD_FOLDERS {
                let names = self.find_folder(own, folder)?.map_or(Ok(Vec::new()), |found| found.names())?;
                let ours = names.iter().filter(|name| is_payload_name(folder, name));
                paths.extend(ours.map(|name| format!("{folder}/{name}")));
            }
        }
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// A folder for payloads in one of a session's own.
    fn find_folder(&self, own: &str, folder: &str) -> Result<Option<Folder>, CopyError> {
        let own = Folder::find(&self.path).and_then(|all| all.map_or(Ok(None), |all| all.find_child(own)));
        ours(own.and_then(|own| own.map_or(Ok(None), |own| own.find_child(folder))))
    }

    /// The names of the folders in which a session waits that was being purged.
    fn put_away(&self, session: SessionId) -> Result<&[String], CopyError> {
        let put_away = match self.put_away.get() {
            Some(known) => known,
            None => {
                let mut found: HashMap<SessionId, Vec<String>> = HashMap::new();
                let names = ours(Folder::find(&self.path))?.map_or(Ok(Vec::new()), |folder| folder.names())?;
                for name in names {
                    if let Some(session) = session_put_away(&name) {
                        found.entry(session).or_default().push(name);
                    }
                }
                found.values_mut().for_each(|names| names.sort());
                self.put_away.get_or_init(|| found)
            }
        };
        Ok(put_away.get(&session).map_or(&[], Vec::as_slice))
    }

    /// The sessions that have a folder here.
    pub(crate) fn sessions(&self) -> Result<Vec<SessionId>, CopyError> {
        let Some(folder) = Folder::find(&self.path)? else { return Ok(Vec::new()) };
        let session = |name: &String| name.parse().ok().or_else(|| session_put_away(name));
        let mut sessions: Vec<SessionId> = folder.names()?.iter().filter_map(session).collect();
        sessions.sort();
        sessions.dedup();
        Ok(sessions)
    }

    /// Compares a payload's file with what its entry says.
    pub(crate) fn compare(&self, session: SessionId, payload: &NamedPayload) -> PayloadState {
        let hashed = self.find(session, &payload.path).map(|file| {
            let mut file = file?.take(payload.most_bytes());
            Some(hash(|piece| read(&mut file, piece), |_, _| Ok::<_, io::Error>(())))
        });
        match hashed {
            Ok(Some(Ok(found))) => state(&found, payload),
            Ok(None) => PayloadState::Missing,
            Ok(Some(Err(err))) => unreadable(session, payload, &err),
            Err(err) => unreadable(session, payload, &err),
        }
    }

    /// Copies a payload to the same place in another folder, flushed, and says how it compares with what its entry says.
    pub(crate) fn copy(
        &self,
        session: SessionId,
        payload: &NamedPayload,
        to: &Self,
    ) -> Result<PayloadState, CopyError> {
        let mut file = match self.find(session, &payload.path) {
            Ok(Some(file)) => file.take(payload.most_bytes()),
            Ok(None) => return Ok(PayloadState::Missing),
            Err(err) => return Ok(unreadable(session, payload, &err)),
        };
        let mut new = to.begin(session, &payload.path)?;
        let copied = hash(
            |piece| read(&mut file, piece).map_err(Copying::Read),
            |piece, _| new.write(piece).map_err(Copying::Write),
        );
        match copied {
            Ok(found) => new.finish().map(|()| state(&found, payload)),
            Err(Copying::Read(err)) => {
                new.give_up();
                Ok(unreadable(session, payload, &err))
            }
            Err(Copying::Write(err)) => {
                new.give_up();
                Err(err)
            }
        }
    }

    /// Begins a payload's file, which gets its name when it is finished.
    pub(crate) fn begin(&self, session: SessionId, path: &str) -> Result<NewPayload, CopyError> {
        let foreign = || CopyError::Foreign { path: self.path.join(session.to_string()).join(path) };
        let (folder, name) = payload_path(path).ok_or_else(foreign)?;
        let folder = Folder::make(&self.path)?.make_child(&session.to_string())?.make_child(folder)?;
        let file = folder.file_beside(name)?;
        Ok(NewPayload { folder, name: name.to_owned(), file })
    }

    /// Takes away a session's folder, with all that is in it.
    pub(crate) fn remove_session(&self, session: SessionId) -> Result<(), CopyError> {
        if let Some(folder) = Folder::find(&self.path)? {
            folder.remove_all(session.to_string())?;
        }
        Ok(())
    }

    /// Takes a payload away, if it is there.
    pub(crate) fn remove(&self, session: SessionId, path: &str) -> Result<(), CopyError> {
        let Some((folder, name)) = payload_path(path) else { return Ok(()) };
        if let Some(copy) = Folder::find_copy(&self.path, session)?
            && let Some(folder) = copy.find_child(folder)?
        {
            folder.remove_file(name)?;
        }
        Ok(())
    }
}

/// Behind a link is nothing of ours.
fn ours<T>(found: Result<Option<T>, CopyError>) -> Result<Option<T>, CopyError> {
    match found {
        Err(CopyError::Foreign { .. }) => Ok(None),
        found => found,
    }
}

enum Copying {
    Read(io::Error),
    Write(CopyError),
}

/// A payload's file that is being written.
pub(crate) struct NewPayload {
    folder: Folder,
    name: String,
    file: File,
}

impl NewPayload {
    pub(crate) fn write(&mut self, piece: &[u8]) -> Result<(), CopyError> {
        self.file.write_all(piece).map_err(io_error(&self.folder.path_of(&self.name)))
    }

    /// Flushes it and gives it its name.
    pub(crate) fn finish(self) -> Result<(), CopyError> {
        self.folder.put_in_place(&self.name, &self.file)
    }

    /// Takes away what there is of it.
    pub(crate) fn give_up(self) {
        // It has no name that is read.
        drop(self.folder.remove_beside(&self.name));
    }
}

fn state((bytes, sha256): &(u64, String), payload: &NamedPayload) -> PayloadState {
    if (*bytes, sha256) == (payload.bytes, &payload.sha256) { PayloadState::Kept } else { PayloadState::Changed }
}

/// One that can not be read is as good as none, and harms no other.
fn unreadable(session: SessionId, payload: &NamedPayload, err: &(dyn std::error::Error + 'static)) -> PayloadState {
    tracing::warn!(%session, path = payload.path, error = err, "a payload could not be read");
    PayloadState::Missing
}

fn read(file: &mut impl Read, piece: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(piece) {
            Err(err) if err.kind() == io::ErrorKind::Interrupted => (),
            read => return read,
        }
    }
}
