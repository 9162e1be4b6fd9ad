//! A home for each agent: settings that name the scripted model, and an environment that leads nowhere else.
//!
//! Invariant: an agent gets only what is set here; nothing of the person's own homes, keys and proxies.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::catalog::{Agent, Settings};
use super::install;

/// A port that nobody listens on: requests to the network fail at once instead of hanging.
const CLOSED_PROXY: &str = "http://127.0.0.1:9";
const LOCAL_HOSTS: &str = "127.0.0.1,localhost";
const MODEL: &str = "scripted";
/// No secret: the scripted model accepts any key.
const KEY: &str = "lab-key";

pub(super) struct Home {
    /// The agent's working directory.
    pub(super) work: PathBuf,
    /// The environment, which the server gets too: the home, and where programs are.
    pub(super) environment: BTreeMap<String, String>,
}

impl Home {
    /// Makes a home in an empty folder.
    pub(super) fn make(agent: &Agent, tools: &Path, folder: &Path, model: SocketAddr) -> anyhow::Result<Self> {
        let (home, work) = (folder.join("home"), folder.join("work"));
        for folder in [&home, &work] {
            fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
        }
        let made = Command::new("git").args(["init", "--quiet"]).current_dir(&work).status();
        ensure!(made.context("could not start git")?.success(), "could not make a repository in {}", work.display());
        let mut environment = common_environment(agent, &home, tools)?;
        let model = format!("http://{model}");
        let own: &[(&str, String)] = match agent.settings {
            Settings::Codex => &codex(&home, &model)?,
            Settings::Opencode => &opencode(&home, &model)?,
            Settings::Claude => &claude(&home, &model),
            Settings::Gemini => &gemini(&home, &model)?,
            Settings::Qwen => &qwen(&home, &model)?,
            Settings::Kimi => &kimi(&home, &model)?,
            Settings::Copilot => &copilot(&model),
        };
        environment.extend(own.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        Ok(Self { work, environment })
    }
}

fn common_environment(agent: &Agent, home: &Path, tools: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut environment = BTreeMap::from([("PATH".to_owned(), install::search_path(tools, Some(agent))?)]);
    environment.insert("HOME".to_owned(), home.display().to_string());
    for (name, inside) in [
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_CACHE_HOME", ".cache"),
    ] {
        environment.insert(name.to_owned(), home.join(inside).display().to_string());
    }
    for (name, value) in [
        ("HTTPS_PROXY", CLOSED_PROXY),
        ("https_proxy", CLOSED_PROXY),
        ("NO_PROXY", LOCAL_HOSTS),
        ("no_proxy", LOCAL_HOSTS),
        ("NO_COLOR", "1"),
    ] {
        environment.insert(name.to_owned(), value.to_owned());
    }
    Ok(environment)
}

fn codex(home: &Path, model: &str) -> anyhow::Result<[(&'static str, String); 2]> {
    let folder = home.join(".codex");
    let settings = format!(
        r#"model = "{MODEL}"
model_provider = "lab"
model_reasoning_summary = "auto"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.lab]
name = "Lab"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "LAB_KEY"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
"#
    );
    write(&folder.join("config.toml"), &settings)?;
    Ok([("CODEX_HOME", folder.display().to_string()), ("LAB_KEY", KEY.to_owned())])
}

fn opencode(home: &Path, model: &str) -> anyhow::Result<[(&'static str, String); 3]> {
    let name = format!("lab/{MODEL}");
    let settings = json!({
        "autoupdate": false,
        "share": "disabled",
        "model": name,
        "small_model": name,
        "permission": { "bash": "ask" },
        "provider": { "lab": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Lab",
            "options": { "baseURL": format!("{model}/v1"), "apiKey": KEY },
            "models": { MODEL: { "name": "Scripted", "reasoning": true, "limit": { "context": 100_000, "output": 4096 } } },
        } },
    });
    write(&home.join(".config/opencode/opencode.json"), &settings.to_string())?;
    Ok(["OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD", "OPENCODE_DISABLE_DEFAULT_PLUGINS"]
        .map(|name| (name, "1".to_owned())))
}

fn claude(home: &Path, model: &str) -> [(&'static str, String); 6] {
    let yes = || "1".to_owned();
    [
        ("ANTHROPIC_BASE_URL", model.to_owned()),
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        ("CLAUDE_CONFIG_DIR", home.join(".claude").display().to_string()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", yes()),
        ("DISABLE_TELEMETRY", yes()),
        // The lab may run as root in a container, which it otherwise refuses.
        ("IS_SANDBOX", yes()),
    ]
}

fn gemini(home: &Path, model: &str) -> anyhow::Result<[(&'static str, String); 3]> {
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
    });
    write(&home.join(".gemini/settings.json"), &settings.to_string())?;
    Ok([
        ("GEMINI_API_KEY", KEY.to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", model.to_owned()),
        ("GEMINI_CLI_NO_RELAUNCH", "1".to_owned()),
    ])
}

fn qwen(home: &Path, model: &str) -> anyhow::Result<[(&'static str, String); 3]> {
    // Neither how it asks nor how it shows tools is set here: the server has to do that.
    let settings = json!({
        "security": { "auth": { "selectedType": "openai" } },
        "general": { "enableAutoUpdate": false },
        "privacy": { "usageStatisticsEnabled": false },
        "model": { "name": MODEL },
    });
    write(&home.join(".qwen/settings.json"), &settings.to_string())?;
    Ok([
        ("OPENAI_API_KEY", KEY.to_owned()),
        ("OPENAI_BASE_URL", format!("{model}/v1")),
        ("OPENAI_MODEL", MODEL.to_owned()),
    ])
}

fn kimi(home: &Path, model: &str) -> anyhow::Result<[(&'static str, String); 1]> {
    let folder = home.join(".kimi-code");
    let settings = format!(
        r#"default_model = "lab/{MODEL}"
telemetry = false

[providers.lab]
type = "openai"
base_url = "{model}/v1"
api_key = "{KEY}"

[models."lab/{MODEL}"]
provider = "lab"
model = "{MODEL}"
max_context_size = 100000
"#
    );
    write(&folder.join("config.toml"), &settings)?;
    Ok([("KIMI_CODE_HOME", folder.display().to_string())])
}

fn copilot(model: &str) -> [(&'static str, String); 5] {
    [
        ("COPILOT_PROVIDER_BASE_URL", format!("{model}/v1")),
        ("COPILOT_PROVIDER_TYPE", "openai".to_owned()),
        ("COPILOT_PROVIDER_API_KEY", KEY.to_owned()),
        ("COPILOT_MODEL", MODEL.to_owned()),
        ("COPILOT_OFFLINE", "true".to_owned()),
    ]
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().expect("settings lie in a folder");
    fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
    fs::write(path, text).with_context(|| format!("could not write {}", path.display()))
}
