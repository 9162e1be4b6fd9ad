//! The part of `config.toml` about the model that writes summaries and titles.
//!
//! Invariant: the key itself is not in it, only where it is kept; a file that others can read is refused.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agents::provider::{PlainHttp, ProviderKey, ProviderKind, ProviderSettings, ProviderUrl};
use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use super::hidden::HiddenUrl;

const DEFAULT_DAILY_CALLS: u32 = 1_000;
/// No key is longer; a longer file holds something else.
const MAX_KEY_BYTES: u64 = 4 << 10;
/// Any permission of anybody but the owner.
const OTHERS: u32 = 0o077;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SummariesSection {
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<ProviderKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<HiddenUrl>,
    /// The variable that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_env: Option<String>,
    /// The file that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_file: Option<PathBuf>,
    /// Lets the address be http:// on another machine.
    allow_plain: bool,
    /// How many requests to the model are made in a day, for everything together.
    pub(crate) daily_calls: u32,
    /// Whether the model writes titles too.
    pub(crate) titles: bool,
}

impl Default for SummariesSection {
    fn default() -> Self {
        Self {
            provider: None,
            model: None,
            url: None,
            key_env: None,
            key_file: None,
            allow_plain: false,
            daily_calls: DEFAULT_DAILY_CALLS,
            titles: true,
        }
    }
}

impl SummariesSection {
    /// The configured model, if any, with its key from the server's own environment or from its file.
    pub(crate) fn provider(&self, environment: &BTreeMap<String, String>) -> Result<Option<ProviderSettings>> {
        let (Some(kind), Some(model)) = (self.provider, self.model.clone()) else { return Ok(None) };
        let key = match (&self.key_env, &self.key_file) {
            (Some(name), _) => {
                let Some(text) = environment.get(name) else {
                    bail!("summaries.key_env names {name}, which is not set here: set it where the server is started");
                };
                Some(ProviderKey::new(text).with_context(|| format!("the key in {name} can not be used"))?)
            }
            (None, Some(path)) => {
                let text = read_key(path)?;
                Some(
                    ProviderKey::new(&text)
                        .with_context(|| format!("the key in {} can not be used", path.display()))?,
                )
            }
            (None, None) => None,
        };
        Ok(Some(ProviderSettings { kind, url: self.url(kind)?, model, key }))
    }

    pub(super) fn check(&self) -> Result<()> {
        let kind = match (self.provider, &self.model) {
            (None, None) => return self.check_absent(),
            (None, Some(_)) => bail!("summaries.model needs summaries.provider: openai, anthropic or ollama"),
            (Some(_), None) => bail!("summaries.provider needs summaries.model, the name of the model to ask"),
            (Some(_), Some(model)) if model.trim().is_empty() => bail!("summaries.model is empty"),
            (Some(kind), Some(_)) => kind,
        };
        self.url(kind)?;
        if self.key_env.is_some() && self.key_file.is_some() {
            bail!("summaries.key_env and summaries.key_file exclude each other: keep one");
        }
        if self.key_env.as_deref().is_some_and(|name| !is_variable(name)) {
            bail!("summaries.key_env is the name of the variable that holds the key, not the key itself");
        }
        if self.key_file.as_deref().is_some_and(Path::is_relative) {
            bail!("summaries.key_file is a full path, beginning with /");
        }
        let has_key = self.key_env.is_some() || self.key_file.is_some();
        if self.url.is_none() && kind.default_url_needs_key() && !has_key {
            bail!(
                "{} wants a key: say where it is kept with summaries.key_env or summaries.key_file",
                kind.default_url()
            );
        }
        if self.daily_calls == 0 {
            bail!("summaries.daily_calls is at least 1; to ask no model, leave summaries.provider away");
        }
        Ok(())
    }

    /// Without a provider no other key of the section makes sense.
    fn check_absent(&self) -> Result<()> {
        let given = [
            ("url", self.url.is_some()),
            ("key_env", self.key_env.is_some()),
            ("key_file", self.key_file.is_some()),
            ("allow_plain", self.allow_plain),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => bail!("summaries.{key} needs summaries.provider and summaries.model"),
            None => Ok(()),
        }
    }

    fn url(&self, kind: ProviderKind) -> Result<ProviderUrl> {
        let plain = if self.allow_plain { PlainHttp::Anywhere } else { PlainHttp::ThisMachineOnly };
        let text = self.url.as_ref().map_or(kind.default_url(), HiddenUrl::expose);
        ProviderUrl::parse(text, plain)
            .context("summaries.url can not be used (summaries.allow_plain lets it be plain)")
    }
}

fn is_variable(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_part) && !name.starts_with(|c: char| c.is_ascii_digit())
}

fn read_key(path: &Path) -> Result<String> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("could not open summaries.key_file {shown}"))?;
    let found = file.metadata().with_context(|| format!("could not look at summaries.key_file {shown}"))?;
    if !found.is_file() {
        bail!("summaries.key_file {shown} is no file");
    }
    if found.permissions().mode() & OTHERS != 0 {
        bail!("others can read summaries.key_file {shown}; close it with `chmod 600 {shown}`");
    }
    let mut text = String::new();
    let read = file.take(MAX_KEY_BYTES + 1).read_to_string(&mut text);
    read.with_context(|| format!("could not read summaries.key_file {shown}"))?;
    if text.len() as u64 > MAX_KEY_BYTES {
        bail!("summaries.key_file {shown} is too large for a key");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};

    use super::*;
    use crate::config::Config;

    const KEY: &str = "canary-4711";

    fn section(text: &str) -> Result<SummariesSection> {
        Config::parse(&format!("[summaries]\n{text}")).map(|config| config.summaries)
    }

    fn environment() -> BTreeMap<String, String> {
        BTreeMap::from([("MODELS_KEY".to_owned(), format!("{KEY}\n")), ("EMPTY".to_owned(), String::new())])
    }

    /// The settings, or what is wrong with them. Never the key.
    fn outcome(text: &str) -> String {
        let outcome = match section(text).and_then(|section| section.provider(&environment())) {
            Ok(settings) => format!("{settings:?}"),
            Err(err) => format!("{err:#}"),
        };
        assert!(!outcome.contains("canary"), "{outcome}");
        outcome
    }

    #[test]
    fn a_model_is_asked_when_provider_and_model_are_named() {
        insta::assert_snapshot!(outcome(""), @"None");
        insta::assert_snapshot!(outcome("provider = \"ollama\"\nmodel = \"small-1\""), @r#"Some(ProviderSettings { kind: Ollama, url: http://127.0.0.1:11434/, model: "small-1", key: None })"#);
        insta::assert_snapshot!(outcome("provider = \"anthropic\"\nmodel = \"small-1\"\nkey_env = \"MODELS_KEY\""), @r#"Some(ProviderSettings { kind: Anthropic, url: https://api.anthropic.com/, model: "small-1", key: Some([secret]) })"#);
        insta::assert_snapshot!(outcome("provider = \"openai\"\nmodel = \"small-1\"\nurl = \"http://box.example/v1\"\nallow_plain = true"), @r#"Some(ProviderSettings { kind: OpenAi, url: http://box.example/v1, model: "small-1", key: None })"#);
        let silent = section("titles = false\ndaily_calls = 7").unwrap();
        assert_eq!(
            (silent.titles, silent.daily_calls, silent.provider(&environment()).unwrap().is_none()),
            (false, 7, true)
        );
    }

    #[test]
    fn what_can_not_work_is_refused_at_start() {
        let openai = "provider = \"openai\"\nmodel = \"small-1\"\n";
        let cases = [
            ("provider = \"openai\"".to_owned(), "summaries.provider needs summaries.model"),
            ("model = \"small-1\"".to_owned(), "summaries.model needs summaries.provider"),
            ("key_env = \"MODELS_KEY\"".to_owned(), "summaries.key_env needs summaries.provider"),
            ("url = \"https://x.example\"".to_owned(), "summaries.url needs summaries.provider"),
            (
                "provider = \"opneai\"\nmodel = \"x\"".to_owned(),
                "line 2, summaries.provider: expected one of `openai`, `anthropic`, `ollama`",
            ),
            ("provider = \"ollama\"\nmodel = \" \"".to_owned(), "summaries.model is empty"),
            (openai.to_owned(), "https://api.openai.com/v1 wants a key"),
            (format!("{openai}key_env = \"{KEY}\""), "not the key itself"),
            (format!("{openai}key_env = \"MODELS_KEY\"\nkey_file = \"/x\""), "exclude each other"),
            (format!("{openai}key_file = \"key\""), "a full path"),
            (format!("{openai}key_env = \"MISSING\""), "summaries.key_env names MISSING, which is not set here"),
            (format!("{openai}key_env = \"EMPTY\""), "the key in EMPTY can not be used"),
            (format!("{openai}key = \"{KEY}\""), "no key summaries.key; did you mean summaries.key_"),
            (format!("{openai}url = \"http://box.example/v1\""), "use https://"),
            (format!("{openai}url = \"https://{KEY}@box.example/v1\""), "a key does not go there"),
            (format!("{openai}url = \"https://box.example/v1?key={KEY}\""), "a key does not go there"),
            (format!("{openai}key_env = \"MODELS_KEY\"\ndaily_calls = 0"), "at least 1"),
            ("dayly_calls = 1".to_owned(), "did you mean summaries.daily_calls?"),
        ];
        for (text, expected) in cases {
            let outcome = outcome(&text);
            assert!(outcome.contains(expected), "{text}\n{outcome}");
        }
    }

    #[test]
    fn a_key_is_read_from_a_file_that_nobody_else_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let text = format!("provider = \"openai\"\nmodel = \"small-1\"\nkey_file = \"{}\"", path.display());
        assert!(outcome(&text).contains("could not open"), "{}", outcome(&text));
        for (content, mode, expected) in [
            (format!("{KEY}\n"), 0o600, "[secret]"),
            (format!("{KEY}\n"), 0o640, "chmod 600"),
            (format!("{KEY}\n"), 0o604, "chmod 600"),
            (String::new(), 0o600, "can not be used"),
            ("x".repeat(5_000), 0o600, "too large for a key"),
        ] {
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let outcome = outcome(&text);
            assert!(outcome.contains(expected), "{mode:o} {outcome}");
        }
    }

    #[test]
    fn what_is_printed_has_no_secret() {
        let text = "[summaries]\nprovider = \"openai\"\nmodel = \"small-1\"\nkey_env = \"MODELS_KEY\"";
        let printed = toml::to_string(&Config::parse(text).unwrap().summaries).unwrap();
        insta::assert_snapshot!(printed, @r#"
    provider = "openai"
    model = "small-1"
    key_env = "MODELS_KEY"
    allow_plain = false
    daily_calls = 1000
    titles = true
    "#);
    }
}
