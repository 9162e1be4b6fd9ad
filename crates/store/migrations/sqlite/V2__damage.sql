-- What a stream's tombstone and its damage need to say.

-- The first entry that cannot be relied on, and what is wrong with it: the stream is read up to there and takes no more.
ALTER TABLE streams ADD COLUMN damaged_seq INTEGER;
ALTER TABLE streams ADD COLUMN damage TEXT;

-- A purged stream whose entries are still being removed, some at a time.
ALTER TABLE streams ADD COLUMN sweeping INTEGER NOT NULL DEFAULT 0;

CREATE INDEX streams_damaged
    ON streams (id)
    WHERE damaged_seq IS NOT NULL;

CREATE INDEX streams_sweeping
    ON streams (id)
    WHERE sweeping <> 0;
