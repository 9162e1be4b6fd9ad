//! Reads what git prints: the files of a tree and of an index.

use std::collections::BTreeMap;

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

/// `MODE TYPE OBJECT<tab>PATH<nul>`, again and again.
pub(super) fn tree_entries(bytes: &[u8]) -> BTreeMap<String, Tracked> {
    let entries = bytes.split(|byte| *byte == 0).filter_map(|entry| {
        let (head, path) = std::str::from_utf8(entry).ok()?.split_once('\t')?;
        let mut words = head.split(' ');
        let (mode, _, object) = (words.next()?, words.next()?, words.next()?);
        Some((
            path.to_owned(),
            Tracked { kind: kind(mode), object: object.to_owned(), clean: None, work_file: WorkFile::Compared },
        ))
    });
    entries.collect()
}

/// `MODE OBJECT STAGE<tab>PATH<nul>`, then lines with what the file was like, each beginning with two spaces. A path that
/// stands there more than once was not merged.
pub(super) fn index_entries(mut bytes: &[u8]) -> BTreeMap<String, Tracked> {
    let mut entries = BTreeMap::new();
    while let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        let entry = std::str::from_utf8(&bytes[..end]).ok().and_then(|entry| entry.split_once('\t'));
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
        entries.insert(path.to_owned(), Tracked { kind: kind(mode), object: object.to_owned(), clean, work_file });
    }
    entries
}
