//! The part of `config.toml` about labels on the page.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::config::Config;

const DEFAULT_SPECS_LABEL: &str = "Specs";
/// It is the heading of a list.
const MAX_LABEL_CHARS: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PageSection {
    /// The heading over works, where one chooses a session.
    pub(crate) specs_label: String,
}

impl Default for PageSection {
    fn default() -> Self {
        Self { specs_label: DEFAULT_SPECS_LABEL.to_owned() }
    }
}

impl Config {
    pub(super) fn check_page(&self) -> Result<()> {
        let label = &self.page.specs_label;
        if label.trim().is_empty() || label.chars().count() > MAX_LABEL_CHARS || label.chars().any(char::is_control) {
            bail!("page.specs_label is a word or a few, of at most {MAX_LABEL_CHARS} characters");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_of_works_is_called_as_the_person_wants() {
        assert_eq!(Config::default().page.specs_label, "Specs");
        let config = Config::parse("[page]\nspecs_label = \"Projects\"").unwrap();
        assert_eq!(config.page.specs_label, "Projects");
        for wrong in ["", "  ", "a\\nb", &"x".repeat(41)] {
            let err = Config::parse(&format!("[page]\nspecs_label = \"{wrong}\"")).unwrap_err();
            assert!(err.to_string().contains("page.specs_label"), "{err:#}");
        }
    }
}
