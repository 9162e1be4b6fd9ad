//! The certificates that are trusted: those of this system, or the ones that its variables name.
//!
//! Invariant: TLS is rustls with ring, and every certificate is verified.

use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

/// Why TLS can not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TrustError {
    #[error("no certificates of this system were found")]
    NoCertificates,
    #[error("the host is none that a certificate could name")]
    Name,
    #[error("{0}")]
    Tls(String),
}

/// Blocks: reads the certificates from disk.
pub(super) fn of_this_system() -> Result<TlsConnector, TrustError> {
    let found = rustls_native_certs::load_native_certs();
    for err in &found.errors {
        tracing::warn!(%err, "a certificate of this system can not be read");
    }
    let mut roots = RootCertStore::empty();
    let (taken, _) = roots.add_parsable_certificates(found.certs);
    if taken == 0 {
        return Err(TrustError::NoCertificates);
    }
    connector(roots)
}

pub(super) fn connector(roots: RootCertStore) -> Result<TlsConnector, TrustError> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|err| TrustError::Tls(err.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}
