//! Which model is asked, at which address, and with which key.
//!
//! Invariant: an accepted address can be used: it goes over TLS, or to this machine, or the person has allowed plain
//! HTTP; and it holds no secret. An accepted key can be sent. No `Debug` shows it.

use std::fmt;

use http::HeaderValue;
use serde::{Deserialize, Serialize};

use crate::outbound::{Address, AddressError, AddressRule, PlainHttp, TrustError};

/// Whose API is used. Many servers of others offer OpenAI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// Chat completions.
    OpenAi,
    /// Messages.
    Anthropic,
    /// Ollama's own chat API.
    Ollama,
}

impl ProviderKind {
    /// The address that is used if none is configured.
    pub fn default_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }

    /// Whether the default address requires a key.
    pub fn default_url_needs_key(self) -> bool {
        match self {
            Self::OpenAi | Self::Anthropic => true,
            Self::Ollama => false,
        }
    }
}

/// Everything that is needed to ask a model.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    pub kind: ProviderKind,
    pub url: ProviderUrl,
    pub model: String,
    pub key: Option<ProviderKey>,
}

/// Why the configuration of a provider is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderSetupError {
    #[error("the address of the provider is none that begins with https:// or http:// and names a host")]
    Url,
    #[error(
        "the address of the provider holds a user, a query or a fragment: a key does not go there, leave them away"
    )]
    UrlWithMore,
    #[error(
        "the address of the provider begins with http://, so that what is sent could be read on the way: use https://, \
         or say that it may be plain"
    )]
    Plain,
    #[error(
        "the key of the provider is empty or holds characters that can not be sent in a header: look at where it is kept"
    )]
    Key,
    #[error("the model has no name, or one with characters that no name has")]
    Model,
    #[error("no certificates of this system were found to know the provider by: install them (often: ca-certificates)")]
    NoCertificates,
    #[error("TLS can not be used: {0}")]
    Tls(String),
}

impl From<AddressError> for ProviderSetupError {
    fn from(err: AddressError) -> Self {
        match err {
            AddressError::NotHttp | AddressError::Elsewhere | AddressError::NotPublic | AddressError::TooLong => {
                Self::Url
            }
            AddressError::WithUser => Self::UrlWithMore,
            AddressError::Plain => Self::Plain,
        }
    }
}

impl From<TrustError> for ProviderSetupError {
    fn from(err: TrustError) -> Self {
        match err {
            TrustError::NoCertificates => Self::NoCertificates,
            TrustError::Name => Self::Url,
            TrustError::Tls(why) => Self::Tls(why),
        }
    }
}

/// The base address of a provider.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderUrl(Address);

impl ProviderUrl {
    pub fn parse(text: &str, plain: PlainHttp) -> Result<Self, ProviderSetupError> {
        let address = Address::parse(text, AddressRule::Configured(plain))?;
        if address.query().is_some() || address.has_fragment() {
            return Err(ProviderSetupError::UrlWithMore);
        }
        Ok(Self(address))
    }

    pub(super) fn address(&self) -> &Address {
        &self.0
    }

    /// The path of `endpoint` below this address. Parts that the address already has are not repeated: people paste
    /// addresses with and without `/v1`, and whole ones.
    pub(super) fn path_of(&self, endpoint: &[&str]) -> String {
        let base: Vec<&str> = self.0.path().split('/').filter(|part| !part.is_empty()).collect();
        let shared = (0..=endpoint.len()).rev().find(|count| base.ends_with(&endpoint[..*count])).unwrap_or(0);
        let parts = base.iter().chain(&endpoint[shared..]);
        parts.fold(String::new(), |path, part| path + "/" + part)
    }
}

impl fmt::Display for ProviderUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for ProviderUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A provider's key. It is exposed through one method only.
#[derive(Clone)]
pub struct ProviderKey(String);

impl ProviderKey {
    /// Spaces and line ends around it are removed: files end in one.
    pub fn new(text: &str) -> Result<Self, ProviderSetupError> {
        let key = text.trim();
        let can_be_sent = HeaderValue::from_str(key).is_ok_and(|value| value.to_str().is_ok());
        if key.is_empty() || !can_be_sent {
            return Err(ProviderSetupError::Key);
        }
        Ok(Self(key.to_owned()))
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ProviderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_addresses_lead_to_this_machine_or_are_wanted() {
        let parse = |text| ProviderUrl::parse(text, PlainHttp::ThisMachineOnly).map(|url| url.to_string());
        for here in
            ["http://127.0.0.1:11434", "http://127.9.9.9/", "http://localhost:1/v1", "http://[::1]:1", "http://127.1"]
        {
            assert!(parse(here).is_ok(), "{here}");
        }
        for elsewhere in [
            "http://box.example",
            "http://192.168.0.7:11434",
            "http://localhost.example",
            "http://localhost.",
            "http://127.0.0.1.nip.example",
            "http://0.0.0.0:1",
            "http://[::]:1",
        ] {
            assert_eq!(parse(elsewhere), Err(ProviderSetupError::Plain), "{elsewhere}");
            assert!(ProviderUrl::parse(elsewhere, PlainHttp::Anywhere).is_ok(), "{elsewhere}");
        }
        assert!(parse("https://box.example:8443/v1").is_ok());
    }

    #[test]
    fn an_address_is_one_and_holds_no_secret() {
        let parse = |text| ProviderUrl::parse(text, PlainHttp::Anywhere).map(|url| url.to_string());
        for wrong in ["", "box.example", "ftp://box.example", "file:///etc/passwd", "unix:/x", "https://"] {
            assert_eq!(parse(wrong), Err(ProviderSetupError::Url), "{wrong}");
        }
        for more in [
            "https://ada:x@box.example",
            "https://ada@box.example",
            "https://box.example?key=x",
            "https://box.example#x",
        ] {
            assert_eq!(parse(more), Err(ProviderSetupError::UrlWithMore), "{more}");
        }
    }

    #[test]
    fn an_endpoint_is_found_below_the_address_however_it_was_pasted() {
        let path = |url, endpoint: &[&str]| ProviderUrl::parse(url, PlainHttp::Anywhere).unwrap().path_of(endpoint);
        let cases = [
            ("https://api.anthropic.com", "/v1/messages"),
            ("https://api.anthropic.com/", "/v1/messages"),
            ("https://api.anthropic.com/v1", "/v1/messages"),
            ("https://api.anthropic.com/v1/messages", "/v1/messages"),
            ("https://box.example/proxy/", "/proxy/v1/messages"),
            ("https://box.example/messages", "/messages/v1/messages"),
        ];
        for (url, expected) in cases {
            assert_eq!(path(url, &["v1", "messages"]), expected, "{url}");
        }
        assert_eq!(path("http://x/v1/chat/completions", &["chat", "completions"]), "/v1/chat/completions");
    }

    #[test]
    fn a_key_can_be_sent_and_is_not_shown() {
        let key = ProviderKey::new(" canary-4711\n").unwrap();
        assert_eq!(key.expose(), "canary-4711");
        assert_eq!(format!("{key:?}"), "[secret]");
        for wrong in ["", " \n", "a\nb", "a\0b", "schlüssel"] {
            assert_eq!(ProviderKey::new(wrong).unwrap_err(), ProviderSetupError::Key, "{wrong:?}");
        }
    }
}
