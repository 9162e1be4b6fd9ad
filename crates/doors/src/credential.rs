//! Step three: reads the caller's credential.
//!
//! Invariant: one extractor reads credentials, from headers only, and returns one or none. Two at once are refused
//! instead of ranked, because a rank is a scope check that one of them skips. Afterwards the request carries no
//! credential, so no handler can read it again or log it.

use http::{HeaderMap, HeaderName, header};

use crate::{arrival::Channel, origin, principal::Principal, refusal::Refusal, secret::Secret};

/// The header with the half of a browser's credential that scripts of other origins can not have.
pub const PROOF_HEADER: HeaderName = HeaderName::from_static("x-throughline-proof");

/// Longer ones are not ours, and are not worth hashing.
const MAX_SECRET_BYTES: usize = 512;

/// The credential that the caller presented.
#[derive(Debug, Clone)]
pub enum Presented {
    Bearer(Secret),
    Cookie {
        cookie: Secret,
        proof: Secret,
    },
    /// A process of the right uid on the Unix socket, or this process itself.
    Peer,
}

/// Maps a credential to its principal. The server stores the credentials (hashed, compared in constant time).
pub trait Gatekeeper: Send + Sync + 'static {
    fn admit(&self, presented: &Presented) -> Option<Principal>;
    /// Whether the cookie is half of a credential that the right proof would complete. An upgrade whose proof is
    /// still to come is admitted on this alone.
    fn knows_cookie(&self, cookie: &Secret) -> bool;
    /// The cookie's name contains the instance, so that two servers on one host do not overwrite each other's.
    fn cookie_name(&self) -> &str;
}

/// What the extractor found, before it was checked.
#[derive(Debug)]
pub(crate) enum FoundCredential {
    Nothing,
    /// An Authorization header without a bearer token.
    Unreadable,
    CookieAlone(Secret),
    Whole(Presented),
}

/// Removes every credential from the headers and returns what it found.
pub(crate) fn take(headers: &mut HeaderMap, cookie_name: &str, channel: &Channel) -> Result<FoundCredential, Refusal> {
    let shown = read(headers, cookie_name, channel);
    for name in [header::AUTHORIZATION, header::COOKIE, PROOF_HEADER] {
        headers.remove(name);
    }
    shown
}

fn read(headers: &HeaderMap, cookie_name: &str, channel: &Channel) -> Result<FoundCredential, Refusal> {
    let once = |name| origin::single_value(headers, name).map_err(|origin::Repeated| Refusal::AmbiguousCredentials);
    let authorization = once(&header::AUTHORIZATION)?;
    let proof = once(&PROOF_HEADER)?;
    let cookie = find_cookie(headers, cookie_name)?;
    let local = matches!(channel, Channel::Local);

    match (authorization, cookie, proof) {
        (Some(value), None, None) => {
            let token = value.to_str().ok().and_then(bearer_token);
            Ok(token.map_or(FoundCredential::Unreadable, |token| FoundCredential::Whole(Presented::Bearer(token))))
        }
        (None, None, None) if local => Ok(FoundCredential::Whole(Presented::Peer)),
        // A browser's credential makes no sense on the Unix socket, where the peer itself is one.
        (_, Some(_), _) | (_, _, Some(_)) if local => Err(Refusal::AmbiguousCredentials),
        (Some(_), Some(_), _) | (Some(_), _, Some(_)) => Err(Refusal::AmbiguousCredentials),
        (None, Some(cookie), Some(proof)) => {
            let proof = proof.to_str().ok().filter(|text| (1..=MAX_SECRET_BYTES).contains(&text.len()));
            Ok(proof.map_or(FoundCredential::Unreadable, |proof| {
                FoundCredential::Whole(Presented::Cookie { cookie, proof: Secret::new(proof) })
            }))
        }
        (None, Some(cookie), None) => Ok(FoundCredential::CookieAlone(cookie)),
        (None, None, Some(_)) => Ok(FoundCredential::Unreadable),
        (None, None, None) => Ok(FoundCredential::Nothing),
    }
}

fn bearer_token(value: &str) -> Option<Secret> {
    let (scheme, token) = value.split_once(' ')?;
    let well_formed = scheme.eq_ignore_ascii_case("bearer")
        && (1..=MAX_SECRET_BYTES).contains(&token.len())
        && token.bytes().all(|byte| byte.is_ascii_graphic());
    well_formed.then(|| Secret::new(token))
}

/// The value of our cookie. Two different values mean that a page on another port planted one ("cookie tossing");
/// nobody can tell which one is ours, so both are refused.
fn find_cookie(headers: &HeaderMap, cookie_name: &str) -> Result<Option<Secret>, Refusal> {
    let mut found: Option<&str> = None;
    for value in headers.get_all(header::COOKIE) {
        // Cookies of other programs on this host may hold any bytes; only ours must be readable.
        for pair in value.as_bytes().split(|byte| *byte == b';') {
            let Some(text) = pair.trim_ascii().strip_prefix(cookie_name.as_bytes()) else { continue };
            let Some(text) = text.strip_prefix(b"=") else { continue };
            let text = std::str::from_utf8(text).map_err(|_| Refusal::AmbiguousCredentials)?;
            if found.is_some_and(|first| first != text) || text.len() > MAX_SECRET_BYTES {
                return Err(Refusal::AmbiguousCredentials);
            }
            found = Some(text);
        }
    }
    // An empty value is a cookie that was cleared.
    Ok(found.filter(|text| !text.is_empty()).map(Secret::new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::Exposure;

    /// Describes what the extractor returns for header lines, with the secrets shown.
    fn shown(lines: &[(&'static str, &str)], channel: &Channel) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        let shown = take(&mut headers, "tl_7", channel);
        assert!(headers.keys().all(|name| !["authorization", "cookie"].contains(&name.as_str())), "{headers:?}");
        match shown {
            Ok(FoundCredential::Whole(Presented::Bearer(token))) => format!("bearer {}", token.expose()),
            Ok(FoundCredential::Whole(Presented::Cookie { cookie, proof })) => {
                format!("cookie {} proof {}", cookie.expose(), proof.expose())
            }
            Ok(FoundCredential::Whole(Presented::Peer)) => "peer".to_owned(),
            Ok(FoundCredential::CookieAlone(cookie)) => format!("cookie {}", cookie.expose()),
            Ok(FoundCredential::Nothing) => "nothing".to_owned(),
            Ok(FoundCredential::Unreadable) => "unreadable".to_owned(),
            Err(refusal) => refusal.code().to_owned(),
        }
    }

    #[test]
    fn one_way_or_none() {
        let bearer = ("authorization", "Bearer abc");
        let cookie = ("cookie", "a=b; tl_7=xyz; tl_77=no");
        let proof = ("x-throughline-proof", "p1");
        let tcp = Channel::Tcp { peer: "127.0.0.1:1".parse().unwrap(), bound_port: 1, exposure: Exposure::Plain };
        for (lines, expected) in [
            (vec![], "nothing"),
            (vec![bearer], "bearer abc"),
            (vec![("authorization", "bearer abc")], "bearer abc"),
            (vec![("authorization", "Basic abc")], "unreadable"),
            (vec![("authorization", "Bearer ")], "unreadable"),
            (vec![("authorization", "Bearer a b")], "unreadable"),
            (vec![bearer, bearer], "ambiguous_credentials"),
            (vec![cookie], "cookie xyz"),
            (vec![cookie, proof], "cookie xyz proof p1"),
            (vec![proof], "unreadable"),
            (vec![cookie, proof, proof], "ambiguous_credentials"),
            (vec![cookie, proof, bearer], "ambiguous_credentials"),
            (vec![cookie, bearer], "ambiguous_credentials"),
            (vec![proof, bearer], "ambiguous_credentials"),
            (vec![cookie, ("cookie", "tl_7=xyz")], "cookie xyz"),
            (vec![cookie, ("cookie", "tl_7=tossed")], "ambiguous_credentials"),
            (vec![("cookie", "tl_7=")], "nothing"),
            (vec![("cookie", "tl_70=xyz; TL_7=xyz; tl_7")], "nothing"),
        ] {
            assert_eq!(shown(&lines, &tcp), expected, "{lines:?}");
        }
        for (lines, expected) in [
            (vec![], "peer"),
            (vec![bearer], "bearer abc"),
            (vec![cookie], "ambiguous_credentials"),
            (vec![cookie, proof], "ambiguous_credentials"),
        ] {
            assert_eq!(shown(&lines, &Channel::Local), expected, "{lines:?}");
        }
    }
}
