//! Questions about sessions, from the tables and the log.

use std::ops::ControlFlow;

use model::{
    Context, DeletedKey, PermissionAnswer, Request, Seq, Session, SessionEvent, SessionId, SessionRow, StreamId, Turn,
    Untold,
};
use store::{Fence, Head};

use crate::{Engine, Packet, QueryError, packet, paging};

/// How far back the answer to a request is looked for.
const ANSWERS_IN_TURNS: u32 = 3;

impl Engine {
    /// What a request of one of the newest turns, or asked between them, was answered.
    pub async fn find_answer(&self, id: SessionId, request: Request) -> Result<Option<PermissionAnswer>, QueryError> {
        let session = self.session(id).await?;
        let newest = Turn(session.row.turns.0.saturating_sub(ANSWERS_IN_TURNS));
        let turns = self.shared.store.turns(id, newest, 1).await?;
        // Before the first turn something may have been asked, too.
        let after = turns.first().filter(|_| newest > Turn(0)).map_or(Seq::START, |turn| turn.first_seq);
        let mut found = None;
        paging::walk(&*self.shared.store, id, after, session.head, |entry| match entry.event {
            SessionEvent::PermissionAnswered { request: answered, answer, .. } if answered == request => {
                found = Some(answer);
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        })
        .await?;
        Ok(found)
    }

    /// A session that is not deleted.
    pub async fn session(&self, id: SessionId) -> Result<Session, QueryError> {
        let session = self.shared.store.session(id).await?;
        session.filter(|session| session.row.deleted_at.is_none()).ok_or(QueryError::NotFound(id))
    }

    /// What a session was about at the end of a turn; as it is now, if that is the newest one.
    pub async fn context_as_of(&self, id: SessionId, turn: Turn) -> Result<Context, QueryError> {
        let session = self.session(id).await?;
        if turn > session.row.turns {
            return Err(QueryError::NoSuchTurn { turn, newest: session.row.turns });
        }
        Ok((*paging::context_as_of(&*self.shared.store, &session, turn).await?).clone())
    }

    /// The resume packet that the session's agent would be sent now.
    pub async fn resume_packet(&self, id: SessionId) -> Result<Packet, QueryError> {
        let session = self.session(id).await?;
        let untold = match session.row.untold {
            Untold::Essentials => Untold::Essentials,
            Untold::Nothing | Untold::Everything => Untold::Everything,
        };
        Ok(packet::build(&self.shared, &session, untold).await?)
    }

    /// A session as it stood after its first entries.
    pub async fn session_as_of(&self, id: SessionId, entries: u64) -> Result<Session, QueryError> {
        let limit = usize::try_from(entries).unwrap_or(usize::MAX);
        let first = self.shared.store.read_session(id, Seq::START, limit).await?;
        let mut first = first.iter();
        let mut session =
            first.next().and_then(|entry| Session::begin(id, entry.borrowed())).ok_or(QueryError::NotFound(id))?;
        first.for_each(|entry| session.apply(entry.borrowed()));
        Ok(session)
    }

    /// What is known to be wrong with a session; it is read up to there and takes no more.
    pub fn fence(&self, id: SessionId) -> Option<Fence> {
        self.shared.store.fence(id)
    }

    /// A page of deleted sessions that can be restored, the one that was deleted last first.
    pub async fn deleted_sessions(
        &self,
        after: Option<DeletedKey>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, QueryError> {
        Ok(self.shared.store.deleted(after, limit).await?)
    }

    /// Whether the session's entries were purged.
    pub async fn is_purged(&self, id: SessionId) -> Result<bool, QueryError> {
        Ok(self.shared.store.head(StreamId::Session(id)).await? == Head::Purged)
    }
}
