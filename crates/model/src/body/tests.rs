//! Tests that what is cut out of an event comes back, and what a reader is told when it does not.

use std::collections::HashMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use super::*;
use crate::{Author, InteractionId, ToolCall, ToolChange, ToolContent, Turn};

fn long(word: &str) -> String {
    (0..8_000).map(|n| format!("{word} {n} é𝄞\n")).collect()
}

fn ended(change: ToolChange) -> SessionEvent {
    SessionEvent::ToolEnded { turn: Turn(1), tool: 1, change }
}

fn change() -> ToolChange {
    let picture = BASE64_STANDARD.encode(vec![7; 90_000]);
    let content = vec![
        ToolContent::Text { text: long("text") },
        ToolContent::Image { mime_type: "image/png".to_owned(), data: picture },
        ToolContent::Diff { path: "a.rs".to_owned(), old_text: Some(long("old")), new_text: long("new") },
        ToolContent::Terminal { command: "make".to_owned(), output: long("printed"), exit_code: Some(2) },
        ToolContent::Raw { value: json!({ "list": vec!["row"; 20_000] }) },
        ToolContent::Text { text: "short".to_owned() },
    ];
    ToolChange {
        content: Some(content),
        input: Some(json!({ "content": long("input"), "file_path": "/w/a.rs" })),
        output: Some(json!(long("output"))),
        ..ToolChange::default()
    }
}

fn finder(bodies: &[NewBody]) -> impl Fn(&BodyRef) -> FoundBody {
    let bodies: HashMap<_, _> = bodies.iter().map(|body| (body.hash, body.bytes.to_vec())).collect();
    move |body| match body.sha256 {
        None => FoundBody::Lost(BodyLoss::NotKept),
        Some(hash) => {
            bodies.get(&hash).map_or(FoundBody::Lost(BodyLoss::Gone), |bytes| FoundBody::Whole(bytes.clone()))
        }
    }
}

#[test]
fn what_is_cut_comes_back() {
    let whole = ended(change());
    let mut event = whole.clone();
    let bodies = event.cut(BODY_BYTES);
    assert_eq!(bodies.len(), 8);
    assert!(event.about_bytes() < 60_000, "{}", event.about_bytes());
    let refs: u64 = event.bodies().iter().map(|body| body.bytes).sum();
    assert_eq!(refs, bodies.iter().map(|body| body.bytes.len() as u64).sum::<u64>());
    // It is written down and read again like that, and is not cut twice.
    let stored = serde_json::to_vec(&event).unwrap();
    let mut read: SessionEvent = serde_json::from_slice(&stored).unwrap();
    assert_eq!(read, event);
    assert_eq!(read.cut(BODY_BYTES), []);
    read.restore(&finder(&bodies));
    assert_eq!(read, whole);
}

#[test]
fn what_is_short_stays_in_the_event() {
    let text = "x".repeat(BODY_BYTES);
    let content = Some(vec![ToolContent::Text { text }]);
    let whole = ended(ToolChange { content, ..ToolChange::default() });
    let mut event = whole.clone();
    assert_eq!(event.cut(BODY_BYTES), []);
    assert_eq!(event, whole);
}

#[test]
fn the_shape_of_json_stays() {
    let mut event = ended(change());
    event.cut(BODY_BYTES);
    let SessionEvent::ToolEnded { change, .. } = &event else { panic!() };
    let input = change.input.as_ref().unwrap();
    assert_eq!(input["file_path"], "/w/a.rs");
    assert!(input["content"].as_str().unwrap().starts_with("input 0"));
}

#[test]
fn a_call_that_grows_behind_a_cut_text_comes_back_whole() {
    let parts = [long("one"), "two é\n".to_owned(), long("three"), "four".to_owned()];
    let mut call = ToolCall::begin(1, "c".to_owned(), &ToolChange::default());
    let mut bodies = Vec::new();
    for text in &parts {
        let mut part = SessionEvent::ToolPart { turn: Turn(1), tool: 1, text: text.clone(), body: None };
        bodies.extend(part.cut(BODY_BYTES));
        let SessionEvent::ToolPart { text, body, .. } = &part else { panic!() };
        call.add_part(text, body.as_ref());
    }
    assert_eq!(call.bodies.len(), 2);
    let mut lost = call.clone();
    call.restore(&finder(&bodies));
    assert_eq!(call.content, [ToolContent::Text { text: parts.concat() }]);
    // The beginnings stay where they belong.
    lost.restore(&|_| FoundBody::Lost(BodyLoss::Gone));
    let ToolContent::Text { text } = &lost.content[0] else { panic!() };
    let places: Vec<_> =
        ["one 0", "more bytes are gone", "two é", "three 0", "four"].map(|word| text.find(word)).into();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
}

#[test]
fn what_a_change_replaces_takes_its_bodies_with_it() {
    let cut = |mut change: ToolChange| {
        let mut event = ended(std::mem::take(&mut change));
        event.cut(BODY_BYTES);
        let SessionEvent::ToolEnded { change, .. } = event else { panic!() };
        change
    };
    let mut call = ToolCall::begin(1, "c".to_owned(), &cut(change()));
    let of = |call: &ToolCall| call.bodies.iter().map(|body| body.of).collect::<Vec<_>>();
    let again =
        ToolChange { content: Some(vec![ToolContent::Text { text: "new".to_owned() }]), ..ToolChange::default() };
    call.change(&again);
    assert_eq!(of(&call), [BodyOf::Input, BodyOf::Output]);
    call.change(&ToolChange { input: Some(json!(1)), ..ToolChange::default() });
    assert_eq!(of(&call), [BodyOf::Output]);
    assert_eq!(call.as_change().bodies, call.bodies);
}

#[test]
fn a_picture_without_room_goes_back_and_a_text_keeps_its_head() {
    let data = BASE64_STANDARD.encode(vec![9; 200_000]);
    let whole = SessionEvent::PromptQueued {
        interaction_id: InteractionId::from_bytes([1; 16]),
        text: "look".to_owned(),
        images: vec![Image { mime_type: "image/png".to_owned(), data, body: None }],
        by: Author::default(),
    };
    let mut event = whole.clone();
    let bodies = event.cut(BODY_BYTES);
    assert_eq!(*bodies[0].bytes, vec![9; 200_000][..]);
    let lost = bodies.iter().map(|body| body.hash).collect();
    let mut unkept = event.clone();
    unkept.unkeep(&lost, &bodies);
    assert_eq!(unkept, whole);
    event.restore(&finder(&bodies));
    assert_eq!(event, whole);

    let mut event = ended(change());
    let bodies = event.cut(BODY_BYTES);
    event.unkeep(&bodies.iter().map(|body| body.hash).collect(), &bodies);
    assert_eq!(event.body_hashes().count(), 0);
    event.restore(&finder(&bodies));
    let SessionEvent::ToolEnded { change, .. } = event else { panic!() };
    let Some([ToolContent::Text { text }, ToolContent::Text { text: picture }, ..]) = change.content.as_deref() else {
        panic!("{change:?}")
    };
    assert!(text.starts_with("text 0") && text.contains("were not kept"), "{text}");
    assert!(picture.contains("image/png") && picture.contains("were not kept"), "{picture}");
}

#[test]
fn a_picture_that_is_no_base64_stays_as_it_came() {
    let content = vec![ToolContent::Image { mime_type: "image/png".to_owned(), data: "?".repeat(BODY_BYTES + 1) }];
    let mut event = ended(ToolChange { content: Some(content), ..ToolChange::default() });
    assert_eq!(event.cut(BODY_BYTES), []);
}

#[test]
fn a_hash_has_one_spelling() {
    let hash = BodyHash::of(b"x");
    assert_eq!(hash.to_string().parse(), Ok(hash));
    for bad in ["", "../../x", &hash.to_string().to_uppercase(), &format!("{hash}0"), &"+".repeat(64)] {
        assert!(bad.parse::<BodyHash>().is_err(), "{bad}");
    }
}
