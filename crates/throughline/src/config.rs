//! `config.toml`: what the person settled. Nothing in it can be set over HTTP.
//!
//! Invariant: a key that is not known is an error that names the nearest one that is, so that a misspelt guard is never
//! silently absent.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use doors::{AllowedHosts, Limits, TlsSettings, Transport};
use serde::{Deserialize, Serialize};

const DEFAULT_LISTEN: &str = "127.0.0.1:7417";

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) server: ServerSection,
    pub(crate) limits: LimitsSection,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerSection {
    pub(crate) listen: SocketAddr,
    /// Names beside loopback on which the server answers.
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
}

impl Default for ServerSection {
    fn default() -> Self {
        let listen = DEFAULT_LISTEN.parse().expect("the default is an address");
        Self { listen, hosts: Vec::new(), behind_proxy: false, tls: None }
    }
}

impl Default for LimitsSection {
    fn default() -> Self {
        let limits = Limits::default();
        Self { connections: limits.max_connections, requests_per_second: limits.requests.per_second }
    }
}

/// Every key there is, for the word "did you mean".
const KEYS: &[(&str, &[&str])] = &[
    ("server", &["listen", "hosts", "behind_proxy", "tls"]),
    ("server.tls", &["certificates", "key"]),
    ("limits", &["connections", "requests_per_second"]),
];

impl Config {
    /// What the file says, or the defaults where there is none.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(err) => return Err(err).with_context(|| format!("could not read {}", path.display())),
        };
        Self::parse(&text).with_context(|| format!("{} cannot be used", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let table: toml::Table = text.parse().context("it is not TOML")?;
        check_keys("", &table)?;
        let config: Self = toml::from_str(text).context("a value is not what its key takes")?;
        if config.server.behind_proxy && config.server.tls.is_some() {
            bail!(
                "server.behind_proxy and server.tls exclude each other: either the proxy does TLS or the server does"
            );
        }
        AllowedHosts::new(&config.server.hosts).context("server.hosts names something that is no host")?;
        let rate = config.limits.requests_per_second;
        if !(rate.is_finite() && rate >= 1.0) || config.limits.connections == 0 {
            bail!("limits are at least 1");
        }
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

    /// Whether a link can be printed that leads here. Only loopback needs no name: `doors` refuses any other Host that
    /// is not listed.
    pub(crate) fn check_reachable(&self) -> Result<()> {
        let ip = self.server.listen.ip();
        let loopback = ip == IpAddr::V4(Ipv4Addr::LOCALHOST) || ip == IpAddr::V6(Ipv6Addr::LOCALHOST);
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

fn check_keys(section: &str, table: &toml::Table) -> Result<()> {
    for (key, value) in table {
        let name = if section.is_empty() { key.clone() } else { format!("{section}.{key}") };
        let is_section = KEYS.iter().any(|(known, _)| *known == name);
        let is_key = KEYS.iter().any(|(known, keys)| *known == section && keys.contains(&key.as_str()));
        if !is_section && !is_key {
            bail!("there is no key {name}; did you mean {}?", nearest(section, key));
        }
        if let (true, toml::Value::Table(inner)) = (is_section, value) {
            check_keys(&name, inner)?;
        }
    }
    Ok(())
}

/// The key of the same section that is most like `key`; at the top, the section.
fn nearest(section: &str, key: &str) -> String {
    let keys: Vec<&str> = match KEYS.iter().find(|(known, _)| *known == section) {
        Some((_, keys)) => keys.to_vec(),
        None => KEYS.iter().map(|(known, _)| *known).collect(),
    };
    let likeness = |candidate: &str| strsim::jaro_winkler(candidate, key);
    let best = keys.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).unwrap_or_default();
    if section.is_empty() { best.to_owned() } else { format!("{section}.{best}") }
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
    }

    /// The list for "did you mean" and the structs cannot drift apart.
    #[test]
    fn every_key_is_listed() {
        let config = Config {
            server: ServerSection {
                tls: Some(TlsSection { certificates: "a".into(), key: "b".into() }),
                ..ServerSection::default()
            },
            ..Config::default()
        };
        let table: toml::Table = toml::to_string(&config).unwrap().parse().unwrap();
        check_keys("", &table).unwrap();
        let count = |table: &toml::Table| table.len();
        let server = table["server"].as_table().unwrap();
        let listed: usize = KEYS.iter().map(|(_, keys)| keys.len()).sum();
        let written =
            count(server) + count(server["tls"].as_table().unwrap()) + count(table["limits"].as_table().unwrap());
        assert_eq!(written, listed);
    }
}
