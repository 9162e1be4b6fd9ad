//! The sizes that a session's own rules hold to; whatever is larger is refused, never cut.

/// Longest session name, in characters.
pub const MAX_NAME_CHARS: usize = 200;
/// Longest environment hint, in characters.
pub const MAX_ENV_HINT_CHARS: usize = 2_000;
/// Longest prompt, in bytes of UTF-8.
pub const MAX_PROMPT_BYTES: usize = 1 << 20;
/// How many prompts may wait in one session.
pub const MAX_QUEUED_PROMPTS: usize = 50;
/// How many bytes of prompts may wait in one session, all together.
pub const MAX_QUEUED_BYTES: usize = MAX_PROMPT_BYTES;
/// Longest directory path, in bytes: what Linux itself allows.
pub const MAX_PATH_BYTES: usize = 4_096;
/// How many pictures may go with one prompt.
pub const MAX_IMAGES: usize = 8;
/// How many bytes of Base64 the pictures of one prompt may have, all together.
pub const MAX_IMAGE_BYTES: usize = 8 << 20;
/// How many answers are remembered.
pub const MAX_REMEMBERED: usize = 1_000;
/// How much of what an answer is remembered for is kept to be read, in characters.
pub(crate) const MAX_REMEMBERED_SUBJECT_CHARS: usize = 2_000;
/// How many requests of an agent may wait for an answer in one session.
pub(crate) const MAX_OPEN_REQUESTS: usize = 32;
/// Longest title that an agent gives a session, in characters; a longer one is cut.
pub(crate) const MAX_AGENT_TITLE_CHARS: usize = 200;
