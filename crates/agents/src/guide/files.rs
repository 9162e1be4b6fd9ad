//! `read` and `write`: through the client if it offers that, else on disk.
//!
//! Invariant: on disk nothing outside of the session's directory is read; nothing outside of it is written either
//! way.

use std::path::{Path, PathBuf};

use ::files::FileError;
use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    Diff, ReadTextFileRequest, ToolCallLocation, ToolCallUpdateFields, ToolKind, WriteTextFileRequest,
};
use serde_json::json;

use super::disk;
use super::turn::{Turn, text_content};

const SHOWN_LINES: u32 = 200;
const SHOWN_BYTES: usize = 64 * 1024;

pub(super) async fn read(turn: &Turn, name: &str) -> Result<(), Error> {
    let path = turn.session.cwd.join(name);
    let call = turn.call(&format!("Read {name}"), |call| {
        let location = ToolCallLocation::new(path.clone());
        call.kind(ToolKind::Read).locations(vec![location]).raw_input(json!({ "path": path }))
    })?;
    let text = if turn.client_files.read {
        read_through_client(turn, &path, Some(SHOWN_LINES)).await
    } else {
        let (cwd, name) = (turn.session.cwd.clone(), name.to_owned());
        on_blocking_thread(move || disk::read(&cwd, &name, SHOWN_LINES)).await
    };
    let shown = match &text {
        Ok(text) => first_lines(text),
        Err(why) => {
            call.fail(why)?;
            return turn.say("I could not read that.").await;
        }
    };
    call.complete(ToolCallUpdateFields::new().content(vec![text_content(shown)]))?;
    let lines = match shown.lines().count() {
        1 => "1 line".to_owned(),
        lines => format!("{lines} lines"),
    };
    turn.say(&format!("Here is `{name}`: {lines}.")).await
}

pub(super) async fn write(turn: &Turn, name: &str, text: &str) -> Result<(), Error> {
    let path = turn.session.cwd.join(name);
    let call = turn.call(&format!("Write {name}"), |call| {
        let location = ToolCallLocation::new(path.clone());
        call.kind(ToolKind::Edit).locations(vec![location]).raw_input(json!({ "path": path, "text": text }))
    })?;
    match replace(turn, name, &path, text).await {
        Ok(before) => {
            let diff = Diff::new(path, text).old_text(before);
            call.complete(ToolCallUpdateFields::new().content(vec![diff.into()]))?;
            turn.say(&format!("I wrote `{name}`.")).await
        }
        Err(why) => {
            call.fail(&why)?;
            turn.say("I did not write that.").await
        }
    }
}

/// Writes the file; returns its earlier text, if it existed.
async fn replace(turn: &Turn, name: &str, path: &Path, text: &str) -> Result<Option<String>, String> {
    let (cwd, owned) = (turn.session.cwd.clone(), name.to_owned());
    // The client may read from elsewhere than the disk, but which paths are inside is decided here.
    let mut before = on_blocking_thread(move || disk::text_before(&cwd, &owned)).await?;
    if turn.client_files.read {
        // To a client a missing file is an error like any other.
        before = read_through_client(turn, path, None).await.ok();
    }
    if turn.client_files.write {
        let request = WriteTextFileRequest::new(turn.session.id.clone(), path, text);
        turn.client.send_request(request).block_task().await.map_err(|why| refused(&why))?;
    } else {
        let (cwd, name, text) = (turn.session.cwd.clone(), name.to_owned(), text.to_owned());
        on_blocking_thread(move || disk::write(&cwd, &name, &text)).await?;
    }
    Ok(before)
}

async fn read_through_client(turn: &Turn, path: &Path, lines: Option<u32>) -> Result<String, String> {
    let request = ReadTextFileRequest::new(turn.session.id.clone(), PathBuf::from(path)).limit(lines);
    let answer = turn.client.send_request(request).block_task().await;
    answer.map(|answer| answer.content).map_err(|why| refused(&why))
}

fn refused(why: &Error) -> String {
    format!("The client refused: {}", why.message)
}

/// Runs on a blocking thread: disks can be slow, and all sessions of the connection share one task.
async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|why| with_source(&why)),
        Err(stopped) => Err(stopped.to_string()),
    }
}

/// An error with its source.
fn with_source(why: &FileError) -> String {
    match std::error::Error::source(why) {
        Some(source) => format!("{why}: {source}"),
        None => why.to_string(),
    }
}

/// The start of a text: as many whole lines as fit.
fn first_lines(text: &str) -> &str {
    let mut end = 0;
    for line in text.split_inclusive('\n').take(SHOWN_LINES as usize) {
        if end + line.len() > SHOWN_BYTES {
            break;
        }
        end += line.len();
    }
    // A first line that is too long by itself is cut.
    if end == 0 { &text[..text.floor_char_boundary(SHOWN_BYTES)] } else { &text[..end] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_shown_while_they_fit() {
        assert_eq!(first_lines(""), "");
        assert_eq!(first_lines("one\ntwo"), "one\ntwo");
        assert_eq!(first_lines(&"x\n".repeat(300)), "x\n".repeat(200));
        let long = format!("{}\n", "é".repeat(20_000));
        assert_eq!(first_lines(&long.repeat(2)), long);
        let one = "é".repeat(40_000);
        assert_eq!(first_lines(&one).len(), SHOWN_BYTES);
    }
}
