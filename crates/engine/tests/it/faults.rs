//! A store that can not be written: a wish that is refused for it has changed nothing, and passes when it is sent again.

use std::fmt::Debug;
use std::time::Duration;

use engine::{
    Asker, ChangePrompt, ChangeSession, Click, Delete, Keep, Observe, QueryError, Reach, RemovePrompt, RequestKey,
    Restore, SendPrompt, SetContext, SubmitError, TokenWish,
};
use model::{
    Answerer, Author, ContextWish, Marker, NextId, PermissionAnswer, Position, Request, SessionEvent, SessionId,
    SetMode, TokenKind, Turn, WhenBusy,
};
use store::conformance::faulty::{StoreCall, StoreFault};
use store::prelude::*;
use store::{AppendError, ReadError};

use crate::support::{World, asker, next_event};

fn person() -> Answerer {
    Answerer::Person { token_id: None, name: "ada".to_owned() }
}

fn allow() -> PermissionAnswer {
    let option = Some("allow-once".to_owned());
    PermissionAnswer { option, kind: None, fields: None, by: person(), remembered: None }
}

fn is(fault: StoreFault, refused: &SubmitError) -> bool {
    let SubmitError::Append(refused) = refused else { return false };
    match fault {
        StoreFault::Full => matches!(refused, AppendError::Full(_)),
        StoreFault::Busy => matches!(refused, AppendError::Busy(_)),
        StoreFault::Failed | StoreFault::Unconfirmed => matches!(refused, AppendError::Failed(_)),
        StoreFault::Closed => matches!(refused, AppendError::Closed),
    }
}

/// Waits until nobody has anything more to write.
async fn quiet(world: &World) {
    loop {
        let before = world.store.last_position();
        tokio::time::sleep(Duration::from_secs(10)).await;
        if world.store.last_position() == before {
            return;
        }
    }
}

/// All that is stored, and all that the engine knows beside it.
async fn state(world: &World) -> String {
    let log = world.store.read_all(Position(0), 100_000).await.unwrap();
    let mut sessions = Vec::new();
    for row in world.engine.sessions(model::Shelf::All, None, 100).await.unwrap() {
        sessions.push(world.engine.session(row.id).await.unwrap());
    }
    let works = world.engine.works(None, 100).await.unwrap();
    let (tokens, remembered) = (world.engine.tokens().all(), world.engine.remembered());
    format!("{log:#?}\n{sessions:#?}\n{works:#?}\n{tokens:#?}\n{remembered:#?}\n{}", world.engine.unobserved_count())
}

impl World {
    /// The wish is refused as the fault says, changes nothing, and passes once the disk is mended.
    async fn refused_then_passes<T: Debug>(
        &self,
        fault: StoreFault,
        name: &str,
        wish: impl AsyncFn() -> Result<T, SubmitError>,
    ) -> T {
        quiet(self).await;
        let before = state(self).await;
        self.disk.when(StoreCall::Append).fail(fault);
        self.disk.when(StoreCall::Purge).fail(fault);
        let refused = wish().await.expect_err(name);
        assert!(is(fault, &refused), "{name}: {refused:?}");
        quiet(self).await;
        assert_eq!(state(self).await, before, "{name}");
        self.disk.mend().await;
        let given = wish().await.unwrap_or_else(|err| panic!("{name}: {err:?}"));
        quiet(self).await;
        assert_ne!(state(self).await, before, "{name}");
        given
    }

    async fn after_turn(&self, text: &str) -> SessionId {
        let session = self.session().await;
        let prompt = self.prompt(session, text).await;
        self.finish(session, prompt).await;
        session
    }
}

async fn every_wish_that_writes(fault: StoreFault) {
    let world = World::new().await;
    let engine = &world.engine;
    let created = world
        .refused_then_passes(fault, "create", async || {
            engine.create_session("guide", &world.cwd, String::new(), Reach::Careful, asker()).await
        })
        .await;
    let asking = created.session;
    let send = async |session: SessionId, text: &str| {
        let interaction_id = engine.new_interaction();
        let prompt = || SendPrompt {
            interaction_id,
            text: text.to_owned(),
            images: Vec::new(),
            when_busy: WhenBusy::Queue,
            by: Author::default(),
        };
        let submit = async || engine.submit(session, prompt(), asker()).await;
        world.refused_then_passes(fault, "send a prompt", submit).await;
        interaction_id
    };

    // Its turn waits for an answer, so that nothing else is written beside the wishes.
    send(asking, "run true").await;
    let interaction_id = send(asking, "say later").await;
    let change = || ChangePrompt { interaction_id, text: "say something else".to_owned(), by: Author::default() };
    world.refused_then_passes(fault, "change a prompt", async || engine.submit(asking, change(), asker()).await).await;
    let remove = RemovePrompt { interaction_id };
    world.refused_then_passes(fault, "remove a prompt", async || engine.submit(asking, remove, asker()).await).await;
    let items = vec!["8080".to_owned()];
    let wish = ContextWish::One { set: "ports".to_owned(), items, mode: SetMode::Replace };
    let mark = || SetContext { wish: wish.clone(), by: Marker::Person };
    world.refused_then_passes(fault, "mark", async || engine.submit(asking, mark(), asker()).await).await;
    let rename = || ChangeSession { name: Some("new".to_owned()), ..ChangeSession::default() };
    world.refused_then_passes(fault, "rename", async || engine.submit(asking, rename(), asker()).await).await;
    let answer = async || engine.answer(asking, Request(1), allow(), Keep::Remembered, asker()).await;
    world.refused_then_passes(fault, "answer and remember", answer).await;
    let remembered = engine.remembered()[0].id;
    let forget = async || engine.forget_permission(remembered, asker()).await;
    world.refused_then_passes(fault, "forget an answer", forget).await;
    world.refused_then_passes(fault, "observe", async || engine.submit(asking, Observe, asker()).await).await;

    let offering = world.after_turn("next Go on | say on | loom").await;
    let block = NextId { turn: Turn(1), nth: 1 };
    let click = || Click { block, agent: None, model: None, mode: None, by: person() };
    let clicked =
        world.refused_then_passes(fault, "click", async || engine.click_next(offering, click(), asker()).await).await;
    let work = clicked.work;
    world.refused_then_passes(fault, "rename a work", async || engine.rename_work(work, "warp", asker()).await).await;
    world.refused_then_passes(fault, "delete a work", async || engine.delete_work(work, asker()).await).await;
    world.refused_then_passes(fault, "delete", async || engine.submit(offering, Delete, asker()).await).await;
    world.refused_then_passes(fault, "restore", async || engine.submit(offering, Restore, asker()).await).await;
    world.refused_then_passes(fault, "purge", async || engine.purge(offering, asker()).await).await;

    let token = || TokenWish { kind: TokenKind::Person, name: "phone".to_owned(), session: None };
    let issued = world.refused_then_passes(fault, "issue a token", async || engine.issue_token(token()).await).await;
    let revoke = async || engine.revoke_token(issued.row.id).await;
    world.refused_then_passes(fault, "revoke a token", revoke).await;
    world.refused_then_passes(fault, "rotate tokens", async || engine.rotate_tokens(token()).await).await;
}

#[tokio::test(start_paused = true)]
async fn on_a_full_disk_every_wish_changes_nothing_and_passes_later() {
    every_wish_that_writes(StoreFault::Full).await;
}

#[tokio::test(start_paused = true)]
async fn while_the_store_is_busy_every_wish_changes_nothing_and_passes_later() {
    every_wish_that_writes(StoreFault::Busy).await;
}

/// Whether the disk kept what it failed to confirm is known after the next start, and a repeat is then carried out once.
#[tokio::test(start_paused = true)]
async fn a_failed_flush_is_told_as_such_and_a_repeat_is_carried_out_once() {
    for fault in [StoreFault::Failed, StoreFault::Unconfirmed] {
        let mut world = World::new().await;
        let session = world.session().await;
        quiet(&world).await;
        let interaction_id = world.engine.new_interaction();
        let key = Some(RequestKey::new("k", &[b"prompt"]));
        let asker = || Asker { principal: "ada".to_owned(), key: key.clone() };
        let prompt = || SendPrompt {
            interaction_id,
            text: "say hi".to_owned(),
            images: Vec::new(),
            when_busy: WhenBusy::Queue,
            by: Author::default(),
        };
        let mut follow = world.engine.follow(session, None).await.unwrap();
        world.disk.when(StoreCall::Append).fail(fault);
        let refused = world.engine.submit(session, prompt(), asker()).await.unwrap_err();
        assert!(is(fault, &refused), "{refused:?}");
        let shown = tokio::time::timeout(Duration::from_secs(60), async {
            while !matches!(
                next_event(&mut follow).await,
                SessionEvent::PromptSent { .. } | SessionEvent::PromptQueued { .. }
            ) {}
        });
        shown.await.expect_err("nobody is shown what was not confirmed");

        world.disk.mend().await;
        world.crash_and_restart().await;
        world.engine.submit(session, prompt(), asker()).await.unwrap();
        quiet(&world).await;
        let entries = world.store.read_session(session, model::Seq::START, 1_000).await.unwrap();
        let taken = entries.iter().filter(|entry| matches!(entry.event, SessionEvent::TurnStarted { .. }));
        assert_eq!(taken.count(), 1, "{fault:?}");
    }
}

/// What can not be read is told: nothing is taken for absent that is there.
#[tokio::test(start_paused = true)]
async fn a_question_that_fails_is_told_and_answered_later() {
    let world = World::new().await;
    let session = world.after_turn("say hi").await;
    quiet(&world).await;
    for (fault, is_closed) in [(StoreFault::Failed, false), (StoreFault::Closed, true)] {
        world.disk.when(StoreCall::Session).fail(fault);
        match world.engine.session(session).await {
            Err(QueryError::Read(ReadError::Closed)) => assert!(is_closed),
            Err(QueryError::Read(ReadError::Storage(_))) => assert!(!is_closed),
            other => panic!("{other:?}"),
        }
        world.disk.mend().await;
        world.engine.session(session).await.unwrap();
    }
}
