//! What agents ask, and what they hear.

use agents::Call;
use insta::assert_snapshot;
use serde_json::json;

use crate::support::Place;

#[tokio::test]
async fn a_question_waits_for_its_answer_and_takes_one() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    talk.prompt("ask rm -rf /").await;
    let (key, asked) = talk.asked().await;
    assert_snapshot!(asked, @r#"
    tool 1 started c1 {"title":"List\u001b[2K files\u{202e}","kind":"execute","input":{"command":"rm -rf /"}}
    asked 1 {"tool":1,"title":"List\u001b[2K files\u{202e}","kind":"execute","subject":"rm -rf /","digest":"27fcdc81274547bf2f10b72cabfb0f1f9bcab38d0370c563c555885e95058f9e","options":[{"id":"y","name":"Yes","kind":"allow_once"},{"id":"n","name":"No","kind":"reject_once"}]}
    "#);
    talk.answer(key, Some("y"), None).await;
    talk.answer(key, Some("n"), None).await;
    talk.answer(99, Some("n"), None).await;
    talk.answer(key, None, None).await;
    assert_snapshot!(talk.over().await, @r#"
    text 0 {"outcome":{"outcome":"selected","optionId":"y"}}
    stopped {"outcome":"completed"}
    "#);
    assert_snapshot!(talk.turn("hello").await, @r#"
    text 0 hello
    stopped {"outcome":"completed"}
    "#);
    assert_eq!(place.notes(), "");
}

#[tokio::test]
async fn a_question_is_withdrawn_if_nobody_answers_or_with_what_was_not_offered() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    for option in [None, Some("whatever")] {
        talk.prompt("ask ls").await;
        let (key, _) = talk.asked().await;
        talk.answer(key, option, None).await;
        let told = talk.over().await;
        insta::allow_duplicates! { assert_snapshot!(told, @r#"
    text 0 {"outcome":{"outcome":"cancelled"}}
    stopped {"outcome":"completed"}
    "#); }
    }
    // A turn that is stopped takes its questions with it.
    talk.prompt("ask ls").await;
    talk.asked().await;
    talk.call(Call::Cancel).await;
    assert_snapshot!(talk.over().await, @r#"
    text 0 {"outcome":{"outcome":"cancelled"}}
    stopped {"outcome":"completed"}
    "#);
}

#[tokio::test]
async fn nobody_is_asked_between_turns() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    talk.turn("ask-late").await;
    assert_eq!(place.noted("{").await, r#"{"outcome":{"outcome":"cancelled"}}"#);
    assert_snapshot!(talk.turn("hello").await, @r#"
    text 0 hello
    stopped {"outcome":"completed"}
    "#);
}

#[tokio::test]
async fn a_form_is_filled_in_or_not() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    let answers = [
        (Some("accept"), Some(json!({ "branch": "main" }))),
        (Some("accept"), Some(json!({ "branch": { "deep": 1 } }))),
        (Some("decline"), None),
        (None, None),
    ];
    let mut told = String::new();
    for (option, fields) in answers {
        talk.prompt("form").await;
        let (key, asked) = talk.asked().await;
        talk.answer(key, option, fields).await;
        told += &asked;
        told += &talk.over().await;
    }
    assert_snapshot!(told, @r#"
    asked 1 {"title":"Which?","kind":"other","options":[{"id":"accept","name":"Accept","kind":"allow_once"},{"id":"decline","name":"Decline","kind":"reject_once"}],"form":{"type":"object","properties":{"branch":{"type":"string"}}}}
    text 0 {"action":"accept","content":{"branch":"main"}}
    stopped {"outcome":"completed"}
    asked 2 {"title":"Which?","kind":"other","options":[{"id":"accept","name":"Accept","kind":"allow_once"},{"id":"decline","name":"Decline","kind":"reject_once"}],"form":{"type":"object","properties":{"branch":{"type":"string"}}}}
    text 0 {"action":"cancel"}
    stopped {"outcome":"completed"}
    asked 3 {"title":"Which?","kind":"other","options":[{"id":"accept","name":"Accept","kind":"allow_once"},{"id":"decline","name":"Decline","kind":"reject_once"}],"form":{"type":"object","properties":{"branch":{"type":"string"}}}}
    text 0 {"action":"decline"}
    stopped {"outcome":"completed"}
    asked 4 {"title":"Which?","kind":"other","options":[{"id":"accept","name":"Accept","kind":"allow_once"},{"id":"decline","name":"Decline","kind":"reject_once"}],"form":{"type":"object","properties":{"branch":{"type":"string"}}}}
    text 0 {"action":"cancel"}
    stopped {"outcome":"completed"}
    "#);
}
