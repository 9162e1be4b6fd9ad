//! Tests sessions that share a process.

use agents::{AgentLimits, AgentRequest};
use insta::assert_snapshot;

use crate::support::{Place, millis};

#[tokio::test]
async fn sessions_share_a_process_and_hear_only_their_own() {
    let place = Place::new(&["shared"]);
    let (mut one, mut two) = (place.start("shared"), place.start("shared"));
    one.begun().await;
    two.begun().await;
    one.prompt("hang").await;
    assert_snapshot!(two.turn("foreign").await, @r#"
    text 0 mine
    stopped {"outcome":"completed"}
    "#);
    one.call(AgentRequest::Cancel).await;
    assert_snapshot!(one.over().await, @r#"stopped {"outcome":"cancelled"}"#);
}

#[tokio::test]
async fn what_one_session_suffers_the_other_does_not_notice() {
    let limits = AgentLimits { cancel: millis(100), cancel_failed: millis(200), ..AgentLimits::default() };
    let place = Place::with(&["shared"], limits);
    let (mut one, mut two) = (place.start("shared"), place.start("shared"));
    one.begun().await;
    two.begun().await;
    for words in ["junk", "unknown", "utf8", "twice", "late", "flood 1000", "error no"] {
        one.turn(words).await;
        assert!(two.turn("hello").await.ends_with("stopped {\"outcome\":\"completed\"}\n"));
    }
    // A session that does not stop is dropped; the process accepts no new one, and ends with the other.
    one.prompt("deaf").await;
    one.call(AgentRequest::Cancel).await;
    assert_snapshot!(one.over().await, @r#"
    Unresponsive
    failed: the agent did not stop within 0.3 seconds after it was told to
    "#);
    assert_snapshot!(two.turn("hello").await.replace("text 0 hello\n", ""), @r#"stopped {"outcome":"completed"}"#);
    let mut three = place.start("shared");
    assert_snapshot!(three.begun().await, @r#"ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}"#);
}

#[tokio::test]
async fn a_session_that_does_not_listen_is_left_behind_alone() {
    let limits = AgentLimits { untaken: millis(300), queue_messages: 8, ..AgentLimits::default() };
    let place = Place::with(&["shared"], limits);
    let (mut one, mut two) = (place.start("shared"), place.start("shared"));
    one.begun().await;
    two.begun().await;
    one.prompt("flood 5000").await;
    one.next().await;
    // From here on nobody reads the first session's messages.
    assert_snapshot!(two.turn("hello").await, @r#"
    text 0 hello
    stopped {"outcome":"completed"}
    "#);
    let told = one.over().await;
    assert_snapshot!(told.lines().last().unwrap(), @"failed: the session did not take the agent's news, and others of the same process were waiting");
    one.ended().await;
}

#[tokio::test]
async fn a_process_that_dies_fails_its_sessions_and_is_replaced() {
    let place = Place::new(&["shared"]);
    let (mut one, mut two) = (place.start("shared"), place.start("shared"));
    one.begun().await;
    two.begun().await;
    assert_snapshot!(one.turn("crash").await, @r#"
    text 0 I was about to
    failed: the agent ended (exit code 3): about to break / broke at prompt [31mred
    "#);
    assert_snapshot!(two.over().await, @"failed: the agent ended (exit code 3): about to break / broke at prompt [31mred");
    let mut three = place.start("shared");
    assert_snapshot!(three.begun().await, @r#"ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}"#);
}

#[tokio::test]
async fn a_process_is_kept_warm_and_then_ends() {
    let place = Place::new(&["shared resume"]);
    let mut one = place.start("shared resume");
    one.begun().await;
    drop(one);
    place.noted("session/close s1").await;
    let mut two = place.start("shared resume");
    assert_snapshot!(two.begun().await, @r#"ready {"agentSession":"s2","memory":"new","program":"hostile 1.0"}"#);
    place.agents.shutdown().await;

    let place = Place::with(&["shared resume"], AgentLimits { warm: millis(1), ..AgentLimits::default() });
    let mut one = place.start("shared resume");
    one.begun().await;
    drop(one);
    place.noted("ended").await;
    let mut two = place.start("shared resume");
    assert_snapshot!(two.begun().await, @r#"ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}"#);
}

#[tokio::test]
async fn two_sessions_do_not_get_one_conversation() {
    let place = Place::new(&["shared new:same-id", "shared resume"]);
    let (mut one, mut two) = (place.start("shared new:same-id"), place.start("shared new:same-id"));
    let told = one.begun().await + &two.begun().await;
    let mut lines: Vec<_> = told.lines().collect();
    lines.sort_unstable();
    assert_snapshot!(lines.join("\n"), @r#"
    failed: the agent refused the session: the agent gave two conversations the same id
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    "#);

    let (mut one, mut two) = (place.take_up("shared resume", "s7"), place.take_up("shared resume", "s7"));
    one.begun().await;
    assert_snapshot!(two.begun().await, @r#"
    noticed {"severity":"warning","title":"The agent could not take up its own record of this session","description":"another session here holds it"}
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    "#);
}
