//! A marker of an output is found where a whole one begins a text, and nowhere else.

use model::{OutputId, OutputMarker};

const ID_BYTES: usize = 16;

/// Any bytes, as text: as they are, behind the beginning of a marker, and behind a whole one.
pub fn check_marker(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for text in [text.to_string(), format!("[output:{text}"), format!("[output:out_{text}")] {
        match OutputMarker::at_start(&text) {
            Some((marker, rest)) => assert_eq!(format!("{marker}{rest}"), text, "a marker has one spelling"),
            None => assert!(!begins_with_marker(text.as_bytes()), "{text:?} begins with a marker"),
        }
    }
    if let Some((id, rest)) = bytes.split_first_chunk::<ID_BYTES>() {
        let (marker, rest) = (OutputMarker(OutputId::from_bytes(*id)), String::from_utf8_lossy(rest));
        assert_eq!(OutputMarker::at_start(&format!("{marker}{rest}")), Some((marker, &*rest)));
    }
}

/// The same by counting bytes.
fn begins_with_marker(text: &[u8]) -> bool {
    let Some((digits, rest)) = text.strip_prefix(b"[output:out_").and_then(<[u8]>::split_first_chunk::<32>) else {
        return false;
    };
    digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) && rest.first() == Some(&b']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_tricks_find_no_marker() {
        for text in [
            "",
            "[output:out_0123456789abcdef0123456789abcdef] The person sees a",
            "[output:out_0123456789ABCDEF0123456789abcdef]",
            "[output:out_0123456789abcdef0123456789abcdef",
            "[output:out_0123456789abcdef0123456789abcdef0]",
            "[output:out_+123456789abcdef0123456789abcdef]",
            "[output:out_0123456789abcdef0123456789abcd\u{fc}]",
            "[output:x] Waiting:",
            "+123456789abcdef0123456789abcdef]",
            "0123456789abcdef0123456789abcdef]",
        ] {
            check_marker(text.as_bytes());
        }
        check_marker(b"[output:out_\xff\xfe]");
    }
}
