//! `/sessions/{id}/markdown`: a session as people paste it elsewhere.

use crate::client::bearer;
use crate::support::World;

#[tokio::test]
async fn a_session_or_a_turn_of_it_is_written_as_markdown() {
    let world = World::on_disk().await;
    let session = world.session().await;
    world.turn(&session, "say one").await;
    world.turn(&session, "say two").await;
    let path = format!("/api/v1/sessions/{session}/markdown");
    let answer = world.get(&path).await;
    assert_eq!(answer.header("content-type"), Some("text/markdown; charset=utf-8"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    let text = answer.text();
    assert!(text.starts_with("# ") && text.contains(&session), "{text}");
    let turns = "\n## 1\n\n> say one\n\none\n\n## 2\n\n> say two\n\ntwo\n";
    assert!(text.ends_with(turns), "{text}");
    assert_eq!(world.get(&format!("{path}?fromTurn=t2&toTurn=2")).await.text(), "\n## 2\n\n> say two\n\ntwo\n");
    assert_eq!(world.get(&format!("{path}?fromTurn=3&toTurn=3")).await.summary(), "404 turn_not_found");
    assert_eq!(world.get(&format!("{path}?fromTurn=2")).await.summary(), "400 invalid_query");
    assert_eq!(world.get(&format!("{path}?after=2")).await.summary(), "400 invalid_query");
    world.close().await;
}

/// More entries than are read at once, so that the text is written in parts.
#[tokio::test]
async fn a_long_session_is_written_whole() {
    let world = World::open().await;
    let session = world.session().await;
    let turns = 40;
    for n in 1..=turns {
        world.turn(&session, &format!("say word{n}")).await;
    }
    assert!(world.entries_count(&session).await > 200);
    let text = world.get(&format!("/api/v1/sessions/{session}/markdown")).await.text();
    let headings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(headings, (1..=turns).map(|n| n.to_string()).collect::<Vec<_>>());
    assert!((1..=turns).all(|n| text.contains(&format!("\nword{n}\n"))));
    world.close().await;
}

#[tokio::test]
async fn nobody_reads_another_session() {
    let world = World::open().await;
    let (own, other) = (world.session().await, world.session().await);
    world.turn(&other, "say secret").await;
    let token = world.agent_token(&own).await;
    let path = |session: &str| format!("GET /api/v1/sessions/{session}/markdown");
    assert_eq!(world.call_as(bearer(&token), &path(&own), None).await.status, 200);
    let answer = world.call_as(bearer(&token), &path(&other), None).await;
    assert!(answer.status == 404 && !answer.text().contains("secret"), "{}", answer.text());
    assert_eq!(world.call_as(Vec::new(), &path(&own), None).await.status, 401);
    world.close().await;
}
