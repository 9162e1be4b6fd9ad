//! Questions about what turns used.

use async_trait::async_trait;
use model::{Money, SessionId, Turn, UsageBy, UsageKey, UsageQuery, UsageRow, UsageSum, UsedTokens};
use rusqlite::{Connection, Row, ToSql};

use crate::rows::{Cells as _, Cursor};
use crate::sqlite::SqliteStore;
use crate::sqlite::checksums::{DamagedRow, SESSIONS, USAGE, whole};
use crate::sqlite::tables::{List, sql_limit};
use crate::{ReadError, ReadUsage};

pub(in crate::sqlite) static TURNS_USED: List<UsageRow> =
    List::rows(&USAGE, "session = ?1 AND turn > ?2", "ORDER BY turn, nth LIMIT ?3");

/// SQL: sums by this expression, of all sessions or of one.
pub(in crate::sqlite) fn sums_sql(by: UsageBy, of_one: bool, damaged: DamagedRow) -> String {
    let key = match by {
        // Divided so that a day before 1970 is not the one after it.
        UsageBy::Day => "(usage.at + ?4 - ((usage.at + ?4) % 86400000 + 86400000) % 86400000) / 86400000",
        UsageBy::Agent => "usage.agent",
        UsageBy::Model => "usage.model",
        UsageBy::Project => "sessions.project",
        UsageBy::Work => "sessions.work",
        UsageBy::Session => "usage.session",
    };
    // One session's rows are found by their key; of a span of time, by its index.
    let (from, which) = match of_one {
        true => ("usage", "usage.session = ?5"),
        false => ("usage INDEXED BY usage_by_time", "?5 IS NULL"),
    };
    let are_whole = format!("{} AND {}", USAGE.is_whole_among_others(), SESSIONS.is_whole_among_others());
    let only_whole = match damaged {
        DamagedRow::Refuse => String::new(),
        DamagedRow::LeaveOut => format!("AND {are_whole}"),
    };
    format!(
        "SELECT
             {key},
             usage.model,
             IFNULL(SUM(usage.input), 0),
             IFNULL(SUM(usage.output), 0),
             IFNULL(SUM(usage.thought), 0),
             IFNULL(SUM(usage.cached_read), 0),
             IFNULL(SUM(usage.cached_write), 0),
             SUM(usage.cost_nanos),
             usage.currency,
             SUM(usage.nth = 0),
             SUM(usage.nth = 0 AND usage.input IS NULL AND usage.cost_nanos IS NULL),
             MIN({are_whole})
         FROM {from}
         CROSS JOIN sessions ON sessions.id = usage.session
         WHERE
             usage.at >= ?1 AND usage.at < ?2 AND {which} AND ?4 IS NOT NULL
             AND sessions.deleted_at IS NULL {only_whole}
         GROUP BY 1, usage.model, usage.currency
         ORDER BY 1, usage.model, usage.currency
         LIMIT ?3"
    )
}

fn sums(conn: &Connection, query: UsageQuery, damaged: DamagedRow) -> Result<Vec<UsageSum>, ReadError> {
    let sql = sums_sql(query.by, query.session.is_some(), damaged);
    let offset_ms = i64::from(query.offset_minutes) * 60_000;
    let session = query.session.map(|id| id.as_bytes().to_vec());
    let (from, to, limit) = (query.from.as_millis(), query.to.as_millis(), sql_limit(query.limit));
    let params: [&dyn ToSql; 5] = [&from, &to, &limit, &offset_ms, &session];
    let mut statement = conn.prepare_cached(&sql)?;
    let sums = statement.query_map(params, |row| whole(row, |row| sum(row, query.by)))?;
    Ok(sums.collect::<rusqlite::Result<_>>()?)
}

fn sum(row: &Row<'_>, by: UsageBy) -> rusqlite::Result<UsageSum> {
    let columns = &mut Cursor::new(row);
    let key = match by {
        UsageBy::Day => UsageKey::Day(i64::read(columns)?),
        UsageBy::Agent | UsageBy::Model | UsageBy::Project => UsageKey::Name(Option::read(columns)?),
        UsageBy::Work => UsageKey::Work(Option::read(columns)?),
        UsageBy::Session => UsageKey::Session(SessionId::read(columns)?),
    };
    Ok(UsageSum {
        key,
        model: Option::read(columns)?,
        tokens: UsedTokens::read(columns)?,
        cost: Option::<Money>::read(columns)?,
        turns: u64::read(columns)?,
        unknown_turns: u64::read(columns)?,
    })
}

#[async_trait]
impl ReadUsage for SqliteStore {
    async fn usage(&self, query: UsageQuery) -> Result<Vec<UsageSum>, ReadError> {
        self.ask_list(move |conn, damaged| sums(conn, query, damaged)).await
    }

    async fn turns_used(&self, session: SessionId, after: Turn, limit: usize) -> Result<Vec<UsageRow>, ReadError> {
        self.all(&TURNS_USED, (*session.as_bytes(), after.0, sql_limit(limit))).await
    }
}
