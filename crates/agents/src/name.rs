//! Names that a person gives to agents and MCP servers.
//!
//! Invariant: such a name can be part of an address, a rule or a tool's name without quotes or escapes.

/// How long a name may be.
pub const MAX_NAME_CHARS: usize = 40;

/// Whether a name has lower-case letters, digits and hyphens only.
pub fn is_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=MAX_NAME_CHARS).contains(&text.len()) && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain() {
        for good in ["a", "claude", "my-agent-2", &"x".repeat(MAX_NAME_CHARS)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "*", "Claude", "a b", "a.b", "a_b", "a/b", "ä", "a\n", &"x".repeat(MAX_NAME_CHARS + 1)] {
            assert!(!is_name(bad), "{bad:?}");
        }
    }
}
