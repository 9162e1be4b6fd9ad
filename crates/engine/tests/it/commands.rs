//! Commands that are to be shown, up to the moment in which they would run: who is asked, who answers, and how long is waited.
//! The engine has no program to start them with, so one that is allowed fails to start.

use std::collections::BTreeMap;
use std::time::Duration;

use agents::policy::{PermissionPolicy, Policy};
use engine::{
    Agency, Cancel, CommandEnd, CommandProgress, CommandState, CommandToShow, Follow, Keep, OutputError, SubmitError,
};
use model::{
    Answerer, PermissionAnswer, PermissionKind, Question, Rejection, Request, SessionEvent, SessionId, ToolKind,
};

use crate::support::{Background, World, asker, next_event};

/// A session whose turn goes on for an hour.
async fn busy(world: &World) -> (SessionId, Follow) {
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    world.prompt(session, "slow 3600").await;
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnStarted { .. }) {}
    (session, follow)
}

fn command(command: &str) -> CommandToShow {
    CommandToShow { command: command.to_owned(), cwd: None }
}

async fn show(world: &World, session: SessionId, text: &str) -> CommandProgress {
    world.engine.run_and_show(session, command(text), asker()).await.unwrap()
}

async fn asked(follow: &mut Follow) -> (Request, Question) {
    loop {
        if let SessionEvent::PermissionAsked { request, question, turn } = next_event(follow).await {
            assert!(turn.is_some(), "it belongs to the turn");
            return (request, question);
        }
    }
}

async fn answer(world: &World, session: SessionId, request: Request, option: &str) -> Result<(), SubmitError> {
    let by = Answerer::Person { token_id: None, name: "ada".to_owned() };
    let option = Some(option.to_owned());
    let answer = PermissionAnswer { option, kind: None, fields: None, by, remembered: None };
    world.engine.answer(session, request, answer, Keep::Once, asker()).await
}

/// Asks in the background, and gives the question that the person sees.
async fn ask(world: &World, session: SessionId, follow: &mut Follow, text: &str) -> (Request, Question, Asked) {
    let (engine, wanted) = (world.engine.clone(), command(text));
    let call = Background::start(async move { engine.run_and_show(session, wanted, asker()).await.unwrap() });
    let (request, question) = asked(follow).await;
    (request, question, call)
}

type Asked = Background<CommandProgress>;

fn is_not_started(progress: &CommandProgress) -> bool {
    let CommandState::Ended(CommandEnd::Failed(err)) = &progress.state else { return false };
    matches!(**err, OutputError::NotStarted(_))
}

fn is_refused(progress: &CommandProgress) -> bool {
    matches!(progress.state, CommandState::Ended(CommandEnd::Refused))
}

fn is_cancelled(progress: &CommandProgress) -> bool {
    matches!(progress.state, CommandState::Ended(CommandEnd::Cancelled))
}

async fn questions(world: &World, session: SessionId) -> usize {
    world.log(session).await.lines().filter(|line| line.contains("permission.asked")).count()
}

#[tokio::test(start_paused = true)]
async fn the_person_is_asked_about_the_very_command_and_the_first_answer_counts() {
    let world = World::new().await;
    let (session, mut follow) = busy(&world).await;
    let (request, question, call) = ask(&world, session, &mut follow, "rm -rf build").await;
    assert_eq!((question.kind, question.tool), (ToolKind::Execute, None));
    assert_eq!(question.subject, Some(format!("rm -rf build\nin {}", world.cwd)));
    let kinds: Vec<_> = question.options.iter().map(|option| option.kind).collect();
    assert_eq!(kinds, [PermissionKind::AllowOnce, PermissionKind::AllowAlways, PermissionKind::RejectOnce]);
    answer(&world, session, request, "reject-once").await.unwrap();
    let late = answer(&world, session, request, "allow-once").await;
    assert!(matches!(late, Err(SubmitError::Rejected(Rejection::RequestNotOpen(_)))), "{late:?}");
    let refused = call.result().await;
    assert!(is_refused(&refused), "{refused:?}");
    let known = world.engine.command_progress(session, refused.id).unwrap();
    assert!(is_refused(&known), "{known:?}");
    assert_eq!(questions(&world, session).await, 1);

    let (request, _, call) = ask(&world, session, &mut follow, "rm -rf build").await;
    answer(&world, session, request, "allow-once").await.unwrap();
    assert!(is_not_started(&call.result().await));
    assert!(!world.log(session).await.contains("output.stored"));
}

#[tokio::test(start_paused = true)]
async fn after_45_seconds_without_an_answer_the_caller_goes_on_and_can_look_again() {
    let world = World::new().await;
    let (session, mut follow) = busy(&world).await;
    let began = tokio::time::Instant::now();
    let waiting = show(&world, session, "make").await;
    assert!(matches!(waiting.state, CommandState::Waiting), "{waiting:?}");
    assert_eq!(began.elapsed().as_secs(), 45);
    tokio::time::sleep(Duration::from_secs(600)).await;
    let known = world.engine.command_progress(session, waiting.id).unwrap();
    assert!(matches!(known.state, CommandState::Waiting), "{known:?}");
    let (request, _) = asked(&mut follow).await;
    answer(&world, session, request, "reject-once").await.unwrap();
    while !is_refused(&world.engine.command_progress(session, waiting.id).unwrap()) {
        tokio::task::yield_now().await;
    }
    assert!(world.engine.command_progress(world.session().await, waiting.id).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_its_turn_and_the_command_never_runs() {
    let mut world = World::new().await;
    let (session, mut follow) = busy(&world).await;
    let (request, _, call) = ask(&world, session, &mut follow, "make").await;
    world.engine.submit(session, Cancel, asker()).await.unwrap();
    assert!(is_cancelled(&call.result().await));
    let withdrawn = world.engine.find_answer(session, request).await.unwrap().unwrap();
    assert_eq!((withdrawn.option, withdrawn.by), (None, Answerer::Nobody));

    // The turn ends by itself.
    let prompt = world.prompt(session, "slow 100").await;
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnStarted { .. }) {}
    let (request, _, call) = ask(&world, session, &mut follow, "make").await;
    world.finish(session, prompt).await;
    assert_eq!(world.engine.find_answer(session, request).await.unwrap().unwrap().by, Answerer::Nobody);
    let late = answer(&world, session, request, "allow-once").await;
    assert!(matches!(late, Err(SubmitError::Rejected(Rejection::RequestNotOpen(_)))), "{late:?}");
    let waiting = call.result().await;
    assert!(is_cancelled(&world.engine.command_progress(session, waiting.id).unwrap()));
    let refused = world.engine.run_and_show(session, command("make"), asker()).await.unwrap_err();
    assert!(matches!(refused, OutputError::Submit(SubmitError::Rejected(Rejection::NoTurnRunning))), "{refused:?}");

    // The server ends.
    world.prompt(session, "slow 3600").await;
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnStarted { .. }) {}
    let (request, _, call) = ask(&world, session, &mut follow, "make").await;
    drop(follow);
    world.stop_and_restart().await;
    assert!(is_cancelled(&call.result().await));
    assert_eq!(world.engine.find_answer(session, request).await.unwrap().unwrap().by, Answerer::Nobody);
    assert!(!world.log(session).await.contains("output.stored"));
}

fn denying() -> Agency {
    rule("guide.execute", Policy::Deny)
}

fn allowing() -> Agency {
    rule("*.execute", Policy::Allow)
}

fn rule(rule: &str, policy: Policy) -> Agency {
    let rules = BTreeMap::from([(rule.to_owned(), policy)]);
    let policy = PermissionPolicy::new(Policy::Ask, rules.into_iter().collect()).unwrap();
    Agency { policy, ..Agency::only_guide() }
}

#[tokio::test(start_paused = true)]
async fn the_persons_rules_hold_and_nobody_is_asked() {
    let world = World::with_agency(denying).await;
    let (session, mut follow) = busy(&world).await;
    assert!(is_refused(&show(&world, session, "make").await));
    let (request, _) = asked(&mut follow).await;
    let by = world.engine.find_answer(session, request).await.unwrap().unwrap().by;
    assert_eq!(by, Answerer::Policy { rule: "guide.execute".to_owned() });

    let world = World::with_agency(allowing).await;
    let (session, _follow) = busy(&world).await;
    assert!(is_not_started(&show(&world, session, "make").await));
}

#[tokio::test(start_paused = true)]
async fn what_is_always_allowed_is_remembered_for_this_command_in_this_directory() {
    let mut world = World::new().await;
    let (session, mut follow) = busy(&world).await;
    let (request, _, call) = ask(&world, session, &mut follow, "make").await;
    answer(&world, session, request, "allow-always").await.unwrap();
    assert!(is_not_started(&call.result().await));
    let [row] = &world.engine.remembered()[..] else { panic!("one") };
    assert_eq!(row.subject, format!("make\nin {}", world.cwd));
    let id = row.id;

    world.stop_and_restart().await;
    let (session, mut follow) = busy(&world).await;
    assert!(is_not_started(&show(&world, session, "make").await));
    let (request, _) = asked(&mut follow).await;
    let by = world.engine.find_answer(session, request).await.unwrap().unwrap().by;
    assert_eq!(by, Answerer::Remembered { id });

    // Another command, and the same elsewhere, are asked about.
    let (request, _, call) = ask(&world, session, &mut follow, "make all").await;
    answer(&world, session, request, "reject-once").await.unwrap();
    assert!(is_refused(&call.result().await));
    std::fs::create_dir(format!("{}/below", world.cwd)).unwrap();
    let wanted = CommandToShow { command: "make".to_owned(), cwd: Some("below/../below".to_owned()) };
    let engine = world.engine.clone();
    let call = Background::start(async move { engine.run_and_show(session, wanted, asker()).await.unwrap() });
    let (request, question) = asked(&mut follow).await;
    assert_eq!(question.subject, Some(format!("make\nin {}/below", world.cwd)));
    answer(&world, session, request, "reject-once").await.unwrap();
    assert!(is_refused(&call.result().await));
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_run_is_refused_before_anybody_is_asked() {
    let world = World::new().await;
    let (session, mut follow) = busy(&world).await;
    let before = world.log(session).await;
    std::fs::write(format!("{}/file", world.cwd), "x").unwrap();
    std::os::unix::fs::symlink("/", format!("{}/link", world.cwd)).unwrap();
    for (text, cwd, expected) in [
        ("  \n", None, "the command is empty"),
        ("a\0b", None, "the command is empty, or holds a zero byte"),
        (&*"x".repeat(70_000), None, "more than 65536 bytes"),
        ("ls", Some(".."), "outside the directories"),
        ("ls", Some("/etc"), "outside the directories"),
        ("ls", Some("link"), "outside the directories"),
        ("ls", Some("missing"), "there is nothing"),
        ("ls", Some("file"), "no directory"),
    ] {
        let wanted = CommandToShow { command: text.to_owned(), cwd: cwd.map(str::to_owned) };
        let err = world.engine.run_and_show(session, wanted, asker()).await.unwrap_err().to_string();
        assert!(err.contains(expected), "{text:.20} {cwd:?}: {err}");
    }
    assert_eq!(world.log(session).await, before);

    let mut calls = Vec::new();
    for number in 0..4 {
        calls.push(ask(&world, session, &mut follow, &format!("make {number}")).await);
    }
    let err = world.engine.run_and_show(session, command("make 5"), asker()).await.unwrap_err();
    assert!(err.to_string().starts_with("4 commands of this session wait or run"), "{err}");
    for (request, _, call) in calls {
        answer(&world, session, request, "reject-once").await.unwrap();
        assert!(is_refused(&call.result().await));
    }
}
