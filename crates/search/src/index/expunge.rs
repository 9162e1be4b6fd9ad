//! Takes the words of removed sessions out of the files of the index: its dictionaries hold every term, and a removed piece is
//! only marked in them.
//!
//! Invariant: that files have to be written anew is noted on the disk before the removal is, and forgotten after they were
//! written. Small files are written anew with the commit that removed something of them; nobody waits for large ones.

use super::error::guarded;
use super::{Index, SearchError, Writing, folder};

/// So many pieces are written anew with a commit, which takes less than a second. More of them wait until the index rests.
const AT_ONCE_PIECES: u64 = if cfg!(test) { 100 } else { 20_000 };

/// How much of it may be done now.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    Little,
    All,
}

impl Index {
    /// Notes that pieces are removed whose words are to go.
    pub(super) fn note_removal(&self, writing: &mut Writing) -> Result<(), SearchError> {
        if !writing.has_removed {
            folder::note_removal(&self.place.path)?;
            writing.has_removed = true;
        }
        Ok(())
    }

    /// Writes all files anew that have removed pieces, however large they are.
    pub(super) fn expunge_all(&self, writing: &mut Writing) -> Result<(), SearchError> {
        if writing.has_removed {
            // A writer is needed, and nothing pending.
            self.write_with(writing, |_| Ok(()))?;
            self.commit_with(writing)?;
            self.expunge(writing, Effort::All);
        }
        Ok(())
    }

    /// Writes the files anew that have removed pieces, right after a commit. What fails is tried again when the index rests.
    pub(super) fn expunge(&self, writing: &mut Writing, effort: Effort) {
        if !writing.has_removed {
            return;
        }
        let Some(writer) = &mut writing.writer else { return };
        let expunged = guarded(|| {
            let mut segments = self.inner.searchable_segment_metas()?;
            segments.retain(tantivy::SegmentMeta::has_deletes);
            let pieces: u64 = segments.iter().map(|segment| u64::from(segment.max_doc())).sum();
            if effort == Effort::Little && pieces > AT_ONCE_PIECES {
                return Ok(false);
            }
            let ids: Vec<_> = segments.iter().map(tantivy::SegmentMeta::id).collect();
            // Files are kept for whoever holds their description.
            drop(segments);
            if !ids.is_empty() {
                // Those that are in a merge already are refused, with all others; that merge does the same for them.
                writer.merge(&ids).wait()?;
            }
            self.reload()?;
            writer.garbage_collect_files().wait()?;
            Ok(true)
        });
        folder::close_to_others(&self.place.path);
        if matches!(expunged, Ok(true)) && folder::forget_removal(&self.place.path).is_ok() {
            writing.has_removed = false;
        }
    }
}
