//! How people name sessions and prompts.

use model::{InteractionId, SessionId};

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

#[cfg(test)]
mod tests {
    use super::*;

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
