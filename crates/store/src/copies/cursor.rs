//! `copies.json`: up to which entry of the log the copies are true.
//!
//! Invariant: it is written after everything that it speaks for is flushed, so it may be behind the copies and is never
//! ahead of them. It is also how a log that has lost entries is recognised, so within one incarnation of the store its position never
//! goes back, and whoever wants the copies gone through again does not take it away. One that says nothing sensible is as
//! good as none: the copies are then compared from the beginning. So they are when it speaks for copies of another shape.

use model::{Incarnation, Position};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::copies::folder::Folder;
use crate::copies::meta::FORMAT;
use crate::copies::{Copies, blocking};
use crate::{CopyError, Log};

const NAME: &str = "copies.json";
const MAX_BYTES: u64 = 4 << 10;

/// Where the follower that writes the copies has got to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyCursor {
    /// The incarnation of the store in which the position was given.
    #[serde(serialize_with = "write_incarnation", deserialize_with = "read_incarnation")]
    pub incarnation: Incarnation,
    /// The last entry that the copies know of, also while they are gone through again.
    pub position: Position,
    /// Up to where they have been gone through again.
    #[serde(default, skip_serializing_if = "is_start")]
    pub rewritten: Position,
    /// What is being done to them.
    #[serde(default, skip_serializing_if = "Phase::is_following")]
    pub phase: Phase,
}

/// A cursor as it lies there.
#[derive(Serialize, Deserialize)]
struct Noted {
    /// The shape of the copies that it speaks for; the first one was not noted.
    #[serde(default = "first_format")]
    format: u32,
    #[serde(flatten)]
    cursor: CopyCursor,
}

/// What is being done to the copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// They follow the log: what changed is looked at from its end.
    #[default]
    Following,
    /// They are gone through whole, because they may be another store's or edited.
    Rewriting,
    /// The log has lost entries that they know of; they are about to be moved aside.
    Lost,
}

impl Phase {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    fn is_following(&self) -> bool {
        *self == Self::Following
    }
}

impl CopyCursor {
    /// At the beginning of an incarnation of the store: everything is to be gone through.
    pub fn new(incarnation: Incarnation) -> Self {
        Self { incarnation, position: Position(0), rewritten: Position(0), phase: Phase::Rewriting }
    }

    /// Whether the copies know of entries that this log does not have: it lost them, or it is another incarnation, as when an
    /// old file is put back. Such copies may be all that is left, and are not written over.
    pub fn is_ahead_of(&self, log: &dyn Log) -> bool {
        let known = if self.incarnation == log.incarnation() { log.last_position() } else { Position(0) };
        self.phase == Phase::Lost || self.position > known
    }
}

impl Copies {
    /// Up to where the copies are true; `None` if that is not known.
    pub async fn cursor(&self) -> Result<Option<CopyCursor>, CopyError> {
        let path = self.path.clone();
        blocking(move || {
            let Some(folder) = Folder::find(&path)? else { return Ok(None) };
            Ok(folder.read_ours(NAME, MAX_BYTES)?.and_then(|content| understand(&content)))
        })
        .await
    }

    /// Notes up to where the copies are true.
    pub async fn move_cursor(&self, cursor: CopyCursor) -> Result<(), CopyError> {
        let path = self.path.clone();
        blocking(move || {
            let noted = Noted { format: FORMAT, cursor };
            let mut content = serde_json::to_vec(&noted).expect("a cursor is numbers and a word");
            content.push(b'\n');
            let folder = Folder::make(&path)?;
            match cursor.phase {
                // One that is behind costs a second look, so the move itself need not survive the power.
                Phase::Following => folder.write_whole_soon(NAME, &content),
                Phase::Rewriting if cursor.rewritten > Position(0) => folder.write_whole_soon(NAME, &content),
                Phase::Rewriting | Phase::Lost => folder.write_whole(NAME, &content),
            }
        })
        .await
    }

    /// Has every copy gone through whole, and rewritten where it is not what the log says, by the next follower. What the
    /// cursor knows of the log stays.
    pub async fn ask_for_rewriting(&self) -> Result<(), CopyError> {
        match self.cursor().await? {
            Some(cursor) if cursor.phase != Phase::Lost => {
                let again = CopyCursor { phase: Phase::Rewriting, rewritten: Position(0), ..cursor };
                self.move_cursor(again).await
            }
            // Without one everything is gone through anyway; those of a log that lost entries are moved aside.
            Some(_) | None => Ok(()),
        }
    }
}

fn understand(content: &[u8]) -> Option<CopyCursor> {
    let Noted { format, cursor } = serde_json::from_slice(content).ok()?;
    match cursor.phase {
        // Nothing else would bring a session's copy to the newest shape in which nothing happens any more.
        Phase::Following | Phase::Rewriting if format != FORMAT => {
            Some(CopyCursor { phase: Phase::Rewriting, rewritten: Position(0), ..cursor })
        }
        Phase::Following | Phase::Rewriting | Phase::Lost => Some(cursor),
    }
}

fn first_format() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_start(position: &Position) -> bool {
    *position == Position(0)
}

fn write_incarnation<S: Serializer>(incarnation: &Incarnation, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(incarnation)
}

fn read_incarnation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Incarnation, D::Error> {
    let text = String::deserialize(deserializer)?;
    u64::from_str_radix(&text, 16).map(Incarnation::from_bits).map_err(de::Error::custom)
}
