-- What each turn used, by model, so that no total has to walk the log: one row at least for every turn that has ended. `at` is
-- when it was reported, by which days are summed up. `tallies` has what the next report of a session's agent is compared
-- with: some agents say what their whole conversation has used.

CREATE TABLE usage (
    session BLOB NOT NULL,
    turn INTEGER NOT NULL,
    nth INTEGER NOT NULL,
    agent TEXT NOT NULL,
    model TEXT,
    input INTEGER,
    output INTEGER,
    thought INTEGER,
    cached_read INTEGER,
    cached_write INTEGER,
    cost_nanos INTEGER,
    currency TEXT,
    at INTEGER NOT NULL,
    checksum INTEGER,
    PRIMARY KEY (session, turn, nth)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_by_time
    ON usage (at);

CREATE TABLE tallies (
    session BLOB NOT NULL,
    -- As JSON.
    tally TEXT NOT NULL,
    checksum INTEGER,
    PRIMARY KEY (session)
) STRICT, WITHOUT ROWID;

-- The program fills both from the log, which SQL can not decode, and removes this note in the same transaction.
INSERT INTO meta (key, value) VALUES ('usage_unfilled', 1);
