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
