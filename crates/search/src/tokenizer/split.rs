//! The parts of a piece of an identifier that has no separators: at humps of letters, and between letters and digits.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

/// What changes so often between letters and digits is a hash, whose parts mean nothing.
const MAX_CHANGES: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
}

/// Adds the parts of `text[range]`.
pub(super) fn split_component(text: &str, range: Range<usize>, parts: &mut Vec<Range<usize>>) {
    if range.is_empty() {
        return;
    }
    let before = parts.len();
    let mut changes = 0;
    let mut start = range.start;
    let mut previous: Option<(usize, Class)> = None;
    let mut two_before: Option<Class> = None;
    for (at, c) in text[range.clone()].char_indices() {
        let at = range.start + at;
        let Some(class) = class_of(c) else { continue };
        if let Some((last_at, last)) = previous {
            let border = match (last, class) {
                (Class::Lower, Class::Upper) => Some(at),
                // The last capital of several begins the next word: `HTTPServer`.
                (Class::Upper, Class::Lower) if two_before == Some(Class::Upper) => Some(last_at),
                (Class::Digit, Class::Upper | Class::Lower) | (Class::Upper | Class::Lower, Class::Digit) => {
                    changes += 1;
                    Some(at)
                }
                _ => None,
            };
            if let Some(border) = border.filter(|border| *border > start) {
                parts.push(start..border);
                start = border;
            }
            two_before = Some(last);
        }
        previous = Some((at, class));
    }
    parts.push(start..range.end);
    if changes > MAX_CHANGES {
        parts.truncate(before);
        parts.push(range);
    }
}

/// `None` for a mark, which belongs to the letter before it.
fn class_of(c: char) -> Option<Class> {
    match c {
        '0'..='9' => Some(Class::Digit),
        'A'..='Z' => Some(Class::Upper),
        c if c.is_ascii() => Some(Class::Lower),
        c if is_combining_mark(c) => None,
        c if c.is_numeric() => Some(Class::Digit),
        c if c.is_uppercase() => Some(Class::Upper),
        _ => Some(Class::Lower),
    }
}
