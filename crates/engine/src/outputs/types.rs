//! Tells by a file's first bytes what it is: its name may say anything.

/// Whether these bytes, with which a file begins, are text; `goes_on` if the file is longer.
pub(super) fn is_text(start: &[u8], goes_on: bool) -> bool {
    let is_utf8 = match std::str::from_utf8(start) {
        Ok(_) => true,
        // The last character may have been cut in two.
        Err(err) => goes_on && err.error_len().is_none(),
    };
    is_utf8 && !start.contains(&0)
}

/// The type of a picture that browsers show.
pub(crate) fn picture_type(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => is_svg(start).then_some("image/svg+xml"),
    }
}

/// Whether the first element is an `svg`, behind declarations and comments.
fn is_svg(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        let end = if rest.starts_with("<?") {
            "?>"
        } else if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<!") {
            ">"
        } else {
            let name = rest.strip_prefix("<svg");
            return name.is_some_and(|after| after.starts_with(|c: char| c.is_whitespace() || c == '>' || c == '/'));
        };
        match rest.split_once(end) {
            Some((_, after)) => rest = after.trim_start(),
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_their_bytes() {
        for (start, expected) in [
            (&b"\x89PNG\r\n\x1a\n...."[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF....WEBPVP8 ", Some("image/webp")),
            (b"<svg xmlns='x'/>", Some("image/svg+xml")),
            (b"<?xml version='1.0'?>\n<!-- a -->\n<!DOCTYPE svg>\n<svg>", Some("image/svg+xml")),
            (b"<html><svg></svg></html>", None),
            (b"<svgx>", None),
            (b"<!-- no end <svg>", None),
            (b"\x89PNG", None),
            (b"", None),
        ] {
            assert_eq!(picture_type(start), expected, "{:?}", String::from_utf8_lossy(start));
        }
    }

    #[test]
    fn text_is_utf8_without_zeros() {
        assert!(is_text("häuser".as_bytes(), false));
        assert!(is_text(b"", false));
        assert!(!is_text(b"a\0b", false));
        assert!(!is_text(&"ä".as_bytes()[..1], false));
        assert!(is_text(&"ä".as_bytes()[..1], true));
        assert!(!is_text(b"\xff\xfe a", true));
    }
}
