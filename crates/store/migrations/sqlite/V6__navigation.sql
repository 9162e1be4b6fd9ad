-- What leads a reader through sessions, and where sessions come from that were not begun here.

-- How many titles it has had, and up to which turn each has its summary. What the agent called it (`agent_title`) is its
-- title, whoever thought of it.
ALTER TABLE sessions ADD COLUMN titles INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN summarised INTEGER NOT NULL DEFAULT 0;
-- As JSON.
ALTER TABLE sessions ADD COLUMN imported TEXT;

-- Turns and their summaries end in one transaction, so nothing enters here but what has to be caught up on.
CREATE INDEX sessions_unsummarised
    ON sessions (id)
    WHERE deleted_at IS NULL AND running_turn IS NULL AND summarised < turns;

ALTER TABLE turns ADD COLUMN summary TEXT;
ALTER TABLE turns ADD COLUMN summary_by TEXT;
ALTER TABLE turns ADD COLUMN summary_at INTEGER;
ALTER TABLE turns ADD COLUMN prompt_chars INTEGER;
ALTER TABLE turns ADD COLUMN response_chars INTEGER;
ALTER TABLE turns ADD COLUMN tools INTEGER;

CREATE INDEX turns_by_interaction
    ON turns (interaction);

-- The newest titles; each takes the slot of the one so many before it.
CREATE TABLE titles (
    session BLOB NOT NULL,
    slot INTEGER NOT NULL,
    nth INTEGER NOT NULL,
    title TEXT NOT NULL,
    made_by TEXT NOT NULL,
    turn INTEGER,
    interaction BLOB,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (session, slot)
) STRICT, WITHOUT ROWID;

-- What agents called their sessions until now.
WITH told AS (
    SELECT
        unhex(replace(substr(streams.name, length('session/') + 1), '-', '')) AS session,
        ROW_NUMBER() OVER (PARTITION BY entries.stream ORDER BY entries.seq) AS nth,
        json_extract(CAST(entries.event AS TEXT), '$.data.title') AS title,
        entries.at AS at
    FROM entries
    JOIN streams ON streams.id = entries.stream
    WHERE
        substr(entries.event, 1, 19) = CAST('{"type":"title.set"' AS BLOB)
        AND streams.purged_at IS NULL
        AND json_valid(CAST(entries.event AS TEXT))
)
INSERT OR REPLACE INTO titles (session, slot, nth, title, made_by, changed_at)
SELECT session, nth % 20, nth, title, 'agent', at
FROM told
WHERE title IS NOT NULL AND session IS NOT NULL
ORDER BY session, nth;

UPDATE sessions
SET titles = (SELECT MAX(nth) FROM titles WHERE titles.session = sessions.id)
WHERE id IN (SELECT session FROM titles);
