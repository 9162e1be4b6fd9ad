//! Anthropic's messages, as Claude asks for them.

use serde_json::{Value, json};

use super::super::http::HttpResponse;
use super::script::{ScriptInput, ScriptReply, Tool, person_words, pieces};
use super::{plain_text, property_names, unique};

pub(super) fn asked(body: &Value) -> ScriptInput {
    let mut asked = ScriptInput::default();
    for message in body["messages"].as_array().into_iter().flatten() {
        if message["role"] != "user" {
            continue;
        }
        let blocks = match &message["content"] {
            Value::Array(blocks) => blocks.clone(),
            text => vec![json!({ "type": "text", "text": text })],
        };
        // The person's next text may follow the results of earlier tools.
        for block in &blocks {
            let text = plain_text(block);
            if block["type"] == "tool_result" {
                asked.results.push(text);
            } else if let Some(words) = person_words(&text).filter(|_| block["type"] == "text") {
                asked.words = words;
                asked.results.clear();
            }
        }
    }
    asked.tools = body["tools"].as_array().into_iter().flatten().map(read_tool).collect();
    asked
}

fn read_tool(tool: &Value) -> Tool {
    Tool {
        namespace: None,
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        arguments: property_names(&tool["input_schema"]),
    }
}

pub(super) fn answer(body: &Value, reply: &ScriptReply) -> HttpResponse {
    let id = unique("msg");
    let blocks = blocks(reply);
    let stop = if matches!(reply, ScriptReply::Calls(_)) { "tool_use" } else { "end_turn" };
    let usage = json!({
        "input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
    });
    let message = |content: &Value, stop: Option<&str>| {
        json!({
            "id": id, "type": "message", "role": "assistant", "model": body["model"], "content": content,
            "stop_reason": stop, "stop_sequence": null, "usage": usage,
        })
    };
    if body["stream"].as_bool() != Some(true) {
        return HttpResponse::Whole { status: 200, body: message(&json!(blocks), Some(stop)).to_string() };
    }
    let mut events = vec![event("message_start", json!({ "message": message(&json!([]), None) }))];
    for (index, block) in blocks.iter().enumerate() {
        events.extend(block_events(index, block));
        if matches!(reply, ScriptReply::Stall { .. }) {
            // Without the block's end.
            events.pop();
            return HttpResponse::EventsThenSilence(events);
        }
    }
    let delta = json!({ "stop_reason": stop, "stop_sequence": null });
    events.push(event("message_delta", json!({ "delta": delta, "usage": usage })));
    events.push(event("message_stop", json!({})));
    HttpResponse::Events(events)
}

fn blocks(reply: &ScriptReply) -> Vec<Value> {
    match reply {
        ScriptReply::Say { thought, text } => {
            let thought = thought
                .iter()
                .map(|thought| json!({ "type": "thinking", "thinking": thought, "signature": "c2NyaXB0" }));
            thought.chain([json!({ "type": "text", "text": text })]).collect()
        }
        ScriptReply::Stall { text } => vec![json!({ "type": "text", "text": text })],
        ScriptReply::Calls(calls) => calls
            .iter()
            .map(|call| {
                let id = unique("toolu");
                json!({ "type": "tool_use", "id": id, "name": call.tool.name, "input": call.arguments })
            })
            .collect(),
    }
}

fn block_events(index: usize, block: &Value) -> Vec<String> {
    let mut empty = block.clone();
    let mut deltas = Vec::new();
    match block["type"].as_str() {
        Some("thinking") => {
            empty["thinking"] = json!("");
            empty["signature"] = json!("");
            let text = plain_text(&block["thinking"]);
            deltas.extend(pieces(&text).map(|piece| json!({ "type": "thinking_delta", "thinking": piece })));
            deltas.push(json!({ "type": "signature_delta", "signature": block["signature"] }));
        }
        Some("tool_use") => {
            empty["input"] = json!({});
            deltas.push(json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() }));
        }
        Some(_) | None => {
            empty["text"] = json!("");
            let text = plain_text(&block["text"]);
            deltas.extend(pieces(&text).map(|piece| json!({ "type": "text_delta", "text": piece })));
        }
    }
    let start = event("content_block_start", json!({ "index": index, "content_block": empty }));
    let middle =
        deltas.into_iter().map(|delta| event("content_block_delta", json!({ "index": index, "delta": delta })));
    let stop = event("content_block_stop", json!({ "index": index }));
    [start].into_iter().chain(middle).chain([stop]).collect()
}

fn event(kind: &str, mut data: Value) -> String {
    data["type"] = json!(kind);
    format!("event: {kind}\ndata: {data}\n\n")
}
