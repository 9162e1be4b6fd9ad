//! What can happen. Wire names are the serde tags; they and their contents are kept readable for ever.
//!
//! Each kind of stream has its own events. Invariant: a stored event of any released version decodes. A change of shape
//! raises [`EVENT_VERSION`] and adds its step to `event/upcast.rs`; `fixtures/events/` holds a line of every kind of
//! every version.

mod kind;
mod line;
mod server;
mod session;
mod upcast;
mod values;
mod work;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Seq, StreamId, Timestamp};

pub use line::EntryLine;
pub use server::ServerEvent;
pub use session::SessionEvent;
pub use work::WorkEvent;

/// The version that is written now; it counts changes of shape over all kinds.
pub const EVENT_VERSION: u16 = 9;

/// One event in its stream, at its place. Whoever holds one with a seq that a store gave may rely on it being durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry<E = SessionEvent> {
    /// Its place in the stream.
    pub seq: Seq,
    /// When it was written down.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: E,
}

/// An event of any stream. [`Event::decode`] reads it, given the stream that it stands in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "named after the streams")]
pub enum Event {
    Session(SessionEvent),
    Work(WorkEvent),
    Server(ServerEvent),
}

impl<E> Entry<E> {
    /// The same entry, with what happened borrowed.
    pub fn borrowed(&self) -> Entry<&E> {
        Entry { seq: self.seq, at: self.at, event: &self.event }
    }

    /// The same place with something made of what happened.
    pub fn map<T>(self, make: impl FnOnce(E) -> T) -> Entry<T> {
        Entry { seq: self.seq, at: self.at, event: make(self.event) }
    }
}

impl Entry<Event> {
    /// The entry, if it is of a session's stream.
    pub fn as_session(&self) -> Option<Entry<&SessionEvent>> {
        match &self.event {
            Event::Session(event) => Some(Entry { seq: self.seq, at: self.at, event }),
            Event::Work(_) | Event::Server(_) => None,
        }
    }

    /// The entry itself, if it is of a session's stream.
    pub fn into_session(self) -> Option<Entry> {
        match self.event {
            Event::Session(event) => Some(Entry { seq: self.seq, at: self.at, event }),
            Event::Work(_) | Event::Server(_) => None,
        }
    }
}

impl From<SessionEvent> for Event {
    fn from(event: SessionEvent) -> Self {
        Self::Session(event)
    }
}

impl From<WorkEvent> for Event {
    fn from(event: WorkEvent) -> Self {
        Self::Work(event)
    }
}

impl From<ServerEvent> for Event {
    fn from(event: ServerEvent) -> Self {
        Self::Server(event)
    }
}

/// Where the agent's process is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It is being started; prompts wait.
    Starting,
    /// It takes prompts.
    Ready,
    /// It has ended, or never ran in this run of the server.
    Stopped,
    /// It could not be started, or broke off.
    Failed,
    /// It wants the person to sign in first.
    SignedOut,
    /// It is at work and has said nothing for long, or does not stop.
    Unresponsive,
}

/// How a turn came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Stop {
    /// In one word.
    pub outcome: Outcome,
    /// Why, where there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A turn's end in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent said that it was done.
    Completed,
    /// A person stopped it.
    Cancelled,
    /// The agent broke off.
    Failed,
    /// The server stopped under it.
    Interrupted,
}

/// Stored bytes that are no event we know.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Its version, or its kind in this stream, is not known here: a newer version of the program wrote it. An event that
    /// stands in a wrong stream looks the same.
    #[error("entry was written by a newer version of the program")]
    Newer,
    /// Not an event at all: damaged, or not ours.
    #[error("entry is not a known event")]
    Malformed(#[source] serde_json::Error),
}

impl Event {
    /// About how many bytes it has, found without writing it down.
    pub fn about_bytes(&self) -> usize {
        match self {
            Self::Session(event) => event.about_bytes(),
            Self::Work(_) | Self::Server(_) => crate::json_bytes(self),
        }
    }

    /// The bytes a store keeps: the tag and its content as JSON.
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("events hold only strings, numbers and options")
    }

    /// Reads what [`Self::encode`] of this or any earlier version wrote to `stream`.
    pub fn decode(stream: StreamId, version: u16, bytes: &[u8]) -> Result<Self, DecodeError> {
        match stream {
            StreamId::Session(_) => decode(version, bytes).map(Self::Session),
            StreamId::Work => decode(version, bytes).map(Self::Work),
            StreamId::Server => decode(version, bytes).map(Self::Server),
        }
    }
}

fn decode<E: DeserializeOwned>(version: u16, bytes: &[u8]) -> Result<E, DecodeError> {
    if version == 0 {
        return Err(DecodeError::Malformed(serde::de::Error::custom("there is no version 0")));
    }
    if version > EVENT_VERSION {
        return Err(DecodeError::Newer);
    }
    let event = match version {
        EVENT_VERSION => serde_json::from_slice(bytes),
        _ => serde_json::from_slice(bytes).and_then(|old| serde_json::from_value(upcast::to_current(version, old))),
    };
    event.map_err(|err| if kind::is_unknown::<E>(bytes) { DecodeError::Newer } else { DecodeError::Malformed(err) })
}

/// The API describes the entries of sessions; it shows no others.
#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use utoipa::openapi::RefOr;
    use utoipa::openapi::schema::Schema;
    use utoipa::{PartialSchema, ToSchema};

    use super::{Entry, SessionEvent};
    use crate::{Seq, Timestamp};

    /// One event in its stream, at its place. Whoever holds one with a seq that a store gave may rely on it being durable.
    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only its shape is looked at")]
    struct SessionEntry {
        /// Its place in the stream.
        seq: Seq,
        /// When it was written down.
        at: Timestamp,
        /// What happened.
        #[serde(flatten)]
        event: SessionEvent,
    }

    impl PartialSchema for Entry {
        fn schema() -> RefOr<Schema> {
            SessionEntry::schema()
        }
    }

    impl ToSchema for Entry {
        fn name() -> Cow<'static, str> {
            Cow::Borrowed("Entry")
        }

        fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
            SessionEntry::schemas(schemas);
        }
    }
}

#[cfg(test)]
mod tests;
