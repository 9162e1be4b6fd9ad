//! Bookmarks: how far a record has been read.
//!
//! Invariant: a bookmark is always between two turns, so that a reading after it needs to know only the title from
//! before.

use std::hash::Hasher as _;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use super::HistoryError;

/// How many bytes before a bookmark are hashed to recognise the file.
pub(super) const CHECKED_BYTES: usize = 512;

/// How far a record has been read: opaque, and valid for later versions of the same record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bookmark(String);

/// The content of a bookmark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BookmarkContent {
    pub(super) position: RecordPosition,
    pub(super) title: TitleMark,
}

/// A position in a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum RecordPosition {
    /// Nothing has been emitted.
    #[default]
    Start,
    /// At this byte of a file; `check` is a hash of the bytes before it.
    Byte { offset: u64, check: u64 },
    /// After the record with this key.
    Record { key: String },
}

/// The last title that was emitted, as a hash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TitleMark {
    pub(super) hash: u64,
    /// A person chose it: titles that the tool generates no longer count.
    pub(super) is_chosen: bool,
}

impl Bookmark {
    /// The text under which it is stored between readings.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes back what [`Self::as_str`] returned. Whether it is valid shows when it is used.
    pub fn from_kept(text: String) -> Self {
        Self(text)
    }

    pub(super) fn new(content: &BookmarkContent) -> Self {
        let BookmarkContent { position, title } = content;
        let chosen = if title.is_chosen { "!" } else { "" };
        let position = match position {
            RecordPosition::Start => "s".to_owned(),
            RecordPosition::Byte { offset, check } => format!("b.{offset}.{check:x}"),
            RecordPosition::Record { key } => format!("r.{key}"),
        };
        Self(format!("1.{:x}{chosen}.{position}", title.hash))
    }

    pub(super) fn parse(&self) -> Result<BookmarkContent, HistoryError> {
        parse(&self.0).ok_or(HistoryError::ForeignBookmark)
    }
}

fn parse(text: &str) -> Option<BookmarkContent> {
    let (title, position) = text.strip_prefix("1.")?.split_once('.')?;
    let title =
        TitleMark { hash: u64::from_str_radix(title.trim_end_matches('!'), 16).ok()?, is_chosen: title.ends_with('!') };
    let position = match position.split_once('.') {
        None => (position == "s").then_some(RecordPosition::Start)?,
        Some(("b", position)) => {
            let (offset, check) = position.split_once('.')?;
            RecordPosition::Byte { offset: offset.parse().ok()?, check: u64::from_str_radix(check, 16).ok()? }
        }
        Some(("r", key)) => RecordPosition::Record { key: key.to_owned() },
        Some(_) => None?,
    };
    Some(BookmarkContent { position, title })
}

/// Whether the bytes before `offset` have the hash `check`.
pub(super) fn is_unchanged(file: &mut std::fs::File, offset: u64, check: u64) -> io::Result<bool> {
    if file.metadata()?.len() < offset {
        return Ok(false);
    }
    let from = offset.saturating_sub(CHECKED_BYTES as u64);
    file.seek(SeekFrom::Start(from))?;
    let mut before = Vec::with_capacity(CHECKED_BYTES);
    file.take(offset - from).read_to_end(&mut before)?;
    Ok(before.len() as u64 == offset - from && hash(&before) == check)
}

/// A hash that is the same on every machine and for ever, unlike the standard library's.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    hasher.write(bytes);
    hasher.finish()
}

/// FNV-1a, 64 bits: to recognise what nobody tries to forge.
struct Fnv(u64);

impl std::hash::Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_back() {
        let title = TitleMark { hash: hash(b"a title"), is_chosen: true };
        for position in [
            RecordPosition::Start,
            RecordPosition::Byte { offset: 7, check: 0xab },
            RecordPosition::Record { key: "msg_1.x".to_owned() },
        ] {
            for title in [title, TitleMark::default()] {
                let content = BookmarkContent { position: position.clone(), title };
                let kept = Bookmark::new(&content).as_str().to_owned();
                assert_eq!(Bookmark::from_kept(kept).parse().unwrap(), content);
            }
        }
    }

    #[test]
    fn anything_else_is_none_of_ours() {
        for text in ["", "1", "1.", "1.0", "2.0.s", "1.x.s", "1.0.b.7", "1.0.b.x.1", "1.0.q.1", "1.0.sx"] {
            assert!(Bookmark::from_kept(text.to_owned()).parse().is_err(), "{text:?}");
        }
    }
}
