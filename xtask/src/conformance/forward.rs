//! Stands before the server for a caller that can send no credential: adds it, and changes nothing else.
//!
//! Invariant: the guards see what the caller sent. Only a Host or Origin that names this port becomes the server's own;
//! a foreign one stays foreign. A request that brings a credential keeps it.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

const PATIENCE: Duration = Duration::from_secs(60);
const MAX_HEAD_BYTES: usize = 64 << 10;
const HEAD_END: &[u8] = b"\r\n\r\n";

struct Forward {
    own: SocketAddr,
    to: SocketAddr,
    token: String,
}

/// Serves until the process ends; where.
pub(super) fn start(to: SocketAddr, token: String) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("could not open a port on loopback")?;
    let own = listener.local_addr().context("could not learn the port")?;
    let forward = Arc::new(Forward { own, to, token });
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let forward = Arc::clone(&forward);
            // A connection that breaks is seen by the caller, who judges it.
            thread::spawn(move || drop(forward.pass_on(stream)));
        }
    });
    Ok(own)
}

impl Forward {
    /// One request on each connection, so that every head is looked at.
    fn pass_on(&self, mut caller: TcpStream) -> io::Result<()> {
        caller.set_read_timeout(Some(PATIENCE))?;
        let (head, begun) = read_head(&mut caller)?;
        let mut server = TcpStream::connect(self.to)?;
        server.set_read_timeout(Some(PATIENCE))?;
        server.write_all(self.changed(&head).as_bytes())?;
        server.write_all(&begun)?;
        let (mut from, mut into) = (caller.try_clone()?, server.try_clone()?);
        thread::spawn(move || {
            // Whoever breaks off, the other is told by the end of its connection.
            drop(io::copy(&mut from, &mut into));
            drop(into.shutdown(Shutdown::Both));
        });
        drop(io::copy(&mut server, &mut caller));
        caller.shutdown(Shutdown::Both)
    }

    fn changed(&self, head: &str) -> String {
        let mut lines = head.split("\r\n");
        let mut changed = vec![lines.next().unwrap_or_default().to_owned()];
        let mut authorized = false;
        for line in lines {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            match name.to_ascii_lowercase().as_str() {
                "connection" => continue,
                "host" | "origin" => {
                    let value = value.trim();
                    let port = format!(":{}", self.own.port());
                    changed.push(match value.strip_suffix(&port) {
                        Some(rest) => format!("{name}: {rest}:{}", self.to.port()),
                        None => line.to_owned(),
                    });
                    continue;
                }
                "authorization" => authorized = true,
                _ => (),
            }
            changed.push(line.to_owned());
        }
        if !authorized {
            changed.push(format!("Authorization: Bearer {}", self.token));
        }
        changed.push("Connection: close".to_owned());
        changed.join("\r\n") + "\r\n\r\n"
    }
}

/// The head without its end, and what has come of the body.
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
        let forward = Forward { own: at(1000), to: at(2000), token: "secret".to_owned() };
        let added = "Authorization: Bearer secret\r\nConnection: close\r\n\r\n";
        for (head, expected) in [
            ("Host: localhost:1000", format!("Host: localhost:2000\r\n{added}")),
            ("host: evil.example:80", format!("host: evil.example:80\r\n{added}")),
            ("Origin: http://127.0.0.1:1000", format!("Origin: http://127.0.0.1:2000\r\n{added}")),
            ("Origin: http://evil.example", format!("Origin: http://evil.example\r\n{added}")),
            ("Connection: keep-alive\r\nX: 1:1000", format!("X: 1:1000\r\n{added}")),
            ("Authorization: Bearer x", "Authorization: Bearer x\r\nConnection: close\r\n\r\n".to_owned()),
        ] {
            let changed = forward.changed(&format!("POST /mcp HTTP/1.1\r\n{head}"));
            assert_eq!(changed, format!("POST /mcp HTTP/1.1\r\n{expected}"));
        }
    }
}
