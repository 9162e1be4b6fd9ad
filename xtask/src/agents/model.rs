//! The scripted model: one port on loopback that speaks the four formats that agents use, and keeps its requests.
//!
//! Invariant: it decides nothing by itself; `script` does, and the formats only translate.

mod chat;
mod gemini;
mod messages;
mod responses;
mod schema;
mod script;

use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::http::{self, HttpResponse, Request};
use script::{ScriptInput, ScriptReply};

pub(super) struct Model {
    pub(super) address: SocketAddr,
    seen: Arc<Mutex<Vec<LoggedRequest>>>,
}

/// A request that offered tools.
#[derive(Clone)]
pub(super) struct LoggedRequest {
    pub(super) tools: Vec<String>,
    /// The newest text of the person in it.
    pub(super) words: String,
    pub(super) body: String,
}

impl Model {
    /// Starts it; each request is appended to `log`, a line each.
    pub(super) fn start(log: &Path) -> anyhow::Result<Self> {
        let log = Mutex::new(File::create(log).with_context(|| format!("could not write {}", log.display()))?);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        let address = http::serve(move |request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            let line = json!({ "method": request.method, "path": request.path, "body": body });
            // If the log cannot be written, only the person who reads it is affected.
            drop(writeln!(log.lock().expect("no writer panics"), "{line}"));
            answer(request, &body, &mut kept.lock().expect("no writer panics"))
        })?;
        Ok(Self { address, seen })
    }

    /// The requests that offered tools, oldest first; most side requests do not.
    pub(super) fn seen(&self) -> Vec<LoggedRequest> {
        self.seen.lock().expect("no writer panics").clone()
    }

    /// The newest request whose last text of the person is this.
    pub(super) fn asked(&self, words: &str) -> anyhow::Result<LoggedRequest> {
        let seen = self.seen();
        let found = seen.into_iter().rfind(|seen| seen.words.contains(words));
        found.with_context(|| format!("the model was never asked {words:?}"))
    }
}

impl LoggedRequest {
    /// Whether the session's own tools are offered.
    pub(super) fn offers_marks(&self) -> bool {
        self.tools.iter().any(|tool| tool.ends_with(script::MARK))
    }

    pub(super) fn offers_lookup(&self) -> bool {
        self.tools.iter().any(|tool| tool.ends_with(script::LOOKUP))
    }
}

fn answer(request: &Request, body: &Value, seen: &mut Vec<LoggedRequest>) -> HttpResponse {
    let path = request.path.as_str();
    if path.ends_with("/models") {
        let models = json!({ "object": "list", "data": [{ "id": "scripted", "object": "model" }], "models": [] });
        return HttpResponse::Whole { status: 200, body: models.to_string() };
    }
    if path.ends_with("/count_tokens") {
        return HttpResponse::Whole { status: 200, body: json!({ "input_tokens": 10 }).to_string() };
    }
    if path.ends_with(":countTokens") {
        return HttpResponse::Whole { status: 200, body: json!({ "totalTokens": 10 }).to_string() };
    }
    let Some(format) = Format::of(path) else {
        return HttpResponse::Whole { status: 404, body: "{}".to_owned() };
    };
    let mut asked = format.asked(body);
    asked.schema = schema::wanted(body).cloned();
    if !asked.tools.is_empty() {
        let text = body.to_string();
        asked.skill_file = script::skill_file(&text);
        let tools = asked.tools.iter().map(|tool| tool.name.clone()).collect();
        seen.push(LoggedRequest { tools, words: asked.words.clone(), body: text });
    }
    format.answer(path, body, &script::reply(&asked))
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Responses,
    Chat,
    Messages,
    Gemini,
}

impl Format {
    fn of(path: &str) -> Option<Self> {
        let formats = [
            ("/responses", Self::Responses),
            ("/chat/completions", Self::Chat),
            ("/messages", Self::Messages),
            (":generateContent", Self::Gemini),
            (":streamGenerateContent", Self::Gemini),
        ];
        formats.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, format)| format)
    }

    fn asked(self, body: &Value) -> ScriptInput {
        match self {
            Self::Responses => responses::asked(body),
            Self::Chat => chat::asked(body),
            Self::Messages => messages::asked(body),
            Self::Gemini => gemini::asked(body),
        }
    }

    fn answer(self, path: &str, body: &Value, reply: &ScriptReply) -> HttpResponse {
        match self {
            Self::Responses => responses::answer(body, reply),
            Self::Chat => chat::answer(body, reply),
            Self::Messages => messages::answer(body, reply),
            Self::Gemini => gemini::answer(path, reply),
        }
    }
}

/// All text of a content value, whatever the format nests it in.
fn plain_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(plain_text).collect::<Vec<_>>().join(" "),
        Value::Object(fields) => {
            ["text", "content", "output"].iter().find_map(|name| fields.get(*name)).map(plain_text).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

fn property_names(schema: &Value) -> Vec<String> {
    schema["properties"].as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect()
}

/// A unique id. Claude joins messages with the same id, so a repeated one would look like an old message.
fn unique(prefix: &str) -> String {
    static IDS: AtomicU64 = AtomicU64::new(0);
    format!("{prefix}_{}", IDS.fetch_add(1, Ordering::Relaxed) + 1)
}

#[cfg(test)]
mod tests;
