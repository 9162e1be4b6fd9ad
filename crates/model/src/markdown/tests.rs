//! Sessions as Markdown: every turn's heading is read as one.

use std::fs;
use std::path::Path;

use pulldown_cmark::Tag;
use serde_json::{Value, json};

use super::*;

fn entries(events: &[(&str, Value)]) -> Vec<Entry> {
    let entry = |(index, (kind, data)): (usize, &(&str, Value))| {
        let entry = json!({ "seq": index + 1, "at": "2026-01-02T03:04:05.006Z", "type": kind, "data": data });
        serde_json::from_value(entry).unwrap()
    };
    events.iter().enumerate().map(entry).collect()
}

fn turn(number: u32, prompt: &str, answer: &str) -> Vec<(&'static str, Value)> {
    let id = format!("0190a8c0-0000-7000-8000-{number:012}");
    vec![
        ("turn.started", json!({ "turn": number, "interactionId": id })),
        ("prompt.sent", json!({ "interactionId": id, "text": prompt, "by": { "type": "person" } })),
        ("text.part", json!({ "turn": number, "block": 0, "text": answer })),
        ("turn.ended", json!({ "turn": number, "outcome": "completed" })),
    ]
}

fn written(entries: &[Entry]) -> String {
    let mut writer = MarkdownWriter::default();
    let mut parts = writer.apply(entries);
    parts.extend(writer.end());
    joined(parts)
}

fn joined(parts: Vec<WrittenPart>) -> String {
    let text = |part| match part {
        WrittenPart::Text(text) => text,
        WrittenPart::Output(output) => MarkdownWriter::output(&output, Some("fn main() {}\n```\u{1b}[31m"), None),
    };
    parts.into_iter().map(text).collect()
}

/// The headings of turns, as a parser reads them; those inside of quotes are the person's.
fn headings(text: &str) -> Vec<String> {
    let mut parser = Parser::new(text);
    let (mut found, mut quotes) = (Vec::new(), 0);
    while let Some(event) = parser.next() {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes -= 1,
            Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }) if quotes == 0 => {
                found.extend(parser.next().and_then(|event| match event {
                    Event::Text(words) => Some(words.to_string()),
                    _ => None,
                }));
            }
            _ => (),
        }
    }
    found
}

#[test]
fn no_turn_changes_how_the_next_is_read() {
    let mut events = turn(1, "# a heading\n```\nopen", "text\n````rust\nnever closed\n```");
    events.extend(turn(2, "<!-- open", "- a list\n    ~~~\n    deep"));
    events.extend(turn(3, "go on", "a comment\n\n<!-- ```\nthat never ends"));
    events.extend(turn(4, "and", "<script>\n\nlet a = 1"));
    events.extend(turn(5, "on", "done"));
    let text = written(&entries(&events));
    assert_eq!(headings(&text), ["1", "2", "3", "4", "5"], "{text}");
}

#[test]
fn calls_questions_and_outcomes_are_told() {
    let events = [
        ("turn.started", json!({ "turn": 1, "interactionId": "0190a8c0-0000-7000-8000-0000000000a1" })),
        (
            "prompt.sent",
            json!({ "interactionId": "0190a8c0-0000-7000-8000-0000000000a1", "text": "run `it`\nplease", "by": { "type": "person" } }),
        ),
        (
            "tool.started",
            json!({ "turn": 1, "tool": 1, "callId": "c", "title": "echo ``` hi", "kind": "execute", "status": "completed",
                "content": [{ "type": "terminal", "command": "echo", "output": "```\nhi\n", "exitCode": 3 }] }),
        ),
        (
            "tool.started",
            json!({ "turn": 1, "tool": 2, "callId": "d", "title": "Edit a.rs", "kind": "edit", "status": "completed",
                "content": [{ "type": "diff", "path": "/src/a.rs", "oldText": "a\n", "newText": "b\n" }] }),
        ),
        ("turn.ended", json!({ "turn": 1, "outcome": "failed", "reason": "no *more* credit" })),
    ];
    let expected = "\n## 1\n\n> run `it`\n> please\n\n- ````echo ``` hi```` (exit code 3)\n\n  ````console\n  $ echo\n  ```\n  hi\n  ````\n\n\
         - `Edit a.rs`\n\n  ```diff\n  --- a/src/a.rs\n  +++ b/src/a.rs\n  @@ -1 +1 @@\n  -a\n  +b\n  ```\n\n\
         *This turn: failed: no \\*more\\* credit.*\n";
    assert_eq!(written(&entries(&events)), expected);
}

/// To Markdown a carriage return ends a line, as every progress bar has it.
#[test]
fn a_carriage_return_leads_out_of_no_quote_and_no_fence() {
    let mut events = turn(1, "go\r## 7", "fine\r\nbut\r```\ropen");
    events.insert(
        3,
        (
            "tool.started",
            json!({ "turn": 1, "tool": 1, "callId": "c", "title": "fetch\r## 8", "kind": "execute", "status": "completed",
                "content": [{ "type": "terminal", "command": "fetch", "output": "10%\r# Fake\r## 9\n" },
                    { "type": "link", "uri": "a\n\n<!--", "name": "x\r\r## 10" },
                    { "type": "diff", "path": "a\r## 11", "oldText": "a\r## 12\r", "newText": "b\r" }] }),
        ),
    );
    events.extend(turn(2, "on", "done"));
    let text = written(&entries(&events));
    assert!(!text.contains('\r'), "{text:?}");
    assert_eq!(headings(&text), ["1", "2"], "{text}");
}

#[test]
fn a_turn_that_is_too_long_is_written_as_far_as_there_is_room() {
    let mut events = turn(1, "much", "first");
    let part = "x".repeat(1 << 20);
    for _ in 0..20 {
        events.insert(3, ("text.part", json!({ "turn": 1, "block": 0, "text": part })));
    }
    events.extend(turn(2, "on", "done"));
    let text = written(&entries(&events));
    assert!(text.len() < 18 << 20, "{}", text.len());
    assert!(text.contains("longer than is written here"));
    assert_eq!(headings(&text), ["1", "2"]);
}

/// Whatever way the entries come in pieces, the text is the same, for every transcript there is.
#[test]
fn pieces_give_the_same_text_as_the_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/transcripts");
    let mut turns = 0;
    for file in fs::read_dir(folder).unwrap() {
        let fixture: Value = serde_json::from_slice(&fs::read(file.unwrap().path()).unwrap()).unwrap();
        let entries: Vec<Entry> = serde_json::from_value(fixture["entries"].clone()).unwrap();
        let whole = written(&entries);
        let mut writer = MarkdownWriter::default();
        let mut parts: Vec<_> = entries.iter().flat_map(|entry| writer.apply([entry])).collect();
        parts.extend(writer.end());
        let text = joined(parts);
        assert_eq!(text, whole, "{}", fixture["name"]);
        turns += headings(&whole).len();
    }
    assert!(turns > 20, "{turns}");
}

#[test]
fn a_long_output_keeps_its_beginning() {
    let text: String = (1..=100).map(|n| format!("{n}\n")).collect();
    let head = first_lines(&text);
    assert!(head.ends_with("\n60\n[40 more lines]"), "{head}");
}
