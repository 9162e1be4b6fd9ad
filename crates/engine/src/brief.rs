//! What every agent is told of the session that it works in.
//!
//! Invariant: the brief is the same for every session and never an entry of one: it is handed to the agent in one way, with
//! its system prompt, by the MCP mount or ahead of its first prompt, and holds nothing that an agent or a person wrote into a
//! session.

/// What agents are told unless the person's configuration says something else.
pub const STANDARD_BRIEF: &str = include_str!("brief.md");

/// What an agent that is given the brief in another way is told where it would stand.
pub(crate) const WHAT_THE_TOOLS_ARE_FOR: &str =
    "Marks what this session is about, and looks back into its earlier turns and into other sessions.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Skill;

    /// 600 tokens, by the common measure of four characters each.
    const MAX_CHARS: usize = 2_400;

    #[test]
    fn it_is_short_and_says_what_is_required() {
        assert!(STANDARD_BRIEF.chars().count() <= MAX_CHARS, "{}", STANDARD_BRIEF.chars().count());
        let beyond = STANDARD_BRIEF.lines().filter(|line| line.chars().count() > 120).count();
        assert_eq!(beyond, 0, "a line is too long to read");
        for word in [
            "set_relevant_context",
            "get_relevant_context",
            "session_toc",
            "search_session",
            "get_turn",
            "required",
            "files",
            "endpoints",
            "ports",
            "applet",
            "throughline:next",
            "`label`",
            "`command`",
            "`metaContext`",
        ] {
            assert!(STANDARD_BRIEF.contains(word), "{word}");
        }
        let resource =
            STANDARD_BRIEF.split("throughline://skills/").nth(1).and_then(|rest| rest.split_once('/')).unwrap();
        let path = resource.1.split_once('`').unwrap().0;
        assert!(Skill::find(resource.0).unwrap().find_file(path).is_some(), "{resource:?}");
    }
}
