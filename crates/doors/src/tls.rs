//! TLS keys from PEM files.
//!
//! Invariant: settings that were loaded can serve. A wrong path, a key that does not match and one that others can
//! read are found at start, and the message names the file but never shows its content.

mod validity;

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
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
    valid_until: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("could not read certificates from {}", path.display())]
    Certificates { path: PathBuf, source: pem::Error },
    #[error("{} holds no certificate", path.display())]
    NoCertificate { path: PathBuf },
    #[error("could not read a private key from {}", path.display())]
    Key { path: PathBuf, source: pem::Error },
    #[error("others can read the private key {0}: close it with `chmod 600 {0}`, and think about a new one", path.display())]
    KeyOpen { path: PathBuf },
    #[error("the certificate and the private key can not be used together")]
    Unusable { source: rustls::Error },
}

impl TlsSettings {
    /// Blocks: reads two small files, once at start.
    pub fn load(certificates: &Path, key: &Path) -> Result<Self, TlsError> {
        let chain = CertificateDer::pem_file_iter(certificates)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|source| TlsError::Certificates { path: certificates.to_owned(), source })?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate { path: certificates.to_owned() });
        }
        if is_open_to_others(key) {
            return Err(TlsError::KeyOpen { path: key.to_owned() });
        }
        let valid_until = chain.first().and_then(|certificate| validity::end(certificate));
        let key = PrivateKeyDer::from_pem_file(key).map_err(|source| TlsError::Key { path: key.to_owned(), source })?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|source| TlsError::Unusable { source })?;
        // HTTP/1 only: one protocol has one set of limits to get right.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), valid_until })
    }

    /// The last valid second of the certificate, in UTC, as `YYYYMMDDHHMMSSZ`; `None` if it could not be read.
    pub fn valid_until(&self) -> Option<&str> {
        self.valid_until.as_deref()
    }
}

/// Whether others than its owner can read it. A group is accepted if root owns the file: that is how a system gives a
/// key to a service.
fn is_open_to_others(key: &Path) -> bool {
    const ROOT: u32 = 0;
    fs::metadata(key).is_ok_and(|found| {
        let allowed = if found.uid() == ROOT { 0o640 } else { 0o600 };
        found.mode() & 0o077 & !allowed != 0
    })
}
