//! An answer that is remembered is given again to the very same, and to nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use agents::catalog::Catalog;
use agents::policy::{PermissionPolicy, Policy};
use agents::{AgentSettings, Agents};
use engine::{Agency, Keep, SubmitError};
use model::{
    Answerer, MAX_REMEMBERED, PermissionAnswer, PermissionKind, Rejection, RememberedDecision, RememberedId, Request,
    Seq, ServerEvent, SessionEvent, SessionId, ToolKind,
};
use store::prelude::*;
use store::{Batch, Part};

use crate::support::{World, asker, next_event};

const ALLOW: &str = "allow-once";
const REJECT: &str = "reject-once";

fn person() -> Answerer {
    Answerer::Person { token_id: None, name: "ada".to_owned() }
}

fn answer(option: &str) -> PermissionAnswer {
    PermissionAnswer { option: Some(option.to_owned()), kind: None, fields: None, by: person(), remembered: None }
}

/// Has the guide run `command`, answers like this if that can be answered, and tells what counted.
async fn run(world: &World, session: SessionId, command: &str, option: &str, keep: Keep) -> PermissionAnswer {
    let head = world.engine.session(session).await.unwrap().head;
    let mut follow = world.engine.follow(session, Some(world.engine.cursor(head))).await.unwrap();
    let prompt = world.prompt(session, &format!("run {command}")).await;
    let request = loop {
        if let SessionEvent::PermissionAsked { request, .. } = next_event(&mut follow).await {
            break request;
        }
    };
    match world.engine.answer(session, request, answer(option), keep, asker()).await {
        Ok(()) | Err(SubmitError::Rejected(Rejection::RequestNotOpen(_))) => (),
        Err(err) => panic!("{err}"),
    }
    world.finish(session, prompt).await;
    world.engine.find_answer(session, request).await.unwrap().unwrap()
}

/// Who decides about `command`, if a person that is asked says no.
async fn who(world: &World, session: SessionId, command: &str) -> Answerer {
    run(world, session, command, REJECT, Keep::Once).await.by
}

/// The guide, and the guide under another name.
fn two_agents() -> Agency {
    let catalog = Catalog::new("throughline", &[], BTreeMap::new()).unwrap();
    let mut entries = vec![Arc::clone(catalog.find_entry("guide").unwrap())];
    let mut other = (*entries[0]).clone();
    other.name = "codex".to_owned();
    entries.push(Arc::new(other));
    Agency { agents: Agents::new(AgentSettings::in_process(&entries)), catalog, ..Agency::only_guide() }
}

#[tokio::test(start_paused = true)]
async fn the_very_same_is_asked_once_until_it_is_forgotten() {
    let mut world = World::with_agency(two_agents).await;
    let session = world.session().await;
    let first = run(&world, session, "true", ALLOW, Keep::Remembered).await;
    assert_eq!((first.by, first.kind), (person(), Some(PermissionKind::AllowOnce)));
    let id = first.remembered.unwrap();

    let second = run(&world, session, "true", REJECT, Keep::Once).await;
    assert_eq!(second.by, Answerer::Remembered { id });
    assert_eq!((second.option.as_deref(), second.remembered), (Some(ALLOW), None));

    assert_eq!(who(&world, session, "true ").await, Answerer::Remembered { id }, "the guide trims what it is told");
    assert_eq!(who(&world, session, "tru\u{435}").await, person());
    assert_eq!(who(&world, session, "true #").await, person());

    let another = world.session().await;
    assert_eq!(who(&world, another, "true").await, Answerer::Remembered { id });
    let elsewhere = tempfile::tempdir().unwrap();
    let other_project = world.session_of("guide", elsewhere.path().to_str().unwrap()).await;
    assert_eq!(who(&world, other_project, "true").await, person());
    let inside = format!("{}/inside", world.cwd);
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::create_dir(format!("{}/.git", world.cwd)).unwrap();
    let other_directory = world.session_of("guide", &inside).await;
    assert_eq!(world.engine.session(other_directory).await.unwrap().row.project, world.cwd);
    assert_eq!(who(&world, other_directory, "true").await, person());
    let other_agent = world.session_of("codex", &world.cwd).await;
    assert_eq!(who(&world, other_agent, "true").await, person());

    world.stop_and_restart().await;
    assert_eq!(who(&world, session, "true").await, Answerer::Remembered { id });
    let [row] = &world.engine.remembered()[..] else { panic!("one") };
    assert_eq!((row.id, row.subject.as_str(), row.kind), (id, "true", ToolKind::Execute));
    assert_eq!((row.agent.as_str(), row.project.as_str()), ("guide", world.cwd.as_str()));
    assert_eq!((row.decision, &row.by), (RememberedDecision::Allow, &person()));

    assert!(world.engine.forget_permission(id, asker()).await.unwrap());
    assert!(!world.engine.forget_permission(id, asker()).await.unwrap());
    assert_eq!(who(&world, session, "true").await, person());
    world.stop_and_restart().await;
    assert_eq!((who(&world, session, "true").await, world.engine.remembered()), (person(), Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_remembered_too() {
    let world = World::new().await;
    let session = world.session().await;
    let refused = run(&world, session, "true", REJECT, Keep::Remembered).await;
    let second = run(&world, session, "true", ALLOW, Keep::Once).await;
    assert_eq!(second.by, Answerer::Remembered { id: refused.remembered.unwrap() });
    assert_eq!(second.option.as_deref(), Some(REJECT));
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_forbids_is_stronger() {
    fn forbidding() -> Agency {
        let rules = BTreeMap::from([("guide.execute".to_owned(), Policy::Deny)]);
        Agency { policy: PermissionPolicy::new(Policy::Ask, rules).unwrap(), ..Agency::only_guide() }
    }
    let mut world = World::new().await;
    let session = world.session().await;
    run(&world, session, "true", ALLOW, Keep::Remembered).await;
    world.agency = forbidding;
    world.stop_and_restart().await;
    assert_eq!(who(&world, session, "true").await, Answerer::Policy { rule: "guide.execute".to_owned() });
}

fn remembered(number: u128, digest: &str) -> ServerEvent {
    ServerEvent::PermissionRemembered {
        id: RememberedId::from_bytes(number.to_be_bytes()),
        project: "/elsewhere".to_owned(),
        cwd: "/elsewhere".to_owned(),
        agent: "guide".to_owned(),
        kind: ToolKind::Execute,
        subject: "make".to_owned(),
        digest: digest.to_owned(),
        decision: RememberedDecision::Allow,
        by: person(),
    }
}

/// The answer and what is remembered of it are one: if the one is refused, so is the other.
#[tokio::test(start_paused = true)]
async fn when_there_is_no_room_the_answer_is_not_taken() {
    let mut world = World::new().await;
    let many = (1..=MAX_REMEMBERED).map(|n| remembered(n as u128, &format!("{n:064x}"))).collect();
    let part = Part::of_server(Seq::START, many, model::Timestamp::from_millis(0));
    world.store.append(Batch { parts: vec![part], ..Batch::default() }).await.unwrap();
    world.stop_and_restart().await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    let prompt = world.prompt(session, "run true").await;
    while !matches!(next_event(&mut follow).await, SessionEvent::PermissionAsked { .. }) {}
    let give = |keep| world.engine.answer(session, Request(1), answer(ALLOW), keep, asker());
    let refused = give(Keep::Remembered).await;
    assert!(matches!(refused, Err(SubmitError::Rejected(Rejection::RememberedFull))), "{refused:?}");
    assert!(world.engine.forget_permission(RememberedId::from_bytes(7_u128.to_be_bytes()), asker()).await.unwrap());
    give(Keep::Remembered).await.unwrap();
    world.finish(session, prompt).await;
    assert_eq!(world.engine.remembered().len(), MAX_REMEMBERED);
}

/// Neither is written if the disk is full, and a second try writes both.
#[tokio::test(start_paused = true)]
async fn an_answer_that_could_not_be_written_is_not_remembered() {
    let world = World::new().await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    let prompt = world.prompt(session, "run true").await;
    while !matches!(next_event(&mut follow).await, SessionEvent::PermissionAsked { .. }) {}
    let give = || world.engine.answer(session, Request(1), answer(ALLOW), Keep::Remembered, asker());
    world.fill_disk();
    assert!(matches!(give().await, Err(SubmitError::Append(_))));
    assert_eq!(world.engine.remembered(), []);
    world.disk.mend().await;
    give().await.unwrap();
    world.finish(session, prompt).await;
    let answered = world.engine.find_answer(session, Request(1)).await.unwrap().unwrap();
    assert_eq!(answered.remembered, Some(world.engine.remembered()[0].id));
}
