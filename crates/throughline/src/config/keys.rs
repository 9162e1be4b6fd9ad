//! Every key that `config.toml` may have, for the word "did you mean".

use anyhow::{Result, bail};

/// By section; `*` is a name that the person gives.
const KEYS: &[(&str, &[&str])] = &[
    ("server", &["listen", "hosts", "behind_proxy", "tls"]),
    ("server.tls", &["certificates", "key"]),
    (
        "limits",
        &[
            "connections",
            "requests_per_second",
            "agent_memory_mb",
            "silence_minutes",
            "agent_start_seconds",
            "agent_stop_seconds",
        ],
    ),
    ("agents.*", &["command", "args", "env", "pass_env", "title", "description", "shared", "enabled"]),
    ("mcp_servers.*", &["url", "headers", "command", "args", "env"]),
    ("permissions", &["default", "rules"]),
    ("brief", &["enabled", "text"]),
];

/// Refuses what is not known, and names what it may have been meant to be.
pub(super) fn check(table: &toml::Table) -> Result<()> {
    check_section("", table)
}

fn check_section(section: &str, table: &toml::Table) -> Result<()> {
    for (key, value) in table {
        let name = if section.is_empty() { key.clone() } else { format!("{section}.{key}") };
        let is_named_by_the_person = is_open(section);
        if is_named_by_the_person && !agents::is_name(key) {
            let most = agents::MAX_NAME_CHARS;
            bail!("{key:?} is no name for one of the {section}: use 1 to {most} small letters, digits and hyphens");
        }
        let is_section = is_named_by_the_person || is_open(&name) || keys_of(&name).is_some();
        let is_key = keys_of(section).is_some_and(|keys| keys.contains(&key.as_str()));
        if !is_section && !is_key {
            bail!("there is no key {name}; did you mean {}?", nearest(section, key));
        }
        if let (true, toml::Value::Table(inner)) = (is_section, value) {
            check_section(&name, inner)?;
        }
    }
    Ok(())
}

/// Whether the person names what is in this section.
fn is_open(section: &str) -> bool {
    KEYS.iter().any(|(known, _)| known.strip_suffix(".*") == Some(section))
}

fn keys_of(section: &str) -> Option<&'static [&'static str]> {
    let parent = section.rsplit_once('.').map_or("", |(parent, _)| parent);
    let is_it = |known: &str| known == section || known.strip_suffix(".*").is_some_and(|open| open == parent);
    KEYS.iter().find(|(known, _)| is_it(known)).map(|(_, keys)| *keys)
}

/// The key of the same section that is most like `key`; at the top, the section.
fn nearest(section: &str, key: &str) -> String {
    match keys_of(section) {
        Some(keys) => format!("{section}.{}", most_like(key, keys.iter().copied())),
        None => most_like(key, KEYS.iter().map(|(known, _)| known.trim_end_matches(".*"))).to_owned(),
    }
}

/// Which of the candidates is most like a word.
pub(super) fn most_like<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> &'a str {
    let likeness = |candidate: &str| strsim::jaro_winkler(candidate, word);
    candidates.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::Config;

    /// Says something for every key there is.
    const FULL: &str = r#"
        [server]
        listen = "127.0.0.1:1"
        hosts = ["box.example"]
        behind_proxy = false
        tls = { certificates = "a", key = "b" }

        [limits]
        connections = 1
        requests_per_second = 1.0
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
    "#;

    /// The list and the structs cannot drift apart: what is listed is taken, and what is printed is listed.
    #[test]
    fn every_key_is_listed() {
        let config = Config::parse(FULL).unwrap();
        let printed: toml::Table = toml::to_string(&config).unwrap().parse().unwrap();
        check(&printed).unwrap();
        let mut written = BTreeSet::new();
        for (section, _) in KEYS {
            let (parent, is_open) = section.strip_suffix(".*").map_or((*section, false), |parent| (parent, true));
            let table = parent.split('.').fold(&printed, |table, name| table[name].as_table().unwrap());
            let tables =
                if is_open { table.values().map(|inner| inner.as_table().unwrap()).collect() } else { vec![table] };
            written.extend(tables.into_iter().flat_map(toml::Table::keys).map(|key| (*section, key.as_str())));
        }
        let listed = KEYS.iter().flat_map(|(section, keys)| keys.iter().map(|key| (*section, *key)));
        assert_eq!(written, listed.collect());
    }
}
