//! Which payloads entries name: the one place that knows.
//!
//! Invariant: what is copied, checked, exported or swept is what [`NamedPayloads`] says after all of a session's entries were
//! applied. A path is made of ids alone, so none leads out of the session's folder.

use std::collections::BTreeMap;

use crate::{BodyHash, BodyRef, Output, OutputId, SessionEvent};

/// The folders below a session's that hold payloads.
pub const PAYLOAD_FOLDERS: [&str; 2] = [OUTPUTS, BODIES];

const OUTPUTS: &str = "outputs";
const BODIES: &str = "bodies";
/// How much longer than it was stored an edited file is carried over whole.
const MAX_ADDED_BYTES: u64 = 1 << 20;
/// The longest extension of a payload's file.
const MAX_EXTENSION_CHARS: usize = 8;

/// A payload as the entry that names it describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPayload {
    /// Where its file is, below the session's folder: `outputs/out_….png`.
    pub path: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// Their SHA-256 as hex.
    pub sha256: String,
}

impl NamedPayload {
    /// The payload of an output.
    pub fn of(output: &Output) -> Self {
        let path = format!("{OUTPUTS}/{}", output.file_name());
        Self { path, bytes: output.bytes, sha256: output.sha256.clone() }
    }

    /// How many bytes are read of its file where it is copied; one that has more was edited, and its beginning is copied.
    pub fn most_bytes(&self) -> u64 {
        self.bytes.saturating_add(MAX_ADDED_BYTES)
    }

    /// The output that it is of, if it is no body.
    pub fn output_id(&self) -> Option<OutputId> {
        let (folder, name) = payload_path(&self.path)?;
        let (id, _) = name.split_once('.').filter(|_| folder == OUTPUTS)?;
        id.parse().ok()
    }

    /// The payload of a body, if it could be kept.
    fn of_body(body: &BodyRef) -> Option<Self> {
        let sha256 = body.sha256?.to_string();
        Some(Self { path: format!("{BODIES}/{sha256}"), bytes: body.bytes, sha256 })
    }
}

/// The payloads that a session's entries name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedPayloads {
    by_path: BTreeMap<String, NamedPayload>,
}

impl NamedPayloads {
    /// Applies the next event of the session.
    pub fn apply(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::OutputStored { output, .. } => self.add(NamedPayload::of(output)),
            SessionEvent::OutputRemoved { id, .. } => {
                let stem = format!("{OUTPUTS}/{id}.");
                self.by_path.retain(|path, _| !path.starts_with(&stem));
            }
            _ => (),
        }
        event.bodies().into_iter().filter_map(NamedPayload::of_body).for_each(|body| self.add(body));
    }

    fn add(&mut self, payload: NamedPayload) {
        self.by_path.insert(payload.path.clone(), payload);
    }

    /// Whether an encoded event could change what is named, found without decoding it. Where in doubt, it could.
    pub fn may_change(encoded: &[u8]) -> bool {
        /// Kinds that always do, and those that do if they name a body.
        const OUTPUTS: &[u8] = b"output.";
        const WITH_BODIES: [&str; 3] = ["prompt.queued", "prompt.sent", "tool."];
        const NAMES_A_BODY: &[u8] = br#""sha256":"#;
        let Some(rest) = encoded.strip_prefix(br#"{"type":""#) else { return true };
        let may_have_bodies = WITH_BODIES.iter().any(|kind| rest.starts_with(kind.as_bytes()));
        let names_a_body = || rest.windows(NAMES_A_BODY.len()).any(|bytes| bytes == NAMES_A_BODY);
        rest.starts_with(OUTPUTS) || (may_have_bodies && names_a_body())
    }

    /// All of them, by path.
    pub fn iter(&self) -> impl Iterator<Item = &NamedPayload> {
        self.by_path.values()
    }

    /// The one at this path.
    pub fn get(&self, path: &str) -> Option<&NamedPayload> {
        self.by_path.get(path)
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }
}

/// Splits a payload's path into its folder and its file's name; `None` if no payload of ours can have it.
pub fn payload_path(path: &str) -> Option<(&'static str, &str)> {
    let (folder, name) = path.split_once('/')?;
    let folder = PAYLOAD_FOLDERS.into_iter().find(|known| *known == folder)?;
    is_payload_name(folder, name).then_some((folder, name))
}

/// Whether a payload in this folder can be called so.
pub fn is_payload_name(folder: &str, name: &str) -> bool {
    let is_extension = |text: &str| {
        (1..=MAX_EXTENSION_CHARS).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    match (folder, name.split_once('.')) {
        (OUTPUTS, Some((id, extension))) => id.parse::<OutputId>().is_ok() && is_extension(extension),
        (BODIES, None) => name.parse::<BodyHash>().is_ok(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AboutOutput, BodyOf, Event, OutputKind, ToolChange, Turn};

    fn stored(mime_type: &str) -> SessionEvent {
        let output = Output {
            id: OutputId::from_bytes([7; 16]),
            kind: OutputKind::Raw,
            mime_type: mime_type.to_owned(),
            bytes: 3,
            sha256: "a1".repeat(32),
            about: AboutOutput::default(),
        };
        SessionEvent::OutputStored { turn: Turn(1), output }
    }

    #[test]
    fn what_an_entry_names_has_a_path_of_ours() {
        let mut named = NamedPayloads::default();
        named.apply(&SessionEvent::SessionObserved {});
        assert!(named.is_empty());
        for mime_type in ["text/plain", "image/png", "image/svg+xml", "application/json", "../../x"] {
            named.apply(&stored(mime_type));
        }
        for payload in named.iter() {
            let (folder, name) = payload_path(&payload.path).expect("it is ours");
            assert_eq!(format!("{folder}/{name}"), payload.path);
            assert_eq!(named.get(&payload.path), Some(payload));
        }
        assert_eq!(named.iter().count(), 5);
    }

    #[test]
    fn bodies_that_were_kept_are_named_and_others_are_not() {
        let body = |sha256| BodyRef { of: BodyOf::Shown, item: 0, start: 0, head: 4, bytes: 40_000, sha256 };
        let kept = BodyHash::of(b"kept");
        let change = ToolChange { bodies: vec![body(Some(kept)), body(None)], ..ToolChange::default() };
        let event = SessionEvent::ToolChanged { turn: Turn(1), tool: 1, change };
        let mut named = NamedPayloads::default();
        named.apply(&event);
        let path = format!("bodies/{kept}");
        assert_eq!(named.iter().map(|payload| payload.path.as_str()).collect::<Vec<_>>(), [path.as_str()]);
        assert_eq!(payload_path(&path), Some(("bodies", kept.to_string().as_str())));
        assert!(NamedPayloads::may_change(&Event::from(event).encode()));
    }

    #[test]
    fn nothing_else_is_a_path_of_ours() {
        let id = "out_07070707070707070707070707070707";
        for bad in [
            "",
            "outputs",
            "outputs/",
            "outputs/..",
            "outputs/notes.txt",
            &format!("outputs/{id}"),
            &format!("outputs/{id}."),
            &format!("outputs/{id}.txt.new"),
            &format!("outputs/{id}.TXT"),
            &format!("outputs/{id}.t/x"),
            &format!("outputs/../{id}.txt"),
            &format!("/outputs/{id}.txt"),
            &format!("others/{id}.txt"),
            &format!("{id}.txt"),
            "bodies/..",
            &format!("bodies/{id}.txt"),
            &format!("bodies/{}", "A1".repeat(32)),
            &format!("bodies/{}.new", "a1".repeat(32)),
            &format!("outputs/{}", "a1".repeat(32)),
        ] {
            assert_eq!(payload_path(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn an_event_that_changes_what_is_named_is_recognised_by_its_bytes() {
        assert!(NamedPayloads::may_change(&Event::from(stored("text/plain")).encode()));
        assert!(!NamedPayloads::may_change(&Event::from(SessionEvent::SessionObserved {}).encode()));
        assert!(NamedPayloads::may_change(br#"{ "type": "session.observed" }"#), "another spelling is looked at");
    }
}
