-- What a session knows of its agent, and pictures of prompts that wait.

-- The agent's own id of the conversation.
ALTER TABLE sessions ADD COLUMN agent_session TEXT;
ALTER TABLE sessions ADD COLUMN agent_title TEXT NOT NULL DEFAULT '';
-- The agent was started anew and has not been told of the earlier turns.
ALTER TABLE sessions ADD COLUMN untold INTEGER NOT NULL DEFAULT 0;
-- The requests that wait for an answer, as JSON; and the newest one's number.
ALTER TABLE sessions ADD COLUMN open_requests TEXT;
ALTER TABLE sessions ADD COLUMN requests INTEGER NOT NULL DEFAULT 0;

-- As JSON.
ALTER TABLE prompts ADD COLUMN images TEXT;
