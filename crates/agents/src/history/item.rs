//! The items that a reading emits, its limits, and its errors.

use model::{AgentReport, Image, Stop, Timestamp};

use super::Bookmark;

/// An item of a conversation, in the order of the record.
///
/// A turn is a [`HistoryItem::Prompt`], its reports and a [`HistoryItem::TurnEnd`], and is always emitted whole.
/// Calls and blocks of a turn are numbered like those of an agent that is hosted here. Times are those of the record.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly all of them are reports")]
pub enum HistoryItem {
    /// Once, before the first turn.
    Session(Conversation),
    /// A turn begins with the person's prompt.
    Prompt {
        /// When it was sent.
        at: Timestamp,
        /// The text; one that is longer than a prompt may be is cut.
        text: String,
        /// Small images that went with it. The text mentions larger ones with their size.
        images: Vec<Image>,
    },
    /// What the agent did: `Text`, `Thought`, `ToolStarted`, `ToolChanged`, `Plan`, `Usage`, `Title`, `Noticed`,
    /// `Compacted`; no other kind. A final status ends a call.
    Report {
        /// When it happened.
        at: Timestamp,
        /// What happened.
        report: AgentReport,
    },
    /// The turn has ended and is complete.
    TurnEnd {
        /// When it ended.
        at: Timestamp,
        /// How it ended.
        stop: Stop,
        /// The bookmark after this turn.
        bookmark: Bookmark,
    },
}

/// The header of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The directory in which it was held; empty if the record does not say.
    pub cwd: String,
    /// The title that the tool or the person gave it before its first turn.
    pub title: Option<String>,
    /// When it began.
    pub created_at: Timestamp,
    /// The model that answered first.
    pub model: Option<String>,
    /// The version of the tool that wrote it.
    pub version: Option<String>,
}

/// What to do with a last turn that no other prompt follows, to which more may be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastTurn {
    /// It waits for the next reading.
    Wait,
    /// It is emitted if the record says that it has ended.
    IfEnded,
    /// It is emitted, as interrupted if it has no end. For a record that is no longer written: what is added to this
    /// turn later belongs to no turn and is left out.
    Emit,
}

/// How much is read and kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryLimits {
    /// A longer line or row is left out.
    pub record_bytes: usize,
    /// How much of a turn is buffered; tool output beyond it is left out.
    pub turn_bytes: usize,
    /// An image with more Base64 than this is only mentioned.
    pub image_bytes: usize,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self { record_bytes: 16 << 20, turn_bytes: 64 << 20, image_bytes: 512 << 10 }
    }
}

/// The result of a reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The bookmark after the last turn that was ever emitted; for the next reading.
    pub bookmark: Bookmark,
    /// How many turns were emitted now.
    pub turns: u64,
    /// Whether a last turn waits.
    pub is_open: bool,
    /// What was left out, by kind.
    pub skipped: Vec<SkippedRecords>,
}

/// Records that were left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedRecords {
    /// What they were: one of a few fixed texts.
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
    /// The bytes before the bookmark have changed. Read it from the start, or leave it.
    #[error("the transcript was rewritten since it was last read: read it again from the start")]
    Rewritten,
    /// Not a bookmark of ours, or one for another kind of record.
    #[error("the bookmark is not one of this transcript: read it from the start")]
    ForeignBookmark,
    /// The database can not be opened or read, or has an unknown shape.
    #[error("could not read the tool's database: if it goes on, the tool may have a newer version than is known here")]
    Database(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The document is larger than is read at once.
    #[error("the transcript has {bytes} bytes, more than the {limit} that are read at once")]
    TooLarge {
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
}
