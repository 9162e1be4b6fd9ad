//! Payloads as plain files beside the readable copies: `sessions/<id>/outputs/<out_id>.<ext>` and `sessions/<id>/bodies/<hash>`.
//!
//! Invariant: a file appears under its name whole and flushed; nothing here follows a link. A session's files go with its
//! folder when the session is purged.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use model::{NewBody, SessionId};

use crate::copies::Folder;
use crate::payloads::{PIECE_BYTES, pass_on};
use crate::{CopyError, PayloadError, PayloadKind, PayloadName, PayloadSource, Payloads, StoredPayload};

/// Payloads below the folder of the readable copies.
#[derive(Debug, Clone)]
pub struct PayloadFolder {
    path: PathBuf,
    /// Folders that are known to survive the power, with those above them.
    flushed: Arc<Mutex<HashSet<(SessionId, PayloadKind)>>>,
}

impl PayloadFolder {
    /// Those in the folder of copies at `path`, which is made when the first payload is stored.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), flushed: Arc::default() }
    }

    fn find(&self, session: SessionId, kind: PayloadKind) -> Result<Option<Folder>, CopyError> {
        match Folder::find_copy(&self.path, session)? {
            Some(folder) => folder.find_child(kind.folder()),
            None => Ok(None),
        }
    }

    /// The folder of a session's payloads, which survives the power with all that are above it. One that is there already may have
    /// been made by a process that was killed before it flushed the name, or by a task that has not come to that yet.
    fn make(&self, session: SessionId, kind: PayloadKind) -> Result<Folder, CopyError> {
        // Whoever else wants it waits until it is flushed.
        let mut flushed = self.flushed.lock().unwrap_or_else(PoisonError::into_inner);
        let all = Folder::make_soon(&self.path)?;
        let own = all.folder.make_child_soon(&session.to_string())?;
        let bodies = own.folder.make_child_soon(kind.folder())?;
        let is_new = all.is_new || own.is_new || bodies.is_new;
        if is_new || !flushed.contains(&(session, kind)) {
            flushed.remove(&(session, kind));
            own.folder.sync()?;
            all.folder.sync()?;
            Folder::sync_parent_of(&self.path)?;
            flushed.insert((session, kind));
        }
        Ok(bodies.folder)
    }

    fn find_file(&self, session: SessionId, name: &PayloadName) -> Result<Option<(File, PathBuf)>, CopyError> {
        let Some(folder) = self.find(session, name.kind)? else { return Ok(None) };
        Ok(folder.find_file(&name.file)?.map(|file| (file, folder.path_of(&name.file))))
    }

    /// Gives the payloads in a session's folder the same names in another folder of copies.
    pub(crate) fn link_all(from: &Path, session: &str, to: &Path) -> Result<(), CopyError> {
        PayloadKind::ALL.into_iter().try_for_each(|kind| Self::link_kind(from, session, kind, to))
    }

    fn link_kind(from: &Path, session: &str, kind: PayloadKind, to: &Path) -> Result<(), CopyError> {
        let own = Folder::find(from).and_then(|all| all.map_or(Ok(None), |all| all.find_child(session)));
        let own = match own.and_then(|own| own.map_or(Ok(None), |own| own.find_child(kind.folder()))) {
            Ok(Some(own)) => own,
            // Behind a link is nothing of ours.
            Ok(None) | Err(CopyError::Foreign { .. }) => return Ok(()),
            Err(err) => return Err(err),
        };
        let names: Vec<String> = own.names()?.into_iter().filter(|name| kind.is_name(name)).collect();
        if names.is_empty() {
            return Ok(());
        }
        let other = Folder::make(to)?.make_child(session)?.make_child(kind.folder())?;
        names.iter().try_for_each(|name| own.link_file(name, &other))?;
        other.sync()
    }

    fn put_now(
        &self,
        session: SessionId,
        name: &PayloadName,
        from: PayloadSource,
        max: u64,
    ) -> Result<StoredPayload, PayloadError> {
        let folder = self.make(session, name.kind)?;
        let path = folder.path_of(&name.file);
        let mut file = folder.file_beside(&name.file)?;
        let written = pass_on(from, max, |piece| {
            fail::fail_point!("payload-write", |_| Err(at(&path)(io::ErrorKind::StorageFull.into())));
            file.write_all(piece).map_err(at(&path))
        });
        let written = written.and_then(|stored| Ok(folder.put_soon(&name.file, &file).map(|()| stored)?));
        if written.is_err() {
            // What is left of it would only fill the disk further; it has no name that is read.
            drop(folder.remove_beside(&name.file));
            return written;
        }
        if let Err(err) = folder.sync() {
            // Nobody can rely on its name.
            drop(folder.remove_file(&name.file));
            return Err(err.into());
        }
        written
    }

    /// The files are flushed one by one, and their names together.
    fn put_bodies_now(&self, session: SessionId, bodies: &[NewBody]) -> Result<(), PayloadError> {
        let folder = self.make(session, PayloadKind::Body)?;
        let mut added = Vec::new();
        for body in bodies {
            let name = body.hash.to_string();
            // A body can not be written again from the log, and a folder loses nothing by another name.
            folder.move_folders_aside(&name)?;
            match find(&folder, &name, &body.bytes)? {
                Found::Same => continue,
                Found::Other => (),
                Found::Nothing => added.push(name.clone()),
            }
            let path = folder.path_of(&name);
            let mut file = folder.file_beside(&name)?;
            let written = body.bytes.chunks(PIECE_BYTES).try_for_each(|piece| {
                fail::fail_point!("payload-write", |_| Err(at(&path)(io::ErrorKind::StorageFull.into())));
                file.write_all(piece).map_err(at(&path))
            });
            let written = written.and_then(|()| Ok(folder.put_soon(&name, &file)?));
            if written.is_err() {
                drop(folder.remove_beside(&name));
                return written;
            }
        }
        // Also for those that were there: a crash may have come before their names were flushed.
        if let Err(err) = folder.sync() {
            // Nobody can rely on these names; entries may name those that were there before.
            added.iter().for_each(|name| drop(folder.remove_file(name)));
            return Err(err.into());
        }
        Ok(())
    }
}

/// What is in the place of a body.
enum Found {
    Same,
    Other,
    Nothing,
}

fn find(folder: &Folder, name: &str, bytes: &[u8]) -> Result<Found, PayloadError> {
    let mut file = match folder.find_file(name) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(Found::Nothing),
        // What takes the name of a body away from it is replaced.
        Err(CopyError::Foreign { .. }) => return Ok(Found::Other),
        Err(err) => return Err(err.into()),
    };
    let path = folder.path_of(name);
    if file.metadata().map_err(at(&path))?.len() != bytes.len() as u64 {
        return Ok(Found::Other);
    }
    let mut there = Vec::with_capacity(bytes.len());
    file.read_to_end(&mut there).map_err(at(&path))?;
    Ok(if there == bytes { Found::Same } else { Found::Other })
}

#[async_trait]
impl Payloads for PayloadFolder {
    async fn put(
        &self,
        session: SessionId,
        name: &PayloadName,
        from: PayloadSource,
        max: u64,
    ) -> Result<StoredPayload, PayloadError> {
        let (own, name) = (self.clone(), name.clone());
        blocking(move || own.put_now(session, &name, from, max)).await
    }

    async fn put_bodies(&self, session: SessionId, bodies: Vec<NewBody>) -> Result<(), PayloadError> {
        let own = self.clone();
        blocking(move || own.put_bodies_now(session, &bodies)).await
    }

    async fn read(
        &self,
        session: SessionId,
        name: &PayloadName,
        offset: u64,
        max: usize,
    ) -> Result<Option<Vec<u8>>, PayloadError> {
        let (own, name) = (self.clone(), name.clone());
        blocking(move || {
            let Some((mut file, path)) = own.find_file(session, &name)? else { return Ok(None) };
            let mut bytes = Vec::new();
            let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.take(max as u64).read_to_end(&mut bytes));
            read.map_err(at(&path))?;
            Ok(Some(bytes))
        })
        .await
    }

    async fn look_at(
        &self,
        session: SessionId,
        name: &PayloadName,
        most: u64,
    ) -> Result<Option<StoredPayload>, PayloadError> {
        let (own, name) = (self.clone(), name.clone());
        blocking(move || {
            let file = own.find_file(session, &name)?;
            file.map(|(file, _)| pass_on(file.take(most), most, |_| Ok(()))).transpose()
        })
        .await
    }

    async fn remove(&self, session: SessionId, name: &PayloadName) -> Result<(), PayloadError> {
        let (own, name) = (self.clone(), name.clone());
        blocking(move || {
            if let Some(folder) = own.find(session, name.kind)? {
                folder.remove_file(&name.file)?;
            }
            Ok(())
        })
        .await
    }

    async fn sessions(&self) -> Result<Vec<SessionId>, PayloadError> {
        let own = self.clone();
        blocking(move || {
            let Some(folder) = Folder::find(&own.path)? else { return Ok(Vec::new()) };
            let mut found = Vec::new();
            for session in folder.names()?.iter().filter_map(|name| name.parse::<SessionId>().ok()) {
                let mut has_place = false;
                for kind in PayloadKind::ALL {
                    match own.find(session, kind) {
                        Ok(bodies) => has_place |= bodies.is_some(),
                        // Behind a link is nothing of ours.
                        Err(CopyError::Foreign { .. }) => (),
                        Err(err) => return Err(err.into()),
                    }
                }
                found.extend(has_place.then_some(session));
            }
            Ok(found)
        })
        .await
    }

    async fn sweep(
        &self,
        session: SessionId,
        kind: PayloadKind,
        kept: Vec<PayloadName>,
    ) -> Result<usize, PayloadError> {
        let own = self.clone();
        blocking(move || {
            let Some(folder) = own.find(session, kind)? else { return Ok(0) };
            let kept: HashSet<String> = kept.into_iter().map(|name| name.file).collect();
            let mut removed = 0;
            // Only what we could have made: a person may have put other files there.
            for name in folder.names()?.iter().filter(|name| kind.is_name(name) && !kept.contains(*name)) {
                match folder.remove_file(name) {
                    Ok(was_there) => removed += usize::from(was_there),
                    // A folder is nothing of ours, and keeps no other from being removed.
                    Err(CopyError::Foreign { path }) => {
                        tracing::warn!(session = %session, path = %path.display(), "it has a payload's name and is no file");
                    }
                    Err(err) => return Err(err.into()),
                }
            }
            Ok(removed)
        })
        .await
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> PayloadError {
    let path = path.to_owned();
    move |source| CopyError::Io { path, source }.into()
}

impl From<CopyError> for PayloadError {
    fn from(err: CopyError) -> Self {
        match err {
            CopyError::Foreign { path } => Self::Foreign { path },
            CopyError::Io { path, source } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                    Self::Full { path, source }
                }
                _ => Self::Io { path, source },
            },
            CopyError::Ahead { path } => Self::Foreign { path },
            CopyError::Read(_) => Self::Closed,
        }
    }
}

/// Works on files off the runtime.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PayloadError> + Send + 'static,
) -> Result<T, PayloadError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(err) if err.is_panic() => std::panic::resume_unwind(err.into_panic()),
        // The runtime is going; so is the store.
        Err(_) => Err(PayloadError::Closed),
    }
}

#[cfg(test)]
mod tests;
