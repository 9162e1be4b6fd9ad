//! Cuts what is too long out of an event.
//!
//! Invariant: what stays is small and readable: a text keeps its beginning, cut between characters; JSON keeps its shape with the
//! beginnings of its texts; a picture keeps its type.

use std::collections::HashSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

use super::{BodyHash, BodyOf, BodyRef, HEAD_BYTES, NewBody, utf16_len};
use crate::{Image, SessionEvent, ToolChange, ToolContent, json_bytes};

/// How much of one text inside of JSON stays, and of all that it has.
const VALUE_TEXT_BYTES: usize = 1 << 10;
const VALUE_BYTES: usize = 2 * HEAD_BYTES;

impl SessionEvent {
    /// Cuts out every text and picture that is longer than `over` bytes. What was cut before stays as it is.
    pub fn cut(&mut self, over: usize) -> Vec<NewBody> {
        let mut cutter = Cutter { over, bodies: Vec::new() };
        match self {
            Self::PromptQueued { images, .. } | Self::PromptSent { images, .. } => {
                images.iter_mut().for_each(|image| cutter.image(image));
            }
            Self::ToolStarted { change, .. } | Self::ToolChanged { change, .. } | Self::ToolEnded { change, .. } => {
                cutter.change(change);
            }
            Self::ToolPart { text, body, .. } if body.is_none() => *body = cutter.text(text),
            _ => (),
        }
        cutter.bodies
    }

    /// Says of bodies that they could not be kept. A text is left with its head; a prompt's picture, which is still to be sent, goes
    /// back into the event.
    pub fn unkeep(&mut self, lost: &HashSet<BodyHash>, bodies: &[NewBody]) {
        match self {
            Self::PromptQueued { images, .. } | Self::PromptSent { images, .. } => {
                images.iter_mut().for_each(|image| image.unkeep(lost, bodies));
            }
            Self::ToolStarted { change, .. } | Self::ToolChanged { change, .. } | Self::ToolEnded { change, .. } => {
                change.bodies.iter_mut().for_each(|body| body.unkeep(lost));
            }
            Self::ToolPart { body: Some(body), .. } => body.unkeep(lost),
            _ => (),
        }
    }
}

impl BodyRef {
    fn unkeep(&mut self, lost: &HashSet<BodyHash>) {
        self.sha256.take_if(|hash| lost.contains(hash));
    }
}

impl Image {
    pub(crate) fn unkeep(&mut self, lost: &HashSet<BodyHash>, bodies: &[NewBody]) {
        let Some(hash) = self.body.as_ref().and_then(|body| body.sha256).filter(|hash| lost.contains(hash)) else {
            return;
        };
        if let Some(body) = bodies.iter().find(|body| body.hash == hash) {
            self.data = BASE64_STANDARD.encode(&body.bytes);
            self.body = None;
        }
    }
}

struct Cutter {
    over: usize,
    bodies: Vec<NewBody>,
}

impl Cutter {
    fn change(&mut self, change: &mut ToolChange) {
        if !change.bodies.is_empty() {
            return;
        }
        let ToolChange { content, input, output, bodies, .. } = change;
        for (item, shown) in (0..).zip(content.iter_mut().flatten()) {
            let at = |of: BodyOf| move |body: BodyRef| BodyRef { of, item, ..body };
            match shown {
                ToolContent::Text { text } | ToolContent::Terminal { output: text, .. } => {
                    bodies.extend(self.text(text).map(at(BodyOf::Shown)));
                }
                ToolContent::Diff { old_text, new_text, .. } => {
                    bodies.extend(old_text.as_mut().and_then(|text| self.text(text)).map(at(BodyOf::OldText)));
                    bodies.extend(self.text(new_text).map(at(BodyOf::NewText)));
                }
                ToolContent::Image { data, .. } => bodies.extend(self.picture(data).map(at(BodyOf::Shown))),
                ToolContent::Raw { value } => bodies.extend(self.value(value).map(at(BodyOf::Shown))),
                ToolContent::Link { .. } | ToolContent::Omitted { .. } => (),
            }
        }
        for (value, of) in [(input, BodyOf::Input), (output, BodyOf::Output)] {
            let body = value.as_mut().and_then(|value| self.value(value));
            bodies.extend(body.map(|body| BodyRef { of, ..body }));
        }
    }

    fn image(&mut self, image: &mut Image) {
        if image.body.is_none() {
            image.body = self.picture(&mut image.data);
        }
    }

    fn text(&mut self, text: &mut String) -> Option<BodyRef> {
        if text.len() <= self.over {
            return None;
        }
        let head = text[..text.floor_char_boundary(HEAD_BYTES.min(self.over))].to_owned();
        let head_len = utf16_len(&head);
        let whole = std::mem::replace(text, head);
        Some(BodyRef { head: head_len, ..self.keep(whole.into_bytes()) })
    }

    /// A picture's body is its bytes, so that a browser can show it. What is no Base64, or not as it is usually written, stays where it
    /// is: it could not be made again.
    fn picture(&mut self, data: &mut String) -> Option<BodyRef> {
        if data.len() <= self.over {
            return None;
        }
        let bytes = BASE64_STANDARD.decode(&*data).ok()?;
        data.clear();
        data.shrink_to_fit();
        Some(self.keep(bytes))
    }

    fn value(&mut self, value: &mut Value) -> Option<BodyRef> {
        if json_bytes(value) <= self.over {
            return None;
        }
        let whole = serde_json::to_vec(value).ok()?;
        let mut room = VALUE_BYTES.min(self.over);
        *value = start_of_value(value, &mut room);
        Some(self.keep(whole))
    }

    fn keep(&mut self, bytes: Vec<u8>) -> BodyRef {
        let body = NewBody::of(bytes);
        let (length, hash) = (body.bytes.len() as u64, body.hash);
        if self.bodies.iter().all(|known| known.hash != hash) {
            self.bodies.push(body);
        }
        BodyRef { of: BodyOf::Shown, item: 0, start: 0, head: 0, bytes: length, sha256: Some(hash) }
    }
}

/// The same value with the beginnings of its texts, and as many of its members as there is room for.
fn start_of_value(value: &Value, room: &mut usize) -> Value {
    let mut take = |bytes: usize| *room = room.saturating_sub(bytes);
    match value {
        Value::String(text) => {
            let kept = &text[..text.floor_char_boundary(VALUE_TEXT_BYTES.min(*room))];
            *room -= kept.len();
            Value::String(kept.to_owned())
        }
        Value::Array(items) => {
            let mut kept = Vec::new();
            for item in items {
                if *room == 0 {
                    break;
                }
                *room -= 1;
                kept.push(start_of_value(item, room));
            }
            Value::Array(kept)
        }
        Value::Object(members) => {
            let mut kept = Map::new();
            for (name, member) in members {
                if *room < name.len() {
                    break;
                }
                *room -= name.len();
                kept.insert(name.clone(), start_of_value(member, room));
            }
            Value::Object(kept)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            take(8);
            value.clone()
        }
    }
}
