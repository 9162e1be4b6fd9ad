-- What agents showed the person, so that no list of it has to walk the log. The bytes are files beside the database; no entry
-- before this schema tells of any, so there is nothing to fill.

CREATE TABLE outputs (
    session BLOB NOT NULL,
    id BLOB NOT NULL,
    stored_seq INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    stored_at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    -- As JSON.
    output TEXT NOT NULL,
    checksum INTEGER,
    PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX outputs_by_seq
    ON outputs (session, stored_seq);

CREATE INDEX outputs_by_id
    ON outputs (id);
