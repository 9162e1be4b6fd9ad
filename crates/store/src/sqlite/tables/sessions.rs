//! Questions about sessions and what belongs to them, and about those who ask.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use async_trait::async_trait;
use model::{
    AppletGrantsRow, DeletedKey, Entry, InteractionId, ListKey, RememberedRow, Seq, Session, SessionId, SessionRow,
    Shelf, StreamId, Timestamp, TitleRow, TokenRow, Turn, TurnRow,
};
use rusqlite::Connection;

use crate::rows::sql_seq;
use crate::sqlite::checksums::{
    APPLET_GRANTS, ATTACHMENTS, CONTEXT_ENTRIES, DamagedRow, REMEMBERED, SESSIONS, TOKENS, TURNS, whole,
};
use crate::sqlite::rows::session_id;
use crate::sqlite::tables::{List, Show, id_before, of_session, sql_limit};
use crate::sqlite::{SqliteStore, queries};
use crate::tables::last_part;
use crate::{
    EntryOrder, Log as _, ReadError, ReadPrincipals, ReadSessions, ReadTurns, ReadUnfinished, Receipt, StorageError,
};

/// A list of sessions: its beginning, and what comes after a place in it.
pub(in crate::sqlite) struct Newest {
    pub(in crate::sqlite) first: List<SessionRow>,
    pub(in crate::sqlite) after: List<SessionRow>,
}

const BY_ACTIVITY: &str = "ORDER BY active_at DESC, id DESC LIMIT ?1";

pub(in crate::sqlite) static LISTED: Newest = Newest {
    first: List::rows(&SESSIONS, "deleted_at IS NULL AND archived_at IS NULL", BY_ACTIVITY),
    after: List::rows(
        &SESSIONS,
        "deleted_at IS NULL AND archived_at IS NULL AND (active_at, id) < (?2, ?3)",
        BY_ACTIVITY,
    ),
};

pub(in crate::sqlite) static ARCHIVED: Newest = Newest {
    first: List::rows(&SESSIONS, "deleted_at IS NULL AND archived_at IS NOT NULL", BY_ACTIVITY),
    after: List::rows(
        &SESSIONS,
        "deleted_at IS NULL AND archived_at IS NOT NULL AND (active_at, id) < (?2, ?3)",
        BY_ACTIVITY,
    ),
};

pub(in crate::sqlite) static FOREMOST: List<SessionRow> = List::rows(
    &SESSIONS,
    "deleted_at IS NULL AND archived_at IS NULL
     AND (pinned_at IS NOT NULL OR open_requests IS NOT NULL OR agent_state = 'signed_out')",
    BY_ACTIVITY,
);

static BY_ID: List<SessionRow> = List::rows(&SESSIONS, "id = ?1 AND deleted_at IS NULL", "");

pub(in crate::sqlite) static TAGGED: List<(SessionId, Vec<String>)> = List {
    table: &SESSIONS,
    show: Show::Columns("id, tags"),
    read: |row| Ok((session_id(row)?, serde_json::from_str(row.get_ref(1)?.as_str()?).unwrap_or_default())),
    which: "deleted_at IS NULL AND tags IS NOT NULL",
    order: "ORDER BY id",
};

pub(in crate::sqlite) static DELETED: List<SessionRow> = List::rows(
    &SESSIONS,
    "deleted_at IS NOT NULL AND (deleted_at, id) < (?1, ?2)",
    "ORDER BY deleted_at DESC, id DESC LIMIT ?3",
);

pub(in crate::sqlite) static ATTACHED: List<SessionId> = List {
    table: &ATTACHMENTS,
    show: Show::Columns("session"),
    read: session_id,
    which: "agent = ?1 AND agent_session = ?2",
    order: "",
};

/// One look at each row: an index would have to be kept by every commit, for a question that is asked by hand.
static DIRECTORIES: [List<String>; 2] = [
    directories("cwd", "deleted_at IS NULL AND substr(?1, 1, length(cwd)) = cwd"),
    directories("project", "deleted_at IS NULL AND substr(?1, 1, length(project)) = project"),
];

const fn directories(column: &'static str, which: &'static str) -> List<String> {
    List { table: &SESSIONS, show: Show::Columns(column), read: |row| row.get(0), which, order: "" }
}

/// The facts by their index, and all marks of files, which are few. Whoever reads the sessions verifies them.
pub(in crate::sqlite) const MAY_NAME_FILE: &str = "SELECT named.session
     FROM (
         SELECT session FROM facts WHERE value = ?1 AND name IN ('filesEdited', 'filesCreated', 'filesRead', 'filesDeleted')
         UNION
         SELECT session FROM sets WHERE name = 'files' AND instr(marks, ?2) > 0
     ) AS named
     JOIN sessions ON sessions.id = named.session
     WHERE sessions.deleted_at IS NULL AND named.session > ?3
     ORDER BY named.session
     LIMIT ?4";

pub(in crate::sqlite) fn unobserved_count_sql(damaged: DamagedRow) -> String {
    format!(
        "SELECT COUNT(*), IFNULL(MIN({}), 1)
         FROM sessions
         WHERE deleted_at IS NULL AND last_idle_at > IFNULL(last_observed_at, -9223372036854775808) {}",
        SESSIONS.is_whole(i64::MAX),
        damaged.and_whole(&SESSIONS)
    )
}

impl SqliteStore {
    async fn newest(
        &self,
        list: &'static Newest,
        after: Option<ListKey>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, ReadError> {
        let limit = sql_limit(limit);
        match after {
            None => self.list(&list.first, [limit]).await,
            Some(key) => self.list(&list.after, (limit, key.active_at.as_millis(), *key.id.as_bytes())).await,
        }
    }
}

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

    async fn sessions(&self, shelf: Shelf, after: Option<ListKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
        match shelf {
            Shelf::Listed => self.newest(&LISTED, after, limit).await,
            Shelf::Archived => self.newest(&ARCHIVED, after, limit).await,
            Shelf::All => {
                let mut rows = self.newest(&LISTED, after, limit).await?;
                rows.extend(self.newest(&ARCHIVED, after, limit).await?);
                rows.sort_by_key(|row| Reverse(ListKey::of(row)));
                // One that moves from list to list between the two reads is in both.
                let mut seen = BTreeSet::new();
                rows.retain(|row| seen.insert(row.id));
                rows.truncate(limit);
                Ok(rows)
            }
        }
    }

    async fn foremost(&self, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
        let mut rows = self.list(&FOREMOST, [sql_limit(limit)]).await?;
        // One that is signed out while it runs does not wait for anybody yet.
        rows.retain(SessionRow::is_foremost);
        Ok(rows)
    }

    async fn sessions_by_id(&self, ids: Vec<SessionId>) -> Result<Vec<SessionRow>, ReadError> {
        self.ask_list(move |conn, damaged| {
            let mut found = Vec::new();
            for id in &ids {
                found.extend(BY_ID.list(conn, damaged, [id.as_bytes()])?);
            }
            Ok(found)
        })
        .await
    }

    async fn tagged(&self) -> Result<Vec<(SessionId, Vec<String>)>, ReadError> {
        self.list(&TAGGED, ()).await
    }

    async fn deleted(&self, after: Option<DeletedKey>, limit: usize) -> Result<Vec<SessionRow>, ReadError> {
        let (at, id) = after.map_or((i64::MAX, [0xff; 16]), |key| (key.deleted_at.as_millis(), *key.id.as_bytes()));
        self.list(&DELETED, (at, id, sql_limit(limit))).await
    }

    async fn unobserved_count(&self) -> Result<u64, ReadError> {
        let count = |conn: &Connection, damaged| {
            let mut statement = conn.prepare_cached(&unobserved_count_sql(damaged))?;
            Ok(statement.query_row([], |row| whole(row, |row| row.get::<_, i64>(0)))?)
        };
        self.ask_list(count).await.map(i64::cast_unsigned)
    }

    async fn attached(&self, agent: &str, ids: Vec<String>) -> Result<Vec<(String, SessionId)>, ReadError> {
        let agent = agent.to_owned();
        self.ask(move |conn| {
            let mut found = BTreeSet::new();
            for id in &ids {
                found.extend(ATTACHED.all(conn, [&agent, id])?.into_iter().map(|session| (session, id)));
            }
            Ok(found.into_iter().map(|(session, id)| (id.clone(), session)).collect())
        })
        .await
    }

    async fn directories_above(&self, path: &str) -> Result<Vec<String>, ReadError> {
        let path = path.to_owned();
        self.ask_list(move |conn, damaged| {
            let mut found = BTreeSet::new();
            for list in &DIRECTORIES {
                found.extend(list.list(conn, damaged, [&path])?);
            }
            Ok(found.into_iter().collect())
        })
        .await
    }

    async fn may_name_file(
        &self,
        path: &str,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionId>, ReadError> {
        // As a mark ends with it in JSON, with the closing quotation mark.
        let last = serde_json::Value::from(last_part(path)).to_string()[1..].to_owned();
        let params = (path.to_owned(), last, id_before(after), sql_limit(limit));
        self.ask(move |conn| {
            let mut statement = conn.prepare_cached(MAY_NAME_FILE)?;
            Ok(statement.query_map(params, session_id)?.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}

static TURNS_AFTER: List<TurnRow> = List::rows(&TURNS, "session = ?1 AND turn > ?2", "ORDER BY turn LIMIT ?3");
static TURN_OF_PROMPT: List<TurnRow> = List::rows(&TURNS, "interaction = ?1", "");

static CHANGES_OF_CONTEXT: List<Seq> = changes_of_context("ORDER BY seq LIMIT ?4");
static NEWEST_CHANGES_OF_CONTEXT: List<Seq> = changes_of_context("ORDER BY seq DESC LIMIT ?4");

const fn changes_of_context(order: &'static str) -> List<Seq> {
    List {
        table: &CONTEXT_ENTRIES,
        show: Show::Columns("seq"),
        read: |row| row.get(0).map(|seq: i64| Seq(seq.cast_unsigned())),
        which: "session = ?1 AND seq > ?2 AND seq <= ?3",
        order,
    }
}

#[async_trait]
impl ReadTurns for SqliteStore {
    async fn turns(&self, session: SessionId, after: Turn, limit: usize) -> Result<Vec<TurnRow>, ReadError> {
        self.all(&TURNS_AFTER, (*session.as_bytes(), after.0, sql_limit(limit))).await
    }

    async fn find_turn(&self, interaction: InteractionId) -> Result<Option<TurnRow>, ReadError> {
        self.first(&TURN_OF_PROMPT, [*interaction.as_bytes()]).await
    }

    async fn titles(&self, session: SessionId) -> Result<Vec<TitleRow>, ReadError> {
        let mut titles = self.ask(move |conn| of_session::<TitleRow>(conn, session)).await?;
        titles.sort_by_key(|row| Reverse(row.nth));
        Ok(titles)
    }

    async fn context_entries(
        &self,
        session: SessionId,
        after: Seq,
        up_to: Seq,
        order: EntryOrder,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        let list = match order {
            EntryOrder::OldestFirst => &CHANGES_OF_CONTEXT,
            EntryOrder::NewestFirst => &NEWEST_CHANGES_OF_CONTEXT,
        };
        let params = (*session.as_bytes(), sql_seq(after), sql_seq(up_to), sql_limit(limit));
        let stream = StreamId::Session(session);
        let fence = self.fences.find(stream);
        let query = move |conn: &Connection| {
            let seqs = list.all(conn, params)?;
            Ok((queries::entries_at(conn, stream, &seqs, fence.as_ref())?, seqs.first().copied()))
        };
        match self.ask(query).await? {
            // Why the first one can not be read is known to whoever reads it alone.
            (entries, Some(first)) if entries.is_empty() => self.read_session(session, first.previous(), 1).await,
            (entries, _) => Ok(entries.into_iter().filter_map(Entry::into_session).collect()),
        }
    }
}

pub(in crate::sqlite) static UNSETTLED: List<SessionId> = List::ids(
    "deleted_at IS NULL AND (agent_state = 'starting' OR running_turn IS NOT NULL OR open_requests IS NOT NULL)",
    "ORDER BY id",
);

// The prompt that a session is begun with is its second entry: `model::BEGINNING_PROMPT`.
static UNBEGUN: List<SessionId> = List::ids(
    "origin IS NOT NULL AND turns = 0 AND deleted_at IS NULL
     AND agent_state IN ('starting', 'stopped')
     AND EXISTS (SELECT 1 FROM prompts WHERE prompts.session = sessions.id AND prompts.queued_seq = 2)",
    "ORDER BY id",
);

pub(in crate::sqlite) static UNSUMMARISED: List<SessionId> =
    List::ids("deleted_at IS NULL AND running_turn IS NULL AND summarised < turns AND id > ?1", "ORDER BY id LIMIT ?2");

pub(in crate::sqlite) static DELETED_BEFORE: List<SessionId> =
    List::ids("deleted_at IS NOT NULL AND deleted_at < ?1", "ORDER BY deleted_at, id LIMIT ?2");

#[async_trait]
impl ReadUnfinished for SqliteStore {
    async fn unsettled(&self) -> Result<Vec<SessionId>, ReadError> {
        self.list(&UNSETTLED, ()).await
    }

    async fn unbegun(&self) -> Result<Vec<SessionId>, ReadError> {
        self.list(&UNBEGUN, ()).await
    }

    async fn unsummarised(&self, after: Option<SessionId>, limit: usize) -> Result<Vec<SessionId>, ReadError> {
        self.list(&UNSUMMARISED, (id_before(after), sql_limit(limit))).await
    }

    async fn deleted_before(&self, at: Timestamp, limit: usize) -> Result<Vec<SessionId>, ReadError> {
        self.list(&DELETED_BEFORE, (at.as_millis(), sql_limit(limit))).await
    }
}

static ALL_TOKENS: List<TokenRow> = List::rows(&TOKENS, "true", "ORDER BY issued_at, id");
static ALL_APPLET_GRANTS: List<AppletGrantsRow> = List::rows(&APPLET_GRANTS, "true", "ORDER BY applet");
static ALL_REMEMBERED: List<RememberedRow> = List::rows(&REMEMBERED, "true", "ORDER BY remembered_at, id");

#[async_trait]
impl ReadPrincipals for SqliteStore {
    async fn tokens(&self) -> Result<Vec<TokenRow>, ReadError> {
        self.list(&ALL_TOKENS, ()).await
    }

    async fn remembered(&self) -> Result<Vec<RememberedRow>, ReadError> {
        self.list(&ALL_REMEMBERED, ()).await
    }

    async fn applet_grants(&self) -> Result<Vec<AppletGrantsRow>, ReadError> {
        self.list(&ALL_APPLET_GRANTS, ()).await
    }

    async fn find_receipt(&self, principal: &str, key: &str) -> Result<Option<Receipt>, ReadError> {
        let (principal, key) = (principal.to_owned(), key.to_owned());
        self.ask(move |conn| Ok(queries::find_receipt(conn, &principal, &key)?)).await
    }
}
