//! Questions about pieces of work and the steps that agents offer.

use std::collections::HashMap;

use async_trait::async_trait;
use model::{NextId, NextRow, Offer, SessionId, SessionRow, WorkId, WorkKey, WorkRow};
use rusqlite::{Connection, Row};

use crate::rows::WorkNameRow;
use crate::sqlite::SqliteStore;
use crate::sqlite::checksums::{DamagedRow, NEXT_BLOCKS, SESSIONS, WORK_NAMES, WORKS};
use crate::sqlite::rows::offer;
use crate::sqlite::tables::{List, Show, sql_limit};
use crate::{ReadError, ReadOffers, ReadWorks, WholeWork};

/// Behind a block's own columns: the first later turn that offers a step of the same work, by any name that leads to it.
const SUPERSEDED_BY: &str = "(
    SELECT MIN(later.turn)
    FROM next_blocks AS later
    WHERE
        later.session = next_blocks.session
        AND later.meta_context IN (
            SELECT next_blocks.meta_context
            UNION ALL
            SELECT other.name
            FROM sessions
            CROSS JOIN work_names AS own ON own.project = sessions.project AND own.name = next_blocks.meta_context
            CROSS JOIN work_names AS other ON other.work = own.work
            WHERE sessions.id = next_blocks.session
        )
        AND later.turn > next_blocks.turn
)";

const fn offers(which: &'static str, order: &'static str) -> List<Offer> {
    List { table: &NEXT_BLOCKS, show: Show::RowAnd(SUPERSEDED_BY), read: offer, which, order }
}

static OFFERS: List<Offer> = offers("session = ?1 AND (turn, nth) < (?2, ?3)", "ORDER BY turn DESC, nth DESC LIMIT ?4");

pub(in crate::sqlite) static OFFER: List<Offer> = offers("session = ?1 AND turn = ?2 AND nth = ?3", "");

static CLICKED: List<NextRow> =
    List::rows(&NEXT_BLOCKS, "session = ?1 AND clicked_work IS NOT NULL", "ORDER BY turn DESC, nth DESC LIMIT ?2");

/// Which offer supersedes which rests on all offers of the session, and on all names of works.
fn verify_supersession(conn: &Connection, session: SessionId) -> Result<(), ReadError> {
    NEXT_BLOCKS.verify(conn, "session = ?1", [session.as_bytes()])?;
    Ok(WORK_NAMES.verify(conn, "true", [])?)
}

#[async_trait]
impl ReadOffers for SqliteStore {
    async fn next_blocks(
        &self,
        session: SessionId,
        before: Option<NextId>,
        limit: usize,
    ) -> Result<Vec<Offer>, ReadError> {
        let (turn, nth) = before.map_or((i64::MAX, i64::MAX), |id| (id.turn.0.into(), id.nth.into()));
        self.ask(move |conn| {
            verify_supersession(conn, session)?;
            OFFERS.all(conn, (session.as_bytes(), turn, nth, sql_limit(limit)))
        })
        .await
    }

    async fn next_block(&self, session: SessionId, id: NextId) -> Result<Option<Offer>, ReadError> {
        self.ask(move |conn| {
            verify_supersession(conn, session)?;
            OFFER.first(conn, (session.as_bytes(), id.turn.0, id.nth))
        })
        .await
    }

    async fn clicked(&self, session: SessionId, limit: usize) -> Result<Vec<NextRow>, ReadError> {
        self.all(&CLICKED, (*session.as_bytes(), sql_limit(limit))).await
    }
}

static WITH_SESSIONS: List<WorkRow> = List::rows(
    &WORKS,
    "(added_at, id) < (?1, ?2)
     AND EXISTS (SELECT 1 FROM sessions WHERE sessions.work = works.id AND sessions.deleted_at IS NULL)",
    "ORDER BY added_at DESC, id DESC LIMIT ?3",
);

/// Goes from project to project: names are kept in the order of those.
static NAMED: List<WorkRow> = List::rows(
    &WORKS,
    "id IN (
         WITH RECURSIVE projects (project) AS (
             SELECT MIN(project) FROM work_names
             UNION ALL
             SELECT (SELECT MIN(later.project) FROM work_names AS later WHERE later.project > projects.project)
             FROM projects
             WHERE projects.project IS NOT NULL
         )
         SELECT work_names.work
         FROM projects
         CROSS JOIN work_names ON work_names.project = projects.project AND work_names.name = ?1
     )
     AND (added_at, id) < (?2, ?3)",
    "ORDER BY added_at DESC, id DESC LIMIT ?4",
);

static WORK: List<WorkRow> = List::rows(&WORKS, "id = ?1", "");
static WORK_NAME: List<WorkNameRow> = List::rows(&WORK_NAMES, "project = ?1 AND name = ?2", "");
static SESSIONS_OF: List<SessionRow> = List::rows(&SESSIONS, "work = ?1 AND deleted_at IS NULL", "ORDER BY id");
static SESSION_IDS_OF: List<SessionId> = List::ids("work = ?1 AND deleted_at IS NULL", "ORDER BY id");

static NEWEST_OF: List<SessionRow> =
    List::rows(&SESSIONS, "work = ?1 AND deleted_at IS NULL", "ORDER BY id DESC LIMIT ?2");

pub(in crate::sqlite) static NEWEST_OF_BEFORE: List<SessionRow> =
    List::rows(&SESSIONS, "work = ?1 AND id < ?3 AND deleted_at IS NULL", "ORDER BY id DESC LIMIT ?2");

static ALL_WITH_SESSIONS: List<WorkRow> =
    List::rows(&WORKS, "EXISTS (SELECT 1 FROM sessions WHERE sessions.work = works.id)", "ORDER BY created_at, id");

static ALL_NAMES: List<WorkNameRow> = List::rows(&WORK_NAMES, "true", "ORDER BY project, name");

static MEMBERS: List<(WorkId, SessionId)> = List {
    table: &SESSIONS,
    show: Show::Columns("work, id"),
    read: |row: &Row<'_>| Ok((WorkId::from_bytes(row.get(0)?), SessionId::from_bytes(row.get(1)?))),
    which: "work IS NOT NULL AND deleted_at IS NULL",
    order: "ORDER BY work, id",
};

fn place(after: Option<WorkKey>) -> (i64, [u8; 16]) {
    after.map_or((i64::MAX, [0xff; 16]), |key| (key.added_at.as_millis(), *key.id.as_bytes()))
}

#[async_trait]
impl ReadWorks for SqliteStore {
    async fn works(&self, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError> {
        let (added_at, id) = place(after);
        self.list(&WITH_SESSIONS, (added_at, id, sql_limit(limit))).await
    }

    async fn work(&self, id: WorkId) -> Result<Option<WorkRow>, ReadError> {
        self.first(&WORK, [*id.as_bytes()]).await
    }

    async fn works_by_id(&self, ids: Vec<WorkId>) -> Result<Vec<WorkRow>, ReadError> {
        self.ask_list(move |conn, damaged| {
            let mut found = Vec::new();
            for id in &ids {
                found.extend(WORK.list(conn, damaged, [id.as_bytes()])?);
            }
            Ok(found)
        })
        .await
    }

    async fn find_work(&self, project: &str, name: &str) -> Result<Option<WorkRow>, ReadError> {
        let (project, name) = (project.to_owned(), name.to_owned());
        self.ask(move |conn| {
            let found = match WORK_NAME.first(conn, [&project, &name])? {
                Some(row) => WORK.first(conn, [row.work.as_bytes()])?,
                None => None,
            };
            if found.is_none() {
                // Whoever learns that there is none begins one, so it must not be that its name can not be found. There are few.
                WORK_NAMES.verify(conn, "true", [])?;
                WORKS.verify(conn, "true", [])?;
            }
            Ok(found)
        })
        .await
    }

    async fn works_named(&self, name: &str, after: Option<WorkKey>, limit: usize) -> Result<Vec<WorkRow>, ReadError> {
        let (added_at, id) = place(after);
        let params = (name.to_owned(), added_at, id, sql_limit(limit));
        self.ask_list(move |conn, damaged| {
            if damaged == DamagedRow::Refuse {
                WORK_NAMES.verify(conn, "true", [])?;
            }
            NAMED.list(conn, damaged, params)
        })
        .await
    }

    async fn work_sessions(&self, work: WorkId) -> Result<Vec<SessionRow>, ReadError> {
        self.list(&SESSIONS_OF, [*work.as_bytes()]).await
    }

    async fn work_session_ids(&self, work: WorkId) -> Result<Vec<SessionId>, ReadError> {
        self.list(&SESSION_IDS_OF, [*work.as_bytes()]).await
    }

    async fn newest_of_work(
        &self,
        work: WorkId,
        before: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, ReadError> {
        let (work, limit) = (*work.as_bytes(), sql_limit(limit));
        match before {
            Some(before) => self.list(&NEWEST_OF_BEFORE, (work, limit, *before.as_bytes())).await,
            None => self.list(&NEWEST_OF, (work, limit)).await,
        }
    }

    async fn whole_works(&self) -> Result<Vec<WholeWork>, ReadError> {
        self.ask(|conn| {
            let mut names: HashMap<WorkId, Vec<String>> = HashMap::new();
            for WorkNameRow { name, work, .. } in ALL_NAMES.all(conn, ())? {
                names.entry(work).or_default().push(name);
            }
            let mut sessions: HashMap<WorkId, Vec<SessionId>> = HashMap::new();
            for (work, id) in MEMBERS.all(conn, ())? {
                sessions.entry(work).or_default().push(id);
            }
            let whole = ALL_WITH_SESSIONS.all(conn, ())?.into_iter().map(|row| WholeWork {
                names: names.remove(&row.id).unwrap_or_default(),
                sessions: sessions.remove(&row.id).unwrap_or_default(),
                row,
            });
            Ok(whole.collect())
        })
        .await
    }
}
