//! What an agent asks: one answer counts, and nobody answers once the turn is stopped.

use engine::{Follow, SubmitError};
use model::{Answerer, Command, Event, PermissionAnswer, Rejection, Request};

use crate::support::{World, asker, next_event};

fn answer(request: Request, option: &str) -> Command {
    let by = Answerer::Person { token_id: None, name: "ada".to_owned() };
    Command::Answer {
        request,
        answer: PermissionAnswer { option: Some(option.to_owned()), kind: None, fields: None, by, remembered: None },
    }
}

async fn asked(follow: &mut Follow) -> Request {
    loop {
        if let Event::PermissionAsked { request, .. } = next_event(follow).await {
            return request;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_answer_reaches_the_agent_and_a_stop_withdraws_the_rest() {
    let world = World::new().await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    let refused = world.prompt(session, "run true").await;
    let first = asked(&mut follow).await;
    world.engine.submit(session, answer(first, "reject-once"), asker()).await.unwrap();
    world.finish(session, refused).await;
    let late = world.engine.submit(session, answer(first, "allow-once"), asker()).await;
    assert!(matches!(late, Err(SubmitError::Rejected(Rejection::RequestNotOpen(_)))), "{late:?}");
    let counted = world.engine.find_answer(session, first).await.unwrap().unwrap();
    assert_eq!(counted.option.as_deref(), Some("reject-once"));

    let stopped = world.prompt(session, "run true").await;
    let second = asked(&mut follow).await;
    world.engine.submit(session, Command::Cancel, asker()).await.unwrap();
    world.finish(session, stopped).await;
    let withdrawn = world.engine.find_answer(session, second).await.unwrap().unwrap();
    assert_eq!((withdrawn.option, withdrawn.by), (None, Answerer::Nobody));
}
