//! Tests what is asked of sites and what is made of their answers, against a real TLS server at staged addresses.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
use tokio_rustls::rustls::{ServerConfig, crypto::ring};

use super::*;

/// An address of the public web, behind which the staged server stands.
const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 216, 34));
const VIDEO: &str = "https://youtu.be/dQw4w9WgXcQ";
/// How long a site takes that answers and falls silent then.
const ANSWERED_AFTER: Duration = Duration::from_secs(1);

/// A key pair that protects nothing, for the hosts of the sites.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn certificate() -> CertificateDer<'static> {
    CertificateDer::from_pem_file(fixture("providers-cert.pem")).unwrap()
}

fn acceptor() -> TlsAcceptor {
    let key = PrivateKeyDer::from_pem_file(fixture("providers-key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate()], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// A server that gives each host its answer, and keeps what it was asked.
struct Stage {
    at: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl Stage {
    async fn open(answers: &[(&'static str, Vec<u8>)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let answers: HashMap<&'static str, Vec<u8>> = answers.iter().cloned().collect();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (mut tasks, heard) = (JoinSet::new(), Arc::clone(&asked));
        tasks.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let Ok(mut stream) = acceptor().accept(stream).await else { continue };
                let mut request = vec![0; 8_192];
                let count = stream.read(&mut request).await.unwrap();
                let request = String::from_utf8(request[..count].to_vec()).unwrap();
                let host = request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned();
                heard.lock().unwrap().push(format!("{host} {}", request.lines().next().unwrap()));
                stream.write_all(&answers[host.as_str()]).await.ok();
                stream.shutdown().await.ok();
            }
        });
        Self { at, asked, _tasks: tasks }
    }

    /// Every host of the certificate stands at `ip`.
    fn embeds(&self, ip: IpAddr) -> Embeds {
        let hosts = ["www.youtube.com", "i.ytimg.com", "publish.twitter.com", "vimeo.com", "soundcloud.com"];
        let names = hosts.map(|host| (host.to_owned(), vec![ip])).into();
        let certificates = vec![certificate().to_vec()];
        Embeds::staged(StagedNetwork { names, servers: [(ip, self.at)].into(), certificates })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(status: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

async fn looked_up(embeds: &Embeds, url: &str) -> Result<EmbedDetails, EmbedError> {
    embeds.look_up(&EmbedAddress::parse(url).unwrap()).await
}

#[tokio::test]
async fn a_card_has_title_author_and_picture_in_one_bounded_line_each() {
    let said = serde_json::json!({
        "title": format!("A\u{202e}b\n<b>{}", "x".repeat(300)),
        "author_name": "Ada\u{7} L.",
        "html": "<script>alert(1)</script>",
        "thumbnail_url": "https://i.ytimg.com/vi/x/hq.jpg?sqp=1",
    });
    let picture = b"\xff\xd8\xff\xe0 a picture";
    let stage = Stage::open(&[
        ("www.youtube.com", answer("200 OK", said.to_string().as_bytes())),
        ("i.ytimg.com", answer("200 OK", picture)),
    ])
    .await;
    let details = looked_up(&stage.embeds(PUBLIC), VIDEO).await.unwrap();
    let title = details.title.unwrap();
    assert!(title.starts_with("Ab <b>xx") && title.chars().count() == MAX_TITLE_CHARS, "{title}");
    assert_eq!((details.author.as_deref(), details.thumbnail.as_deref()), (Some("Ada L."), Some(&picture[..])));
    assert_eq!(
        stage.asked(),
        [
            "www.youtube.com GET /oembed?format=json&maxwidth=640&maxheight=360&url=https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3DdQw4w9WgXcQ HTTP/1.1",
            "i.ytimg.com GET /vi/x/hq.jpg?sqp=1 HTTP/1.1"
        ]
    );
}

/// T33: names that lead into one's own network, in every spelling, are not connected to.
#[tokio::test]
async fn a_name_that_leads_to_no_public_address_is_not_asked() {
    let stage = Stage::open(&[]).await;
    for ip in [
        "127.0.0.1",
        "10.0.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.100.100.200",
        "0.0.0.0",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "fe80::1",
        "fd00:ec2::254",
        "64:ff9b::7f00:1",
    ] {
        let failed = looked_up(&stage.embeds(ip.parse().unwrap()), VIDEO).await.unwrap_err();
        let EmbedError::NotAsked { source, .. } = failed else { panic!("{ip}: {failed:?}") };
        assert!(source.to_string().contains("no address that may be used"), "{ip}: {source}");
    }
    assert_eq!(stage.asked(), Vec::<String>::new());
}

/// T33: a redirect is not followed, wherever it leads; nor is a picture elsewhere fetched.
#[tokio::test]
async fn no_redirect_is_followed_and_no_picture_of_another_host_is_fetched() {
    let inside = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let location = inside.local_addr().unwrap();
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let elsewhere = format!("HTTP/1.1 {status}\r\nlocation: https://{location}/\r\ncontent-length: 0\r\n\r\n");
        let stage = Stage::open(&[("www.youtube.com", elsewhere.into_bytes())]).await;
        let failed = looked_up(&stage.embeds(PUBLIC), VIDEO).await.unwrap_err();
        assert!(matches!(failed, EmbedError::NotAsked { .. }), "{failed:?}");
    }
    for url in [
        format!("https://{location}/a.jpg"),
        format!("http://{location}/a.jpg"),
        "https://i.ytimg.com:8443/a.jpg".to_owned(),
        "http://i.ytimg.com/a.jpg".to_owned(),
        "https://vimeo.com/a.jpg".to_owned(),
    ] {
        let said = serde_json::json!({ "title": "A", "thumbnail_url": url }).to_string();
        let stage = Stage::open(&[("www.youtube.com", answer("200 OK", said.as_bytes()))]).await;
        let details = looked_up(&stage.embeds(PUBLIC), VIDEO).await.unwrap();
        assert_eq!((details.title.as_deref(), details.thumbnail), (Some("A"), None), "{url}");
        assert_eq!(stage.asked().len(), 1, "{url}");
    }
    // The picture's own redirect is none to follow either.
    let said = serde_json::json!({ "thumbnail_url": "https://i.ytimg.com/a.jpg" }).to_string();
    let elsewhere = format!("HTTP/1.1 302 Found\r\nlocation: https://{location}/\r\ncontent-length: 0\r\n\r\n");
    let answers = [("www.youtube.com", answer("200 OK", said.as_bytes())), ("i.ytimg.com", elsewhere.into_bytes())];
    let stage = Stage::open(&answers).await;
    let details = looked_up(&stage.embeds(PUBLIC), VIDEO).await.unwrap();
    assert_eq!(details, EmbedDetails::default());
    assert!(futures_util::FutureExt::now_or_never(inside.accept()).is_none(), "somebody followed it");
}

#[tokio::test]
async fn what_a_site_does_not_have_is_an_error_and_a_bad_answer_is_none() {
    for (status, body, is_there) in [
        ("404 Not Found", &b"Not Found"[..], false),
        ("400 Bad Request", b"", false),
        ("401 Unauthorized", b"", true),
        ("503 Unavailable", b"", true),
        ("200 OK", b"<html>", true),
        ("200 OK", b"3", true),
    ] {
        let stage = Stage::open(&[("www.youtube.com", answer(status, body))]).await;
        let failed = looked_up(&stage.embeds(PUBLIC), VIDEO).await.unwrap_err();
        assert_eq!(matches!(failed, EmbedError::NotAsked { .. }), is_there, "{status}: {failed:?}");
    }
    let endless = answer("200 OK", &vec![b' '; MAX_BYTES + 1]);
    let stage = Stage::open(&[("www.youtube.com", endless)]).await;
    let failed = looked_up(&stage.embeds(PUBLIC), VIDEO).await.unwrap_err();
    let EmbedError::NotAsked { source, .. } = failed else { panic!("{failed:?}") };
    assert!(source.to_string().contains("more than 1048576 bytes"), "{source}");
}

/// Whoever can not show that it is the site is not believed.
#[tokio::test]
async fn a_server_that_is_not_the_site_is_not_asked() {
    let stage = Stage::open(&[]).await;
    let names = [("open.spotify.com".to_owned(), vec![PUBLIC])].into();
    let untrusted = StagedNetwork { names, servers: [(PUBLIC, stage.at)].into(), certificates: Vec::new() };
    let url = "https://open.spotify.com/track/4uLU6hMCjMI75M1A2tKUQC";
    let failed = looked_up(&Embeds::staged(untrusted), url).await.unwrap_err();
    assert!(matches!(failed, EmbedError::NotAsked { .. }), "{failed:?}");
    let failed = looked_up(&Embeds::offline(), url).await.unwrap_err();
    assert!(matches!(failed, EmbedError::NotAsked { source: EmbedFailure::Offline, .. }), "{failed:?}");
    assert_eq!(stage.asked(), Vec::<String>::new());
}

/// A site that reads a request for each of these answers, gives it and keeps the connection open. After the last one nothing else is
/// waited for: the clock stands still, and only the limit makes it advance.
async fn falling_silent(answers: Vec<Vec<u8>>) -> (Embeds, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let names = ["www.youtube.com", "i.ytimg.com"].map(|host| (host.to_owned(), vec![PUBLIC])).into();
    let servers = [(PUBLIC, listener.local_addr().unwrap())].into();
    let embeds = Embeds::staged(StagedNetwork { names, servers, certificates: vec![certificate().to_vec()] });
    // Read before the clock stands still: that is work of a thread.
    embeds.connector().await.unwrap();
    let mut server = JoinSet::new();
    server.spawn(async move {
        let mut open = Vec::new();
        let last = answers.len() - 1;
        for (nth, answer) in answers.into_iter().enumerate() {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = acceptor().accept(stream).await.unwrap();
            assert!(stream.read(&mut [0; 8_192]).await.unwrap() > 0);
            tokio::time::pause();
            if nth < last {
                tokio::time::advance(ANSWERED_AFTER).await;
                tokio::time::resume();
            }
            stream.write_all(&answer).await.ok();
            open.push(stream);
        }
        std::future::pending::<()>().await;
    });
    (embeds, server)
}

/// Whoever falls silent is waited for no longer than the limit, and neither is whoever waits for its turn meanwhile.
#[tokio::test]
async fn a_silent_site_is_not_waited_for() {
    let (embeds, _server) = falling_silent(vec![Vec::new()]).await;
    let all_but_one = embeds.shared.asking.acquire_many(u32::try_from(AT_ONCE - 1).unwrap()).await.unwrap();
    let begun = Instant::now();
    let (first, second) = tokio::join!(looked_up(&embeds, VIDEO), looked_up(&embeds, VIDEO));
    assert_eq!(begun.elapsed().as_secs(), 5);
    for failed in [first.unwrap_err(), second.unwrap_err()] {
        let EmbedError::NotAsked { source, .. } = failed else { panic!("{failed:?}") };
        assert_eq!(source.to_string(), "it took too long");
    }
    drop(all_but_one);
}

/// The answer and the picture have one limit together; without its picture it is a card all the same.
#[tokio::test]
async fn a_picture_that_does_not_come_is_waited_for_until_the_same_limit() {
    let said = serde_json::json!({ "title": "A", "thumbnail_url": "https://i.ytimg.com/a.jpg" }).to_string();
    let (embeds, _server) = falling_silent(vec![answer("200 OK", said.as_bytes()), Vec::new()]).await;
    let begun = Instant::now();
    let details = looked_up(&embeds, VIDEO).await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 5);
    assert_eq!((details.title.as_deref(), details.thumbnail), (Some("A"), None));
}
