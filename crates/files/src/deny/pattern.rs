//! A protected name, or several consecutive names, with `*` for any text.

use super::fold::{Folded, fold};

/// A pattern that could never match.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pattern:?} protects nothing; write a name, `*.ending`, `begin*` or `folder/name`")]
pub struct PatternError {
    pattern: String,
}

#[derive(Debug, Clone)]
pub(super) struct Pattern {
    /// One for each name, folded.
    parts: Vec<String>,
    /// Whole names that match but are not protected.
    free: &'static [&'static str],
}

impl Pattern {
    pub(super) fn parse(text: &str) -> Result<Self, PatternError> {
        let parts: Vec<String> = text.split('/').map(fold).collect();
        // Trailing dots are folded away, so a part of dots alone would be empty and match nothing.
        if parts.iter().any(String::is_empty) {
            return Err(PatternError { pattern: text.to_owned() });
        }
        Ok(Self { parts, free: &[] })
    }

    /// For the patterns of `protected.rs`.
    pub(super) fn known(text: &'static str) -> Self {
        Self::parse(text).expect("a test parses every known pattern")
    }

    pub(super) fn except(self, free: &'static [&'static str]) -> Self {
        Self { free, ..self }
    }

    /// Whether consecutive names in the path match the parts.
    pub(super) fn is_in(&self, path: &[&Folded]) -> bool {
        path.windows(self.parts.len()).any(|names| {
            self.parts
                .iter()
                .zip(names)
                .all(|(part, name)| name.is(|name| matches(part, name) && !self.free.contains(&name)))
        })
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let (middles, end) = match rest.rsplit_once('*') {
        Some((middles, end)) => (Some(middles), end),
        None => (None, rest),
    };
    for middle in middles.into_iter().flat_map(|middles| middles.split('*')) {
        match name.split_once(middle) {
            Some((_, after)) => name = after,
            None => return false,
        }
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, yes, no) in [
            (".env", ".env", ".env.local"),
            ("*.pem", "a.pem", "a.pem.txt"),
            ("*.pem", ".pem", "pem"),
            (".env.*", ".env.local", ".env"),
            ("a*b*c", "abc", "ac"),
            ("a*b*c", "a-b-b-c", "a-c-b"),
            ("*secret*", "my-secrets", "public"),
            ("**", "x", "-"),
        ] {
            assert!(matches(pattern, yes), "{pattern} {yes}");
            assert!(pattern == "**" || !matches(pattern, no), "{pattern} {no}");
        }
        assert!(!matches("ab*ba", "aba"), "a letter counts once");
    }

    #[test]
    fn patterns_that_protect_nothing_are_errors() {
        for text in ["", "/", "a/", "/a", "a//b", "..", ".", " ", "a/. ."] {
            assert!(Pattern::parse(text).is_err(), "{text:?}");
        }
    }
}
