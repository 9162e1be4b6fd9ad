//! What narrows a search: `key:value`.

use std::fmt;

use jiff::civil;
use jiff::tz::Offset;
use model::{SessionId, Timestamp};

use crate::pieces::{CallOutcome, Piece, PieceRole, SessionAttributes};
use crate::tokenizer::fold_into;

/// One `key:value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// What has it is not wanted.
    pub excluded: bool,
    /// What is compared, and with what.
    pub field: FilterField,
}

/// What can be filtered by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterField {
    /// A session's id, or its beginning.
    Session(String),
    /// The agent's name.
    Agent(String),
    /// Words of the project's path.
    Project(String),
    /// A piece of work, by its name.
    Work {
        /// As it was typed.
        name: String,
        /// Those that belong to it, as whoever knows of works filled in. None has what nothing was filled in for.
        sessions: Vec<SessionId>,
    },
    /// A tag that the person gave sessions.
    Tag {
        /// As it was typed.
        name: String,
        /// Those that have it, as whoever knows of tags filled in.
        sessions: Vec<SessionId>,
    },
    /// Words of a file's path.
    File(String),
    /// Words of a tool's name or kind.
    Tool(String),
    /// How a call ended.
    CallOutcome(CallOutcome),
    /// A command's exit code.
    Exit(i32),
    /// What it is of its turn.
    Role(PieceRole),
    /// Earlier than this; a day means its beginning, in UTC.
    Before(Timestamp),
    /// This or later.
    After(Timestamp),
}

/// What became of `key:value`.
pub(super) enum Read {
    FilterField(FilterField),
    /// The key is none of ours: these are words.
    NoFilter,
    /// So is this, but it is nearly one.
    Nearly(&'static str),
    /// Why the value means nothing.
    Senseless(String),
}

const KEYS: [&str; 12] =
    ["session", "agent", "project", "work", "tag", "file", "tool", "outcome", "exit", "role", "before", "after"];

/// The filter that somebody mistyped, if this is close to one: `fil`, `proyect`, but not `http` or `std`.
fn nearest(key: &str) -> Option<&'static str> {
    let key = key.to_ascii_lowercase();
    if key.len() < 3 || key.len() > 12 {
        return None;
    }
    let most = if key.len() < 5 { 1 } else { 2 };
    let close = KEYS.into_iter().map(|known| (strsim::damerau_levenshtein(known, &key), known));
    close.filter(|(typos, _)| *typos <= most).min().map(|(_, known)| known)
}

impl FilterField {
    pub(super) fn read(key: &str, value: &str) -> Read {
        if value.is_empty() {
            return Read::NoFilter;
        }
        let Some(key) = KEYS.into_iter().find(|known| known.eq_ignore_ascii_case(key)) else {
            return nearest(key).map_or(Read::NoFilter, Read::Nearly);
        };
        let field = match key {
            "session" => session(value).map(Self::Session).ok_or("the beginning of a session's id"),
            "agent" => Ok(Self::Agent(value.to_owned())),
            "project" => has_words(value).map(Self::Project),
            "work" => Ok(Self::Work { name: value.to_owned(), sessions: Vec::new() }),
            "tag" => Ok(Self::Tag { name: value.to_owned(), sessions: Vec::new() }),
            "file" => has_words(value).map(Self::File),
            "tool" => has_words(value).map(Self::Tool),
            "outcome" => match value.to_ascii_lowercase().as_str() {
                "ok" | "success" => Ok(Self::CallOutcome(CallOutcome::Ok)),
                "fail" | "failed" => Ok(Self::CallOutcome(CallOutcome::Fail)),
                _ => Err("ok or fail"),
            },
            "exit" => value.parse().map(Self::Exit).map_err(|_| "a number"),
            "role" => role(value).map(Self::Role).ok_or("prompt, answer, thought, tool, summary or title"),
            "before" => instant(value).map(Self::Before).ok_or("a day like 2026-01-31 or an instant in RFC 3339"),
            _ => instant(value).map(Self::After).ok_or("a day like 2026-01-31 or an instant in RFC 3339"),
        };
        match field {
            Ok(field) => Read::FilterField(field),
            Err(expected) => Read::Senseless(format!("{key}:{} was left out: expected {expected}", cut(value))),
        }
    }

    /// Which kind it is: filters of one kind are alternatives.
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Self::Session(_) => "session",
            Self::Agent(_) => "agent",
            Self::Project(_) => "project",
            Self::Work { .. } => "work",
            Self::Tag { .. } => "tag",
            Self::File(_) => "file",
            Self::Tool(_) => "tool",
            Self::CallOutcome(_) => "outcome",
            Self::Exit(_) => "exit",
            Self::Role(_) => "role",
            Self::Before(_) => "before",
            Self::After(_) => "after",
        }
    }

    /// Two of this kind can not hold together, so that they are meant as alternatives.
    pub(crate) fn is_alternative(&self) -> bool {
        !matches!(self, Self::Before(_) | Self::After(_))
    }

    /// Does the piece have it?
    pub(crate) fn admits(&self, piece: &Piece, about: &SessionAttributes) -> bool {
        match self {
            Self::Session(id) => piece.session.to_string().starts_with(id.as_str()),
            Self::Agent(name) => folded(&about.agent) == folded(name),
            Self::Project(words) => contains_words(&about.project, words),
            Self::Work { sessions, .. } | Self::Tag { sessions, .. } => sessions.contains(&piece.session),
            Self::File(words) => piece.files.iter().any(|file| contains_words(file, words)),
            Self::Tool(words) => piece.tool.as_deref().is_some_and(|tool| contains_words(tool, words)),
            Self::CallOutcome(outcome) => piece.outcome == Some(*outcome),
            Self::Exit(code) => piece.exit == Some(*code),
            Self::Role(role) => piece.role == *role,
            Self::Before(at) => piece.at < *at,
            Self::After(at) => piece.at >= *at,
        }
    }
}

/// The one spelling in which an agent's name is compared.
pub(crate) fn folded(text: &str) -> String {
    let mut folded = String::new();
    fold_into(text, &mut folded);
    folded
}

fn contains_words(text: &str, words: &str) -> bool {
    crate::scan::has_patterns(text, &super::patterns(words, true))
}

fn session(value: &str) -> Option<String> {
    let value = value.to_ascii_lowercase();
    let shape = value.len() <= 36 && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    shape.then_some(value)
}

fn has_words(value: &str) -> Result<String, &'static str> {
    if super::patterns(value, true).is_empty() { Err("letters or digits") } else { Ok(value.to_owned()) }
}

fn role(value: &str) -> Option<PieceRole> {
    let value = value.to_ascii_lowercase();
    match value.as_str() {
        "user" => Some(PieceRole::Prompt),
        "assistant" | "agent" => Some(PieceRole::Answer),
        value => PieceRole::ALL.into_iter().find(|role| role.as_str() == value),
    }
}

fn instant(value: &str) -> Option<Timestamp> {
    let millis = match value.parse::<civil::Date>() {
        Ok(day) if value.len() <= 10 => Offset::UTC.to_timestamp(day.to_datetime(civil::Time::midnight())).ok()?,
        _ => value.parse::<jiff::Timestamp>().ok()?,
    };
    Some(Timestamp::from_millis(millis.as_millisecond()))
}

fn cut(value: &str) -> String {
    model::first_line(value, 40)
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minus = if self.excluded { "-" } else { "" };
        write!(f, "{minus}{}:", self.field.key())?;
        match &self.field {
            FilterField::Session(text)
            | FilterField::Agent(text)
            | FilterField::Project(text)
            | FilterField::Work { name: text, .. }
            | FilterField::Tag { name: text, .. }
            | FilterField::File(text)
            | FilterField::Tool(text) => f.write_str(text),
            FilterField::CallOutcome(CallOutcome::Ok) => f.write_str("ok"),
            FilterField::CallOutcome(CallOutcome::Fail) => f.write_str("fail"),
            FilterField::Exit(code) => code.fmt(f),
            FilterField::Role(role) => f.write_str(role.as_str()),
            FilterField::Before(at) | FilterField::After(at) => at.fmt(f),
        }
    }
}
