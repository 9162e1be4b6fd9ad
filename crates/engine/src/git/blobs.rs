//! Reads the contents of files that git keeps, some at a time.
//!
//! Invariant: sizes are asked for first, so that a huge one is never read, and no more than a group is held at once.

use std::ops::Range;

use super::{GitError, MAX_LISTED_BYTES, Repository, program};

/// How much is read of a repository at once.
pub(crate) const MAX_GROUP_BYTES: u64 = 16 << 20;
/// How many contents are asked for at once.
const MAX_GROUP_FILES: usize = 1_000;
/// What git prints around a content, at most.
const AROUND_BYTES: u64 = 200;

/// Contents, in the order in which they were asked for.
#[derive(Debug, Default)]
pub(crate) struct Blobs {
    printed: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl Blobs {
    pub(crate) fn get(&self, at: usize) -> Option<&[u8]> {
        self.places.get(at).and_then(|place| self.printed.get(place.clone()))
    }

    /// `SIZE<line feed>CONTENT<line feed>`, again and again.
    pub(super) fn parse(printed: Vec<u8>) -> Self {
        let mut places = Vec::new();
        let mut at = 0;
        while let Some(line) = printed[at..].iter().position(|byte| *byte == b'\n') {
            let size = std::str::from_utf8(&printed[at..at + line]).ok().and_then(|size| size.parse::<usize>().ok());
            let start = at + line + 1;
            let Some(end) = size.and_then(|size| start.checked_add(size)).filter(|end| *end < printed.len()) else {
                break;
            };
            places.push(start..end);
            at = end + 1;
        }
        Self { printed, places }
    }
}

impl Repository {
    /// How long objects are, in order; `None` for one that is missing, or no content of a file.
    pub(crate) async fn sizes(&self, objects: &[&str]) -> Result<Vec<Option<u64>>, GitError> {
        if objects.is_empty() {
            return Ok(Vec::new());
        }
        let args = ["cat-file", "--batch-check=%(objecttype) %(objectsize)"];
        let printed = program::run(self, &args, lines(objects), MAX_LISTED_BYTES).await?;
        let sizes = String::from_utf8_lossy(&printed.bytes).into_owned();
        let sizes: Vec<_> = sizes.lines().map(|line| line.strip_prefix("blob ")?.parse::<u64>().ok()).collect();
        if sizes.len() == objects.len() { Ok(sizes) } else { Err(GitError::Failed) }
    }

    /// The contents of objects that have so many bytes all together; all of them are there.
    pub(crate) async fn blobs(&self, objects: &[&str], bytes: u64) -> Result<Blobs, GitError> {
        if objects.is_empty() {
            return Ok(Blobs::default());
        }
        let room = bytes.saturating_add(AROUND_BYTES.saturating_mul(objects.len() as u64));
        let printed = program::run(self, &["cat-file", "--batch=%(objectsize)"], lines(objects), room).await?;
        let blobs = Blobs::parse(printed.bytes);
        if blobs.places.len() == objects.len() { Ok(blobs) } else { Err(GitError::Failed) }
    }
}

fn lines(objects: &[&str]) -> Vec<u8> {
    objects.iter().flat_map(|name| [name.as_bytes(), b"\n"].concat()).collect()
}

/// Cuts a list, by how much of each of its items is read, into groups that may be held at once.
pub(crate) fn groups(sizes: &[u64]) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let (mut start, mut bytes) = (0, 0_u64);
    for (at, size) in sizes.iter().enumerate() {
        if at > start && (bytes.saturating_add(*size) > MAX_GROUP_BYTES || at - start >= MAX_GROUP_FILES) {
            groups.push(start..at);
            (start, bytes) = (at, 0);
        }
        bytes = bytes.saturating_add(*size);
    }
    if start < sizes.len() {
        groups.push(start..sizes.len());
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_found_whatever_is_in_them() {
        let all = |printed: &[u8]| {
            let blobs = Blobs::parse(printed.to_vec());
            (0..).map_while(|at| blobs.get(at).map(<[u8]>::to_vec)).collect::<Vec<_>>()
        };
        assert_eq!(all(b"2\na\n\n0\n\n3\nb\0c\n"), [b"a\n".to_vec(), Vec::new(), b"b\0c".to_vec()]);
        assert_eq!(all(b"9\ncut"), Vec::<Vec<u8>>::new());
        assert_eq!(all(b"18446744073709551615\n"), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_group_has_no_more_than_may_be_held() {
        let sizes: Vec<u64> = (0..50).map(|n| if n % 10 == 0 { MAX_GROUP_BYTES } else { 3 << 20 }).collect();
        let groups = groups(&sizes);
        assert!(groups.iter().all(|group| sizes[group.clone()].iter().sum::<u64>() <= MAX_GROUP_BYTES), "{groups:?}");
        assert_eq!(groups.iter().flat_map(Clone::clone).collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
        assert_eq!(super::groups(&[0; 2_500]).len(), 3);
        assert!(super::groups(&[]).is_empty());
        assert_eq!(super::groups(&[u64::MAX, 1]), [0..1, 1..2]);
    }
}
