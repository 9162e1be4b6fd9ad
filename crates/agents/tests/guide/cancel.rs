//! Tests that a turn ends when it is cancelled, whatever it is doing.

use agent_client_protocol::v1::schema::{
    CloseSessionRequest, ContentBlock, PermissionOptionKind, PromptRequest, SessionId, TextContent,
};

use crate::commands::held;
use crate::support::{Answer, World};

const FOREVER: &str = "run exec 3>hold; echo up; (sleep 1000; :) & sleep 1000; :";

/// Cancels once the session has sent a line that begins like this; returns what it sent.
async fn cancelled(world: &World, session: &SessionId, prompt: &str, once: &str) -> String {
    let cancel = async {
        world.until(session, once).await;
        world.cancel(session);
    };
    let (stopped, ()) = tokio::join!(world.prompt(session, prompt), cancel);
    assert_eq!(stopped, "Cancelled", "{prompt}");
    world.take(session)
}

#[tokio::test(start_paused = true)]
async fn words_stop() {
    let world = World::new().await;
    let session = world.session().await;
    for (prompt, once) in [
        ("slow 3600", "> Taking 3600 s."),
        ("long 10000", "> word1 word2 "),
        ("think one two three", "~ one "),
        ("plan a; b; c", "plan [x] a [>] b"),
        ("help", "> I "),
    ] {
        let said = cancelled(&world, &session, prompt, once).await;
        for late in ["Done.", "word10000", "three", "[x] c", "next LABEL"] {
            assert!(!said.contains(late), "{prompt}: {said}");
        }
        assert!(said.lines().last().unwrap().starts_with("usage "), "{said}");
    }
    assert!(world.turn(&session, "say again").await.starts_with("> again\n"));
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_has_begun_is_ended() {
    let world = World::new().await;
    let session = world.session().await;
    let said = cancelled(&world, &session, "fail later", "call ").await;
    assert!(said.contains("\nfailed: Cancelled.\n"), "{said}");
    world.end().await;
}

#[tokio::test]
async fn a_question_is_withdrawn() {
    let world = World::new().await;
    let session = world.session().await;
    world.answer(Answer::Nothing);
    let said = cancelled(&world, &session, "run touch made", "ask ").await;
    assert!(said.contains("\nfailed: Cancelled.\n"), "{said}");
    world.withdrawn().await;
    assert!(!world.cwd().join("made").exists());
    world.end().await;
}

#[tokio::test]
async fn a_command_ends_with_all_that_it_started() {
    let world = World::new().await;
    let session = world.session().await;
    world.answer(Answer::Choose(PermissionOptionKind::AllowAlways));
    let ended = held(&world, "hold");
    let said = cancelled(&world, &session, FOREVER, "running: up").await;
    assert!(said.contains("\nfailed: Cancelled.\n"), "{said}");
    ended.await.unwrap();
    world.end().await;
}

#[tokio::test]
async fn closing_a_session_ends_what_it_does() {
    let world = World::new().await;
    let session = world.session().await;
    world.answer(Answer::Choose(PermissionOptionKind::AllowAlways));
    let ended = held(&world, "hold");
    let close = async {
        world.until(&session, "running: up").await;
        let request = CloseSessionRequest::new(session.clone());
        world.agent.send_request(request).block_task().await.unwrap();
    };
    let (stopped, ()) = tokio::join!(world.prompt(&session, FOREVER), close);
    assert_eq!(stopped, "Cancelled");
    ended.await.unwrap();
    assert!(world.prompt(&session, "say hello").await.contains("there is no session"));
    world.end().await;
}

#[tokio::test]
async fn a_client_that_leaves_takes_everything_with_it() {
    let world = World::new().await;
    let session = world.session().await;
    world.answer(Answer::Choose(PermissionOptionKind::AllowAlways));
    let ended = held(&world, "hold");
    let request = PromptRequest::new(session.clone(), vec![ContentBlock::Text(TextContent::new(FOREVER))]);
    let prompt = world.agent.send_request(request);
    world.until(&session, "running: up").await;
    world.end().await;
    ended.await.unwrap();
    assert!(prompt.block_task().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn giving_up_the_request_is_a_cancel_too() {
    let world = World::new().await;
    let session = world.session().await;
    let request = PromptRequest::new(session.clone(), vec![ContentBlock::Text(TextContent::new("slow 3600"))]);
    let prompt = world.agent.send_request(request);
    world.until(&session, "> Taking").await;
    prompt.cancel().unwrap();
    let stopped = prompt.block_task().await.unwrap().stop_reason;
    assert_eq!(format!("{stopped:?}"), "Cancelled");
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_of_nothing_does_nothing() {
    let world = World::new().await;
    let session = world.session().await;
    world.cancel(&session);
    world.cancel(&SessionId::new("nobody"));
    assert!(world.turn(&session, "say on").await.starts_with("> on\n"));
    world.end().await;
}
