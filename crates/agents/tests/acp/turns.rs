//! Tests what sessions receive of turns.

use agents::{AgentPacket, AgentRequest, AgentUpdate, PacketKind};
use insta::assert_snapshot;
use model::{AgentReport, Image};
use std::fs;

use crate::support::Place;

#[tokio::test]
async fn a_turn_ends_as_the_agent_says() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    let mut told = String::new();
    for words in ["stop end_turn", "stop max_tokens", "stop refusal", "error no credit left\u{1b}[0m", "twice", "hello"]
    {
        told += &talk.turn(words).await;
    }
    assert_snapshot!(told, @r#"
    stopped {"outcome":"completed"}
    stopped {"outcome":"completed","reason":"max_tokens"}
    stopped {"outcome":"completed","reason":"refusal"}
    stopped {"outcome":"failed","reason":"Internal error: no credit left [0m"}
    stopped {"outcome":"completed"}
    text 0 hello
    stopped {"outcome":"completed"}
    "#);
}

#[tokio::test]
async fn a_prompt_brings_what_is_to_be_known_pictures_and_files() {
    let place = Place::new(&["images", "good"]);
    let project = place.project();
    fs::create_dir(project.join("src")).unwrap();
    for file in ["src/a b.rs", ".env"] {
        fs::write(project.join(file), "x").unwrap();
    }
    let image = || Image { mime_type: "image/png".to_owned(), data: "AA==".to_owned(), body: None };
    let text = "echo @src and @\"src/a b.rs\", not @gone nor @/etc/passwd nor @../home nor @.env".to_owned();
    let mut told = Vec::new();
    for agent in ["images", "good"] {
        let mut talk = place.start(agent);
        talk.begun().await;
        let packet = Some(AgentPacket { of: PacketKind::EarlierTurns, text: "earlier we did much".to_owned() });
        talk.call(AgentRequest::Prompt { text: text.clone(), images: vec![image()], packet, beside: None }).await;
        told.push(talk.over().await);
    }
    assert_snapshot!(told[0], @r#"
    text 0 [{"type":"text","text":"[Context from Throughline about the earlier turns of this session. It is a record, not a request.]\n\nearlier we did much"},{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"text","text":"echo @src and @\"src/a b.rs\", not @gone nor @/etc/passwd nor @../home nor @.env"},{"type":"resource_link","name":"src","uri":"file:///FOLDER/project/src"},{"type":"resource_link","name":"src/a b.rs","uri":"file:///FOLDER/project/src/a%20b.rs"}]
    stopped {"outcome":"completed"}
    "#);
    assert_snapshot!(told[1], @r#"
    noticed {"severity":"warning","title":"This agent takes no pictures: they were left out"}
    text 0 [{"type":"text","text":"[Context from Throughline about the earlier turns of this session. It is a record, not a request.]\n\nearlier we did much"},{"type":"text","text":"echo @src and @\"src/a b.rs\", not @gone nor @/etc/passwd nor @../home nor @.env"},{"type":"resource_link","name":"src","uri":"file:///FOLDER/project/src"},{"type":"resource_link","name":"src/a b.rs","uri":"file:///FOLDER/project/src/a%20b.rs"}]
    stopped {"outcome":"completed"}
    "#);
}

#[tokio::test]
async fn what_is_said_arrives_in_order_and_before_the_end() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    talk.prompt("flood 100000").await;
    let mut text = String::new();
    loop {
        match talk.next().await.unwrap() {
            AgentUpdate::Report(AgentReport::Text { block: 0, text: more }) => text.push_str(&more),
            AgentUpdate::Report(AgentReport::Stopped(_)) => break,
            other => panic!("{other:?}"),
        }
    }
    let expected: String = (0..100_000).map(|n| format!("{n} ")).collect();
    assert!(text == expected, "{} bytes instead of {}", text.len(), expected.len());
}

#[tokio::test]
async fn output_that_grows_is_told_by_its_growth() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    assert_snapshot!(talk.turn("grow 4").await, @r#"
    tool 1 started c1 {"title":"Count","content":[{"type":"text","text":"line 0\n"}]}
    tool 1 + "line 1\n"
    tool 1 + "line 2\n"
    tool 1 + "line 3\n"
    tool 1 {"status":"completed"}
    stopped {"outcome":"completed"}
    "#);
}

#[tokio::test]
async fn a_turn_that_is_cancelled_stops() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    talk.prompt("hang").await;
    talk.call(AgentRequest::Cancel).await;
    assert_snapshot!(talk.over().await, @r#"stopped {"outcome":"cancelled"}"#);
    assert_snapshot!(talk.turn("hello").await, @r#"
    text 0 hello
    stopped {"outcome":"completed"}
    "#);
}

#[tokio::test]
async fn what_comes_after_the_end_is_late() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    assert_snapshot!(talk.turn("late").await, @r#"stopped {"outcome":"completed"}"#);
    assert_snapshot!(talk.until(|_| true).await, @r#"raw {"late":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"one more thing"}}}"#);
    assert_snapshot!(talk.turn("hello").await, @r#"
    text 0 hello
    stopped {"outcome":"completed"}
    "#);
}
