//! The configuration in force as it is shown: each value with where it comes from and the line that changes it.
//!
//! Invariant: values are taken from the configuration's own printed form, in which secrets are `[secret]`; a line to copy has
//! `…` in their place, so that it can not be pasted back by mistake.

use std::path::Path;

use server::wire::{ChangePlace, Setting, SettingChange, SettingSource, Settings};

use super::keys::KEYS;
use super::source_text::{Form, SourceText, dotted, find, quoted};
use super::{Config, hidden, words};
use crate::host::LinkAddress;

/// What sets a value beside the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Override {
    /// A flag of the command line, such as `--listen`.
    Flag(&'static str),
    /// A variable of the environment.
    Environment(&'static str),
    /// The system allows no more.
    System(&'static str),
}

/// A setting that `config.toml` does not have.
#[derive(Debug, Clone)]
pub(crate) struct StartSetting {
    pub(crate) key: &'static str,
    pub(crate) about: &'static str,
    pub(crate) value: String,
    pub(crate) set_by: Option<Override>,
    /// The command that starts the server with another value.
    pub(crate) command: &'static str,
}

/// What a server was started with, beside its file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Start {
    /// Keys of `config.toml` that something else decides.
    pub(crate) overrides: Vec<(&'static str, Override)>,
    pub(crate) settings: Vec<StartSetting>,
}

impl Config {
    /// All settings. `text` is what the file held, or `None` if there was none.
    pub(crate) fn report(&self, file: &Path, text: Option<&str>, start: &Start, address: &LinkAddress) -> Settings {
        let printed = toml::Table::try_from(self).unwrap_or_default();
        let source = SourceText::new(text.unwrap_or_default());
        let mut values = Vec::new();
        for (kind, keys) in KEYS {
            for section in sections(&printed, kind) {
                let table = find(&printed, &section).and_then(toml::Value::as_table);
                for key in *keys {
                    let value = table.and_then(|table| table.get(*key));
                    let nested = format!("{kind}.{key}");
                    // What has keys of its own that are set is shown by them.
                    if value.is_some() && KEYS.iter().any(|(section, _)| *section == nested) {
                        continue;
                    }
                    // Of an agent or a server of the person's own, only what is set.
                    if value.is_none() && kind.ends_with(".*") {
                        continue;
                    }
                    let over = start.overrides.iter().find(|(key, _)| *key == nested).map(|(_, over)| *over);
                    let path: Vec<&str> = section.iter().copied().chain([*key]).collect();
                    values.push(setting(kind, &path, &printed, &source, over));
                }
            }
        }
        values.extend(start.settings.iter().map(StartSetting::shown));
        Settings {
            file: file.display().to_string(),
            has_file: text.is_some(),
            url: address.url.clone(),
            local_only: address.local_only,
            values,
        }
    }
}

/// The sections of this kind that there are, by their names from the outermost on: of `agents.*`, one for each agent that
/// the person has named. A section within another that is not set is not there.
fn sections<'a>(printed: &'a toml::Table, kind: &'a str) -> Vec<Vec<&'a str>> {
    if let Some(parent) = kind.strip_suffix(".*") {
        let named = printed.get(parent).and_then(toml::Value::as_table);
        return named.into_iter().flat_map(toml::Table::keys).map(|name| vec![parent, name]).collect();
    }
    let names: Vec<&str> = kind.split('.').collect();
    if names.len() > 1 && find(printed, &names).is_none() { Vec::new() } else { vec![names] }
}

fn setting(
    kind: &str,
    path: &[&str],
    printed: &toml::Table,
    source: &SourceText<'_>,
    over: Option<Override>,
) -> Setting {
    let (key, section) = path.split_last().unwrap_or((&"", &[]));
    let words = words::find(kind, key);
    let example = words.map_or("", |words| words.example);
    let value = find(printed, path).map(ToString::to_string);
    let line = source.line_of(path);
    let to_copy = value.as_ref().map_or_else(|| example.to_owned(), |value| value.replace(hidden::SHOWN, "…"));
    let change = source.change_within(path, printed, example).unwrap_or_else(|| {
        let own_line = format!("{} = {to_copy}", quoted(key));
        let (text, place) = match (line, source.form_of(path), source.form_of(section)) {
            // A table of its own takes another line below its header.
            (Some(line), Some(Form::Header), _) => {
                (example.trim_matches(['{', '}', ' ']).to_owned(), ChangePlace::Below { line })
            }
            (Some(line), ..) => (format!("{}{to_copy}", source.before_value(path)), ChangePlace::Replace { line }),
            (None, _, Some(Form::Header)) => {
                (own_line, ChangePlace::Below { line: source.line_of(section).unwrap_or(1) })
            }
            // `server.listen = …` without a header: the rest of the section is written in the same way.
            (None, _, Some(Form::Dotted)) => (
                format!("{}.{own_line}", source.up_to_name(section)),
                ChangePlace::Below { line: source.line_of(section).unwrap_or(1) },
            ),
            (None, _, Some(Form::Above) | None) => (format!("[{}]\n{own_line}", dotted(section)), ChangePlace::End),
        };
        SettingChange { text, place }
    });
    let source = match (over, line) {
        (Some(over), _) => over.shown(),
        (None, Some(line)) => SettingSource::Config { line },
        (None, None) => SettingSource::Default,
    };
    let about = words.map(|words| words.about.to_owned()).unwrap_or_default();
    Setting { key: dotted(path), about, value, source, change }
}

impl Override {
    fn shown(self) -> SettingSource {
        match self {
            Self::Flag(name) => SettingSource::Flag { name: name.to_owned() },
            Self::Environment(name) => SettingSource::Environment { name: name.to_owned() },
            Self::System(reason) => SettingSource::System { reason: reason.to_owned() },
        }
    }
}

impl StartSetting {
    fn shown(&self) -> Setting {
        Setting {
            key: self.key.to_owned(),
            about: self.about.to_owned(),
            value: Some(self.value.clone()),
            source: self.set_by.map_or(SettingSource::Default, Override::shown),
            change: SettingChange { text: self.command.to_owned(), place: ChangePlace::Terminal },
        }
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn report(text: Option<&str>, start: &Start) -> Settings {
        let config = Config::parse(text.unwrap_or_default()).unwrap();
        let address = LinkAddress { url: "http://127.0.0.1:7417".to_owned(), local_only: true };
        config.report(Path::new("/home/ada/.throughline/config.toml"), text, start, &address)
    }

    fn shown(settings: &Settings, begins: &[&str]) -> String {
        let wanted = |setting: &&Setting| begins.iter().any(|begin| setting.key.starts_with(begin));
        let lines = settings.values.iter().filter(wanted).map(|setting| {
            let value = setting.value.as_deref().unwrap_or("-");
            let source = serde_json::to_string(&setting.source).unwrap();
            let place = serde_json::to_string(&setting.change.place).unwrap();
            format!("{} = {value} {source} {place} {:?}", setting.key, setting.change.text)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_value_says_where_it_comes_from_and_which_line_changes_it() {
        let text = "# mine\n[server]\nlisten = \"127.0.0.1:1\"\n\n[permissions.rules]\n\"*.delete\" = \"deny\"\n";
        let settings = report(Some(text), &Start::default());
        assert_snapshot!(shown(&settings, &["server.", "permissions.", "page."]), @r#"
        server.listen = "127.0.0.1:1" {"type":"config","line":3} {"type":"replace","line":3} "listen = \"127.0.0.1:1\""
        server.mcp_listen = - {"type":"default"} {"type":"below","line":2} "mcp_listen = \"127.0.0.1:9878\""
        server.hosts = [] {"type":"default"} {"type":"below","line":2} "hosts = []"
        server.behind_proxy = false {"type":"default"} {"type":"below","line":2} "behind_proxy = false"
        server.tls = - {"type":"default"} {"type":"below","line":2} "tls = { certificates = \"/etc/throughline/fullchain.pem\", key = \"/etc/throughline/key.pem\" }"
        permissions.default = "ask" {"type":"default"} {"type":"end"} "[permissions]\ndefault = \"ask\""
        permissions.rules = { "*.delete" = "deny" } {"type":"config","line":5} {"type":"below","line":5} "\"claude.read\" = \"allow\""
        page.specs_label = "Specs" {"type":"default"} {"type":"end"} "[page]\nspecs_label = \"Specs\""
        "#);
        let without = report(None, &Start::default());
        assert!(!without.has_file);
        assert!(without.values.iter().all(|setting| setting.source == SettingSource::Default));
    }

    #[test]
    fn a_flag_a_variable_and_the_system_come_before_the_file() {
        let folder = StartSetting {
            key: "--data-dir",
            about: "Where everything is kept.",
            value: "/srv".to_owned(),
            set_by: Some(Override::Environment("THROUGHLINE_HOME")),
            command: "throughline --data-dir FOLDER",
        };
        let overrides =
            vec![("server.listen", Override::Flag("--listen")), ("limits.connections", Override::System("too few"))];
        let settings = report(Some("[server]\nlisten = \"127.0.0.1:1\""), &Start { overrides, settings: vec![folder] });
        assert_snapshot!(shown(&settings, &["server.listen", "limits.connections", "--"]), @r#"
        server.listen = "127.0.0.1:1" {"type":"flag","name":"--listen"} {"type":"replace","line":2} "listen = \"127.0.0.1:1\""
        limits.connections = 4096 {"type":"system","reason":"too few"} {"type":"end"} "[limits]\nconnections = 4096"
        --data-dir = /srv {"type":"environment","name":"THROUGHLINE_HOME"} {"type":"terminal"} "throughline --data-dir FOLDER"
        "#);
    }

    /// T42: what may be a secret is in no answer, and no line to copy would write `[secret]` over it.
    #[test]
    fn secrets_are_neither_shown_nor_copied() {
        let text = "[agents.mine]\ncommand = \"mine\"\nenv = { KEY = \"canary\" }\nargs = [\"--api-key\", \"canary\", \"-u\", \"ada:canary\"]\n\n\
                    [mcp_servers.web]\nurl = \"https://ada:canary@web.example/mcp?key=canary\"\nheaders = { Authorization = \"canary\" }\n\n\
                    [mcp_servers]\nhook = { url = \"https://web.example/hooks/canary\" }\n\
                    run = { command = \"run\", args = [\"--header\", \"Authorization: canary\", \"KEY=canary\"] }\n\n\
                    [summaries]\nprovider = \"openai\"\nmodel = \"small\"\nurl = \"https://web.example/canary/v1\"\n";
        let settings = report(Some(text), &Start::default());
        let json = serde_json::to_string(&settings).unwrap();
        assert!(!json.contains("canary"), "{json}");
        assert_snapshot!(shown(&settings, &["agents.", "mcp_servers.", "summaries.url"]), @r#"
        agents.mine.command = "mine" {"type":"config","line":2} {"type":"replace","line":2} "command = \"mine\""
        agents.mine.args = ["--api-key", "[secret]", "-u", "[secret]"] {"type":"config","line":4} {"type":"replace","line":4} "args = [\"--api-key\", \"…\", \"-u\", \"…\"]"
        agents.mine.env = { KEY = "[secret]" } {"type":"config","line":3} {"type":"replace","line":3} "env = { KEY = \"…\" }"
        mcp_servers.hook.url = "https://web.example/[secret]" {"type":"config","line":11} {"type":"replace","line":11} "hook = { url = \"https://web.example/…\" }"
        mcp_servers.run.command = "run" {"type":"config","line":12} {"type":"replace","line":12} "run = { args = [\"--header\", \"…\", \"…\"], command = \"run\" }"
        mcp_servers.run.args = ["--header", "[secret]", "[secret]"] {"type":"config","line":12} {"type":"replace","line":12} "run = { args = [\"--header\", \"…\", \"…\"], command = \"run\" }"
        mcp_servers.web.url = "https://[secret]@web.example/mcp?[secret]" {"type":"config","line":7} {"type":"replace","line":7} "url = \"https://…@web.example/mcp?…\""
        mcp_servers.web.headers = { Authorization = "[secret]" } {"type":"config","line":8} {"type":"replace","line":8} "headers = { Authorization = \"…\" }"
        summaries.url = "https://web.example/[secret]" {"type":"config","line":17} {"type":"replace","line":17} "url = \"https://web.example/…\""
        "#);
    }

    /// Every line, written where it is said to go, gives a file that is read, and changes nothing but that key.
    #[test]
    fn each_line_can_be_written_where_it_is_said_to_go() {
        let texts = [
            "",
            "[server]\nlisten = \"127.0.0.1:1\"\n\n[permissions.rules]\n\"*.delete\" = \"deny\"\n",
            "server.listen = \"127.0.0.1:1\"\nlimits.max_agents = 3\n",
            "[agents.claude.env]\nA = \"b\"\n\n[agents.codex]\nshared = true\n",
            "[agents]\nmine = { command = \"x\", shared = true, env = { A = \"b\" } }\nclaude.shared = true\n",
            "agents = { mine = { command = \"x\", title = \"Mine\" } }\nserver = { listen = \"127.0.0.1:1\" }\n",
            "prices.\"lab/x 1.5\" = { input = 1.5, output = 2, currency = \"EUR\" }\n",
            "[prices.\"gpt-5.1\"]\ninput = 1\noutput = 2\n[prices]\n'a.b'.input = 3\n'a.b'.output = 4\n",
        ];
        for text in texts {
            let before: toml::Table = text.parse().unwrap();
            for setting in report(Some(text), &Start::default()).values {
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                let written = setting.change.text.clone();
                match setting.change.place {
                    ChangePlace::Replace { line } => lines[line - 1] = written,
                    ChangePlace::Below { line } => lines.insert(line, written),
                    ChangePlace::End => lines.push(written),
                    ChangePlace::Terminal => continue,
                }
                let changed = lines.join("\n");
                let table = changed.parse::<toml::Table>();
                assert!(table.is_ok(), "{} in {text:?} gives {changed:?}: {table:?}", setting.key);
                let table = table.unwrap();
                super::super::keys::check(&table).unwrap();
                for key in leaves(&before) {
                    let kept = leaves(&table).contains(&key) || setting.key == key || is_within(&key, &setting.key);
                    assert!(kept, "{} takes {key} away from {text:?}: {changed:?}", setting.key);
                }
            }
        }
    }

    fn is_within(key: &str, section: &str) -> bool {
        key.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
    }

    /// The paths of all values that are no tables.
    fn leaves(table: &toml::Table) -> Vec<String> {
        let below = |(name, value): (&String, &toml::Value)| match value {
            toml::Value::Table(inner) => {
                leaves(inner).into_iter().map(|rest| format!("{}.{rest}", quoted(name))).collect()
            }
            _ => vec![quoted(name)],
        };
        table.iter().flat_map(below).collect()
    }

    #[test]
    fn what_is_named_with_dots_or_written_in_one_line_is_shown_with_its_line() {
        let text = "[agents]\nmine = { command = \"x\", shared = true }\n[prices.\"gpt-5.1\"]\ninput = 1\noutput = 2\n";
        assert_snapshot!(shown(&report(Some(text), &Start::default()), &["agents.", "prices."]), @r#"
        agents.mine.command = "x" {"type":"config","line":2} {"type":"replace","line":2} "mine = { command = \"x\", shared = true }"
        agents.mine.shared = true {"type":"config","line":2} {"type":"replace","line":2} "mine = { command = \"x\", shared = true }"
        prices."gpt-5.1".input = 1.0 {"type":"config","line":4} {"type":"replace","line":4} "input = 1.0"
        prices."gpt-5.1".output = 2.0 {"type":"config","line":5} {"type":"replace","line":5} "output = 2.0"
        "#);
    }

    #[test]
    fn every_key_has_its_words_and_an_example_that_is_toml() {
        for (section, keys) in KEYS {
            for key in *keys {
                let words = words::find(section, key).unwrap_or_else(|| panic!("{section}.{key} has no words"));
                assert!(words.about.ends_with('.'), "{}", words.key);
                assert!(format!("x = {}", words.example).parse::<toml::Table>().is_ok(), "{}", words.key);
            }
        }
        let listed: usize = KEYS.iter().map(|(_, keys)| keys.len()).sum();
        assert_eq!(words::WORDS.len(), listed, "no word is of a key that is gone");
    }
}
