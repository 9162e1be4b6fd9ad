//! Sessions as web pages: whatever is said in them stays text.

use serde_json::{Value, json};

use super::*;
use crate::{AboutOutput, Output, OutputId, OutputKind};

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

fn written(events: &[(&str, Value)]) -> String {
    let mut writer = HtmlWriter::default();
    let mut parts = writer.apply(&entries(events));
    parts.extend(writer.end());
    let text = |part| match part {
        WrittenPart::Text(text) => text,
        WrittenPart::Output(output) => HtmlOutput::begin(&output, None) + HtmlOutput::END,
    };
    parts.into_iter().map(text).collect()
}

fn output(kind: OutputKind, mime_type: &str) -> Output {
    Output {
        id: OutputId::from_bytes([7; 16]),
        kind,
        mime_type: mime_type.to_owned(),
        bytes: 3,
        sha256: "a1".repeat(32),
        about: AboutOutput { path: Some("/w/<b>.rs".to_owned()), start_line: Some(998), ..AboutOutput::default() },
    }
}

/// The elements and attributes that a browser would make of it.
fn tags(html: &str) -> Vec<&str> {
    html.split('<').skip(1).filter_map(|rest| rest.split('>').next()).collect()
}

const EVIL: &str = "<script>alert(1)</script> <img src=x onerror=alert(1)> &lt;b&gt;\n\n<iframe src=//x>\n\n\
                    [go](javascript:alert(1)) [data](data:text/html,x) [file](file:///etc/passwd) \
                    ![p](http://x/\"onload=\"y.png) [ok](https://example.org/?a=1&b='2') <javascript:alert(1)>\n\n\
                    ```\"><script>\n</code></pre><script>\n```\n\n| a |\n|---|\n| <td> |\n\n- [ ] <li>";

#[test]
fn nothing_that_was_said_is_markup() {
    let mut events = turn(1, EVIL, EVIL);
    let content = json!([
        { "type": "text", "text": EVIL },
        { "type": "terminal", "command": EVIL, "output": "\u{1b}]52;c;eA==\u{7}\u{1b}[31mred\u{202e}", "exitCode": 1 },
        { "type": "diff", "path": EVIL, "oldText": "<a>", "newText": "<b>" },
        { "type": "link", "uri": "javascript:alert(1)", "name": EVIL },
        { "type": "image", "mimeType": "image/png\" onload=\"x", "data": "AAAA" },
        { "type": "image", "mimeType": "image/png", "data": "AA\" onload=\"x" },
        { "type": "image", "mimeType": "text/html", "data": "AAAA" },
        { "type": "image", "mimeType": "image/png", "data": "AAAA" },
    ]);
    events
        .insert(3, ("tool.started", json!({ "turn": 1, "tool": 1, "callId": "c", "title": EVIL, "content": content })));
    events.insert(4, ("agent.noticed", json!({ "notice": { "severity": "info", "title": EVIL } })));
    let html = written(&events);
    for tag in tags(&html) {
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap();
        assert!(
            !["script", "iframe", "object", "embed", "form", "input", "link", "meta", "base"].contains(&name),
            "<{tag}>"
        );
        assert!(!tag.contains(" on") || tag.contains("noopener"), "<{tag}>");
        let target = tag.split("href=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
        assert!(target.is_none_or(|to| to.starts_with("http") || to.starts_with('#')), "<{tag}>");
        let source = tag.split("src=\"").nth(1);
        assert!(source.is_none_or(|from| from.starts_with("data:image/png;base64,AAAA\"")), "<{tag}>");
    }
    assert_eq!(html.matches("<img ").count(), 1);
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(html.contains("href=\"https://example.org/?a=1&amp;b=&#39;2&#39;\" rel=\"noopener noreferrer\""));
    assert!(
        html.contains("$ &lt;script&gt;") && html.contains("red") && !html.contains(['\u{1b}', '\u{7}', '\u{202e}'])
    );
    assert!(html.contains("<span class=\"removed\">-&lt;a&gt;") && html.contains("<span class=\"added\">+&lt;b&gt;"));
}

/// Every element that is opened is closed, in order.
#[test]
fn the_page_is_well_formed() {
    let mut events = turn(1, EVIL, EVIL);
    events.extend(turn(
        2,
        "> - 1. *a **b* ~~c\n\n<!-- open",
        "# One\n\n1. a\n   - b\n\n   c\n2. d\n\n> q\n\n`code` **x** *y*",
    ));
    events.insert(
        3,
        ("plan.changed", json!({ "turn": 1, "steps": [{ "text": "<x>", "status": "completed", "priority": "high" }] })),
    );
    let html = written(&events);
    let mut open: Vec<&str> = Vec::new();
    for tag in tags(&html) {
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "</{name}>"),
            None => {
                let name = tag.split([' ', '\n']).next().unwrap();
                if !["br", "hr", "img"].contains(&name) {
                    open.push(name);
                }
            }
        }
    }
    assert_eq!(open, Vec::<&str>::new());
    assert!(html.contains("<section class=\"turn solid\" id=\"t2\">") && html.contains("<h3>One</h3>"));
}

#[test]
fn outputs_are_lines_pictures_and_cards() {
    let text = output(OutputKind::File, "text/plain; charset=utf-8");
    assert_eq!(HtmlOutput::of(&text), HtmlOutput::Lines);
    assert!(HtmlOutput::begin(&text, Some("edited")).contains("/w/&lt;b&gt;.rs"));
    let lines = HtmlOutput::lines(&text, "<a>\n\tb\u{1b}[1m\n", true);
    let expected = "<ol class=\"lines digits-4\" start=\"998\">\n<li>&lt;a&gt;</li>\n<li>\tb</li>\n</ol>\n";
    assert!(lines.starts_with(expected) && lines.contains("There is more of it"), "{lines}");
    let many = HtmlOutput::lines(&text, &"x\n".repeat(50), false);
    assert!(many.starts_with("<details><summary>50 lines</summary>") && many.trim_end().ends_with("</details>"));
    assert_eq!(HtmlOutput::of(&output(OutputKind::Image, "image/svg+xml")), HtmlOutput::Picture("image/svg+xml"));
    // What says that it is a picture and names another type is none.
    assert_eq!(HtmlOutput::of(&output(OutputKind::Image, "text/html")), HtmlOutput::Lines);
    assert_eq!(HtmlOutput::of(&output(OutputKind::Raw, "application/zip")), HtmlOutput::Name);
    let embed = output(OutputKind::Embed, "application/json");
    let card_of = |url: &str, title: Option<&str>| {
        let mut embed = embed.clone();
        (embed.about.url, embed.about.title) = (Some(url.to_owned()), title.map(str::to_owned));
        HtmlOutput::card(&embed)
    };
    let card = card_of("https://example.org/<x>", Some("<b>T</b>"));
    assert!(card.contains("href=\"https://example.org/&lt;x&gt;\"") && card.contains("&lt;b&gt;T&lt;/b&gt;"), "{card}");
    let evil = card_of("javascript:alert(1)", None);
    assert!(!evil.contains("href") && evil.contains("/w/&lt;b&gt;.rs"), "{evil}");
}

#[test]
fn a_card_has_its_picture_inside() {
    let mut embed = output(OutputKind::Embed, "image/jpeg");
    (embed.about.url, embed.about.title) = (Some("https://example.org/".to_owned()), Some("<T>".to_owned()));
    assert_eq!(HtmlOutput::of(&embed), HtmlOutput::Card(Some("image/jpeg")));
    let card = HtmlOutput::picture_begin(&embed, "image/jpeg") + "QUJD" + &HtmlOutput::picture_end(&embed);
    let picture = "<div class=\"card\"><img src=\"data:image/jpeg;base64,QUJD\" alt=\"\"><div><a href=";
    assert!(card.starts_with(picture) && card.contains("&lt;T&gt;") && card.ends_with("</div></div>\n"), "{card}");
    // It leads there still where its bytes are gone.
    assert_eq!(HtmlOutput::of(&embed).without_bytes(&embed), HtmlOutput::card(&embed));
    assert_eq!(HtmlOutput::Lines.without_bytes(&embed), "");
    // A card of a page elsewhere that says that it has another type has no picture.
    assert_eq!(HtmlOutput::of(&output(OutputKind::Embed, "text/html")), HtmlOutput::Card(None));
}
