//! A proxy before the server for a client that can send no credential: it adds one, and changes nothing else.
//!
//! Invariant: the guards see what the client sent. Only a Host or Origin that names the proxy's own port is replaced
//! by the server's; a foreign one stays foreign. A request that has a credential keeps it.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

const PATIENCE: Duration = Duration::from_secs(60);
const MAX_HEAD_BYTES: usize = 64 << 10;
const HEAD_END: &[u8] = b"\r\n\r\n";

struct CredentialProxy {
    own: SocketAddr,
    to: SocketAddr,
    token: String,
}

/// Serves until the process ends; returns its address.
pub(super) fn start(to: SocketAddr, token: String) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("could not open a port on loopback")?;
    let own = listener.local_addr().context("could not learn the port")?;
    let forward = Arc::new(CredentialProxy { own, to, token });
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let forward = Arc::clone(&forward);
            // The client sees a broken connection and judges it.
            thread::spawn(move || drop(forward.forward(stream)));
        }
    });
    Ok(own)
}

impl CredentialProxy {
    /// Handles one request on each connection, so that every head is read.
    fn forward(&self, mut caller: TcpStream) -> io::Result<()> {
        caller.set_read_timeout(Some(PATIENCE))?;
        let (head, begun) = read_head(&mut caller)?;
        let mut server = TcpStream::connect(self.to)?;
        server.set_read_timeout(Some(PATIENCE))?;
        server.write_all(self.with_credential(&head).as_bytes())?;
        server.write_all(&begun)?;
        let (mut from, mut into) = (caller.try_clone()?, server.try_clone()?);
        thread::spawn(move || {
            // When one side disconnects, the other sees the end of its connection.
            drop(io::copy(&mut from, &mut into));
            drop(into.shutdown(Shutdown::Both));
        });
        drop(io::copy(&mut server, &mut caller));
        caller.shutdown(Shutdown::Both)
    }

    fn with_credential(&self, head: &str) -> String {
        let mut lines = head.split("\r\n");
        let mut with_credential = vec![lines.next().unwrap_or_default().to_owned()];
        let mut authorized = false;
        for line in lines {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            match name.to_ascii_lowercase().as_str() {
                "connection" => continue,
                "host" | "origin" => {
                    let value = value.trim();
                    let port = format!(":{}", self.own.port());
                    with_credential.push(match value.strip_suffix(&port) {
                        Some(rest) => format!("{name}: {rest}:{}", self.to.port()),
                        None => line.to_owned(),
                    });
                    continue;
                }
                "authorization" => authorized = true,
                _ => (),
            }
            with_credential.push(line.to_owned());
        }
        if !authorized {
            with_credential.push(format!("Authorization: Bearer {}", self.token));
        }
        with_credential.push("Connection: close".to_owned());
        with_credential.join("\r\n") + "\r\n\r\n"
    }
}

/// The head without its end, and what has arrived of the body.
fn read_head(caller: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let (mut read, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        if let Some(end) = read.windows(HEAD_END.len()).position(|bytes| bytes == HEAD_END) {
            let body = read.split_off(end + HEAD_END.len());
            read.truncate(end);
            let head = String::from_utf8(read).map_err(|_| io::Error::from(ErrorKind::InvalidData))?;
            return Ok((head, body));
        }
        match caller.read(&mut piece)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            count if read.len() + count <= MAX_HEAD_BYTES => read.extend_from_slice(&piece[..count]),
            _ => return Err(ErrorKind::InvalidData.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_credential_is_added_and_only_our_own_name_is_changed() {
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let forward = CredentialProxy { own: at(1000), to: at(2000), token: "secret".to_owned() };
        let added = "Authorization: Bearer secret\r\nConnection: close\r\n\r\n";
        for (head, expected) in [
            ("Host: localhost:1000", format!("Host: localhost:2000\r\n{added}")),
            ("host: evil.example:80", format!("host: evil.example:80\r\n{added}")),
            ("Origin: http://127.0.0.1:1000", format!("Origin: http://127.0.0.1:2000\r\n{added}")),
            ("Origin: http://evil.example", format!("Origin: http://evil.example\r\n{added}")),
            ("Connection: keep-alive\r\nX: 1:1000", format!("X: 1:1000\r\n{added}")),
            ("Authorization: Bearer x", "Authorization: Bearer x\r\nConnection: close\r\n\r\n".to_owned()),
        ] {
            let with_credential = forward.with_credential(&format!("POST /mcp HTTP/1.1\r\n{head}"));
            assert_eq!(with_credential, format!("POST /mcp HTTP/1.1\r\n{expected}"));
        }
    }
}
