//! Step one: the Host allow-list.
//!
//! Invariant: a request passes only if its single Host header, parsed to (host, port) and lower-cased, equals an
//! allowed value as a whole. There are no prefixes, no patterns and no normalising of other spellings, because DNS
//! rebinding makes every similar name reachable. `0.0.0.0` and `[::]` can not even be configured.

use std::{net::Ipv6Addr, str::FromStr};

use http::{HeaderMap, Uri, header};

use crate::{arrival::Channel, bind::Exposure, refusal::Refusal};

/// The names that the Unix socket accepts; they exist only because HTTP demands a Host.
const LOCAL_NAMES: [&str; 2] = ["throughline", "localhost"];
const LOOPBACK_NAMES: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// A host and perhaps a port, lower-cased, otherwise as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Authority {
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

/// The name that a request came to, and the scheme of the page that may call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestedName {
    pub(crate) authority: Authority,
    pub(crate) scheme: Scheme,
}

/// The names beside loopback that this server accepts.
#[derive(Debug, Clone, Default)]
pub struct AllowedHosts(Vec<AllowedHost>);

#[derive(Debug, Clone)]
struct AllowedHost {
    scheme: Option<Scheme>,
    authority: Authority,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostNameError {
    #[error("host {name:?} is neither NAME nor NAME:PORT, with http:// or https:// before it at most")]
    Malformed { name: String },
    #[error("host {name:?} is the wildcard address, which browsers can be made to send; write the real name")]
    Wildcard { name: String },
}

impl AllowedHosts {
    /// Each entry is `name`, `name:port`, or one of them after `http://` or `https://`. A name without a port also
    /// admits the port that the listener is bound to. Without a scheme, pages must be https behind TLS or a proxy.
    pub fn new<I, S>(names: I) -> Result<Self, HostNameError>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<str>,
    {
        names.into_iter().map(|name| AllowedHost::parse(name.as_ref())).collect::<Result<_, _>>().map(Self)
    }

    fn find(&self, authority: &Authority, channel: &Channel) -> Option<Scheme> {
        let (bound_port, exposure) = match channel {
            Channel::Local => {
                let known = authority.port.is_none() && LOCAL_NAMES.contains(&authority.host.as_str());
                return known.then_some(Scheme::Http);
            }
            Channel::Tcp { bound_port, exposure, .. } => (*bound_port, *exposure),
        };
        let own_scheme = match exposure {
            Exposure::Plain | Exposure::BehindProxy => Scheme::Http,
            Exposure::Tls => Scheme::Https,
        };
        // Browsers leave out the port that the scheme implies, and only that one.
        let at_bound_port =
            authority.port == Some(bound_port) || (authority.port.is_none() && bound_port == own_scheme.default_port());
        if at_bound_port && LOOPBACK_NAMES.contains(&authority.host.as_str()) {
            return Some(own_scheme);
        }
        let entry = self.0.iter().find(|entry| {
            entry.authority == *authority
                || (entry.authority.port.is_none() && entry.authority.host == authority.host && at_bound_port)
        })?;
        Some(entry.scheme.unwrap_or(match exposure {
            Exposure::Plain => Scheme::Http,
            Exposure::Tls | Exposure::BehindProxy => Scheme::Https,
        }))
    }
}

/// The single name that the request came to, if it is allowed.
pub(crate) fn check(
    headers: &HeaderMap,
    uri: &Uri,
    channel: &Channel,
    allowed: &AllowedHosts,
) -> Result<RequestedName, Refusal> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().ok_or(Refusal::HostMissing)?;
    if hosts.next().is_some() {
        return Err(Refusal::HostAmbiguous);
    }
    let authority: Authority = host.to_str().ok().and_then(|text| text.parse().ok()).ok_or(Refusal::HostNotAllowed)?;
    if let Some(target) = uri.authority() {
        // A request target without a path is CONNECT's form.
        if uri.scheme().is_none() {
            return Err(Refusal::TargetNotAllowed);
        }
        if target.as_str().parse::<Authority>().ok().as_ref() != Some(&authority) {
            return Err(Refusal::HostAmbiguous);
        }
    }
    if !uri.path().starts_with('/') {
        return Err(Refusal::TargetNotAllowed);
    }
    let scheme = allowed.find(&authority, channel).ok_or(Refusal::HostNotAllowed)?;
    Ok(RequestedName { authority, scheme })
}

impl Scheme {
    fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    /// Splits `scheme://rest`. Lower case only, as browsers write it.
    pub(crate) fn split(text: &str) -> Option<(Self, &str)> {
        let http = text.strip_prefix("http://").map(|rest| (Self::Http, rest));
        http.or_else(|| text.strip_prefix("https://").map(|rest| (Self::Https, rest)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotAnAuthority;

impl FromStr for Authority {
    type Err = NotAnAuthority;

    fn from_str(text: &str) -> Result<Self, NotAnAuthority> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, after) = rest.split_once(']').ok_or(NotAnAuthority)?;
                address.parse::<Ipv6Addr>().map_err(|_| NotAnAuthority)?;
                let port = match after {
                    "" => None,
                    _ => Some(after.strip_prefix(':').ok_or(NotAnAuthority)?),
                };
                (&text[..address.len() + 2], port)
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let named = host.starts_with('[')
            || (!host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)));
        if !named || host.len() > 255 {
            return Err(NotAnAuthority);
        }
        let port = port.map(parse_port).transpose()?;
        Ok(Self { host: host.to_ascii_lowercase(), port })
    }
}

/// Decimal digits without sign or leading zero: `u16::from_str` alone would take `+80` and `0080`.
fn parse_port(text: &str) -> Result<u16, NotAnAuthority> {
    if text.starts_with('0') || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NotAnAuthority);
    }
    text.parse().map_err(|_| NotAnAuthority)
}

impl AllowedHost {
    fn parse(name: &str) -> Result<Self, HostNameError> {
        let (scheme, rest) = match Scheme::split(name) {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, name),
        };
        let mut authority: Authority =
            rest.parse().map_err(|NotAnAuthority| HostNameError::Malformed { name: name.to_owned() })?;
        let literal = authority.host.trim_matches(['[', ']']);
        if literal.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_unspecified()) {
            return Err(HostNameError::Wildcard { name: name.to_owned() });
        }
        // Someone who writes `https://name:443` means what browsers send as `name`.
        if scheme.is_some_and(|scheme| authority.port == Some(scheme.default_port())) {
            authority.port = None;
        }
        Ok(Self { scheme, authority })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tcp(bound_port: u16, exposure: Exposure) -> Channel {
        Channel::Tcp { peer: "127.0.0.1:1".parse().unwrap(), bound_port, exposure }
    }

    fn scheme_of(host: &str, names: &[&str], channel: &Channel) -> Option<Scheme> {
        AllowedHosts::new(names).unwrap().find(&host.parse().ok()?, channel)
    }

    #[test]
    fn loopback_needs_the_bound_port() {
        for (host, port, allowed) in [
            ("127.0.0.1:7777", 7777, true),
            ("LocalHost:7777", 7777, true),
            ("[::1]:7777", 7777, true),
            ("localhost", 80, true),
            ("localhost", 7777, false),
            ("localhost:7778", 7777, false),
            ("localhost.:7777", 7777, false),
            ("0.0.0.0:7777", 7777, false),
            ("[::]:7777", 7777, false),
            ("[0:0:0:0:0:0:0:1]:7777", 7777, false),
            ("127.0.0.1.evil.example:7777", 7777, false),
            ("localhost:07777", 7777, false),
            ("localhost:", 7777, false),
            ("user@localhost:7777", 7777, false),
            ("127.1:7777", 7777, false),
        ] {
            assert_eq!(scheme_of(host, &[], &tcp(port, Exposure::Plain)).is_some(), allowed, "{host}");
        }
    }

    #[test]
    fn configured_names_are_whole_values() {
        let behind = tcp(7777, Exposure::BehindProxy);
        assert_eq!(scheme_of("desk.example", &["desk.example"], &behind), Some(Scheme::Https));
        assert_eq!(scheme_of("desk.example:7777", &["desk.example"], &behind), Some(Scheme::Https));
        assert_eq!(scheme_of("desk.example:8443", &["desk.example"], &behind), None);
        assert_eq!(scheme_of("desk.example:8443", &["desk.example:8443"], &behind), Some(Scheme::Https));
        assert_eq!(scheme_of("desk.example", &["http://desk.example:80"], &behind), Some(Scheme::Http));
        assert_eq!(scheme_of("desk.example.evil", &["desk.example"], &behind), None);
        assert_eq!(scheme_of("localhost:7777", &["desk.example"], &behind), Some(Scheme::Http));
        assert_eq!(scheme_of("localhost:7777", &[], &tcp(7777, Exposure::Tls)), Some(Scheme::Https));
    }

    #[test]
    fn the_unix_socket_has_its_own_two_names() {
        assert!(scheme_of("throughline", &[], &Channel::Local).is_some());
        assert!(scheme_of("localhost", &[], &Channel::Local).is_some());
        assert!(scheme_of("localhost:7777", &[], &Channel::Local).is_none());
        assert!(scheme_of("desk.example", &["desk.example"], &Channel::Local).is_none());
    }

    #[test]
    fn wildcards_and_patterns_can_not_be_configured() {
        for name in ["0.0.0.0", "0.0.0.0:80", "[::]", "https://[::]:443"] {
            assert_eq!(AllowedHosts::new([name]).unwrap_err(), HostNameError::Wildcard { name: name.to_owned() });
        }
        for name in ["*.example", "", "a/b", "ftp://a", "a b", "é.example", "[::1", "a:b"] {
            assert_eq!(AllowedHosts::new([name]).unwrap_err(), HostNameError::Malformed { name: name.to_owned() });
        }
    }

    proptest! {
        #[test]
        fn whatever_is_accepted_is_in_the_allow_set(host in near_miss()) {
            let members =
                ["127.0.0.1:7777", "[::1]:7777", "localhost:7777", "desk.example", "desk.example:7777", "[fe80::1]:9"];
            let channel = tcp(7777, Exposure::Plain);
            let accepted = scheme_of(&host, &["desk.example", "[fe80::1]:9"], &channel).is_some();
            prop_assert_eq!(accepted, members.contains(&host.to_ascii_lowercase().as_str()), "{}", host);
        }
    }

    /// Allowed names with up to two edits: random text alone would never come near the border.
    fn near_miss() -> impl Strategy<Value = String> {
        let members = prop::sample::select(vec![
            "127.0.0.1:7777",
            "[::1]:7777",
            "LOCALHOST:7777",
            "desk.example",
            "desk.example:7777",
            "[fe80::1]:9",
            "",
        ]);
        let border: Vec<char> = ".:[]@%/0 a".chars().collect();
        let edit =
            (any::<prop::sample::Index>(), prop::option::of(prop_oneof![any::<char>(), prop::sample::select(border)]));
        (members, prop::collection::vec(edit, 0..3)).prop_map(|(member, edits)| {
            let mut text: Vec<char> = member.chars().collect();
            for (slot, change) in edits {
                let slot = slot.index(text.len() + 1);
                match change {
                    Some(inserted) => text.insert(slot, inserted),
                    None if slot < text.len() => drop(text.remove(slot)),
                    None => (),
                }
            }
            text.into_iter().collect()
        })
    }
}
