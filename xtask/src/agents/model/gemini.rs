//! Gemini's `generateContent` and `streamGenerateContent`, as Gemini CLI asks for them.

use serde_json::{Value, json};

use super::super::http::HttpResponse;
use super::script::{ScriptInput, ScriptReply, Tool, person_words, pieces};
use super::{plain_text, property_names, unique};

pub(super) fn asked(body: &Value) -> ScriptInput {
    let mut asked = ScriptInput::default();
    let contents = body["contents"].as_array().into_iter().flatten();
    for content in contents.filter(|content| content["role"] == "user") {
        let parts = || content["parts"].as_array().into_iter().flatten();
        let results: Vec<_> = parts().filter_map(|part| part.get("functionResponse")).collect();
        // Beside results of tools, a text is the output of one of them.
        if results.is_empty() {
            for words in parts().map(plain_text).filter_map(|text| person_words(&text)) {
                asked.words = words;
                asked.results.clear();
            }
            continue;
        }
        asked.results.extend(results.into_iter().map(|result| result["response"].to_string()));
        asked.results.extend(parts().map(plain_text).filter(|text| !text.is_empty()));
    }
    let groups = body["tools"].as_array().into_iter().flatten();
    let declared = groups.flat_map(|group| group["functionDeclarations"].as_array().into_iter().flatten());
    asked.tools = declared.map(read_tool).collect();
    asked
}

fn read_tool(function: &Value) -> Tool {
    Tool {
        namespace: None,
        name: function["name"].as_str().unwrap_or_default().to_owned(),
        arguments: property_names(&function["parametersJsonSchema"]),
    }
}

/// The path says whether the response is a stream.
pub(super) fn answer(path: &str, reply: &ScriptReply) -> HttpResponse {
    let id = unique("gemini");
    let chunk = |parts: &[Value], finish: Option<&str>| {
        let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts } });
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        let usage = json!({ "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 });
        json!({ "responseId": id, "modelVersion": "scripted", "candidates": [candidate], "usageMetadata": usage })
    };
    if !path.ends_with(":streamGenerateContent") {
        return HttpResponse::Whole { status: 200, body: chunk(&parts(reply), Some("STOP")).to_string() };
    }
    let mut events: Vec<_> = parts(reply).iter().map(|part| chunk(std::slice::from_ref(part), None)).collect();
    let is_whole = !matches!(reply, ScriptReply::Stall { .. });
    if is_whole {
        events.push(chunk(&[json!({ "text": "" })], Some("STOP")));
    }
    let events = events.iter().map(|event| format!("data: {event}\r\n\r\n")).collect();
    if is_whole { HttpResponse::Events(events) } else { HttpResponse::EventsThenSilence(events) }
}

fn parts(reply: &ScriptReply) -> Vec<Value> {
    let texts = |text: &str| pieces(text).map(|piece| json!({ "text": piece })).collect::<Vec<_>>();
    match reply {
        ScriptReply::Say { thought, text } => {
            let thoughts = thought.iter().map(|thought| json!({ "text": thought, "thought": true }));
            thoughts.chain(texts(text)).collect()
        }
        ScriptReply::Stall { text } => texts(text),
        ScriptReply::Calls(calls) => calls
            .iter()
            .map(|call| {
                json!({ "functionCall": { "id": unique("call"), "name": call.tool.name, "args": call.arguments } })
            })
            .collect(),
    }
}
