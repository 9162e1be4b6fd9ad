-- A command is a value of a fact, and may be long: as part of a key it took pages of its own, mostly empty. Among the
-- facts of a name its number tells a value from all others as well.
CREATE TABLE facts_by_number (
    session BLOB NOT NULL,
    name TEXT NOT NULL,
    nth INTEGER NOT NULL,
    value TEXT NOT NULL,
    shape TEXT NOT NULL,
    turn INTEGER NOT NULL,
    tool INTEGER NOT NULL,
    entry INTEGER NOT NULL,
    exit_code INTEGER,
    file TEXT,
    UNIQUE (session, name, nth)
) STRICT;

-- Of two with one number, which only damage can make, one stays.
INSERT OR REPLACE INTO facts_by_number (session, name, nth, value, shape, turn, tool, entry, exit_code, file)
    SELECT session, name, nth, value, shape, turn, tool, entry, exit_code, file
    FROM facts
    ORDER BY session, name, nth;

DROP TABLE facts;

ALTER TABLE facts_by_number RENAME TO facts;
