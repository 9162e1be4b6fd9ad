//! Tests `throughline token new --device`: another device over TLS, from the printed link to the end of its
//! credential.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::support::{DEADLINE, Folder};

const PROXIED: &str = "[server]\nbehind_proxy = true\nhosts = [\"box.example\"]\n";

/// A key pair that protects nothing, for `localhost`.
fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../doors/tests/fixtures").join(name)
}

/// With a copy of the key that only its owner can read.
fn tls_section(folder: &Folder, certificates: &str) -> String {
    let (certificates, key) = (fixture(certificates), folder.home().join("key.pem"));
    fs::copy(fixture("key.pem"), &key).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    format!("tls = {{ certificates = {certificates:?}, key = {key:?} }}\n")
}

/// A browser on another device: it knows the name, trusts the certificate, and keeps its cookies.
struct Phone {
    port: u16,
    cookie: String,
    proof: String,
}

impl Phone {
    fn connect(port: u16) -> StreamOwned<ClientConnection, TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(fixture("cert.pem")).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream)
    }

    /// Sends a request as the page would, and returns status line, headers and body.
    fn ask(port: u16, request: &str, lines: &str, body: &str) -> String {
        let mut stream = Self::connect(port);
        let length = body.len();
        let head = format!(
            "{request} HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: https://localhost:{port}\r\n{lines}Connection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn sign_in(port: u16, code: &str) -> Self {
        let answer = Self::ask(port, "POST /api/v1/auth/exchange", "", &json!({ "code": code }).to_string());
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        assert!(cookie.starts_with("__Host-") && cookie.contains("; Secure"), "{cookie}");
        let proof: Value = serde_json::from_str(body).unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Self { port, cookie, proof: proof["proof"].as_str().unwrap().to_owned() }
    }

    fn get(&self, path: &str) -> String {
        let lines = format!("Cookie: {}\r\nX-Throughline-Proof: {}\r\n", self.cookie, self.proof);
        Self::ask(self.port, &format!("GET {path}"), &lines, "")
    }

    fn live(&self) -> tungstenite::WebSocket<StreamOwned<ClientConnection, TcpStream>> {
        let port = self.port;
        let mut request = format!("wss://localhost:{port}/api/v1/live").into_client_request().unwrap();
        request.headers_mut().insert("origin", format!("https://localhost:{port}").parse().unwrap());
        request.headers_mut().insert("cookie", self.cookie.parse().unwrap());
        let (mut socket, _) = tungstenite::client(request, Self::connect(port)).unwrap();
        let auth = json!({ "id": "a", "type": "auth", "proof": self.proof });
        socket.send(Message::text(auth.to_string())).unwrap();
        socket
    }
}

/// The printed link and its one-time code.
fn link_of(printed: &str) -> (&str, &str) {
    let link = printed.lines().find(|line| line.contains("/#code=")).unwrap();
    (link, link.split_once("/#code=").unwrap().1)
}

#[test]
fn a_phone_signs_in_over_tls_under_its_name_until_it_is_revoked() {
    let folder = Folder::new();
    folder.configure(&format!("[server]\nhosts = [\"localhost\"]\n{}", tls_section(&folder, "cert.pem")));
    let server = folder.serve();
    let port: u16 = server.url.strip_prefix("https://localhost:").unwrap().parse().unwrap();
    folder.run(&["new", "--name", "on the way"]).ok();

    let printed = folder.run(&["token", "new", "--device", "Ada's phone", "--url", &server.url]).ok();
    let (link, code) = link_of(&printed);
    assert_eq!(link, format!("{}/#code={code}", server.url));
    let phone = Phone::sign_in(port, code);
    let again = Phone::ask(port, "POST /api/v1/auth/exchange", "", &json!({ "code": code }).to_string());
    assert!(again.starts_with("HTTP/1.1 401"), "{again}");
    let sessions = phone.get("/api/v1/sessions");
    assert!(sessions.starts_with("HTTP/1.1 200") && sessions.contains("on the way"), "{sessions}");

    let listed: Value = serde_json::from_str(&folder.run(&["token", "list", "--json"]).ok()).unwrap();
    let named = listed["tokens"].as_array().unwrap().iter().find(|token| token["name"] == "Ada's phone").unwrap();
    assert_eq!(named["kind"], "browser");
    let table = folder.run(&["token", "list"]).ok();
    assert!(table.lines().any(|line| line.contains("browser") && line.ends_with("Ada's phone")), "{table}");

    let mut live = phone.live();
    while !live.read().unwrap().to_text().unwrap().contains("\"hello\"") {}
    folder.run(&["token", "revoke", named["id"].as_str().unwrap()]).ok();
    let closed = loop {
        match live.read().unwrap() {
            Message::Close(frame) => break frame.unwrap(),
            _ => continue,
        }
    };
    assert_eq!(u16::from(closed.code), 4003);
    let refused = phone.get("/api/v1/sessions");
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    server.stop();
    assert!(!folder.log().contains(code), "the code is in the log");
}

/// The QR code is above the link; output for a program has none.
#[test]
fn the_link_is_printed_as_a_picture_and_as_text() {
    let folder = Folder::new();
    folder.configure(PROXIED);
    let server = folder.serve();
    let printed = folder.run(&["token", "new", "--device", "phone"]).ok();
    let (link, code) = link_of(&printed);
    assert_eq!(link, format!("https://box.example/#code={code}"));
    let (picture, words) = printed.split_once(link).unwrap();
    assert!(picture.lines().count() > 15 && picture.lines().any(|line| line.contains('▀')), "{printed}");
    insta::assert_snapshot!(words.trim_start(), @r#"
    Point the phone's camera at the code, or open the link on the other computer.
    It signs one browser in as "phone", once, within 15 minutes; then `throughline token list` shows it.

    If the page does not open there, the device does not reach https://box.example.
    It has to be in the same private network, know that name and trust its certificate: docs/phone.md
    "#);

    let json: Value = serde_json::from_str(&folder.run(&["token", "new", "--device", "phone", "--json"]).ok()).unwrap();
    let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["name", "url", "expiresAt", "localOnly"]);
    assert_eq!((&json["name"], &json["localOnly"]), (&json!("phone"), &json!(false)));
    assert!(json["url"].as_str().unwrap().starts_with("https://box.example/#code="), "{json}");
    server.stop();
}

#[test]
fn an_address_that_no_other_device_reaches_is_told_as_such() {
    let folder = Folder::new();
    let said = folder.run(&["token", "new", "--device", "phone"]).failed();
    assert_eq!(said, "error: no server is running to sign in to; start one with `throughline`\n");
    let server = folder.serve();
    let printed = folder.run(&["token", "new", "--device", "phone"]).ok();
    let (link, _) = link_of(&printed);
    insta::assert_snapshot!(printed.replace(link, "LINK").replace(&server.url, "ADDRESS"), @r#"
    LINK

    The link signs one browser in as "phone", once, within 15 minutes.
    But only this machine reaches ADDRESS: the server listens on loopback alone.
    docs/phone.md says how to let your own devices in; then run this again.
    "#);

    let elsewhere = folder.run(&["token", "new", "--device", "phone", "--url", "https://box.example:8443/"]);
    assert_eq!(elsewhere.code, Some(0));
    assert!(elsewhere.stdout.contains("\nhttps://box.example:8443/#code="), "{}", elsewhere.stdout);
    insta::assert_snapshot!(elsewhere.stderr, @r#"note: the server answers only on the names in server.hosts, and box.example:8443 is not among them: write hosts = ["box.example:8443"] into the configuration and start the server again"#);

    for arguments in [
        &["token", "new", "name", "--device", "phone"][..],
        &["token", "new", "--device", "phone", "--session", "last"],
        &["token", "new", "name", "--url", "https://box.example"],
        &["token", "new", "--device", "phone", "--url", "box.example"],
        &["token", "new"],
    ] {
        assert_eq!(folder.run(arguments).code, Some(2), "{arguments:?}");
    }
    server.stop();
}

/// The server's clock may be the wrong one, so it serves; but the person who set it up is warned.
#[test]
fn a_certificate_that_has_expired_is_told_at_the_start() {
    for (certificates, is_told) in [("expired.pem", true), ("cert.pem", false)] {
        let folder = Folder::new();
        folder.configure(&format!("[server]\nhosts = [\"localhost\"]\n{}", tls_section(&folder, certificates)));
        folder.serve().stop();
        let log = folder.log();
        assert_eq!(log.contains("the certificate has expired"), is_told, "{certificates}: {log}");
    }
}
