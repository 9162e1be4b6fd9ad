//! Makes a fixture from a recording: no folder, home, key or name of this machine, and no list longer than a test
//! needs.

use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use super::tee::{self, From};

const LAB: &str = "/lab";
/// A longer line is parsed and its lists are cut.
const LONG_LINE: usize = 2_000;
const KEPT_OF_A_LIST: usize = 5;
const KEPT_OF_A_TEXT: usize = 200;

pub(super) fn fixture(raw: &str, lab: &Path) -> anyhow::Result<String> {
    let own = std::env::current_exe().context("could not find this program")?;
    let tools = own.ancestors().nth(2).map(|target| target.display().to_string()).unwrap_or_default();
    let names = [
        (lab.display().to_string(), LAB.to_owned()),
        (own.display().to_string(), format!("{LAB}/xtask")),
        (tools, format!("{LAB}/target")),
    ];
    let mut fixture = String::new();
    for line in raw.lines() {
        let mut line = line.to_owned();
        for (name, instead) in &names {
            line = line.replace(name.as_str(), instead);
            // Claude writes a folder as one name.
            line = line.replace(&name.replace(['/', '.', '_'], "-"), "-lab");
        }
        let mut entry: Value = serde_json::from_str(&line).context("the recording has a line that is no JSON")?;
        let from = if entry["from"] == "agent" { From::Agent } else { From::Client };
        let said = match entry["line"].take() {
            Value::String(text) => text,
            mut message if line.len() > LONG_LINE => {
                shorten(&mut message);
                message.to_string()
            }
            _ => raw_line(&line).context("the recording has a line without its message")?.to_owned(),
        };
        fixture += &tee::entry(from, &said);
        fixture.push('\n');
    }
    Ok(fixture)
}

/// The message's original text, not as a parser would write it again.
fn raw_line(entry: &str) -> Option<&str> {
    let (_, rest) = entry.split_once("\"line\":")?;
    rest.strip_suffix('}')
}

fn shorten(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.truncate(KEPT_OF_A_LIST);
            items.iter_mut().for_each(shorten);
        }
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(KEPT_OF_A_TEXT) {
                text.truncate(end);
                text.push('…');
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => (),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn folders_are_renamed_and_the_rest_is_kept() {
        let raw = r#"{"atMs":3,"from":"agent","line":{ "b":"/tmp/x/work", "a":"-tmp-x-work" }}"#;
        let expected = "{\"from\":\"agent\",\"line\":{ \"b\":\"/lab/work\", \"a\":\"-lab-work\" }}\n";
        assert_eq!(fixture(raw, Path::new("/tmp/x")).unwrap(), expected);
    }

    #[test]
    fn long_lists_and_texts_are_cut() {
        let mut value = json!({ "list": vec![1; 100], "text": "é".repeat(3_000) });
        shorten(&mut value);
        assert_eq!(value["list"].as_array().unwrap().len(), KEPT_OF_A_LIST);
        assert_eq!(value["text"].as_str().unwrap().chars().count(), KEPT_OF_A_TEXT + 1);
    }
}
