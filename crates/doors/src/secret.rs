//! A string that must not be shown.
//!
//! Invariant: the text leaves only through [`Secret::expose`], so a grep for that word lists every place where it can
//! leak. Debug and Display are redacted, there is no `Serialize`, and comparison takes the same time for every
//! content of one length.

use std::{fmt, sync::Arc};

use subtle::ConstantTimeEq as _;

/// Shared, not copied: clones for request extensions leave no further copies in memory.
#[derive(Clone)]
pub struct Secret(Arc<str>);

impl Secret {
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Constant-time for equal lengths. There is no `PartialEq`, so that `==` cannot be written by habit.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        same_bytes(self.0.as_bytes(), other.0.as_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// Compares in a time that depends on the lengths only; meant for hashes, whose length is no secret.
#[must_use]
pub fn same_bytes(left: &[u8], right: &[u8]) -> bool {
    left.ct_eq(right).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_never_shows_the_text() {
        let secret = Secret::new("canary-4711");
        let presented = crate::Presented::Cookie { cookie: secret.clone(), proof: secret.clone() };
        let shown =
            format!("{secret} {secret:?} {secret:#?} {presented:?} {:?}", crate::Caller::AwaitsProof(secret.clone()));
        assert!(!shown.contains("canary"), "{shown}");
    }

    #[test]
    fn comparison_sees_content_and_length() {
        let secret = Secret::new("abc");
        assert!(secret.matches(&Secret::new("abc")));
        assert!(!secret.matches(&Secret::new("abd")));
        assert!(!secret.matches(&Secret::new("abcd")));
    }
}
