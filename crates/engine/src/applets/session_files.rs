//! What applets read and write of a session's files.
//!
//! Invariants: only with a grant for what the applet is at this moment, and only below the session's own directories: the folders that
//! everybody shares hold the applets themselves. What a write expects is compared and replaced while no other write of this server runs.

use std::ffi::OsString;
use std::sync::Arc;

use files::{ContentHash, Expected, FileError};
use model::{AppletGrant, AppletName, SessionId};

use crate::directories::from_directory;
use crate::file_writing::MAX_WRITTEN_BYTES;
use crate::reading::{FileAccess, in_background};
use crate::{Amount, AppletError, Engine, ListedDirectory, Outside, ShowError, ShownFile, StoredContent};

/// The applet that asks, with the content that its frame runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskingApplet {
    /// Its name.
    pub name: AppletName,
    /// The hash of the content that its frame runs.
    pub hash: String,
    /// Beside which session.
    pub session: SessionId,
}

impl Engine {
    /// A file of the session; a path that is not absolute begins at its directory, here and below.
    pub async fn read_for_applet(
        &self,
        applet: &AskingApplet,
        path: String,
        amount: Amount,
    ) -> Result<ShownFile, AppletError> {
        let Granted { access, cwd } = self.granted_access(applet, AppletGrant::FilesRead).await?;
        let path = from_directory(&cwd, path);
        in_background(move || access.read(&path, amount, Outside::Never).map_err(AppletError::from)).await
    }

    /// A page of a directory of the session.
    pub async fn list_for_applet(
        &self,
        applet: &AskingApplet,
        path: Option<String>,
        after: Option<OsString>,
        max: usize,
    ) -> Result<ListedDirectory, AppletError> {
        let Granted { access, cwd } = self.granted_access(applet, AppletGrant::FilesRead).await?;
        let path = path.map_or_else(|| cwd.clone(), |path| from_directory(&cwd, path));
        in_background(move || {
            let trees = access.own(&path).map_err(AppletError::SessionFile)?;
            let page = trees.list_page(&path, after.as_deref(), max).map_err(AppletError::SessionFile)?;
            Ok(ListedDirectory { path, page })
        })
        .await
    }

    /// Writes a whole file of the session, if what is there is as expected.
    pub async fn write_for_applet(
        &self,
        applet: &AskingApplet,
        path: String,
        content: Vec<u8>,
        expected: Expected,
    ) -> Result<StoredContent, AppletError> {
        let bytes = content.len() as u64;
        if bytes > MAX_WRITTEN_BYTES {
            return Err(AppletError::FileTooLong { bytes });
        }
        let Granted { access, cwd } = self.granted_access(applet, AppletGrant::FilesWrite).await?;
        let path = from_directory(&cwd, path);
        let turn = Arc::clone(&self.shared.writing_files).lock_owned().await;
        in_background(move || {
            // Kept until the file is written, also if nobody waits for it any more.
            let _turn = turn;
            let write = || access.own(&path)?.write_bytes(&path, &content, &expected);
            let written = write().map_err(AppletError::SessionFile)?;
            Ok(StoredContent { is_new: written.is_new, bytes, hash: ContentHash::of(&content) })
        })
        .await
    }

    async fn granted_access(&self, applet: &AskingApplet, grant: AppletGrant) -> Result<Granted, AppletError> {
        self.check_granted(&applet.name, &applet.hash, grant).await?;
        let row = self.session(applet.session).await?.row;
        Ok(Granted { access: FileAccess::own_alone(&self.shared.file_inspector, &row), cwd: row.cwd })
    }
}

/// What an applet may reach, and the session's directory.
struct Granted {
    access: FileAccess,
    cwd: String,
}

impl From<ShowError> for AppletError {
    fn from(err: ShowError) -> Self {
        match err {
            // Nothing outside is asked for.
            ShowError::OutsideNeedsConfirmation => Self::SessionFile(FileError::NotAllowed),
            ShowError::File(err) => Self::SessionFile(err),
            ShowError::Query(err) => Self::Query(err),
        }
    }
}
