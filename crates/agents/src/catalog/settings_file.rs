//! Writes the settings file for an agent.
//!
//! Invariant: our settings override the person's own file of the same rank, and everything else of that file stays. A
//! file that can not be parsed is left to the agent as it is, so that nothing of it is lost.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};

use super::CatalogEntry;

/// The largest file of a person that is merged.
const MAX_OWN_BYTES: u64 = 1 << 20;

impl CatalogEntry {
    /// Writes the agent's settings file into a private folder, if it takes one, and names it in `env`.
    pub(crate) fn write_settings(&self, folder: &Path, env: &mut BTreeMap<String, String>) {
        let Some(file) = self.quirks.settings_file else { return };
        let variable = file.variable();
        let own = match env.get(variable).filter(|path| !path.is_empty()).map(|path| read(Path::new(path))) {
            None => Map::new(),
            Some(Ok(own)) => own,
            Some(Err(err)) => {
                tracing::warn!(agent = self.name, error = %err, "the file that {variable} names is left as it is");
                return;
            }
        };
        let path = folder.join(format!("{}-settings.json", self.name));
        match (
            write_private(&path, &merged(Value::Object(own), file.settings(&self.own_tools)).to_string()),
            path.to_str(),
        ) {
            (Ok(()), Some(path)) => drop(env.insert(variable.to_owned(), path.to_owned())),
            (Err(err), _) => tracing::warn!(agent = self.name, error = %err, "could not write its settings"),
            (Ok(()), None) => tracing::warn!(agent = self.name, "its settings lie at a path that is not text"),
        }
    }
}

fn read(path: &Path) -> io::Result<Map<String, Value>> {
    let mut text = String::new();
    match fs::File::open(path) {
        Ok(file) => file.take(MAX_OWN_BYTES).read_to_string(&mut text)?,
        // The agent treats a missing file as empty too.
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(err) => return Err(err),
    };
    Ok(serde_json::from_str(&text)?)
}

/// Lists are concatenated; of other values the upper one wins.
fn merged(under: Value, over: Value) -> Value {
    match (under, over) {
        (Value::Object(mut under), Value::Object(over)) => {
            for (name, value) in over {
                let value = match under.remove(&name) {
                    Some(earlier) => merged(earlier, value),
                    None => value,
                };
                under.insert(name, value);
            }
            Value::Object(under)
        }
        (Value::Array(mut under), Value::Array(over)) => {
            under.extend(over);
            Value::Array(under)
        }
        (_, over) => over,
    }
}

/// Writes the whole file or nothing, readable by its owner only. An agent that reads meanwhile sees the old file.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let beside = path.with_extension("new");
    // Left over from a crash, perhaps with other permissions.
    match fs::remove_file(&beside) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => return Err(err),
        Ok(()) | Err(_) => (),
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?.write_all(text.as_bytes())?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::json;

    use super::*;
    use crate::catalog::Catalog;

    const VARIABLE: &str = "QWEN_CODE_SYSTEM_DEFAULTS_PATH";

    fn own_tools() -> [crate::OwnTool; 2] {
        ["mark", "look_back"].map(|name| crate::OwnTool {
            server: crate::OWN_MCP_SERVER,
            name: name.to_owned(),
            asks_itself: false,
        })
    }

    fn given(folder: &Path, own: Option<&Path>) -> Option<String> {
        let catalog = Catalog::new("/p/throughline", &own_tools(), BTreeMap::new()).unwrap();
        let own = own.map(|path| (VARIABLE.to_owned(), path.to_str().unwrap().to_owned()));
        let mut env = own.into_iter().collect();
        catalog.find_entry("qwen").unwrap().write_settings(folder, &mut env);
        env.remove(VARIABLE)
    }

    fn read_json(path: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn qwen_is_told_to_ask_and_to_show_its_model_the_tools() {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            let path = given(folder.path(), None).unwrap();
            let written = read_json(&path);
            assert_eq!(written["tools"], json!({ "approvalMode": "default", "toolSearch": { "enabled": false } }));
            assert_eq!(written["permissions"]["allow"][0], "mcp__throughline__mark");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_of_the_persons_own_is_kept_and_still_it_asks() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own.json");
        fs::write(
            &own,
            r#"{"model": {"name": "m"}, "tools": {"approvalMode": "yolo"}, "permissions": {"allow": ["a"]}}"#,
        )
        .unwrap();
        let path = given(folder.path(), Some(&own)).unwrap();
        let written = read_json(&path);
        assert_eq!(written["model"], json!({ "name": "m" }));
        assert_eq!(written["tools"], json!({ "approvalMode": "default", "toolSearch": { "enabled": false } }));
        let allowed = written["permissions"]["allow"].as_array().unwrap();
        assert_eq!((&allowed[0], allowed.len()), (&json!("a"), 1 + own_tools().len()));

        let missing = given(folder.path(), Some(&folder.path().join("missing.json"))).unwrap();
        assert_eq!(read_json(&missing)["tools"]["approvalMode"], "default");
        // Qwen's parser accepts comments, and ours does not.
        fs::write(&own, "{ // mine\n \"model\": {} }").unwrap();
        assert_eq!(given(folder.path(), Some(&own)).as_deref(), own.to_str());
    }

    #[test]
    fn other_agents_are_given_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut env = BTreeMap::new();
        let catalog = Catalog::new("/p/throughline", &[], BTreeMap::new()).unwrap();
        catalog.find_entry("claude").unwrap().write_settings(folder.path(), &mut env);
        assert!(env.is_empty() && fs::read_dir(folder.path()).unwrap().next().is_none());
    }
}
