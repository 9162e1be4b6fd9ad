//! Just enough of an HTTP/1.1 server for the scripted model and the lab's tools: loopback, a thread for each
//! connection, one request on each.
//!
//! Invariant: a caller that goes away ends its thread, so a cancelled answer leaves nothing behind.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

/// Between two events of a stream, so that they arrive as more than one piece.
const BETWEEN_EVENTS: Duration = Duration::from_millis(5);
/// How long a caller is waited for: to finish its request, or to give up an answer that does not end.
const PATIENCE: Duration = Duration::from_secs(60);
const MOST_BYTES: usize = 64 << 20;

pub(super) struct Request {
    pub(super) method: String,
    /// Without the query.
    pub(super) path: String,
    /// Names in lower case.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

pub(super) enum Answer {
    Whole {
        status: u16,
        body: String,
    },
    /// Server-sent events, each with its end.
    Events(Vec<String>),
    /// Some events, and then silence until the caller gives up.
    EventsThenSilence(Vec<String>),
}

/// Serves until the process ends.
pub(super) fn serve(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("could not open a port on loopback")?;
    let address = listener.local_addr().context("could not learn the port")?;
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            // A caller that breaks off is its own business: its agent says what it thinks of that.
            thread::spawn(move || drop(talk(stream, answer.as_ref())));
        }
    });
    Ok(address)
}

fn talk(stream: TcpStream, answer: &(impl Fn(&Request) -> Answer + ?Sized)) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    let request = read_request(&mut reader)?;
    let answer = answer(&request);
    let mut stream = reader.into_inner();
    match answer {
        Answer::Whole { status, body } => {
            let head = format!(
                "HTTP/1.1 {status} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                reason(status),
                body.len()
            );
            stream.write_all(head.as_bytes())?;
            stream.write_all(body.as_bytes())
        }
        Answer::Events(events) => write_events(&mut stream, &events),
        Answer::EventsThenSilence(events) => {
            write_events(&mut stream, &events)?;
            // Nothing more is expected from the caller; the end of the connection is.
            stream.read(&mut [0; 1]).map(drop)
        }
    }
}

fn write_events(stream: &mut TcpStream, events: &[String]) -> io::Result<()> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    for event in events {
        stream.write_all(event.as_bytes())?;
        thread::sleep(BETWEEN_EVENTS);
    }
    Ok(())
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        401 => "Unauthorized",
        404 => "Not Found",
        405 => "Method Not Allowed",
        _ => "Bad Request",
    }
}

fn read_request(reader: &mut impl BufRead) -> io::Result<Request> {
    let first = read_line(reader)?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(malformed(format!("request line {first:?}")));
    };
    let mut headers = BTreeMap::new();
    loop {
        let line = read_line(reader)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| malformed(format!("header {line:?}")))?;
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let chunked = headers.get("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
    let body = if chunked {
        read_chunks(reader)?
    } else {
        let length = headers.get("content-length").map_or(Ok(0), |value| value.parse());
        read_exactly(reader, length.map_err(|_| malformed("content-length".to_owned()))?)?
    };
    let path = target.split('?').next().unwrap_or_default().to_owned();
    Ok(Request { method: method.to_owned(), path, headers, body })
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let line = read_line(reader)?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16).map_err(|_| malformed(format!("chunk {line:?}")))?;
        bytes.extend(read_exactly(reader, length)?);
        read_line(reader)?;
        if length == 0 {
            return Ok(bytes);
        }
    }
}

fn read_exactly(reader: &mut impl BufRead, length: usize) -> io::Result<Vec<u8>> {
    if length > MOST_BYTES {
        return Err(malformed(format!("a body of {length} bytes")));
    }
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.by_ref().take(64 << 10).read_line(&mut line)?;
    line.strip_suffix("\r\n").map(str::to_owned).ok_or_else(|| ErrorKind::UnexpectedEof.into())
}

fn malformed(what: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}
