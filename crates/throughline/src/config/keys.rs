//! Every key that `config.toml` may have, to suggest the one that was meant.

use anyhow::{Result, bail};

/// By section; `*` is a name that the person chooses.
pub(super) const KEYS: &[(&str, &[&str])] = &[
    ("server", &["listen", "mcp_listen", "hosts", "behind_proxy", "tls"]),
    ("server.tls", &["certificates", "key"]),
    (
        "limits",
        &[
            "connections",
            "requests_per_second",
            "max_agents",
            "agent_memory_mb",
            "silence_minutes",
            "agent_start_seconds",
            "agent_stop_seconds",
        ],
    ),
    (
        "agents.*",
        &["command", "args", "env", "pass_env", "title", "description", "shared", "enabled", "all_sessions", "show"],
    ),
    ("mcp_servers.*", &["url", "headers", "command", "args", "env"]),
    ("permissions", &["default", "rules"]),
    ("brief", &["enabled", "text"]),
    ("tools", &["all_sessions", "show"]),
    ("page", &["specs_label"]),
    ("outputs", &["max_mb", "session_mb", "session_count", "keep_days", "shape_terminal", "command_seconds"]),
    ("summaries", &["provider", "model", "url", "key_env", "key_file", "allow_plain", "daily_calls", "titles"]),
    ("usage", &["warn_session", "warn_day"]),
    ("prices.*", &["input", "output", "cached", "cache_write", "currency"]),
];

/// Refuses unknown keys, and suggests a known one.
pub(super) fn check(table: &toml::Table) -> Result<()> {
    check_section("", "", table)
}

/// `section` as the person wrote it, and as it is `listed`.
fn check_section(section: &str, listed: &str, table: &toml::Table) -> Result<()> {
    let within =
        |section: &str, key: &str| if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
    for (key, value) in table {
        let is_named_by_the_person = is_open(listed);
        // Models are named by others.
        if is_named_by_the_person && listed != "prices" && !agents::is_name(key) {
            let most = agents::MAX_NAME_CHARS;
            bail!("{key:?} is no name for one of the {section}: use 1 to {most} small letters, digits and hyphens");
        }
        let name = within(section, key);
        let listed_name = within(listed, if is_named_by_the_person { "*" } else { key });
        let is_section = is_named_by_the_person || is_open(&listed_name) || keys_of(&listed_name).is_some();
        let is_key = keys_of(listed).is_some_and(|keys| keys.contains(&key.as_str()));
        if !is_section && !is_key {
            bail!("there is no key {name}; did you mean {}?", nearest(section, listed, key));
        }
        if let (true, toml::Value::Table(inner)) = (is_section, value) {
            check_section(&name, &listed_name, inner)?;
        }
    }
    Ok(())
}

/// Whether the person chooses the names in this section.
fn is_open(listed: &str) -> bool {
    KEYS.iter().any(|(known, _)| known.strip_suffix(".*") == Some(listed))
}

fn keys_of(listed: &str) -> Option<&'static [&'static str]> {
    KEYS.iter().find(|(known, _)| *known == listed).map(|(_, keys)| *keys)
}

/// The key of the same section that is most similar to `key`; at the top, the section.
fn nearest(section: &str, listed: &str, key: &str) -> String {
    match keys_of(listed) {
        Some(keys) => format!("{section}.{}", most_like(key, keys.iter().copied())),
        None => most_like(key, KEYS.iter().map(|(known, _)| known.trim_end_matches(".*"))).to_owned(),
    }
}

/// The candidate that is most similar to a word.
pub(super) fn most_like<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> &'a str {
    let likeness = |candidate: &str| strsim::jaro_winkler(candidate, word);
    candidates.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::Config;

    /// Has a value for every key.
    const FULL: &str = r#"
        [server]
        listen = "127.0.0.1:1"
        mcp_listen = "127.0.0.1:2"
        hosts = ["box.example"]
        behind_proxy = false
        tls = { certificates = "a", key = "b" }

        [limits]
        connections = 1
        requests_per_second = 1.0
        max_agents = 1
        agent_memory_mb = 1024
        silence_minutes = 1
        agent_start_seconds = 1
        agent_stop_seconds = 1

        [agents.mine]
        command = "mine"
        args = ["acp"]
        env = { A = "b" }
        pass_env = ["C"]
        title = "Mine"
        description = "My own."
        shared = true
        enabled = true
        all_sessions = true
        show = true

        [mcp_servers.web]
        url = "https://web.example"
        headers = { A = "b" }

        [mcp_servers.local]
        command = "local"
        args = ["a"]
        env = { A = "b" }

        [permissions]
        default = "ask"
        rules = { "mine.read" = "allow" }

        [brief]
        enabled = true
        text = "Mark what you read."

        [tools]
        all_sessions = true
        show = false

        [page]
        specs_label = "Projects"

        [outputs]
        max_mb = 1
        session_mb = 1
        session_count = 1
        keep_days = 1
        shape_terminal = false
        command_seconds = 1

        [summaries]
        provider = "openai"
        model = "small-1"
        url = "https://models.example/v1"
        key_env = "MODELS_KEY"
        allow_plain = false
        daily_calls = 1
        titles = true

        [usage]
        warn_session = "5 USD"
        warn_day = "20 USD"

        [prices."lab/model-4.1"]
        input = 1.5
        output = 6.0
        cached = 0.15
        cache_write = 2.0
        currency = "EUR"
    "#;

    /// Keys that exclude something in [`FULL`].
    const INSTEAD: &str = r#"
        [summaries]
        provider = "openai"
        model = "small-1"
        key_file = "/etc/throughline/key"
    "#;

    /// The list and the structs cannot drift apart: every listed key is accepted, and every printed key is listed.
    #[test]
    fn every_key_is_listed() {
        let printed = [FULL, INSTEAD].map(|text| {
            let printed = toml::to_string(&Config::parse(text).unwrap()).unwrap();
            printed.parse::<toml::Table>().unwrap()
        });
        let mut written = BTreeSet::new();
        for printed in &printed {
            check(printed).unwrap();
            for (section, _) in KEYS {
                let (parent, is_open) = section.strip_suffix(".*").map_or((*section, false), |parent| (parent, true));
                let inner = |table: &'_ toml::Value| table.as_table().cloned();
                let found = parent.split('.').try_fold(printed.clone(), |table, name| inner(table.get(name)?));
                let Some(table) = found else { continue };
                let tables = if is_open { table.values().filter_map(inner).collect() } else { vec![table] };
                let keys = tables.iter().flat_map(toml::Table::keys);
                written.extend(keys.map(|key| (*section, key.clone())));
            }
        }
        let listed = KEYS.iter().flat_map(|(section, keys)| keys.iter().map(|key| (*section, (*key).to_owned())));
        assert_eq!(written, listed.collect());
    }
}
