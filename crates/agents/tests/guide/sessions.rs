//! Tests what the guide says about itself, and concurrent sessions.

use std::time::Duration;

use agent_client_protocol::v1::schema::{
    LoadSessionRequest, NewSessionRequest, ResumeSessionRequest, SessionConfigOption, SessionId,
    SetSessionConfigOptionRequest,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::World;

const COMMANDS: &str = "commands say think read write show image display embed applet run fail plan slow long spend tool next pipeline phase tour";

#[tokio::test(start_paused = true)]
async fn it_says_what_it_is() {
    let world = World::new().await;
    let said = serde_json::to_value(&world.initialized).unwrap();
    assert_eq!(said["protocolVersion"], 1);
    assert_eq!(said["agentInfo"], json!({ "name": "guide", "title": "Guide", "version": env!("CARGO_PKG_VERSION") }));
    let able = &said["agentCapabilities"];
    assert_eq!(able["loadSession"], false);
    assert_eq!(able["sessionCapabilities"], json!({ "resume": {}, "close": {} }));
    assert_eq!(able["promptCapabilities"], json!({ "image": true, "audio": false, "embeddedContext": true }));
    assert_eq!((&able["mcpCapabilities"]["http"], &able["mcpCapabilities"]["sse"]), (&json!(true), &json!(false)));
    assert_eq!(said["authMethods"], json!([]));
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_new_session_tells_its_settings_and_its_commands() {
    let world = World::new().await;
    let begun = world.begin().await;
    assert!(begun.modes.is_none());
    assert_eq!(
        options(&begun.config_options.unwrap()),
        json!({ "id": "pace", "value": "normal", "values": ["slow", "normal", "fast"] })
    );
    world.until(&begun.session_id, "commands").await;
    assert_eq!(world.take(&begun.session_id), COMMANDS);
    let other = world.begin().await;
    assert_ne!(begun.session_id, other.session_id);
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn any_session_can_be_resumed() {
    let world = World::new().await;
    let id = SessionId::new("of another life");
    let request = ResumeSessionRequest::new(id.clone(), world.cwd());
    let resumed = world.agent.send_request(request).block_task().await.unwrap();
    assert_eq!(options(&resumed.config_options.unwrap())["value"], "normal");
    world.until(&id, "commands").await;
    assert_eq!(world.take(&id), COMMANDS);
    assert_eq!(world.turn(&id, "say on").await, "> on\nusage 2 of 100000\nEndTurn", "it has its title already");
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn sessions_answer_side_by_side() {
    let world = World::new().await;
    let (slow, quick) = (world.session().await, world.session().await);
    let others = async {
        world.until(&slow, "> Taking").await;
        assert!(world.turn(&quick, "say meanwhile").await.starts_with("> meanwhile\n"));
        assert!(!world.take(&slow).contains("Done."));
    };
    let (stopped, ()) = tokio::join!(world.prompt(&slow, "slow 60"), others);
    assert_eq!(stopped, "EndTurn");
    assert!(world.take(&slow).starts_with("> Done.\n"));
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn one_session_answers_one_prompt_at_a_time() {
    let world = World::new().await;
    let session = world.session().await;
    let second = async {
        world.until(&session, "> Taking").await;
        world.prompt(&session, "say two").await
    };
    let (first, second) = tokio::join!(world.prompt(&session, "slow 60"), second);
    assert_eq!(first, "EndTurn");
    assert!(second.starts_with("Invalid request: \"the session is still answering"), "{second}");
    assert!(!world.take(&session).contains("two"));
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_pace_is_a_setting_of_the_session() {
    let world = World::new().await;
    let (session, other) = (world.session().await, world.session().await);
    for (pace, millis) in [("slow", 800), ("normal", 80), ("fast", 10)] {
        let request = SetSessionConfigOptionRequest::new(session.clone(), "pace", pace);
        let set = world.agent.send_request(request).block_task().await.unwrap();
        assert_eq!(options(&set.config_options)["value"], pace);
        let before = Instant::now();
        world.prompt(&session, "long 10").await;
        assert_eq!(before.elapsed(), Duration::from_millis(millis));
    }
    let before = Instant::now();
    world.prompt(&other, "long 10").await;
    assert_eq!(before.elapsed(), Duration::from_millis(80));
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_makes_no_sense_is_refused() {
    let world = World::new().await;
    let session = world.session().await;
    let agent = &world.agent;
    for (id, value) in [("pace", "breakneck"), ("model", "slow")] {
        let request = SetSessionConfigOptionRequest::new(session.clone(), id, value);
        assert_eq!(agent.send_request(request).block_task().await.unwrap_err().message, "Invalid params");
    }
    let request = NewSessionRequest::new("relative");
    assert_eq!(agent.send_request(request).block_task().await.unwrap_err().message, "Invalid params");
    let request = LoadSessionRequest::new(session.clone(), world.cwd());
    assert_eq!(agent.send_request(request).block_task().await.unwrap_err().message, "Method not found");
    assert!(world.prompt(&SessionId::new("nobody"), "say hello").await.contains("there is no session nobody"));
    assert!(world.turn(&session, "say still here").await.starts_with("> still here\n"));
    world.end().await;
}

/// The only option, in short.
fn options(options: &[SessionConfigOption]) -> Value {
    let options = serde_json::to_value(options).unwrap();
    assert_eq!(options.as_array().unwrap().len(), 1);
    let option = &options[0];
    assert_eq!((&option["category"], &option["type"]), (&json!("other"), &json!("select")));
    let values: Vec<_> = option["options"].as_array().unwrap().iter().map(|choice| &choice["value"]).collect();
    json!({ "id": option["id"], "value": option["currentValue"], "values": values })
}
