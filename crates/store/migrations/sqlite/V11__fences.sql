-- Where a stream is fenced off is in its row's checksum too: one flipped bit opened a damaged session for writing, or closed a
-- whole one. A column that is empty adds nothing to a checksum, so only rows with a fence change; one that was damaged before
-- stays so.
UPDATE streams
SET checksum = row_sum(id, name, purged_at, sweeping, damaged_seq, damage)
WHERE
    (damaged_seq IS NOT NULL OR damage IS NOT NULL)
    AND checksum IS row_sum(id, name, purged_at, sweeping);
