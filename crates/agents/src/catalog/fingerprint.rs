//! Identifies an agent by its content.
//!
//! Invariant: two entries have the same fingerprint only if the same program would be started with the same arguments
//! and the same variables. Names and descriptions do not count: they start nothing.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::CatalogEntry;

/// SHA-256 over everything that decides what runs. It covers values that may be secret, so it is kept in memory only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    pub(super) fn of(entry: &CatalogEntry) -> Self {
        let mut hash = Sha256::new();
        let CatalogEntry { command, args, env, pass_env, quirks, own_tools, .. } = entry;
        add_list(&mut hash, [command.as_str()]);
        add_list(&mut hash, args.iter().map(String::as_str));
        add_list(&mut hash, env.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]));
        add_list(&mut hash, pass_env.iter().map(String::as_str));
        let settings = quirks.settings_file.map(|file| file.settings(own_tools).to_string());
        add_list(&mut hash, settings.as_deref());
        Self(hash.finalize().into())
    }
}

/// Counts and lengths are hashed first, so that no text can imitate the border between two.
fn add_list<'a>(hash: &mut Sha256, list: impl IntoIterator<Item = &'a str>) {
    let list: Vec<&str> = list.into_iter().collect();
    hash.update((list.len() as u64).to_le_bytes());
    for text in list {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
}

/// Shows the beginning: enough to tell two apart in a log, too little to guess a secret from.
impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
