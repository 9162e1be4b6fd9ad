//! Addresses of media that have cards, in the one spelling that is kept.
//!
//! Invariant: what was parsed is made anew from the parts that were recognised, so that nothing else of what an agent wrote
//! (a user, a port, a query, a fragment) is in it.

use url::{Host, Url};

use crate::embed::EmbedProvider;

const MAX_BYTES: usize = 2_000;
/// Longest name of a person or a piece in a path.
const MAX_NAME: usize = 200;

/// The address of something that has a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedAddress {
    provider: EmbedProvider,
    url: String,
}

/// Why an address has no card.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no card for this address; cards are for https addresses of {}", EmbedProvider::LIST)]
pub struct EmbedAddressError;

impl EmbedAddress {
    /// Reads an address as people copy it.
    pub fn parse(text: &str) -> Result<Self, EmbedAddressError> {
        Self::find(text).ok_or(EmbedAddressError)
    }

    /// Whether an address has a card, and it is one of this provider's, by the name that people call it.
    pub fn is_of(text: &str, provider: &str) -> bool {
        Self::find(text).is_some_and(|address| address.provider.name() == provider)
    }

    /// Whose it is.
    pub fn provider(&self) -> EmbedProvider {
        self.provider
    }

    /// The address in its one spelling.
    pub fn url(&self) -> &str {
        &self.url
    }

    fn find(text: &str) -> Option<Self> {
        // Parsers differ in what they skip; what is not plain text is not looked at.
        if text.len() > MAX_BYTES || !text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
            return None;
        }
        let url = Url::parse(text).ok()?;
        let is_plain = url.scheme() == "https" && url.username().is_empty() && url.password().is_none();
        if !is_plain || url.port().is_some() || !text.get(..8)?.eq_ignore_ascii_case("https://") {
            return None;
        }
        let Some(Host::Domain(host)) = url.host() else { return None };
        let path: Vec<&str> = url.path_segments()?.filter(|segment| !segment.is_empty()).collect();
        let (provider, url) = match host {
            "youtube.com" | "www.youtube.com" | "m.youtube.com" | "music.youtube.com" | "www.youtube-nocookie.com" => {
                (EmbedProvider::YouTube, youtube(&url, &path)?)
            }
            "youtu.be" => (EmbedProvider::YouTube, video(path.first()?)?),
            "soundcloud.com" | "www.soundcloud.com" | "m.soundcloud.com" => {
                (EmbedProvider::SoundCloud, soundcloud(&path)?)
            }
            "vimeo.com" | "www.vimeo.com" | "player.vimeo.com" => (EmbedProvider::Vimeo, vimeo(host, &path)?),
            "open.spotify.com" => (EmbedProvider::Spotify, spotify(&path)?),
            "twitter.com" | "www.twitter.com" | "mobile.twitter.com" | "x.com" | "www.x.com" => {
                (EmbedProvider::Twitter, post(&path)?)
            }
            _ => return None,
        };
        Some(Self { provider, url })
    }
}

fn youtube(url: &Url, path: &[&str]) -> Option<String> {
    match *path {
        ["watch"] => {
            let (_, id) = url.query_pairs().find(|(name, _)| name == "v")?;
            video(&id)
        }
        ["embed" | "shorts" | "live", id] => video(id),
        _ => None,
    }
}

fn video(id: &str) -> Option<String> {
    (id.len() == 11 && is_name(id)).then(|| format!("https://www.youtube.com/watch?v={id}"))
}

fn soundcloud(path: &[&str]) -> Option<String> {
    let is_piece = match *path {
        [person, piece] => is_name(person) && is_name(piece),
        [person, "sets", set] => is_name(person) && is_name(set),
        _ => false,
    };
    is_piece.then(|| format!("https://soundcloud.com/{}", path.join("/")))
}

fn vimeo(host: &str, path: &[&str]) -> Option<String> {
    let id = match (host, path) {
        ("player.vimeo.com", ["video", id]) => *id,
        ("player.vimeo.com", _) => return None,
        (_, [id]) => *id,
        // One that is not listed has a second half.
        (_, [id, half]) if is_number(id) && is_name(half) => return Some(format!("https://vimeo.com/{id}/{half}")),
        _ => return None,
    };
    is_number(id).then(|| format!("https://vimeo.com/{id}"))
}

fn spotify(path: &[&str]) -> Option<String> {
    let path = match path {
        // The language of the page is no part of what it shows.
        [language, rest @ ..] if language.starts_with("intl-") => rest,
        path => path,
    };
    let (kind, id) = match *path {
        [kind @ ("track" | "album" | "playlist" | "episode" | "show"), id] => (kind, id),
        ["embed", kind @ ("track" | "album" | "playlist" | "episode" | "show"), id] => (kind, id),
        _ => return None,
    };
    let is_id = id.len() == 22 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_id.then(|| format!("https://open.spotify.com/{kind}/{id}"))
}

fn post(path: &[&str]) -> Option<String> {
    let [person, "status", id, ..] = *path else { return None };
    let is_person = person.len() <= 50 && person.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_person && is_number(id)).then(|| format!("https://twitter.com/{person}/status/{id}"))
}

fn is_name(text: &str) -> bool {
    (1..=MAX_NAME).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn is_number(text: &str) -> bool {
    (1..=20).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_spelling_of_a_site_becomes_one() {
        let watch = "https://www.youtube.com/watch?v=dQw4w9WgXcQ";
        let (track, tweet) =
            ("https://open.spotify.com/track/4uLU6hMCjMI75M1A2tKUQC", "https://twitter.com/ada/status/123");
        for (text, url) in [
            ("https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=3s&list=x", watch),
            ("https://youtube.com/watch?a=b&v=dQw4w9WgXcQ#t", watch),
            ("https://m.youtube.com/watch?v=dQw4w9WgXcQ", watch),
            ("https://youtu.be/dQw4w9WgXcQ?si=x", watch),
            ("https://www.youtube.com/embed/dQw4w9WgXcQ", watch),
            ("https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ", watch),
            ("https://www.youtube.com/shorts/dQw4w9WgXcQ/", watch),
            ("HTTPS://WWW.YOUTUBE.COM:443/watch?v=dQw4w9WgXcQ", watch),
            ("https://soundcloud.com/ada/loom?utm=1", "https://soundcloud.com/ada/loom"),
            ("https://m.soundcloud.com/ada/sets/weft", "https://soundcloud.com/ada/sets/weft"),
            ("https://vimeo.com/76979871", "https://vimeo.com/76979871"),
            ("https://vimeo.com/76979871/abc123", "https://vimeo.com/76979871/abc123"),
            ("https://player.vimeo.com/video/76979871?h=1", "https://vimeo.com/76979871"),
            ("https://open.spotify.com/intl-de/track/4uLU6hMCjMI75M1A2tKUQC?si=1", track),
            ("https://open.spotify.com/embed/track/4uLU6hMCjMI75M1A2tKUQC", track),
            ("https://x.com/ada/status/123/photo/1", tweet),
            ("https://mobile.twitter.com/ada/status/123?s=20", tweet),
        ] {
            assert_eq!(EmbedAddress::parse(text).map(|address| address.url), Ok(url.to_owned()), "{text}");
        }
        for kind in ["album", "playlist", "episode", "show"] {
            let text = format!("https://open.spotify.com/{kind}/4uLU6hMCjMI75M1A2tKUQC");
            assert_eq!(EmbedAddress::parse(&text).unwrap().url(), text);
        }
    }

    /// T33: other hosts, other ports, other schemes, and what two parsers would read differently.
    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "youtube.com/watch?v=dQw4w9WgXcQ",
            "http://www.youtube.com/watch?v=dQw4w9WgXcQ",
            "https:www.youtube.com/watch?v=dQw4w9WgXcQ",
            "https:/www.youtube.com/watch?v=dQw4w9WgXcQ",
            "https:\\\\www.youtube.com/watch?v=dQw4w9WgXcQ",
            "https://evil.example\\@www.youtube.com/watch?v=dQw4w9WgXcQ",
            "https://www.youtube.com@evil.example/watch?v=dQw4w9WgXcQ",
            "https://ada:x@www.youtube.com/watch?v=dQw4w9WgXcQ",
            "https://www.youtube.com:8443/watch?v=dQw4w9WgXcQ",
            "https://www.youtube.com.evil.example/watch?v=dQw4w9WgXcQ",
            "https://www.youtube.com./watch?v=dQw4w9WgXcQ",
            "https://evilyoutube.com/watch?v=dQw4w9WgXcQ",
            "https://accounts.youtube.com/watch?v=dQw4w9WgXcQ",
            "https://www.youtube.com/watch?v=dQw4w9WgXc",
            "https://www.youtube.com/watch?v=../../../a1",
            "https://www.youtube.com/redirect?q=https://evil.example",
            "https://www.youtube.com/watch?v=dQw4w9WgX%0d",
            "https://youtu.be/",
            "https://127.0.0.1/watch?v=dQw4w9WgXcQ",
            "https://[::1]/watch?v=dQw4w9WgXcQ",
            "https://2130706433/watch?v=dQw4w9WgXcQ",
            "https://soundcloud.com/ada",
            "https://soundcloud.com/ada/loom/more/parts",
            "https://on.soundcloud.com/abc",
            "https://vimeo.com/ondemand",
            "https://player.vimeo.com/76979871",
            "https://open.spotify.com/user/ada",
            "https://open.spotify.com/track/short",
            "https://spotify.com/track/4uLU6hMCjMI75M1A2tKUQC",
            "https://x.com/ada",
            "https://x.com/ada/status/abc",
            "https://x.com/i/../ada/status/",
            "https://www.youtube.com/watch?v=dQw4w9WgXcQ\n",
            "https://www.youtube.com/wa\ttch?v=dQw4w9WgXcQ",
            "https://www.youtübe.com/watch?v=dQw4w9WgXcQ",
            "javascript:alert(1)",
            "file:///etc/passwd",
        ] {
            assert_eq!(EmbedAddress::parse(text), Err(EmbedAddressError), "{text:?}");
        }
        let long = format!("https://www.youtube.com/watch?v=dQw4w9WgXcQ&x={}", "x".repeat(MAX_BYTES));
        assert_eq!(EmbedAddress::parse(&long), Err(EmbedAddressError));
        let said = EmbedAddressError.to_string();
        assert!(["YouTube", "SoundCloud", "Vimeo", "Spotify", "Twitter/X"].iter().all(|name| said.contains(name)));
    }

    proptest! {
        #[test]
        fn whatever_passes_is_an_address_of_a_known_site(text in "https://[ -~]{0,10}(youtube\\.com|x\\.com|vimeo\\.com)[ -~]{0,30}") {
            if let Ok(address) = EmbedAddress::parse(&text) {
                let url = Url::parse(address.url()).unwrap();
                prop_assert!(["www.youtube.com", "twitter.com", "vimeo.com"].contains(&url.host_str().unwrap()));
                prop_assert_eq!(EmbedAddress::parse(address.url()), Ok(address));
            }
        }
    }
}
