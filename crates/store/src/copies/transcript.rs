//! `transcript.jsonl`: a line per finished turn, in order.
//!
//! Invariant: a file whose end is not ours is not added to: it is written anew beside its place and moved there.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use model::TranscriptTurn;

use crate::CopyError;
use crate::copies::folder::{Folder, io_error, length};
use crate::copies::turn_lines;

pub(super) const NAME: &str = "transcript.jsonl";

/// How much is read at first to find the last line.
const FIRST_LOOK_BYTES: u64 = 16 << 10;
/// A last line that is longer than this is not looked for.
const LAST_LOOK_BYTES: u64 = 64 << 20;

/// How a transcript's file ends.
#[derive(Debug)]
pub(super) enum End {
    /// With nothing of ours.
    Foreign,
    /// With whole lines, or with none at all.
    Ours {
        /// The last whole one.
        last: Option<Box<TranscriptTurn>>,
        /// Where it ends.
        at: u64,
        /// Something follows it that is no line.
        torn: bool,
    },
}

/// Looks at the end of a transcript.
pub(super) fn find_end(folder: &Folder) -> Result<End, CopyError> {
    let file = match folder.find_file(NAME) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(End::Ours { last: None, at: 0, torn: false }),
        Err(CopyError::Foreign { .. }) => return Ok(End::Foreign),
        Err(err) => return Err(err),
    };
    end_of(file).map_err(io_error(&folder.path_of(NAME)))
}

fn end_of(mut file: File) -> io::Result<End> {
    let length = length(&file)?;
    let mut look = FIRST_LOOK_BYTES.min(length);
    loop {
        let mut tail = vec![0; usize::try_from(look).unwrap_or(usize::MAX)];
        file.seek(SeekFrom::Start(length - look))?;
        file.read_exact(&mut tail)?;
        let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let begins = tail[..whole.saturating_sub(1)].iter().rposition(|byte| *byte == b'\n').map(|newline| newline + 1);
        match begins {
            Some(begins) => return Ok(judge(&tail[begins..whole], length - look + whole as u64, length)),
            None if look == length => return Ok(judge(&tail[..whole], whole as u64, length)),
            None if look >= LAST_LOOK_BYTES => return Ok(End::Foreign),
            None => look = (look * 8).min(length),
        }
    }
}

fn judge(line: &[u8], at: u64, length: u64) -> End {
    let torn = at < length;
    if line.is_empty() {
        return End::Ours { last: None, at, torn };
    }
    match serde_json::from_slice::<TranscriptTurn>(line) {
        Ok(turn) if turn_lines::encode(&turn) == line => End::Ours { last: Some(Box::new(turn)), at, torn },
        Ok(_) | Err(_) => End::Foreign,
    }
}

/// Compares a transcript with what it should be, a piece at a time.
pub(super) struct Comparing {
    file: Option<File>,
}

impl Comparing {
    pub(super) fn begin(folder: Option<&Folder>) -> Result<Self, CopyError> {
        let file = folder.map_or(Ok(None), |folder| folder.find_file(NAME))?;
        Ok(Self { file })
    }

    /// Whether the file goes on with `lines`.
    pub(super) fn goes_on_with(&mut self, lines: &[u8]) -> bool {
        let Some(file) = &mut self.file else { return false };
        let mut found = vec![0; lines.len()];
        // What cannot be read is not what it should be.
        file.read_exact(&mut found).is_ok() && found == lines
    }

    /// Whether the file ends here. One that is empty should not be there.
    pub(super) fn ends_here(self) -> bool {
        let Some(mut file) = self.file else { return true };
        let ended = matches!(file.read(&mut [0]), Ok(0));
        ended && length(&file).is_ok_and(|bytes| bytes > 0)
    }
}
