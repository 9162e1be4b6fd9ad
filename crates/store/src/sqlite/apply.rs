//! Writes the rows that `model::fold` made: each change is one statement.
//!
//! Invariant: nothing here decides anything or reads what is there, so the tables are what the fold said and a rebuild
//! from the log gives the same rows. Every row is written with its checksum.

use model::{
    Clicked, Extent, FactShape, InteractionId, Mark, NextId, NextRow, ProvedFact, QueuedPrompt, RememberedRow,
    RowChange, Seq, SessionId, SessionRow, Stop, Summary, Timestamp, TitleRow, TokenRow, Turn, TurnRow, WorkId,
    WorkRow,
};
use rusqlite::{Connection, Params, Result, params};

use crate::Receipt;
use crate::sqlite::checksums::{
    ATTACHMENTS, CONTEXT_ENTRIES, FACTS, NEXT_BLOCKS, PROMPTS, RECEIPTS, REMEMBERED, SESSIONS, SETS, TITLES, TOKENS,
    TURNS, WORK_NAMES, WORKS,
};
use crate::sqlite::rows::{
    agent_state_word, decision_word, fact_shape_word, json_or_null, json_value_or_null, outcome_word, sql_seq,
    summary_maker_word, title_maker_word, token_kind_word, tool_kind_word, untold_number,
};

pub(super) fn apply(conn: &Connection, change: &RowChange) -> Result<()> {
    match change {
        RowChange::PutSession(row) => put_session(conn, row),
        RowChange::StartTurn(row) => start_turn(conn, row),
        RowChange::EndTurn { session, turn, stop, ended_at, last_seq } => {
            end_turn(conn, *session, *turn, stop, *ended_at, *last_seq)
        }
        RowChange::PutPrompt { session, prompt } => put_prompt(conn, *session, prompt),
        RowChange::RemovePrompt { session, interaction_id } => run(
            conn,
            "DELETE FROM prompts
             WHERE session = ?1 AND interaction = ?2",
            params![session.as_bytes(), interaction_id.as_bytes()],
        ),
        RowChange::PutSet { session, set, marks } => put_set(conn, *session, set, marks),
        RowChange::PutFact { session, name, shape, fact } => put_fact(conn, *session, name, *shape, fact),
        RowChange::RemoveFact { session, name, value } => run(
            conn,
            "DELETE FROM facts
             WHERE session = ?1 AND name = ?2 AND value = ?3",
            params![session.as_bytes(), name, value],
        ),
        RowChange::NoteContext { session, seq } => {
            CONTEXT_ENTRIES.put(conn, params![session.as_bytes(), sql_seq(*seq)])
        }
        RowChange::PutTitle(row) => put_title(conn, row),
        RowChange::PutAttachment { session, agent, agent_session } => {
            ATTACHMENTS.put(conn, params![session.as_bytes(), agent, agent_session])
        }
        RowChange::PutSummary { session, turn, summary, extent } => {
            put_summary(conn, *session, *turn, summary, *extent)
        }
        RowChange::PutNext(row) => put_next(conn, row),
        RowChange::ClickNext { session, id, clicked } => click_next(conn, *session, *id, clicked),
        RowChange::PutWork(row) => put_work(conn, row),
        RowChange::NameWork { project, name, id } => WORK_NAMES.put(conn, params![project, name, id.as_bytes()]),
        RowChange::RenameWork { id, name } => WORKS.update(conn, "name = ?2", "id = ?1", &[id.as_bytes()], &[name]),
        RowChange::TouchWork { id, added_at } => {
            WORKS.update(conn, "added_at = ?2", "id = ?1", &[id.as_bytes()], &[&added_at.as_millis()])
        }
        RowChange::RemoveWork { id } => run(
            conn,
            "DELETE FROM works
             WHERE id = ?1",
            [id.as_bytes()],
        ),
        RowChange::ForgetWorkNames { id } => run(
            conn,
            "DELETE FROM work_names
             WHERE work = ?1",
            [id.as_bytes()],
        ),
        RowChange::PutToken(row) => put_token(conn, row),
        RowChange::RemoveToken { id } => run(
            conn,
            "DELETE FROM tokens
             WHERE id = ?1",
            [id.as_bytes()],
        ),
        RowChange::PutRemembered(row) => put_remembered(conn, row),
        RowChange::RemoveRemembered { id } => run(
            conn,
            "DELETE FROM remembered
             WHERE id = ?1",
            [id.as_bytes()],
        ),
    }
}

/// Removes every row of a session, but not its stream's tombstone.
pub(super) fn remove_session(conn: &Connection, session: SessionId) -> Result<()> {
    for sql in [
        "DELETE FROM sessions
         WHERE id = ?1",
        "DELETE FROM turns
         WHERE session = ?1",
        "DELETE FROM prompts
         WHERE session = ?1",
        "DELETE FROM sets
         WHERE session = ?1",
        "DELETE FROM facts
         WHERE session = ?1",
        "DELETE FROM context_entries
         WHERE session = ?1",
        "DELETE FROM titles
         WHERE session = ?1",
        "DELETE FROM attachments
         WHERE session = ?1",
        "DELETE FROM next_blocks
         WHERE session = ?1",
    ] {
        run(conn, sql, [session.as_bytes()])?;
    }
    Ok(())
}

/// Writes a receipt down, with the session that it goes with.
pub(super) fn put_receipt(conn: &Connection, receipt: &Receipt, session: Option<SessionId>) -> Result<()> {
    RECEIPTS.put(
        conn,
        params![
            receipt.principal,
            receipt.key,
            receipt.fingerprint,
            receipt.reply,
            receipt.at.as_millis(),
            session.as_ref().map(SessionId::as_bytes),
        ],
    )
}

/// Removes the receipts that hold words of a session.
pub(super) fn forget_receipts_of(conn: &Connection, session: SessionId) -> Result<()> {
    run(
        conn,
        "DELETE FROM receipts
         WHERE session = ?1",
        [session.as_bytes()],
    )
}

pub(super) fn forget_receipts(conn: &Connection, before: Timestamp) -> Result<()> {
    run(
        conn,
        "DELETE FROM receipts
         WHERE at < ?1",
        [before.as_millis()],
    )
}

fn put_session(conn: &Connection, row: &SessionRow) -> Result<()> {
    let running = row.running.as_ref();
    SESSIONS.put(
        conn,
        params![
            row.id.as_bytes(),
            row.agent,
            row.cwd,
            row.project,
            row.name,
            row.env_hint,
            row.first_prompt,
            agent_state_word(row.agent_state),
            row.failure,
            running.map(|running| running.turn.0),
            running.map(|running| running.interaction_id.as_bytes()),
            running.map(|running| sql_seq(running.first_seq)),
            running.map(|running| running.started_at.as_millis()),
            row.turns.0,
            row.interrupted,
            row.created_at.as_millis(),
            row.active_at.as_millis(),
            row.last_observed_at.map(Timestamp::as_millis),
            row.last_idle_at.map(Timestamp::as_millis),
            row.deleted_at.map(Timestamp::as_millis),
            row.agent_session,
            row.title,
            untold_number(row.untold),
            json_or_null(&row.open_requests),
            row.requests.0,
            row.intent,
            row.titles,
            row.summarised.0,
            json_value_or_null(row.imported.as_ref()),
            row.work.as_ref().map(WorkId::as_bytes),
            json_value_or_null(row.from.as_ref()),
            json_value_or_null((!row.options.is_empty()).then_some(&row.options)),
        ],
    )
}

fn start_turn(conn: &Connection, row: &TurnRow) -> Result<()> {
    let (stop, summary) = (row.stop.as_ref(), row.summary.as_ref());
    TURNS.put(
        conn,
        params![
            row.session.as_bytes(),
            row.turn.0,
            row.interaction_id.as_bytes(),
            row.prompt_line,
            stop.map(|stop| outcome_word(stop.outcome)),
            stop.and_then(|stop| stop.reason.as_ref()),
            row.started_at.as_millis(),
            row.ended_at.map(Timestamp::as_millis),
            sql_seq(row.first_seq),
            row.last_seq.map(sql_seq),
            summary.map(|summary| &summary.text),
            summary.map(|summary| summary_maker_word(summary.by)),
            summary.map(|summary| summary.made_at.as_millis()),
            row.extent.map(|extent| extent.prompt),
            row.extent.map(|extent| extent.response),
            row.extent.map(|extent| extent.tools),
        ],
    )
}

fn put_summary(
    conn: &Connection,
    session: SessionId,
    turn: Turn,
    summary: &Summary,
    extent: Option<Extent>,
) -> Result<()> {
    let extent = extent.as_ref();
    TURNS.update(
        conn,
        "summary = ?3, summary_by = ?4, summary_at = ?5,
         prompt_chars = IFNULL(?6, prompt_chars),
         response_chars = IFNULL(?7, response_chars),
         tools = IFNULL(?8, tools)",
        "session = ?1 AND turn = ?2",
        &[session.as_bytes(), &turn.0],
        &[
            &summary.text,
            &summary_maker_word(summary.by),
            &summary.made_at.as_millis(),
            &extent.map(|extent| extent.prompt),
            &extent.map(|extent| extent.response),
            &extent.map(|extent| extent.tools),
        ],
    )
}

fn put_title(conn: &Connection, row: &TitleRow) -> Result<()> {
    TITLES.put(
        conn,
        params![
            row.session.as_bytes(),
            row.slot(),
            row.nth,
            row.title,
            title_maker_word(row.by),
            row.turn.map(|turn| turn.0),
            row.interaction_id.as_ref().map(InteractionId::as_bytes),
            row.changed_at.as_millis(),
        ],
    )
}

fn end_turn(
    conn: &Connection,
    session: SessionId,
    turn: Turn,
    stop: &Stop,
    ended_at: Timestamp,
    last_seq: Seq,
) -> Result<()> {
    TURNS.update(
        conn,
        "outcome = ?3, reason = ?4, ended_at = ?5, last_seq = ?6",
        "session = ?1 AND turn = ?2",
        &[session.as_bytes(), &turn.0],
        &[&outcome_word(stop.outcome), &stop.reason, &ended_at.as_millis(), &sql_seq(last_seq)],
    )
}

fn put_prompt(conn: &Connection, session: SessionId, prompt: &QueuedPrompt) -> Result<()> {
    PROMPTS.put(
        conn,
        params![
            session.as_bytes(),
            prompt.interaction_id.as_bytes(),
            sql_seq(prompt.queued_seq),
            prompt.queued_at.as_millis(),
            prompt.text,
            json_or_null(&prompt.images),
        ],
    )
}

fn put_set(conn: &Connection, session: SessionId, set: &str, marks: &[Mark]) -> Result<()> {
    match json_or_null(marks) {
        Some(marks) => SETS.put(conn, params![session.as_bytes(), set, marks]),
        None => run(
            conn,
            "DELETE FROM sets
             WHERE session = ?1 AND name = ?2",
            params![session.as_bytes(), set],
        ),
    }
}

fn put_fact(conn: &Connection, session: SessionId, name: &str, shape: FactShape, fact: &ProvedFact) -> Result<()> {
    FACTS.put(
        conn,
        params![
            session.as_bytes(),
            name,
            fact.value,
            fact_shape_word(shape),
            fact.nth,
            fact.proof.turn.0,
            fact.proof.tool,
            sql_seq(fact.proof.entry),
            fact.exit_code,
            json_or_null(fact.file.as_slice()),
        ],
    )
}

fn put_next(conn: &Connection, row: &NextRow) -> Result<()> {
    let clicked = row.clicked.as_ref();
    NEXT_BLOCKS.put(
        conn,
        params![
            row.session.as_bytes(),
            row.id.turn.0,
            row.id.nth,
            row.next.label,
            row.next.command,
            row.next.meta_context,
            row.offered_at.as_millis(),
            clicked.map(|clicked| clicked.work.as_bytes()),
            clicked.map(|clicked| clicked.session.as_bytes()),
            clicked.map(|clicked| clicked.at.as_millis()),
        ],
    )
}

fn click_next(conn: &Connection, session: SessionId, id: NextId, clicked: &Clicked) -> Result<()> {
    NEXT_BLOCKS.update(
        conn,
        "clicked_work = ?4, clicked_session = ?5, clicked_at = ?6",
        "session = ?1 AND turn = ?2 AND nth = ?3",
        &[session.as_bytes(), &id.turn.0, &id.nth],
        &[clicked.work.as_bytes(), clicked.session.as_bytes(), &clicked.at.as_millis()],
    )
}

fn put_work(conn: &Connection, row: &WorkRow) -> Result<()> {
    WORKS.put(
        conn,
        params![row.id.as_bytes(), row.project, row.name, row.created_at.as_millis(), row.added_at.as_millis()],
    )
}

fn put_token(conn: &Connection, row: &TokenRow) -> Result<()> {
    TOKENS.put(
        conn,
        params![
            row.id.as_bytes(),
            token_kind_word(row.kind),
            row.name,
            row.session.as_ref().map(SessionId::as_bytes),
            row.secret_hash,
            row.proof_hash,
            row.issued_at.as_millis(),
        ],
    )
}

fn put_remembered(conn: &Connection, row: &RememberedRow) -> Result<()> {
    let by = serde_json::to_string(&row.by).expect("it holds only texts");
    REMEMBERED.put(
        conn,
        params![
            row.id.as_bytes(),
            row.project,
            row.cwd,
            row.agent,
            tool_kind_word(row.kind),
            row.subject,
            row.digest,
            decision_word(row.decision),
            by,
            row.remembered_at.as_millis(),
        ],
    )
}

fn run<P: Params>(conn: &Connection, sql: &str, params: P) -> Result<()> {
    conn.prepare_cached(sql)?.execute(params)?;
    Ok(())
}
