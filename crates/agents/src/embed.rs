//! Media of other sites: which addresses have a card, and what their sites say of them.
//!
//! Invariants: only addresses of [`EmbedProvider`]s are taken, by exact hosts and over https; what is asked for goes to a fixed
//! address of that provider, and a picture comes only from hosts of its own. Everything goes through `outbound.rs`: public
//! addresses alone, checked after resolving, and no redirect is followed. What a site says is text of a stranger: it leaves here
//! bounded and in one line. Markup that a site would have shown is not read at all.

mod address;
mod provider;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use crate::outbound::{
    Address, AddressRule, OutboundClient, OutboundError, OutboundLimits, OutboundNetwork, TrustError,
};
pub use address::{EmbedAddress, EmbedAddressError};
pub use provider::EmbedProvider;

#[cfg(any(test, feature = "test-support"))]
pub use crate::outbound::StagedNetwork;

/// How long a card may take, whatever there is to wait for: its turn, the answer about it and its picture.
const LIMIT: Duration = Duration::from_secs(5);
/// How large an answer may be.
const MAX_BYTES: usize = 1 << 20;
/// How many are asked at once.
const AT_ONCE: usize = 4;
const MAX_TITLE_CHARS: usize = 200;
const MAX_AUTHOR_CHARS: usize = 100;

/// What a site says of an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmbedDetails {
    /// What it is called; one line.
    pub title: Option<String>,
    /// Who made it; one line.
    pub author: Option<String>,
    /// The bytes of a small picture; they may be anything.
    pub thumbnail: Option<Vec<u8>>,
}

/// Why a site has no card for an address.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The site says that there is nothing there.
    #[error("{provider} has nothing at {url} (status {status})")]
    NotThere {
        /// Which site.
        provider: &'static str,
        /// What was asked about.
        url: String,
        /// What it answered.
        status: u16,
    },
    /// Nothing was learnt: no network, or an answer that is of no use.
    #[error("{provider} could not be asked")]
    NotAsked {
        /// Which site.
        provider: &'static str,
        /// Why.
        source: EmbedFailure,
    },
}

/// Why a site could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum EmbedFailure {
    /// The network is not to be used.
    #[error("there is no network")]
    Offline,
    /// The address that was to be asked may not be.
    #[error("its address may not be used")]
    Address,
    /// TLS can not be used.
    #[error("{0}")]
    Trust(String),
    /// No answer came.
    #[error("{0}")]
    Outbound(String),
    /// An answer came that says nothing.
    #[error("its answer can not be used (status {0})")]
    Answer(u16),
}

/// Asks the sites of other people about addresses; cheap to clone.
#[derive(Clone)]
pub struct Embeds {
    shared: Arc<Shared>,
}

struct Shared {
    /// None if nobody is asked.
    network: Option<OutboundNetwork>,
    tls: OnceLock<Result<tokio_rustls::TlsConnector, TrustError>>,
    asking: Semaphore,
}

impl Embeds {
    /// Asks over the network.
    pub fn online() -> Self {
        Self::through(Some(OutboundNetwork::System))
    }

    /// Asks nobody: every card is a plain link.
    pub fn offline() -> Self {
        Self::through(None)
    }

    /// Asks over a network that a test has staged.
    #[cfg(any(test, feature = "test-support"))]
    pub fn staged(network: StagedNetwork) -> Self {
        Self::through(Some(OutboundNetwork::Staged(Arc::new(network))))
    }

    fn through(network: Option<OutboundNetwork>) -> Self {
        let asking = Semaphore::new(AT_ONCE);
        Self { shared: Arc::new(Shared { network, tls: OnceLock::new(), asking }) }
    }

    /// What the site says of an address, with its picture where it has one that may be fetched.
    pub async fn look_up(&self, address: &EmbedAddress) -> Result<EmbedDetails, EmbedError> {
        let provider = address.provider();
        let (name, url) = (provider.name(), address.url());
        let not_asked = |source| EmbedError::NotAsked { provider: name, source };
        let deadline = Instant::now() + LIMIT;
        let permit = timeout_at(deadline, self.shared.asking.acquire()).await.map_err(|_| not_asked(timed_out()))?;
        let Ok(_permit) = permit else { return Err(not_asked(EmbedFailure::Offline)) };
        let (status, body) = self.get(&provider.question(address), deadline).await.map_err(not_asked)?;
        match status {
            StatusCode::OK => (),
            StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::BAD_REQUEST => {
                return Err(EmbedError::NotThere { provider: name, url: url.to_owned(), status: status.as_u16() });
            }
            status => return Err(not_asked(EmbedFailure::Answer(status.as_u16()))),
        }
        let said: Said = serde_json::from_slice(&body).map_err(|_| not_asked(EmbedFailure::Answer(200)))?;
        let line =
            |text: Option<String>, max| text.map(|text| model::one_line(&text, max)).filter(|line| !line.is_empty());
        let thumbnail = match said.thumbnail_url.filter(|url| provider.has_picture_at(url)) {
            // Without its picture it is a card all the same.
            Some(url) => {
                let picture = self.get(&url, deadline).await.ok();
                picture.filter(|(status, _)| *status == StatusCode::OK).map(|(_, body)| body)
            }
            None => None,
        };
        let (title, author) = (line(said.title, MAX_TITLE_CHARS), line(said.author_name, MAX_AUTHOR_CHARS));
        Ok(EmbedDetails { title, author, thumbnail })
    }

    /// Gets what is at an address of the public web, if it comes by then.
    async fn get(&self, url: &str, deadline: Instant) -> Result<(StatusCode, Vec<u8>), EmbedFailure> {
        timeout_at(deadline, self.get_at_last(url)).await.unwrap_or_else(|_| Err(timed_out()))
    }

    async fn get_at_last(&self, url: &str) -> Result<(StatusCode, Vec<u8>), EmbedFailure> {
        let network = self.shared.network.clone().ok_or(EmbedFailure::Offline)?;
        let address = Address::parse(url, AddressRule::Public).map_err(|_| EmbedFailure::Address)?;
        let path = address.path_and_query();
        let tls = self.connector().await?;
        let limits = OutboundLimits { head: LIMIT, pause: LIMIT, body_bytes: MAX_BYTES };
        let client = OutboundClient::over(network, address, limits, tls).map_err(|err| trust(&err))?;
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json, image/*;q=0.9"))]);
        let asked = async {
            let response = client.send(Method::GET, &path, headers, Vec::new()).await?;
            Ok::<_, OutboundError>((response.status, response.body.read().await?))
        };
        asked.await.map_err(|err| EmbedFailure::Outbound(with_cause(&err)))
    }

    /// The certificates of the system are read once.
    async fn connector(&self) -> Result<tokio_rustls::TlsConnector, EmbedFailure> {
        let shared = Arc::clone(&self.shared);
        let read = tokio::task::spawn_blocking(move || {
            let connect = || match &shared.network {
                Some(network) => network.connector(),
                None => Err(TrustError::NoCertificates),
            };
            shared.tls.get_or_init(connect).clone()
        });
        read.await.unwrap_or(Err(TrustError::NoCertificates)).map_err(|err| trust(&err))
    }
}

/// What is read of an answer: neither its markup nor anything else that a page would run.
#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    author_name: Option<String>,
    #[serde(default)]
    thumbnail_url: Option<String>,
}

fn trust(err: &TrustError) -> EmbedFailure {
    EmbedFailure::Trust(err.to_string())
}

fn timed_out() -> EmbedFailure {
    EmbedFailure::Outbound(OutboundError::TimedOut.to_string())
}

fn with_cause(err: &OutboundError) -> String {
    match std::error::Error::source(err) {
        Some(source) => format!("{err}: {source}"),
        None => err.to_string(),
    }
}

#[cfg(test)]
mod tests;
