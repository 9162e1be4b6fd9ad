//! Questions about what agents showed the person.

use async_trait::async_trait;
use model::{BodyHash, BodyRow, OutputId, OutputRow, OutputsSize, Seq, SessionId, Timestamp};

use crate::rows::sql_seq;
use crate::sqlite::SqliteStore;
use crate::sqlite::checksums::{BODIES, OUTPUTS};
use crate::sqlite::tables::{List, Show, sql_limit};
use crate::{ReadError, ReadOutputs};

static OF_SESSION: List<OutputRow> =
    List::rows(&OUTPUTS, "session = ?1 AND stored_seq > ?2", "ORDER BY stored_seq LIMIT ?3");
static OUTPUT: List<OutputRow> = List::rows(&OUTPUTS, "session = ?1 AND id = ?2", "");
static WITH_ID: List<SessionId> = List {
    table: &OUTPUTS,
    show: Show::Columns("session"),
    read: crate::sqlite::rows::session_id,
    which: "id = ?1",
    order: "ORDER BY session",
};

static BODIES_OF_SESSION: List<BodyRow> = List::rows(&BODIES, "session = ?1 AND hash > ?2", "ORDER BY hash LIMIT ?3");
static BODY: List<BodyRow> = List::rows(&BODIES, "session = ?1 AND hash = ?2", "");
// Not by an index: it is asked once an hour at most.
static BEFORE: List<OutputRow> =
    List::rows(&OUTPUTS, "stored_at < ?1 AND (session, id) > (?2, ?3)", "ORDER BY session, id LIMIT ?4");

#[async_trait]
impl ReadOutputs for SqliteStore {
    async fn outputs(&self, session: SessionId, after: Seq, limit: usize) -> Result<Vec<OutputRow>, ReadError> {
        self.all(&OF_SESSION, (*session.as_bytes(), sql_seq(after), sql_limit(limit))).await
    }

    async fn output(&self, session: SessionId, id: OutputId) -> Result<Option<OutputRow>, ReadError> {
        self.first(&OUTPUT, (*session.as_bytes(), *id.as_bytes())).await
    }

    async fn sessions_with_output(&self, id: OutputId) -> Result<Vec<SessionId>, ReadError> {
        self.all(&WITH_ID, [*id.as_bytes()]).await
    }

    async fn bodies(
        &self,
        session: SessionId,
        after: Option<BodyHash>,
        limit: usize,
    ) -> Result<Vec<BodyRow>, ReadError> {
        let after = after.map_or(Vec::new(), |hash| hash.as_bytes().to_vec());
        self.all(&BODIES_OF_SESSION, (*session.as_bytes(), after, sql_limit(limit))).await
    }

    async fn body(&self, session: SessionId, hash: BodyHash) -> Result<Option<BodyRow>, ReadError> {
        self.first(&BODY, (*session.as_bytes(), hash.as_bytes().to_vec())).await
    }

    async fn bodies_size(&self, session: SessionId) -> Result<u64, ReadError> {
        self.ask(move |conn| {
            BODIES.verify(conn, "session = ?1", [session.as_bytes()])?;
            let sql = "SELECT IFNULL(SUM(bytes), 0) FROM bodies WHERE session = ?1";
            let bytes: i64 = conn.prepare_cached(sql)?.query_row([session.as_bytes()], |row| row.get(0))?;
            Ok(bytes.cast_unsigned())
        })
        .await
    }

    async fn outputs_before(
        &self,
        moment: Timestamp,
        after: Option<(SessionId, OutputId)>,
        limit: usize,
    ) -> Result<Vec<OutputRow>, ReadError> {
        // Before the first key stands one that is shorter than any.
        let (session, id) =
            after.map_or_else(Default::default, |(session, id)| (session.as_bytes().to_vec(), id.as_bytes().to_vec()));
        self.list(&BEFORE, (moment.as_millis(), session, id, sql_limit(limit))).await
    }

    async fn outputs_size(&self, session: SessionId) -> Result<OutputsSize, ReadError> {
        self.ask(move |conn| {
            OUTPUTS.verify(conn, "session = ?1", [session.as_bytes()])?;
            let sql = "SELECT COUNT(*), IFNULL(SUM(bytes), 0) FROM outputs WHERE session = ?1";
            let size = conn.prepare_cached(sql)?.query_row([session.as_bytes()], |row| {
                let (count, bytes): (i64, i64) = (row.get(0)?, row.get(1)?);
                Ok(OutputsSize { count: count.cast_unsigned(), bytes: bytes.cast_unsigned() })
            })?;
            Ok(size)
        })
        .await
    }
}
