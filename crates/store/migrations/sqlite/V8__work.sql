-- Pieces of work: sessions of one project under one name, and the steps that agents offer to go on.

ALTER TABLE sessions ADD COLUMN work BLOB;
-- As JSON: the offer that it was started from.
ALTER TABLE sessions ADD COLUMN origin TEXT;
-- As JSON: what is to be chosen about its agent when it first starts.
ALTER TABLE sessions ADD COLUMN options TEXT;

CREATE INDEX sessions_of_work
    ON sessions (work, id)
    WHERE work IS NOT NULL;

-- Begun by a click, and the agent has been sent nothing yet.
CREATE INDEX sessions_unbegun
    ON sessions (id)
    WHERE origin IS NOT NULL AND turns = 0 AND deleted_at IS NULL;

CREATE TABLE next_blocks (
    session BLOB NOT NULL,
    turn INTEGER NOT NULL,
    nth INTEGER NOT NULL,
    label TEXT NOT NULL,
    command TEXT NOT NULL,
    -- The work's name, if the agent said it.
    meta_context TEXT,
    offered_at INTEGER NOT NULL,
    -- Where it led, if it was clicked.
    clicked_work BLOB,
    clicked_session BLOB,
    clicked_at INTEGER,
    PRIMARY KEY (session, turn, nth)
) STRICT, WITHOUT ROWID;

CREATE INDEX next_blocks_by_work
    ON next_blocks (session, meta_context, turn)
    WHERE meta_context IS NOT NULL;

CREATE INDEX next_blocks_clicked
    ON next_blocks (session, turn, nth)
    WHERE clicked_work IS NOT NULL;

CREATE TABLE works (
    id BLOB PRIMARY KEY,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- When a session was last added.
    added_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX works_by_time
    ON works (added_at DESC, id DESC);

-- Every name that a work has or had leads to it, until another work takes it.
CREATE TABLE work_names (
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    work BLOB NOT NULL,
    PRIMARY KEY (project, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX work_names_by_work
    ON work_names (work);
