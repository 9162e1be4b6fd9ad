-- The log is the truth and everything below it is folded from it, in the same transaction, by `model::fold`.
--
-- What a part of an answer costs decides the shape: appending one touches `entries` and its unique index and nothing
-- else, so a stream's head is the greatest seq in that index and no column that every append would rewrite. Ids are
-- their 16 bytes, instants are milliseconds since 1970, events are the bytes that `Event::encode` gave (bytes, because
-- no text type of every database holds U+0000). A released migration is never edited; the next change is V2.

-- Facts about the store itself: `incarnation` (64 bits), `event_version` (the newest that was written) and, after a
-- purge, `position_floor` (so that no position is given twice, also when the newest entries are the purged ones).
CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A purged stream stays as its tombstone.
CREATE TABLE streams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    purged_at INTEGER
) STRICT;

CREATE TABLE entries (
    position INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL REFERENCES streams (id),
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    event BLOB NOT NULL,
    UNIQUE (stream, seq)
) STRICT;

CREATE TABLE sessions (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    agent TEXT NOT NULL,
    cwd TEXT NOT NULL,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    env_hint TEXT NOT NULL,
    first_prompt TEXT NOT NULL,
    agent_state TEXT NOT NULL,
    failure TEXT,
    running_turn INTEGER,
    running_interaction BLOB,
    running_first_seq INTEGER,
    running_started_at INTEGER,
    turns INTEGER NOT NULL,
    interrupted INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    active_at INTEGER NOT NULL,
    last_observed_at INTEGER,
    last_idle_at INTEGER,
    deleted_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_activity
    ON sessions (active_at DESC, id DESC)
    WHERE deleted_at IS NULL;

-- Before the first look stands an instant that is before all others.
CREATE INDEX sessions_unobserved
    ON sessions (last_idle_at)
    WHERE deleted_at IS NULL AND last_idle_at > IFNULL(last_observed_at, -9223372036854775808);

CREATE INDEX sessions_unsettled
    ON sessions (id)
    WHERE deleted_at IS NULL AND (agent_state = 'starting' OR running_turn IS NOT NULL);

CREATE INDEX sessions_deleted
    ON sessions (deleted_at, id)
    WHERE deleted_at IS NOT NULL;

CREATE TABLE turns (
    session BLOB NOT NULL,
    turn INTEGER NOT NULL,
    interaction BLOB NOT NULL,
    prompt_line TEXT NOT NULL,
    outcome TEXT,
    reason TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER,
    PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;

-- Prompts that wait; one that was sent or removed is in the log and no more here.
CREATE TABLE prompts (
    session BLOB NOT NULL,
    interaction BLOB NOT NULL,
    queued_seq INTEGER NOT NULL,
    queued_at INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session, interaction)
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
    id BLOB NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    session BLOB,
    secret_hash TEXT NOT NULL,
    proof_hash TEXT,
    issued_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
    principal TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    reply BLOB NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (principal, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX receipts_by_age
    ON receipts (at);
