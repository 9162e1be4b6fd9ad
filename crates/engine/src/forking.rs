//! Begins a session that goes on from a turn of another one, which stays as it is.
//!
//! Invariant: no log is rewritten. A fork is one append: what begins the new session, and a note in the one it comes from.

use model::{Answerer, Author, Image, SessionId, Turn};

use crate::requests::{Asker, InputKind};
use crate::wishes::Created;
use crate::{Engine, SubmitError, work};

/// A wish for a session that goes on from a turn of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The last turn that it goes on from; 0 is the session's beginning, and `None` the newest turn that has ended.
    pub turn: Option<Turn>,
    /// Another agent.
    pub agent: Option<String>,
    /// What it is called; may be empty.
    pub name: String,
    /// What its agent is sent first.
    pub prompt: Option<ForkPrompt>,
    /// Who wants it.
    pub by: Answerer,
}

/// The first prompt of a fork.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkPrompt {
    /// The words.
    pub text: String,
    /// Pictures that go with them.
    pub images: Vec<Image>,
    /// Who wrote them.
    pub by: Author,
}

impl Engine {
    /// Begins a session that goes on from a turn of this one. Its agent is sent a packet about the turns up to there, ahead
    /// of its first prompt.
    pub async fn fork(&self, id: SessionId, fork: Fork, asker: Asker) -> Result<Created, SubmitError> {
        if let Some(agent) = &fork.agent {
            self.check_agent(agent)?;
        }
        let engine = self.clone();
        self.run_detached(async move {
            if let Some(created) = engine.find_reply(&asker).await? {
                return Ok(created);
            }
            // As for any new session, nothing is begun without a place for its agent. It is not looked for in the session's own
            // task: its agent may be the one that has to make room.
            let place = engine.shared.agent_places.enter().await?;
            let created: Created = engine.submit_input(id, InputKind::Fork(fork), asker).await?;
            // The new session takes the place at once. Should another be faster, it waits for the next one.
            drop(place);
            work::start(&engine.shared, created.session);
            Ok(created)
        })
        .await
    }
}
