-- What a session is about: what is marked, what was proved, and where in its stream that changed.

-- What the agent says it is about to do.
ALTER TABLE sessions ADD COLUMN intent TEXT NOT NULL DEFAULT '';

-- Items with their markers, as JSON, in order.
CREATE TABLE sets (
    session BLOB NOT NULL,
    name TEXT NOT NULL,
    marks TEXT NOT NULL,
    PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;

-- The newest values of each fact, with their newest proof; `nth` counts first proofs.
CREATE TABLE facts (
    session BLOB NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    shape TEXT NOT NULL,
    nth INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    tool INTEGER NOT NULL,
    entry INTEGER NOT NULL,
    exit_code INTEGER,
    file TEXT,
    PRIMARY KEY (session, name, value)
) STRICT, WITHOUT ROWID;

-- The entries that changed a context: what it was as of a turn is their fold.
CREATE TABLE context_entries (
    session BLOB NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
