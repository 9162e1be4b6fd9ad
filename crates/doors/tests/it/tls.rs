//! TLS, with the key pair of `tests/fixtures`, which protects nothing.
//!
//! Invariant: behind TLS the same guards hold, pages are https, and a peer that does not shake hands is closed.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf, sync::Arc};

use doors::{Limits, TlsError, TlsSettings, Transport};
use tokio::io::AsyncWriteExt as _;
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};

use crate::support::{BEARER, HttpResponse, SHORT, TestServer};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A key that only its owner can read; version control does not keep the mode.
fn closed(name: &str, mode: u32) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::copy(fixture(name), &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    (folder, path)
}

fn transport() -> Transport {
    let (_folder, key) = closed("key.pem", 0o600);
    Transport::Tls(TlsSettings::load(&fixture("cert.pem"), &key).unwrap())
}

fn connector() -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture("cert.pem")).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

#[tokio::test]
async fn the_guards_hold_behind_tls() {
    let server = TestServer::behind(Limits::default(), transport()).await;
    for (name, lines, expected) in [
        ("bearer", BEARER, "200"),
        ("nothing", "X: y", "401 unauthenticated"),
        ("our page", "Origin: https://localhost:PORT\nAuthorization: Bearer person-token", "200"),
        (
            "its unencrypted twin",
            "Origin: http://localhost:PORT\nAuthorization: Bearer person-token",
            "403 origin_not_allowed",
        ),
    ] {
        let stream = server.connect().await;
        let mut stream = connector().connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
        let request = server.bytes(&format!("GET /api/who\nHost: localhost:PORT\n{lines}"));
        stream.write_all(&request).await.unwrap();
        let answer = HttpResponse::read(&mut stream).await;
        assert_eq!(answer.summary(), expected, "{name}: {}", answer.text);
        answer.assert_hardened();
    }
    server.close().await;
}

#[tokio::test]
async fn a_handshake_that_does_not_come_is_closed() {
    let server = TestServer::behind(Limits { tls_handshake_timeout: SHORT, ..Limits::default() }, transport()).await;
    let mut silent = server.connect().await;
    assert_eq!(HttpResponse::read(&mut silent).await.text, "");
    let mut plain = server.connect().await;
    plain.write_all(&server.bytes("GET /healthz\nHost: localhost:PORT")).await.unwrap();
    assert!(!HttpResponse::read(&mut plain).await.text.contains("HTTP/"));
    server.close().await;
}

#[test]
fn unusable_files_are_named() {
    let (_folder, key) = closed("key.pem", 0o600);
    let key = key.to_str().unwrap();
    let (_other, cert) = closed("cert.pem", 0o600);
    let cert = cert.to_str().unwrap();
    let load = |certificates, key| TlsSettings::load(&fixture(certificates), &fixture(key)).err();
    assert!(matches!(load("missing.pem", "key.pem"), Some(TlsError::Certificates { .. })));
    assert!(matches!(load("key.pem", key), Some(TlsError::NoCertificate { .. })));
    assert!(matches!(load("cert.pem", cert), Some(TlsError::Key { .. })));
    let message = load("cert.pem", "missing.pem").map(|error| error.to_string()).unwrap();
    assert!(message.ends_with("missing.pem"), "{message}");
}

#[test]
fn a_key_that_others_can_read_is_refused_with_what_to_do() {
    for mode in [0o604, 0o644, 0o660, 0o606] {
        let (_folder, key) = closed("key.pem", mode);
        let refused = TlsSettings::load(&fixture("cert.pem"), &key).err();
        let message = refused.map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains("chmod 600"), "{mode:o}: {message}");
    }
}

#[test]
fn the_end_of_the_certificate_is_known() {
    let (_folder, key) = closed("key.pem", 0o600);
    let settings = TlsSettings::load(&fixture("cert.pem"), &key).unwrap();
    let end = settings.valid_until().unwrap();
    assert!(end.len() == 15 && end > "20250101000000Z", "{end}");
}
