//! `transcript.jsonl`: a line per finished turn, in order.
//!
//! Invariant: lines are only added at the end of those that are whole; what a crash left after the last line end is cut
//! off first. A file whose end is not ours is not added to: it is written anew beside its place and moved there.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

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

/// A transcript that is being written.
pub(super) struct Writing {
    folder: Folder,
    file: File,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Where it belongs.
    Own,
    /// Likewise, and nothing was there before.
    New,
    /// Next to it.
    Beside,
}

impl Writing {
    /// Goes on after the line that ends at `at`.
    pub(super) fn after(folder: Folder, at: u64) -> Result<Self, CopyError> {
        let mut file = folder.file_in_place(NAME)?;
        file.set_len(at).and_then(|()| file.seek(SeekFrom::Start(at))).map_err(io_error(&folder.path_of(NAME)))?;
        let place = if at == 0 { Place::New } else { Place::Own };
        Ok(Self { folder, file, place })
    }

    /// Begins a file that will take the other's place.
    pub(super) fn anew(folder: Folder) -> Result<Self, CopyError> {
        let file = folder.file_beside(NAME)?;
        Ok(Self { folder, file, place: Place::Beside })
    }

    pub(super) fn add(mut self, lines: &[u8]) -> Result<Self, CopyError> {
        self.file.write_all(lines).map_err(io_error(&self.folder.path_of(NAME)))?;
        Ok(self)
    }

    pub(super) fn finish(self) -> Result<(), CopyError> {
        match self.place {
            // Its length is data too: a line that is not reached is not there.
            Place::Own => self.file.sync_data().map_err(io_error(&self.folder.path_of(NAME))),
            Place::New => {
                self.file.sync_data().map_err(io_error(&self.folder.path_of(NAME)))?;
                self.folder.sync()
            }
            Place::Beside => self.folder.put_in_place(NAME, &self.file),
        }
    }
}

/// Compares a transcript with what it should be, a piece at a time.
pub(super) struct Comparing {
    file: Option<File>,
}

impl Comparing {
    pub(super) fn begin(folder: Option<&Folder>) -> Result<Self, CopyError> {
        let file = match folder.map(|folder| folder.find_file(NAME)) {
            None => None,
            Some(Ok(file)) => file,
            Some(Err(err)) => return Err(err),
        };
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
