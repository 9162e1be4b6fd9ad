//! What a session was begun with, and the person took back before its agent was there: the next run does not send it.

use std::time::Duration;

use model::{
    Author, Command, Draft, FirstPrompt, ForkOrigin, InteractionId, NewSession, Origin, Seq, SessionEvent, SessionId,
    StepOrigin, Timestamp, Turn, WhenBusy,
};
use store::Batch;
use store::prelude::*;

use crate::support::World;

fn first() -> InteractionId {
    InteractionId::from_bytes([1; 16])
}

fn by_a_click() -> Origin {
    Origin::Step(StepOrigin { session: SessionId::from_bytes([8; 16]), block: "t1.n1".parse().unwrap() })
}

fn by_a_fork() -> Origin {
    Origin::Fork(ForkOrigin { session: SessionId::from_bytes([8; 16]), turn: Turn(0) })
}

fn another() -> Command {
    Command::SendPrompt {
        interaction_id: InteractionId::from_bytes([2; 16]),
        text: "say another".to_owned(),
        images: Vec::new(),
        when_busy: WhenBusy::Queue,
        by: Author::default(),
    }
}

impl World {
    /// A session that was begun with a prompt and waits for its agent, and what the person did then; the server ends, and the
    /// next run begins what is left to begin. Gives the session, and how many were begun.
    pub(crate) async fn begun_by_the_next_run(&mut self, from: Origin, commands: Vec<Command>) -> (SessionId, usize) {
        let id = SessionId::from_bytes([9; 16]);
        let prompt = FirstPrompt {
            interaction_id: first(),
            text: "say the first".to_owned(),
            images: Vec::new(),
            by: Author::default(),
        };
        let new = NewSession {
            agent: "guide".to_owned(),
            cwd: self.cwd.clone(),
            project: self.cwd.clone(),
            from: Some(from),
            first: Some(prompt),
            ..NewSession::default()
        };
        let mut draft = Draft::new(id, None);
        for command in [Command::Create(new)].into_iter().chain(commands) {
            draft.apply(command, Timestamp::from_millis(0)).unwrap();
        }
        self.store.append(Batch { parts: vec![draft.take()], ..Batch::default() }).await.unwrap();
        self.stop_and_restart().await;
        let begun = self.engine.start_unbegun().await.unwrap();
        (id, begun)
    }

    async fn sent(&self, session: SessionId) -> Vec<String> {
        let entries = self.store.read_session(session, Seq::START, 1_000).await.unwrap();
        let sent = entries.into_iter().filter_map(|entry| match entry.event {
            SessionEvent::PromptSent { text, .. } => Some(text),
            _ => None,
        });
        sent.collect()
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_back_is_not_sent_by_the_next_run() {
    let taken_back = || Command::RemovePrompt { interaction_id: first() };
    for from in [by_a_click(), by_a_fork()] {
        for (what, commands) in [
            ("removed", vec![taken_back()]),
            ("removed, and another waits", vec![another(), taken_back()]),
            ("cancelled", vec![Command::Cancel]),
            ("cancelled, and another waits", vec![another(), Command::Cancel]),
            ("deleted", vec![Command::Delete]),
            ("deleted and restored", vec![Command::Delete, Command::Restore]),
        ] {
            let mut world = World::new().await;
            let (session, begun) = world.begun_by_the_next_run(from, commands).await;
            world.pass(Duration::from_secs(60)).await;
            assert_eq!((begun, world.sent(session).await), (0, Vec::new()), "{what}, {from:?}");
        }
    }
}

/// What the person did beside it takes nothing back.
#[tokio::test(start_paused = true)]
async fn what_was_not_taken_back_is_sent_by_the_next_run() {
    let changed =
        Command::ChangePrompt { interaction_id: first(), text: "say it otherwise".to_owned(), by: Author::default() };
    for (commands, sent) in [
        (vec![], &["say the first"][..]),
        (vec![Command::Observe], &["say the first"]),
        (vec![changed], &["say it otherwise"]),
        (vec![another()], &["say the first", "say another"]),
    ] {
        let mut world = World::new().await;
        let (session, begun) = world.begun_by_the_next_run(by_a_click(), commands).await;
        assert_eq!(begun, 1);
        let mut follow = world.engine.follow(session, None).await.unwrap();
        for _ in sent {
            while !matches!(crate::support::next_event(&mut follow).await, SessionEvent::TurnEnded { .. }) {}
        }
        assert_eq!(world.sent(session).await, sent);
    }
}
