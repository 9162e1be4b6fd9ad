//! What an agent asks: one answer counts, and nobody answers once the turn is stopped.

use std::collections::BTreeMap;
use std::time::Duration;

use agents::policy::{PermissionPolicy, Policy};
use engine::{Agency, Answer, Cancel, Follow, SubmitError};
use model::{Answerer, Event, PermissionAnswer, Rejection, Request, SessionEvent};
use store::Batch;
use store::conformance::faulty::{StoreCall, StoreFault};

use crate::support::{World, asker, next_event};

fn answer(request: Request, option: &str) -> Answer {
    let by = Answerer::Person { token_id: None, name: "ada".to_owned() };
    Answer {
        request,
        answer: PermissionAnswer { option: Some(option.to_owned()), kind: None, fields: None, by, remembered: None },
    }
}

async fn asked(follow: &mut Follow) -> Request {
    loop {
        if let SessionEvent::PermissionAsked { request, .. } = next_event(follow).await {
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
    world.engine.submit(session, Cancel, asker()).await.unwrap();
    world.finish(session, stopped).await;
    let withdrawn = world.engine.find_answer(session, second).await.unwrap().unwrap();
    assert_eq!((withdrawn.option, withdrawn.by), (None, Answerer::Nobody));
}

fn allowing() -> Agency {
    Agency { policy: PermissionPolicy::new(Policy::Allow, BTreeMap::new()).unwrap(), ..Agency::only_guide() }
}

/// It holds an answer that a rule gives.
fn is_by_rule(batch: &Batch) -> bool {
    batch.parts.iter().flat_map(|part| &part.entries).any(|entry| match &entry.event {
        Event::Session(SessionEvent::PermissionAnswered { answer, .. }) => matches!(answer.by, Answerer::Policy { .. }),
        _ => false,
    })
}

/// Such an answer is not owed: it would be refused once a person was faster, and the agent never heard again.
#[tokio::test(start_paused = true)]
async fn a_rules_answer_that_could_not_be_written_is_left_to_the_person() {
    let world = World::with_agency(allowing).await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    world.disk.when(StoreCall::Append).that(is_by_rule).fail(StoreFault::Full);
    let prompt = world.prompt(session, "run true").await;
    let request = asked(&mut follow).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    world.disk.mend().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.engine.find_answer(session, request).await.unwrap(), None);
    world.engine.submit(session, answer(request, "reject-once"), asker()).await.unwrap();
    tokio::time::timeout(Duration::from_secs(600), world.finish(session, prompt)).await.unwrap();

    // The next is answered by the rule again.
    let prompt = world.prompt(session, "run true").await;
    let request = asked(&mut follow).await;
    world.finish(session, prompt).await;
    let counted = world.engine.find_answer(session, request).await.unwrap().unwrap();
    assert!(matches!(counted.by, Answerer::Policy { .. }), "{counted:?}");
}

/// A refusal of what follows does not keep the agent from being heard.
#[tokio::test(start_paused = true)]
async fn a_person_that_is_faster_than_a_rule_is_the_one_that_counts() {
    let world = World::with_agency(allowing).await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    world.disk.when(StoreCall::Append).that(is_by_rule).fail(StoreFault::Full);
    let prompt = world.prompt(session, "run true").await;
    let request = asked(&mut follow).await;
    world.engine.submit(session, answer(request, "reject-once"), asker()).await.unwrap();
    world.disk.mend().await;
    tokio::time::timeout(Duration::from_secs(600), world.finish(session, prompt)).await.unwrap();
    let counted = world.engine.find_answer(session, request).await.unwrap().unwrap();
    assert_eq!(counted.option.as_deref(), Some("reject-once"));
}
