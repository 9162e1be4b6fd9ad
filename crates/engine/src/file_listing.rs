//! Lists a directory: of a session, of any session, or one of the folders that everybody shares.
//!
//! Invariant: as for reading a file inside. A mark opens no directory outside.

use std::ffi::OsString;

use files::{DirectoryPage, FileError};
use model::SessionId;

use crate::reading::{FileAccess, in_background};
use crate::{Engine, ShowError};

/// Some of what lies in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedDirectory {
    /// The directory.
    pub path: String,
    /// What lies in it.
    pub page: DirectoryPage,
}

impl Engine {
    /// A page of a directory, from the name `after` on. Without a path it is that of the session, else the first of
    /// the folders that everybody shares, which is empty until somebody writes there.
    pub async fn list_directory(
        &self,
        session: Option<SessionId>,
        path: Option<String>,
        after: Option<OsString>,
        max: usize,
    ) -> Result<ListedDirectory, ShowError> {
        let files = &self.shared.file_inspector;
        let (access, path, is_shared) = match (session, path) {
            (Some(id), path) => {
                let row = self.session(id).await?.row;
                let path = path.unwrap_or_else(|| row.cwd.clone());
                (FileAccess::inside(files, &row), path, false)
            }
            (None, Some(path)) => (self.access_to_any(&path).await?, path, false),
            (None, None) => {
                let first = files.shared().next().ok_or(FileError::NotFound)?.path;
                (self.access_to_any(&first).await?, first, true)
            }
        };
        let own = session.map(|id| self.shared.applets.own_place(id));
        in_background(move || {
            if let Some(own) = own {
                own.check(&path)?;
            }
            let listed = access.own(&path).and_then(|trees| trees.list_page(&path, after.as_deref(), max));
            let page = match listed {
                Err(FileError::NotFound) if is_shared => DirectoryPage { items: Vec::new(), next: None },
                listed => listed?,
            };
            Ok(ListedDirectory { path, page })
        })
        .await
    }
}
