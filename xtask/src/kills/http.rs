//! A minimal HTTP/1.1 client on a plain socket: one connection kept open, JSON in and out, and an error as soon as
//! the server is gone. A library would retry and pool connections, which a test of acknowledgements must not do.

use std::io::{self, BufRead, BufReader, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::server::Endpoint;
use crate::http::{malformed, read_body, read_head, read_line};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// A connection that was idle for longer is not reused: the server may be closing it just now.
const IDLE_LIMIT: Duration = Duration::from_secs(3);

pub(crate) struct Http {
    endpoint: Endpoint,
    /// Kept open since its last answer.
    connection: Option<(BufReader<TcpStream>, Instant)>,
}

/// A request that can be sent again unchanged.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) body: Option<String>,
    pub(crate) idempotency_key: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", path: path.into(), body: None, idempotency_key: None }
    }
}

impl HttpAnswer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl Http {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, connection: None }
    }

    /// Sends the request once. After an error nobody knows whether the server acted, and the connection is dropped.
    pub(crate) fn send(&mut self, request: &Request) -> io::Result<HttpAnswer> {
        let mut connection = match self.connection.take() {
            Some((open, answered)) if answered.elapsed() < IDLE_LIMIT => open,
            Some(_) | None => self.connect()?,
        };
        connection.get_mut().write_all(self.text(request).as_bytes())?;
        let (answer, after) = read_answer(&mut connection)?;
        if after == Connection::KeepOpen {
            self.connection = Some((connection, Instant::now()));
        }
        Ok(answer)
    }

    fn connect(&self) -> io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect_timeout(&self.endpoint.address, CONNECT_TIMEOUT)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        Ok(BufReader::new(stream))
    }

    fn text(&self, request: &Request) -> String {
        let Request { method, path, body, idempotency_key } = request;
        let Endpoint { address, token } = &self.endpoint;
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n");
        if let Some(key) = idempotency_key {
            text += &format!("Idempotency-Key: {key}\r\n");
        }
        match body {
            Some(body) => {
                text += &format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            }
            None => text += "\r\n",
        }
        text
    }
}

/// What to do with the connection.
#[derive(Debug, PartialEq, Eq)]
enum Connection {
    KeepOpen,
    Close,
}

fn read_answer(reader: &mut impl BufRead) -> io::Result<(HttpAnswer, Connection)> {
    let status_line = read_line(reader)?;
    let status = status_line
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3))
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| malformed(format!("status line {status_line:?}")))?;
    let head = read_head(reader)?;
    let closes = head.get("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    let after = if closes { Connection::Close } else { Connection::KeepOpen };
    let bytes = read_body(reader, &head)?;
    let body = String::from_utf8(bytes).map_err(|_| malformed("a body that is not UTF-8".to_owned()))?;
    Ok((HttpAnswer { status, body }, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<(HttpAnswer, Connection)> {
        read_answer(&mut text.as_bytes())
    }

    #[test]
    fn answers_are_read_in_both_shapes() {
        let (answer, after) = read("HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}").unwrap();
        assert_eq!((answer.status, answer.body.as_str(), after), (202, "{}", Connection::KeepOpen));
        let chunked =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n";
        let (answer, after) = read(chunked).unwrap();
        assert_eq!((answer.status, answer.body.as_str(), after), (200, "abcd", Connection::Close));
        let (answer, _) = read("HTTP/1.1 204 No Content\r\n\r\n").unwrap();
        assert!(answer.is_success());
    }

    #[test]
    fn an_answer_that_was_cut_short_is_no_answer() {
        let whole = "HTTP/1.1 202 Accepted\r\ncontent-length: 13\r\n\r\n{\"turn\":null}";
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_err(), "{length}");
        }
        assert!(read(whole).is_ok());
    }
}
