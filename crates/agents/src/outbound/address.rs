//! Which servers may be reached: by their address, and by the IP addresses that it resolves to.
//!
//! Invariant: an address that was parsed can be used. It holds no secret, and it goes over TLS, or to this machine,
//! or the person has allowed plain HTTP.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Url;

/// The longest address of the public web that is asked: agents and sites name them, and none that means something is longer.
const MAX_PUBLIC_BYTES: usize = 2_000;

/// Where HTTP without TLS may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainHttp {
    /// Only to this machine, where nobody else can listen.
    ThisMachineOnly,
    /// Anywhere: the person trusts the network in between.
    Anywhere,
}

/// Who chose an address, and so where it may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressRule {
    /// The person configured it: anywhere over TLS, and without TLS as far as they said.
    Configured(PlainHttp),
    /// Somebody else named it: plain HTTP, on this machine only.
    ThisMachine,
    /// An agent named something at it: a name of the public web, over TLS on its usual port, and public IP addresses only.
    Public,
}

/// Why an address is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddressError {
    #[error("it does not begin with https:// or http:// and name a host")]
    NotHttp,
    #[error("it holds a user or a password")]
    WithUser,
    #[error("it begins with http:// and does not lead to this machine")]
    Plain,
    #[error("it does not begin with http:// and lead to this machine")]
    Elsewhere,
    #[error("it does not begin with https:// and a name of the public web")]
    NotPublic,
    #[error("it has more than {MAX_PUBLIC_BYTES} bytes")]
    TooLong,
}

/// The address of a server.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    url: Url,
    rule: AddressRule,
}

impl Address {
    pub(crate) fn parse(text: &str, rule: AddressRule) -> Result<Self, AddressError> {
        let url = Url::parse(text).map_err(|_| AddressError::NotHttp)?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(AddressError::NotHttp);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::WithUser);
        }
        let address = Self { url, rule };
        let is_plain_here = !address.is_tls() && address.names_this_machine();
        match rule {
            AddressRule::ThisMachine if !is_plain_here => Err(AddressError::Elsewhere),
            AddressRule::Configured(PlainHttp::ThisMachineOnly) if !address.is_tls() && !is_plain_here => {
                Err(AddressError::Plain)
            }
            AddressRule::Public if !address.names_public_web() => Err(AddressError::NotPublic),
            AddressRule::Public if address.url.as_str().len() > MAX_PUBLIC_BYTES => Err(AddressError::TooLong),
            AddressRule::ThisMachine | AddressRule::Configured(_) | AddressRule::Public => Ok(address),
        }
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether a connection to `ip` follows the rule. The name `localhost` may resolve to anything, so its IP
    /// addresses are checked too. Link-local addresses are never allowed: clouds serve credentials there.
    pub(super) fn may_reach(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        let is_for_one_link = match ip {
            IpAddr::V4(ip) => is_for_one_link(ip),
            IpAddr::V6(ip) => ip.is_unicast_link_local() || embedded(ip).is_some_and(is_for_one_link),
        };
        let keeps_to_rule = match self.rule {
            AddressRule::ThisMachine | AddressRule::Configured(PlainHttp::ThisMachineOnly) if !self.is_tls() => {
                ip.is_loopback()
            }
            AddressRule::ThisMachine | AddressRule::Configured(_) => true,
            AddressRule::Public => is_public(ip),
        };
        keeps_to_rule && !is_for_one_link && !ip.is_multicast()
    }

    /// The host without the brackets of an IPv6 address.
    pub(crate) fn host(&self) -> &str {
        let host = self.url.host_str().unwrap_or_default();
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    pub(super) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(443)
    }

    /// The value for the `Host` header.
    pub(super) fn authority(&self) -> &str {
        self.url.authority()
    }

    pub(crate) fn path(&self) -> &str {
        self.url.path()
    }

    pub(crate) fn query(&self) -> Option<&str> {
        self.url.query()
    }

    /// What is asked of the server.
    pub(crate) fn path_and_query(&self) -> String {
        match self.query() {
            Some(query) => format!("{}?{query}", self.path()),
            None => self.path().to_owned(),
        }
    }

    pub(crate) fn has_fragment(&self) -> bool {
        self.url.fragment().is_some()
    }

    /// A name, no IP address, on the usual port of TLS.
    fn names_public_web(&self) -> bool {
        self.is_tls() && self.url.port().is_none() && self.url.domain().is_some_and(|name| name.contains('.'))
    }

    fn names_this_machine(&self) -> bool {
        let is_loopback = |ip: IpAddr| ip.to_canonical().is_loopback();
        self.host() == "localhost" || self.host().parse().is_ok_and(is_loopback)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Whether anybody on the public web may have this address: no network of one's own, and none that is set aside.
fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let [first, second, third, _] = ip.octets();
            let is_set_aside = match (first, second, third) {
                // This network; and what is reserved or for many.
                (0 | 224.., _, _) => true,
                // Between a provider and its customers.
                (100, 64..=127, _) => true,
                (192, 0, 0) | (192, 88, 99) => true,
                // For measurements.
                (198, 18 | 19, _) => true,
                _ => false,
            };
            !is_set_aside && !ip.is_private() && !ip.is_loopback() && !ip.is_link_local() && !ip.is_documentation()
        }
        IpAddr::V6(ip) => match ip.segments() {
            // Teredo and others that wrap an address, documentation, 6to4.
            [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => false,
            [first, ..] => first & 0xe000 == 0x2000,
        },
    }
}

fn is_for_one_link(ip: Ipv4Addr) -> bool {
    ip.is_link_local() || ip.is_broadcast()
}

/// The IPv4 address in an IPv6 address that a translator would reach: NAT64, 6to4, or mapped.
fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match ip.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0, 0, 0, 0, 0, 0, high, low] => Some(of(high, low)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIGURED: AddressRule = AddressRule::Configured(PlainHttp::ThisMachineOnly);
    const ANYWHERE: AddressRule = AddressRule::Configured(PlainHttp::Anywhere);

    #[test]
    fn what_the_person_did_not_configure_stays_on_this_machine() {
        for url in ["http://127.0.0.1:9/mcp", "http://localhost/", "http://[::1]:80/mcp", "http://127.9.9.9"] {
            assert!(Address::parse(url, AddressRule::ThisMachine).is_ok(), "{url}");
        }
        for (url, expected) in [
            ("https://127.0.0.1/mcp", AddressError::Elsewhere),
            ("http://example.com", AddressError::Elsewhere),
            ("http://127.0.0.1.example.com", AddressError::Elsewhere),
            ("http://10.0.0.1", AddressError::Elsewhere),
            ("http://localhost@example.com/", AddressError::WithUser),
            ("http://ada:x@localhost/", AddressError::WithUser),
            ("file:///etc/passwd", AddressError::NotHttp),
            ("nonsense", AddressError::NotHttp),
            ("", AddressError::NotHttp),
        ] {
            assert_eq!(Address::parse(url, AddressRule::ThisMachine), Err(expected), "{url}");
        }
    }

    #[test]
    fn a_name_leads_nowhere_else_whatever_it_is_resolved_to() {
        let reaches = |url, rule, ip: &str| Address::parse(url, rule).unwrap().may_reach(ip.parse().unwrap());
        for (ip, expected) in
            [("127.0.0.1", true), ("::1", true), ("::ffff:127.0.0.1", true), ("192.0.2.1", false), ("0.0.0.0", false)]
        {
            assert_eq!(reaches("http://localhost", CONFIGURED, ip), expected, "{ip}");
            assert_eq!(reaches("http://localhost", AddressRule::ThisMachine, ip), expected, "{ip}");
        }
        assert!(reaches("http://localhost", ANYWHERE, "192.0.2.1"));
        assert!(reaches("https://localhost", CONFIGURED, "192.0.2.1"));
        // Addresses where clouds serve credentials, and unspecified ones.
        for ip in [
            "169.254.169.254",
            "::ffff:169.254.169.254",
            "fe80::1",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
            "::169.254.169.254",
            "224.0.0.1",
            "ff02::1",
            "255.255.255.255",
        ] {
            assert!(!reaches("https://box.example", CONFIGURED, ip), "{ip}");
            assert!(!reaches("http://box.example", ANYWHERE, ip), "{ip}");
        }
    }

    /// T33: only names of the public web over TLS, and of those only public addresses.
    #[test]
    fn what_an_agent_names_leads_to_the_public_web_alone() {
        let parse = |url: &str| Address::parse(url, AddressRule::Public);
        assert!(parse("https://www.youtube.com/oembed?url=x").is_ok() && parse("https://a.example:443/").is_ok());
        for url in [
            "http://www.youtube.com/",
            "https://www.youtube.com:8443/",
            "https://127.0.0.1/",
            "https://[::1]/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://localhost/",
            "https://router/",
        ] {
            assert_eq!(parse(url), Err(AddressError::NotPublic), "{url}");
        }
        let beginning = "https://i.ytimg.com/";
        let of_length = |bytes: usize| format!("{beginning}{}", "x".repeat(bytes - beginning.len()));
        assert!(parse(&of_length(MAX_PUBLIC_BYTES)).is_ok());
        for bytes in [MAX_PUBLIC_BYTES + 1, 70_000] {
            assert_eq!(parse(&of_length(bytes)), Err(AddressError::TooLong));
        }
        // What is written shorter than it is sent.
        assert_eq!(parse(&format!("{beginning}{}", "ü".repeat(500))), Err(AddressError::TooLong));
        let reaches = |ip: &str| parse("https://www.youtube.com").unwrap().may_reach(ip.parse().unwrap());
        for ip in ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8", "100.63.0.1", "198.20.0.1"] {
            assert!(reaches(ip), "{ip}");
        }
        for ip in [
            "127.0.0.1",
            "127.9.9.9",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.100.100.200",
            "192.0.0.192",
            "192.0.2.1",
            "198.18.0.1",
            "203.0.113.1",
            "0.0.0.0",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::10.0.0.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "2002:a00:1::1",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!reaches(ip), "{ip}");
        }
    }
}
