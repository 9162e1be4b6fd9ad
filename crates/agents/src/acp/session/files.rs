//! The files of a session, for its agent and its prompts. Its calls block.
//!
//! Invariant: nothing outside the session's directory is reached, and nothing that is protected.

use std::path::{Path, PathBuf};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use files::{Deny, FileError, Tree, Trees};
use serde_json::{Value, json};

/// How much of a file an agent gets at once; well below the longest line.
const MAX_READ_BYTES: u64 = 8 << 20;

fn trees(cwd: &Path, deny: Deny) -> Result<Trees, FileError> {
    Ok(Trees::new(vec![Tree::open(cwd)?]).denying(deny))
}

/// Those of the mentioned paths that are there.
pub(super) fn mentioned(cwd: &Path, deny: Deny, mentions: Vec<String>) -> Vec<(String, PathBuf)> {
    let Ok(trees) = trees(cwd, deny) else { return Vec::new() };
    let paths = mentions.into_iter().map(|mention| {
        let path = cwd.join(&mention);
        (mention, path)
    });
    paths.filter(|(_, path)| trees.stat(path).is_ok()).collect()
}

pub(super) fn read(cwd: &Path, deny: Deny, request: &ReadTextFileRequest) -> Result<Value, Error> {
    let text = trees(cwd, deny)
        .and_then(|trees| trees.read_text(&request.path, request.line, request.limit, MAX_READ_BYTES))
        .map_err(|err| error(&err))?;
    Ok(json!(ReadTextFileResponse::new(text)))
}

pub(super) fn write(cwd: &Path, deny: Deny, request: &WriteTextFileRequest) -> Result<Value, Error> {
    trees(cwd, deny).and_then(|trees| trees.write_text(&request.path, &request.content)).map_err(|err| error(&err))?;
    Ok(json!(WriteTextFileResponse::new()))
}

/// A directory inside the session's own.
pub(super) fn directory(cwd: &Path, deny: Deny, path: &Path) -> Result<(), Error> {
    match trees(cwd, deny).and_then(|trees| trees.list(path, 1)) {
        Ok(_) => Ok(()),
        Err(err) => Err(error(&err)),
    }
}

fn error(err: &FileError) -> Error {
    let words = err.to_string();
    match err {
        FileError::NotFound => agent_client_protocol::v1::schema::Error::resource_not_found(None).into(),
        FileError::Io(_) => Error::internal_error(),
        FileError::NotAllowed
        | FileError::NotAFile
        | FileError::NotADirectory
        | FileError::TooLarge { .. }
        | FileError::NotText => Error::invalid_params(),
    }
    .data(words)
}
