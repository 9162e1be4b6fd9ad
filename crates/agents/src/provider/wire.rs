//! The requests and responses of the three APIs, as their makers document them.
//!
//! Invariant: only the text of a response is used: no thoughts, calls or refusals, and no unknown shape.

use serde::Serialize;
use serde_json::Value;

use super::ProviderRequest;
use super::request_style::{LimitField, RequestStyle};
use super::settings::ProviderKind;

/// The version of the Messages API that accepts a temperature, for models that do; the one of 2026-10-21 accepts
/// none.
pub(super) const ANTHROPIC_VERSION: &str = "2023-06-01";

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct OpenAi<'a> {
    model: &'a str,
    messages: [Message<'a>; 2],
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

#[derive(Serialize)]
struct Anthropic<'a> {
    model: &'a str,
    max_tokens: u32,
    system: &'a str,
    messages: [Message<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

#[derive(Serialize)]
struct Ollama<'a> {
    model: &'a str,
    messages: [Message<'a>; 2],
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<bool>,
    options: OllamaOptions,
}

#[derive(Serialize)]
struct OllamaOptions {
    num_predict: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

/// The path below the provider's address.
pub(super) fn endpoint(kind: ProviderKind) -> &'static [&'static str] {
    match kind {
        ProviderKind::OpenAi => &["chat", "completions"],
        ProviderKind::Anthropic => &["v1", "messages"],
        ProviderKind::Ollama => &["api", "chat"],
    }
}

pub(super) fn body(kind: ProviderKind, model: &str, ask: &ProviderRequest<'_>, style: RequestStyle) -> Vec<u8> {
    let system = Message { role: "system", content: ask.system };
    let user = Message { role: "user", content: ask.user };
    let tokens = style.tokens(ask.max_tokens);
    let temperature = style.with_temperature.then_some(ask.temperature);
    let written = match kind {
        ProviderKind::OpenAi => serde_json::to_vec(&OpenAi {
            model,
            messages: [system, user],
            stream: false,
            max_tokens: (style.limit_word == LimitField::MaxTokens).then_some(tokens),
            max_completion_tokens: (style.limit_word == LimitField::MaxCompletionTokens).then_some(tokens),
            temperature,
        }),
        ProviderKind::Anthropic => serde_json::to_vec(&Anthropic {
            model,
            max_tokens: tokens,
            system: ask.system,
            messages: [user],
            temperature,
        }),
        ProviderKind::Ollama => serde_json::to_vec(&Ollama {
            model,
            messages: [system, user],
            stream: false,
            think: style.without_thinking.then_some(false),
            options: OllamaOptions { num_predict: tokens, temperature },
        }),
    };
    written.expect("texts and numbers can be written as JSON")
}

/// A model's answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModelAnswer {
    /// None if it is empty.
    pub(super) text: Option<String>,
    /// The token limit was reached.
    pub(super) is_cut: bool,
}

/// `None` if the response does not have the shape of this API.
pub(super) fn reply(kind: ProviderKind, answer: &Value) -> Option<ModelAnswer> {
    let (content, reason, cut) = match kind {
        ProviderKind::OpenAi => ("/choices/0/message/content", "/choices/0/finish_reason", "length"),
        ProviderKind::Anthropic => ("/content", "/stop_reason", "max_tokens"),
        ProviderKind::Ollama => ("/message/content", "/done_reason", "length"),
    };
    let said = match (answer.pointer(content), kind) {
        (Some(content), _) => text(content)?,
        // Some servers leave the text out if there is none.
        (None, ProviderKind::OpenAi) => answer.pointer("/choices/0/message").and(Some(String::new()))?,
        (None, ProviderKind::Anthropic | ProviderKind::Ollama) => return None,
    };
    let spoken = without_thoughts(&said);
    let is_cut = answer.pointer(reason).and_then(Value::as_str) == Some(cut);
    Some(ModelAnswer { text: (!spoken.trim().is_empty()).then(|| spoken.to_owned()), is_cut })
}

/// A text, or a list of parts of which the text parts count.
fn text(content: &Value) -> Option<String> {
    match content {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str());
            Some(texts.collect())
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Removes the thoughts that local servers leave before a model's answer.
fn without_thoughts(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>") {
        Some(rest) => rest.split_once("</think>").map_or("", |(_, words)| words),
        None => text,
    }
}

/// The error message of a provider: under `error`, or beside it, as servers that imitate others do.
pub(super) fn message(answer: &Value) -> Option<&str> {
    let places = ["/error/message", "/error", "/message", "/detail"];
    places.iter().find_map(|place| answer.pointer(place)?.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(kind: ProviderKind, answer: &Value, text: Option<&str>, is_cut: bool) {
        assert_eq!(reply(kind, answer), Some(ModelAnswer { text: text.map(str::to_owned), is_cut }), "{answer}");
    }

    #[test]
    fn text_is_taken_and_thoughts_are_not() {
        let openai =
            |message: Value, reason: &str| json!({ "choices": [{ "message": message, "finish_reason": reason }] });
        check(ProviderKind::OpenAi, &openai(json!({ "content": "Fix" }), "stop"), Some("Fix"), false);
        check(
            ProviderKind::OpenAi,
            &openai(json!({ "content": null, "reasoning_content": "hm" }), "length"),
            None,
            true,
        );
        check(ProviderKind::OpenAi, &openai(json!({ "refusal": "no" }), "stop"), None, false);
        check(
            ProviderKind::OpenAi,
            &openai(json!({ "content": "<think>hm</think>\nFix" }), "stop"),
            Some("\nFix"),
            false,
        );
        check(ProviderKind::OpenAi, &openai(json!({ "content": " <think>hm" }), "length"), None, true);
        let parts = json!([{ "type": "thinking", "thinking": [{ "type": "text", "text": "hm" }] }, { "type": "text", "text": "Fix" }]);
        check(ProviderKind::OpenAi, &openai(json!({ "content": parts }), "stop"), Some("Fix"), false);

        let blocks = json!([{ "type": "thinking", "thinking": "hm", "signature": "x" }, { "type": "text", "text": "Fix " }, { "type": "text", "text": "it" }]);
        check(ProviderKind::Anthropic, &json!({ "content": blocks, "stop_reason": "end_turn" }), Some("Fix it"), false);
        check(ProviderKind::Anthropic, &json!({ "content": [], "stop_reason": "max_tokens" }), None, true);

        let ollama = json!({ "message": { "content": "Fix", "thinking": "hm" }, "done": true, "done_reason": "stop" });
        check(ProviderKind::Ollama, &ollama, Some("Fix"), false);
        check(ProviderKind::Ollama, &json!({ "message": { "content": "" }, "done_reason": "length" }), None, true);
    }

    #[test]
    fn a_shape_that_is_not_known_is_no_answer() {
        let strange = [
            json!(null),
            json!([]),
            json!("text"),
            json!({}),
            json!({ "choices": [] }),
            json!({ "choices": [{ "message": { "content": 7 } }] }),
            json!({ "choices": { "0": { "message": { "content": {} } } } }),
            json!({ "content": { "type": "text", "text": "x" } }),
            json!({ "message": { "content": { "a": 1 } } }),
            json!({ "message": "text" }),
        ];
        for answer in strange {
            for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Ollama] {
                assert_eq!(reply(kind, &answer), None, "{kind:?} {answer}");
            }
        }
    }
}
