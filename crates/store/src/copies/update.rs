//! Bringing one session's copy up to date with the log.
//!
//! Invariant: the cost is that of what is new. The last line of the file says what was copied; only what ended after it
//! is read from the log. Doing it twice changes nothing, so a crash at any step is mended by doing it again.

use model::{Session, SessionId, Stop, StreamId, Timestamp, TranscriptTurn, Turn, TurnRow};

use crate::copies::copy_writer::{ChangedFiles, CopyWriter, Way};
use crate::copies::folder::{FileMark, Folder};
use crate::copies::meta::{self, Meta};
use crate::copies::transcript::{self, Comparing, End};
use crate::copies::turn_lines::TurnLines;
use crate::copies::{Copies, blocking, outputs};
use crate::{CopyError, Head, ReadError, Reader};

/// How thoroughly a copy is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// From its end, trusting what is before it.
    End,
    /// Every line.
    Whole,
}

/// Whether anything was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Touched {
    Yes,
    No,
}

/// What lies in a session's folder.
struct Standing {
    end: End,
    meta: Option<Vec<u8>>,
    outputs: Option<FileMark>,
}

impl Copies {
    /// Makes a session's copy what the log says. What is written is flushed before this answers. The folder of a session
    /// that was purged is removed; that of one which the store does not know, or which is damaged, is left alone.
    pub async fn update(&self, store: &dyn Reader, id: SessionId, depth: Depth) -> Result<Touched, CopyError> {
        // Before the session's own copy, which shows after a crash that this is still to be done.
        if self.leaves_or_rejoins_its_work(store, id).await? {
            match self.update_works(store).await {
                // The session is not to suffer for what is wrong with the works alone.
                Ok(_) | Err(CopyError::Foreign { .. } | CopyError::Read(ReadError::Fenced(_))) => (),
                Err(err) => return Err(err),
            }
        }
        self.update_session(store, id, depth).await
    }

    /// Whether the session belongs to a piece of work, and was deleted or brought back since its copy was written.
    async fn leaves_or_rejoins_its_work(&self, store: &dyn Reader, id: SessionId) -> Result<bool, CopyError> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Deleted {
            deleted_at: Option<Timestamp>,
        }
        let Some(session) = store.session(id).await?.filter(|session| session.row.work.is_some()) else {
            return Ok(false);
        };
        let Some(meta) = self.look_at_meta(id).await? else { return Ok(false) };
        let was: Option<Deleted> = serde_json::from_slice(&meta).ok();
        Ok(was.is_none_or(|was| was.deleted_at != session.row.deleted_at))
    }

    /// The same, of nothing but the session.
    pub(super) async fn update_session(
        &self,
        store: &dyn Reader,
        id: SessionId,
        depth: Depth,
    ) -> Result<Touched, CopyError> {
        let Some(session) = store.session(id).await? else {
            return match store.head(StreamId::Session(id)).await? {
                Head::Purged => self.remove(id).await,
                Head::At(_) => Ok(Touched::No),
            };
        };
        // What the log lost, the copy may still have.
        if let Some(fence) = store.fence(id) {
            return Err(ReadError::Fenced(fence).into());
        }
        let Standing { end, meta, outputs } = self.look_at(id).await?;
        let wanted = Meta::of(store, &session).await?.encode();
        let index = match depth {
            Depth::End if self.indexes.are_current(store, &session, outputs).await? => None,
            Depth::End | Depth::Whole => Some(outputs::index(store, &session).await?),
        };
        let held_back = index.as_ref().map(|index| index.held_back);
        let files = ChangedFiles {
            meta: (meta.as_ref() != Some(&wanted)).then_some(wanted),
            outputs: match index {
                Some(index) => self.change_of_index(id, index.bytes).await?,
                None => None,
            },
        };

        let mut lines = TurnLines::new(store, &session, Turn(0));
        let way = match (depth, end) {
            (Depth::Whole, _) if self.transcript_is_right(store, &session).await? => Way::Leave,
            (Depth::Whole, _) | (Depth::End, End::Foreign) => Way::Anew,
            (Depth::End, End::Ours { last: None, at, torn }) => Way::GoOn { at, torn },
            (Depth::End, End::Ours { last: Some(last), at, torn }) => {
                let mut after_last = TurnLines::new(store, &session, Turn(last.turn.0.saturating_sub(1)));
                match after_last.next_row().await? {
                    Some(row) if is_same(&row, &last) => {
                        lines = after_last;
                        Way::GoOn { at, torn }
                    }
                    Some(_) | None => Way::Anew,
                }
            }
        };
        let touched = self.write(CopyWriter::new(self.path.clone(), id, way, files), lines).await?;
        if let Some(held_back) = held_back {
            self.indexes.note(&session, held_back, self.mark_of_index(id).await?);
        }
        Ok(touched)
    }

    async fn mark_of_index(&self, id: SessionId) -> Result<Option<FileMark>, CopyError> {
        let path = self.path.clone();
        blocking(move || Folder::find_copy(&path, id)?.map_or(Ok(None), |folder| folder.mark(outputs::NAME))).await
    }

    /// What is to become of `outputs.json`, if it is not as it should be.
    async fn change_of_index(
        &self,
        id: SessionId,
        wanted: Option<Vec<u8>>,
    ) -> Result<Option<Option<Vec<u8>>>, CopyError> {
        let path = self.path.clone();
        blocking(move || {
            let folder = Folder::find_copy(&path, id)?;
            Ok((!outputs::is_written(folder.as_ref(), wanted.as_deref())?).then_some(wanted))
        })
        .await
    }

    async fn look_at_meta(&self, id: SessionId) -> Result<Option<Vec<u8>>, CopyError> {
        let path = self.path.clone();
        blocking(move || {
            let Some(folder) = Folder::find_copy(&path, id)? else { return Ok(None) };
            folder.read_ours(meta::NAME, meta::MAX_BYTES)
        })
        .await
    }

    async fn look_at(&self, id: SessionId) -> Result<Standing, CopyError> {
        let path = self.path.clone();
        blocking(move || {
            let end = End::Ours { last: None, at: 0, torn: false };
            let nothing = Standing { end, meta: None, outputs: None };
            let Some(folder) = Folder::find_copy(&path, id)? else { return Ok(nothing) };
            let meta = folder.read_ours(meta::NAME, meta::MAX_BYTES)?;
            let outputs = folder.mark(outputs::NAME)?;
            Ok(Standing { end: transcript::find_end(&folder)?, meta, outputs })
        })
        .await
    }

    /// Writes a piece at a time. What is to be written is mostly one, so it is looked for whether it is the last.
    async fn write(&self, mut copy: CopyWriter, mut lines: TurnLines<'_>) -> Result<Touched, CopyError> {
        let mut piece = if copy.takes_lines() { lines.next_piece().await? } else { None };
        if piece.is_none() && copy.is_content() {
            return Ok(Touched::No);
        }
        while let Some(lines_now) = piece {
            piece = lines.next_piece().await?;
            let is_last = piece.is_none();
            copy = blocking(move || {
                let copy = copy.add(&lines_now)?;
                if is_last { copy.finish() } else { Ok(copy) }
            })
            .await?;
            if is_last {
                return Ok(Touched::Yes);
            }
        }
        blocking(move || copy.finish()).await?;
        Ok(Touched::Yes)
    }

    /// Whether every line is what the log says.
    pub(super) async fn transcript_is_right(&self, store: &dyn Reader, session: &Session) -> Result<bool, CopyError> {
        let (path, id) = (self.path.clone(), session.row.id);
        let comparing = blocking(move || Comparing::begin(Folder::find_copy(&path, id)?.as_ref()));
        let mut comparing = match comparing.await {
            Ok(comparing) => comparing,
            // A link in place of the file; one in place of the folder is met again by whoever writes.
            Err(CopyError::Foreign { .. }) => return Ok(false),
            Err(err) => return Err(err),
        };
        let mut lines = TurnLines::new(store, session, Turn(0));
        while let Some(piece) = lines.next_piece().await? {
            let same;
            (comparing, same) = blocking(move || {
                let same = comparing.goes_on_with(&piece);
                Ok((comparing, same))
            })
            .await?;
            if !same {
                return Ok(false);
            }
        }
        blocking(move || Ok(comparing.ends_here())).await
    }
}

/// Whether a line is of the turn that the log has under its number.
fn is_same(row: &TurnRow, line: &TranscriptTurn) -> bool {
    let stop = line.outcome.map(|outcome| Stop { outcome, reason: line.reason.clone() });
    row.turn == line.turn
        && row.interaction_id == line.interaction_id
        && row.stop == stop
        && row.started_at == line.started_at
        && row.ended_at == line.ended_at
}
