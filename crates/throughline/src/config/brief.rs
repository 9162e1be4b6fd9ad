//! The part of `config.toml` about the brief, which tells every agent about the session that it works in.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

/// Every conversation of every agent pays for it.
const MAX_CHARS: usize = 8_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BriefSection {
    pub(crate) enabled: bool,
    pub(crate) text: String,
}

impl Default for BriefSection {
    fn default() -> Self {
        Self { enabled: true, text: server::STANDARD_BRIEF.to_owned() }
    }
}

impl BriefSection {
    /// The brief for agents, if they get one.
    pub(crate) fn in_force(&self) -> Option<String> {
        self.enabled.then(|| self.text.clone())
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.text.trim().is_empty() {
            bail!("brief.text is empty; to tell agents nothing, write brief.enabled = false");
        }
        let characters = self.text.chars().count();
        if characters > MAX_CHARS {
            bail!("brief.text has {characters} characters, at most {MAX_CHARS} are told; make it shorter");
        }
        Ok(())
    }
}
