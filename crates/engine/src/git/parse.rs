//! Reads what git prints: the files of a tree and of an index.
//!
//! Invariant: no file is dropped in silence. One whose name is no text can not be compared; its name is kept, to be counted.

use std::collections::{BTreeMap, BTreeSet};

use super::{Clean, Tracked, TrackedKind, WorkFile};

/// Flags of an entry of the index, as git has them in memory.
const ASSUME_UNCHANGED: u32 = 0x8000;
const SKIP_WORKTREE: u32 = 0x4000_0000;

pub(super) fn text(name: &[u8]) -> Option<String> {
    String::from_utf8(name.to_vec()).ok().filter(|name| !name.is_empty())
}

pub(super) fn millis(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000).saturating_add(nanos / 1_000_000)
}

fn kind(mode: &str) -> TrackedKind {
    match mode {
        "120000" => TrackedKind::Link,
        "160000" => TrackedKind::Submodule,
        _ => TrackedKind::File,
    }
}

/// Files that git tracks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entries {
    /// By path.
    pub(super) files: BTreeMap<String, Tracked>,
    /// Paths of files that would be compared if their paths were valid UTF-8.
    pub(super) not_text: BTreeSet<Vec<u8>>,
}

impl Entries {
    fn insert(&mut self, path: &[u8], tracked: Tracked) {
        match (text(path), tracked.work_file) {
            (Some(path), _) => drop(self.files.insert(path, tracked)),
            (None, WorkFile::Compared) => drop(self.not_text.insert(path.to_vec())),
            (None, WorkFile::AssumedUnchanged | WorkFile::LeftOut) => (),
        }
    }
}

/// What stands before the first tab of an entry, which git writes in ASCII, and the path behind it.
fn head_and_path(entry: &[u8]) -> Option<(&str, &[u8])> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    Some((std::str::from_utf8(&entry[..tab]).ok()?, &entry[tab + 1..]))
}

/// `MODE TYPE OBJECT<tab>PATH<nul>`, again and again.
pub(super) fn tree_entries(bytes: &[u8]) -> Entries {
    let mut entries = Entries::default();
    for (head, path) in bytes.split(|byte| *byte == 0).filter_map(head_and_path) {
        let mut words = head.split(' ');
        let (Some(mode), Some(_), Some(object)) = (words.next(), words.next(), words.next()) else { continue };
        let tracked =
            Tracked { kind: kind(mode), object: object.to_owned(), clean: None, work_file: WorkFile::Compared };
        entries.insert(path, tracked);
    }
    entries
}

/// `MODE OBJECT STAGE<tab>PATH<nul>`, then lines with what the file was like, each beginning with two spaces. A path that
/// stands there more than once was not merged.
pub(super) fn index_entries(mut bytes: &[u8]) -> Entries {
    let mut entries = Entries::default();
    while let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        let entry = head_and_path(&bytes[..end]);
        bytes = &bytes[end + 1..];
        let (mut modified_at_ms, mut size, mut flags) = (None, None, 0);
        while let Some(line) = bytes.strip_prefix(b"  ") {
            let end = line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len());
            let words = String::from_utf8_lossy(&line[..end]);
            bytes = &line[(end + 1).min(line.len())..];
            if let Some((seconds, nanos)) = words.strip_prefix("mtime: ").and_then(|time| time.split_once(':')) {
                modified_at_ms = seconds.parse().ok().zip(nanos.parse().ok()).map(|(s, n)| millis(s, n));
            } else if let Some(rest) = words.strip_prefix("size: ") {
                let (length, after) = rest.split_once('\t').unwrap_or((rest, ""));
                size = length.parse().ok();
                flags = after.strip_prefix("flags: ").and_then(|it| u32::from_str_radix(it, 16).ok()).unwrap_or(0);
            }
        }
        let Some((head, path)) = entry else { continue };
        let mut words = head.split(' ');
        let (Some(mode), Some(object), Some(stage)) = (words.next(), words.next(), words.next()) else { continue };
        let clean = modified_at_ms.zip(size).filter(|_| stage == "0");
        let clean = clean.map(|(modified_at_ms, bytes)| Clean { modified_at_ms, bytes });
        let work_file = if flags & SKIP_WORKTREE != 0 {
            WorkFile::LeftOut
        } else if flags & ASSUME_UNCHANGED != 0 {
            WorkFile::AssumedUnchanged
        } else {
            WorkFile::Compared
        };
        entries.insert(path, Tracked { kind: kind(mode), object: object.to_owned(), clean, work_file });
    }
    entries
}
