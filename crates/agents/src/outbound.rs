//! The HTTP client for servers of others: model providers, the MCP servers that the guide is given, and sites with media.
//!
//! Invariants: an [`Address`] is checked when it is parsed, and each IP address that it resolves to is checked again
//! before connecting, so that the checked address is the one that is reached. No proxy is used and no redirect
//! followed. A request ends in time, whatever the other side does, and a response's head and body are read up to a
//! bound.

mod address;
mod trust;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use http::header::{HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

pub use address::PlainHttp;
pub(crate) use address::{Address, AddressError, AddressRule};
pub(crate) use trust::TrustError;

/// The size limit of a response's head; also how much is read ahead.
const MAX_HEAD_BYTES: usize = 32 << 10;
/// After this the next IP address of the same name is tried.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const MAX_ADDRESSES: usize = 5;

/// Limits of a response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutboundLimits {
    /// Time until the head has arrived.
    pub(crate) head: Duration,
    /// Time until the next part of the body has arrived.
    pub(crate) pause: Duration,
    /// Size of the whole body.
    pub(crate) body_bytes: usize,
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutboundError {
    #[error("it can not be reached")]
    Unreachable { source: io::Error },
    #[error("its name leads to no address that may be used")]
    NoAddress,
    #[error("it can not show who it is")]
    Untrusted { source: io::Error },
    #[error("it broke off or does not speak HTTP")]
    BrokeOff {
        #[from]
        source: hyper::Error,
    },
    #[error("it sends elsewhere (status {status}), and it is not followed")]
    Redirected { status: u16 },
    #[error("its answer has more than {max_bytes} bytes")]
    TooLarge { max_bytes: usize },
    #[error("it took too long")]
    TimedOut,
    #[error("its address can not be sent")]
    Unsendable,
}

/// How names are resolved and connections made.
#[derive(Clone)]
pub(crate) enum OutboundNetwork {
    /// As this system does.
    System,
    /// As a test has staged it.
    #[cfg(any(test, feature = "test-support"))]
    Staged(std::sync::Arc<StagedNetwork>),
}

/// A network for tests: what names resolve to, and which server of this machine stands at an IP address. Addresses are checked
/// as always, between the two.
#[cfg(any(test, feature = "test-support"))]
#[derive(Debug, Default)]
pub struct StagedNetwork {
    /// What each name resolves to.
    pub names: std::collections::HashMap<String, Vec<std::net::IpAddr>>,
    /// The server that really answers at each IP address, on every port.
    pub servers: std::collections::HashMap<std::net::IpAddr, std::net::SocketAddr>,
    /// The only certificates that are trusted, each as DER.
    pub certificates: Vec<Vec<u8>>,
}

impl OutboundNetwork {
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        match self {
            Self::System => Ok(tokio::net::lookup_host((host, port)).await?.collect()),
            #[cfg(any(test, feature = "test-support"))]
            Self::Staged(staged) => {
                let found = staged.names.get(host).ok_or(io::ErrorKind::NotFound)?;
                Ok(found.iter().map(|ip| SocketAddr::new(*ip, port)).collect())
            }
        }
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        match self {
            Self::System => TcpStream::connect(address).await,
            #[cfg(any(test, feature = "test-support"))]
            Self::Staged(staged) => match staged.servers.get(&address.ip()) {
                Some(server) => TcpStream::connect(server).await,
                None => Err(io::ErrorKind::ConnectionRefused.into()),
            },
        }
    }

    /// What trusts the certificates of the servers. Blocks: reads those of this system.
    pub(crate) fn connector(&self) -> Result<TlsConnector, TrustError> {
        match self {
            Self::System => trust::of_this_system(),
            #[cfg(any(test, feature = "test-support"))]
            Self::Staged(staged) => {
                let mut roots = tokio_rustls::rustls::RootCertStore::empty();
                roots.add_parsable_certificates(staged.certificates.iter().map(|der| der.as_slice().into()));
                trust::connector(roots)
            }
        }
    }
}

/// Sends requests to one server, each over a connection of its own.
pub(crate) struct OutboundClient {
    network: OutboundNetwork,
    address: Address,
    limits: OutboundLimits,
    /// None if the address is plain HTTP.
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

/// A response.
pub(crate) struct HttpResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: ResponseBody,
}

/// A body that is still arriving.
pub(crate) struct ResponseBody {
    incoming: Incoming,
    limits: OutboundLimits,
    read_bytes: usize,
    /// Ends with the body.
    _connection: JoinSet<()>,
}

impl OutboundClient {
    /// Connects to nothing yet. Blocks if the address has TLS: reads the system's certificates.
    pub(crate) fn new(address: Address, limits: OutboundLimits) -> Result<Self, TrustError> {
        let tls = if address.is_tls() { Some((trust::of_this_system()?, server_name(&address)?)) } else { None };
        Ok(Self { network: OutboundNetwork::System, address, limits, tls })
    }

    /// The same over TLS, with certificates that were read before.
    pub(crate) fn over(
        network: OutboundNetwork,
        address: Address,
        limits: OutboundLimits,
        connector: TlsConnector,
    ) -> Result<Self, TrustError> {
        let tls = Some((connector, server_name(&address)?));
        Ok(Self { network, address, limits, tls })
    }

    #[cfg(test)]
    pub(crate) fn trusting(
        address: Address,
        limits: OutboundLimits,
        roots: tokio_rustls::rustls::RootCertStore,
    ) -> Result<Self, TrustError> {
        let tls = Some((trust::connector(roots)?, server_name(&address)?));
        Ok(Self { network: OutboundNetwork::System, address, limits, tls })
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Sends a request for a path with its query.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<HttpResponse, OutboundError> {
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        // One that is too long is none.
        *request.uri_mut() = path.parse().map_err(|_| OutboundError::Unsendable)?;
        let host = HeaderValue::from_str(self.address.authority()).map_err(|_| OutboundError::Unsendable)?;
        request.headers_mut().insert(HOST, host);
        request.headers_mut().insert(USER_AGENT, HeaderValue::from_static("throughline"));
        request.headers_mut().extend(headers);
        timeout(self.limits.head, self.connect_and_send(request)).await.unwrap_or(Err(OutboundError::TimedOut))
    }

    async fn connect_and_send(&self, request: Request<Full<Bytes>>) -> Result<HttpResponse, OutboundError> {
        let stream = self.connect().await?;
        match &self.tls {
            None => self.exchange(stream, request).await,
            Some((connector, name)) => {
                let stream = connector.connect(name.clone(), stream).await.map_err(|source| match source.kind() {
                    io::ErrorKind::InvalidData => OutboundError::Untrusted { source },
                    _ => OutboundError::Unreachable { source },
                })?;
                self.exchange(stream, request).await
            }
        }
    }

    /// Resolves the name and checks each IP address here, so that the checked address is the one that is connected
    /// to.
    async fn connect(&self) -> Result<TcpStream, OutboundError> {
        let unreachable = |source| OutboundError::Unreachable { source };
        let found = self.network.resolve(self.address.host(), self.address.port()).await.map_err(unreachable)?;
        let mut failure = OutboundError::NoAddress;
        let may_reach = |address: &SocketAddr| self.address.may_reach(address.ip());
        for address in found.into_iter().filter(may_reach).take(MAX_ADDRESSES) {
            match timeout(CONNECT_LIMIT, self.network.connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(err)) => failure = unreachable(err),
                Err(_) => failure = unreachable(io::ErrorKind::TimedOut.into()),
            }
        }
        Err(failure)
    }

    async fn exchange(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        request: Request<Full<Bytes>>,
    ) -> Result<HttpResponse, OutboundError> {
        let builder = http1::Builder::new().max_buf_size(MAX_HEAD_BYTES).handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = builder?;
        let mut running = JoinSet::new();
        // An error of the connection is returned to whoever waits for the response.
        running.spawn(async move { drop(connection.await) });
        let (head, incoming) = sender.send_request(request).await?.into_parts();
        if head.status.is_redirection() {
            return Err(OutboundError::Redirected { status: head.status.as_u16() });
        }
        let body = ResponseBody { incoming, limits: self.limits, read_bytes: 0, _connection: running };
        Ok(HttpResponse { status: head.status, headers: head.headers, body })
    }
}

impl ResponseBody {
    /// The next part; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, OutboundError> {
        loop {
            let frame = timeout(self.limits.pause, self.incoming.frame()).await;
            let Some(frame) = frame.map_err(|_| OutboundError::TimedOut)? else { return Ok(None) };
            let Ok(bytes) = frame?.into_data() else { continue };
            self.read_bytes += bytes.len();
            if self.read_bytes > self.limits.body_bytes {
                return Err(OutboundError::TooLarge { max_bytes: self.limits.body_bytes });
            }
            return Ok(Some(bytes));
        }
    }

    /// Reads the whole body.
    pub(crate) async fn read(mut self) -> Result<Vec<u8>, OutboundError> {
        let mut all = Vec::new();
        while let Some(bytes) = self.next().await? {
            all.extend_from_slice(&bytes);
        }
        Ok(all)
    }
}

fn server_name(address: &Address) -> Result<ServerName<'static>, TrustError> {
    ServerName::try_from(address.host().to_owned()).map_err(|_| TrustError::Name)
}

#[cfg(test)]
mod tests;
