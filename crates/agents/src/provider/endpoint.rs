//! Sends one request to the provider and reads its response.
//!
//! Invariant: the response is kept up to a bound, and the key is in one header.

use std::io;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;

use super::error::ProviderError;
use super::settings::{ProviderKind, ProviderSettings, ProviderSetupError};
use super::{LIMIT, wire};
use crate::outbound::{OutboundClient, OutboundError, OutboundLimits};

/// A line of text with everything around it has a few hundred bytes.
const MAX_ANSWER_BYTES: usize = 64 << 10;
const LIMITS: OutboundLimits = OutboundLimits { head: LIMIT, pause: LIMIT, body_bytes: MAX_ANSWER_BYTES };

/// The provider's server, path and headers.
pub(super) struct ProviderEndpoint {
    client: OutboundClient,
    path: String,
    headers: HeaderMap,
}

/// A response, as far as it is kept.
pub(super) struct ProviderResponse {
    pub(super) status: StatusCode,
    is_json: bool,
    /// None if it was larger than the bound.
    body: Option<Vec<u8>>,
}

impl ProviderResponse {
    pub(super) fn json(&self) -> Option<Value> {
        self.body.as_ref().filter(|_| self.is_json).and_then(|body| serde_json::from_slice(body).ok())
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.body.is_none()
    }
}

impl ProviderEndpoint {
    pub(super) fn new(settings: &ProviderSettings) -> Result<Self, ProviderSetupError> {
        let client = OutboundClient::new(settings.url.address().clone(), LIMITS)?;
        Self::through(client, settings)
    }

    fn through(client: OutboundClient, settings: &ProviderSettings) -> Result<Self, ProviderSetupError> {
        let path = settings.url.path_of(wire::endpoint(settings.kind));
        Ok(Self { client, path, headers: headers(settings)? })
    }

    pub(super) async fn post(&self, body: Vec<u8>) -> Result<ProviderResponse, ProviderError> {
        let sent = self.client.send(Method::POST, &self.path, self.headers.clone(), body).await;
        let answer = sent.map_err(|err| self.failed(err))?;
        let body = match answer.body.read().await {
            Ok(body) => Some(body),
            Err(OutboundError::TooLarge { .. }) => None,
            Err(err) => return Err(self.failed(err)),
        };
        Ok(ProviderResponse { status: answer.status, is_json: is_json(&answer.headers), body })
    }

    fn failed(&self, err: OutboundError) -> ProviderError {
        let address = self.client.address().to_string();
        match err {
            OutboundError::Unreachable { source } => ProviderError::Unreachable { address, source },
            OutboundError::NoAddress | OutboundError::Unsendable => {
                let source = io::Error::new(io::ErrorKind::NotFound, err);
                ProviderError::Unreachable { address, source }
            }
            OutboundError::Untrusted { source } => ProviderError::Untrusted { address, source },
            OutboundError::BrokeOff { source } => ProviderError::BrokeOff { source },
            OutboundError::Redirected { status } => ProviderError::Redirected { status },
            OutboundError::TooLarge { .. } => ProviderError::TooLarge,
            OutboundError::TimedOut => ProviderError::TimedOut,
        }
    }
}

fn headers(settings: &ProviderSettings) -> Result<HeaderMap, ProviderSetupError> {
    let json = HeaderValue::from_static("application/json");
    let mut headers = HeaderMap::from_iter([(ACCEPT, json.clone()), (CONTENT_TYPE, json)]);
    if settings.kind == ProviderKind::Anthropic {
        let version = HeaderValue::from_static(wire::ANTHROPIC_VERSION);
        headers.insert(HeaderName::from_static("anthropic-version"), version);
    }
    if let Some(key) = &settings.key {
        let (name, text) = match settings.kind {
            ProviderKind::Anthropic => (HeaderName::from_static("x-api-key"), key.expose().to_owned()),
            ProviderKind::OpenAi | ProviderKind::Ollama => (AUTHORIZATION, format!("Bearer {}", key.expose())),
        };
        let mut value = HeaderValue::from_str(&text).map_err(|_| ProviderSetupError::Key)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
    use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto::ring};

    use super::*;
    use crate::provider::{PlainHttp, ProviderKey, ProviderUrl};

    /// A key pair that protects nothing, for `localhost` and `127.0.0.1`.
    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../doors/tests/fixtures").join(name)
    }

    fn certificate() -> CertificateDer<'static> {
        CertificateDer::from_pem_file(fixture("cert.pem")).unwrap()
    }

    fn acceptor() -> TlsAcceptor {
        let key = PrivateKeyDer::from_pem_file(fixture("key.pem")).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate()], key)
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }

    /// Sends a request to a provider behind TLS at `ip`. Returns what the provider read, and the result.
    async fn exchanged(ip: &str, roots: RootCertStore) -> (String, Result<ProviderResponse, ProviderError>) {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let url = format!("https://{ip}:{}", listener.local_addr().unwrap().port());
        let url = ProviderUrl::parse(&url, PlainHttp::ThisMachineOnly).unwrap();
        let key = Some(ProviderKey::new("canary-4711").unwrap());
        let settings = ProviderSettings { kind: ProviderKind::Anthropic, url, model: "small-1".to_owned(), key };
        let client = OutboundClient::trusting(settings.url.address().clone(), LIMITS, roots).unwrap();
        let exchange = ProviderEndpoint::through(client, &settings).unwrap();
        let hear = async {
            let (stream, _) = listener.accept().await.unwrap();
            let Ok(mut stream) = acceptor().accept(stream).await else { return String::new() };
            let mut heard = vec![0; 4096];
            let count = stream.read(&mut heard).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
            stream.shutdown().await.unwrap();
            String::from_utf8(heard[..count].to_vec()).unwrap()
        };
        tokio::join!(hear, exchange.post(b"{}".to_vec()))
    }

    #[tokio::test]
    async fn a_provider_that_shows_who_it_is_gets_the_key() {
        let mut roots = RootCertStore::empty();
        roots.add(certificate()).unwrap();
        let (heard, answer) = exchanged("127.0.0.1", roots).await;
        assert!(heard.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{heard}");
        assert!(heard.contains("x-api-key: canary-4711\r\n"), "{heard}");
        assert_eq!(answer.unwrap().status, StatusCode::OK);
    }

    #[tokio::test]
    async fn one_that_does_not_gets_nothing() {
        let mut roots = RootCertStore::empty();
        roots.add(certificate()).unwrap();
        for (ip, roots) in [("127.0.0.1", RootCertStore::empty()), ("127.0.0.2", roots)] {
            let (heard, answer) = exchanged(ip, roots).await;
            assert_eq!(heard, "", "{ip}");
            let err = answer.err().unwrap();
            assert!(matches!(err, ProviderError::Untrusted { .. }), "{err:?}");
        }
    }
}
