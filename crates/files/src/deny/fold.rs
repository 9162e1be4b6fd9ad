//! Folds all spellings of a name that some file system treats as the same.
//!
//! Invariant: two names that a case-insensitive or normalising file system (APFS, HFS+, ext4 with casefold, NTFS,
//! FAT) opens as one file fold to the same text, except short names such as `GIT~1`. Folding more than any one of
//! them does is harmless here: it protects a little more.

use std::ffi::OsStr;

use unicode_normalization::UnicodeNormalization as _;

/// A name as the rules compare it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folded {
    whole: String,
    /// Without what follows a colon, which names a stream of the same file on NTFS.
    file: String,
}

impl Folded {
    pub(crate) fn new(name: &OsStr) -> Self {
        let whole = fold(&name.to_string_lossy());
        let file = whole.split(':').next().unwrap_or_default();
        Self { file: trim(file).to_owned(), whole }
    }

    /// Whether either form of the name matches.
    pub(super) fn is(&self, matches: impl Fn(&str) -> bool) -> bool {
        matches(&self.whole) || matches(&self.file)
    }
}

pub(super) fn fold(name: &str) -> String {
    let seen = name.chars().filter(|c| !is_ignorable(*c));
    // Upper case before lower case: a long s is lower case already, but only its capital is the letter S.
    let folded: String = seen.nfd().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc().collect();
    trim(&folded).to_owned()
}

fn trim(name: &str) -> &str {
    name.trim_end_matches(|c: char| c == '.' || c.is_whitespace() || c.is_control())
}

/// Unicode's Default_Ignorable_Code_Point, which HFS+ and ext4 skip when they compare.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
