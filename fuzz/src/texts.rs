//! What is left of a text for a terminal or a model has no escape sequence, nothing hidden and nothing that turns its
//! direction (T24); and an output's id is read only as it is written (T37).

use model::{OutputId, one_line, plain_text};

const LINE_CHARS: usize = 200;

/// Any bytes, as text.
pub fn check_text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let plain = plain_text(&text);
    assert!(!plain.chars().any(|c| is_harmful(c) && !matches!(c, '\n' | '\t')), "{plain:?}");
    assert_eq!(plain_text(&plain), plain, "plain text is left as it is");
    let line = one_line(&text, LINE_CHARS);
    assert!(!line.chars().any(is_harmful) && line.chars().count() <= LINE_CHARS, "{line:?}");
    if let Ok(id) = text.parse::<OutputId>() {
        assert_eq!(id.to_string(), text);
    }
}

fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_tricks_leave_nothing_behind() {
        for text in [
            "\u{1b}]52;c;aGk=\u{7}",
            "\u{1b}]8;;https://a.example\u{1b}\\link\u{1b}]8;;\u{1b}\\",
            "\u{1b}",
            "\u{1b}[",
            "\u{9b}31m",
            "\u{90}q\u{9c}",
            "\u{1b}\u{1b}[31mred",
            "\u{202e}txt.exe",
            "\u{e0041}\u{e0042}",
            "a\r\nb\rc\u{2028}d",
            "out_0123456789abcdef0123456789abcdef",
            "out_0123456789ABCDEF0123456789abcdef",
        ] {
            check_text(text.as_bytes());
        }
        check_text(b"\xff\xfe\x1b]0;\xff");
    }
}
