//! How a request arrived: through which listener, and from where.
//!
//! Invariant: only the accept loops make an [`Arrival`]. Its address identifies a caller for limits and logs but
//! never grants anything: behind a proxy every caller is 127.0.0.1.

use std::{
    net::{IpAddr, Ipv6Addr, SocketAddr},
    sync::{Arc, Weak},
    time::Instant,
};

use crate::{bind::Exposure, buckets::Buckets, refusal::Refusal, slots::ConnectionSlot};

/// A request extension that the accept loop adds.
#[derive(Clone)]
pub struct Arrival {
    pub(crate) channel: Channel,
    pub(crate) failures: Arc<Buckets<Source>>,
    /// The slot of the connection; gone with it.
    pub(crate) slot: Weak<ConnectionSlot>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    Tcp {
        peer: SocketAddr,
        bound_port: u16,
        exposure: Exposure,
    },
    /// The Unix socket after its uid check, or an in-process stream.
    Local,
}

/// What limits count as one caller while no principal is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Address(IpAddr),
    Local,
}

impl Arrival {
    /// The other end of a TCP connection, for logs only.
    #[must_use]
    pub fn peer(&self) -> Option<SocketAddr> {
        match self.channel {
            Channel::Tcp { peer, .. } => Some(peer),
            Channel::Local => None,
        }
    }

    /// Counts a wrong credential that a handler found (a one-time code, a proof in a first frame) and returns the
    /// refusal. Right credentials are never delayed, so a handler checks first and calls this only on failure.
    #[must_use]
    pub fn credential_failed(&self) -> Refusal {
        match self.failures.take(&self.source(), Instant::now()) {
            Ok(()) => Refusal::Unauthenticated,
            Err(retry_after) => Refusal::TooManyFailures { retry_after },
        }
    }

    pub(crate) fn source(&self) -> Source {
        self.channel.source()
    }

    /// Assigns the connection to the credential that it has shown. Connections of the Unix socket have slots of their
    /// own.
    pub(crate) fn recognise(&self, credential: &str, limit: usize) -> Result<(), Refusal> {
        self.slot.upgrade().map_or(Ok(()), |slot| slot.recognise(credential, limit))
    }
}

impl Channel {
    pub(crate) fn source(&self) -> Source {
        match self {
            Self::Tcp { peer, .. } => Source::of(peer.ip()),
            Self::Local => Source::Local,
        }
    }
}

impl Source {
    /// IPv6 callers own a /64 and can change their address for every request, so the network is the caller.
    pub(crate) fn of(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into(),
            v4 @ IpAddr::V4(_) => v4,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_ipv6_network_is_one_source() {
        let of = |text: &str| Source::of(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }
}
