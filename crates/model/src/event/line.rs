//! An entry as a line of JSON, as exports and bundles have it.
//!
//! Invariant: its data is decoded once, as an event: decoded as values first, it would take many times its length.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{DecodeError, Entry, Event, Seq, StreamId, Timestamp};

/// A line of an entry, before its event is decoded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryLine<'a> {
    /// The stream that it stands in. In a bundle all are of one session, and no line says it.
    pub stream: Option<String>,
    /// Its place in the stream.
    pub seq: Seq,
    at: Timestamp,
    version: u16,
    r#type: String,
    #[serde(borrow)]
    data: &'a RawValue,
}

impl<'a> EntryLine<'a> {
    /// Reads a line.
    pub fn read(line: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
    }

    /// Its entry, in the stream that it stands in.
    pub fn decode(&self, stream: StreamId) -> Result<Entry<Event>, DecodeError> {
        let kind = serde_json::Value::from(self.r#type.as_str());
        let event = format!(r#"{{"type":{kind},"data":{}}}"#, self.data.get());
        let event = Event::decode(stream, self.version, event.as_bytes())?;
        Ok(Entry { seq: self.seq, at: self.at, event })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EVENT_VERSION, SessionEvent, SessionId};

    fn session() -> StreamId {
        StreamId::Session(SessionId::from_bytes([7; 16]))
    }

    fn line(version: u16, rest: &str) -> String {
        format!(r#"{{"seq":4,"at":"2026-01-02T03:04:05.000Z","version":{version},{rest}}}"#)
    }

    #[test]
    fn a_line_is_the_entry_that_it_was_written_from() {
        let line = line(EVENT_VERSION, r#""type":"agent.raw","data":{"message":[1.10]}"#);
        let read = EntryLine::read(line.as_bytes()).unwrap();
        assert_eq!((read.stream.as_deref(), read.seq), (None, Seq(4)));
        let entry = read.decode(session()).unwrap();
        let event = Event::from(SessionEvent::AgentRaw { message: serde_json::json!([1.1]) });
        assert_eq!((entry.seq, entry.at.to_string().as_str()), (Seq(4), "2026-01-02T03:04:05.000Z"));
        assert_eq!(entry.event, event);
    }

    #[test]
    fn what_is_newer_is_told_from_what_is_no_entry() {
        let decode = |line: &str| EntryLine::read(line.as_bytes()).unwrap().decode(session());
        let observed = r#""type":"session.observed","data":{}"#;
        assert!(matches!(decode(&line(EVENT_VERSION + 1, observed)), Err(DecodeError::Newer)));
        // A name of a kind can not end the text that it stands in.
        let kind = r#""type":"session.observed\",\"data\":{}}","data":{}"#;
        assert!(matches!(decode(&line(EVENT_VERSION, kind)), Err(DecodeError::Newer)));
        let wrong = r#""type":"turn.started","data":{"turn":"one"}"#;
        assert!(matches!(decode(&line(EVENT_VERSION, wrong)), Err(DecodeError::Malformed(_))));
        for bad in [r#""type":"session.observed""#, r#""type":"x","data":{},"more":1"#, r#""type":"x","data":"#] {
            assert!(EntryLine::read(line(EVENT_VERSION, bad).as_bytes()).is_err(), "{bad}");
        }
    }
}
