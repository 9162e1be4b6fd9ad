-- An agent may ask while no turn runs: then nothing but the open request says that a restart has to settle the session.

DROP INDEX sessions_unsettled;

CREATE INDEX sessions_unsettled
    ON sessions (id)
    WHERE
        deleted_at IS NULL
        AND (agent_state = 'starting' OR running_turn IS NOT NULL OR open_requests IS NOT NULL);
