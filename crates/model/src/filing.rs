//! How the person keeps a session in the list: pinned, archived, with tags.
//!
//! Invariant: a tag is written in one way, so that two of the same word are one: small letters, without the `#` in front.

use serde::{Deserialize, Serialize};

use crate::limits::{MAX_TAG_CHARS, MAX_TAGS};
use crate::{Rejection, SessionRow, Timestamp};

/// What changed about how a session is kept; only what is present.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Filing {
    /// It stands before all others, or no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// It left the list, or came back by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// All its tags, in the order of the alphabet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
}

/// What somebody wants to change about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilingWish {
    /// To stand before all others, or no more.
    pub pinned: Option<bool>,
    /// To leave the list, or to come back.
    pub archived: Option<bool>,
    /// Which tags it is to have.
    pub tags: Option<TagWish>,
}

/// Which tags a session is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TagWish {
    /// These and no others.
    All(Vec<String>),
    /// Those that it has, with some more and without some.
    Some {
        /// What it is to have as well.
        add: Vec<String>,
        /// What it is to have no more.
        remove: Vec<String>,
    },
}

impl Filing {
    /// Nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Folds the change into a row.
    pub(crate) fn apply(&self, row: &mut SessionRow, at: Timestamp) {
        if let Some(pinned) = self.pinned {
            row.pinned_at = pinned.then_some(at);
        }
        if let Some(archived) = self.archived {
            row.archived_at = archived.then_some(at);
        }
        if let Some(tags) = &self.tags {
            row.tags.clone_from(tags);
        }
    }
}

impl FilingWish {
    /// What of the wish a row does not have yet.
    pub(crate) fn decide(self, row: &SessionRow) -> Result<Filing, Rejection> {
        let Self { pinned, archived, tags } = self;
        let archived = archived.filter(|archived| *archived != row.archived_at.is_some());
        // Out of sight nobody would answer it.
        if archived == Some(true) && !row.open_requests.is_empty() {
            return Err(Rejection::RequestsOpen);
        }
        let tags = tags.map(|wish| wish.decide(&row.tags)).transpose()?;
        Ok(Filing {
            pinned: pinned.filter(|pinned| *pinned != row.pinned_at.is_some()),
            archived,
            tags: tags.filter(|tags| *tags != row.tags),
        })
    }
}

impl TagWish {
    fn decide(self, before: &[String]) -> Result<Vec<String>, Rejection> {
        let clean = |tags: Vec<String>| tags.iter().map(|tag| clean_tag(tag)).collect::<Result<Vec<_>, _>>();
        let mut tags = match self {
            Self::All(tags) => clean(tags)?,
            Self::Some { add, remove } => {
                let (add, remove) = (clean(add)?, clean(remove)?);
                let kept = before.iter().filter(|tag| !remove.contains(tag)).cloned();
                kept.chain(add).collect()
            }
        };
        tags.sort();
        tags.dedup();
        if tags.len() > MAX_TAGS {
            return Err(Rejection::TooManyTags { tags: tags.len() });
        }
        Ok(tags)
    }
}

/// A tag as it is kept.
pub fn clean_tag(tag: &str) -> Result<String, Rejection> {
    let text = tag.trim();
    let text = text.strip_prefix('#').unwrap_or(text).to_lowercase();
    let fits = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    let chars = text.chars().count();
    if chars == 0 || chars > MAX_TAG_CHARS || !text.chars().all(fits) {
        return Err(Rejection::TagInvalid);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(before: &[&str], wish: TagWish) -> Result<Vec<String>, Rejection> {
        let before: Vec<String> = before.iter().map(|tag| (*tag).to_owned()).collect();
        wish.decide(&before)
    }

    fn all(tags: &[&str]) -> TagWish {
        TagWish::All(tags.iter().map(|tag| (*tag).to_owned()).collect())
    }

    #[test]
    fn a_tag_is_written_in_one_way() {
        assert_eq!(clean_tag(" #Bug "), Ok("bug".to_owned()));
        assert_eq!(clean_tag("area/Über-1.2_x"), Ok("area/über-1.2_x".to_owned()));
        for bad in ["", "#", "two words", "a,b", "a\u{202e}", "##x", "<b>", &"x".repeat(MAX_TAG_CHARS + 1)] {
            assert_eq!(clean_tag(bad), Err(Rejection::TagInvalid), "{bad:?}");
        }
        assert!(clean_tag(&"x".repeat(MAX_TAG_CHARS)).is_ok());
    }

    #[test]
    fn tags_are_replaced_added_and_removed() {
        assert_eq!(wish(&["old"], all(&["b", "A", "#a"])).unwrap(), ["a", "b"]);
        let some = TagWish::Some { add: vec!["new".to_owned(), "old".to_owned()], remove: vec!["Gone".to_owned()] };
        assert_eq!(wish(&["gone", "old"], some).unwrap(), ["new", "old"]);
        let many: Vec<String> = (0..=MAX_TAGS).map(|n| format!("t{n}")).collect();
        assert_eq!(wish(&[], TagWish::All(many.clone())), Err(Rejection::TooManyTags { tags: MAX_TAGS + 1 }));
        assert!(wish(&[], TagWish::All(many[1..].to_vec())).is_ok());
    }
}
