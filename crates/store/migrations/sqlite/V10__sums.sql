-- Rows beside the log have a checksum, as entries do: one flipped bit made a session vanish from the list without a word.
-- `row_sum` is a function of this program, over a row's columns in the order of `sums.rs`.

ALTER TABLE streams ADD COLUMN checksum INTEGER;
ALTER TABLE sessions ADD COLUMN checksum INTEGER;
ALTER TABLE turns ADD COLUMN checksum INTEGER;
ALTER TABLE prompts ADD COLUMN checksum INTEGER;
ALTER TABLE sets ADD COLUMN checksum INTEGER;
ALTER TABLE facts ADD COLUMN checksum INTEGER;
ALTER TABLE context_entries ADD COLUMN checksum INTEGER;
ALTER TABLE titles ADD COLUMN checksum INTEGER;
ALTER TABLE next_blocks ADD COLUMN checksum INTEGER;
ALTER TABLE works ADD COLUMN checksum INTEGER;
ALTER TABLE work_names ADD COLUMN checksum INTEGER;
ALTER TABLE tokens ADD COLUMN checksum INTEGER;
ALTER TABLE remembered ADD COLUMN checksum INTEGER;
ALTER TABLE receipts ADD COLUMN checksum INTEGER;

UPDATE streams SET checksum = row_sum(id, name, purged_at, sweeping);
UPDATE sessions
SET checksum = row_sum(
    id, agent, cwd, project, name, env_hint, first_prompt, agent_state, failure,
    running_turn, running_interaction, running_first_seq, running_started_at,
    turns, interrupted, created_at, active_at, last_observed_at, last_idle_at, deleted_at,
    agent_session, agent_title, untold, open_requests, requests, intent, titles, summarised, imported,
    work, origin, options
);
UPDATE turns
SET checksum = row_sum(
    session, turn, interaction, prompt_line, outcome, reason, started_at, ended_at, first_seq, last_seq,
    summary, summary_by, summary_at, prompt_chars, response_chars, tools
);
UPDATE prompts SET checksum = row_sum(session, interaction, queued_seq, queued_at, text, images);
UPDATE sets SET checksum = row_sum(session, name, marks);
UPDATE facts SET checksum = row_sum(session, name, value, shape, nth, turn, tool, entry, exit_code, file);
UPDATE context_entries SET checksum = row_sum(session, seq);
UPDATE titles SET checksum = row_sum(session, slot, nth, title, made_by, turn, interaction, changed_at);
UPDATE next_blocks
SET checksum = row_sum(
    session, turn, nth, label, command, meta_context, offered_at, clicked_work, clicked_session, clicked_at
);
UPDATE works SET checksum = row_sum(id, project, name, created_at, added_at);
UPDATE work_names SET checksum = row_sum(project, name, work);
UPDATE tokens SET checksum = row_sum(id, kind, name, session, secret_hash, proof_hash, issued_at);
UPDATE remembered
SET checksum = row_sum(id, project, cwd, agent, kind, subject, digest, decision, decided_by, remembered_at);
UPDATE receipts SET checksum = row_sum(principal, key, fingerprint, reply, at);
