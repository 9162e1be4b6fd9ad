//! How people name sessions, prompts and applets.

use model::{AppletName, AppletSlug, InteractionId, SessionId};

/// How a person names a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SessionName {
    Id(SessionId),
    /// The end or the beginning of an id, at least four characters.
    Part(String),
    Last,
}

impl std::str::FromStr for SessionName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "last" {
            return Ok(Self::Last);
        }
        // The address of its page.
        let text = text.split_once("/s/").map_or(text, |(_, rest)| rest.split(['#', '?', '/']).next().unwrap_or(rest));
        if let Ok(id) = text.parse() {
            return Ok(Self::Id(id));
        }
        if text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
            return Ok(Self::Part(text.to_ascii_lowercase()));
        }
        Err("expected a session's id, four or more characters of its end or beginning, its page's address, or `last`"
            .to_owned())
    }
}

/// How a person names a waiting prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PromptName {
    Id(InteractionId),
    /// Its position in the queue, from 1.
    Place(usize),
}

impl std::str::FromStr for PromptName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.parse(), text.parse()) {
            (Ok(id), _) => Ok(Self::Id(id)),
            (_, Ok(place)) if place > 0 => Ok(Self::Place(place)),
            _ => Err("expected a prompt's number in the queue, from 1, or its id".to_owned()),
        }
    }
}

/// How a person names an applet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AppletWord {
    Saved(AppletSlug),
    /// The one that a session shows and nobody has saved.
    Shown,
}

impl AppletWord {
    /// As in `/storage/applet/{applet}`.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Saved(slug) => slug.as_str(),
            Self::Shown => AppletName::SHOWN,
        }
    }
}

impl std::str::FromStr for AppletWord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            AppletName::SHOWN => Ok(Self::Shown),
            text => text.parse().map(Self::Saved).map_err(|err: model::SlugError| err.to_string()),
        }
    }
}

/// Something that an applet is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AppletParam {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl AppletParam {
    /// What the page's own address says beside the params.
    const TAKEN: [&str; 2] = ["applet", "_past"];
}

impl std::str::FromStr for AppletParam {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, _)) if Self::TAKEN.contains(&name) => {
                Err(format!("no applet is given {name}: it is the page's own"))
            }
            Some((name, value)) if !name.is_empty() => Ok(Self { name: name.to_owned(), value: value.to_owned() }),
            Some(_) | None => Err("expected a name and a value, such as path=src/main.rs".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applets_are_named_by_slug_and_given_names_with_values() {
        assert_eq!("_shown".parse(), Ok(AppletWord::Shown));
        assert_eq!("my-board".parse::<AppletWord>().map(|word| word.as_str().to_owned()), Ok("my-board".to_owned()));
        assert!("../etc".parse::<AppletWord>().is_err());
        let param = |name: &str, value: &str| Ok(AppletParam { name: name.to_owned(), value: value.to_owned() });
        assert_eq!("path=a=b c".parse(), param("path", "a=b c"));
        assert_eq!("q=".parse(), param("q", ""));
        for wrong in ["path", "=a", "", "applet=other", "_past=t1"] {
            assert!(wrong.parse::<AppletParam>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn sessions_are_named_by_id_by_tail_or_as_the_last() {
        assert_eq!("last".parse(), Ok(SessionName::Last));
        assert_eq!("00AB".parse(), Ok(SessionName::Part("00ab".to_owned())));
        let id = "0190a8c0-0000-7000-8000-0000000000ab";
        assert_eq!(id.parse(), Ok(SessionName::Id(id.parse().unwrap())));
        let address = format!("http://127.0.0.1:7417/s/{id}#t7");
        assert_eq!(address.parse(), Ok(SessionName::Id(id.parse().unwrap())));
        assert!("ab".parse::<SessionName>().is_err());
        assert!("../etc".parse::<SessionName>().is_err());
    }
}
