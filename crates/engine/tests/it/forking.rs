//! Sessions that go on from a turn of another one.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::{Asker, Created, Fork, ForkPrompt, RequestKey, SubmitError};
use model::{
    Answerer, Author, BodyHash, ForkOrigin, Image, Origin, Rejection, Seq, SessionEvent, SessionId, SessionRow, Shelf,
    Turn,
};
use store::prelude::*;

use crate::support::{World, asker};

fn fork(turn: u32, prompt: Option<&str>) -> Fork {
    let by = Answerer::Person { token_id: None, name: "test".to_owned() };
    let prompt = prompt.map(|text| ForkPrompt { text: text.to_owned(), images: Vec::new(), by: Author::default() });
    Fork { turn: Some(Turn(turn)), agent: None, name: String::new(), prompt, by }
}

impl World {
    async fn turn(&self, session: SessionId, text: &str) {
        let prompt = self.prompt(session, text).await;
        self.finish(session, prompt).await;
    }

    async fn fork(&self, session: SessionId, fork: Fork) -> SessionId {
        let Created { session, .. } = self.engine.fork(session, fork, asker()).await.unwrap();
        session
    }

    async fn events(&self, session: SessionId) -> Vec<SessionEvent> {
        let entries = self.store.read_session(session, Seq::START, 1_000).await.unwrap();
        entries.into_iter().map(|entry| entry.event).collect()
    }

    async fn row(&self, session: SessionId) -> SessionRow {
        self.engine.session(session).await.unwrap().row
    }

    /// What the agent was told ahead of the session's first turn, once that has ended.
    async fn told(&self, session: SessionId) -> String {
        let mut follow = self.engine.follow(session, None).await.unwrap();
        let mut told = String::new();
        loop {
            match crate::support::next_event(&mut follow).await {
                SessionEvent::ResumeSent { text, .. } => told = text,
                SessionEvent::TurnEnded { .. } => return told,
                _ => (),
            }
        }
    }
}

fn has_line(text: &str, line: &str) -> bool {
    text.lines().any(|found| found == line)
}

/// Pictures of a fork's prompt are as long as those of any other.
#[tokio::test(start_paused = true)]
async fn the_pictures_of_a_forks_prompt_are_kept_beside_the_log() {
    let world = World::new().await;
    let session = world.session().await;
    world.turn(session, "say one").await;
    let bytes: Vec<u8> = b"\x89PNG\r\n\x1a\n".iter().copied().chain((0..90_000_u32).map(|n| (n % 251) as u8)).collect();
    let image = Image { mime_type: "image/png".to_owned(), data: BASE64_STANDARD.encode(&bytes), body: None };
    let mut wanted = fork(1, Some("say another way"));
    wanted.prompt.as_mut().unwrap().images = vec![image];
    let begun = world.fork(session, wanted).await;
    world.told(begun).await;
    let mut seen = 0;
    for event in world.events(begun).await {
        let (SessionEvent::PromptQueued { images, .. } | SessionEvent::PromptSent { images, .. }) = event else {
            continue;
        };
        let body = images[0].body.as_ref().unwrap();
        assert_eq!((images[0].data.len() < bytes.len(), body.sha256), (true, Some(BodyHash::of(&bytes))));
        seen += 1;
    }
    assert_eq!(seen, 2);
    let body = world.engine.body(begun, BodyHash::of(&bytes)).await.unwrap();
    assert_eq!(world.engine.read_body(&body.row, 0, bytes.len()).await.unwrap(), bytes);
}

#[tokio::test(start_paused = true)]
async fn a_fork_knows_the_turns_up_to_it_and_nothing_after_them() {
    let world = World::new().await;
    let session = world.session().await;
    for text in ["write notes.md the plan", "say two", "write later.md not yet", "say four"] {
        world.turn(session, text).await;
    }
    let before = world.events(session).await;
    let begun = world.fork(session, fork(2, Some("say another way"))).await;
    let told = world.told(begun).await.replace(&world.cwd, "/project").replace(&session.to_string(), "SESSION");
    for line in [
        "Directory: /project",
        "Forked from: session SESSION (write notes.md the plan), after its turn t2",
        "t1 person: write notes.md the plan",
        "t2 person: say two",
        "t2 agent: two",
        "[End of the record.]",
    ] {
        assert!(has_line(&told, line), "{line:?} is not in:\n{told}");
    }
    assert!(told.contains("2 later turns were taken in that session"), "{told}");
    assert!(told.contains("notes.md (t1"), "{told}");
    for later in ["later.md", "say four", "say two\nt3"] {
        assert!(!told.contains(later), "{later:?} is in:\n{told}");
    }
    // The first session is as it was, but for the note.
    let (note, rest) = (world.events(session).await, before.len());
    assert_eq!(note[..rest], before[..]);
    let [SessionEvent::SessionForked { turn: Turn(2), session: noted, .. }] = note[rest..] else {
        panic!("{:?}", &note[rest..])
    };
    assert_eq!(noted, begun);
    let row = world.row(begun).await;
    assert_eq!(row.from, Some(Origin::Fork(ForkOrigin { session, turn: Turn(2) })));
    assert_eq!((row.agent.as_str(), row.cwd.as_str(), row.work), ("guide", world.cwd.as_str(), None));
    assert_eq!(world.engine.session_before(&row).await.unwrap(), None, "it is read for itself");
}

/// Titles follow the topic: today's is about turns that the fork does not know.
#[tokio::test(start_paused = true)]
async fn a_fork_calls_the_session_as_it_was_called_then() {
    let world = World::new().await;
    let session = world.session().await;
    for text in ["Implement user authentication with OAuth", "Test the OAuth flow", "Store the authentication token"] {
        world.turn(session, text).await;
    }
    let then = world.row(session).await.label().unwrap().to_owned();
    for text in [
        "Set up an MCP server for screenshots",
        "Add a screenshot tool to the MCP server",
        "Screenshots of MCP are black on Wayland",
    ] {
        world.turn(session, text).await;
    }
    assert_ne!(world.row(session).await.label(), Some(then.as_str()), "its topic has changed");
    let begun = world.fork(session, fork(3, Some("say on"))).await;
    let told = world.told(begun).await;
    assert!(told.contains(&format!("({then}), after its turn t3")), "{told}");
    assert!(!told.to_lowercase().contains("screenshot"), "{told}");
}

/// The first prompt, written anew: nothing was before it.
#[tokio::test(start_paused = true)]
async fn a_fork_from_the_beginning_is_told_of_no_turn() {
    let world = World::new().await;
    let session = world.session().await;
    world.turn(session, "say one").await;
    let begun = world.fork(session, fork(0, Some("say another"))).await;
    let told = world.told(begun).await;
    assert!(told.contains("(without a title), before its first turn"), "{told}");
    assert!(told.contains("1 later turn was taken in that session"), "{told}");
    assert!(!told.contains("t1 person"), "{told}");
}

/// Without a prompt it waits for one, and is told then; also when the server ended meanwhile.
#[tokio::test(start_paused = true)]
async fn a_fork_without_a_prompt_is_told_with_its_first_one() {
    let mut world = World::new().await;
    let session = world.session().await;
    world.turn(session, "say one").await;
    let begun = world.fork(session, Fork { turn: None, name: "aside".to_owned(), ..fork(0, None) }).await;
    world.crash_and_restart().await;
    assert_eq!(world.engine.start_unbegun().await.unwrap(), 0, "nothing waits in it");
    let row = world.row(begun).await;
    assert_eq!((row.name.as_str(), row.turns), ("aside", Turn(0)));
    assert_eq!(row.from, Some(Origin::Fork(ForkOrigin { session, turn: Turn(1) })), "from the newest turn");
    world.turn(begun, "say on").await;
    let events = world.events(begun).await;
    let told = events.iter().find_map(|event| match event {
        SessionEvent::ResumeSent { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert!(told.unwrap_or_else(|| panic!("{events:?}")).contains("t1 agent: one"));
}

/// The prompt of a fork is durable with it: what an end of the server leaves undone is done at the next start.
#[tokio::test(start_paused = true)]
async fn a_fork_with_a_prompt_is_begun_by_the_next_run() {
    let mut world = World::new().await;
    let session = world.session().await;
    world.turn(session, "say one").await;
    let from = Origin::Fork(ForkOrigin { session, turn: Turn(1) });
    let (begun, count) = world.begun_by_the_next_run(from, Vec::new()).await;
    assert_eq!(count, 1);
    assert!(world.told(begun).await.contains("t1 agent: one"));
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_forked_is_refused_and_leaves_nothing() {
    let world = World::new().await;
    let session = world.session().await;
    world.turn(session, "say one").await;
    let refused = |wish| world.engine.fork(session, wish, asker());
    let none = refused(fork(2, None)).await.unwrap_err();
    assert!(matches!(none, SubmitError::Rejected(Rejection::NoSuchTurn { turn: Turn(2), newest: Turn(1) })), "{none}");
    let empty = refused(fork(1, Some("  "))).await.unwrap_err();
    assert!(matches!(empty, SubmitError::Rejected(Rejection::PromptEmpty)), "{empty}");
    let named = refused(Fork { name: "x".repeat(1_000), ..fork(1, None) }).await.unwrap_err();
    assert!(matches!(named, SubmitError::Rejected(Rejection::NameInvalid)), "{named}");
    refused(Fork { agent: Some("nobody".to_owned()), ..fork(1, None) }).await.unwrap_err();
    assert_eq!(world.engine.sessions(Shelf::Listed, None, 10).await.unwrap().len(), 1);
    assert!(!world.events(session).await.iter().any(|event| matches!(event, SessionEvent::SessionForked { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_repeat_of_a_fork_gives_the_same_session() {
    let world = World::new().await;
    let session = world.session().await;
    world.turn(session, "say one").await;
    let again = || Asker { key: Some(RequestKey::new("k", &[b"fork"])), ..asker() };
    let first = world.engine.fork(session, fork(1, None), again()).await.unwrap();
    assert_eq!(world.engine.fork(session, fork(1, None), again()).await.unwrap(), first);
    assert_eq!(world.engine.sessions(Shelf::Listed, None, 10).await.unwrap().len(), 2);
}
