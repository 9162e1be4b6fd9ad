//! Which columns hold a row, in each schema that this program knows.
//!
//! Invariant: whatever the schema, a list has as many columns in the same order, so one function reads them all. What an
//! old schema has no column for is the value that its migration would give, so a store is read alike before and after.

/// The first schema in which a stream tells of its damage.
const FENCES_SINCE: i64 = 2;
/// The first schema in which a session knows its agent's own ids and questions, and a waiting prompt has pictures.
const AGENTS_SINCE: i64 = 3;
/// The first schema in which a session has a context.
const CONTEXT_SINCE: i64 = 5;
/// The first schema in which answers are remembered.
const REMEMBERED_SINCE: i64 = 4;

/// The first schema in which sessions belong to pieces of work.
const WORK_SINCE: i64 = 8;
/// The first schema in which turns have summaries and sessions have titles.
const NAVIGATION_SINCE: i64 = 6;

/// The first schema with a table of the conversations that sessions' agents ever had.
const ATTACHMENTS_SINCE: i64 = 13;

/// The first schema in which a receipt knows its session.
const RECEIPT_SESSIONS_SINCE: i64 = 14;

macro_rules! session_columns {
    ($since_agents:literal) => {
        concat!(
            "id, agent, cwd, project, name, env_hint, first_prompt, agent_state, failure, ",
            "running_turn, running_interaction, running_first_seq, running_started_at, ",
            "turns, interrupted, created_at, active_at, last_observed_at, last_idle_at, deleted_at, ",
            $since_agents
        )
    };
}

macro_rules! prompt_columns {
    ($since_agents:literal) => {
        concat!("interaction, queued_seq, queued_at, text, ", $since_agents)
    };
}

macro_rules! turn_columns {
    ($since_navigation:literal) => {
        concat!(
            "session, turn, interaction, prompt_line, outcome, reason, started_at, ended_at, first_seq, last_seq, ",
            $since_navigation
        )
    };
}

macro_rules! stream_columns {
    ($since_fences:literal) => {
        concat!("streams.id, streams.name, streams.purged_at, ", $since_fences)
    };
}

/// Of the newest schema, as are all that no function chooses.
pub(super) const SESSION_COLUMNS: &str = session_columns!(
    "agent_session, agent_title, untold, open_requests, requests, intent, titles, summarised, imported, \
     work, origin, options"
);
pub(super) const PROMPT_COLUMNS: &str = prompt_columns!("images");
pub(super) const STORED_ENTRY_COLUMNS: &str =
    "entries.seq, entries.at, entries.version, entries.checksum, entries.event";
pub(super) const TURN_COLUMNS: &str =
    turn_columns!("summary, summary_by, summary_at, prompt_chars, response_chars, tools");
pub(super) const TITLE_COLUMNS: &str = "session, nth, title, made_by, turn, interaction, changed_at";
pub(super) const SET_COLUMNS: &str = "name, marks";
pub(super) const FACT_COLUMNS: &str = "name, value, shape, nth, turn, tool, entry, exit_code, file";
pub(super) const TOKEN_COLUMNS: &str = "id, kind, name, session, secret_hash, proof_hash, issued_at";
pub(super) const REMEMBERED_COLUMNS: &str =
    "id, project, cwd, agent, kind, subject, digest, decision, decided_by, remembered_at";
pub(super) const NEXT_COLUMNS: &str =
    "session, turn, nth, label, command, meta_context, offered_at, clicked_work, clicked_session, clicked_at";
pub(super) const ATTACHMENT_COLUMNS: &str = "session, agent, agent_session";
pub(super) const WORK_COLUMNS: &str = "id, project, name, created_at, added_at";
pub(super) const WORK_NAME_COLUMNS: &str = "project, name, work";
pub(super) const RECEIPT_COLUMNS: &str = "principal, key, fingerprint, reply, at, session";

pub(super) fn session_columns(schema: i64) -> &'static str {
    match schema {
        ..AGENTS_SINCE => session_columns!("NULL, '', 0, NULL, 0, '', 0, 0, NULL, NULL, NULL, NULL"),
        AGENTS_SINCE..CONTEXT_SINCE => {
            session_columns!(
                "agent_session, agent_title, untold, open_requests, requests, '', 0, 0, NULL, NULL, NULL, NULL"
            )
        }
        CONTEXT_SINCE..NAVIGATION_SINCE => {
            session_columns!(
                "agent_session, agent_title, untold, open_requests, requests, intent, 0, 0, NULL, NULL, NULL, NULL"
            )
        }
        NAVIGATION_SINCE..WORK_SINCE => session_columns!(
            "agent_session, agent_title, untold, open_requests, requests, intent, titles, summarised, imported, \
             NULL, NULL, NULL"
        ),
        WORK_SINCE.. => SESSION_COLUMNS,
    }
}

pub(super) fn prompt_columns(schema: i64) -> &'static str {
    match schema {
        ..AGENTS_SINCE => prompt_columns!("NULL"),
        AGENTS_SINCE.. => PROMPT_COLUMNS,
    }
}

pub(super) fn turn_columns(schema: i64) -> &'static str {
    match schema {
        ..NAVIGATION_SINCE => turn_columns!("NULL, NULL, NULL, NULL, NULL, NULL"),
        NAVIGATION_SINCE.. => TURN_COLUMNS,
    }
}

pub(super) fn stream_columns(schema: i64) -> &'static str {
    match schema {
        ..FENCES_SINCE => stream_columns!("0, NULL, NULL"),
        FENCES_SINCE.. => stream_columns!("streams.sweeping, streams.damaged_seq, streams.damage"),
    }
}

/// Whether sessions have a context.
pub(super) fn has_context(schema: i64) -> bool {
    schema >= CONTEXT_SINCE
}

/// Whether sessions have titles of their own.
pub(super) fn has_titles(schema: i64) -> bool {
    schema >= NAVIGATION_SINCE
}

/// Whether there are pieces of work.
pub(super) fn has_work(schema: i64) -> bool {
    schema >= WORK_SINCE
}

/// Whether there is a table of answers that are remembered.
pub(super) fn has_remembered(schema: i64) -> bool {
    schema >= REMEMBERED_SINCE
}

/// Whether there is a table of the conversations that sessions' agents ever had.
pub(super) fn has_attachments(schema: i64) -> bool {
    schema >= ATTACHMENTS_SINCE
}

/// Whether a receipt knows its session.
pub(super) fn has_receipt_sessions(schema: i64) -> bool {
    schema >= RECEIPT_SESSIONS_SINCE
}

/// Whether streams tell of their damage.
pub(super) fn has_fences(schema: i64) -> bool {
    schema >= FENCES_SINCE
}
