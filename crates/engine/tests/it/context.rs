//! What a session is about: marked by whoever may, proved by what succeeded, the same after every restart, and told to an
//! agent that is taken up again.

use std::fs;
use std::sync::Arc;

use engine::{
    Answer, Asker, Cancel, ChangeSession, ContextReason, Follow, Followed, QueryError, RequestKey, SetContext,
    SubmitError,
};
use model::{
    Answerer, Context, ContextError, ContextWish, Marker, PermissionAnswer, Rejection, SessionEvent, SessionId,
    SetMode, SetOutcome, Turn,
};
use store::conformance::faulty::StoreCall;
use store::prelude::*;

use crate::support::{World, asker, next_event};

fn mark(set: &str, items: &[&str], mode: SetMode, by: Marker) -> SetContext {
    let items = items.iter().map(|item| (*item).to_owned()).collect();
    SetContext { wish: ContextWish::One { set: set.to_owned(), items, mode }, by }
}

async fn context(world: &World, session: SessionId) -> Arc<Context> {
    world.engine.session(session).await.unwrap().context
}

fn values(context: &Context, fact: &str) -> Vec<String> {
    context.facts.find(fact).map_or(Vec::new(), |list| list.newest.iter().map(|fact| fact.value.clone()).collect())
}

async fn say(world: &World, session: SessionId, text: &str) {
    let prompt = world.prompt(session, text).await;
    world.finish(session, prompt).await;
}

/// What the agent was told, in order.
async fn packets(world: &World, session: SessionId) -> Vec<String> {
    let (entries, _) = world.engine.entries(session, None, 1_000).await.unwrap();
    let packet = |event| match event {
        SessionEvent::ResumeSent { text, .. } => Some(text),
        _ => None,
    };
    entries.into_iter().filter_map(|entry| packet(entry.event)).collect()
}

async fn next_context(follow: &mut Follow) -> (Arc<Context>, ContextReason) {
    loop {
        if let Followed::Context { context, reason } = follow.next().await.unwrap() {
            return (context, reason);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_tools_did_is_proved_once_they_succeed() {
    let world = World::new().await;
    let session = world.session().await;
    say(&world, session, "write notes.md hello").await;
    say(&world, session, "write notes.md again").await;
    say(&world, session, "read notes.md").await;
    let path = format!("{}/notes.md", world.cwd);
    let now = context(&world, session).await;
    assert_eq!(values(&now, "filesCreated"), [path.as_str()]);
    assert_eq!(values(&now, "filesEdited"), [path.as_str()]);
    assert_eq!(values(&now, "filesRead"), [path.as_str()]);
    let edited = &now.facts.find("filesEdited").unwrap().newest[0];
    assert_eq!((edited.evidence.turn, edited.evidence.tool), (Turn(2), 1));
    let stamp = edited.file.as_ref().unwrap();
    assert!(stamp.bytes >= 5 && stamp.hash.as_ref().is_some_and(|hash| hash.len() == 64), "{stamp:?}");
    // The proof is the entry that ended the call.
    let (entries, _) = world.engine.entries(session, None, 1_000).await.unwrap();
    let proving = entries.iter().find(|entry| entry.seq == edited.evidence.entry).unwrap();
    assert!(matches!(proving.event, SessionEvent::ToolEnded { .. }), "{proving:?}");
}

#[tokio::test(start_paused = true)]
async fn a_failed_call_leaves_no_trace() {
    let world = World::new().await;
    let session = world.session().await;
    say(&world, session, "fail on purpose").await;
    say(&world, session, "read missing.md").await;
    say(&world, session, "write ../outside.md x").await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    let refused = world.prompt(session, "run touch refused").await;
    let request = loop {
        if let SessionEvent::PermissionAsked { request, .. } = next_event(&mut follow).await {
            break request;
        }
    };
    let by = Answerer::Person { token_id: None, name: "ada".to_owned() };
    let answer =
        PermissionAnswer { option: Some("reject-once".to_owned()), kind: None, fields: None, by, remembered: None };
    world.engine.submit(session, Answer { request, answer }, asker()).await.unwrap();
    world.finish(session, refused).await;
    assert!(context(&world, session).await.facts.is_empty());
}

#[tokio::test(start_paused = true)]
async fn marks_are_validated_merged_and_told_to_followers() {
    let world = World::new().await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    let eleven: Vec<String> = (0..11).map(|n| format!("/{n}")).collect();
    let eleven: Vec<&str> = eleven.iter().map(String::as_str).collect();
    let refused = world.engine.submit(session, mark("files", &eleven, SetMode::Replace, Marker::Agent), asker()).await;
    let full = ContextError::SetFull { set: "files".to_owned(), items: 11 };
    assert!(matches!(refused, Err(SubmitError::Rejected(Rejection::Context(err))) if err == full));
    let merged = world.engine.submit(session, mark("files", &eleven, SetMode::Merge, Marker::Agent), asker()).await;
    let Ok(changes) = merged else { panic!("{merged:?}") };
    assert_eq!((changes[0].outcome, changes[0].left_out.as_slice()), (SetOutcome::Merged, &["/10".to_owned()][..]));
    let (told, reason) = next_context(&mut follow).await;
    assert_eq!(reason, ContextReason::Changed(Some("files".to_owned())));
    assert_eq!(told.sets.items("files").len(), 10);
    // Nothing new is nothing to write down.
    let before = world.engine.session(session).await.unwrap().head;
    world.engine.submit(session, mark("files", &["/1"], SetMode::Merge, Marker::Agent), asker()).await.unwrap();
    assert_eq!(world.engine.session(session).await.unwrap().head, before);
}

/// Two writers at once: each sees the other's mark.
#[tokio::test(start_paused = true)]
async fn two_changes_at_once_lose_nothing() {
    let world = World::new().await;
    let session = world.session().await;
    let put = |item: &'static str| {
        let command = mark("notes", &[item], SetMode::Merge, Marker::Person);
        world.engine.submit(session, command, asker())
    };
    let (one, two) = tokio::join!(put("one"), put("two"));
    one.unwrap();
    two.unwrap();
    let mut items = context(&world, session).await.sets.items("notes");
    items.sort();
    assert_eq!(items, ["one", "two"]);
}

#[tokio::test(start_paused = true)]
async fn the_context_is_known_as_of_every_turn_and_after_a_restart() {
    let mut world = World::new().await;
    let session = world.session().await;
    world.engine.submit(session, mark("notes", &["begun"], SetMode::Replace, Marker::Person), asker()).await.unwrap();
    say(&world, session, "write a.md x").await;
    say(&world, session, "write b.md x").await;
    world.engine.submit(session, mark("notes", &["later"], SetMode::Replace, Marker::Person), asker()).await.unwrap();
    world.crash_and_restart().await;
    let made = |context: &Context| values(context, "filesCreated").len();
    let as_of = async |turn| world.engine.context_as_of(session, Turn(turn)).await.unwrap();
    assert_eq!((as_of(0).await.sets.items("notes"), made(&as_of(0).await)), (vec!["begun".to_owned()], 0));
    assert_eq!((as_of(1).await.sets.items("notes"), made(&as_of(1).await)), (vec!["begun".to_owned()], 1));
    assert_eq!((as_of(2).await.sets.items("notes"), made(&as_of(2).await)), (vec!["later".to_owned()], 2));
    assert_eq!(as_of(2).await, *context(&world, session).await);
    let ahead = world.engine.context_as_of(session, Turn(3)).await;
    assert!(matches!(ahead, Err(QueryError::NoSuchTurn { .. })), "{ahead:?}");
}

/// Whoever comes back gets the context as it is, without the conversation before its cursor.
#[tokio::test(start_paused = true)]
async fn a_follower_gets_the_context_first_and_only_news_after_it() {
    let world = World::new().await;
    let session = world.session().await;
    say(&world, session, "write a.md x").await;
    let head = world.engine.session(session).await.unwrap().head;
    let mut follow = world.engine.follow(session, Some(world.engine.cursor(head))).await.unwrap();
    assert_eq!(values(&follow.snapshot.context, "filesCreated").len(), 1);
    assert!(matches!(follow.next().await.unwrap(), Followed::CaughtUp));
    let prompt = world.prompt(session, "write b.md x").await;
    let (told, reason) = next_context(&mut follow).await;
    assert_eq!((reason, values(&told, "filesCreated").len()), (ContextReason::Changed(None), 2));
    world.finish(session, prompt).await;
    // From the beginning: what is in the snapshot is not told again while the log is read.
    let mut again = world.engine.follow(session, None).await.unwrap();
    while !matches!(again.next().await.unwrap(), Followed::CaughtUp) {
        assert!(!matches!(again.next().await.unwrap(), Followed::Context { .. }));
    }
}

#[tokio::test(start_paused = true)]
async fn a_resumed_agent_is_told_once_what_the_session_is_about_and_what_changed() {
    let mut world = World::new().await;
    let session = world.session().await;
    say(&world, session, "write kept.md one").await;
    say(&world, session, "write changed.md one").await;
    say(&world, session, "write gone.md one").await;
    let kept = format!("{}/kept.md", world.cwd);
    let marks = [kept.as_str(), "/etc/hostname"];
    world.engine.submit(session, mark("files", &marks, SetMode::Replace, Marker::Agent), asker()).await.unwrap();
    let hint = ChangeSession { env_hint: Some("staging\nbox".to_owned()), ..ChangeSession::default() };
    world.engine.submit(session, hint, asker()).await.unwrap();
    world.crash_and_restart().await;
    fs::write(format!("{}/changed.md", world.cwd), "two").unwrap();
    fs::remove_file(format!("{}/gone.md", world.cwd)).unwrap();
    let preview = world.engine.resume_packet(session).await.unwrap();
    let mut follow = world.engine.follow(session, None).await.unwrap();
    let prompt = world.prompt(session, "say hello").await;
    world.finish(session, prompt).await;
    say(&world, session, "say again").await;
    let told = packets(&world, session).await;
    assert_eq!(told.len(), 1, "told once");
    let text = told[0].replace(&world.cwd, "/CWD");
    for line in [
        "Environment: staging box",
        "- /CWD/kept.md",
        "- /etc/hostname (not checked)",
        "- Created kept.md (t1, unchanged since)",
        "- Created changed.md (t2, changed since)",
        "- Created gone.md (t3, gone)",
    ] {
        assert!(text.lines().any(|told| told == line), "{line} is not in\n{text}");
    }
    // An agent that had forgotten all would have been told the newest turns too.
    let rest = told[0].trim_end_matches("[End of the record.]");
    assert!(
        preview.text.starts_with(rest) && preview.text.contains("t3 person: write gone.md one"),
        "{}",
        preview.text
    );
    assert!(preview.tokens * 3 < preview.text.chars().count() && preview.tokens > 0);
    // Followers hear it as a context, and the person's words are their own.
    loop {
        let (_, reason) = next_context(&mut follow).await;
        if reason == ContextReason::Resume {
            break;
        }
    }
    let (entries, _) = world.engine.entries(session, None, 1_000).await.unwrap();
    let sent = entries
        .iter()
        .any(|entry| matches!(&entry.event, SessionEvent::PromptSent { text, .. } if text == "say hello"));
    assert!(sent);
}

/// A slash command goes to the agent as it was typed, with nothing beside it; what the agent has to be told waits for the
/// next prompt that is none, through a restart and a queue.
#[tokio::test(start_paused = true)]
async fn a_slash_command_goes_alone_and_the_record_waits_for_the_next_prompt_that_is_none() {
    let mut world = World::new().await;
    let session = world.session().await;
    say(&world, session, "write kept.md one").await;
    world.crash_and_restart().await;
    say(&world, session, "/say one").await;
    world.crash_and_restart().await;
    let prompts = [
        world.prompt(session, "/slow 1").await,
        world.prompt(session, "/etc/hosts is what?").await,
        world.prompt(session, " /say with a space before it").await,
        world.prompt(session, "/say last").await,
        world.prompt(session, "say once only").await,
    ];
    for prompt in prompts {
        world.finish(session, prompt).await;
    }
    let (entries, _) = world.engine.entries(session, None, 1_000).await.unwrap();
    let log = entries.iter().filter_map(|entry| match &entry.event {
        SessionEvent::PromptSent { text, .. } => Some(text.clone()),
        SessionEvent::ResumeSent { turn, text } => {
            assert!(text.contains("Created kept.md (t1, unchanged since)"), "{text}");
            Some(format!("{turn} told"))
        }
        _ => None,
    });
    let log: Vec<String> = log.collect();
    assert_eq!(
        log,
        [
            "write kept.md one",
            "/say one",
            "/slow 1",
            "/etc/hosts is what?",
            " /say with a space before it",
            "t5 told",
            "/say last",
            "say once only",
        ]
    );
}

/// A path outside the session's directory is looked at only if the person marked it.
#[tokio::test(start_paused = true)]
async fn a_ticket_outside_is_looked_at_for_the_person_alone() {
    let world = World::new().await;
    let session = world.session().await;
    say(&world, session, "say hello").await;
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().canonicalize().unwrap();
    let (there, gone) = (folder.join("ticket.md"), folder.join("gone.md"));
    fs::write(&there, "notes").unwrap();
    // A path that goes up, and a link that leads out, name nothing inside.
    std::os::unix::fs::symlink(&there, format!("{}/link.md", world.cwd)).unwrap();
    let up = format!("{}/../{}/ticket.md", world.cwd, folder.file_name().unwrap().to_str().unwrap());
    for sly in [up, format!("{}/link.md", world.cwd)] {
        world.engine.submit(session, mark("files", &[&sly], SetMode::Replace, Marker::Agent), asker()).await.unwrap();
        let packet = world.engine.resume_packet(session).await.unwrap().text;
        assert!(packet.contains(&format!("- {sly} (not checked)")), "{packet}");
    }
    let paths = [there.to_str().unwrap(), gone.to_str().unwrap()];
    for (by, expected) in [
        (Marker::Agent, format!("- {} (not checked)\n- {} (not checked)", paths[0], paths[1])),
        (Marker::Person, format!("- {}\n(1 files not found)", paths[0])),
    ] {
        world.engine.submit(session, mark("files", &[], SetMode::Replace, by), asker()).await.unwrap();
        world.engine.submit(session, mark("files", &paths, SetMode::Replace, by), asker()).await.unwrap();
        let packet = world.engine.resume_packet(session).await.unwrap().text;
        assert!(packet.contains(&expected), "{packet}");
    }
    // What the agent marked first is looked at once the person confirms it, and nothing else of that set.
    let all = mark("files", &paths, SetMode::Replace, Marker::Agent);
    world.engine.submit(session, mark("files", &[], SetMode::Replace, Marker::Agent), asker()).await.unwrap();
    world.engine.submit(session, all, asker()).await.unwrap();
    let confirm = mark("files", &paths[..1], SetMode::Merge, Marker::Person);
    world.engine.submit(session, confirm, asker()).await.unwrap();
    let packet = world.engine.resume_packet(session).await.unwrap().text;
    assert!(packet.contains(&format!("- {}\n- {} (not checked)", paths[0], paths[1])), "{packet}");
    // The agent's next mark does not take that away.
    let again = mark("files", &[paths[1], paths[0]], SetMode::Replace, Marker::Agent);
    world.engine.submit(session, again, asker()).await.unwrap();
    let packet = world.engine.resume_packet(session).await.unwrap().text;
    assert!(packet.contains(&format!("- {} (not checked)\n- {}", paths[1], paths[0])), "{packet}");
}

/// Whoever goes on must not believe that something was done which was refused, failed, stopped or cut off.
#[tokio::test(start_paused = true)]
async fn what_was_not_done_is_told_as_such() {
    let mut world = World::new().await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    let refused = world.prompt(session, "run touch refused").await;
    let request = loop {
        if let SessionEvent::PermissionAsked { request, .. } = next_event(&mut follow).await {
            break request;
        }
    };
    let by = Answerer::Person { token_id: None, name: "ada".to_owned() };
    let answer =
        PermissionAnswer { option: Some("reject-once".to_owned()), kind: None, fields: None, by, remembered: None };
    world.engine.submit(session, Answer { request, answer }, asker()).await.unwrap();
    world.finish(session, refused).await;
    say(&world, session, "fail on purpose").await;
    let stopped = world.prompt(session, "slow 1000").await;
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnStarted { turn: Turn(3), .. }) {}
    world.engine.submit(session, Cancel, asker()).await.unwrap();
    world.finish(session, stopped).await;
    say(&world, session, "write done.md x").await;
    world.prompt(session, "slow 1000").await;
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnStarted { turn: Turn(5), .. }) {}
    world.crash_and_restart().await;
    let packet = world.engine.resume_packet(session).await.unwrap().text;
    let line = |begins: &str| {
        let mut found = packet.lines().filter(|line| line.starts_with(begins));
        found.next().unwrap_or_else(|| panic!("{begins:?} is not in:\n{packet}"))
    };
    assert!(line("t1 tools:").ends_with("(refused)"), "{packet}");
    assert!(line("t2 tools:").ends_with("(failed)"), "{packet}");
    line("t3 was not done: cancelled");
    assert!(!line("t4 tools:").contains('('), "{packet}");
    line("t5 was not done: interrupted");
    assert_eq!(packet.matches("was not done").count(), 2, "{packet}");
}

/// Both are longer than a page of the log.
#[tokio::test]
async fn a_turn_with_a_long_prompt_and_a_long_answer_is_told_with_its_end() {
    let world = World::new().await;
    let session = world.session().await;
    say(&world, session, &format!("say {}", "x".repeat(700_000))).await;
    let packet = world.engine.resume_packet(session).await.unwrap().text;
    assert!(packet.contains("t1 person: say xxx") && packet.contains("t1 agent: xxx"), "{packet}");
    assert!(!packet.contains("still running"), "{packet}");
}

/// As large as a set may be, and another one each time.
fn large_mark(number: usize, by: Marker) -> SetContext {
    let items: Vec<String> = (0..10).map(|item| format!("/{number}/{item}/{}", "x".repeat(4_000))).collect();
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    mark("files", &items, SetMode::Replace, by)
}

/// Marks until that is refused; how many were taken.
async fn mark_all(world: &World, session: SessionId) -> usize {
    for number in 0..1_000 {
        match world.engine.submit(session, large_mark(number, Marker::Agent), asker()).await {
            Ok(_) => (),
            Err(SubmitError::MarksFull { limit_bytes }) => {
                assert_eq!(limit_bytes, 4 << 20);
                return number;
            }
            Err(err) => panic!("{err}"),
        }
    }
    panic!("agents may write without a bound");
}

/// Only a prompt gives agents' credentials more room, and prompts are the person's.
#[tokio::test(start_paused = true)]
async fn what_agents_may_mark_between_two_prompts_is_bounded_across_a_restart() {
    let mut world = World::new().await;
    let session = world.session().await;
    say(&world, session, "say one").await;
    let taken = mark_all(&world, session).await;
    assert!((90..110).contains(&taken), "{taken}");
    world.stop_and_restart().await;
    let before = world.engine.session(session).await.unwrap().head;
    let refused = world.engine.submit(session, large_mark(5_000, Marker::Agent), asker()).await;
    assert!(matches!(refused, Err(SubmitError::MarksFull { .. })), "{refused:?}");
    assert_eq!(world.engine.session(session).await.unwrap().head, before, "a refusal writes nothing");
    let person = ChangeSession {
        context: Some(ContextWish::One {
            set: "files".to_owned(),
            items: vec!["/mine".to_owned()],
            mode: SetMode::Replace,
        }),
        ..ChangeSession::default()
    };
    world.engine.submit(session, person, asker()).await.unwrap();

    say(&world, session, "say two").await;
    world.engine.submit(session, large_mark(1, Marker::Agent), asker()).await.unwrap();
    // What came before the newest prompt is not read again.
    world.stop_and_restart().await;
    let read = world.disk.met(StoreCall::Read).given;
    world.engine.submit(session, large_mark(2, Marker::Agent), asker()).await.unwrap();
    let read = world.disk.met(StoreCall::Read).given - read;
    assert!(read < 20, "{read} entries were read to take one mark");
}

/// The answers that are kept for repeats are accounted for by entries.
#[tokio::test(start_paused = true)]
async fn an_agents_mark_that_changes_nothing_keeps_no_answer() {
    let world = World::new().await;
    let session = world.session().await;
    let keyed = |key: &str| Asker { principal: "agent".to_owned(), key: Some(RequestKey::new(key, &[])) };
    for key in ["first", "second"] {
        let command = mark("files", &["/a"], SetMode::Replace, Marker::Agent);
        world.engine.submit(session, command, keyed(key)).await.unwrap();
    }
    assert!(world.store.find_receipt("agent", "first").await.unwrap().is_some());
    assert!(world.store.find_receipt("agent", "second").await.unwrap().is_none());
}
