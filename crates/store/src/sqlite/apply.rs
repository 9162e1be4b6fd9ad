//! Writes the rows that `model::fold` made: each change is one statement.
//!
//! Invariant: nothing here decides anything or reads what is there, so the tables are what the fold said and a rebuild
//! from the log gives the same rows.

use model::{
    Clicked, Extent, FactShape, InteractionId, Mark, NextId, NextRow, ProvedFact, QueuedPrompt, RememberedRow,
    RowChange, Seq, SessionId, SessionRow, Stop, Summary, Timestamp, TitleRow, TokenRow, Turn, TurnRow, WorkId,
    WorkRow,
};
use rusqlite::{Connection, Params, Result, params};

use crate::Receipt;
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
        RowChange::NoteContext { session, seq } => run(
            conn,
            "INSERT OR REPLACE INTO context_entries (session, seq)
             VALUES (?1, ?2)",
            params![session.as_bytes(), sql_seq(*seq)],
        ),
        RowChange::PutTitle(row) => put_title(conn, row),
        RowChange::PutSummary { session, turn, summary, extent } => {
            put_summary(conn, *session, *turn, summary, *extent)
        }
        RowChange::PutNext(row) => put_next(conn, row),
        RowChange::ClickNext { session, id, clicked } => click_next(conn, *session, *id, clicked),
        RowChange::PutWork(row) => put_work(conn, row),
        RowChange::NameWork { project, name, id } => run(
            conn,
            "INSERT OR REPLACE INTO work_names (project, name, work)
             VALUES (?1, ?2, ?3)",
            params![project, name, id.as_bytes()],
        ),
        RowChange::RenameWork { id, name } => run(
            conn,
            "UPDATE works
             SET name = ?2
             WHERE id = ?1",
            params![id.as_bytes(), name],
        ),
        RowChange::TouchWork { id, added_at } => run(
            conn,
            "UPDATE works
             SET added_at = ?2
             WHERE id = ?1",
            params![id.as_bytes(), added_at.as_millis()],
        ),
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
        "DELETE FROM next_blocks
         WHERE session = ?1",
    ] {
        run(conn, sql, [session.as_bytes()])?;
    }
    Ok(())
}

pub(super) fn put_receipt(conn: &Connection, receipt: &Receipt) -> Result<()> {
    run(
        conn,
        "INSERT INTO receipts (principal, key, fingerprint, reply, at)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![receipt.principal, receipt.key, receipt.fingerprint, receipt.reply, receipt.at.as_millis()],
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
    run(
        conn,
        "INSERT OR REPLACE INTO sessions (
             id, agent, cwd, project, name, env_hint, first_prompt, agent_state, failure,
             running_turn, running_interaction, running_first_seq, running_started_at,
             turns, interrupted, created_at, active_at, last_observed_at, last_idle_at, deleted_at,
             agent_session, agent_title, untold, open_requests, requests, intent, titles, summarised, imported,
             work, origin, options
         )
         VALUES (
             ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,
             ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32
         )",
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
    run(
        conn,
        "INSERT OR REPLACE INTO turns (
             session, turn, interaction, prompt_line, outcome, reason, started_at, ended_at, first_seq, last_seq,
             summary, summary_by, summary_at, prompt_chars, response_chars, tools
         )
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
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
    run(
        conn,
        "UPDATE turns
         SET summary = ?3, summary_by = ?4, summary_at = ?5,
             prompt_chars = IFNULL(?6, prompt_chars),
             response_chars = IFNULL(?7, response_chars),
             tools = IFNULL(?8, tools)
         WHERE session = ?1 AND turn = ?2",
        params![
            session.as_bytes(),
            turn.0,
            summary.text,
            summary_maker_word(summary.by),
            summary.made_at.as_millis(),
            extent.map(|extent| extent.prompt),
            extent.map(|extent| extent.response),
            extent.map(|extent| extent.tools),
        ],
    )
}

fn put_title(conn: &Connection, row: &TitleRow) -> Result<()> {
    run(
        conn,
        "INSERT OR REPLACE INTO titles (session, slot, nth, title, made_by, turn, interaction, changed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
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
    run(
        conn,
        "UPDATE turns
         SET outcome = ?3, reason = ?4, ended_at = ?5, last_seq = ?6
         WHERE session = ?1 AND turn = ?2",
        params![
            session.as_bytes(),
            turn.0,
            outcome_word(stop.outcome),
            stop.reason,
            ended_at.as_millis(),
            sql_seq(last_seq),
        ],
    )
}

fn put_prompt(conn: &Connection, session: SessionId, prompt: &QueuedPrompt) -> Result<()> {
    run(
        conn,
        "INSERT OR REPLACE INTO prompts (session, interaction, queued_seq, queued_at, text, images)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
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
        Some(marks) => run(
            conn,
            "INSERT OR REPLACE INTO sets (session, name, marks)
             VALUES (?1, ?2, ?3)",
            params![session.as_bytes(), set, marks],
        ),
        None => run(
            conn,
            "DELETE FROM sets
             WHERE session = ?1 AND name = ?2",
            params![session.as_bytes(), set],
        ),
    }
}

fn put_fact(conn: &Connection, session: SessionId, name: &str, shape: FactShape, fact: &ProvedFact) -> Result<()> {
    run(
        conn,
        "INSERT OR REPLACE INTO facts (session, name, value, shape, nth, turn, tool, entry, exit_code, file)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
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
    run(
        conn,
        "INSERT OR REPLACE INTO next_blocks
             (session, turn, nth, label, command, meta_context, offered_at, clicked_work, clicked_session, clicked_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
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
    run(
        conn,
        "UPDATE next_blocks
         SET clicked_work = ?4, clicked_session = ?5, clicked_at = ?6
         WHERE session = ?1 AND turn = ?2 AND nth = ?3",
        params![
            session.as_bytes(),
            id.turn.0,
            id.nth,
            clicked.work.as_bytes(),
            clicked.session.as_bytes(),
            clicked.at.as_millis(),
        ],
    )
}

fn put_work(conn: &Connection, row: &WorkRow) -> Result<()> {
    run(
        conn,
        "INSERT OR REPLACE INTO works (id, project, name, created_at, added_at)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![row.id.as_bytes(), row.project, row.name, row.created_at.as_millis(), row.added_at.as_millis()],
    )
}

fn put_token(conn: &Connection, row: &TokenRow) -> Result<()> {
    run(
        conn,
        "INSERT OR REPLACE INTO tokens (id, kind, name, session, secret_hash, proof_hash, issued_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
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
    run(
        conn,
        "INSERT OR REPLACE INTO remembered
             (id, project, cwd, agent, kind, subject, digest, decision, decided_by, remembered_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
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
