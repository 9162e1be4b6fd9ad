//! Tests of the four formats: how a request is read, and what an agent would read from the answer.

use super::script::{Tool, ToolUse};
use super::*;

/// A lookup, its result, and a next request in the same conversation, with what agents add in between.
fn bodies() -> [(Format, Value, Option<&'static str>); 4] {
    let parameters = json!({ "type": "object", "properties": { "name": {} } });
    let responses = json!({
        "stream": true,
        "input": [
            { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "please lookup kumquat" }] },
            { "type": "function_call", "call_id": "1", "name": "lookup_note" },
            { "type": "function_call_output", "call_id": "1", "output": [{ "type": "input_text", "text": "a fruit" }] },
            { "type": "message", "role": "user", "content": [
                { "type": "input_text", "text": "please lookup plum" },
                { "type": "input_text", "text": "<environment_context/>" },
            ] },
        ],
        "tools": [{ "type": "namespace", "name": "mcp__notes", "tools": [{ "name": "lookup_note", "parameters": parameters }] }],
    });
    let chat = json!({
        "stream": true,
        "messages": [
            { "role": "user", "content": "please lookup kumquat" },
            { "role": "tool", "tool_call_id": "1", "content": "a fruit" },
            { "role": "user", "content": [{ "type": "text", "text": "please lookup plum" }] },
        ],
        "tools": [{ "type": "function", "function": { "name": "notes_lookup_note", "parameters": parameters } }],
    });
    let messages = json!({
        "stream": true,
        "messages": [
            { "role": "user", "content": "please lookup kumquat" },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "1", "name": "mcp__notes__lookup_note" }] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "1", "content": [{ "type": "text", "text": "a fruit" }] },
                { "type": "text", "text": "please lookup plum" },
                { "type": "text", "text": "<system-reminder>be nice</system-reminder>" },
            ] },
            { "role": "system", "content": "tokens left" },
        ],
        "tools": [{ "name": "mcp__notes__lookup_note", "input_schema": parameters }],
    });
    let gemini = json!({
        "contents": [
            { "role": "user", "parts": [{ "text": "<session_context>\n</session_context>" }, { "text": "please lookup kumquat" }] },
            { "role": "model", "parts": [{ "functionCall": { "name": "mcp_notes_lookup_note" } }] },
            { "role": "user", "parts": [{ "functionResponse": { "response": { "output": "a fruit" } } }] },
            { "role": "user", "parts": [{ "text": "please lookup plum" }] },
        ],
        "tools": [{ "functionDeclarations": [{ "name": "mcp_notes_lookup_note", "parametersJsonSchema": parameters }] }],
    });
    [
        (Format::Responses, responses, Some("mcp__notes")),
        (Format::Chat, chat, None),
        (Format::Messages, messages, None),
        (Format::Gemini, gemini, None),
    ]
}

#[test]
fn the_newest_words_are_what_is_asked() {
    for (format, body, namespace) in bodies() {
        let asked = format.asked(&body);
        assert_eq!(asked.words, "please lookup plum", "{format:?}");
        assert_eq!(asked.results, Vec::<String>::new(), "{format:?}");
        let [tool] = &asked.tools[..] else { panic!("{format:?}: {asked:?}") };
        assert!(tool.name.ends_with(script::LOOKUP), "{format:?}");
        assert_eq!(
            (tool.namespace.as_deref(), &tool.arguments[..]),
            (namespace, &["name".to_owned()][..]),
            "{format:?}"
        );
    }
}

#[test]
fn results_follow_the_words_they_belong_to() {
    for (format, mut body, _) in bodies() {
        let newest_words = match format {
            Format::Responses => body["input"].as_array_mut().map(Vec::pop),
            Format::Chat => body["messages"].as_array_mut().map(Vec::pop),
            Format::Gemini => body["contents"].as_array_mut().map(Vec::pop),
            // The result and the next text share a message.
            Format::Messages => body["messages"][2]["content"].as_array_mut().map(|blocks| Some(blocks.remove(1))),
        };
        assert!(newest_words.flatten().is_some_and(|words| words.to_string().contains("plum")), "{format:?}");
        let asked = format.asked(&body);
        assert_eq!(asked.words, "please lookup kumquat", "{format:?}");
        assert!(matches!(&asked.results[..], [result] if result.contains("a fruit")), "{format:?}: {asked:?}");
    }
}

#[test]
fn an_answer_is_whole_or_a_stream_of_the_same() {
    let tool = Tool { namespace: None, name: "lookup_note".to_owned(), arguments: Vec::new() };
    let call = ScriptReply::Calls(vec![ToolUse { tool, arguments: json!({ "name": "plum" }) }]);
    let said = ScriptReply::Say { thought: Some("Hm, well.".to_owned()), text: "It is a fruit.".to_owned() };
    for (format, body, _) in bodies() {
        for (reply, expected) in [(&call, "lookup_note"), (&said, "fruit.")] {
            let HttpResponse::Events(events) = format.answer(":streamGenerateContent", &body, reply) else {
                panic!("{format:?} is not streamed")
            };
            assert!(events.iter().any(|event| event.contains(expected)), "{format:?}: {events:?}");
            for event in &events {
                let data = event.trim_end().rsplit("data: ").next().unwrap();
                assert!(data == "[DONE]" || serde_json::from_str::<Value>(data).is_ok(), "{format:?}: {event}");
            }
            let HttpResponse::Whole { status, body } = format.answer(":generateContent", &Value::Null, reply) else {
                panic!("{format:?} streams")
            };
            assert_eq!((status, body.contains(expected)), (200, true), "{format:?}: {body}");
        }
        let stalled = ScriptReply::Stall { text: "Wait.".to_owned() };
        assert!(
            matches!(format.answer(":streamGenerateContent", &body, &stalled), HttpResponse::EventsThenSilence(_)),
            "{format:?}"
        );
    }
}
