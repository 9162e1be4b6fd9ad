-- What was too long for an entry and is kept beside the database, so that what no entry names is found without walking the log, and
-- a session's share of the disk is known. No entry before this schema names any, so there is nothing to fill.

CREATE TABLE bodies (
    session BLOB NOT NULL,
    -- SHA-256.
    hash BLOB NOT NULL,
    -- The newest entry that names it.
    named_seq INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    checksum INTEGER,
    PRIMARY KEY (session, hash)
) STRICT, WITHOUT ROWID;
