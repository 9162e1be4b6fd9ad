//! The rows of one stream, from the log and from the tables, and how they differ.
//!
//! Invariant: what the log gives here is what `apply.rs` writes: the same changes in the same order, so a difference
//! is a fault of the tables.

use std::collections::BTreeMap;

use model::{
    FactShape, InteractionId, Mark, NextId, NextRow, ProvedFact, QueuedPrompt, RememberedId, RememberedRow, RowChange,
    Seq, SessionId, SessionRow, StreamId, TitleRow, TokenId, TokenRow, Turn, TurnRow, WorkId, WorkRow,
};
use rusqlite::{Connection, Params, Result, Row};

use crate::sqlite::checksums::{CONTEXT_ENTRIES, PROMPTS, SESSIONS, TURNS};
use crate::sqlite::columns::{
    ATTACHMENT_COLUMNS, FACT_COLUMNS, NEXT_COLUMNS, REMEMBERED_COLUMNS, SET_COLUMNS, TITLE_COLUMNS, TOKEN_COLUMNS,
    WORK_COLUMNS, WORK_NAME_COLUMNS, has_attachments, has_context, has_remembered, has_titles, has_work,
    prompt_columns, session_columns, turn_columns,
};
use crate::sqlite::outside::is_damage;
use crate::sqlite::rows::{
    marked_set, next_row, proved_fact, queued_prompt, remembered_row, session_row, title_row, token_row, turn_row,
    work_name, work_row,
};

/// What the read tables hold of a stream.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Rows {
    sessions: BTreeMap<SessionId, Box<SessionRow>>,
    turns: BTreeMap<Turn, TurnRow>,
    prompts: BTreeMap<InteractionId, QueuedPrompt>,
    sets: BTreeMap<String, Vec<Mark>>,
    facts: BTreeMap<(String, String), (FactShape, ProvedFact)>,
    context_entries: BTreeMap<Seq, ()>,
    titles: BTreeMap<u32, TitleRow>,
    /// By agent, then by that agent's own id.
    attachments: BTreeMap<(String, String), ()>,
    next_blocks: BTreeMap<NextId, NextRow>,
    works: BTreeMap<WorkId, WorkRow>,
    work_names: BTreeMap<(String, String), WorkId>,
    tokens: BTreeMap<TokenId, TokenRow>,
    remembered: BTreeMap<RememberedId, RememberedRow>,
}

impl Rows {
    pub(super) fn apply(&mut self, change: RowChange) {
        match change {
            RowChange::PutSession(row) => {
                self.sessions.insert(row.id, row);
            }
            RowChange::StartTurn(row) => {
                self.turns.insert(row.turn, row);
            }
            RowChange::EndTurn { session: _, turn, stop, ended_at, last_seq } => {
                if let Some(row) = self.turns.get_mut(&turn) {
                    (row.stop, row.ended_at, row.last_seq) = (Some(stop), Some(ended_at), Some(last_seq));
                }
            }
            RowChange::PutPrompt { session: _, prompt } => {
                self.prompts.insert(prompt.interaction_id, prompt);
            }
            RowChange::RemovePrompt { session: _, interaction_id } => {
                self.prompts.remove(&interaction_id);
            }
            RowChange::PutSet { session: _, set, marks } => {
                self.sets.remove(&set);
                self.sets.extend((!marks.is_empty()).then_some((set, marks)));
            }
            RowChange::PutFact { session: _, name, shape, fact } => {
                self.facts.insert((name, fact.value.clone()), (shape, fact));
            }
            RowChange::RemoveFact { session: _, name, value } => {
                self.facts.remove(&(name, value));
            }
            RowChange::NoteContext { session: _, seq } => {
                self.context_entries.insert(seq, ());
            }
            RowChange::PutTitle(row) => {
                self.titles.insert(row.slot(), row);
            }
            RowChange::PutAttachment { session: _, agent, agent_session } => {
                self.attachments.insert((agent, agent_session), ());
            }
            RowChange::PutSummary { session: _, turn, summary, extent } => {
                if let Some(row) = self.turns.get_mut(&turn) {
                    (row.summary, row.extent) = (Some(summary), extent.or(row.extent));
                }
            }
            RowChange::PutNext(row) => {
                self.next_blocks.insert(row.id, row);
            }
            RowChange::ClickNext { session: _, id, clicked } => {
                if let Some(row) = self.next_blocks.get_mut(&id) {
                    row.clicked = Some(clicked);
                }
            }
            RowChange::PutWork(row) => {
                self.works.insert(row.id, row);
            }
            RowChange::NameWork { project, name, id } => {
                self.work_names.insert((project, name), id);
            }
            RowChange::RenameWork { id, name } => {
                if let Some(row) = self.works.get_mut(&id) {
                    row.name = name;
                }
            }
            RowChange::TouchWork { id, added_at } => {
                if let Some(row) = self.works.get_mut(&id) {
                    row.added_at = added_at;
                }
            }
            RowChange::RemoveWork { id } => {
                self.works.remove(&id);
            }
            RowChange::ForgetWorkNames { id } => self.work_names.retain(|_, work| *work != id),
            RowChange::PutToken(row) => {
                self.tokens.insert(row.id, row);
            }
            RowChange::RemoveToken { id } => {
                self.tokens.remove(&id);
            }
            RowChange::PutRemembered(row) => {
                self.remembered.insert(row.id, row);
            }
            RowChange::RemoveRemembered { id } => {
                self.remembered.remove(&id);
            }
        }
    }

    /// The row of the session whose stream this is.
    pub(super) fn session_mut(&mut self) -> Option<&mut SessionRow> {
        self.sessions.values_mut().next().map(|row| &mut **row)
    }

    /// The changes that write these rows into empty tables.
    pub(super) fn into_changes(self, stream: StreamId) -> Vec<RowChange> {
        let mut changes: Vec<RowChange> = self.sessions.into_values().map(RowChange::PutSession).collect();
        changes.extend(self.turns.into_values().map(RowChange::StartTurn));
        if let StreamId::Session(session) = stream {
            changes.extend(self.prompts.into_values().map(|prompt| RowChange::PutPrompt { session, prompt }));
            changes.extend(self.sets.into_iter().map(|(set, marks)| RowChange::PutSet { session, set, marks }));
            changes.extend(self.facts.into_iter().map(|((name, _), (shape, fact))| RowChange::PutFact {
                session,
                name,
                shape,
                fact,
            }));
            let attachments = self.attachments.into_keys();
            changes.extend(attachments.map(|(agent, agent_session)| RowChange::PutAttachment {
                session,
                agent,
                agent_session,
            }));
            changes.extend(self.context_entries.into_keys().map(|seq| RowChange::NoteContext { session, seq }));
        }
        changes.extend(self.titles.into_values().map(RowChange::PutTitle));
        changes.extend(self.next_blocks.into_values().map(RowChange::PutNext));
        changes.extend(self.works.into_values().map(RowChange::PutWork));
        let names = self.work_names.into_iter();
        changes.extend(names.map(|((project, name), id)| RowChange::NameWork { project, name, id }));
        changes.extend(self.tokens.into_values().map(RowChange::PutToken));
        changes.extend(self.remembered.into_values().map(RowChange::PutRemembered));
        changes
    }

    /// What the tables of a store with this schema hold of `stream`, and which of them cannot be read.
    pub(super) fn read(conn: &Connection, schema: i64, stream: StreamId) -> Result<(Self, Vec<&'static str>)> {
        let mut rows = Self::default();
        let mut unreadable = Vec::new();
        match stream {
            StreamId::Session(id) => {
                let id = id.as_bytes();
                let sql = format!("SELECT {} FROM sessions WHERE id = ?1", session_columns(schema));
                match collect(conn, &sql, [id], session_row)? {
                    Some(found) => rows.sessions = keyed(found.into_iter().map(Box::new).collect(), |row| row.id),
                    None => unreadable.push("the session's row cannot be read"),
                }
                let sql = format!("SELECT {} FROM turns WHERE session = ?1", turn_columns(schema));
                match collect(conn, &sql, [id], turn_row)? {
                    Some(found) => rows.turns = keyed(found, |row| row.turn),
                    None => unreadable.push("the rows of its turns cannot be read"),
                }
                let sql = format!("SELECT {} FROM prompts WHERE session = ?1", prompt_columns(schema));
                match collect(conn, &sql, [id], queued_prompt)? {
                    Some(found) => rows.prompts = keyed(found, |prompt| prompt.interaction_id),
                    None => unreadable.push("the rows of its waiting prompts cannot be read"),
                }
                if has_context(schema) && !rows.read_context(conn, id)? {
                    unreadable.push("the rows of its context cannot be read");
                }
                if has_titles(schema) {
                    let sql = format!("SELECT {TITLE_COLUMNS} FROM titles WHERE session = ?1");
                    match collect(conn, &sql, [id], title_row)? {
                        Some(found) => rows.titles = keyed(found, TitleRow::slot),
                        None => unreadable.push("the rows of its titles cannot be read"),
                    }
                }
                if has_attachments(schema) {
                    let sql = format!("SELECT {ATTACHMENT_COLUMNS} FROM attachments WHERE session = ?1");
                    let ids = |row: &Row<'_>| Ok(((row.get(1)?, row.get(2)?), ()));
                    match collect(conn, &sql, [id], ids)? {
                        Some(found) => rows.attachments = found.into_iter().collect(),
                        None => unreadable.push("the rows of its agents' own ids cannot be read"),
                    }
                }
                if has_work(schema) {
                    let sql = format!("SELECT {NEXT_COLUMNS} FROM next_blocks WHERE session = ?1");
                    match collect(conn, &sql, [id], next_row)? {
                        Some(found) => rows.next_blocks = keyed(found, |row| row.id),
                        None => unreadable.push("the rows of its next blocks cannot be read"),
                    }
                }
            }
            StreamId::Work if !has_work(schema) => (),
            StreamId::Work => {
                match collect(conn, &format!("SELECT {WORK_COLUMNS} FROM works"), [], work_row)? {
                    Some(found) => rows.works = keyed(found, |row| row.id),
                    None => unreadable.push("the rows of meta-contexts cannot be read"),
                }
                match collect(conn, &format!("SELECT {WORK_NAME_COLUMNS} FROM work_names"), [], work_name)? {
                    Some(found) => rows.work_names = found.into_iter().collect(),
                    None => unreadable.push("the names of meta-contexts cannot be read"),
                }
            }
            StreamId::Server => {
                let sql = format!("SELECT {TOKEN_COLUMNS} FROM tokens");
                match collect(conn, &sql, [], token_row)? {
                    Some(found) => rows.tokens = keyed(found, |row| row.id),
                    None => unreadable.push("the rows of the tokens cannot be read"),
                }
                if has_remembered(schema) {
                    let sql = format!("SELECT {REMEMBERED_COLUMNS} FROM remembered");
                    match collect(conn, &sql, [], remembered_row)? {
                        Some(found) => rows.remembered = keyed(found, |row| row.id),
                        None => unreadable.push("the rows of what is remembered cannot be read"),
                    }
                }
            }
        }
        Ok((rows, unreadable))
    }

    /// Whether the rows of a session's context can be read.
    fn read_context(&mut self, conn: &Connection, id: &[u8; 16]) -> Result<bool> {
        let sql = format!("SELECT {SET_COLUMNS} FROM sets WHERE session = ?1");
        let Some(sets) = collect(conn, &sql, [id], marked_set)? else { return Ok(false) };
        let sql = format!("SELECT {FACT_COLUMNS} FROM facts WHERE session = ?1");
        let Some(facts) = collect(conn, &sql, [id], proved_fact)? else { return Ok(false) };
        let sql = "SELECT seq FROM context_entries WHERE session = ?1";
        let seq = |row: &Row<'_>| Ok(Seq(row.get::<_, i64>(0)?.cast_unsigned()));
        let Some(entries) = collect(conn, sql, [id], seq)? else { return Ok(false) };
        self.sets = sets.into_iter().collect();
        self.facts = keyed(facts, |(name, _, fact)| (name.clone(), fact.value.clone()))
            .into_iter()
            .map(|(key, (_, shape, fact))| (key, (shape, fact)))
            .collect();
        self.context_entries = entries.into_iter().map(|seq| (seq, ())).collect();
        Ok(true)
    }

    /// Where `found` in the tables of a store with this schema is not what the log says: the first row of each table.
    pub(super) fn differences(&self, found: &Self, schema: i64) -> Vec<String> {
        let attachments = has_attachments(schema).then(|| {
            difference(&self.attachments, &found.attachments, |(_, id)| format!("the row of the agent's own id {id:?}"))
        });
        [
            difference(&self.sessions, &found.sessions, |_| "the session's row".to_owned()),
            difference(&self.turns, &found.turns, |turn| format!("the row of turn {turn}")),
            difference(&self.prompts, &found.prompts, |id| format!("the row of the waiting prompt {id}")),
            difference(&self.sets, &found.sets, |set| format!("the row of the set {set:?}")),
            difference(&self.facts, &found.facts, |(name, _)| format!("a row of the fact {name:?}")),
            difference(&self.context_entries, &found.context_entries, |seq| format!("the note of entry {seq}")),
            difference(&self.titles, &found.titles, |_| "a row of its titles".to_owned()),
            attachments.flatten(),
            difference(&self.next_blocks, &found.next_blocks, |id| format!("the row of next block {id}")),
            difference(&self.works, &found.works, |id| format!("the row of meta-context {id}")),
            difference(&self.work_names, &found.work_names, |(_, name)| format!("the name {name:?} of a meta-context")),
            difference(&self.tokens, &found.tokens, |id| format!("the row of token {id}")),
            difference(&self.remembered, &found.remembered, |id| format!("the row of the remembered answer {id}")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The newest entry that the rows of a session tell of. A row that is damaged tells of nothing.
pub(super) fn known_seq(conn: &Connection, schema: i64, stream: StreamId) -> Result<Seq> {
    let StreamId::Session(id) = stream else { return Ok(Seq::START) };
    let mut known = 0;
    for (table, key, seq) in [
        (&SESSIONS, "id", "MAX(IFNULL(running_first_seq, 1))"),
        (&TURNS, "session", "MAX(IFNULL(last_seq, first_seq))"),
        (&PROMPTS, "session", "MAX(queued_seq)"),
        (&CONTEXT_ENTRIES, "session", "MAX(seq)"),
    ] {
        if table.name == CONTEXT_ENTRIES.name && !has_context(schema) {
            continue;
        }
        let sql = format!("SELECT {seq} FROM {} WHERE {key} = ?1 AND {}", table.name, table.is_whole(schema));
        match conn.prepare_cached(&sql)?.query_row([id.as_bytes()], |row| row.get::<_, Option<i64>>(0)) {
            Ok(seq) => known = known.max(seq.unwrap_or(0)),
            Err(err) if is_damage(&err) => (),
            Err(err) => return Err(err),
        }
    }
    Ok(Seq(known.cast_unsigned()))
}

fn difference<K: Ord, V: PartialEq>(
    log: &BTreeMap<K, V>,
    tables: &BTreeMap<K, V>,
    name: impl Fn(&K) -> String,
) -> Option<String> {
    let keys = log.keys().chain(tables.keys());
    let key = keys.filter(|key| log.get(key) != tables.get(key)).min()?;
    let what = match (log.get(key), tables.get(key)) {
        (Some(_), None) => "is missing",
        (None, _) => "tells of what is not in the log",
        (Some(_), Some(_)) => "is not what the log says",
    };
    Some(format!("{} {what}", name(key)))
}

fn keyed<K: Ord, V>(rows: Vec<V>, key: fn(&V) -> K) -> BTreeMap<K, V> {
    rows.into_iter().map(|row| (key(&row), row)).collect()
}

/// The rows; `None` if they are no rows that this program wrote.
fn collect<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    row: fn(&Row<'_>) -> Result<T>,
) -> Result<Option<Vec<T>>> {
    let read = || conn.prepare_cached(sql)?.query_map(params, row)?.collect();
    match read() {
        Ok(rows) => Ok(Some(rows)),
        Err(err) if is_damage(&err) => Ok(None),
        Err(err) => Err(err),
    }
}
