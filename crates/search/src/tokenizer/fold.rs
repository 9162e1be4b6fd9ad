//! One form for all spellings of a letter: composed, and small. Not a locale's lower-case: `İ`, `I` and `i` are one
//! letter here, and so are `ß` and `ss`, in every language.

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Adds the folded form of `text`.
pub(crate) fn fold_into(text: &str, folded: &mut String) {
    if text.is_ascii() {
        let from = folded.len();
        folded.push_str(text);
        folded[from..].make_ascii_lowercase();
    } else if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        text.chars().for_each(|c| fold_char(c, folded));
    } else {
        text.nfc().for_each(|c| fold_char(c, folded));
    }
}

/// Adds the folded form of one character.
pub(crate) fn fold_char(c: char, folded: &mut String) {
    match c {
        c if c.is_ascii() => folded.push(c.to_ascii_lowercase()),
        'ß' | 'ẞ' => folded.push_str("ss"),
        'ς' => folded.push('σ'),
        'İ' => folded.push('i'),
        c => folded.extend(c.to_lowercase()),
    }
}
