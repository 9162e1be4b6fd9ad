//! The one way out to other servers over HTTP: to model providers, and to the MCP servers that the guide is given.
//!
//! Invariants: an [`Address`] is judged when it is read, and each IP address that its name leads to is judged again before it
//! is connected to, so that what was judged is what is reached. No proxy is asked and no redirect followed. An exchange ends in
//! time, whatever the other side does, and of an answer's head and body no more than a bound is read.

mod address;
mod trust;

use std::io;
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
pub(crate) use address::{Address, AddressError, Rule};
pub(crate) use trust::TrustError;

/// What the head of an answer may take; also how much is read ahead.
const MAX_HEAD_BYTES: usize = 32 << 10;
/// Until the next address of the same name is tried.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const MAX_ADDRESSES: usize = 5;

/// What an answer may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutboundLimits {
    /// Until its head is there.
    pub(crate) head: Duration,
    /// Until the next piece of its body is there.
    pub(crate) pause: Duration,
    /// All of its body.
    pub(crate) body_bytes: usize,
}

/// Why there is no answer.
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
}

/// Sends requests to one server, each over a connection of its own.
pub(crate) struct Client {
    address: Address,
    limits: OutboundLimits,
    /// None where the address is plain.
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

/// A body that is still arriving.
pub(crate) struct Body {
    incoming: Incoming,
    limits: OutboundLimits,
    read_bytes: usize,
    /// Ends with the body.
    _connection: JoinSet<()>,
}

impl Client {
    /// Reaches nobody yet. Blocking where the address has TLS: reads the system's certificates.
    pub(crate) fn new(address: Address, limits: OutboundLimits) -> Result<Self, TrustError> {
        let tls = if address.is_tls() { Some((trust::of_this_system()?, server_name(&address)?)) } else { None };
        Ok(Self { address, limits, tls })
    }

    #[cfg(test)]
    pub(crate) fn trusting(
        address: Address,
        limits: OutboundLimits,
        roots: tokio_rustls::rustls::RootCertStore,
    ) -> Result<Self, TrustError> {
        let tls = Some((trust::connector(roots)?, server_name(&address)?));
        Ok(Self { address, limits, tls })
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Sends a request for a path, with the query that belongs to it.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Answer, OutboundError> {
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().expect("the path of an address is one");
        let host = HeaderValue::from_str(self.address.authority()).expect("the host of an address can be sent");
        request.headers_mut().insert(HOST, host);
        request.headers_mut().insert(USER_AGENT, HeaderValue::from_static("throughline"));
        request.headers_mut().extend(headers);
        timeout(self.limits.head, self.connect_and_send(request)).await.unwrap_or(Err(OutboundError::TimedOut))
    }

    async fn connect_and_send(&self, request: Request<Full<Bytes>>) -> Result<Answer, OutboundError> {
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

    /// Resolves and judges here, so that what was judged is what is connected to.
    async fn connect(&self) -> Result<TcpStream, OutboundError> {
        let unreachable = |source| OutboundError::Unreachable { source };
        let found = tokio::net::lookup_host((self.address.host(), self.address.port())).await.map_err(unreachable)?;
        let mut failure = OutboundError::NoAddress;
        for address in found.filter(|address| self.address.may_reach(address.ip())).take(MAX_ADDRESSES) {
            match timeout(CONNECT_LIMIT, TcpStream::connect(address)).await {
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
    ) -> Result<Answer, OutboundError> {
        let builder = http1::Builder::new().max_buf_size(MAX_HEAD_BYTES).handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = builder?;
        let mut running = JoinSet::new();
        // What goes wrong with it is told where the answer is waited for.
        running.spawn(async move { drop(connection.await) });
        let (head, incoming) = sender.send_request(request).await?.into_parts();
        if head.status.is_redirection() {
            return Err(OutboundError::Redirected { status: head.status.as_u16() });
        }
        let body = Body { incoming, limits: self.limits, read_bytes: 0, _connection: running };
        Ok(Answer { status: head.status, headers: head.headers, body })
    }
}

impl Body {
    /// The next piece; none at the end.
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

    /// All of it.
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
