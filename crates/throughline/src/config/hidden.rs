//! Values of `config.toml` that may be secrets.
//!
//! Invariant: they are read and used, and never printed: not by `Debug`, not by `throughline config`, not in an
//! error. Only what is known to be harmless is shown; everything else is `[secret]`:
//!
//! - Of variables and headers, the names.
//! - Of an address, scheme, host and port, and the path `/mcp` or `/sse`.
//! - Of arguments, flags by their names: a long one whole, of a short one the letter. What comes between a flag and the next one
//!   is taken to be its value, and so is what follows its `=`.
//! - Of a value: the name of a package, the path of a file that is there, the name in `NAME=text`; before the first flag also a
//!   short word, which is a subcommand; and what stands behind a flag such as `--model` or `--port`.
//! - Right behind a flag whose name speaks of a secret, such as `--token`, nothing, not even what looks like another flag.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

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

/// Words in the name of a flag that say its value is a secret, or part of one.
const SECRET_WORDS: &[&str] = &[
    "key",
    "token",
    "secret",
    "pass",
    "pwd",
    "pin",
    "auth",
    "login",
    "user",
    "header",
    "credential",
    "cookie",
    "bearer",
    "private",
    "session",
    "code",
    "sign",
    "seed",
    "pw",
    "otp",
    "jwt",
    "mfa",
    "hook",
];
/// Flags whose values name something that everybody may know.
const HARMLESS_FLAGS: &[&str] = &[
    "model",
    "mode",
    "approval-mode",
    "permission-mode",
    "sandbox",
    "transport",
    "log-level",
    "level",
    "format",
    "output-format",
    "input-format",
    "port",
    "timeout",
    "color",
    "colour",
];
/// Words in the names of programs and packages that agents and MCP servers come as.
const PACKAGE_WORDS: &[&str] = &["mcp", "acp", "server", "agent", "cli"];
const LONGEST_FLAG: usize = 40;
const LONGEST_NAME: usize = 64;
const LONGEST_WORD: usize = 10;
const LONGEST_NUMBER: usize = 6;
/// Letters and digits mixed, this many or more in one go, are taken for a key.
const SHORTEST_KEY: usize = 12;

/// The arguments of a program. They are printed by the rule in this file's header.
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
        let mut before = Before::NoFlag;
        let mut secret_is_due = false;
        let mut shown = Vec::new();
        for arg in &self.0 {
            // A secret may begin with a hyphen too.
            let is_value = std::mem::take(&mut secret_is_due);
            let Some(flag) = arg.strip_prefix('-').filter(|rest| !is_value && !is_number(rest)) else {
                shown.push(shown_value(before, arg));
                continue;
            };
            let (name, value) = arg.split_once('=').map_or((arg.as_str(), None), |(name, value)| (name, Some(value)));
            let flag = Before::flag(flag.split('=').next().unwrap_or_default());
            let name = shown_flag(name);
            // A name that is hidden may be anything but a flag.
            let is_hidden = name.contains(SHOWN);
            shown.push(match value {
                Some(_) if is_hidden => name,
                Some(value) => format!("{name}={}", shown_value(flag, value)),
                None => name,
            });
            before = if value.is_some() { Before::Flag } else { flag };
            secret_is_due = before == Before::SecretFlag;
        }
        shown
    }
}

/// The flag that a value may belong to: the last one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    NoFlag,
    /// Nobody knows what it takes.
    Flag,
    /// One of [`HARMLESS_FLAGS`].
    HarmlessFlag,
    /// Its name has one of [`SECRET_WORDS`].
    SecretFlag,
}

impl Before {
    /// `rest` is what follows the first hyphen.
    fn flag(rest: &str) -> Self {
        let name = rest.trim_start_matches('-').to_ascii_lowercase().replace('_', "-");
        if SECRET_WORDS.iter().any(|word| name.contains(word)) {
            Self::SecretFlag
        } else if HARMLESS_FLAGS.contains(&name.as_str()) {
            Self::HarmlessFlag
        } else {
            Self::Flag
        }
    }
}

/// A flag by its name. What stands right behind the letter of a short one may be its value.
fn shown_flag(arg: &str) -> String {
    if let Some(name) = arg.strip_prefix("--") {
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        let is_shown = is_name && name.len() <= LONGEST_FLAG && !looks_like_key(name);
        return if is_shown { arg.to_owned() } else { format!("--{SHOWN}") };
    }
    let mut letters = arg.chars().skip(1);
    match letters.next() {
        None => arg.to_owned(),
        Some(first) if first.is_ascii_alphanumeric() && letters.all(|other| other == first) => arg.to_owned(),
        Some(first) if first.is_ascii_alphabetic() => format!("-{first}{SHOWN}"),
        Some(_) => SHOWN.to_owned(),
    }
}

/// The value of a flag, or an argument without one.
fn shown_value(before: Before, value: &str) -> String {
    if value.is_empty() {
        return String::new();
    }
    if before == Before::SecretFlag {
        return SHOWN.to_owned();
    }
    if value.contains("://") {
        return agents::shown_url(value);
    }
    // `NAME=text`, as for `docker run -e`.
    if let Some((name, _)) = value.split_once('=').filter(|(name, text)| is_variable(name) && !is_padding(text)) {
        return format!("{name}={SHOWN}");
    }
    let is_shown = match before {
        Before::Flag | Before::SecretFlag => false,
        Before::NoFlag => is_plain_word(value),
        Before::HarmlessFlag => is_plain_word(value) || is_number(value) || is_public_name(value),
    };
    match is_shown || is_package(value) || is_there(value) {
        true => value.to_owned(),
        false => SHOWN.to_owned(),
    }
}

/// The name of a variable, as people write them: in capitals.
fn is_variable(name: &str) -> bool {
    let is_name = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    is_name && name.starts_with(|c: char| !c.is_ascii_digit()) && name.len() <= LONGEST_FLAG && !looks_like_key(name)
}

/// What base64 may end with; before it is no name.
fn is_padding(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'=')
}

/// A port, a count, a part of a second; a longer one may be a key.
fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok() && text.len() <= LONGEST_NUMBER && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Letters alone, all small, all large, or the first one large.
fn is_plain_word(text: &str) -> bool {
    let rest = text.get(1..).unwrap_or_default();
    let is_one_case = text.chars().all(|c| c.is_ascii_uppercase()) || rest.chars().all(|c| c.is_ascii_lowercase());
    text.len() <= LONGEST_WORD && text.chars().all(|c| c.is_ascii_alphabetic()) && is_one_case
}

/// What models and modes are called.
fn is_public_name(text: &str) -> bool {
    let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:/[]".contains(c));
    is_name && text.len() <= LONGEST_NAME && !looks_like_key(text)
}

/// `@scope/name`, or a name with hyphens of which one part is known; perhaps with a version.
fn is_package(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c))
    };
    let (scope, rest) = match text.strip_prefix('@').and_then(|rest| rest.split_once('/')) {
        Some((scope, rest)) => (Some(scope), rest),
        None => (None, text),
    };
    let (name, version) = rest.split_once('@').unwrap_or((rest, "0"));
    let is_known = scope.is_some_and(is_part) || name.split('-').any(|part| PACKAGE_WORDS.contains(&part));
    is_known && is_part(name) && is_part(version) && text.len() <= LONGEST_NAME && !looks_like_key(text)
}

/// A file or folder of this machine, by its whole path.
fn is_there(text: &str) -> bool {
    let path = Path::new(text);
    path.is_absolute() && path.exists()
}

/// Letters and digits mixed without an end, as no name of a package or a flag has them.
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
    fn arguments_are_shown_by_shape_and_never_with_a_secret() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().to_str().unwrap();
        let gone = format!("{there}/canary");
        for (args, shown) in [
            (&["run", "--acp", "-v", "-vvv"][..], &["run", "--acp", "-v", "-vvv"][..]),
            (&["--model", "gpt-5.1-codex", "--port=8080"], &["--model", "gpt-5.1-codex", "--port=8080"]),
            (&["--timeout", "2.5", "--colour", "never"], &["--timeout", "2.5", "--colour", "never"]),
            (&["-y", "@scope/server-files@1.2.3", there], &["-y", "@scope/server-files@1.2.3", there]),
            (&["mcp-server-git", &gone], &["mcp-server-git", SHOWN]),
            // Flags that name a secret.
            (&["--api-key", "canary"], &["--api-key", SHOWN]),
            (&["--API_TOKEN=canary", "--token=canary"], &["--API_TOKEN=[secret]", "--token=[secret]"]),
            (&["--login", "ada", "canary", "-v"], &["--login", SHOWN, SHOWN, "-v"]),
            (&["--password", "12345"], &["--password", SHOWN]),
            (&["--token", "--canary", "-v"], &["--token", SHOWN, "-v"]),
            (&["--token", "--", "canary"], &["--token", SHOWN, SHOWN]),
            (&["-password", "123456"], &["-p[secret]", SHOWN]),
            (
                &["--otp", "123456", "--pw", "canary", "--webhook", "canary"],
                &["--otp", SHOWN, "--pw", SHOWN, "--webhook", SHOWN],
            ),
            // Flags of one letter, whose values may be anything.
            (&["-u", "ada:canary"], &["-u", SHOWN]),
            (&["-u", "canary"], &["-u", SHOWN]),
            (&["-pcanary", "-u=canary", "-p", "8080"], &["-p[secret]", "-u=[secret]", "-p", SHOWN]),
            // Headers, variables, addresses, programs in one argument.
            (&["--header", "Authorization: Bearer canary"], &["--header", SHOWN]),
            (&["-H", "Authorization: Bearer canary"], &["-H", SHOWN]),
            (&["X-Own:canary"], &[SHOWN]),
            (&["-e", "NAME=canary", "canary="], &["-e", "NAME=[secret]", SHOWN]),
            (&["-p", "Y2FuYXJ5Cg==", "CANARY="], &["-p", SHOWN, SHOWN]),
            (&["--env=NAME=canary", "can ary=canary"], &["--env=NAME=[secret]", SHOWN]),
            (&["https://ada:canary@web.example/canary?k=canary"], &["https://[secret]@web.example/[secret]"]),
            (&["ntfy://canary"], &["ntfy://[secret]"]),
            (&["sh", "-c", "run --token canary"], &["sh", "-c", SHOWN]),
            // Words that look like nothing known.
            (&["sk-proj-canary0123456789abcdef"], &[SHOWN]),
            (&["correct-horse-battery-canary"], &[SHOWN]),
            (&["canaryCANARYcanary"], &[SHOWN]),
            // Sixteen small letters are what some call a password.
            (&["canaryabcdefghij"], &[SHOWN]),
            (&["--smtp", "canary", "--", "canary"], &["--smtp", SHOWN, "--", SHOWN]),
            (&["--canary0123456789abcdef", "--canary canary=1"], &["--[secret]", "--[secret]"]),
            (&["0123456789012345"], &[SHOWN]),
            (&["", "-"], &["", "-"]),
        ] {
            let hidden = HiddenArgs(args.iter().map(|arg| (*arg).to_owned()).collect());
            assert_eq!(hidden.shown(), shown, "{args:?}");
            assert!(!format!("{hidden:?}").contains("canary"));
            assert_eq!(hidden.expose(), args);
        }
    }

    #[test]
    fn addresses_are_shown_by_scheme_host_and_port() {
        for (url, shown) in [
            ("https://web.example:8443/", "https://web.example:8443/"),
            ("https://web.example/canary/mcp", "https://web.example/[secret]"),
            ("https://web.example/mcp?key=canary", "https://web.example/mcp?[secret]"),
            ("canary", SHOWN),
        ] {
            let hidden = HiddenUrl(url.to_owned());
            assert_eq!(format!("{hidden:?}"), shown);
            assert_eq!(hidden.expose(), url);
        }
    }
}
