//! The seam for ids and secrets: whoever makes one is given a source.

use std::fmt;

use uuid::Uuid;

/// Makes ids and secrets.
pub trait IdSource: Send + Sync + 'static {
    /// A new id, sortable by when it was made.
    fn uuid(&self) -> Uuid;
    /// 32 bytes that nobody can guess.
    fn secret_bytes(&self) -> [u8; 32];
}

/// The machine's random source.
#[derive(Debug, Clone, Copy)]
pub struct SystemIds;

impl IdSource for SystemIds {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that makes ids")]
    fn uuid(&self) -> Uuid {
        Uuid::now_v7()
    }

    fn secret_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the operating system has a random source");
        bytes
    }
}

/// A text that opens something. It prints as `[secret]`, so that no log or panic ever carries it.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenSecret(String);

impl TokenSecret {
    /// Wraps a text that a caller presented.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Makes a new one, 256 bits as hex.
    pub(crate) fn generate(ids: &dyn IdSource) -> Self {
        Self(hex(&ids.secret_bytes()))
    }

    /// Makes a shorter one, 128 bits as hex, for links that people see; good once and for minutes.
    pub(crate) fn generate_code(ids: &dyn IdSource) -> Self {
        Self(hex(&ids.secret_bytes()[..16]))
    }

    /// The text itself, to hand over or to hash.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
