//! Step two: Origin and Fetch-Metadata.
//!
//! Invariant: a browser's request passes only if the page that caused it has the same scheme, host and port as the
//! name that the request came to, or if it is a plain link to the page, which holds no data. `Sec-Fetch-Mode` alone
//! never decides: JupyterHub read `no-cors` as same-origin.

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};

use crate::{
    arrival::Channel,
    door::Group,
    host::{Authority, RequestedName, Scheme},
    refusal::Refusal,
};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// What the headers prove about the page behind the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Provenance {
    pub(crate) origin_matches: bool,
    pub(crate) same_origin_fetch: bool,
}

impl Provenance {
    /// A cookie is sent automatically, so it counts only if the browser confirms that our own page sent the request.
    pub(crate) fn admits_cookie(self, group: Group) -> Result<(), Refusal> {
        match group {
            // A script on any page can open a WebSocket, and its upgrade always carries an Origin.
            Group::Live if !self.origin_matches => Err(Refusal::OriginMissing),
            Group::Protected if !(self.origin_matches || self.same_origin_fetch) => Err(Refusal::CrossSite),
            Group::Live | Group::Protected | Group::Open | Group::Page => Ok(()),
        }
    }
}

pub(crate) fn check(
    method: &Method,
    headers: &HeaderMap,
    channel: &Channel,
    named: &RequestedName,
    group: Group,
) -> Result<Provenance, Refusal> {
    if matches!(channel, Channel::Local)
        && (headers.contains_key(header::ORIGIN) || headers.contains_key(header::REFERER))
    {
        // No browser uses the Unix socket, so a browser's header means that someone relays one to us.
        return Err(Refusal::OriginNotAllowed);
    }
    let origin_matches = match single_value(headers, &header::ORIGIN).map_err(|Repeated| Refusal::OriginNotAllowed)? {
        None => false,
        Some(origin) if parse_origin(origin).as_ref() == Some(named) => true,
        Some(_) => return Err(Refusal::OriginNotAllowed),
    };
    let site = single_value(headers, &SEC_FETCH_SITE).map_err(|Repeated| Refusal::CrossSite)?;
    let same_origin_fetch = match site.map(HeaderValue::as_bytes) {
        Some(b"same-origin") => true,
        None | Some(b"none") => false,
        Some(_) if group == Group::Page && is_navigation(method, headers) => false,
        Some(_) => return Err(Refusal::CrossSite),
    };
    Ok(Provenance { origin_matches, same_origin_fetch })
}

fn parse_origin(value: &HeaderValue) -> Option<RequestedName> {
    let (scheme, rest) = Scheme::split(value.to_str().ok()?)?;
    let authority: Authority = rest.parse().ok()?;
    Some(RequestedName { authority, scheme })
}

/// A click on a link or an entered address, at top level: a frame has another `Sec-Fetch-Dest`.
fn is_navigation(method: &Method, headers: &HeaderMap) -> bool {
    let is = |name: HeaderName, expected: &str| {
        single_value(headers, &name).ok().flatten().is_some_and(|value| value.as_bytes() == expected.as_bytes())
    };
    matches!(*method, Method::GET | Method::HEAD) && is(SEC_FETCH_MODE, "navigate") && is(SEC_FETCH_DEST, "document")
}

pub(crate) struct Repeated;

/// The value of a header that must not be repeated: attacks exploit that readers choose differently between two.
pub(crate) fn single_value<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, Repeated> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (first, None) => Ok(first),
        (_, Some(_)) => Err(Repeated),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bind::Exposure;

    fn judge(host: &str, origin: &[u8]) -> Result<Provenance, Refusal> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ORIGIN, HeaderValue::from_bytes(origin).unwrap());
        let channel =
            Channel::Tcp { peer: "127.0.0.1:1".parse().unwrap(), bound_port: 7777, exposure: Exposure::Plain };
        let named = RequestedName { authority: host.parse().unwrap(), scheme: Scheme::Http };
        check(&Method::GET, &headers, &channel, &named, Group::Protected)
    }

    #[test]
    fn an_origin_is_compared_as_a_whole() {
        assert!(judge("localhost:7777", b"http://localhost:7777").unwrap().origin_matches);
        for origin in [
            "null",
            "",
            "http://localhost",
            "http://localhost:77777",
            "https://localhost:7777",
            "localhost:7777",
            "http://localhost:7777/",
            "http://localhost:7777.evil.example",
            "http://evil.example",
            "http://x@localhost:7777",
            "HTTP://localhost:7777",
            "http://127.0.0.1:7777",
            "http://localhost:7777 ",
            "http://localhost:7777, http://localhost:7777",
            "file://",
            "http://",
        ] {
            assert_eq!(judge("localhost:7777", origin.as_bytes()), Err(Refusal::OriginNotAllowed), "{origin:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_accepted_is_the_host_itself(
            before in "[ -~]{0,2}", cut in 0_usize..22, after in "[ -~]{0,3}", kept in any::<bool>(),
        ) {
            let whole = "http://localhost:7777";
            let middle = if kept { whole } else { whole.get(..cut).unwrap_or(whole) };
            let origin = format!("{before}{middle}{after}");
            let accepted = judge("localhost:7777", origin.as_bytes()).is_ok();
            prop_assert_eq!(accepted, origin.to_ascii_lowercase() == whole && origin.starts_with("http"), "{:?}", origin);
        }

        #[test]
        fn no_bytes_panic_or_pass(origin in prop::collection::vec(0x20_u8..=0xff, 0..40)) {
            prop_assume!(!origin.contains(&0x7f));
            prop_assert_eq!(judge("localhost:7777", &origin), Err(Refusal::OriginNotAllowed));
        }
    }
}
