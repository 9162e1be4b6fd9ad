//! Ends of the process, asked for and not.

use std::time::Duration;

use engine::{ChangeSession, Observe, SubmitError};
use model::{SessionEvent, SessionId, SessionState};

use crate::support::{World, asker, next_event};

#[tokio::test(start_paused = true)]
async fn a_crash_leaves_an_interrupted_turn_and_nothing_is_prompted_again() {
    let mut world = World::new().await;
    let session = world.session().await;
    world.prompt(session, "slow 1000").await;
    world.prompt(session, "say waits").await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    while !matches!(next_event(&mut follow).await, SessionEvent::TextPart { .. }) {}
    world.crash_and_restart().await;
    assert_eq!(world.engine.session(session).await.unwrap().row.state(), SessionState::Interrupted);
    let before = world.log(session).await;
    assert!(
        before.ends_with("turn.ended interrupted server_restart 1\n9 agent.state_changed server_restart stopped"),
        "{before}"
    );

    let next = world.prompt(session, "say on").await;
    world.finish(session, next).await;
    let log = world.log(session).await;
    let sent: Vec<&str> = log.lines().filter(|line| line.contains("prompt.sent")).collect();
    assert_eq!(sent.len(), 3, "{log}");
    assert!(sent[1].ends_with("say waits") && sent[2].ends_with("say on"), "{sent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_keeps_the_words_that_were_only_previewed() {
    let world = World::new().await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    world.prompt(session, "slow 1000").await;
    loop {
        if let engine::Followed::Preview(_) = follow.next().await.unwrap() {
            break;
        }
    }
    world.engine.shutdown().await;
    let log = world.log(session).await;
    let tail: Vec<&str> = log.lines().rev().take(3).collect();
    assert!(tail[2].contains("text.part 0 Taking"), "{log}");
    assert!(tail[1].ends_with("turn.ended interrupted server_shutdown 1"), "{log}");
    let refused = world.engine.submit(session, Observe, asker()).await;
    assert!(matches!(refused, Err(SubmitError::Stopping)), "{refused:?}");
}

/// Nothing is lost, nothing spins: the agent waits with its words until there is room for them.
#[tokio::test(start_paused = true)]
async fn a_full_disk_holds_the_agent_up_and_loses_nothing() {
    let world = World::new().await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    let prompt = world.prompt(session, "long 3000").await;
    while !matches!(next_event(&mut follow).await, SessionEvent::TextPart { .. }) {}
    world.fill_disk();
    let rename = ChangeSession { name: Some("new".to_owned()), ..ChangeSession::default() };
    let refused = world.engine.submit(session, rename, asker()).await;
    assert!(matches!(refused, Err(SubmitError::Append(_))), "{refused:?}");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.engine.session(session).await.unwrap().row.state(), SessionState::Running);
    world.disk.mend().await;
    world.finish(session, prompt).await;
    let log = world.log(session).await;
    let words: String = log.lines().filter_map(|line| line.split("text.part 0 ").nth(1)).collect();
    assert_eq!(words.matches("word").count(), 3_000);
    assert!(log.ends_with("turn.ended completed 1"));
}

/// Nobody can answer what was asked in a damaged session, so it is not counted, and is not taken off the count either.
#[tokio::test(start_paused = true)]
async fn a_damaged_session_that_is_purged_leaves_the_count_of_those_that_need_you() {
    let mut world = World::new().await;
    let damaged = world.session().await;
    world.prompt(damaged, "run echo hi").await;
    world.until_asked(damaged).await;
    world.damage(damaged);
    world.crash_and_restart().await;
    assert_eq!(world.engine.attention().needs_you, 0);
    let sound = world.session().await;
    world.prompt(sound, "run echo hi").await;
    world.until_asked(sound).await;
    assert_eq!(world.engine.attention().needs_you, 1);
    world.engine.purge(damaged, asker()).await.unwrap();
    assert_eq!(world.engine.attention().needs_you, 1);
}

impl World {
    async fn until_asked(&self, session: SessionId) {
        let mut follow = self.engine.follow(session, None).await.unwrap();
        while !matches!(next_event(&mut follow).await, SessionEvent::PermissionAsked { .. }) {}
    }
}
