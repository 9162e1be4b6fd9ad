//! Values of `config.toml` that may be secrets.
//!
//! Invariant: they are read and used, and never printed: not by `Debug`, not by `throughline config`, not in an
//! error.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const SHOWN: &str = "[secret]";

/// Texts by name, such as variables and headers. The names are no secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct HiddenTexts(BTreeMap<String, String>);

impl HiddenTexts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn expose(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

impl fmt::Debug for HiddenTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.keys().map(|name| (name, SHOWN))).finish()
    }
}

impl Serialize for HiddenTexts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.keys().map(|name| (name, SHOWN)))
    }
}

impl<'de> Deserialize<'de> for HiddenTexts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || D::Error::custom("expected names with a text in quotes each, as in { NAME = \"text\" }");
        // The library's error would show the value.
        let toml::Value::Table(table) = toml::Value::deserialize(deserializer).map_err(|_| wrong())? else {
            return Err(wrong());
        };
        let texts = table.into_iter().map(|(name, value)| match value {
            toml::Value::String(text) => Ok((name, text)),
            _ => Err(wrong()),
        });
        texts.collect::<Result<_, _>>().map(Self)
    }
}

/// An address, which may hold a password or a key.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct HiddenUrl(String);

impl HiddenUrl {
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for HiddenUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&agents::shown_url(&self.0))
    }
}

impl Serialize for HiddenUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&agents::shown_url(&self.0))
    }
}
