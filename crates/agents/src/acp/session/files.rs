//! File access for a session's agent and prompts. All calls block.
//!
//! Invariant: nothing outside of the session's directory is reached, and nothing that is protected.

use std::path::{Path, PathBuf};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use files::{Deny, FileError, Root, Trees};
use serde_json::{Value, json};

/// How much of a file an agent gets at once; well below the longest line.
const MAX_READ_BYTES: u64 = 8 << 20;

/// The session's directory as it was when its agent began.
#[derive(Debug, Clone)]
pub(super) struct Files {
    cwd: PathBuf,
    /// None if the directory did not exist.
    root: Option<Root>,
    deny: Deny,
}

/// Whether a file exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    There,
    Absent,
}

impl Files {
    pub(super) fn of(cwd: &Path, deny: Deny) -> Self {
        Self { cwd: cwd.to_owned(), root: Root::find(cwd).ok(), deny }
    }

    fn trees(&self) -> Result<Trees, FileError> {
        let tree = self.root.as_ref().ok_or(FileError::NotFound)?.open()?;
        Ok(Trees::new(vec![tree]).denying(self.deny.clone()))
    }

    /// Those of the mentioned paths that exist.
    pub(super) fn mentioned(&self, mentions: Vec<String>) -> Vec<(String, PathBuf)> {
        let Ok(trees) = self.trees() else { return Vec::new() };
        let paths = mentions.into_iter().map(|mention| {
            let path = self.cwd.join(&mention);
            (mention, path)
        });
        paths.filter(|(_, path)| trees.stat(path).is_ok()).collect()
    }

    /// Which of these paths exist; paths that may not be accessed are left out.
    pub(super) fn presence(&self, paths: Vec<String>) -> Vec<(String, Presence)> {
        let Ok(trees) = self.trees() else { return Vec::new() };
        let look = |path: String| {
            let presence = match trees.stat(&path) {
                Ok(_) => Presence::There,
                Err(FileError::NotFound) => Presence::Absent,
                Err(_) => return None,
            };
            Some((path, presence))
        };
        paths.into_iter().filter_map(look).collect()
    }

    pub(super) fn read(&self, request: &ReadTextFileRequest) -> Result<Value, Error> {
        let text = self
            .trees()
            .and_then(|trees| trees.read_text(&request.path, request.line, request.limit, MAX_READ_BYTES))
            .map_err(|err| error(&err))?;
        Ok(json!(ReadTextFileResponse::new(text)))
    }

    pub(super) fn write(&self, request: &WriteTextFileRequest) -> Result<Value, Error> {
        let written = self.trees().and_then(|trees| trees.write_text(&request.path, &request.content));
        written.map_err(|err| error(&err))?;
        Ok(json!(WriteTextFileResponse::new()))
    }

    /// Checks that a path is a directory inside the session's.
    pub(super) fn directory(&self, path: &Path) -> Result<(), Error> {
        match self.trees().and_then(|trees| trees.list(path, 1)) {
            Ok(_) => Ok(()),
            Err(err) => Err(error(&err)),
        }
    }
}

fn error(err: &FileError) -> Error {
    let words = err.to_string();
    match err {
        FileError::NotFound => agent_client_protocol::v1::schema::Error::resource_not_found(None).into(),
        FileError::Io(_) | FileError::Full => Error::internal_error(),
        FileError::NotAllowed
        | FileError::NotAFile
        | FileError::NotADirectory
        | FileError::TooLarge { .. }
        | FileError::TooManyNames { .. }
        | FileError::Changed
        | FileError::NotText => Error::invalid_params(),
    }
    .data(words)
}
