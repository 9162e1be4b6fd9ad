//! Titles of Codex's sessions, from the index that it keeps beside them.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::Deserialize;

use crate::history::lines;

/// How much of the index is read: its end, for the newest title is the last.
const LOOKED_AT_BYTES: u64 = 256 << 10;

#[derive(Deserialize)]
struct IndexLine {
    id: String,
    thread_name: String,
}

/// The last title of a session; `None` if the index can not be read.
pub(super) fn name_of(transcript: &Path, id: &str) -> Option<String> {
    let is_root = |folder: &&Path| folder.ends_with("sessions") || folder.ends_with("archived_sessions");
    let index = transcript.ancestors().find(is_root)?.parent()?.join("session_index.jsonl");
    let mut file = lines::open(&index).ok()?;
    let from = file.metadata().ok()?.len().saturating_sub(LOOKED_AT_BYTES);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut end = Vec::new();
    file.take(LOOKED_AT_BYTES).read_to_end(&mut end).ok()?;
    let end = String::from_utf8_lossy(&end);
    let of_session = end.lines().rev().filter(|line| line.contains(id));
    let mut names = of_session.filter_map(|line| serde_json::from_str::<IndexLine>(line).ok());
    names.find(|named| named.id == id).map(|named| named.thread_name)
}
