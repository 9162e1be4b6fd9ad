//! Tests agents' questions, and the answers that they receive.

use agents::{AgentLimits, AgentRequest, AgentUpdate};
use insta::assert_snapshot;
use serde_json::json;

use crate::support::{Place, millis};

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
    // A turn that is stopped withdraws its questions.
    talk.prompt("ask ls").await;
    talk.asked().await;
    talk.call(AgentRequest::Cancel).await;
    assert_snapshot!(talk.over().await, @r#"
    text 0 {"outcome":{"outcome":"cancelled"}}
    stopped {"outcome":"completed"}
    "#);
}

const YES: &str = r#"{"outcome":{"outcome":"selected","optionId":"y"}}"#;
const WITHDRAWN: &str = r#"{"outcome":{"outcome":"cancelled"}}"#;

#[tokio::test]
async fn a_question_after_a_turn_outlasts_the_next_and_knows_its_call() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    talk.turn("ask-late make watch").await;
    let (key, asked) = talk.asked().await;
    assert_snapshot!(asked, @r#"
    raw {"late":{"toolCallId":"c1","title":"Go on?"}}
    asked 1 {"title":"Go on?","kind":"execute","subject":"make watch","digest":"1650ab00194d4c0b09de4311bbe5726591263de57d5e5276f8de7fefe469c22d","options":[{"id":"y","name":"Yes","kind":"allow_once"},{"id":"n","name":"No","kind":"reject_once"}]}
    "#);
    assert_snapshot!(talk.turn("hello").await, @r#"
    text 0 hello
    stopped {"outcome":"completed"}
    "#);
    assert_eq!(place.notes(), "");
    talk.answer(key, Some("y"), None).await;
    assert_eq!(place.noted("{").await, YES);
}

#[tokio::test]
async fn a_question_beside_the_turns_is_withdrawn_with_a_stop() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    talk.turn("ask-late ls").await;
    talk.asked().await;
    talk.call(AgentRequest::Cancel).await;
    assert_eq!(place.noted("{").await, WITHDRAWN);
}

#[tokio::test]
async fn a_question_ends_with_its_conversation() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    talk.turn("ask-late ls").await;
    talk.asked().await;
    drop(talk);
    assert_eq!(place.noted("{").await, WITHDRAWN);
}

#[tokio::test]
async fn an_agent_that_does_not_wait_any_more_says_so() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    talk.turn("ask-and-withdraw").await;
    let (key, _) = talk.asked().await;
    assert_eq!(talk.next().await, Some(AgentUpdate::Withdrawn { key }));
}

#[tokio::test]
async fn a_question_right_after_the_beginning_is_asked_once_the_agent_is_there() {
    let place = Place::new(&["new:ask"]);
    let mut talk = place.start("new:ask");
    let (key, asked) = talk.asked().await;
    assert_snapshot!(asked, @r#"
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    raw {"late":{"toolCallId":"w1","title":"Watch?","kind":"execute","rawInput":{"command":"make watch"}}}
    asked 1 {"title":"Watch?","kind":"execute","subject":"make watch","digest":"1650ab00194d4c0b09de4311bbe5726591263de57d5e5276f8de7fefe469c22d","options":[{"id":"y","name":"Yes","kind":"allow_once"},{"id":"n","name":"No","kind":"reject_once"}]}
    "#);
    talk.answer(key, Some("y"), None).await;
    assert_eq!(place.noted("{").await, YES);
}

/// Attaching waits for the answer, for which a person may need longer than the limit of attaching.
#[tokio::test]
async fn an_agent_that_waits_for_a_person_is_not_late() {
    let place = Place::with(&["load load:ask"], AgentLimits { attach: millis(1_500), ..AgentLimits::default() });
    let mut talk = place.take_up("load load:ask", "s9");
    let (key, asked) = talk.asked().await;
    assert_snapshot!(asked, @r#"asked 1 {"title":"Trust this directory?","kind":"other","options":[{"id":"y","name":"Yes","kind":"allow_once"},{"id":"n","name":"No","kind":"reject_once"}]}"#);
    tokio::time::sleep(millis(2_000)).await;
    talk.answer(key, Some("y"), None).await;
    assert_snapshot!(talk.begun().await, @r#"ready {"agentSession":"s9","memory":"loaded","program":"hostile 1.0"}"#);
    assert_eq!(place.noted("{").await, YES);
}

#[tokio::test]
async fn a_question_of_a_sign_in_can_be_answered() {
    let place = Place::new(&["new:signed-out sign-in:ask"]);
    let mut talk = place.start("new:signed-out sign-in:ask");
    talk.begun().await;
    talk.call(AgentRequest::SignIn { method: "key".to_owned() }).await;
    let (key, asked) = talk.asked().await;
    assert_snapshot!(asked, @r#"asked 1 {"title":"Sign in there","kind":"other","subject":"https://example.org","options":[{"id":"accept","name":"Accept","kind":"allow_once"},{"id":"decline","name":"Decline","kind":"reject_once"}]}"#);
    talk.answer(key, Some("accept"), None).await;
    assert!(talk.begun().await.contains("ready"));
    assert_eq!(place.noted("{").await, r#"{"action":"accept","content":{}}"#);
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

/// With some agents the shell command is only in the title.
#[tokio::test]
async fn a_command_that_only_the_title_tells_is_what_the_tool_is_given() {
    let agents = ["commanding", "good"];
    let place = Place::new(&agents);
    let mut told = String::new();
    for agent in agents {
        let mut talk = place.start(agent);
        talk.begun().await;
        talk.prompt("own execute make all").await;
        let asked = talk.asked().await.1;
        told += &format!("{}\n", asked.lines().next().unwrap_or_default());
        assert_eq!(asked.contains(r#""subject":"make""#), agent == "commanding", "{asked}");
    }
    assert_snapshot!(told, @r#"
    tool 1 started c1 {"title":"make","kind":"execute","content":[{"type":"text","text":"all"}],"input":{"command":"make"}}
    tool 1 started c1 {"title":"make","kind":"execute","content":[{"type":"text","text":"all"}]}
    "#);
}
