//! Works out what a file was like before some edits, going back from what it is like now.
//!
//! Invariant: a text is said to have been there only if the log or the disk shows it: an edit's text is the whole file
//! where the file's hash then says so, and a part is taken back only where it stands once. What does not fit is not
//! known, and then the edits are shown one by one.

use std::time::Instant;

use model::{FileEdit, FileStatus, LineDiff, Replacement, diff_lines, same_lines};
use sha2::{Digest as _, Sha256};

use crate::id_source::hex;

/// What a file held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// There was no file.
    Absent,
    Text(String),
    NotKnown,
}

impl Content {
    /// Nothing, where nothing is there or known.
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Absent | Self::NotKnown => "",
        }
    }
}

/// A file before and after some edits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rebuilt {
    pub(super) before: Content,
    pub(super) after: Content,
    /// Somebody else has changed it since the last edit.
    pub(super) is_changed_since: bool,
}

/// `edits` are all that are known of the file since some moment, oldest first; the first `wanted` of them are asked about.
pub(super) fn rebuild(edits: &[FileEdit], wanted: usize, now: &Content) -> Rebuilt {
    let Some(newest) = edits.last() else {
        return Rebuilt { before: now.clone(), after: now.clone(), is_changed_since: false };
    };
    let is_changed_since = is_changed_since(newest, now);
    let mut content = match text_after(newest) {
        Content::NotKnown => now.clone(),
        text => text,
    };
    let mut after = Content::NotKnown;
    for (index, edit) in edits.iter().enumerate().rev() {
        if index + 1 == wanted {
            after = content.clone();
        }
        let before = before(edit, content);
        content = match index.checked_sub(1).map(|earlier| text_after(&edits[earlier])) {
            Some(known @ (Content::Absent | Content::Text(_))) => known,
            Some(Content::NotKnown) | None => before,
        };
    }
    Rebuilt { before: content, after, is_changed_since: is_changed_since && wanted == edits.len() }
}

/// The edits one by one, as the calls show them.
pub(super) fn diff_of_edits(edits: &[FileEdit], deadline: Instant) -> LineDiff {
    let mut all = LineDiff::default();
    for Replacement { old, new, .. } in edits.iter().flat_map(|edit| &edit.texts) {
        let LineDiff { counts, hunks } = diff_lines(old.as_deref().unwrap_or_default(), new, deadline);
        all.counts = all.counts.plus(counts);
        all.hunks.extend(hunks);
    }
    all
}

pub(super) fn diff(before: &Content, after: &Content, deadline: Instant) -> Option<LineDiff> {
    match (before, after) {
        (Content::NotKnown, _) | (_, Content::NotKnown) => None,
        (before, after) => Some(diff_lines(before.as_str(), after.as_str(), deadline)),
    }
}

/// Whether both are known and have the same lines.
pub(super) fn is_same(before: &Content, after: &Content) -> bool {
    match (before, after) {
        (Content::NotKnown, _) | (_, Content::NotKnown) => false,
        (before, after) => same_lines(before.as_str(), after.as_str()),
    }
}

fn is_changed_since(newest: &FileEdit, now: &Content) -> bool {
    match (newest.status, now, newest.stamp.as_ref().and_then(|stamp| stamp.hash.as_ref())) {
        (_, Content::NotKnown, _) => false,
        (FileStatus::Deleted, now, _) => *now != Content::Absent,
        (_, Content::Absent, _) => true,
        (_, Content::Text(now), Some(hash)) => hash_of(now) != *hash,
        (_, Content::Text(now), None) => match text_after(newest) {
            Content::Text(text) => text != *now,
            Content::Absent | Content::NotKnown => false,
        },
    }
}

/// What the edit itself shows of the whole file.
fn text_after(edit: &FileEdit) -> Content {
    if edit.status == FileStatus::Deleted {
        return Content::Absent;
    }
    match edit.texts.last() {
        Some(last) if is_whole(edit, last) => Content::Text(last.new.clone()),
        Some(_) | None => Content::NotKnown,
    }
}

fn is_whole(edit: &FileEdit, text: &Replacement) -> bool {
    let is_last = edit.texts.last() == Some(text);
    let hash = edit.stamp.as_ref().and_then(|stamp| stamp.hash.as_ref());
    text.is_whole || (is_last && hash.is_some_and(|hash| hash_of(&text.new) == *hash))
}

fn before(edit: &FileEdit, mut content: Content) -> Content {
    match edit.status {
        FileStatus::Created => return Content::Absent,
        FileStatus::Deleted => return Content::NotKnown,
        FileStatus::Changed if edit.texts.is_empty() => return Content::NotKnown,
        FileStatus::Changed | FileStatus::Moved => (),
    }
    for text in edit.texts.iter().rev() {
        content = match (&content, &text.old) {
            (_, Some(old)) if is_whole(edit, text) => Content::Text(old.clone()),
            (Content::Text(content), Some(old)) => taken_back(content, old, &text.new),
            (Content::Text(_) | Content::Absent | Content::NotKnown, _) => Content::NotKnown,
        };
    }
    content
}

fn taken_back(content: &str, old: &str, new: &str) -> Content {
    if content == new {
        return Content::Text(old.to_owned());
    }
    // Where it stands twice, either may be meant.
    match content.find(new).filter(|at| !new.is_empty() && content.rfind(new) == Some(*at)) {
        Some(at) => Content::Text([&content[..at], old, &content[at + new.len()..]].concat()),
        None => Content::NotKnown,
    }
}

pub(super) fn hash_of(content: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(content))
}

#[cfg(test)]
mod tests {
    use model::{FileStamp, Timestamp, Turn};

    use super::*;

    fn stamp(text: &str) -> Option<FileStamp> {
        let (modified_at, bytes) = (Timestamp::from_millis(0), text.len() as u64);
        Some(FileStamp { modified_at, bytes, hash: Some(hash_of(text)) })
    }

    fn edit(status: FileStatus, texts: &[(Option<&str>, &str)], whole_after: &str) -> FileEdit {
        let replacement = |(old, new): &(Option<&str>, &str)| Replacement {
            old: old.map(str::to_owned),
            new: (*new).to_owned(),
            is_whole: false,
        };
        let (path, texts) = ("/a".to_owned(), texts.iter().map(replacement).collect());
        FileEdit { turn: Turn(1), path, status, from: None, texts, stamp: stamp(whole_after) }
    }

    fn check(edits: &[FileEdit], wanted: usize, now: Option<&str>, expected: &str) {
        let shown = |content: &Content| match content {
            Content::Absent => "(none)".to_owned(),
            Content::Text(text) => text.clone(),
            Content::NotKnown => "?".to_owned(),
        };
        let now = now.map_or(Content::Absent, |now| Content::Text(now.to_owned()));
        let Rebuilt { before, after, is_changed_since } = rebuild(edits, wanted, &now);
        let since = if is_changed_since { " since" } else { "" };
        assert_eq!(format!("{} > {}{since}", shown(&before), shown(&after)), expected);
    }

    #[test]
    fn parts_are_taken_back_from_what_is_there() {
        let edits = [
            edit(FileStatus::Changed, &[(Some("two"), "2")], "one 2 three"),
            edit(FileStatus::Changed, &[(Some("one"), "1"), (Some("three"), "3")], "1 2 3"),
        ];
        check(&edits, 2, Some("1 2 3"), "one two three > 1 2 3");
        check(&edits, 1, Some("1 2 3"), "one two three > one 2 three");
        check(&edits[1..], 1, Some("1 2 3"), "one 2 three > 1 2 3");
        // Somebody added a word: it was there before, as far as anybody can tell.
        check(&edits, 2, Some("1 2 3 4"), "one two three 4 > 1 2 3 4 since");
        // Somebody replaced a part that would have to be taken back.
        check(&edits, 2, Some("1 and 3"), "? > 1 and 3 since");
    }

    #[test]
    fn a_part_that_stands_twice_is_not_taken_back() {
        let edits = [edit(FileStatus::Changed, &[(Some("b"), "a")], "a a")];
        check(&edits, 1, Some("a a"), "? > a a");
    }

    #[test]
    fn whole_texts_are_known_whatever_became_of_the_file() {
        let edits = [
            edit(FileStatus::Changed, &[(Some("old"), "new")], "new"),
            edit(FileStatus::Changed, &[(Some("new"), "newer")], "newer"),
        ];
        check(&edits, 2, Some("by hand"), "old > newer since");
        check(&edits, 1, Some("by hand"), "old > new");
        check(&edits, 2, None, "old > newer since");
    }

    #[test]
    fn what_was_made_was_not_there_and_what_is_gone_is_not_known() {
        let made = edit(FileStatus::Created, &[(None, "new")], "new");
        check(std::slice::from_ref(&made), 1, Some("new"), "(none) > new");
        let mut gone = edit(FileStatus::Deleted, &[], "");
        gone.stamp = None;
        check(&[gone.clone()], 1, None, "? > (none)");
        check(&[gone.clone()], 1, Some("again"), "? > (none) since");
        check(&[made, gone], 2, None, "(none) > (none)");
    }
}
