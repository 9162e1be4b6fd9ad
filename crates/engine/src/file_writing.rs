//! Writes a file for the person, into the folders that everybody shares and nowhere else.
//!
//! Invariant: an answer comes after the file is flushed; what a write expects is compared and replaced while no other
//! write of this server runs. Whatever lies elsewhere, a session's directory too, is refused like what is not there.

use std::sync::Arc;

use files::{ContentHash, Expected, FileError, Tree, Trees};

use crate::file_inspector::{Directory, lies_in};
use crate::reading::in_background;
use crate::{Engine, QueryError};

/// How long a file may be that is written.
pub const MAX_WRITTEN_BYTES: u64 = 8 << 20;

/// A file that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredContent {
    /// There was no file before.
    pub is_new: bool,
    /// How long it is.
    pub bytes: u64,
    /// What it holds now.
    pub hash: ContentHash,
}

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StoreFileError {
    #[error("this has {bytes} bytes and a file that is written here has at most {MAX_WRITTEN_BYTES}; write less")]
    TooLong { bytes: u64 },
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl Engine {
    /// Writes a whole file, if what is there is as expected.
    pub async fn store_file(
        &self,
        path: String,
        content: Vec<u8>,
        expected: Expected,
    ) -> Result<StoredContent, StoreFileError> {
        let bytes = content.len() as u64;
        if bytes > MAX_WRITTEN_BYTES {
            return Err(StoreFileError::TooLong { bytes });
        }
        let files = &self.shared.file_inspector;
        // By name first, so that nothing is made for a path that lies elsewhere.
        let root = files.shared().find(|root| lies_in(&path, &root.path)).ok_or(FileError::NotAllowed)?;
        let deny = files.deny.clone();
        let turn = Arc::clone(&self.shared.writing_files).lock_owned().await;
        in_background(move || {
            // Kept until the file is written, also if nobody waits for it any more.
            let _turn = turn;
            let Directory { path: root, .. } = root;
            let trees = Trees::new(vec![Tree::open_or_make(root)?]).denying(deny);
            let written = trees.write_bytes(&path, &content, &expected)?;
            Ok(StoredContent { is_new: written.is_new, bytes, hash: ContentHash::of(&content) })
        })
        .await
    }
}
