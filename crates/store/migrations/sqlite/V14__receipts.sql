-- A receipt that holds words of a session (what was marked) goes with it. Only such a one names its session. Those from before
-- name none, and are forgotten after a day.
ALTER TABLE receipts ADD COLUMN session BLOB;

CREATE INDEX receipts_of_session
    ON receipts (session)
    WHERE session IS NOT NULL;
