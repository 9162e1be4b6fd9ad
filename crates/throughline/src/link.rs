//! Links to the page: an address and, after the `#`, what browsers never send.

use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

const LOOPBACK_NAMES: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// `https://box.example:7417`: the address of the page for a device, without a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageAddress(String);

impl PageAddress {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Name and port, as in the Host header.
    pub(crate) fn authority(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, authority)| authority)
    }

    fn name(&self) -> &str {
        let authority = self.authority();
        match authority.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            Some(_) | None => authority,
        }
    }

    fn is_loopback(&self) -> bool {
        LOOPBACK_NAMES.contains(&self.name())
    }
}

impl FromStr for PageAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let uri = text.trim_end_matches('/').parse::<http::Uri>().ok();
        let uri = uri.filter(|uri| uri.path() == "/" && uri.query().is_none() && !text.contains(['@', '#']));
        let parts = uri.as_ref().and_then(|uri| Some((uri.scheme_str()?, uri.authority()?)));
        let expected = "expected an address such as https://box.example or https://box.example:7417";
        match parts {
            Some((scheme @ ("https" | "http"), authority)) => {
                let address = Self(format!("{scheme}://{authority}").to_lowercase());
                // Over plain HTTP anybody on the way could read the code and sign in first.
                if scheme == "https" || address.is_loopback() {
                    Ok(address)
                } else {
                    Err(format!("over http anybody on the network reads the link's code; {expected}"))
                }
            }
            Some(_) | None => Err(expected.to_owned()),
        }
    }
}

/// Whether a server with these names beside loopback accepts the address, whatever its port.
pub(crate) fn is_answered(at: &PageAddress, hosts: &[String]) -> bool {
    let (authority, name) = (at.authority(), at.name());
    let known = hosts.iter().map(|host| host.split_once("://").map_or(host.as_str(), |(_, rest)| rest));
    at.is_loopback()
        || known
            .map(|host| host.trim_end_matches('/'))
            .any(|host| host.eq_ignore_ascii_case(authority) || host.eq_ignore_ascii_case(name))
}

/// A link's address and the part after its `#`.
pub(crate) fn split(link: &str) -> Option<(&str, &str)> {
    link.split_once("/#")
}

/// The same link with the offer of a new session in a directory.
pub(crate) fn with_new_session(link: &str, directory: &str) -> String {
    // Slashes stay readable.
    format!("{link}&new={}", encoded(directory).replace("%2F", "/"))
}

/// The text encoded for an address.
pub(crate) fn encoded(text: &str) -> String {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_words_go_into_an_address() {
        assert_eq!(encoded("a b&c=\"d\" ü%"), "a%20b%26c%3D%22d%22%20%C3%BC%25");
    }

    #[test]
    fn an_address_is_a_scheme_and_a_name() {
        let taken = |text: &str| text.parse::<PageAddress>().map(|address| address.0);
        assert_eq!(taken("https://Box.example/").as_deref(), Ok("https://box.example"));
        for text in ["http://[::1]:7417", "http://localhost", "http://127.0.0.1:1"] {
            assert_eq!(taken(text).as_deref(), Ok(text), "a tunnel ends here");
        }
        for text in ["http://box.example", "http://192.168.1.2:7417", "http://localhost.example", "HTTP://box:1"] {
            assert!(taken(text).unwrap_err().contains("over http"), "{text}");
        }
        for text in [
            "box.example",
            "box.example:7417",
            "ftp://box.example",
            "https://",
            "https://a/b",
            "https://a?b",
            "https://a#b",
            "https://u@a",
            "",
        ] {
            assert!(taken(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_names_of_the_configuration_are_recognised_in_an_address() {
        let hosts = ["Box.example".to_owned(), "https://proxied.example".to_owned(), "other.example:8443".to_owned()];
        let answered = |text: &str| is_answered(&text.parse().unwrap(), &hosts);
        for text in [
            "https://box.example",
            "https://box.example:1",
            "https://proxied.example",
            "https://other.example:8443",
            "http://[::1]:1",
        ] {
            assert!(answered(text), "{text}");
        }
        for text in ["https://other.example", "https://box.example.org", "https://[fd00::1]:7417", "https://ox.example"]
        {
            assert!(!answered(text), "{text}");
        }
    }

    #[test]
    fn a_directory_is_written_so_that_the_page_reads_it_as_it_is() {
        assert_eq!(with_new_session("u/#code=c", "/a b/ä&c=d+e"), "u/#code=c&new=/a%20b/%C3%A4%26c%3Dd%2Be");
    }
}
