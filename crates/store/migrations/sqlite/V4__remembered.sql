-- Answers that are given again, unasked, to the very same question.

CREATE TABLE remembered (
    id BLOB NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    cwd TEXT NOT NULL,
    agent TEXT NOT NULL,
    kind TEXT NOT NULL,
    -- For people to read; a long one is cut.
    subject TEXT NOT NULL,
    -- SHA-256, in hex, of all that the tool is given.
    digest TEXT NOT NULL,
    decision TEXT NOT NULL,
    -- Who decided, as JSON.
    decided_by TEXT NOT NULL,
    remembered_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
