//! Connects a command to the server: over its Unix socket or, where none runs, over a stream inside of this process.
//!
//! Invariant: both ways use the same HTTP, routes and guards. Nothing is ever sent to a TCP port that somebody else
//! might have taken, nor to a socket on which another user listens.

use std::fmt;
use std::io::Write;

use anyhow::{Context as _, Result, anyhow, bail};
use http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use model::SessionId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use server::wire;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cli::SessionName;
use crate::config::{Config, Start};
use crate::data_dir::DataDir;
use crate::host::{Host, LinkAddress, Purpose};

const IN_PROCESS_BUFFER: usize = 64 << 10;
/// How many pages of the list are searched for a session by the end of its id.
const TAIL_PAGES: usize = 20;

pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

pub(crate) struct Client {
    connection: Connection,
    tasks: TaskTracker,
}

enum Connection {
    Socket(DataDir),
    InProcess { host: Box<Host>, app: doors::GuardedApp, stopping: CancellationToken },
}

impl Client {
    /// Connects to the server of this data folder, or starts one inside of this process.
    pub(crate) async fn connect(data: &DataDir) -> Result<Self> {
        if let Some(client) = Self::of_running(data).await? {
            return Ok(client);
        }
        let (config, text) = Config::load_with_text(&data.config())?;
        let host = Box::new(Host::open(data, &config, Purpose::OneCommand).await?);
        let stopping = CancellationToken::new();
        let url = format!("http://{}", config.server.listen);
        let address = LinkAddress { url, local_only: true };
        let configuration = config.report(&data.config(), text.as_deref(), &Start::default(), &address);
        let app = host.apps(&config, data, configuration, stopping.clone())?.whole;
        Ok(Self { connection: Connection::InProcess { host, app, stopping }, tasks: TaskTracker::new() })
    }

    /// Connects to the server of this data folder, if one runs.
    pub(crate) async fn of_running(data: &DataDir) -> Result<Option<Self>> {
        let Ok(stream) = UnixStream::connect(data.socket()).await else { return Ok(None) };
        check_peer(&stream, own_uid())?;
        Ok(Some(Self { connection: Connection::Socket(data.clone()), tasks: TaskTracker::new() }))
    }

    /// Whether a server runs that goes on after this command.
    pub(crate) fn has_server(&self) -> bool {
        matches!(self.connection, Connection::Socket(_))
    }

    pub(crate) async fn close(self) {
        if let Connection::InProcess { host, stopping, .. } = self.connection {
            stopping.cancel();
            self.tasks.close();
            self.tasks.wait().await;
            host.close().await;
        }
    }

    async fn stream(&self) -> Result<Box<dyn Stream>> {
        match &self.connection {
            Connection::Socket(data) => {
                let stream = UnixStream::connect(data.socket()).await;
                let stream = stream.context("the server does not answer on its socket")?;
                check_peer(&stream, own_uid())?;
                Ok(Box::new(stream))
            }
            Connection::InProcess { app, stopping, .. } => {
                let (ours, theirs) = tokio::io::duplex(IN_PROCESS_BUFFER);
                self.tasks.spawn(doors::serve_stream(theirs, app.clone(), stopping.clone()));
                Ok(Box::new(ours))
            }
        }
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.call(Method::GET, path, None::<&()>).await
    }

    /// Whether the server and its parts are well.
    pub(crate) async fn health(&self) -> Result<wire::Health> {
        let answer = self.send_raw(Request::get("/healthz").body(Full::new(Bytes::new()))?).await?;
        serde_json::from_slice(check(&answer)?).context("the server's answer is not what this command expects")
    }

    /// The body of an answer that is no JSON.
    pub(crate) async fn get_text(&self, path: &str) -> Result<Bytes> {
        let answer = self.send(Method::GET, path, None::<&()>).await?;
        check(&answer)?;
        Ok(answer.1)
    }

    /// Writes the body of an answer as it comes. A refusal writes nothing.
    pub(crate) async fn get_into(&self, path: &str, out: &mut dyn Write) -> Result<()> {
        let stream = TokioIo::new(self.stream().await?);
        let (mut sender, connection) = hyper::client::conn::http1::handshake::<_, Full<Bytes>>(stream).await?;
        let mut request = Request::get(format!("/api/v1{path}")).body(Full::new(Bytes::new()))?;
        request.headers_mut().insert(header::HOST, HeaderValue::from_static("localhost"));
        let transfer = async {
            let response = sender.send_request(request).await?;
            let status = response.status();
            let mut body = response.into_body();
            if !status.is_success() {
                let answer = (status, body.collect().await?.to_bytes());
                return check(&answer).map(|_| ());
            }
            while let Some(frame) = body.frame().await {
                if let Some(piece) = frame.context("the transfer broke off")?.data_ref() {
                    out.write_all(piece)?;
                }
            }
            Ok(out.flush()?)
        };
        tokio::pin!(connection);
        tokio::pin!(transfer);
        tokio::select! {
            done = &mut transfer => done,
            ended = &mut connection => {
                ended?;
                transfer.await
            }
        }
    }

    pub(crate) async fn post<T: DeserializeOwned>(&self, path: &str, body: Option<&impl Serialize>) -> Result<T> {
        self.call(Method::POST, path, body).await
    }

    pub(crate) async fn put<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T> {
        self.call(Method::PUT, path, Some(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &impl Serialize) -> Result<()> {
        let answer = self.send(Method::PATCH, path, Some(body)).await?;
        check(&answer).map(|_| ())
    }

    pub(crate) async fn delete(&self, path: &str) -> Result<()> {
        let answer = self.send(Method::DELETE, path, None::<&()>).await?;
        check(&answer).map(|_| ())
    }

    async fn call<T: DeserializeOwned>(&self, method: Method, path: &str, body: Option<&impl Serialize>) -> Result<T> {
        let answer = self.send(method, path, body).await?;
        serde_json::from_slice(check(&answer)?).context("the server's answer is not what this command expects")
    }

    async fn send(&self, method: Method, path: &str, body: Option<&impl Serialize>) -> Result<(StatusCode, Bytes)> {
        let mut request = Request::builder().method(method).uri(format!("/api/v1{path}"));
        let bytes = match body {
            Some(body) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Bytes::from(serde_json::to_vec(body)?)
            }
            None => Bytes::new(),
        };
        self.send_raw(request.body(Full::new(bytes))?).await
    }

    /// Sends a request unchanged.
    pub(crate) async fn send_raw(&self, mut request: Request<Full<Bytes>>) -> Result<(StatusCode, Bytes)> {
        let stream = TokioIo::new(self.stream().await?);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await?;
        request.headers_mut().insert(header::HOST, HeaderValue::from_static("localhost"));
        let send_raw = async {
            let response = sender.send_request(request).await?;
            let status = response.status();
            anyhow::Ok((status, response.into_body().collect().await?.to_bytes()))
        };
        tokio::pin!(connection);
        tokio::pin!(send_raw);
        tokio::select! {
            answer = &mut send_raw => answer,
            ended = &mut connection => {
                ended?;
                send_raw.await
            }
        }
    }

    /// Opens a WebSocket to `/api/v1/live`.
    pub(crate) async fn live(&self) -> Result<WebSocketStream<Box<dyn Stream>>> {
        let request = "ws://localhost/api/v1/live".into_client_request()?;
        let (socket, _) = tokio_tungstenite::client_async(request, self.stream().await?).await?;
        Ok(socket)
    }

    /// The session that a person named.
    pub(crate) async fn find_session(&self, name: &SessionName) -> Result<wire::Session> {
        let id = match name {
            SessionName::Id(id) => *id,
            SessionName::Last => {
                let page: wire::SessionPage = self.get("/sessions?archived=any&limit=1").await?;
                let last = page
                    .sessions
                    .first()
                    .ok_or_else(|| anyhow!("there is no session yet; `throughline new` begins one"))?;
                last.id
            }
            SessionName::Part(part) => self.find_by_part(part).await?,
        };
        self.get(&format!("/sessions/{id}")).await
    }

    /// The deleted session that a person named.
    pub(crate) async fn find_deleted(&self, name: &SessionName) -> Result<SessionId> {
        match name {
            SessionName::Id(id) => Ok(*id),
            SessionName::Last => {
                let page: wire::DeletedPage = self.get("/deleted-sessions?limit=1").await?;
                let last = page.sessions.first();
                Ok(last.ok_or_else(|| anyhow!("no session was deleted in the last seven days"))?.id)
            }
            SessionName::Part(part) => {
                let page = async |after: String| {
                    let page: wire::DeletedPage = self.get(&format!("/deleted-sessions?limit=200{after}")).await?;
                    Ok((page.sessions.iter().map(|row| row.id).collect(), page.next_cursor))
                };
                match with_part(part, page).await?.as_slice() {
                    [id] => Ok(*id),
                    [] => bail!(
                        "no deleted session's id ends or begins with {part}; `throughline list --deleted` shows them"
                    ),
                    several => {
                        bail!("{} deleted sessions' ids end or begin with {part}; give more of it", several.len())
                    }
                }
            }
        }
    }

    async fn find_by_part(&self, part: &str) -> Result<SessionId> {
        let page = async |after: String| {
            let page: wire::SessionPage = self.get(&format!("/sessions?archived=any&limit=200{after}")).await?;
            Ok((page.sessions.iter().map(|row| row.id).collect(), page.next_cursor))
        };
        match with_part(part, page).await?.as_slice() {
            [id] => Ok(*id),
            [] => bail!("no session's id ends or begins with {part}; `throughline list` shows them"),
            several => bail!("{} sessions' ids end or begin with {part}; give more of it", several.len()),
        }
    }
}

/// The ids of a list that end or begin so, within the searched pages; a page has its ids and the cursor of the next.
async fn with_part(
    part: &str,
    page: impl AsyncFn(String) -> Result<(Vec<SessionId>, Option<String>)>,
) -> Result<Vec<SessionId>> {
    let mut after = String::new();
    let mut found = Vec::new();
    for _ in 0..TAIL_PAGES {
        let (ids, next) = page(after).await?;
        let has_part = |id: &SessionId| {
            let id = id.to_string();
            id.ends_with(part) || id.starts_with(part)
        };
        found.extend(ids.into_iter().filter(has_part));
        match next {
            Some(cursor) => after = format!("&after={cursor}"),
            None => break,
        }
    }
    Ok(found)
}

/// The process of the server of this data folder, if one runs.
pub(crate) async fn server_process(data: &DataDir) -> Result<Option<u32>> {
    let Ok(stream) = UnixStream::connect(data.socket()).await else { return Ok(None) };
    check_peer(&stream, own_uid())?;
    // The process that listens, whatever a file says that another one may have left.
    let pid = stream.peer_cred()?.pid().and_then(|pid| u32::try_from(pid).ok());
    Ok(pid.or_else(|| data.read_server_file().map(|file| file.pid)))
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Refuses a socket on which another user listens: prompts are for the person's own server only.
fn check_peer(stream: &UnixStream, uid: u32) -> Result<()> {
    let peer = stream.peer_cred().context("the owner of the server's socket cannot be found")?;
    if peer.uid() != uid {
        bail!("the server's socket belongs to another user (uid {}); nothing was sent to it", peer.uid());
    }
    Ok(())
}

fn check(answer: &(StatusCode, Bytes)) -> Result<&[u8]> {
    let (status, body) = answer;
    if status.is_success() {
        return Ok(body);
    }
    match serde_json::from_slice::<wire::ErrorBody>(body) {
        Ok(body) => Err(Refusal { code: body.error.code, message: body.error.message }.into()),
        Err(_) => bail!("the server answered {status}"),
    }
}

/// What the server refused, with its reason.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: String,
    pub(crate) message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for Refusal {}

/// Whether the server refused a request with this code.
pub(crate) fn is_refusal(err: &anyhow::Error, code: &str) -> bool {
    err.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_known_by_its_code() {
        let body = br#"{"error":{"code":"file_not_changed","message":"it was not","details":{}}}"#;
        let refused = check(&(StatusCode::NOT_FOUND, Bytes::from_static(body))).unwrap_err();
        assert_eq!(refused.to_string(), "it was not (file_not_changed)");
        assert!(is_refusal(&refused, "file_not_changed") && !is_refusal(&refused, "turn_not_found"));
        assert!(!is_refusal(&anyhow!("it was not (file_not_changed)"), "file_not_changed"));
    }

    #[tokio::test]
    async fn a_socket_of_another_user_is_not_spoken_to() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        check_peer(&ours, own_uid()).unwrap();
        let refused = check_peer(&ours, own_uid() + 1).unwrap_err();
        assert!(refused.to_string().contains("belongs to another user"), "{refused}");
    }
}
