//! Reads heads and bodies of HTTP/1.1 from a plain socket, for clients and servers.
//!
//! Invariant: the end of the connection is an error, since a truncated message is no message.

use std::collections::BTreeMap;
use std::io::{self, BufRead, ErrorKind, Read as _};

const MOST_BYTES: usize = 64 << 20;

/// The headers of a message: names in lower case.
pub(crate) type Head = BTreeMap<String, String>;

/// Reads all lines up to the empty one.
pub(crate) fn read_head(reader: &mut impl BufRead) -> io::Result<Head> {
    let mut head = Head::new();
    loop {
        let line = read_line(reader)?;
        if line.is_empty() {
            return Ok(head);
        }
        let (name, value) = line.split_once(':').ok_or_else(|| malformed(format!("header {line:?}")))?;
        head.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
}

/// Reads the body that the head announces.
pub(crate) fn read_body(reader: &mut impl BufRead, head: &Head) -> io::Result<Vec<u8>> {
    if head.get("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return read_chunks(reader);
    }
    let length = head.get("content-length").map_or(Ok(0), |value| value.parse());
    read_exactly(reader, length.map_err(|_| malformed("content-length".to_owned()))?)
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let line = read_line(reader)?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16).map_err(|_| malformed(format!("chunk {line:?}")))?;
        bytes.extend(read_exactly(reader, length)?);
        // The line end after each chunk, and after the trailers that nobody sends.
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

/// A line without its end.
pub(crate) fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.by_ref().take(64 << 10).read_line(&mut line)?;
    line.strip_suffix("\r\n").map(str::to_owned).ok_or_else(|| ErrorKind::UnexpectedEof.into())
}

pub(crate) fn malformed(what: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}
