//! Describes what is wrong with a value in `config.toml`: the line, the key, and what it takes.
//!
//! Invariant: the value itself is never repeated, for it may be a secret; the library's own text would show its line.

use anyhow::{Error, anyhow};

/// The parser's error, with its line.
pub(super) fn at_line(text: &str, err: &toml::de::Error) -> Error {
    let place = err.span().map_or(0, |span| span.start).min(text.len());
    let line = text.as_bytes()[..place].iter().filter(|byte| **byte == b'\n').count() + 1;
    anyhow!("line {line}: {}", without_value(err.message()))
}

/// The same for a value of the wrong type.
pub(super) fn in_value(text: &str, err: &toml::de::Error) -> Error {
    let place = err.span().map_or(0, |span| span.start).min(text.len());
    let lines: Vec<&str> = text.lines().collect();
    let line = text.as_bytes()[..place].iter().filter(|byte| **byte == b'\n').count();
    let key = key_at(&lines, line).unwrap_or_default();
    let told = in_plain_words(&without_value(err.message()), &key);
    let key = if key.is_empty() { key } else { format!(", {key}") };
    anyhow!("line {}{key}: {told}", line + 1)
}

/// Removes the found value from the message and keeps what was expected.
fn without_value(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    match message.split_once(", expected ") {
        Some((said, expected)) if said.starts_with("invalid") || said.starts_with("unknown variant") => {
            format!("expected {expected}")
        }
        Some(_) | None => message.to_owned(),
    }
}

/// Replaces Rust's type names in the parser's message.
fn in_plain_words(message: &str, key: &str) -> String {
    if let Some(missing) = message.strip_prefix("missing field ") {
        return format!("{missing} is missing");
    }
    let plain = match message.strip_prefix("expected ").unwrap_or(message) {
        "socket address" | "invalid socket address syntax" => "an address with a port, such as \"127.0.0.1:7417\"",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number without quotes, such as 64",
        "i64" | "f64" => "a number without quotes, such as 1.5",
        "a boolean" => "true or false, without quotes",
        "a string" => "a text in quotes, such as \"text\"",
        "path string" => "a path in quotes, such as \"/etc/throughline/key\"",
        "a sequence" => "a list, such as [\"one\", \"two\"]",
        expected if expected == "a map" || expected.starts_with("struct ") => {
            return format!("expected a section of its own: [{key}], with its keys below it");
        }
        // One of several words, or a text of our own.
        _ => return message.to_owned(),
    };
    format!("expected {plain}")
}

/// The whole key of a line, as far as the line shows it.
fn key_at(lines: &[&str], line: usize) -> Option<String> {
    let is_key = |key: &&str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    let key = lines.get(line)?.split_once('=').map(|(key, _)| key.trim()).filter(is_key);
    let section = lines[..=line].iter().rev().find_map(|line| line.trim().strip_prefix('['));
    let section = section.and_then(|rest| rest.split(']').next()).map(|name| name.trim_matches('[').trim());
    let parts: Vec<&str> = section.filter(is_key).into_iter().chain(key).collect();
    (!parts.is_empty()).then(|| parts.join("."))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::config::Config;

    #[test]
    fn mistakes_are_told_in_plain_words_with_the_key_and_an_example() {
        let texts = [
            "[server]\nlisten = \"everywhere\"",
            "[server]\nlisten = 7417",
            "[server]\nhosts = \"box.example\"",
            "[server]\nbehind_proxy = \"yes\"",
            "[server]\ntls = true",
            "[server]\ntls = { certificates = 5, key = \"canary\" }",
            "[server.tls]\nkey = \"canary\"",
            "server = 5",
            "[limits]\nconnections = \"many\"",
            "[limits]\nconnections = -1",
            "[limits]\nmax_agents = 1.5",
            "[limits]\nsilence_minutes = \"10\"",
            "[agents]\nmine = \"canary\"",
            "[agents.mine]\ncommand = \"x\"\nargs = [\n  \"canary\",\n  5,\n]",
            "[permissions]\ndefault = \"never\"",
            "[summaries]\nprovider = \"opneai\"",
            "[page]\nspecs_label = 5",
        ];
        let told: Vec<String> =
            texts.iter().map(|text| Config::parse(text).unwrap_err().root_cause().to_string()).collect();
        let told = told.join("\n");
        assert!(!told.contains("canary"), "{told}");
        assert_snapshot!(told, @r#"
        line 2, server.listen: expected an address with a port, such as "127.0.0.1:7417"
        line 2, server.listen: expected an address with a port, such as "127.0.0.1:7417"
        line 2, server.hosts: expected a list, such as ["one", "two"]
        line 2, server.behind_proxy: expected true or false, without quotes
        line 2, server.tls: expected a section of its own: [server.tls], with its keys below it
        line 2, server.tls: expected a path in quotes, such as "/etc/throughline/key"
        line 1, server.tls: `certificates` is missing
        line 1, server: expected a section of its own: [server], with its keys below it
        line 2, limits.connections: expected a whole number without quotes, such as 64
        line 2, limits.connections: expected a whole number without quotes, such as 64
        line 2, limits.max_agents: expected a whole number without quotes, such as 64
        line 2, limits.silence_minutes: expected a number without quotes, such as 1.5
        line 2, agents.mine: expected a section of its own: [agents.mine], with its keys below it
        line 5, agents.mine: expected a text in quotes, such as "text"
        line 2, permissions.default: expected one of `ask`, `allow`, `deny`
        line 2, summaries.provider: expected one of `openai`, `anthropic`, `ollama`
        line 2, page.specs_label: expected a text in quotes, such as "text"
        "#);
    }
}
