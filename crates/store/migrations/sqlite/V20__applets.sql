-- What the person granted to applets, so that what is in force is known without walking the log. No entry before this schema grants
-- anything, so there is nothing to fill.

CREATE TABLE applet_grants (
    -- Its slug, or `_shown/` and the session.
    applet TEXT NOT NULL PRIMARY KEY,
    -- SHA-256 of the content that may do it, in hex.
    hash TEXT NOT NULL,
    -- As JSON.
    grants TEXT NOT NULL,
    -- Who granted it last, as JSON.
    granted_by TEXT NOT NULL,
    granted_at INTEGER NOT NULL,
    checksum INTEGER
) STRICT, WITHOUT ROWID;
