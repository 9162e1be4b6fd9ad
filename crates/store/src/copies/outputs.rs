//! `outputs.json`: what the session's agent showed and is still kept, as an index of the files in `outputs/`.
//!
//! Invariants: it lists outputs of finished turns alone, as the other files do, and is there if there are any. It is written
//! before the lines of those turns, so that an output of a line that it does not list was removed. Whoever fills a log from a
//! copy takes one for removed only if its bytes are not there either: a lost index loses nothing.

use std::collections::{BTreeSet, HashMap};

use model::{Output, OutputId, OutputRow, Seq, Session, Timestamp, Turn, one_line};
use serde::{Deserialize, Serialize};

use crate::copies::folder::Folder;
use crate::{CopyError, ReadError, Reader};

pub(super) const NAME: &str = "outputs.json";
/// A longer one is not read back into a log.
const MAX_BYTES: u64 = 64 << 20;
const FORMAT: u32 = 1;
/// The folder with the bytes.
const FOLDER: &str = "outputs";
/// How many rows are read at a time.
const ROWS: usize = 500;
/// How much of a command is shown; the whole is in the transcript.
const COMMAND_CHARS: usize = 500;

/// What the file of a session that stands like this should be.
pub(super) struct WantedIndex {
    /// Its content; `None` if there are no outputs of finished turns.
    pub(super) bytes: Option<Vec<u8>>,
    /// The turn that runs, if it has outputs, which are left out until it ends.
    pub(super) held_back: Option<Turn>,
}

#[derive(Serialize)]
struct Index {
    format: u32,
    outputs: Vec<Listed>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    turn: Turn,
    created_at: Timestamp,
    /// Where its bytes are, below `outputs/`.
    file: String,
    #[serde(flatten)]
    output: Output,
}

impl Listed {
    fn of(row: OutputRow) -> Self {
        let OutputRow { turn, stored_at, mut output, .. } = row;
        output.about.command = output.about.command.map(|command| one_line(&command, COMMAND_CHARS));
        Self { turn, created_at: stored_at, file: output.file_name(), output }
    }
}

/// Lists the outputs of a session.
pub(super) async fn index(store: &dyn Reader, session: &Session) -> Result<WantedIndex, ReadError> {
    let (mut outputs, mut held_back, mut after) = (Vec::new(), None, Seq::START);
    let running = session.row.running.map(|running| running.turn);
    loop {
        let rows = store.outputs(session.row.id, after, ROWS).await?;
        let Some(last) = rows.last() else { break };
        after = last.stored_seq;
        for row in rows.into_iter().filter(|row| row.stored_seq <= session.head) {
            if running == Some(row.turn) {
                held_back = running;
            } else {
                outputs.push(Listed::of(row));
            }
        }
    }
    if outputs.is_empty() {
        return Ok(WantedIndex { bytes: None, held_back });
    }
    let index = Index { format: FORMAT, outputs };
    let mut bytes = serde_json::to_vec_pretty(&index).expect("it holds only texts, numbers and instants");
    bytes.push(b'\n');
    Ok(WantedIndex { bytes: Some(bytes), held_back })
}

/// Whether the file is what it should be, however long that is.
pub(super) fn is_written(folder: Option<&Folder>, wanted: Option<&[u8]>) -> Result<bool, CopyError> {
    match (folder, wanted) {
        (Some(folder), Some(wanted)) => Ok(folder.read_ours(NAME, wanted.len() as u64)?.as_deref() == Some(wanted)),
        (Some(folder), None) => Ok(folder.mark(NAME)?.is_none()),
        (None, wanted) => Ok(wanted.is_none()),
    }
}

/// What a copy's folder says of outputs.
#[derive(Debug, Default)]
pub(super) struct KeptOutputs {
    /// When each was shown, and in which turn.
    listed: HashMap<OutputId, (Turn, Timestamp)>,
    /// Those whose bytes are there.
    with_bytes: BTreeSet<OutputId>,
}

impl KeptOutputs {
    pub(super) fn read(folder: &Folder) -> Result<Self, CopyError> {
        #[derive(Deserialize)]
        struct Found {
            outputs: Vec<FoundOutput>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct FoundOutput {
            id: OutputId,
            turn: Turn,
            created_at: Timestamp,
        }
        let bytes = folder.read_ours(NAME, MAX_BYTES)?;
        // One that somebody broke is as good as none.
        let found: Option<Found> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let listed = found.into_iter().flat_map(|found| found.outputs);
        let listed = listed.map(|output| (output.id, (output.turn, output.created_at))).collect();
        let names = match folder.find_child(FOLDER) {
            Ok(Some(folder)) => folder.names()?,
            // Behind a link is nothing of ours.
            Ok(None) | Err(CopyError::Foreign { .. }) => Vec::new(),
            Err(err) => return Err(err),
        };
        let with_bytes = names.iter().filter_map(|name| name.split('.').next()?.parse().ok()).collect();
        Ok(Self { listed, with_bytes })
    }

    /// When an output of this turn was shown, if that is known.
    pub(super) fn shown_at(&self, id: OutputId, turn: Turn) -> Option<Timestamp> {
        self.listed.get(&id).filter(|(listed, _)| *listed == turn).map(|(_, at)| *at)
    }

    /// Whether an output that a turn showed is still kept.
    pub(super) fn keeps(&self, id: OutputId) -> bool {
        self.listed.contains_key(&id) || self.with_bytes.contains(&id)
    }
}
