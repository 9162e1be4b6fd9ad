-- Who wrote a prompt that waits is a column of its own; nothing there means a person of whom no more was noted. Until now it
-- stood in front of the words, as in the log of that time. `old_prompt_author` and `old_prompt_words` are functions of this
-- program that take the two apart. A damaged row keeps its checksum, and so stays one.
ALTER TABLE prompts ADD COLUMN written_by TEXT;

UPDATE prompts
SET
    text = old_prompt_words(text),
    written_by = old_prompt_author(text),
    checksum = CASE
        WHEN checksum IS row_sum(session, interaction, queued_seq, queued_at, text, images) THEN row_sum(
            session, interaction, queued_seq, queued_at, old_prompt_words(text), images, old_prompt_author(text)
        )
        ELSE checksum
    END
WHERE old_prompt_author(text) IS NOT NULL;
