//! The sites whose media have cards: where each is asked, and where its pictures come from.

use url::Url;
use url::form_urlencoded::Serializer;

use crate::embed::EmbedAddress;

/// A card is at most so wide and high.
const MAX_WIDTH: &str = "640";
const MAX_HEIGHT: &str = "360";

/// A site whose media have cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum EmbedProvider {
    YouTube,
    SoundCloud,
    Vimeo,
    Spotify,
    Twitter,
}

impl EmbedProvider {
    /// All of them, in words.
    pub const LIST: &'static str = "YouTube (videos and shorts), SoundCloud, Vimeo, Spotify (tracks, albums, playlists, episodes, shows), \
         Twitter/X (posts)";

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::YouTube => "YouTube",
            Self::SoundCloud => "SoundCloud",
            Self::Vimeo => "Vimeo",
            Self::Spotify => "Spotify",
            Self::Twitter => "Twitter/X",
        }
    }

    /// The address at which it says what is known of one of its own.
    pub(super) fn question(self, address: &EmbedAddress) -> String {
        let endpoint = match self {
            Self::YouTube => "https://www.youtube.com/oembed",
            Self::SoundCloud => "https://soundcloud.com/oembed",
            Self::Vimeo => "https://vimeo.com/api/oembed.json",
            Self::Spotify => "https://open.spotify.com/oembed",
            Self::Twitter => "https://publish.twitter.com/oembed",
        };
        let mut query = Serializer::new(String::new());
        query.append_pair("format", "json").append_pair("maxwidth", MAX_WIDTH).append_pair("maxheight", MAX_HEIGHT);
        if self == Self::Twitter {
            query.append_pair("omit_script", "true").append_pair("dnt", "true");
        }
        query.append_pair("url", address.url());
        format!("{endpoint}?{}", query.finish())
    }

    /// Whether a picture there is one of its own: its hosts end with one of these names, or are one.
    pub(super) fn has_picture_at(self, url: &str) -> bool {
        let hosts: &[&str] = match self {
            Self::YouTube => &["ytimg.com"],
            Self::SoundCloud => &["sndcdn.com"],
            Self::Vimeo => &["vimeocdn.com"],
            Self::Spotify => &["scdn.co", "spotifycdn.com"],
            Self::Twitter => &["twimg.com"],
        };
        let Ok(url) = Url::parse(url) else { return false };
        let is_host = |host: &str| {
            hosts.iter().any(|own| host.strip_suffix(own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
        };
        url.scheme() == "https" && url.port().is_none() && url.domain().is_some_and(is_host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_come_from_the_sites_own_hosts() {
        for (provider, url) in [
            (EmbedProvider::YouTube, "https://i.ytimg.com/vi/x/hq.jpg"),
            (EmbedProvider::SoundCloud, "https://i1.sndcdn.com/a.jpg"),
            (EmbedProvider::Vimeo, "https://i.vimeocdn.com/v/1"),
            (EmbedProvider::Spotify, "https://image-cdn-ak.spotifycdn.com/image/1"),
            (EmbedProvider::Spotify, "https://scdn.co/1"),
        ] {
            assert!(provider.has_picture_at(url), "{url}");
        }
        for url in [
            "http://i.ytimg.com/a.jpg",
            "https://i.ytimg.com:8443/a.jpg",
            "https://eviltimg.com/a.jpg",
            "https://evilytimg.com/a.jpg",
            "https://ytimg.com.evil.example/a.jpg",
            "https://ytimg.com@evil.example/a.jpg",
            "https://127.0.0.1/ytimg.com",
            "https://[::1]/",
            "https://i.ytimg.com.",
            "//i.ytimg.com/a",
            "",
        ] {
            assert!(!EmbedProvider::YouTube.has_picture_at(url), "{url}");
        }
    }

    #[test]
    fn each_site_is_asked_at_one_address_of_its_own() {
        let address = EmbedAddress::parse("https://youtu.be/dQw4w9WgXcQ").unwrap();
        assert_eq!(
            EmbedProvider::YouTube.question(&address),
            "https://www.youtube.com/oembed?format=json&maxwidth=640&maxheight=360&url=https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3DdQw4w9WgXcQ"
        );
    }
}
