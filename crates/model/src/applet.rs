//! Applets: small pages that agents make, kept as plain files, with a state that lasts.
//!
//! Invariant: a name of an applet is a folder's name that can lead nowhere else. What the person granted belongs to one content of
//! one applet: with other content nothing is granted.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::limits::{MAX_APPLET_PARAM_CHARS, MAX_APPLET_PARAMS, MAX_CARD_LINE_CHARS};
use crate::text::is_hidden;
use crate::{Answerer, OutputId, Rejection, SessionId, Timestamp};

/// How many characters a slug has at most.
pub const MAX_SLUG_CHARS: usize = 64;

/// What an applet is saved as: lower-case letters, digits and hyphens, none of them at its ends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema),
    schema(value_type = String, pattern = "^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$"))]
#[serde(transparent)]
pub struct AppletSlug(String);

/// A text that is no slug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a slug has 1 to {MAX_SLUG_CHARS} lower-case letters, digits and hyphens, and begins and ends with a letter or digit, such as \"my-board\""
)]
pub struct SlugError;

impl AppletSlug {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AppletSlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for AppletSlug {
    type Err = SlugError;

    fn from_str(text: &str) -> Result<Self, SlugError> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let fits = (1..=MAX_SLUG_CHARS).contains(&text.len())
            && text.bytes().all(|byte| is_plain(byte) || byte == b'-')
            && !text.starts_with('-')
            && !text.ends_with('-');
        if fits { Ok(Self(text.to_owned())) } else { Err(SlugError) }
    }
}

impl<'de> Deserialize<'de> for AppletSlug {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Which applet: one that was saved or comes with the program, or the one that a session shows and nobody has saved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AppletName {
    /// By its slug.
    Saved(AppletSlug),
    /// The newest of this session.
    Shown(SessionId),
}

impl AppletName {
    /// What a session's own applet is called in addresses and in folders: no slug, so it stands for no saved one.
    pub const SHOWN: &'static str = "_shown";

    /// What it is called in an address, beside its session.
    pub fn word(&self) -> &str {
        match self {
            Self::Saved(slug) => slug.as_str(),
            Self::Shown(_) => Self::SHOWN,
        }
    }

    /// The slug, if it was saved.
    pub fn slug(&self) -> Option<&AppletSlug> {
        match self {
            Self::Saved(slug) => Some(slug),
            Self::Shown(_) => None,
        }
    }
}

impl fmt::Display for AppletName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Saved(slug) => slug.fmt(f),
            Self::Shown(session) => write!(f, "{}/{session}", Self::SHOWN),
        }
    }
}

impl FromStr for AppletName {
    type Err = SlugError;

    fn from_str(text: &str) -> Result<Self, SlugError> {
        match text.split_once('/') {
            Some((Self::SHOWN, session)) => session.parse().map(Self::Shown).map_err(|_| SlugError),
            Some(_) => Err(SlugError),
            None => text.parse().map(Self::Saved),
        }
    }
}

impl Serialize for AppletName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AppletName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// What an applet may do beside showing itself and keeping its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum AppletGrant {
    /// Read and list the session's files.
    #[serde(rename = "files.read")]
    FilesRead,
    /// Write the session's files.
    #[serde(rename = "files.write")]
    FilesWrite,
    /// Send prompts to the session's agent.
    #[serde(rename = "message")]
    Message,
}

/// What the person granted to an applet with one content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppletGrantsRow {
    /// Which applet.
    pub applet: AppletName,
    /// SHA-256 of the content, in hex; with any other nothing is granted.
    pub hash: String,
    /// What it may do, in order.
    pub grants: Vec<AppletGrant>,
    /// Who granted it last.
    pub by: Answerer,
    /// When.
    pub granted_at: Timestamp,
}

/// What is said of an applet that is shown, beside its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppletToShow {
    /// The output that holds its bytes.
    pub output: OutputId,
    /// What it is saved as.
    pub slug: Option<AppletSlug>,
    /// What people call it.
    pub title: String,
    /// What it is given.
    pub params: BTreeMap<String, String>,
}

impl AppletToShow {
    /// Refuses a title or params that no applet may have.
    pub(crate) fn check(&self) -> Result<(), Rejection> {
        if is_applet_line(&self.title) && are_applet_params(&self.params) {
            Ok(())
        } else {
            Err(Rejection::OutputInvalid)
        }
    }
}

/// Whether an applet may be called so: one line of visible characters, not too long.
pub fn is_applet_line(text: &str) -> bool {
    // Fillers and the empty braille pattern are letters and signs, and look like nothing.
    let is_blank =
        |c: char| c.is_whitespace() || matches!(c, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}');
    !text.chars().all(is_blank) && text.chars().count() <= MAX_CARD_LINE_CHARS && !text.chars().any(is_hidden)
}

/// Whether an applet may be given these.
pub fn are_applet_params(params: &BTreeMap<String, String>) -> bool {
    let fits = |text: &String| text.chars().count() <= MAX_APPLET_PARAM_CHARS && !text.contains(['\0', '\n', '\r']);
    params.len() <= MAX_APPLET_PARAMS && params.iter().all(|(key, value)| !key.is_empty() && fits(key) && fits(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_that_shows_something() {
        for good in ["Board", " Board", "ㅤBoard", "板", "🧵"] {
            assert!(is_applet_line(good), "{good:?}");
        }
        for bad in ["", " ", "\u{3164}", "\u{115f}\u{2800} ", "a\nb", "a\u{202e}b", "a\u{200b}"] {
            assert!(!is_applet_line(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_slug_is_a_plain_name() {
        for good in ["a", "0", "my-board", "a--b", &"x".repeat(MAX_SLUG_CHARS)] {
            assert_eq!(good.parse::<AppletSlug>().map(|slug| slug.to_string()), Ok(good.to_owned()));
        }
        for bad in [
            "",
            "-a",
            "a-",
            "-",
            "A",
            "a b",
            "a/b",
            "a.b",
            "..",
            ".",
            "_shown",
            "ä",
            "a\0",
            "a\n",
            "%2e",
            &"x".repeat(MAX_SLUG_CHARS + 1),
        ] {
            assert_eq!(bad.parse::<AppletSlug>(), Err(SlugError), "{bad:?}");
        }
    }

    #[test]
    fn a_name_is_read_back_as_it_is_written() {
        let session = "0190a8c0-0000-7000-8000-0000000000c1".parse().unwrap();
        for name in [AppletName::Saved("board".parse().unwrap()), AppletName::Shown(session)] {
            assert_eq!(name.to_string().parse(), Ok(name.clone()));
            assert_eq!(serde_json::from_str::<AppletName>(&serde_json::to_string(&name).unwrap()).unwrap(), name);
        }
        for bad in ["_shown", "_shown/", "_shown/x", "_shown/../board", "board/x", "other/board"] {
            assert_eq!(bad.parse::<AppletName>(), Err(SlugError), "{bad:?}");
        }
    }

    #[test]
    fn what_is_shown_has_a_title_and_few_params() {
        let shown = |title: &str, params: &[(&str, &str)]| AppletToShow {
            output: OutputId::from_bytes([1; 16]),
            slug: None,
            title: title.to_owned(),
            params: params.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        };
        assert_eq!(shown("A board", &[("path", "/a b"), ("q", "")]).check(), Ok(()));
        let long = "x".repeat(MAX_APPLET_PARAM_CHARS + 1);
        for bad in [
            shown("", &[]),
            shown(" ", &[]),
            shown("two\nlines", &[]),
            shown("turned \u{202e}", &[]),
            shown("A board", &[("", "x")]),
            shown("A board", &[("k", &long)]),
            shown("A board", &[("k", "two\nlines")]),
        ] {
            assert_eq!(bad.check(), Err(Rejection::OutputInvalid), "{bad:?}");
        }
    }
}
