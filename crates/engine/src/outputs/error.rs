//! Why something was not shown, or is not found; `server/src/error.rs` maps each to a status.

use agents::embed::{EmbedAddressError, EmbedError};
use agents::process::LaunchError;
use files::FileError;
use model::{BodyHash, OutputId};
use store::PayloadError;

use crate::{QueryError, ReadError, SubmitError};

/// Why something was not shown, or is not found.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The session has no such output.
    #[error("the session has no output {0}, or it was removed; `outputs` lists those it has")]
    NotFound(OutputId),
    /// Its bytes are not where they were stored.
    #[error("the bytes of {0} are gone: its file was moved or removed")]
    Gone(OutputId),
    /// No entry of the session names such a body.
    #[error("no entry of the session names the body {0}")]
    NoSuchBody(BodyHash),
    /// A body is not where it was stored.
    #[error("the bytes of {0} are gone: their file was moved or removed")]
    BodyGone(BodyHash),
    /// Somebody edited a body's file.
    #[error("the bytes of {0} are not those that were stored: their file was edited")]
    BodyChanged(BodyHash),
    /// It is longer than one output may be.
    #[error(
        "it has more than {} MiB, which is the most for one output; show fewer lines, or raise outputs.max_mb in config.toml",
        .max >> 20
    )]
    TooLarge {
        /// How many bytes are taken.
        max: u64,
    },
    /// The session's outputs are as many as they may be.
    #[error(transparent)]
    SessionFull(OutputsFull),
    /// No space is left on the disk.
    #[error("no space is left on the disk for it; make room and try again")]
    DiskFull(#[source] PayloadError),
    /// It is no picture that a browser shows.
    #[error("this is no PNG, JPEG, GIF, WebP or SVG picture; render_file_contents shows text")]
    NotAPicture,
    /// It is a text of which these lines were asked for, and it has fewer.
    #[error("start_line {start_line} comes after the last line, {lines}")]
    NoSuchLine {
        /// Which was asked for.
        start_line: u64,
        /// How many there are.
        lines: u64,
    },
    /// The lines lie further in the file than is looked.
    #[error(
        "the lines go on behind the first {} MiB of the file, {lines} lines, which is as far as lines are counted; give an \
         end_line before that, or show the command that prints them",
        .max_bytes >> 20
    )]
    LinesTooFar {
        /// How far is looked.
        max_bytes: u64,
        /// How many lines begin up to there.
        lines: u64,
    },
    /// It is no text in which lines could be looked for.
    #[error("this output is no text; download it instead")]
    NotText,
    /// There is nothing to run.
    #[error("the command is empty, or holds a zero byte; give a line for the shell")]
    NoCommand,
    /// The command is longer than one that is shown may be.
    #[error("the command has more than {max} bytes; write it into a file, and run that")]
    CommandTooLong {
        /// How many bytes are taken.
        max: usize,
    },
    /// So many wait or run at this moment.
    #[error("{max} commands of {of} wait or run at this moment, and no more do at once; wait until one has ended")]
    TooManyCommands {
        /// How many may.
        max: usize,
        /// Whose they are.
        of: &'static str,
    },
    /// The command's process could not be started.
    #[error("the command could not be started; try again, or run it with your own tools")]
    NotStarted(#[source] LaunchError),
    /// There are no cards of such addresses.
    #[error(transparent)]
    NoCard(#[from] EmbedAddressError),
    /// The site has nothing there.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The file can not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Its bytes could not be stored or read.
    #[error("the output's bytes could not be stored or read")]
    Payload(#[source] PayloadError),
    /// The session did not take it.
    #[error(transparent)]
    Submit(SubmitError),
    /// The session could not be read.
    #[error(transparent)]
    Query(#[from] QueryError),
}

/// A session has no room for another output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the session has {count} outputs with {} MiB, and no room for another: at most {max_count} with {} MiB are kept; \
     go on in a new session, or raise {} in config.toml",
    .bytes >> 20,
    .max_bytes >> 20,
    self.setting()
)]
pub struct OutputsFull {
    /// How many there are.
    pub count: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// How many there may be.
    pub max_count: u64,
    /// How many bytes they may have.
    pub max_bytes: u64,
}

impl OutputsFull {
    /// The setting that stands in the way.
    fn setting(&self) -> &'static str {
        if self.count >= self.max_count { "outputs.session_count" } else { "outputs.session_mb" }
    }
}

impl From<PayloadError> for OutputError {
    fn from(err: PayloadError) -> Self {
        match err {
            PayloadError::TooLarge { max } => Self::TooLarge { max },
            PayloadError::Full { .. } => Self::DiskFull(err),
            PayloadError::Source(err) => Self::File(err.into()),
            PayloadError::Foreign { .. } | PayloadError::Io { .. } | PayloadError::Closed => Self::Payload(err),
        }
    }
}

impl From<SubmitError> for OutputError {
    fn from(err: SubmitError) -> Self {
        match err {
            SubmitError::OutputsFull(full) => Self::SessionFull(full),
            err => Self::Submit(err),
        }
    }
}

impl From<ReadError> for OutputError {
    fn from(err: ReadError) -> Self {
        Self::Query(err.into())
    }
}
