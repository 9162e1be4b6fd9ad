//! The brief: the text that every agent is given about the session that it works in.
//!
//! Invariant: the brief is the same for every session and never an entry of one: it is handed to the agent in one way, with
//! its system prompt, by the MCP mount or ahead of its first prompt, and holds nothing that an agent or a person wrote into a
//! session.

/// The brief, unless the person's configuration has another.
pub const STANDARD_BRIEF: &str = include_str!("brief.md");

#[cfg(test)]
mod tests {
    use engine::Skill;

    use super::*;
    use crate::mcp::tools::{Endpoint, Tool};

    /// 600 tokens, by the common measure of four characters each.
    const MAX_CHARS: usize = 2_400;

    #[test]
    fn it_is_short_and_says_what_is_required() {
        assert!(STANDARD_BRIEF.chars().count() <= MAX_CHARS, "{}", STANDARD_BRIEF.chars().count());
        let beyond = STANDARD_BRIEF.lines().filter(|line| line.chars().count() > 120).count();
        assert_eq!(beyond, 0, "a line is too long to read");
        for word in [
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
        for word in STANDARD_BRIEF.split('`').skip(1).step_by(2).filter(|word| word.contains('_')) {
            assert!(Tool::find(Endpoint::Session, word).is_ok(), "{word} is no tool");
        }
        let resource =
            STANDARD_BRIEF.split("throughline://skills/").nth(1).and_then(|rest| rest.split_once('/')).unwrap();
        let path = resource.1.split_once('`').unwrap().0;
        assert!(Skill::find(resource.0).unwrap().find_file(path).is_some(), "{resource:?}");
    }
}
