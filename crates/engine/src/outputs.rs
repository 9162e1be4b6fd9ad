//! Outputs: what a session's agent shows the person, kept with the session.
//!
//! Invariants: an output's bytes are flushed before the entry that names them is written, and removed again if it is not; what a
//! crash left between the two is swept when the session is settled. A file is read through the session's own directories, like
//! every other path that an agent names. An output is found by its session and its id, never by its id alone.

pub(crate) mod commands;
mod embedding;
mod ends;
mod error;
mod line_range;
mod printed;
mod reading;
mod removing;
mod running;
mod storing;
mod types;

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::sync::Arc;
use std::time::Duration;

use agents::embed::Embeds;
use files::{FileError, Trees};
use model::{AboutOutput, BODY_BYTES, OutputId, OutputKind, OutputRow, Seq, Session, SessionId, SessionRow};
use store::{MemoryPayloads, Payloads};
use tokio::sync::Semaphore;

use crate::directories::from_directory;
use crate::file_inspector::lies_in;
use crate::reading::in_background;
use crate::{Asker, Engine};
pub use commands::{CommandEnd, CommandState, OutputPreview};
pub use ends::OutputEnds;
pub use error::{OutputError, OutputsFull};
use line_range::{LineRange, ScannedLines};
pub use reading::{FoundLine, OutputState, OutputText, TextWish};
pub use removing::{OutputPruning, PruneMode};
pub(crate) use removing::{Removal, removed};
pub use running::{CommandProgress, CommandToShow};
pub(crate) use storing::{NewOutput, OutputShown};
use types::is_text;
pub(crate) use types::picture_type;

/// How many are stored at once: each has a file open and a buffer.
const STORED_AT_ONCE: usize = 4;
/// How much of a file is looked at to see what it is.
const LOOKED_AT_BYTES: usize = 64 << 10;
/// How far into a file lines are counted.
const MAX_SCANNED_BYTES: u64 = 256 << 20;

/// The type of what is text.
const TEXT: &str = "text/plain; charset=utf-8";

/// Where outputs are kept, and how much of them.
#[derive(Clone)]
pub struct OutputSettings {
    /// Where their bytes are.
    pub payloads: Arc<dyn Payloads>,
    /// How many bytes one may have.
    pub max_bytes: u64,
    /// How many bytes those of one session may have, all together.
    pub session_bytes: u64,
    /// How many one session may have.
    pub session_count: u64,
    /// After how many days they are removed; never, unless said.
    pub keep_days: Option<u32>,
    /// How long a command whose output is shown may run.
    pub command_limit: Duration,
    /// Whether agents get only the ends of long terminal text.
    pub shape_terminal: bool,
    /// Texts and pictures that are longer leave the log.
    pub body_bytes: usize,
    /// Who asks sites about their media.
    pub embeds: Embeds,
}

impl OutputSettings {
    /// How many bytes one has at most, unless something else is configured.
    pub const MAX_BYTES: u64 = 100 << 20;
    /// The same for all of a session.
    pub const SESSION_BYTES: u64 = 2 << 30;
    /// The same for how many there are.
    pub const SESSION_COUNT: u64 = 10_000;
    /// The same for how long a command runs.
    pub const COMMAND_LIMIT: Duration = Duration::from_secs(60);

    /// With these limits, kept for ever, and with no network.
    pub fn new(payloads: Arc<dyn Payloads>) -> Self {
        Self {
            payloads,
            max_bytes: Self::MAX_BYTES,
            session_bytes: Self::SESSION_BYTES,
            session_count: Self::SESSION_COUNT,
            keep_days: None,
            shape_terminal: true,
            command_limit: Self::COMMAND_LIMIT,
            body_bytes: BODY_BYTES,
            embeds: Embeds::offline(),
        }
    }

    /// Gone with the process: for tests and measurements.
    pub fn in_memory() -> Self {
        Self::new(Arc::new(MemoryPayloads::default()))
    }
}

/// Where outputs go.
pub(crate) struct Outputs {
    pub(crate) settings: OutputSettings,
    storing: Semaphore,
}

impl Outputs {
    pub(crate) fn new(settings: OutputSettings) -> Self {
        Self { settings, storing: Semaphore::new(STORED_AT_ONCE) }
    }

    /// Where their bytes are.
    pub(crate) fn payloads(&self) -> &Arc<dyn Payloads> {
        &self.settings.payloads
    }
}

/// A file that is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileToShow {
    /// Absolute, or from the session's directory on.
    pub path: String,
    /// The first line, from 1.
    pub start_line: Option<u64>,
    /// The last line, included.
    pub end_line: Option<u64>,
    /// Which language it is coloured as, if that does not follow from its name.
    pub highlight: Option<String>,
}

impl Engine {
    /// Shows the person lines of a text file of the session.
    pub async fn show_text_file(
        &self,
        id: SessionId,
        wanted: FileToShow,
        asker: Asker,
    ) -> Result<OutputRow, OutputError> {
        let FileToShow { path, start_line, end_line, highlight } = wanted;
        let turn = self.turn_to_show_in(id).await?;
        let (path, mut file) = self.open_session_file(id, path).await?;
        let max = self.shared.outputs.settings.max_bytes;
        let looked = in_background(move || {
            let (start, bytes) = beginning(&mut file)?;
            match (is_text(&start, bytes > start.len() as u64), start_line.or(end_line)) {
                (false, _) => Err(FileError::NotText.into()),
                (true, None) if bytes > max => Err(OutputError::TooLarge { max }),
                (true, _) => Ok(file),
            }
        });
        let file = looked.await?;
        let scanned = Arc::new(ScannedLines::default());
        let first = start_line.unwrap_or(1).max(1);
        let lines = LineRange::new(file, MAX_SCANNED_BYTES, first..=end_line.unwrap_or(u64::MAX), Arc::clone(&scanned));
        let about = AboutOutput { path: Some(path), highlight, start_line: Some(first), ..AboutOutput::default() };
        let new = NewOutput {
            kind: OutputKind::File,
            mime_type: TEXT,
            about,
            from: Box::new(lines),
            scanned: Some(scanned),
            shown: OutputShown::Alone,
        };
        self.store_output(id, turn, new, asker).await
    }

    /// Shows the person a picture of the session.
    pub async fn show_picture(&self, id: SessionId, path: String, asker: Asker) -> Result<OutputRow, OutputError> {
        let turn = self.turn_to_show_in(id).await?;
        let (path, mut file) = self.open_session_file(id, path).await?;
        let max = self.shared.outputs.settings.max_bytes;
        let looked = in_background(move || {
            let (start, bytes) = beginning(&mut file)?;
            match picture_type(&start) {
                None => Err(OutputError::NotAPicture),
                Some(_) if bytes > max => Err(OutputError::TooLarge { max }),
                Some(mime_type) => Ok((mime_type, file)),
            }
        });
        let (mime_type, file) = looked.await?;
        let about = AboutOutput { path: Some(path), ..AboutOutput::default() };
        let new = NewOutput {
            kind: OutputKind::Image,
            mime_type,
            about,
            from: Box::new(file),
            scanned: None,
            shown: OutputShown::Alone,
        };
        self.store_output(id, turn, new, asker).await
    }

    /// Opens a file of the session's own directories.
    async fn open_session_file(&self, id: SessionId, path: String) -> Result<(String, File), OutputError> {
        let Session { row, .. } = self.session(id).await?;
        let path = from_directory(&row.cwd, path);
        let (own, trees) = (self.shared.applets.own_place(id), self.session_trees(&row));
        in_background(move || {
            own.check(&path)?;
            let file = trees(&path)?.open(&path)?;
            Ok((path, file))
        })
        .await
    }

    /// Opens the session's own directories, to look up a path in them; off the runtime.
    fn session_trees(&self, row: &SessionRow) -> impl FnOnce(&str) -> Result<Trees, FileError> + Send + use<> {
        let (roots, deny) = (self.shared.file_inspector.roots(row), self.shared.file_inspector.deny.clone());
        move |path| {
            let mut trees = Vec::new();
            for root in &roots {
                match root.open() {
                    Ok(tree) => trees.push(tree),
                    Err(FileError::NotAllowed) => (),
                    Err(_) if lies_in(path, &root.path) => return Err(FileError::NotFound),
                    Err(_) => (),
                }
            }
            Ok(Trees::new(trees).denying(deny))
        }
    }

    /// Whether agents get only the ends of long terminal text.
    pub fn shapes_terminal_text(&self) -> bool {
        self.shared.outputs.settings.shape_terminal
    }

    /// A page of a session's outputs, in the order in which they were shown.
    pub async fn outputs(&self, id: SessionId, after: Seq, limit: usize) -> Result<Vec<OutputRow>, OutputError> {
        self.session(id).await?;
        Ok(self.shared.store.outputs(id, after, limit).await?)
    }

    /// One of them.
    pub async fn output(&self, id: SessionId, output: OutputId) -> Result<OutputRow, OutputError> {
        self.session(id).await?;
        self.shared.store.output(id, output).await?.ok_or(OutputError::NotFound(output))
    }

    /// The sessions that have an output of this id.
    pub async fn sessions_with_output(&self, output: OutputId) -> Result<Vec<SessionId>, OutputError> {
        Ok(self.shared.store.sessions_with_output(output).await?)
    }
}

/// How a file begins, and how long it is. It is left at its beginning.
fn beginning(file: &mut File) -> Result<(Vec<u8>, u64), OutputError> {
    let mut start = Vec::new();
    let mut read = || {
        file.by_ref().take(LOOKED_AT_BYTES as u64).read_to_end(&mut start)?;
        file.rewind()?;
        file.metadata().map(|metadata| metadata.len())
    };
    let bytes = read().map_err(FileError::from)?;
    Ok((start, bytes))
}
