//! Who wrote a prompt.
//!
//! Invariant: it follows from who asked, never from the words. Only in entries from before version 6, and in rows and copies
//! made of them, was it a part of the words; [`Author::of_old_prompt`] takes it out of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{StepOrigin, TokenId, check_name};

/// Who wrote a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Author {
    /// A person, with this credential.
    #[serde(rename_all = "camelCase")]
    Person {
        /// The credential; the command line needs none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_id: Option<TokenId>,
        /// What the credential is called; empty where nobody noted it, as for what another tool recorded.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        name: String,
    },
    /// A step that a person took; the words are those of the agent that offered it.
    Step(StepOrigin),
    /// An applet.
    Applet {
        /// What it is called.
        name: String,
    },
    /// An agent.
    Agent {
        /// The session that it works in.
        session: String,
    },
}

/// A person of whom nothing more was noted.
impl Default for Author {
    fn default() -> Self {
        Self::Person { token_id: None, name: String::new() }
    }
}

impl Author {
    /// Who it was, in one line, if it was not a person.
    pub fn other(&self) -> Option<String> {
        match self {
            Self::Person { .. } => None,
            Self::Step(_) | Self::Applet { .. } | Self::Agent { .. } => Some(self.to_string()),
        }
    }

    /// The same from a file that anybody may have written: an invalid name is left out.
    #[must_use]
    pub fn with_plain_name(self) -> Self {
        match self {
            Self::Person { token_id, name } if check_name(&name).is_err() => {
                Self::Person { token_id, name: String::new() }
            }
            Self::Applet { name } | Self::Agent { session: name } if check_name(&name).is_err() => Self::default(),
            known => known,
        }
    }

    /// Who wrote a prompt that was stored before version 6, and the words: `[agent:…] words` and `[applet:…] words` were how
    /// a prompt of another than a person was kept.
    pub fn of_old_prompt(text: &str) -> (Self, &str) {
        let marked = text.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        let named = marked.and_then(|(source, words)| Some((Self::of_old_source(source)?, words)));
        // Without words behind it, the mark is all that was said.
        named.filter(|(_, words)| !words.trim().is_empty()).unwrap_or((Self::default(), text))
    }

    /// The same of what stood between the brackets.
    pub fn of_old_source(source: &str) -> Option<Self> {
        let (kind, name) = source.split_once(':')?;
        let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let name = Some(name).filter(|name| (1..=64).contains(&name.len()) && is_plain(name))?.to_owned();
        match kind {
            "agent" => Some(Self::Agent { session: name }),
            "applet" => Some(Self::Applet { name }),
            _ => None,
        }
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person { name, .. } if name.is_empty() => f.write_str("a person"),
            Self::Person { name, .. } => f.write_str(name),
            // Of which session, the head of the session that it began says.
            Self::Step(StepOrigin { block, .. }) => write!(f, "step {block}"),
            Self::Applet { name } => write!(f, "applet:{name}"),
            Self::Agent { session } => write!(f, "agent:{session}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_could_be_none_is_left_out() {
        let named = |name: &str| Author::Person { token_id: None, name: name.to_owned() };
        assert_eq!(named("phone").with_plain_name(), named("phone"));
        for bad in ["a\u{1b}[2J", &"x".repeat(1 << 20)] {
            assert_eq!(named(bad).with_plain_name(), Author::default());
            assert_eq!(Author::Applet { name: bad.to_owned() }.with_plain_name(), Author::default());
            assert_eq!(Author::Agent { session: bad.to_owned() }.with_plain_name(), Author::default());
        }
    }

    /// The command line and the quotes that agents read use these words as they are.
    #[test]
    fn whoever_is_no_person_is_named_in_a_few_words() {
        let session = crate::SessionId::from_bytes([7; 16]);
        let block = "t2.n1".parse().unwrap();
        assert_eq!(Author::Step(StepOrigin { session, block }).other().as_deref(), Some("step t2.n1"));
        assert_eq!(Author::Applet { name: "board".to_owned() }.other().as_deref(), Some("applet:board"));
        assert_eq!(Author::Agent { session: "0190".to_owned() }.other().as_deref(), Some("agent:0190"));
        assert_eq!(Author::default().other(), None);
    }

    #[test]
    fn an_old_prompt_names_its_author_in_its_words() {
        let agent = Author::Agent { session: "0190a8c0-0000".to_owned() };
        assert_eq!(Author::of_old_prompt("[agent:0190a8c0-0000] go on"), (agent, "go on"));
        let applet = Author::Applet { name: "board".to_owned() };
        assert_eq!(Author::of_old_prompt("[applet:board] [agent:a] go on"), (applet, "[agent:a] go on"));
        for plain in
            ["go on", "[agent:] x", "[agent:a b] x", "[other:a] x", "[agent:a]", "[agent:a]  ", "[ ] tidy up", "["]
        {
            assert_eq!(Author::of_old_prompt(plain), (Author::default(), plain));
        }
    }
}
