//! How many agents run at once: those that rest make room, those that work do not, and nothing is begun without a place.

use std::time::Duration;

use engine::{Agency, Cancel, Fork, ForkPrompt, Reach, SendPrompt, SubmitError};
use model::{AgentState, Answerer, Author, NextId, Position, SessionEvent, SessionId, Turn, WhenBusy};
use store::prelude::*;

use crate::support::{World, asker, next_event};

fn two_at_once() -> Agency {
    Agency { max_agents: 2, ..Agency::only_guide() }
}

fn one_at_once() -> Agency {
    Agency { max_agents: 1, ..Agency::only_guide() }
}

async fn try_prompt(world: &World, session: SessionId, text: &str) -> Result<(), SubmitError> {
    let (interaction_id, text) = (world.engine.new_interaction(), text.to_owned());
    let command =
        SendPrompt { interaction_id, text, images: Vec::new(), when_busy: WhenBusy::Queue, by: Author::default() };
    world.engine.submit(session, command, asker()).await.map(drop)
}

/// Begins a turn that lasts until it is cancelled.
async fn work(world: &World, session: SessionId) {
    let mut follow = world.engine.follow(session, None).await.unwrap();
    try_prompt(world, session, "slow 3000").await.unwrap();
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnStarted { .. }) {}
}

async fn rest(world: &World, session: SessionId) {
    let mut follow = world.engine.follow(session, None).await.unwrap();
    world.engine.submit(session, Cancel, asker()).await.unwrap();
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnEnded { .. }) {}
}

async fn written(world: &World) -> Option<Position> {
    let entries = world.store.read_all(Position::default(), 10_000).await.unwrap();
    entries.last().map(|entry| entry.position)
}

#[tokio::test(start_paused = true)]
async fn agents_at_work_keep_their_places_and_nothing_is_begun_without_one() {
    let world = World::with_agency(two_at_once).await;
    let [first, second] = [world.session().await, world.session().await];
    work(&world, first).await;
    work(&world, second).await;
    let before = written(&world).await;
    let third = world.engine.create_session("guide", &world.cwd, String::new(), Reach::Careful, asker()).await;
    let Err(err @ SubmitError::TooManyAgents { limit: 2 }) = third else { panic!("{third:?}") };
    assert!(err.to_string().contains("limits.max_agents"), "{err}");
    assert_eq!(written(&world).await, before, "a refusal writes nothing");

    rest(&world, first).await;
    let third = world.session().await;
    work(&world, third).await;
    let again = try_prompt(&world, first, "say hello").await;
    assert!(matches!(again, Err(SubmitError::TooManyAgents { limit: 2 })), "{again:?}");
    rest(&world, second).await;
    let answered = world.prompt(first, "say hello").await;
    world.finish(first, answered).await;
}

/// The place of the one that has rested longest is taken, and its session goes on with the next prompt.
#[tokio::test(start_paused = true)]
async fn resting_agents_make_room_in_the_order_in_which_they_came_to_rest() {
    let world = World::with_agency(two_at_once).await;
    let mut sessions = Vec::new();
    for _ in 0..5 {
        let session = world.session().await;
        let answered = world.prompt(session, "say hello").await;
        world.finish(session, answered).await;
        sessions.push(session);
    }
    for session in sessions {
        let answered = world.prompt(session, "say hello again").await;
        world.finish(session, answered).await;
        assert_eq!(world.engine.session(session).await.unwrap().row.agent_state, AgentState::Ready);
    }
}

/// Nobody waits for the answer of a click, so the new session's agent starts when there is a place.
#[tokio::test(start_paused = true)]
async fn a_step_that_was_taken_waits_for_a_place() {
    let world = World::with_agency(one_at_once).await;
    let first = world.session().await;
    let offered = world.prompt(first, "next Go on | say hello | loom").await;
    world.finish(first, offered).await;
    work(&world, first).await;
    let by = Answerer::Person { token_id: None, name: "ada".to_owned() };
    let block: NextId = "t1.n1".parse().unwrap();
    let click = engine::Click { block, agent: None, model: None, mode: None, by };
    let reply = world.engine.click_next(first, click, asker()).await.unwrap();
    let begun = reply.session;
    let mut follow = world.engine.follow(begun, None).await.unwrap();
    rest(&world, first).await;
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnEnded { .. }) {}
}

/// Whoever forks, or begins a session of a work, waits for the answer, so it is the same as for any new session.
#[tokio::test(start_paused = true)]
async fn a_fork_and_a_session_of_a_work_are_refused_without_a_place() {
    let world = World::with_agency(one_at_once).await;
    let first = world.session().await;
    work(&world, first).await;
    let before = written(&world).await;
    let by = Answerer::Person { token_id: None, name: "ada".to_owned() };
    let prompt = ForkPrompt { text: "say hello".to_owned(), images: Vec::new(), by: Author::default() };
    let fork = Fork { turn: Some(Turn(0)), agent: None, name: String::new(), prompt: Some(prompt), by };
    let forked = world.engine.fork(first, fork.clone(), asker()).await;
    assert!(matches!(forked, Err(SubmitError::TooManyAgents { limit: 1 })), "{forked:?}");
    let in_work =
        world.engine.create_session_in(Some("loom"), "guide", &world.cwd, String::new(), Reach::Careful, asker()).await;
    assert!(matches!(in_work, Err(SubmitError::TooManyAgents { limit: 1 })), "{in_work:?}");
    assert_eq!(written(&world).await, before, "a refusal writes nothing");

    // The agent of the session itself makes room, and at once.
    rest(&world, first).await;
    let begun_at = tokio::time::Instant::now();
    let forked = world.engine.fork(first, fork, asker()).await.unwrap().session;
    let mut follow = world.engine.follow(forked, None).await.unwrap();
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnEnded { .. }) {}
    assert!(begun_at.elapsed() < Duration::from_secs(4), "{:?}", begun_at.elapsed());
}
