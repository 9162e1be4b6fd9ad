-- Which sessions an agent's own conversations are or once were: an import asks that of each conversation that it finds, and
-- walked the whole log for it. One row for every id that a session's agents ever had.

CREATE TABLE attachments (
    session BLOB NOT NULL,
    agent TEXT NOT NULL,
    agent_session TEXT NOT NULL,
    checksum INTEGER,
    PRIMARY KEY (session, agent, agent_session)
) STRICT, WITHOUT ROWID;

CREATE INDEX attachments_by_agent
    ON attachments (agent, agent_session);

-- The program fills the table from the log, which SQL can not decode, and removes this note in the same transaction.
INSERT INTO meta (key, value) VALUES ('attachments_unfilled', 1);
