//! Gives an event or a call its bodies again.
//!
//! Invariant: whatever became of a body, the rest of the event is as it was, and a text that lacks something says so.

use std::cell::Cell;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::{BodyOf, BodyRef, MAX_BODY_BYTES};
use crate::{Image, SessionEvent, ToolCall, ToolChange, ToolContent};

/// What was found where a body should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundBody {
    /// All of it, as it was stored.
    Whole(Vec<u8>),
    /// It is not there as it was stored.
    Lost(BodyLoss),
}

/// Why a body is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyLoss {
    /// There was no room for it when it came.
    NotKept,
    /// Its file was moved or removed.
    Gone,
    /// Somebody edited its file.
    Changed,
    /// It can not be read now.
    Unreadable,
}

impl BodyLoss {
    /// What a reader is told of the bytes that are missing.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotKept => "were not kept: there was no room for them",
            Self::Gone => "are gone: their file was moved or removed",
            Self::Changed => "are left out: their file was edited",
            Self::Unreadable => "can not be read now",
        }
    }
}

/// Finds the body of a reference.
type Find<'a> = &'a dyn Fn(&BodyRef) -> FoundBody;

impl SessionEvent {
    /// Puts its bodies back; afterwards it refers to none. A prompt's picture that is lost has no data.
    pub fn restore(&mut self, find: Find<'_>) {
        let find: Find<'_> = &bounded(find);
        match self {
            Self::PromptQueued { images, .. } | Self::PromptSent { images, .. } => {
                images.iter_mut().for_each(|image| image.restore(find));
            }
            Self::ToolStarted { change, .. } | Self::ToolChanged { change, .. } | Self::ToolEnded { change, .. } => {
                change.restore(find);
            }
            Self::ToolPart { text, body, .. } => restore_text(text, &body.take().into_iter().collect::<Vec<_>>(), find),
            _ => (),
        }
    }
}

/// Finds bodies as long as they are together no more than one may have: an entry that came from elsewhere may name one many times.
fn bounded(find: Find<'_>) -> impl Fn(&BodyRef) -> FoundBody + '_ {
    let left = Cell::new(MAX_BODY_BYTES);
    move |body| match left.get().checked_sub(body.bytes) {
        Some(rest) => {
            left.set(rest);
            find(body)
        }
        None => FoundBody::Lost(BodyLoss::Unreadable),
    }
}

impl Image {
    /// Puts its body back; if that is lost, it has no data.
    pub fn restore(&mut self, find: Find<'_>) {
        if let Some(body) = self.body.take()
            && let FoundBody::Whole(bytes) = find(&body)
        {
            self.data = BASE64_STANDARD.encode(bytes);
        }
    }
}

impl ToolChange {
    fn restore(&mut self, find: Find<'_>) {
        let bodies = std::mem::take(&mut self.bodies);
        let content = self.content.as_deref_mut().unwrap_or_default();
        restore_call(content, self.input.as_mut(), self.output.as_mut(), &bodies, find);
    }
}

impl ToolCall {
    /// Puts its bodies back; afterwards it refers to none.
    pub fn restore(&mut self, find: Find<'_>) {
        let find: Find<'_> = &bounded(find);
        let bodies = std::mem::take(&mut self.bodies);
        restore_call(&mut self.content, self.input.as_mut(), self.output.as_mut(), &bodies, find);
    }
}

fn restore_call(
    content: &mut [ToolContent],
    input: Option<&mut Value>,
    output: Option<&mut Value>,
    bodies: &[BodyRef],
    find: Find<'_>,
) {
    for (item, shown) in (0..).zip(content) {
        let of = |of: BodyOf| -> Vec<BodyRef> {
            bodies.iter().filter(|body| (body.of, body.item) == (of, item)).cloned().collect()
        };
        match shown {
            ToolContent::Text { text } | ToolContent::Terminal { output: text, .. } => {
                restore_text(text, &of(BodyOf::Shown), find);
            }
            ToolContent::Diff { old_text, new_text, .. } => {
                if let Some(text) = old_text {
                    restore_text(text, &of(BodyOf::OldText), find);
                }
                restore_text(new_text, &of(BodyOf::NewText), find);
            }
            ToolContent::Image { mime_type, data } => {
                let found = of(BodyOf::Shown).first().map(find);
                match found {
                    Some(FoundBody::Whole(bytes)) => *data = BASE64_STANDARD.encode(bytes),
                    Some(FoundBody::Lost(loss)) => {
                        let text = format!("[A picture ({mime_type}) was here; its bytes {}.]", loss.words());
                        *shown = ToolContent::Text { text };
                    }
                    None => (),
                }
            }
            ToolContent::Raw { value } => restore_value(value, of(BodyOf::Shown).first(), find),
            ToolContent::Link { .. } | ToolContent::Omitted { .. } => (),
        }
    }
    for (value, of) in [(input, BodyOf::Input), (output, BodyOf::Output)] {
        if let Some(value) = value {
            restore_value(value, bodies.iter().find(|body| body.of == of), find);
        }
    }
}

fn restore_value(value: &mut Value, body: Option<&BodyRef>, find: Find<'_>) {
    if let Some(FoundBody::Whole(bytes)) = body.map(find)
        && let Ok(whole) = serde_json::from_slice(&bytes)
    {
        *value = whole;
    }
}

/// Puts each body in the place of its head.
fn restore_text(text: &mut String, bodies: &[BodyRef], find: Find<'_>) {
    if bodies.is_empty() {
        return;
    }
    let mut whole = String::new();
    let mut at = 0;
    for body in bodies {
        let start = byte_at(text, at, body.start.saturating_sub(super::utf16_len(&text[..at])));
        let end = byte_at(text, start, body.head);
        whole.push_str(&text[at..start]);
        let loss = match find(body) {
            FoundBody::Whole(bytes) => match String::from_utf8(bytes) {
                Ok(found) => {
                    whole.push_str(&found);
                    None
                }
                Err(_) => Some(BodyLoss::Changed),
            },
            FoundBody::Lost(loss) => Some(loss),
        };
        if let Some(loss) = loss {
            let missing = body.bytes.saturating_sub((end - start) as u64);
            whole.push_str(&text[start..end]);
            whole.push_str(&format!("\n[… {missing} more bytes {} …]\n", loss.words()));
        }
        at = end;
    }
    whole.push_str(&text[at..]);
    *text = whole;
}

/// The byte that lies so many UTF-16 code units after another; the end, if there are fewer.
fn byte_at(text: &str, from: usize, units: u32) -> usize {
    let mut left = units as usize;
    for (at, character) in text[from..].char_indices() {
        if left < character.len_utf16() {
            return from + at;
        }
        left -= character.len_utf16();
    }
    text.len()
}
