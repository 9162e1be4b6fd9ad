//! Prompts, turns, the queue, keys, deletion.

use std::time::Duration;

use engine::{
    Asker, Cancel, Delete, DirectoryError, Observe, Observed, QueryError, Reach, RequestKey, Restore, SendPrompt,
    SubmitError,
};
use model::{Author, Rejection, SessionEvent, WhenBusy};

use crate::support::{World, asker, next_event};

fn keyed(key: &str, request: &str) -> Asker {
    Asker { principal: "ada".to_owned(), key: Some(RequestKey::new(key, &[request.as_bytes()])) }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_answered_and_every_word_is_kept_once() {
    let world = World::new().await;
    let session = world.session().await;
    let prompt = world.prompt(session, "say one two three").await;
    world.finish(session, prompt).await;
    insta::assert_snapshot!(world.log(session).await, @r#"
    1 session.created guide
    2 agent.state_changed starting
    3 agent.state_changed ready
    4 turn.started 1
    5 prompt.sent {"type":"person"} say one two three
    6 text.part 0 one two three 1
    7 turn.ended completed 1
    "#);
}

#[tokio::test(start_paused = true)]
async fn long_answers_are_written_down_as_they_grow() {
    let world = World::new().await;
    let session = world.session().await;
    let prompt = world.prompt(session, "long 1000").await;
    world.finish(session, prompt).await;
    let log = world.log(session).await;
    let parts: Vec<&str> = log.lines().filter(|line| line.contains("text.part")).collect();
    // 8 s of words at a part a second.
    assert!((7..=10).contains(&parts.len()), "{} parts", parts.len());
    let words: String = parts.iter().flat_map(|line| line.split("text.part 0 ").nth(1)).collect();
    assert_eq!(words.matches("word").count(), 1_000);
}

#[tokio::test(start_paused = true)]
async fn waiting_prompts_go_out_in_order_and_a_stop_ends_only_the_turn() {
    let world = World::new().await;
    let session = world.session().await;
    world.prompt(session, "slow 100").await;
    world.prompt(session, "say second").await;
    let third = world.prompt(session, "say third").await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    while !matches!(next_event(&mut follow).await, SessionEvent::PromptSent { .. }) {}
    world.engine.submit(session, Cancel, asker()).await.unwrap();
    world.finish(session, third).await;
    let log = world.log(session).await;
    let turns: Vec<&str> =
        log.lines().filter(|line| line.contains("turn.ended") || line.contains("text.part")).collect();
    insta::assert_snapshot!(turns.join("\n"), @"
    6 text.part 0 Taking 100 s.  1
    9 turn.ended cancelled 1
    12 text.part 0 second 2
    13 turn.ended completed 2
    16 text.part 0 third 3
    17 turn.ended completed 3
    ");
}

#[tokio::test(start_paused = true)]
async fn a_busy_session_refuses_what_will_not_wait() {
    let world = World::new().await;
    let session = world.session().await;
    world.prompt(session, "slow 100").await;
    let interaction_id = world.engine.new_interaction();
    let text = "now".to_owned();
    let command =
        SendPrompt { interaction_id, text, images: Vec::new(), when_busy: WhenBusy::Reject, by: Author::default() };
    let refused = world.engine.submit(session, command, asker()).await;
    assert!(matches!(refused, Err(SubmitError::Rejected(Rejection::TurnRunning))), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn a_key_gives_one_effect_and_one_answer() {
    let mut world = World::new().await;
    let session = world.session().await;
    let send = |world: &World, asker: Asker| {
        let interaction_id = world.engine.new_interaction();
        let command = SendPrompt {
            interaction_id,
            text: "say hi".to_owned(),
            images: Vec::new(),
            when_busy: WhenBusy::Queue,
            by: Author::default(),
        };
        let engine = world.engine.clone();
        async move { engine.submit(session, command, asker).await }
    };
    let first = send(&world, keyed("k1", "a")).await.unwrap();
    assert_eq!(send(&world, keyed("k1", "a")).await.unwrap(), first);
    world.stop_and_restart().await;
    assert_eq!(send(&world, keyed("k1", "a")).await.unwrap(), first);
    assert!(matches!(send(&world, keyed("k1", "b")).await, Err(SubmitError::KeyReused)));
    let other = Asker { principal: "bob".to_owned(), ..keyed("k1", "a") };
    let interaction_id = send(&world, other).await.unwrap().interaction_id;
    world.finish(session, interaction_id).await;
    assert_eq!(world.log(session).await.matches("prompt.sent").count(), 2);
}

#[tokio::test]
async fn a_repeated_beginning_is_answered_even_if_the_directory_is_gone() {
    let world = World::new().await;
    let cwd = format!("{}/short-lived", world.cwd);
    std::fs::create_dir(&cwd).unwrap();
    let create =
        async || world.engine.create_session("guide", &cwd, String::new(), Reach::Careful, keyed("k", "create")).await;
    let first = create().await.unwrap();
    std::fs::remove_dir(&cwd).unwrap();
    assert_eq!(create().await.unwrap(), first);
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_directory_is_gone_with_its_project_is_not_resumed() {
    let mut world = World::new().await;
    let cwd = format!("{}/short-lived", world.cwd);
    std::fs::create_dir(&cwd).unwrap();
    let session = world.session_of("guide", &cwd).await;
    world.stop_and_restart().await;
    let log = world.log(session).await;
    std::fs::remove_dir(&cwd).unwrap();
    let refused = world.engine.resume(session, None, asker()).await.unwrap_err();
    assert!(
        matches!(&refused, SubmitError::Directory(DirectoryError::Gone { cwd: gone }) if *gone == cwd),
        "{refused}"
    );
    assert_eq!(world.log(session).await, log);
    std::fs::create_dir(&cwd).unwrap();
    world.engine.resume(session, None, asker()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn looking_at_a_session_that_speaks_is_not_seeing_something_new() {
    let world = World::new().await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    world.prompt(session, "slow 100").await;
    while !matches!(follow.next().await.unwrap(), engine::Followed::Preview(_)) {}
    let seen = world.engine.submit(session, Observe, asker()).await.unwrap();
    assert_eq!(seen, Observed { was_unobserved: false, unobserved_count: 0 });
}

/// The agent goes with the deletion, whatever it was doing; what the log then says of it is put right on the way back.
#[tokio::test(start_paused = true)]
async fn a_session_deleted_while_its_agent_starts_answers_after_it_is_restored() {
    let world = World::new().await;
    let session = world.session().await;
    world.engine.submit(session, Delete, asker()).await.unwrap();
    world.engine.submit(session, Restore, asker()).await.unwrap();
    assert_eq!(world.engine.session(session).await.unwrap().row.state(), model::SessionState::Idle);
    let prompt = world.prompt(session, "say here").await;
    world.finish(session, prompt).await;
}

#[tokio::test(start_paused = true)]
async fn twenty_at_once_with_one_key_begin_one_session() {
    let world = World::new().await;
    let create =
        || world.engine.create_session("guide", &world.cwd, String::new(), Reach::Careful, keyed("one", "create"));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let (engine, cwd) = (world.engine.clone(), world.cwd.clone());
        calls.spawn(async move {
            engine.create_session("guide", &cwd, String::new(), Reach::Careful, keyed("one", "create")).await.unwrap()
        });
    }
    let replies = calls.join_all().await;
    let first = create().await.unwrap();
    assert!(replies.iter().all(|reply| *reply == first));
    assert_eq!(world.engine.sessions(model::Shelf::All, None, 100).await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_unseen_is_counted() {
    let mut world = World::new().await;
    let session = world.session().await;
    let prompt = world.prompt(session, "say hi").await;
    world.finish(session, prompt).await;
    assert_eq!(world.engine.unobserved_count(), 1);
    world.stop_and_restart().await;
    assert_eq!(world.engine.unobserved_count(), 1);
    let seen = world.engine.submit(session, Observe, asker()).await.unwrap();
    assert_eq!(seen, Observed { was_unobserved: true, unobserved_count: 0 });
    let again = world.engine.submit(session, Observe, asker()).await.unwrap();
    assert_eq!(again, Observed { was_unobserved: false, unobserved_count: 0 });
}

#[tokio::test(start_paused = true)]
async fn a_deleted_session_is_gone_comes_back_and_is_purged_after_a_week() {
    let mut world = World::new().await;
    let session = world.session().await;
    let prompt = world.prompt(session, "say hi").await;
    world.finish(session, prompt).await;
    world.engine.submit(session, Delete, asker()).await.unwrap();
    assert!(matches!(world.engine.session(session).await, Err(QueryError::NotFound(_))));
    assert_eq!(world.engine.sessions(model::Shelf::All, None, 10).await.unwrap().len(), 0);
    assert_eq!(world.engine.unobserved_count(), 0);
    world.engine.submit(session, Restore, asker()).await.unwrap();
    assert_eq!(world.engine.unobserved_count(), 1);
    world.engine.submit(session, Delete, asker()).await.unwrap();

    world.clock.advance(engine::RESTORABLE_FOR + Duration::from_secs(60));
    world.stop_and_restart().await;
    assert!(!world.engine.is_purged(session).await.unwrap(), "right after the start the time may be wrong");
    world.pass(Duration::from_secs(900)).await;
    assert!(world.engine.is_purged(session).await.unwrap());
    let restored = world.engine.submit(session, Restore, asker()).await;
    assert!(matches!(restored, Err(SubmitError::NotFound(_))), "{restored:?}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_rests_lets_go_and_wakes_again() {
    let world = World::new().await;
    let session = world.session().await;
    let first = world.prompt(session, "say one").await;
    world.finish(session, first).await;
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    let second = world.prompt(session, "say two").await;
    world.finish(session, second).await;
    let log = world.log(session).await;
    assert!(log.contains("agent.state_changed agent_gone stopped"), "{log}");
    assert!(log.ends_with("turn.ended completed 2"), "{log}");
}

#[tokio::test]
async fn a_directory_that_will_not_do_is_refused_before_anything_is_written() {
    let world = World::new().await;
    let file = format!("{}/file", world.cwd);
    std::fs::write(&file, "x").unwrap();
    let create = async |cwd: &str| {
        let made = world.engine.create_session("guide", cwd, String::new(), Reach::Careful, asker()).await;
        match made {
            Err(SubmitError::Directory(err)) => err,
            other => panic!("{cwd}: {other:?}"),
        }
    };
    assert!(matches!(create("relative").await, DirectoryError::NotAbsolute));
    assert!(matches!(create(&file).await, DirectoryError::NotADirectory));
    assert!(matches!(create("/no/such/directory").await, DirectoryError::NotADirectory));
    assert!(matches!(create("/").await, DirectoryError::NeedsConfirmation));
    let unknown = world.engine.create_session("nobody", &world.cwd, String::new(), Reach::Careful, asker()).await;
    assert!(matches!(unknown, Err(SubmitError::UnknownAgent { .. })), "{unknown:?}");
    assert!(world.engine.sessions(model::Shelf::All, None, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_project_is_the_git_root_above() {
    let world = World::new().await;
    std::fs::create_dir_all(format!("{}/.git", world.cwd)).unwrap();
    std::fs::create_dir_all(format!("{}/a/b", world.cwd)).unwrap();
    let cwd = format!("{}/a/b", world.cwd);
    let made = world.engine.create_session("guide", &cwd, String::new(), Reach::Careful, asker()).await.unwrap();
    let session = made.session;
    let row = world.engine.session(session).await.unwrap().row;
    assert_eq!((row.cwd, row.project), (cwd, world.cwd.clone()));
}
