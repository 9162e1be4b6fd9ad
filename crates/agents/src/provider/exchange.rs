//! One request to the provider, and its answer.
//!
//! Invariant: a connection of its own for each, to an address that the settings allow, with nothing in between; of the answer's
//! head and body no more than a bound is kept.

use std::io;
use std::pin::pin;
use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::error::ProviderError;
use super::settings::{ProviderKind, ProviderSettings, ProviderSetupError, ProviderUrl};
use super::{trust, wire};

/// A line of text with all that stands around it has a few hundred bytes.
const MAX_ANSWER_BYTES: usize = 64 << 10;
/// What the head of an answer may take; also how much is read ahead.
const MAX_HEAD_BYTES: usize = 32 << 10;
/// Until the next address of the same name is tried.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const MAX_ADDRESSES: usize = 5;

/// Where and how to send.
pub(super) struct Exchange {
    url: ProviderUrl,
    path: String,
    headers: HeaderMap,
    /// None where the address is plain.
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

/// What came back, as far as it is kept.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    is_json: bool,
    body: Vec<u8>,
    /// There was more than is kept.
    pub(super) is_cut: bool,
}

impl Answer {
    pub(super) fn json(&self) -> Option<Value> {
        (self.is_json && !self.is_cut).then(|| serde_json::from_slice(&self.body).ok()).flatten()
    }
}

impl Exchange {
    pub(super) fn new(settings: &ProviderSettings) -> Result<Self, ProviderSetupError> {
        let url = settings.url.clone();
        let tls = if url.is_tls() {
            let name = ServerName::try_from(url.host().to_owned()).map_err(|_| ProviderSetupError::Url)?;
            Some((trust::of_this_system()?, name))
        } else {
            None
        };
        let path = url.path_of(wire::endpoint(settings.kind));
        Ok(Self { path, headers: headers(settings)?, tls, url })
    }

    pub(super) async fn post(&self, body: Vec<u8>) -> Result<Answer, ProviderError> {
        let stream = self.connect().await.map_err(|source| self.unreachable(source))?;
        match &self.tls {
            None => self.exchange(stream, body).await,
            Some((connector, name)) => {
                let stream = connector.connect(name.clone(), stream).await.map_err(|source| match source.kind() {
                    io::ErrorKind::InvalidData => ProviderError::Untrusted { address: self.url.to_string(), source },
                    _ => self.unreachable(source),
                })?;
                self.exchange(stream, body).await
            }
        }
    }

    /// Resolved and judged here, so that what was judged is what is connected to.
    async fn connect(&self) -> io::Result<TcpStream> {
        let found = tokio::net::lookup_host((self.url.host(), self.url.port())).await?;
        let mut failure = io::Error::new(io::ErrorKind::NotFound, "its name leads to no address that may be used");
        for address in found.filter(|address| self.url.may_reach(address.ip())).take(MAX_ADDRESSES) {
            match timeout(CONNECT_LIMIT, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(err)) => failure = err,
                Err(_) => failure = io::ErrorKind::TimedOut.into(),
            }
        }
        Err(failure)
    }

    async fn exchange(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        body: Vec<u8>,
    ) -> Result<Answer, ProviderError> {
        let broke_off = |source| ProviderError::BrokeOff { source };
        let handshake = http1::Builder::new().max_buf_size(MAX_HEAD_BYTES).handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(broke_off)?;
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.path.parse().expect("the path of an address is one");
        *request.headers_mut() = self.headers.clone();
        let mut answer = pin!(async {
            let response = sender.send_request(request).await?;
            let (head, body) = response.into_parts();
            let (body, is_cut) = read(body).await?;
            Ok(Answer { status: head.status, is_json: is_json(&head.headers), body, is_cut })
        });
        let answer = tokio::select! {
            biased;
            answer = &mut answer => answer,
            // What has arrived before the end is still there to be read.
            _ = connection => answer.await,
        };
        answer.map_err(broke_off)
    }

    fn unreachable(&self, source: io::Error) -> ProviderError {
        ProviderError::Unreachable { address: self.url.to_string(), source }
    }
}

fn headers(settings: &ProviderSettings) -> Result<HeaderMap, ProviderSetupError> {
    let json = HeaderValue::from_static("application/json");
    let host = HeaderValue::from_str(settings.url.authority()).map_err(|_| ProviderSetupError::Url)?;
    let mut headers = HeaderMap::from_iter([
        (HOST, host),
        (ACCEPT, json.clone()),
        (CONTENT_TYPE, json),
        (USER_AGENT, HeaderValue::from_static("throughline")),
    ]);
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

/// The beginning of a body, and whether there is more.
async fn read(mut body: Incoming) -> Result<(Vec<u8>, bool), hyper::Error> {
    let mut kept = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(bytes) = frame?.into_data() else { continue };
        if kept.len() + bytes.len() > MAX_ANSWER_BYTES {
            return Ok((kept, true));
        }
        kept.extend_from_slice(&bytes);
    }
    Ok((kept, false))
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
    use crate::provider::{PlainHttp, ProviderKey};

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

    /// Asks a provider behind TLS at `ip`. What it heard, and what came of it.
    async fn exchanged(ip: &str, roots: RootCertStore) -> (String, Result<Answer, ProviderError>) {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let url = format!("https://{ip}:{}", listener.local_addr().unwrap().port());
        let url = ProviderUrl::parse(&url, PlainHttp::ThisMachineOnly).unwrap();
        let key = Some(ProviderKey::new("canary-4711").unwrap());
        let settings = ProviderSettings { kind: ProviderKind::Anthropic, url, model: "small-1".to_owned(), key };
        let name = ServerName::try_from(ip.to_owned()).unwrap();
        let exchange = Exchange {
            path: settings.url.path_of(wire::endpoint(settings.kind)),
            headers: headers(&settings).unwrap(),
            tls: Some((trust::connector(roots).unwrap(), name)),
            url: settings.url,
        };
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
