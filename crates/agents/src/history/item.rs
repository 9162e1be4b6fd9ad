//! What a reading emits, how much of it, and how it can fail.

use model::{AgentReport, Image, Stop, Timestamp};

use super::Bookmark;

/// Something that a record says, in the order of the record.
///
/// A turn is a [`HistoryItem::Prompt`], its reports and a [`HistoryItem::TurnEnd`], and always emitted whole. Calls and blocks of a turn
/// are numbered like those of an agent that is hosted here, and times are those of the record.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly all of them are reports")]
pub enum HistoryItem {
    /// Once, ahead of the first turn.
    Session(Conversation),
    /// A turn begins with the person's words.
    Prompt {
        /// When they were sent.
        at: Timestamp,
        /// The words; longer ones than a prompt may have are cut.
        text: String,
        /// Small pictures that went with them. The words say of a larger one how large it was.
        images: Vec<Image>,
    },
    /// What the agent did: `Text`, `Thought`, `ToolStarted`, `ToolChanged`, `Plan`, `Usage`, `Title`, `Noticed`,
    /// `Compacted`; no other kind. A final status ends a call.
    Report {
        /// When it did so.
        at: Timestamp,
        /// What.
        report: AgentReport,
    },
    /// The turn is over, and all of it is emitted.
    TurnEnd {
        /// When.
        at: Timestamp,
        /// How.
        stop: Stop,
        /// Stands behind this turn.
        bookmark: Bookmark,
    },
}

/// What a conversation is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The directory it was held in; empty if the record does not say.
    pub cwd: String,
    /// What the tool or the person called it before its first turn.
    pub title: Option<String>,
    /// When it began.
    pub created_at: Timestamp,
    /// The model that answered first.
    pub model: Option<String>,
    /// The version of the tool that wrote it.
    pub version: Option<String>,
}

/// What becomes of a last turn that no other prompt follows, so that more of it may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastTurn {
    /// It waits for the next reading.
    Wait,
    /// It is emitted if the record says that it has ended.
    IfEnded,
    /// It is emitted; without an end of its own it was interrupted. For a record that nobody writes any more: what is
    /// added to this turn later belongs to none and is left out.
    Tell,
}

/// How much is read and kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryLimits {
    /// A longer line or row is left out.
    pub record_bytes: usize,
    /// How much of a turn is kept at hand; what tools show beyond it is left out.
    pub turn_bytes: usize,
    /// A picture with more Base64 than this is only mentioned.
    pub image_bytes: usize,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self { record_bytes: 16 << 20, turn_bytes: 64 << 20, image_bytes: 512 << 10 }
    }
}

/// What a reading came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Stands behind the last turn that was emitted, now or before; for the next reading.
    pub bookmark: Bookmark,
    /// How many turns were emitted now.
    pub turns: u64,
    /// A last turn waits.
    pub is_open: bool,
    /// What was left out, by what it was.
    pub skipped: Vec<SkippedRecords>,
}

/// Records that were left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedRecords {
    /// What they were, in a few words that are always the same.
    pub what: &'static str,
    /// How many.
    pub count: u64,
}

/// Why a conversation could not be read.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The file or database can not be opened or read.
    #[error("could not read the transcript: check that it is there and may be read")]
    Read(#[from] std::io::Error),
    /// What stands before the bookmark is not what stood there. Read it from the start, or leave it.
    #[error("the transcript was rewritten since it was last read: read it again from the start")]
    Rewritten,
    /// Not a bookmark of ours, or one for another kind of record.
    #[error("the bookmark is not one of this transcript: read it from the start")]
    ForeignBookmark,
    /// The database can not be opened or read, or is of a shape that we do not know.
    #[error("could not read the tool's database: if it goes on, the tool may have a newer version than is known here")]
    Database(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The whole is larger than is read at once.
    #[error("the transcript has {bytes} bytes, more than the {limit} that are read at once")]
    TooLarge {
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
}
