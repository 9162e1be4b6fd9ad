-- Whose file a path is, is asked without a session: looked up here, and not by reading every session.
CREATE INDEX facts_of_files
    ON facts (value)
    WHERE name IN ('filesEdited', 'filesCreated', 'filesRead', 'filesDeleted');
