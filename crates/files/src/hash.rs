//! Names the content of a file, so that a writer can say which content it means to replace.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::FileError;

/// A longer file has no hash here: to read it whole only for that would take too long.
const MAX_HASHED_BYTES: u64 = 64 << 20;

/// The SHA-256 of a file's content; it is shown and parsed as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentHash([u8; 32]);

/// A text that is no hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a hash has 64 hexadecimal digits in lower case")]
pub struct HashError;

/// What must be at a path for a write to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Whatever there is.
    Anything,
    /// Nothing at all.
    Nothing,
    /// A file with any content.
    AnyFile,
    /// A file with one of these contents, or with the one that is to be written: then the write has happened already.
    OneOf(Vec<ContentHash>),
}

impl ContentHash {
    /// The hash of this content.
    pub fn of(content: &[u8]) -> Self {
        Self(Sha256::digest(content).into())
    }

    /// The hash of an open file; `None` if it is too long.
    fn of_file(file: &File) -> Result<Option<Self>, io::Error> {
        if file.metadata()?.len() > MAX_HASHED_BYTES {
            return Ok(None);
        }
        let mut sha = Sha256::new();
        // It may be growing.
        let read = io::copy(&mut file.take(MAX_HASHED_BYTES + 1), &mut sha)?;
        Ok((read <= MAX_HASHED_BYTES).then(|| Self(sha.finalize().into())))
    }
}

impl Expected {
    pub(crate) fn needs_a_file(&self) -> bool {
        match self {
            Self::Anything | Self::Nothing => false,
            Self::AnyFile | Self::OneOf(_) => true,
        }
    }

    /// Refuses to write `new` over what is there now.
    pub(crate) fn check(&self, now: Option<&File>, new: &[u8]) -> Result<(), FileError> {
        let is_met = match (self, now) {
            (Self::Anything, _) | (Self::Nothing, None) | (Self::AnyFile, Some(_)) => true,
            (Self::Nothing, Some(_)) | (Self::AnyFile | Self::OneOf(_), None) => false,
            (Self::OneOf(hashes), Some(file)) => {
                let is_one = |now: ContentHash| hashes.contains(&now) || now == ContentHash::of(new);
                ContentHash::of_file(file)?.is_some_and(is_one)
            }
        };
        if is_met { Ok(()) } else { Err(FileError::Changed) }
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for ContentHash {
    type Err = HashError;

    fn from_str(text: &str) -> Result<Self, HashError> {
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => Ok(digit - b'0'),
            b'a'..=b'f' => Ok(digit - b'a' + 10),
            _ => Err(HashError),
        };
        let mut hash = [0; 32];
        if text.len() != 2 * hash.len() {
            return Err(HashError);
        }
        for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = (digit(digits[0])? << 4) | digit(digits[1])?;
        }
        Ok(Self(hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_shown_and_parsed() {
        let hash = ContentHash::of(b"abc");
        assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hash.to_string().parse(), Ok(hash));
        for text in ["", "ba78", &"g".repeat(64), &"A".repeat(64), &"é".repeat(32), &"0".repeat(65)] {
            assert_eq!(text.parse::<ContentHash>(), Err(HashError), "{text}");
        }
    }
}
