//! The conditions under which a file is written, as headers say them.
//!
//! Invariant: a condition that is not understood is refused. To leave it out would write over what it protects.

use axum::http::{HeaderMap, HeaderName, header};
use engine::{ContentHash, Expected};

use crate::error::ApiError;

/// `If-Match` with the tags that an answer had, or `*` for any file; or `If-None-Match: *` for none.
pub(crate) fn expected(headers: &HeaderMap) -> Result<Expected, ApiError> {
    let (one_of, none_of) = (parts(headers, &header::IF_MATCH)?, parts(headers, &header::IF_NONE_MATCH)?);
    match (one_of.as_deref(), none_of.as_deref()) {
        (None, None) => Ok(Expected::Anything),
        (None, Some(["*"])) => Ok(Expected::Nothing),
        (Some(["*"]), None) => Ok(Expected::AnyFile),
        (Some(tags), None) => {
            let hashes: Result<Vec<Option<ContentHash>>, ApiError> = tags.iter().map(|tag| hash(tag)).collect();
            Ok(Expected::OneOf(hashes?.into_iter().flatten().collect()))
        }
        (_, Some(_)) => Err(ApiError::InvalidCondition),
    }
}

/// The tag of a content.
pub(crate) fn tag(hash: &ContentHash) -> String {
    format!("\"{hash}\"")
}

fn parts<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<Vec<&'a str>>, ApiError> {
    let mut found = None;
    for value in headers.get_all(name) {
        let text = value.to_str().map_err(|_| ApiError::InvalidCondition)?;
        found.get_or_insert_with(Vec::new).extend(text.split(',').map(str::trim));
    }
    Ok(found)
}

/// The content that a tag stands for; `None` for a tag that is not one of ours, or a weak one: it matches nothing.
fn hash(tag: &str) -> Result<Option<ContentHash>, ApiError> {
    let (is_weak, tag) = tag.strip_prefix("W/").map_or((false, tag), |tag| (true, tag));
    let inside = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).ok_or(ApiError::InvalidCondition)?;
    Ok(inside.parse().ok().filter(|_| !is_weak))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[(&'static str, &str)]) -> Option<Expected> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        expected(&headers).ok()
    }

    #[test]
    fn conditions_are_read_or_refused() {
        let (one, two) = (ContentHash::of(b"1"), ContentHash::of(b"2"));
        let (first, second) = (tag(&one), tag(&two));
        let both = format!("{first} , {second}");
        let weak = format!("W/{first}");
        for (lines, expected) in [
            (vec![], Some(Expected::Anything)),
            (vec![("if-none-match", "*")], Some(Expected::Nothing)),
            (vec![("if-match", "*")], Some(Expected::AnyFile)),
            (vec![("if-match", first.as_str())], Some(Expected::OneOf(vec![one]))),
            (vec![("if-match", &both)], Some(Expected::OneOf(vec![one, two]))),
            (vec![("if-match", &first), ("if-match", &second)], Some(Expected::OneOf(vec![one, two]))),
            (vec![("if-match", &weak)], Some(Expected::OneOf(vec![]))),
            (vec![("if-match", "\"else\"")], Some(Expected::OneOf(vec![]))),
            (vec![("if-match", "")], None),
            (vec![("if-match", &first[1..])], None),
            (vec![("if-match", "*, *")], None),
            (vec![("if-none-match", &first)], None),
            (vec![("if-match", "*"), ("if-none-match", "*")], None),
        ] {
            assert_eq!(of(&lines), expected, "{lines:?}");
        }
    }
}
