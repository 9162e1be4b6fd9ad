-- How the person keeps sessions in the list: pinned, archived, with tags (JSON). All three are empty in what is there, so no
-- checksum changes.
ALTER TABLE sessions ADD COLUMN pinned_at INTEGER;
ALTER TABLE sessions ADD COLUMN archived_at INTEGER;
ALTER TABLE sessions ADD COLUMN tags TEXT;

-- A session is in one of the two lists, so a commit still changes one of their indexes.
DROP INDEX sessions_by_activity;

CREATE INDEX sessions_by_activity
    ON sessions (active_at DESC, id DESC)
    WHERE deleted_at IS NULL AND archived_at IS NULL;

CREATE INDEX sessions_archived
    ON sessions (active_at DESC, id DESC)
    WHERE deleted_at IS NULL AND archived_at IS NOT NULL;

-- Those that stand before the others, however old they are: pinned, or waiting for the person.
CREATE INDEX sessions_foremost
    ON sessions (active_at DESC, id DESC)
    WHERE deleted_at IS NULL AND archived_at IS NULL
        AND (pinned_at IS NOT NULL OR open_requests IS NOT NULL OR agent_state = 'signed_out');

CREATE INDEX sessions_tagged
    ON sessions (id)
    WHERE deleted_at IS NULL AND tags IS NOT NULL;
