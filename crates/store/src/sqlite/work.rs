//! Questions about pieces of work and the steps that agents offer.

use std::collections::HashMap;

use model::{NextId, NextRow, Offer, SessionId, SessionRow, WorkId, WorkKey, WorkRow};
use rusqlite::{Connection, Row, params};

use crate::rows::WorkNameRow;
use crate::sqlite::checksums::{DamagedRow, NEXT_BLOCKS, SESSIONS, WORK_NAMES, WORKS};
use crate::sqlite::queries::{collect_whole, find_whole, sql_limit};
use crate::sqlite::rows::{self, read_row};
use crate::{ReadError, WholeWork};

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

/// That a piece of work has a session which is there.
const HAS_SESSION: &str =
    "EXISTS (SELECT 1 FROM sessions WHERE sessions.work = works.id AND sessions.deleted_at IS NULL)";

pub(super) fn next_blocks(
    conn: &Connection,
    session: SessionId,
    before: Option<NextId>,
    limit: usize,
) -> Result<Vec<Offer>, ReadError> {
    let sql = format!(
        "SELECT {}, {SUPERSEDED_BY}, {}
         FROM next_blocks
         WHERE session = ?1 AND (turn, nth) < (?2, ?3)
         ORDER BY turn DESC, nth DESC
         LIMIT ?4",
        NEXT_BLOCKS.columns(),
        NEXT_BLOCKS.is_whole(i64::MAX)
    );
    verify_supersession(conn, session)?;
    let (turn, nth) = before.map_or((i64::MAX, i64::MAX), |id| (id.turn.0.into(), id.nth.into()));
    collect_whole(conn, &sql, params![session.as_bytes(), turn, nth, sql_limit(limit)], rows::offer)
}

pub(super) fn next_block(conn: &Connection, session: SessionId, id: NextId) -> Result<Option<Offer>, ReadError> {
    verify_supersession(conn, session)?;
    find_whole(conn, &next_block_sql(), params![session.as_bytes(), id.turn.0, id.nth], rows::offer)
}

/// Which offer supersedes which rests on all offers of the session, and on all names of works.
fn verify_supersession(conn: &Connection, session: SessionId) -> Result<(), ReadError> {
    NEXT_BLOCKS.verify(conn, "session = ?1", [session.as_bytes()])?;
    Ok(WORK_NAMES.verify(conn, "true", [])?)
}

pub(super) fn next_block_sql() -> String {
    format!(
        "SELECT {}, {SUPERSEDED_BY}, {}
         FROM next_blocks
         WHERE session = ?1 AND turn = ?2 AND nth = ?3",
        NEXT_BLOCKS.columns(),
        NEXT_BLOCKS.is_whole(i64::MAX)
    )
}

pub(super) fn clicked(conn: &Connection, session: SessionId, limit: usize) -> Result<Vec<NextRow>, ReadError> {
    let sql = format!(
        "SELECT {}
         FROM next_blocks
         WHERE session = ?1 AND clicked_work IS NOT NULL
         ORDER BY turn DESC, nth DESC
         LIMIT ?2",
        NEXT_BLOCKS.all_checked()
    );
    collect_whole(conn, &sql, params![session.as_bytes(), sql_limit(limit)], read_row)
}

/// Those that have a session.
pub(super) fn works(
    conn: &Connection,
    damaged: DamagedRow,
    after: Option<WorkKey>,
    limit: usize,
) -> Result<Vec<WorkRow>, ReadError> {
    let sql = format!(
        "SELECT {}
         FROM works
         WHERE (added_at, id) < (?1, ?2) AND {HAS_SESSION} {}
         ORDER BY added_at DESC, id DESC
         LIMIT ?3",
        WORKS.all_checked(),
        damaged.and_whole(&WORKS)
    );
    let (added_at, id) = place(after);
    collect_whole(conn, &sql, params![added_at, id, sql_limit(limit)], read_row)
}

/// Goes from project to project: names are kept in the order of those.
pub(super) fn works_named(
    conn: &Connection,
    damaged: DamagedRow,
    name: &str,
    after: Option<WorkKey>,
    limit: usize,
) -> Result<Vec<WorkRow>, ReadError> {
    let sql = format!(
        "WITH RECURSIVE projects (project) AS (
             SELECT MIN(project) FROM work_names
             UNION ALL
             SELECT (SELECT MIN(later.project) FROM work_names AS later WHERE later.project > projects.project)
             FROM projects
             WHERE projects.project IS NOT NULL
         )
         SELECT {}
         FROM works
         WHERE
             id IN (
                 SELECT work_names.work
                 FROM projects
                 CROSS JOIN work_names ON work_names.project = projects.project AND work_names.name = ?1
             )
             AND (added_at, id) < (?2, ?3)
             {}
         ORDER BY added_at DESC, id DESC
         LIMIT ?4",
        WORKS.all_checked(),
        damaged.and_whole(&WORKS)
    );
    if damaged == DamagedRow::Refuse {
        WORK_NAMES.verify(conn, "true", [])?;
    }
    let (added_at, id) = place(after);
    collect_whole(conn, &sql, params![name, added_at, id, sql_limit(limit)], read_row)
}

fn place(after: Option<WorkKey>) -> (i64, [u8; 16]) {
    after.map_or((i64::MAX, [0xff; 16]), |key| (key.added_at.as_millis(), *key.id.as_bytes()))
}

pub(super) fn work(conn: &Connection, id: WorkId) -> Result<Option<WorkRow>, ReadError> {
    let sql = format!("SELECT {} FROM works WHERE id = ?1", WORKS.all_checked());
    find_whole(conn, &sql, [id.as_bytes()], read_row)
}

pub(super) fn find_work(conn: &Connection, project: &str, name: &str) -> Result<Option<WorkRow>, ReadError> {
    let columns = WORK_NAMES.all_checked();
    let sql = format!("SELECT {columns} FROM work_names WHERE project = ?1 AND name = ?2");
    let found = match find_whole(conn, &sql, [project, name], read_row::<WorkNameRow>)? {
        Some(row) => self::work(conn, row.work)?,
        None => None,
    };
    if found.is_none() {
        // Whoever is told that there is none begins one, so it must not be that its name can not be found. There are few.
        WORK_NAMES.verify(conn, "true", [])?;
        WORKS.verify(conn, "true", [])?;
    }
    Ok(found)
}

pub(super) fn work_sessions(
    conn: &Connection,
    damaged: DamagedRow,
    work: WorkId,
) -> Result<Vec<SessionRow>, ReadError> {
    let sql = format!(
        "SELECT {}
         FROM sessions
         WHERE work = ?1 AND deleted_at IS NULL {}
         ORDER BY id",
        SESSIONS.all_checked(),
        damaged.and_whole(&SESSIONS)
    );
    collect_whole(conn, &sql, [work.as_bytes()], read_row)
}

pub(super) fn work_session_ids(
    conn: &Connection,
    damaged: DamagedRow,
    work: WorkId,
) -> Result<Vec<SessionId>, ReadError> {
    let sql = format!(
        "SELECT {}
         FROM sessions
         WHERE work = ?1 AND deleted_at IS NULL {}
         ORDER BY id",
        SESSIONS.checked("id"),
        damaged.and_whole(&SESSIONS)
    );
    collect_whole(conn, &sql, [work.as_bytes()], rows::session_id)
}

pub(super) fn newest_of_work(
    conn: &Connection,
    damaged: DamagedRow,
    work: WorkId,
    before: Option<SessionId>,
    limit: usize,
) -> Result<Vec<SessionRow>, ReadError> {
    // No id stands behind the last one of all.
    let (before, is_before) = match before {
        Some(before) => (*before.as_bytes(), "<"),
        None => ([0xff; 16], "<="),
    };
    let sql = newest_of_work_sql(is_before, damaged);
    collect_whole(conn, &sql, params![work.as_bytes(), before, sql_limit(limit)], read_row)
}

pub(super) fn newest_of_work_sql(is_before: &str, damaged: DamagedRow) -> String {
    format!(
        "SELECT {}
         FROM sessions
         WHERE work = ?1 AND id {is_before} ?2 AND deleted_at IS NULL {}
         ORDER BY id DESC
         LIMIT ?3",
        SESSIONS.all_checked(),
        damaged.and_whole(&SESSIONS)
    )
}

pub(super) fn whole_works(conn: &Connection) -> Result<Vec<WholeWork>, ReadError> {
    let sql = format!(
        "SELECT {}
         FROM works
         WHERE EXISTS (SELECT 1 FROM sessions WHERE sessions.work = works.id)
         ORDER BY created_at, id",
        WORKS.all_checked()
    );
    let works = collect_whole(conn, &sql, [], read_row::<WorkRow>)?;
    let sql = format!("SELECT {} FROM work_names ORDER BY project, name", WORK_NAMES.all_checked());
    let mut names: HashMap<WorkId, Vec<String>> = HashMap::new();
    for WorkNameRow { name, work, .. } in collect_whole(conn, &sql, [], read_row)? {
        names.entry(work).or_default().push(name);
    }
    let sql = format!(
        "SELECT {}
         FROM sessions
         WHERE work IS NOT NULL AND deleted_at IS NULL
         ORDER BY work, id",
        SESSIONS.checked("work, id")
    );
    let member = |row: &Row<'_>| Ok((WorkId::from_bytes(row.get(0)?), SessionId::from_bytes(row.get(1)?)));
    let mut sessions: HashMap<WorkId, Vec<SessionId>> = HashMap::new();
    for (work, id) in collect_whole(conn, &sql, [], member)? {
        sessions.entry(work).or_default().push(id);
    }
    let whole = works.into_iter().map(|row| WholeWork {
        names: names.remove(&row.id).unwrap_or_default(),
        sessions: sessions.remove(&row.id).unwrap_or_default(),
        row,
    });
    Ok(whole.collect())
}

pub(super) fn unbegun(conn: &Connection, damaged: DamagedRow) -> Result<Vec<SessionId>, ReadError> {
    let sql = format!(
        "SELECT {}
         FROM sessions
         WHERE
             origin IS NOT NULL AND turns = 0 AND deleted_at IS NULL
             AND agent_state IN ('starting', 'stopped')
             AND EXISTS (SELECT 1 FROM prompts WHERE prompts.session = sessions.id)
             {}
         ORDER BY id",
        SESSIONS.checked("id"),
        damaged.and_whole(&SESSIONS)
    );
    collect_whole(conn, &sql, [], rows::session_id)
}
