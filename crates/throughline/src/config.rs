//! `config.toml`: the person's settings. Nothing in it can be set over HTTP.
//!
//! Invariant: an unknown key is an error that names the most similar known one, so that a misspelt guard is never
//! silently absent. What may hold a secret is printed nowhere: not by `throughline config`, not in an error.

mod agents;
mod brief;
mod hidden;
mod keys;
mod mistake;
mod outputs;
mod page;
mod report;
mod source_text;
mod summaries;
mod tools;
mod usage;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use doors::{AllowedHosts, Limits, TlsSettings, Transport};
use serde::{Deserialize, Serialize};

use self::agents::{AgentSection, McpServerSection, PermissionsSection};
use self::brief::BriefSection;
use self::mistake::{at_line, in_value};
use self::outputs::OutputsSection;
use self::page::PageSection;
pub(crate) use self::report::{Override, Start, StartSetting};
use self::summaries::SummariesSection;
use self::tools::ToolsSection;
use self::usage::{PriceSection, UsageSection};

const DEFAULT_LISTEN: &str = "127.0.0.1:7417";
const DEFAULT_SILENCE_MINUTES: f64 = 10.0;
/// A year: more is no limit, and would not fit into a duration.
const MAX_MINUTES: f64 = 365.0 * 24.0 * 60.0;
/// No agent can keep a shorter limit.
const MIN_SECONDS: f64 = 0.1;
/// More running agents than one person can look after; idle ones are stopped to make room.
const DEFAULT_MAX_AGENTS: usize = 64;
/// No agent starts with less.
const MIN_AGENT_MEMORY_MB: u64 = 64;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) server: ServerSection,
    pub(crate) limits: LimitsSection,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) agents: BTreeMap<String, AgentSection>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) mcp_servers: BTreeMap<String, McpServerSection>,
    pub(crate) permissions: PermissionsSection,
    pub(crate) brief: BriefSection,
    pub(crate) tools: ToolsSection,
    pub(crate) page: PageSection,
    pub(crate) outputs: OutputsSection,
    pub(crate) summaries: SummariesSection,
    #[serde(skip_serializing_if = "UsageSection::is_empty")]
    pub(crate) usage: UsageSection,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) prices: BTreeMap<String, PriceSection>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerSection {
    pub(crate) listen: SocketAddr,
    /// A port of its own for the session's tools (`/mcp` and nothing else), such as 127.0.0.1:9878.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mcp_listen: Option<SocketAddr>,
    /// Host names beside loopback that the server accepts.
    pub(crate) hosts: Vec<String>,
    /// A proxy in front of the server does TLS.
    pub(crate) behind_proxy: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tls: Option<TlsSection>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TlsSection {
    pub(crate) certificates: PathBuf,
    pub(crate) key: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitsSection {
    pub(crate) connections: usize,
    pub(crate) requests_per_second: f64,
    /// How many sessions may have an agent at once.
    pub(crate) max_agents: usize,
    /// The memory limit of one process of an agent, in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_memory_mb: Option<u64>,
    /// How long an agent may be silent in a turn before it counts as unresponsive.
    pub(crate) silence_minutes: f64,
    /// How long an agent may take to answer `initialize`, and again to begin a session.
    pub(crate) agent_start_seconds: f64,
    /// How long an agent may go on after a cancel; after a quarter of it, it counts as unresponsive.
    pub(crate) agent_stop_seconds: f64,
}

impl Default for ServerSection {
    fn default() -> Self {
        let listen = DEFAULT_LISTEN.parse().expect("the default is an address");
        Self { listen, mcp_listen: None, hosts: Vec::new(), behind_proxy: false, tls: None }
    }
}

impl Default for LimitsSection {
    fn default() -> Self {
        let limits = Limits::default();
        let agent = ::agents::AgentLimits::default();
        Self {
            connections: limits.max_connections,
            requests_per_second: limits.requests.per_second,
            max_agents: DEFAULT_MAX_AGENTS,
            agent_memory_mb: None,
            silence_minutes: DEFAULT_SILENCE_MINUTES,
            agent_start_seconds: agent.initialize.as_secs_f64(),
            agent_stop_seconds: (agent.cancel + agent.cancel_failed).as_secs_f64(),
        }
    }
}

impl Config {
    /// Reads the file, or returns the defaults where there is none.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        Ok(Self::load_with_text(path)?.0)
    }

    /// The same with the file's text, `None` where there is none.
    pub(crate) fn load_with_text(path: &Path) -> Result<(Self, Option<String>)> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok((Self::default(), None)),
            Err(err) => return Err(err).with_context(|| format!("could not read {}", path.display())),
        };
        let config = Self::parse(&text).with_context(|| format!("{} cannot be used", path.display()))?;
        Ok((config, Some(text)))
    }

    fn parse(text: &str) -> Result<Self> {
        let table: toml::Table = text.parse().map_err(|err| at_line(text, &err)).context("it is not TOML")?;
        keys::check(&table)?;
        let config: Self =
            toml::from_str(text).map_err(|err| in_value(text, &err)).context("a value is not what its key takes")?;
        if config.server.behind_proxy && config.server.tls.is_some() {
            bail!(
                "server.behind_proxy and server.tls exclude each other: either the proxy does TLS or the server does"
            );
        }
        AllowedHosts::new(&config.server.hosts).context("server.hosts names something that is no host")?;
        let rate = config.limits.requests_per_second;
        if !(rate.is_finite() && rate >= 1.0) || config.limits.connections == 0 || config.limits.max_agents == 0 {
            bail!("limits are at least 1");
        }
        let LimitsSection { silence_minutes, agent_start_seconds, agent_stop_seconds, .. } = config.limits;
        for (key, seconds) in [
            ("silence_minutes", silence_minutes * 60.0),
            ("agent_start_seconds", agent_start_seconds),
            ("agent_stop_seconds", agent_stop_seconds),
        ] {
            if !(MIN_SECONDS..=MAX_MINUTES * 60.0).contains(&seconds) {
                bail!("limits.{key} is at least a tenth of a second and at most a year");
            }
        }
        if config.limits.agent_memory_mb.is_some_and(|mb| !(MIN_AGENT_MEMORY_MB..1 << 40).contains(&mb)) {
            bail!("limits.agent_memory_mb is at least {MIN_AGENT_MEMORY_MB}; leave it away for no limit");
        }
        config.check_agents()?;
        config.brief.check()?;
        config.check_page()?;
        config.outputs.check()?;
        config.summaries.check()?;
        config.usage_settings()?;
        Ok(config)
    }

    pub(crate) fn hosts(&self) -> Result<AllowedHosts> {
        Ok(AllowedHosts::new(&self.server.hosts)?)
    }

    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits { max_connections: self.limits.connections, ..Limits::default() };
        limits.requests.per_second = self.limits.requests_per_second;
        limits.requests.burst = self.limits.requests_per_second * 2.0;
        limits
    }

    /// The time limits of agents.
    pub(crate) fn agent_limits(&self) -> ::agents::AgentLimits {
        let start = Duration::from_secs_f64(self.limits.agent_start_seconds);
        let stop = Duration::from_secs_f64(self.limits.agent_stop_seconds);
        ::agents::AgentLimits {
            initialize: start,
            attach: start,
            records: start,
            cancel: stop / 4,
            cancel_failed: stop - stop / 4,
            silence: Duration::from_secs_f64(60.0 * self.limits.silence_minutes),
            ..::agents::AgentLimits::default()
        }
    }

    /// Checks that a link can be printed that leads here. Only loopback needs no name: `doors` refuses any other Host
    /// that is not listed.
    pub(crate) fn check_reachable(&self) -> Result<()> {
        if let Some(tools) = self.server.mcp_listen.filter(|tools| !is_loopback(*tools)) {
            bail!(
                "server.mcp_listen is for agents on this machine and speaks plain HTTP, so it is 127.0.0.1 or [::1] with \
                 a port, not {tools}"
            );
        }
        let loopback = is_loopback(self.server.listen);
        if self.server.hosts.is_empty() && (self.server.behind_proxy || !loopback) {
            bail!(
                "no link would lead to this server: write the name under which people reach it into server.hosts, for \
                 instance hosts = [\"box.example\"]"
            );
        }
        Ok(())
    }

    pub(crate) fn transport(&self) -> Result<Transport> {
        Ok(match &self.server.tls {
            Some(tls) => Transport::Tls(TlsSettings::load(&tls.certificates, &tls.key)?),
            None if self.server.behind_proxy => Transport::BehindProxy,
            None => Transport::Plain,
        })
    }
}

fn is_loopback(address: SocketAddr) -> bool {
    [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)].contains(&address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(text: &str, expected: &str) {
        let err = Config::parse(text).unwrap_err();
        assert!(format!("{err:#}").contains(expected), "{err:#}");
    }

    #[test]
    fn what_is_not_said_has_its_default() {
        let config = Config::parse("[server]\nhosts = [\"box.example\"]").unwrap();
        assert_eq!(config.server.listen.to_string(), DEFAULT_LISTEN);
        assert_eq!(config.limits, LimitsSection::default());
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest() {
        check_refused("[server]\nlisten_on = \"127.0.0.1:1\"", "no key server.listen_on; did you mean server.listen?");
        check_refused("[sever]\nlisten = \"127.0.0.1:1\"", "no key sever; did you mean server?");
        check_refused("[server.tls]\ncert = \"x\"", "no key server.tls.cert; did you mean server.tls.certificates?");
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        check_refused("[server]\nlisten = \"everywhere\"", "not what its key takes");
        check_refused("[limits]\nconnections = 0", "at least 1");
        check_refused("[limits]\nmax_agents = 0", "at least 1");
        check_refused("[limits]\nsilence_minutes = 0", "limits.silence_minutes is at least");
        check_refused("[limits]\nsilence_minutes = 1000000000", "limits.silence_minutes is at least");
        check_refused("[limits]\nagent_start_seconds = 0.01", "limits.agent_start_seconds is at least");
        check_refused("[limits]\nagent_stop_seconds = nan", "limits.agent_stop_seconds is at least");
        check_refused("[limits]\nagent_memory_mb = 1", "limits.agent_memory_mb is at least 64");
        check_refused("[brief]\ntext = \" \"", "brief.enabled = false");
        check_refused(&format!("[brief]\ntext = \"{}\"", "x".repeat(8_001)), "brief.text has 8001 characters");
        check_refused("server = [", "not TOML");
        check_refused("[server]\nbehind_proxy = true\n[server.tls]\ncertificates = \"a\"\nkey = \"b\"", "exclude");
    }

    #[test]
    fn a_server_that_others_reach_needs_a_name() {
        let check = |text: &str| Config::parse(text).unwrap().check_reachable().map_err(|err| err.to_string());
        let tls = "tls = { certificates = \"a\", key = \"b\" }";
        assert_eq!(check(""), Ok(()));
        assert_eq!(check("[server]\nlisten = \"[::1]:1\""), Ok(()));
        assert_eq!(check(&format!("[server]\n{tls}")), Ok(()));
        for listen in ["0.0.0.0:1", "[::]:1", "192.0.2.1:1"] {
            let exposed = format!("[server]\nlisten = \"{listen}\"\n{tls}\n");
            assert!(check(&exposed).unwrap_err().contains("server.hosts"), "{listen}");
            assert_eq!(check(&format!("{exposed}hosts = [\"box.example\"]")), Ok(()));
        }
        assert!(check("[server]\nbehind_proxy = true").is_err());
        assert_eq!(check("[server]\nmcp_listen = \"127.0.0.1:9878\""), Ok(()));
        for tools in ["0.0.0.0:9878", "[::]:9878", "192.0.2.1:9878"] {
            let exposed = format!("[server]\nmcp_listen = \"{tools}\"\nhosts = [\"box.example\"]\n{tls}");
            assert!(check(&exposed).unwrap_err().contains("server.mcp_listen"), "{tools}");
        }
    }
}
