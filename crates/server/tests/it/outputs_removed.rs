//! Removing outputs, one by one and by their age: bytes and rows go, the entry and the card stay.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::bearer;
use crate::outputs::{listed, session_in, showing};
use crate::support::World;

const DAY: Duration = Duration::from_secs(24 * 3_600);

fn files(world: &World, session: &str) -> usize {
    let folder = world.directory.path().join("sessions").join(session).join("outputs");
    fs::read_dir(folder).map_or(0, Iterator::count)
}

async fn removals(world: &World, session: &str) -> Vec<Value> {
    let entries = world.entries(session).await;
    entries.into_iter().filter(|entry| entry["type"] == "output.removed").map(|entry| entry["data"].clone()).collect()
}

#[tokio::test]
async fn a_removed_output_is_gone_and_its_card_says_so() {
    let world = World::on_disk().await;
    let (session, cwd, agent) = showing(&world).await;
    fs::write(cwd.join("a.txt"), "secret").unwrap();
    fs::write(cwd.join("b.txt"), "kept").unwrap();
    for path in ["a.txt", "b.txt"] {
        agent.call("render_file_contents", json!({ "path": path })).await;
    }
    let outputs = listed(&world, &session).await;
    let [removed, kept] = [0, 1].map(|n| outputs[n]["id"].as_str().unwrap().to_owned());
    let request = format!("DELETE /api/v1/sessions/{session}/outputs/{removed}");

    // Whoever is not the person may not, and neither may somebody in another session's name.
    let token = world.agent_token(&session).await;
    assert_eq!(world.call_as(bearer(&token), &request, None).await.summary(), "403 forbidden");
    let (other, _) = session_in(&world).await;
    let elsewhere = format!("DELETE /api/v1/sessions/{other}/outputs/{removed}");
    assert_eq!(world.call(&elsewhere, None).await.summary(), "404 output_not_found");

    assert_eq!(world.keyed("k1", &request, None).await.summary(), "204");
    // The same again is the same; without its key there is nothing to remove any more.
    assert_eq!(world.keyed("k1", &request, None).await.summary(), "204");
    assert_eq!(world.call(&request, None).await.summary(), "404 output_not_found");
    assert_eq!(removals(&world, &session).await.len(), 1);
    let entry = &removals(&world, &session).await[0];
    assert_eq!(
        (&entry["id"], &entry["reason"], &entry["by"]["type"]),
        (&json!(removed), &json!("removed"), &json!("person"))
    );

    let base = format!("/api/v1/sessions/{session}/outputs");
    for path in [format!("{base}/{removed}"), format!("{base}/{removed}/lines"), format!("/api/v1/outputs/{removed}")] {
        assert_eq!(world.get(&path).await.summary(), "404 output_not_found", "{path}");
    }
    assert_eq!(files(&world, &session), 1);
    let markdown = world.get(&format!("/api/v1/sessions/{session}/markdown")).await.text();
    assert!(markdown.contains("a.txt` *(file, 1 line, ") && markdown.contains(", removed since)*"), "{markdown}");

    drop(agent);
    let world = world.restart().await;
    let left = listed(&world, &session).await;
    assert_eq!((left.len(), &left[0]["id"]), (1, &json!(kept)));
    assert_eq!(world.get(&format!("{base}/{kept}")).await.text(), "kept");
    world.close().await;
}

/// The entry that removed it is not read with the turn that showed it.
#[tokio::test]
async fn a_turn_that_is_written_by_itself_says_that_its_output_was_removed() {
    let world = World::on_disk().await;
    world.engine.mount_at(server::mcp_url(world.address));
    let (session, cwd) = session_in(&world).await;
    fs::write(cwd.join("a.txt"), "secret").unwrap();
    world.turn(&session, "show a.txt").await;
    world.turn(&session, "say on").await;
    let removed = listed(&world, &session).await[0]["id"].as_str().unwrap().to_owned();
    let request = format!("DELETE /api/v1/sessions/{session}/outputs/{removed}");
    assert_eq!(world.call(&request, None).await.summary(), "204");
    let written = world.get(&format!("/api/v1/sessions/{session}/markdown?fromTurn=1&toTurn=1")).await.text();
    let card = format!("a.txt` *(file, 1 line, {removed}, removed since)*");
    assert!(written.contains(&card) && !written.contains("secret"), "{written}");
    world.close().await;
}

/// What is removed makes room for more.
#[tokio::test]
async fn a_full_session_takes_more_once_something_is_removed() {
    let world = World::open().await;
    let (session, cwd, agent) = showing(&world).await;
    fs::write(cwd.join("long.txt"), "x\n".repeat(500_000)).unwrap();
    let show = async || agent.call("render_file_contents", json!({ "path": "long.txt" })).await;
    for _ in 0..3 {
        assert!(show().await.starts_with("[output:"));
    }
    assert!(show().await.contains("no room for another"));
    let first = listed(&world, &session).await[0]["id"].as_str().unwrap().to_owned();
    world.call(&format!("DELETE /api/v1/sessions/{session}/outputs/{first}"), None).await.ok(204);
    assert!(show().await.starts_with("[output:"));
    assert_eq!(files(&world, &session), 3);
    world.close().await;
}

#[tokio::test]
async fn what_is_older_than_so_many_days_is_pruned_and_counted_first() {
    let world = World::on_disk().await;
    let (session, cwd, agent) = showing(&world).await;
    let (deleted, _) = session_in(&world).await;
    fs::write(cwd.join("a.txt"), "12345").unwrap();
    for _ in 0..2 {
        agent.call("render_file_contents", json!({ "path": "a.txt" })).await;
        world.clock.advance(DAY);
    }
    agent.call("render_file_contents", json!({ "path": "a.txt" })).await;
    world.call(&format!("DELETE /api/v1/sessions/{deleted}"), None).await.ok(204);
    world.clock.advance(DAY / 2);

    let prune = async |days: u32, dry_run: bool| {
        world.call("POST /api/v1/outputs/prune", json!({ "olderThanDays": days, "dryRun": dry_run })).await.ok(200)
    };
    assert_eq!(prune(9, true).await, json!({ "outputs": 0, "bytes": 0, "sessions": 0, "dryRun": true }));
    let found = json!({ "outputs": 2, "bytes": 10, "sessions": 1, "dryRun": true });
    assert_eq!(prune(1, true).await, found);
    assert_eq!(listed(&world, &session).await.len(), 3);
    let done = json!({ "outputs": 2, "bytes": 10, "sessions": 1, "dryRun": false });
    assert_eq!(prune(1, false).await, done);
    assert_eq!((listed(&world, &session).await.len(), files(&world, &session)), (1, 1));
    assert!(removals(&world, &session).await.iter().all(|removed| removed["reason"] == "pruned"));
    assert_eq!(prune(1, false).await["outputs"], 0);
    for body in [
        json!({}),
        json!({ "olderThanDays": -1 }),
        json!({ "olderThanDays": 99_999 }),
        json!({ "olderThanDays": 1, "x": 1 }),
    ] {
        assert_eq!(world.call("POST /api/v1/outputs/prune", body).await.summary(), "400 invalid_body");
    }
    let token = world.agent_token(&session).await;
    let refused = world.call_as(bearer(&token), "POST /api/v1/outputs/prune", json!({ "olderThanDays": 0 })).await;
    assert_eq!(refused.summary(), "403 forbidden");
    world.close().await;
}
