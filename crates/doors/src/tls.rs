//! TLS keys from PEM files.
//!
//! Invariant: settings that loaded can serve; a wrong path or a key that does not fit is found at start, and the
//! message names the file but never shows its content.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject as _},
    },
};

#[derive(Clone)]
pub struct TlsSettings {
    pub(crate) acceptor: TlsAcceptor,
}

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("could not read certificates from {}", path.display())]
    Certificates { path: PathBuf, source: pem::Error },
    #[error("{} holds no certificate", path.display())]
    NoCertificate { path: PathBuf },
    #[error("could not read a private key from {}", path.display())]
    Key { path: PathBuf, source: pem::Error },
    #[error("the certificate and the private key can not be used together")]
    Unusable { source: rustls::Error },
}

impl TlsSettings {
    /// Blocking: two small files, read once at start.
    pub fn load(certificates: &Path, key: &Path) -> Result<Self, TlsError> {
        let chain = CertificateDer::pem_file_iter(certificates)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|source| TlsError::Certificates { path: certificates.to_owned(), source })?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate { path: certificates.to_owned() });
        }
        let key = PrivateKeyDer::from_pem_file(key).map_err(|source| TlsError::Key { path: key.to_owned(), source })?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|source| TlsError::Unusable { source })?;
        // HTTP/1 only: one protocol has one set of limits to get right.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)) })
    }
}
