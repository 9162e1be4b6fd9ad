//! A minimal HTTP/1.1 server for the scripted model and the lab's tools: loopback, a thread for each connection, one
//! request on each.
//!
//! Invariant: a caller that disconnects ends its thread, so a cancelled answer leaves nothing behind.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

use crate::http::{malformed, read_body, read_head, read_line};

/// The pause between two events of a stream, so that they arrive as more than one piece.
const BETWEEN_EVENTS: Duration = Duration::from_millis(5);
/// How long to wait for a caller to finish its request, or to give up an answer that does not end.
const CALLER_LIMIT: Duration = Duration::from_secs(60);

pub(super) struct Request {
    pub(super) method: String,
    /// Without the query.
    pub(super) path: String,
    /// Names in lower case.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

pub(super) enum HttpResponse {
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
pub(super) fn serve(answer: impl Fn(&Request) -> HttpResponse + Send + Sync + 'static) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("could not open a port on loopback")?;
    let address = listener.local_addr().context("could not learn the port")?;
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            // A caller may disconnect at any time; its agent reports what that means.
            thread::spawn(move || drop(serve_connection(stream, answer.as_ref())));
        }
    });
    Ok(address)
}

fn serve_connection(stream: TcpStream, answer: &(impl Fn(&Request) -> HttpResponse + ?Sized)) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(CALLER_LIMIT))?;
    let mut reader = BufReader::new(stream);
    let request = read_request(&mut reader)?;
    let answer = answer(&request);
    let mut stream = reader.into_inner();
    match answer {
        HttpResponse::Whole { status, body } => {
            let head = format!(
                "HTTP/1.1 {status} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                reason(status),
                body.len()
            );
            stream.write_all(head.as_bytes())?;
            stream.write_all(body.as_bytes())
        }
        HttpResponse::Events(events) => write_events(&mut stream, &events),
        HttpResponse::EventsThenSilence(events) => {
            write_events(&mut stream, &events)?;
            // The caller sends nothing more; this waits for the end of the connection.
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
    let headers = read_head(reader)?;
    let body = read_body(reader, &headers)?;
    let path = target.split('?').next().unwrap_or_default().to_owned();
    Ok(Request { method: method.to_owned(), path, headers, body })
}
