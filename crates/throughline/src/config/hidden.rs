//! Values of `config.toml` that may be secrets.
//!
//! Invariant: they are read and used, and never printed: not by `Debug`, not by `throughline config`, not in an
//! error.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) const SHOWN: &str = "[secret]";

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

/// Words in the name of an option that say its value is a secret.
const SECRET_OPTIONS: &[&str] = &["key", "token", "secret", "pass", "auth", "header", "credential", "cookie", "bearer"];
/// No shorter text of letters and digits is taken for a key.
const SHORTEST_KEY: usize = 16;

/// The arguments of a program. Those that may be secrets are not printed: the value of an option such as `--api-key`, a
/// header, the password of an address, and what looks like a key.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct HiddenArgs(Vec<String>);

impl HiddenArgs {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn expose(&self) -> &[String] {
        &self.0
    }

    fn shown(&self) -> Vec<String> {
        let mut option = "";
        let mut shown = Vec::new();
        for arg in &self.0 {
            shown.push(match arg.split_once('=').filter(|_| arg.starts_with('-')) {
                Some((name, value)) => format!("{name}={}", shown_value(name, value)),
                None => shown_value(option, arg),
            });
            option = if arg.starts_with('-') { arg } else { "" };
        }
        shown
    }
}

/// The value of an option, or an argument without one.
fn shown_value(option: &str, value: &str) -> String {
    let option = option.to_ascii_lowercase();
    let is_option = value.starts_with('-');
    let is_header = value.split_once(':').is_some_and(|(name, text)| !name.contains('/') && text.starts_with(' '));
    if value.contains("://") {
        return agents::shown_url(value);
    }
    // `NAME=text`, as for `docker run -e`.
    if let Some((name, text)) = value.split_once('=').filter(|_| !is_option) {
        return format!("{name}={}", if text.is_empty() { "" } else { SHOWN });
    }
    let is_secret = !is_option && SECRET_OPTIONS.iter().any(|word| option.contains(word));
    if is_secret || is_header || looks_like_key(value) { SHOWN.to_owned() } else { value.to_owned() }
}

/// Letters and digits without an end, as no name of a package, a file or an option has them.
fn looks_like_key(text: &str) -> bool {
    let mut parts = text.split(|c: char| !c.is_ascii_alphanumeric());
    parts.any(|part| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        part.len() >= SHORTEST_KEY && digits > 0 && digits < part.len()
    })
}

impl fmt::Debug for HiddenArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.shown()).finish()
    }
}

impl Serialize for HiddenArgs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.shown())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_may_be_secrets_are_not_shown() {
        for (args, shown) in [
            (&["--acp", "-v", "--model", "gpt-5.1-codex"][..], &["--acp", "-v", "--model", "gpt-5.1-codex"][..]),
            (&["-y", "@scope/server-files@1.2.3", "/srv/a b"], &["-y", "@scope/server-files@1.2.3", "/srv/a b"]),
            (&["--api-key", "canary"], &["--api-key", SHOWN]),
            (&["--API_TOKEN=canary", "--port=80"], &["--API_TOKEN=[secret]", "--port=80"]),
            (&["--header", "X-Own: canary"], &["--header", SHOWN]),
            (&["-H", "Authorization: Bearer canary"], &["-H", SHOWN]),
            (&["-e", "NAME=canary", "image"], &["-e", "NAME=[secret]", "image"]),
            (&["https://ada:canary@web.example/mcp?k=canary"], &["https://[secret]@web.example/mcp?[secret]"]),
            (&["sk-proj-canary0123456789abcdef"], &[SHOWN]),
            (&["--token", "--verbose"], &["--token", "--verbose"]),
        ] {
            let hidden = HiddenArgs(args.iter().map(|arg| (*arg).to_owned()).collect());
            assert_eq!(hidden.shown(), shown, "{args:?}");
            assert!(!format!("{hidden:?}").contains("canary"));
            assert_eq!(hidden.expose(), args);
        }
    }
}
