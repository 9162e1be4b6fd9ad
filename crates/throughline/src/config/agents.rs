//! The parts of `config.toml` about agents: the agents, their MCP servers, and what they may do without asking.

use std::collections::BTreeMap;

use agents::McpServer;
use agents::catalog::{self, Catalog, Change};
use agents::policy::{PermissionPolicy, Policy};
use anyhow::{Result, bail};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::Config;
use super::hidden::{HiddenArgs, HiddenTexts, HiddenUrl};
use super::keys::most_like;

/// The given fields of an agent, known or not; the rest stays as known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AgentSection {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) args: Option<HiddenArgs>,
    #[serde(skip_serializing_if = "HiddenTexts::is_empty")]
    pub(crate) env: HiddenTexts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pass_env: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shared: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) enabled: Option<bool>,
    /// Whether its tools reach sessions of every project; if not given, `[tools]` decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) all_sessions: Option<bool>,
    /// Whether it gets the tools that show something; if not given, `[tools]` decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) show: Option<bool>,
}

/// Either an address with headers or a command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct McpServerSection {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<HiddenUrl>,
    #[serde(skip_serializing_if = "HiddenTexts::is_empty")]
    pub(crate) headers: HiddenTexts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    #[serde(skip_serializing_if = "HiddenArgs::is_empty")]
    pub(crate) args: HiddenArgs,
    #[serde(skip_serializing_if = "HiddenTexts::is_empty")]
    pub(crate) env: HiddenTexts,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PermissionsSection {
    pub(crate) default: PolicyWord,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "rules")]
    pub(crate) rules: BTreeMap<String, PolicyWord>,
}

/// The policy's words in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PolicyWord {
    #[default]
    Ask,
    Allow,
    Deny,
}

impl Config {
    /// All agents that can be named. `own_program` is the full path of this program.
    pub(crate) fn catalog(&self, own_program: &str) -> Result<Catalog> {
        let changes = self.agents.iter().map(|(name, section)| (name.clone(), section.change()));
        Ok(Catalog::new(own_program, &server::own_tools().unasked, changes.collect())?)
    }

    /// The MCP servers that every agent gets.
    pub(crate) fn mcp_servers(&self) -> Result<Vec<McpServer>> {
        self.mcp_servers.iter().map(|(name, section)| section.server(name)).collect()
    }

    /// What agents may do without asking.
    pub(crate) fn permission_policy(&self) -> Result<PermissionPolicy> {
        let PermissionsSection { default, rules } = &self.permissions;
        let rules = rules.iter().map(|(rule, word)| (rule.clone(), (*word).into()));
        Ok(PermissionPolicy::new((*default).into(), rules.collect())?)
    }

    /// Refuses what could only fail later, when somebody waits for it.
    pub(super) fn check_agents(&self) -> Result<()> {
        for (name, section) in &self.agents {
            if section.command.is_none() && !catalog::known_names().any(|known| known == name) {
                let nearest = most_like(name, catalog::known_names());
                bail!("there is no agent {name}: one of your own needs a command; or did you mean agents.{nearest}?");
            }
        }
        self.catalog("/")?;
        self.mcp_servers()?;
        let known: Vec<&str> = catalog::known_names().chain(self.agents.keys().map(String::as_str)).collect();
        if let Some(agent) = self.permission_policy()?.agents().find(|agent| !known.contains(agent)) {
            let nearest = most_like(agent, known.iter().copied());
            bail!("permissions.rules names an agent {agent} that is not there; did you mean {nearest}?");
        }
        Ok(())
    }
}

impl AgentSection {
    fn change(&self) -> Change {
        let Self { command, args, env, pass_env, title, description, shared, enabled, .. } = self.clone();
        let (env, args) = (env.expose().clone(), args.map(|args| args.expose().to_vec()));
        Change { title, description, command, args, env, pass_env, shared, hidden: enabled == Some(false) }
    }
}

impl McpServerSection {
    fn server(&self, name: &str) -> Result<McpServer> {
        let pairs = |texts: &HiddenTexts| texts.expose().clone().into_iter().collect();
        let server = match (&self.url, &self.command) {
            (Some(url), None) if self.args.is_empty() && self.env.is_empty() => {
                let url = url.expose().to_owned();
                McpServer::Http { name: name.to_owned(), url, headers: pairs(&self.headers) }
            }
            (None, Some(command)) if self.headers.is_empty() => {
                let args = self.args.expose().to_vec();
                McpServer::Stdio { name: name.to_owned(), command: command.into(), args, env: pairs(&self.env) }
            }
            _ => {
                bail!("mcp_servers.{name} has either url, perhaps with headers, or command, perhaps with args and env")
            }
        };
        server.check()?;
        Ok(server)
    }
}

impl From<PolicyWord> for Policy {
    fn from(word: PolicyWord) -> Self {
        match word {
            PolicyWord::Ask => Self::Ask,
            PolicyWord::Allow => Self::Allow,
            PolicyWord::Deny => Self::Deny,
        }
    }
}

/// TOML reads an unquoted `claude.read = …` as a table in a table; it means the same rule.
fn rules<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, PolicyWord>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Rule {
        Whole(PolicyWord),
        OfAgent(BTreeMap<String, PolicyWord>),
    }
    let wrong = |_| D::Error::custom("expected rules such as \"claude.read\" = \"allow\", with ask, allow or deny");
    let mut rules = BTreeMap::new();
    for (name, rule) in BTreeMap::<String, Rule>::deserialize(deserializer).map_err(wrong)? {
        let named = match rule {
            Rule::Whole(word) => vec![(name, word)],
            Rule::OfAgent(kinds) => kinds.into_iter().map(|(kind, word)| (format!("{name}.{kind}"), word)).collect(),
        };
        for (rule, word) in named {
            if rules.insert(rule.clone(), word).is_some() {
                return Err(D::Error::custom(format!("the rule {rule} is there twice")));
            }
        }
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use agents::policy::Decision;
    use model::ToolKind;

    use super::*;

    #[track_caller]
    fn check_refused(text: &str, expected: &str) {
        let err = format!("{:#}", Config::parse(text).unwrap_err());
        assert!(err.contains(expected), "{err}");
        assert!(!err.contains("canary"), "{err}");
    }

    #[test]
    fn agents_are_added_changed_and_hidden() {
        let text = r#"
            [agents.claude]
            env = { ANTHROPIC_BASE_URL = "https://proxy.example" }

            [agents.codex]
            enabled = false

            [agents.mine]
            command = "/opt/mine/agent"
            args = ["--acp"]
            pass_env = ["MINE_*"]
            title = "Mine"
            description = "My own."
            shared = true
        "#;
        let catalog = Config::parse(text).unwrap().catalog("/opt/throughline").unwrap();
        let claude = catalog.find_entry("claude").unwrap();
        assert_eq!(claude.env["ANTHROPIC_BASE_URL"], "https://proxy.example");
        assert_eq!(claude.env["ENABLE_TOOL_SEARCH"], "false");
        assert!(catalog.find_entry("codex").is_none());
        let mine = catalog.find_entry("mine").unwrap();
        assert_eq!((mine.title.as_str(), mine.command.as_str(), mine.shared), ("Mine", "/opt/mine/agent", true));
        assert_eq!(mine.passed(["MINE_KEY", "KEY"]), ["MINE_KEY"]);
        assert_eq!(catalog.find_entry("guide").unwrap().command, "/opt/throughline");
    }

    #[test]
    fn agents_that_could_not_be_started_are_refused() {
        check_refused("[agents.cluade]\nshared = true", "did you mean agents.claude?");
        check_refused("[agents.claude]\nenviron = {}", "no key agents.claude.environ; did you mean agents.claude.env?");
        check_refused("[agents.\"My Agent\"]\ncommand = \"x\"", "\"My Agent\" is no name for one of the agents");
        check_refused("[agents.\"a.b\"]\ncommand = \"x\"", "\"a.b\" is no name");
        check_refused("[agents.mine]\ncommand = \"my agent --acp\"", "goes into args");
        check_refused("[agents.claude]\npass_env = [\"*\"]", "OPENAI_*");
        check_refused("[agents.claude]\nenv = { \"A B\" = \"canary\" }", "has a variable \"A B\"");
        check_refused("agents = 5", "not what its key takes");
    }

    #[test]
    fn mcp_servers_are_reached_or_started() {
        let text = r#"
            [mcp_servers.web]
            url = "https://web.example/mcp"
            headers = { Authorization = "Bearer x" }

            [mcp_servers.local]
            command = "local-mcp"
            args = ["--stdio"]
            env = { KEY = "y" }
        "#;
        let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        let expected = [
            McpServer::Stdio {
                name: "local".to_owned(),
                command: "local-mcp".into(),
                args: vec!["--stdio".to_owned()],
                env: pair("KEY", "y"),
            },
            McpServer::Http {
                name: "web".to_owned(),
                url: "https://web.example/mcp".to_owned(),
                headers: pair("Authorization", "Bearer x"),
            },
        ];
        assert_eq!(Config::parse(text).unwrap().mcp_servers().unwrap(), expected);
    }

    #[test]
    fn mcp_servers_that_nobody_could_reach_are_refused() {
        check_refused("[mcp_servers.web]", "either url");
        check_refused(
            "[mcp_servers.throughline]\nurl = \"https://a\"",
            "throughline is the name of this server's own tools",
        );
        check_refused("[mcp_servers.web]\nurl = \"https://a\"\ncommand = \"b\"", "either url");
        check_refused("[mcp_servers.web]\nurl = \"https://a\"\nenv = { A = \"b\" }", "either url");
        check_refused("[mcp_servers.web]\ncommand = \"a\"\nheaders = { A = \"b\" }", "either url");
        check_refused("[mcp_servers.web]\nurl = \"a.example?key=canary\"", "http://");
        check_refused("[mcp_servers.web]\nurl = \"https://a\"\nheaders = { \"A B\" = \"canary\" }", "header");
        check_refused(
            "[mcp_servers.web]\nheader = {}",
            "no key mcp_servers.web.header; did you mean mcp_servers.web.headers?",
        );
        check_refused("[mcp_server.web]\nurl = \"a\"", "no key mcp_server; did you mean mcp_servers?");
    }

    #[test]
    fn rules_are_read_with_and_without_quotes() {
        let quoted = "[permissions]\ndefault = \"deny\"\nrules = { \"claude.read\" = \"allow\", \"*.read\" = \"ask\" }";
        let nested =
            "[permissions]\ndefault = \"deny\"\n[permissions.rules]\nclaude.read = \"allow\"\n\"*\".read = \"ask\"";
        for text in [quoted, nested] {
            let policy = Config::parse(text).unwrap().permission_policy().unwrap();
            assert_eq!(
                policy.decide("claude", ToolKind::Read),
                Decision { policy: Policy::Allow, rule: "claude.read" }
            );
            assert_eq!(policy.decide("codex", ToolKind::Read), Decision { policy: Policy::Ask, rule: "*.read" });
            assert_eq!(policy.decide("codex", ToolKind::Edit), Decision { policy: Policy::Deny, rule: "default" });
        }
        let silent = Config::parse("").unwrap().permission_policy().unwrap();
        assert_eq!(silent, PermissionPolicy::default());
    }

    #[test]
    fn rules_that_would_never_hold_are_refused() {
        check_refused("[permissions]\ndefault = \"yes\"", "ask");
        check_refused("[permissions]\nrules = { \"claude.read\" = \"yes\" }", "ask, allow or deny");
        check_refused("[permissions]\nrules = { \"claude.reed\" = \"deny\" }", "names no kind of work");
        check_refused("[permissions]\nrules = { \"claude\" = \"deny\" }", "AGENT.KIND");
        check_refused("[permissions]\nrules = { \"cluade.read\" = \"deny\" }", "did you mean claude?");
        check_refused("[permissions]\nrules = { \"claude.read\" = \"deny\", claude.read = \"allow\" }", "there twice");
        check_refused(
            "[permissions]\ndefaults = \"deny\"",
            "no key permissions.defaults; did you mean permissions.default?",
        );
    }

    #[test]
    fn a_rule_may_be_about_an_agent_of_ones_own_or_a_hidden_one() {
        let own = "[agents.mine]\ncommand = \"mine\"\n[agents.codex]\nenabled = false\n";
        let rules = "[permissions]\nrules = { \"mine.read\" = \"deny\", \"codex.read\" = \"deny\" }";
        Config::parse(&format!("{own}{rules}")).unwrap();
    }

    /// T42: nothing that prints shows what may be a secret.
    #[test]
    fn secrets_are_read_and_not_shown() {
        let text = r#"
            [agents.claude]
            env = { ANTHROPIC_API_KEY = "canary-1" }

            [mcp_servers.web]
            url = "https://ada:canary-2@web.example/mcp?key=canary-3"
            headers = { Authorization = "Bearer canary-4" }

            [mcp_servers.local]
            command = "local-mcp"
            env = { KEY = "canary-5" }
        "#;
        let config = Config::parse(text).unwrap();
        let printed = [
            toml::to_string(&config).unwrap(),
            serde_json::to_string(&config).unwrap(),
            format!("{config:?}"),
            format!("{:?} {:?}", config.catalog("/").unwrap(), config.mcp_servers().unwrap()),
        ];
        for text in printed {
            assert!(!text.contains("canary"), "{text}");
            assert!(text.contains("ANTHROPIC_API_KEY") && text.contains("Authorization"), "{text}");
        }
        assert_eq!(config.catalog("/").unwrap().find_entry("claude").unwrap().env["ANTHROPIC_API_KEY"], "canary-1");
    }

    #[test]
    fn secrets_are_not_shown_by_errors_either() {
        check_refused(
            "[agents.claude]\nenv = { A = \"canary\", B = 5 }",
            "line 2, agents.claude.env: expected names with a text",
        );
        check_refused(
            "[mcp_servers.web]\nurl = \"https://a\"\nheaders = \"canary\"",
            "line 3, mcp_servers.web.headers: expected names with a text",
        );
        check_refused("[mcp_servers.web]\nheaders = { A = \"canary\" ", "not TOML");
        check_refused(
            "[agents.claude]\nargs = \"--key canary\"",
            "line 2, agents.claude.args: expected a list, such as",
        );
        check_refused(
            "[mcp_servers.web]\nurl = [\"canary\"]",
            "line 2, mcp_servers.web.url: expected a text in quotes",
        );
    }
}
