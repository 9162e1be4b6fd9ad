//! R24: a session that a newer version wrote to is read up to there and takes no more; it is no damage, and the others do not
//! notice.

use serde_json::{Value, json};

use crate::client::Live;
use crate::live::follow;
use crate::support::{INCARNATION, World};

#[tokio::test]
async fn a_session_of_a_newer_version_is_shown_as_such_and_takes_no_more() {
    let world = World::on_disk().await;
    let (newer, today) = (world.session().await, world.session().await);
    world.turn(&newer, "say before").await;
    world.turn(&today, "say the heron").await;
    let mut world = world.restart_after_newer(&newer).await;
    // How its agent ended with the server is the last that this version wrote.
    let first = world.get(&format!("/api/v1/sessions/{newer}/entries")).await.ok(200)["entries"].clone();
    let known = first.as_array().unwrap().len() as u64;
    assert_eq!(first[first.as_array().unwrap().len() - 1]["type"], "agent.state_changed");
    for _life in 0..2 {
        let list = world.get("/api/v1/sessions").await.ok(200);
        let row = |id: &str| list["sessions"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap().clone();
        assert_eq!((&row(&newer)["readOnly"], &row(&today)["readOnly"]), (&json!("newer"), &Value::Null));
        let page = world.get(&format!("/api/v1/sessions/{newer}/entries")).await.ok(200);
        assert_eq!(page["entries"].as_array().unwrap().len() as u64, known);
        let on = format!("GET /api/v1/sessions/{newer}/entries?after={INCARNATION}.{known}");
        for (request, body) in [
            (on, None),
            (format!("POST /api/v1/sessions/{newer}/prompts"), Some(json!({ "text": "say more" }))),
            (format!("PATCH /api/v1/sessions/{newer}"), Some(json!({ "name": "new" }))),
        ] {
            let answer = world.call(&request, body).await;
            let error = &answer.json()["error"];
            assert_eq!((answer.status, &error["code"]), (409, &json!("session_newer")), "{request}");
            assert_eq!(error["details"], json!({ "seq": known + 1 }));
            assert!(error["message"].as_str().unwrap().contains("newer version"), "{error}");
        }
        let mut live = Live::local(&world).await;
        live.ask(follow(&newer)).await;
        let frames = live.until("error").await;
        assert_eq!(frames.last().unwrap()["error"]["code"], "session_newer");
        world.turn(&today, "say more").await;
        let found = world.get("/api/v1/search?q=heron").await.ok(200);
        assert!(found.to_string().contains(&today), "{found}");
        world = world.restart().await;
    }
    world.close().await;
}
