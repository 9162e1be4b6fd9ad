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
/// Longest words of one entry, in bytes; longer ones become several, so that nobody has to hold or to send much at once.
pub const MAX_PART_BYTES: usize = 64 << 10;
/// How many answers are remembered.
pub const MAX_REMEMBERED: usize = 1_000;
/// How much of what an answer is remembered for is kept to be read, in characters.
pub(crate) const MAX_REMEMBERED_SUBJECT_CHARS: usize = 2_000;
/// How many requests of an agent may wait for an answer in one session.
pub(crate) const MAX_OPEN_REQUESTS: usize = 32;
/// Longest title that an agent gives a session, in characters; a longer one is cut.
pub(crate) const MAX_AGENT_TITLE_CHARS: usize = 200;
/// How many items one set of the context keeps.
pub const MAX_SET_ITEMS: usize = 10;
/// How many items all sets of a session keep together.
pub const MAX_CONTEXT_ITEMS: usize = 50;
/// Longest name of a set, in characters.
pub const MAX_SET_NAME_CHARS: usize = 64;
/// Longest item of a set, in bytes: as long as a path may be.
pub const MAX_ITEM_BYTES: usize = MAX_PATH_BYTES;
/// How many of a fact's values are kept: the newest.
pub const MAX_FACT_VALUES: usize = 100;
/// How much one call may prove.
pub(crate) const MAX_FACTS_OF_CALL: usize = 100;
/// Longest value of a fact, in bytes; a longer one proves nothing.
pub(crate) const MAX_FACT_BYTES: usize = MAX_PATH_BYTES;
/// Longest intent of an agent, in characters; a longer one is cut.
pub(crate) const MAX_INTENT_CHARS: usize = 200;
/// How many tags a session may have.
pub const MAX_TAGS: usize = 12;
/// Longest tag, in characters.
pub const MAX_TAG_CHARS: usize = 32;
/// Longest command that an output names, in bytes.
pub const MAX_OUTPUT_COMMAND_BYTES: usize = 64 << 10;
/// Longest type or language of an output, in characters.
pub(crate) const MAX_OUTPUT_WORD_CHARS: usize = 100;
/// How many choices about its agent a session remembers.
pub(crate) const MAX_CHOSEN_OPTIONS: usize = 32;
/// Longest line of a card: its title, who made it, whose it is. In characters.
pub const MAX_CARD_LINE_CHARS: usize = 200;
/// How many things an applet is given at once.
pub const MAX_APPLET_PARAMS: usize = 20;
/// Longest name or value of one of them, in characters.
pub const MAX_APPLET_PARAM_CHARS: usize = 2_000;
/// Longest address that a card leads to, in bytes.
pub(crate) const MAX_CARD_URL_BYTES: usize = 2_000;
