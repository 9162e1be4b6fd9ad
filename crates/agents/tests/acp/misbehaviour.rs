//! Tests agents that break, hang, or send what they should not, in the middle of a turn.

use agents::{AgentLimits, AgentRequest, AgentUpdate};
use insta::assert_snapshot;
use model::AgentReport;

use crate::support::{Place, millis};

#[tokio::test]
async fn an_agent_that_breaks_says_so_with_its_last_words() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    assert_snapshot!(talk.turn("crash").await, @r#"
    text 0 I was about to
    failed: the agent ended (exit code 3): about to break / broke at prompt [31mred
    "#);
    talk.ended().await;
}

#[tokio::test]
async fn what_an_agent_started_ends_with_it() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    assert_snapshot!(talk.turn("fork").await, @"failed: the agent ended (exit code 4)");
    let child = place.noted("child").await.replace("child ", "");
    assert!(!std::path::Path::new("/proc").join(child).exists());
}

#[tokio::test]
async fn a_line_without_an_end_ends_the_agent() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    assert_snapshot!(talk.turn("longline").await, @"failed: the agent wrote a line of more than 16 MiB");
}

#[tokio::test]
async fn what_is_no_text_is_mended() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    assert_snapshot!(talk.turn("utf8").await, @r#"
    text 0 a�b
    stopped {"outcome":"completed"}
    "#);
}

#[tokio::test]
async fn an_agent_that_closes_its_output_has_ended() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    assert_snapshot!(talk.turn("quiet").await, @"failed: the agent closed its output and was ended (signal 9)");
}

#[tokio::test]
async fn silence_is_told_and_not_punished() {
    let place = Place::with(&["good"], AgentLimits { silence: millis(200), ..AgentLimits::default() });
    let mut talk = place.start("good");
    talk.begun().await;
    talk.prompt("hang").await;
    assert_eq!(talk.next().await, Some(AgentUpdate::Report(AgentReport::Unresponsive)));
    talk.call(AgentRequest::Cancel).await;
    assert_snapshot!(talk.over().await, @r#"stopped {"outcome":"cancelled"}"#);
}

#[tokio::test]
async fn an_agent_that_does_not_stop_is_ended() {
    let limits = AgentLimits { cancel: millis(100), cancel_failed: millis(200), ..AgentLimits::default() };
    let place = Place::with(&["stubborn stays"], limits);
    let mut talk = place.start("stubborn stays");
    talk.begun().await;
    talk.prompt("deaf").await;
    talk.call(AgentRequest::Cancel).await;
    assert_snapshot!(talk.over().await, @r#"
    Unresponsive
    failed: the agent did not stop within 0.3 seconds after it was told to
    "#);
    talk.ended().await;
    place.agents.shutdown().await;
}

#[tokio::test]
async fn an_agent_that_talks_instead_of_stopping_is_ended() {
    let limits = AgentLimits { cancel: millis(100), cancel_failed: millis(200), ..AgentLimits::default() };
    let place = Place::with(&["good"], limits);
    let mut talk = place.start("good");
    talk.begun().await;
    talk.prompt("babble").await;
    talk.next().await;
    talk.call(AgentRequest::Cancel).await;
    let told = talk.over().await;
    assert!(told.contains("\nUnresponsive\n"));
    assert_snapshot!(told.lines().last().unwrap(), @"failed: the agent did not stop within 0.3 seconds after it was told to");
    talk.ended().await;
}

#[tokio::test]
async fn an_agent_that_breaks_when_it_is_cancelled_says_so() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    talk.prompt("brittle").await;
    talk.call(AgentRequest::Cancel).await;
    assert_snapshot!(talk.over().await, @"failed: the agent ended (exit code 3): about to break / broke at cancel [31mred");
}

#[tokio::test]
async fn an_agent_that_stays_is_ended_with_the_server() {
    let place = Place::new(&["stubborn stays"]);
    let mut talk = place.start("stubborn stays");
    talk.begun().await;
    place.agents.shutdown().await;
    talk.ended().await;
}

#[tokio::test]
async fn one_agent_does_not_notice_another() {
    let place = Place::new(&["good", "initialize:crash"]);
    let mut quiet = place.start("good");
    quiet.begun().await;
    quiet.prompt("hang").await;
    for words in ["crash", "longline", "flood 20000", "unknown", "utf8", "foreign"] {
        let mut loud = place.start("good");
        loud.begun().await;
        loud.turn(words).await;
    }
    place.start("initialize:crash").begun().await;
    quiet.call(AgentRequest::Cancel).await;
    assert_snapshot!(quiet.over().await, @r#"stopped {"outcome":"cancelled"}"#);
}
