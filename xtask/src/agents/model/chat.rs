//! OpenAI's chat completions, as opencode asks for them.

use serde_json::{Value, json};

use super::super::http::HttpResponse;
use super::script::{ScriptInput, ScriptReply, Tool, ToolUse, person_words, pieces};
use super::{plain_text, property_names, unique};

pub(super) fn asked(body: &Value) -> ScriptInput {
    let mut asked = ScriptInput::default();
    for message in body["messages"].as_array().into_iter().flatten() {
        match message["role"].as_str() {
            Some("user") => {
                let texts: Vec<_> = match &message["content"] {
                    Value::Array(parts) => parts.iter().map(plain_text).collect(),
                    other => vec![plain_text(other)],
                };
                if let Some(words) = texts.iter().rev().find_map(|text| person_words(text)) {
                    asked.words = words;
                    asked.results.clear();
                }
            }
            Some("tool") => asked.results.push(plain_text(&message["content"])),
            Some(_) | None => (),
        }
    }
    asked.tools = body["tools"].as_array().into_iter().flatten().map(|tool| read_tool(&tool["function"])).collect();
    asked
}

fn read_tool(function: &Value) -> Tool {
    Tool {
        namespace: None,
        name: function["name"].as_str().unwrap_or_default().to_owned(),
        arguments: property_names(&function["parameters"]),
    }
}

pub(super) fn answer(body: &Value, reply: &ScriptReply) -> HttpResponse {
    let id = unique("chat");
    let model = body["model"].as_str().unwrap_or_default();
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
    if body["stream"].as_bool() != Some(true) {
        let (message, finish) = whole(reply);
        let answer = json!({
            "id": id, "object": "chat.completion", "created": 1, "model": model, "usage": usage,
            "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        });
        return HttpResponse::Whole { status: 200, body: answer.to_string() };
    }
    let chunk = |choices: Value, usage: &Value| {
        let chunk = json!({
            "id": id, "object": "chat.completion.chunk", "created": 1, "model": model, "choices": choices, "usage": usage,
        });
        format!("data: {chunk}\n\n")
    };
    let delta = |delta: Value, finish: Option<&str>| {
        chunk(json!([{ "index": 0, "delta": delta, "finish_reason": finish }]), &Value::Null)
    };
    let mut events = vec![delta(json!({ "role": "assistant", "content": "" }), None)];
    let finish = match reply {
        ScriptReply::Say { thought, text } => {
            let thoughts = thought.iter().flat_map(|thought| pieces(thought));
            events.extend(thoughts.map(|piece| delta(json!({ "reasoning_content": piece }), None)));
            events.extend(pieces(text).map(|piece| delta(json!({ "content": piece }), None)));
            "stop"
        }
        ScriptReply::Calls(calls) => {
            let calls = calls.iter().enumerate().map(|(index, call)| {
                let mut call = write_call(call);
                call["index"] = json!(index);
                delta(json!({ "tool_calls": [call] }), None)
            });
            events.extend(calls);
            "tool_calls"
        }
        ScriptReply::Stall { text } => {
            events.extend(pieces(text).map(|piece| delta(json!({ "content": piece }), None)));
            return HttpResponse::EventsThenSilence(events);
        }
    };
    events.push(delta(json!({}), Some(finish)));
    events.push(chunk(json!([]), &usage));
    events.push("data: [DONE]\n\n".to_owned());
    HttpResponse::Events(events)
}

fn whole(reply: &ScriptReply) -> (Value, &'static str) {
    match reply {
        ScriptReply::Say { text, .. } | ScriptReply::Stall { text } => {
            (json!({ "role": "assistant", "content": text }), "stop")
        }
        ScriptReply::Calls(calls) => {
            let calls: Vec<_> = calls.iter().map(write_call).collect();
            (json!({ "role": "assistant", "content": null, "tool_calls": calls }), "tool_calls")
        }
    }
}

fn write_call(call: &ToolUse) -> Value {
    json!({
        "id": unique("call"),
        "type": "function",
        "function": { "name": call.tool.name, "arguments": call.arguments.to_string() },
    })
}
