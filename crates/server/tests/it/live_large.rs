//! `/live`: an entry that is longer than a socket sends is told of, and everything else goes on.

use serde_json::{Value, json};

use crate::client::Live;
use crate::live::{ended, follow};
use crate::support::World;

/// As many pictures as a prompt may have, and as many words: more than eight MiB together.
fn largest_prompt() -> Value {
    // Without its padding it stays in the entry as it came.
    let image = json!({ "mimeType": "image/png", "data": "A".repeat((1 << 20) - 1) });
    json!({ "text": "words ".repeat(150_000), "images": vec![image; 8] })
}

#[tokio::test]
async fn a_very_long_entry_is_told_of_and_read_over_http() {
    let world = World::open().await;
    let (session, other) = (world.session().await, world.session().await);
    let mut live = Live::local(&world).await;
    for session in [&session, &other] {
        live.ask(follow(session)).await;
        live.until("caught_up").await;
    }
    world.call(&format!("POST /api/v1/sessions/{session}/prompts"), largest_prompt()).await.ok(202);
    let frames = live.until_that(ended).await;
    let large = frames.iter().find(|frame| frame["type"] == "large_entry").expect("the prompt is told of");
    assert_eq!((&large["session"], &large["kind"]), (&json!(session), &json!("prompt.sent")));
    assert!(large["bytes"].as_u64().unwrap() > 8 << 20, "{large}");
    // It has its place among the others.
    let own = frames.iter().filter(|frame| frame["session"] == json!(session));
    let seqs: Vec<u64> = own.filter_map(|frame| frame["entry"]["seq"].as_u64().or(frame["seq"].as_u64())).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{seqs:?}");
    assert!(seqs.contains(&large["seq"].as_u64().unwrap()));
    let page = world.get(large["read"].as_str().unwrap()).await.ok(200);
    assert_eq!((&page["entries"][0]["seq"], page["entries"].as_array().unwrap().len()), (&large["seq"], 1));
    assert_eq!(page["entries"][0]["data"]["images"].as_array().unwrap().len(), 8);
    // The other follow on this socket did not notice, and who comes later meets the same.
    world.turn(&other, "hello").await;
    live.until_that(ended).await;
    let mut later = Live::local(&world).await;
    later.ask(follow(&session)).await;
    let frames = later.until("caught_up").await;
    assert_eq!(frames.iter().find(|frame| frame["type"] == "large_entry"), Some(large));
    world.close().await;
}
