//! How a listener is exposed, and on which addresses it may therefore listen.
//!
//! Invariant: nothing listens beyond loopback unless someone chose TLS or a proxy explicitly. Another project only
//! warned, which cost one of its users two machines.

use std::net::SocketAddr;

use crate::tls::TlsSettings;

/// What is between the socket and the caller.
#[derive(Clone)]
pub enum Transport {
    Plain,
    Tls(TlsSettings),
    /// A proxy ends TLS and passes the Host header on unchanged. It is not trusted otherwise: forwarded headers are
    /// not read.
    BehindProxy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    #[error(
        "{address} can be reached from other machines: set server.tls to serve it over TLS, or server.behind_proxy if a \
         proxy in front of it does, or listen on 127.0.0.1"
    )]
    Exposed { address: SocketAddr },
}

impl Transport {
    /// Whether this transport may be used on the address.
    pub fn may_bind(&self, address: SocketAddr) -> Result<(), BindError> {
        match self {
            Self::Tls(_) | Self::BehindProxy => Ok(()),
            Self::Plain if address.ip().to_canonical().is_loopback() => Ok(()),
            Self::Plain => Err(BindError::Exposed { address }),
        }
    }

    pub(crate) fn exposure(&self) -> Exposure {
        match self {
            Self::Plain => Exposure::Plain,
            Self::Tls(_) => Exposure::Tls,
            Self::BehindProxy => Exposure::BehindProxy,
        }
    }
}

/// A [`Transport`] without its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exposure {
    Plain,
    Tls,
    BehindProxy,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_loopback_needs_a_choice() {
        for (address, allowed) in [
            ("127.0.0.1:7777", true),
            ("127.8.8.8:7777", true),
            ("[::1]:7777", true),
            ("[::ffff:127.0.0.1]:7777", true),
            ("0.0.0.0:7777", false),
            ("[::]:7777", false),
            ("192.168.1.5:7777", false),
            ("[::ffff:10.0.0.1]:7777", false),
        ] {
            let address: SocketAddr = address.parse().unwrap();
            assert_eq!(Transport::Plain.may_bind(address).is_ok(), allowed, "{address}");
            assert_eq!(Transport::BehindProxy.may_bind(address), Ok(()));
        }
        let message = Transport::Plain.may_bind("0.0.0.0:1".parse().unwrap()).unwrap_err().to_string();
        assert!(message.contains("server.tls") && message.contains("server.behind_proxy"), "{message}");
    }
}
