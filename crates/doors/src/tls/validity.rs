//! Reads from a certificate's DER until when it is valid.
//!
//! Invariant: for any bytes the result is a time or nothing.

/// `YYYYMMDDHHMMSSZ`, which sorts by time.
pub(super) fn end(certificate: &[u8]) -> Option<String> {
    const SEQUENCE: u8 = 0x30;
    const VERSION: u8 = 0xa0;
    const UTC_TIME: u8 = 0x17;
    const GENERALIZED_TIME: u8 = 0x18;
    let (_, certificate, _) = element(certificate)?;
    let (_, mut fields, _) = element(certificate)?;
    if fields.first() == Some(&VERSION) {
        fields = element(fields)?.2;
    }
    // Serial number, algorithm, issuer.
    for _ in 0..3 {
        fields = element(fields)?.2;
    }
    let (tag, validity, _) = element(fields)?;
    let (_, _, rest) = element(validity).filter(|_| tag == SEQUENCE)?;
    let (tag, end, _) = element(rest)?;
    let end = std::str::from_utf8(end).ok().filter(|end| end.ends_with('Z') && end.len() >= 13)?;
    match tag {
        // RFC 5280: a two-digit year from 50 on belongs to the last century.
        UTC_TIME => Some(format!("{}{end}", if end < "50" { "20" } else { "19" })),
        GENERALIZED_TIME => Some(end.to_owned()),
        _ => None,
    }
}

/// Tag, content and the bytes after it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate with only the fields that are skipped on the way.
    fn certificate(time: &[u8]) -> Vec<u8> {
        let wrap = |tag: u8, content: &[u8]| [&[tag, u8::try_from(content.len()).unwrap()], content].concat();
        let validity = wrap(0x30, &[&wrap(0x17, b"250101000000Z"), time].concat());
        let version = wrap(0xa0, &wrap(2, &[2]));
        let fields = [version, wrap(2, &[1]), wrap(0x30, &[]), wrap(0x30, &[]), validity].concat();
        wrap(0x30, &wrap(0x30, &fields))
    }

    #[test]
    fn the_end_is_read_in_both_forms() {
        assert_eq!(end(&certificate(b"\x17\x0d261116000000Z")).as_deref(), Some("20261116000000Z"));
        assert_eq!(end(&certificate(b"\x17\x0d990101000000Z")).as_deref(), Some("19990101000000Z"));
        assert_eq!(end(&certificate(b"\x18\x0f20510101000000Z")).as_deref(), Some("20510101000000Z"));
    }

    #[test]
    fn what_is_cut_off_or_odd_has_no_end() {
        let whole = certificate(b"\x17\x0d261116000000Z");
        for length in 0..whole.len() {
            assert_eq!(end(&whole[..length]), None, "{length}");
        }
        assert_eq!(end(&certificate(b"\x17\x02xZ")), None);
        assert_eq!(end(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
