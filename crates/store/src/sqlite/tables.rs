//! What the tables answer: each question goes to a thread that reads.

use async_trait::async_trait;
use model::{
    DeletedKey, InteractionId, ListKey, NextId, NextRow, Offer, RememberedRow, Seq, Session, SessionId, SessionRow,
    StreamId, Timestamp, TitleRow, TokenRow, Turn, TurnRow, WorkId, WorkKey, WorkRow,
};
use rusqlite::Connection;

use crate::sqlite::{SqliteStore, attachments, queries, work};
use crate::{
    ReadError, ReadOffers, ReadPrincipals, ReadSessions, ReadTurns, ReadUnfinished, ReadWorks, Receipt, StorageError,
    WholeWork,
};

#[async_trait]
impl ReadSessions for SqliteStore {
    async fn session(&self, id: SessionId) -> Result<Option<Session>, ReadError> {
        let fence = self.fences.find(StreamId::Session(id));
        let seen = self.health.mends();
        let query = move |conn: &Connection| queries::session(conn, id, fence.as_ref());
        let mut found = self.ask(query.clone()).await?;
        let is_lost = match &found {
            // It may be the row that leads to its entries, and not the entries.
            Some(found) => found.fence.as_ref().is_some_and(|fence| fence.seq == Seq::START.next()),
            None => self.has_lost_row(id).await?,
        };
        if is_lost {
            self.mend_rows(Some(StreamId::Session(id)), seen).await;
            found = self.ask(query.clone()).await?;
        }
        let Some(found) = found else {
            return match is_lost && self.has_lost_row(id).await? {
                true => Err(ReadError::Storage(StorageError("its row is damaged and can not be made anew".into()))),
                false => Ok(None),
            };
        };
        let is_settled = match found.fence {
            Some(fence) => self.settle(fence, self.health.mends()).await?.is_some(),
            None => true,
        };
        match is_settled {
            true => Ok(Some(found.what)),
            false => Ok(self.ask(query).await?.map(|found| found.what)),
        }
    }

    async fn sessions(&self, after: Option<ListKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
        self.ask_list(move |conn, damaged| queries::sessions(conn, damaged, after, limit)).await
    }

    async fn deleted(&self, after: Option<DeletedKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
        self.ask_list(move |conn, damaged| queries::deleted(conn, damaged, after, limit)).await
    }

    async fn unobserved_count(&self) -> Result<u64, ReadError> {
        self.ask_list(queries::unobserved_count).await
    }

    async fn attached(&self, agent: &str, ids: Vec<String>) -> Result<Vec<(String, SessionId)>, ReadError> {
        let agent = agent.to_owned();
        self.ask(move |conn| attachments::find(conn, &agent, &ids)).await
    }

    async fn directories_above(&self, path: &str) -> Result<Vec<String>, ReadError> {
        let path = path.to_owned();
        self.ask_list(move |conn, damaged| queries::directories_above(conn, damaged, &path)).await
    }

    async fn may_name_file(
        &self,
        path: &str,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionId>, ReadError> {
        let path = path.to_owned();
        self.ask(move |conn| queries::may_name_file(conn, &path, after, limit)).await
    }
}

#[async_trait]
impl ReadTurns for SqliteStore {
    async fn turns(&self, session: SessionId, after: Turn, limit: usize) -> Result<Vec<TurnRow>, ReadError> {
        self.ask(move |conn| queries::turns(conn, session, after, limit)).await
    }

    async fn find_turn(&self, interaction: InteractionId) -> Result<Option<TurnRow>, ReadError> {
        self.ask(move |conn| queries::find_turn(conn, interaction)).await
    }

    async fn titles(&self, session: SessionId) -> Result<Vec<TitleRow>, ReadError> {
        self.ask(move |conn| queries::titles(conn, session)).await
    }

    async fn context_entries(
        &self,
        session: SessionId,
        after: Seq,
        up_to: Seq,
        limit: usize,
    ) -> Result<Vec<Seq>, ReadError> {
        self.ask(move |conn| queries::context_entries(conn, session, after, up_to, limit)).await
    }
}

#[async_trait]
impl ReadUnfinished for SqliteStore {
    async fn unsettled(&self) -> Result<Vec<SessionId>, ReadError> {
        self.ask_list(queries::unsettled).await
    }

    async fn unbegun(&self) -> Result<Vec<SessionId>, ReadError> {
        self.ask_list(work::unbegun).await
    }

    async fn unsummarised(&self, after: Option<SessionId>, limit: usize) -> Result<Vec<SessionId>, ReadError> {
        self.ask_list(move |conn, damaged| queries::unsummarised(conn, damaged, after, limit)).await
    }

    async fn deleted_before(&self, at: Timestamp, limit: usize) -> Result<Vec<SessionId>, ReadError> {
        self.ask_list(move |conn, damaged| queries::deleted_before(conn, damaged, at, limit)).await
    }
}

#[async_trait]
impl ReadOffers for SqliteStore {
    async fn next_blocks(
        &self,
        session: SessionId,
        before: Option<NextId>,
        limit: usize,
    ) -> Result<Vec<Offer>, ReadError> {
        self.ask(move |conn| work::next_blocks(conn, session, before, limit)).await
    }

    async fn next_block(&self, session: SessionId, id: NextId) -> Result<Option<Offer>, ReadError> {
        self.ask(move |conn| work::next_block(conn, session, id)).await
    }

    async fn clicked(&self, session: SessionId, limit: usize) -> Result<Vec<NextRow>, ReadError> {
        self.ask(move |conn| work::clicked(conn, session, limit)).await
    }
}

#[async_trait]
impl ReadWorks for SqliteStore {
    async fn works(&self, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError> {
        self.ask_list(move |conn, damaged| work::works(conn, damaged, after, limit)).await
    }

    async fn work(&self, id: WorkId) -> Result<Option<WorkRow>, ReadError> {
        self.ask(move |conn| work::work(conn, id)).await
    }

    async fn find_work(&self, project: &str, name: &str) -> Result<Option<WorkRow>, ReadError> {
        let (project, name) = (project.to_owned(), name.to_owned());
        self.ask(move |conn| work::find_work(conn, &project, &name)).await
    }

    async fn works_named(&self, name: &str, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError> {
        let name = name.to_owned();
        self.ask_list(move |conn, damaged| work::works_named(conn, damaged, &name, after, limit)).await
    }

    async fn work_sessions(&self, work: WorkId) -> Result<Vec<SessionRow>, ReadError> {
        self.ask_list(move |conn, damaged| work::work_sessions(conn, damaged, work)).await
    }

    async fn work_session_ids(&self, work: WorkId) -> Result<Vec<SessionId>, ReadError> {
        self.ask_list(move |conn, damaged| work::work_session_ids(conn, damaged, work)).await
    }

    async fn newest_of_work(
        &self,
        work: WorkId,
        before: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, ReadError> {
        self.ask_list(move |conn, damaged| work::newest_of_work(conn, damaged, work, before, limit)).await
    }

    async fn whole_works(&self) -> Result<Vec<WholeWork>, ReadError> {
        self.ask(work::whole_works).await
    }
}

#[async_trait]
impl ReadPrincipals for SqliteStore {
    async fn tokens(&self) -> Result<Vec<TokenRow>, ReadError> {
        self.ask_list(queries::tokens).await
    }

    async fn remembered(&self) -> Result<Vec<RememberedRow>, ReadError> {
        self.ask_list(queries::remembered).await
    }

    async fn find_receipt(&self, principal: &str, key: &str) -> Result<Option<Receipt>, ReadError> {
        let (principal, key) = (principal.to_owned(), key.to_owned());
        self.ask(move |conn| Ok(queries::find_receipt(conn, &principal, &key)?)).await
    }
}
