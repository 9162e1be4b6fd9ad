//! `throughline mcp`: a session's tools on standard input and output, for a client that starts its servers itself.
//!
//! Invariant: it knows no tool. Each line goes unchanged to `/mcp` of the running server, and each answer comes back
//! as one line; nothing else is written to standard output.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use http::{HeaderValue, Method, Request, header};
use http_body_util::Full;
use hyper::body::Bytes;
use model::SessionId;
use serde_json::{Value, json};
use server::wire;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use crate::cli;
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::paging::PageCursor;

/// More than the server accepts in one message.
const MAX_LINE_BYTES: u64 = 1 << 20;
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

pub(super) async fn run(data: &DataDir, mcp: &cli::Mcp) -> Result<()> {
    // It stays open too long to run a server inside of this process.
    let client = Client::of_running(data).await?;
    let client = client.context("no server runs on this data folder; `throughline serve` starts one")?;
    let session = match &mcp.session {
        Some(name) => client.find_session(name).await?.row.id,
        None => newest_here(&client).await?,
    };
    let mut bridge = Bridge { client, session, version: None };
    let mut input = BufReader::new(tokio::io::stdin());
    let mut output = tokio::io::stdout();
    while let Some(line) = next_line(&mut input).await? {
        for answer in bridge.pass_on(&line).await {
            let mut line = serde_json::to_vec(&answer)?;
            line.push(b'\n');
            output.write_all(&line).await?;
        }
        output.flush().await?;
    }
    Ok(())
}

/// The last active session of the project that this directory belongs to.
async fn newest_here(client: &Client) -> Result<SessionId> {
    let here = std::env::current_dir().context("this directory cannot be found")?;
    let mut cursor = PageCursor::default();
    loop {
        let path = format!("/sessions?archived=any&limit=200{}", cursor.parameter("&after"));
        let page: wire::SessionPage = client.get(&path).await?;
        let is_here = |row: &&wire::SessionRow| here.starts_with(Path::new(&row.project));
        if let Some(row) = page.sessions.iter().find(is_here) {
            return Ok(row.id);
        }
        if !cursor.advance(page.next_cursor)? {
            bail!("no session works in {}; name one with --session, as `throughline list` prints it", here.display());
        }
    }
}

/// The next line without its end; `None` at the end of the input. A line that is too long is cut.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    input.take(MAX_LINE_BYTES).read_until(b'\n', &mut line).await?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
        let mut rest = Vec::new();
        while input.take(MAX_LINE_BYTES).read_until(b'\n', &mut rest).await? > 0 && rest.last() != Some(&b'\n') {
            rest.clear();
        }
    }
    Ok(Some(line.trim_ascii().to_vec()))
}

struct Bridge {
    client: Client,
    session: SessionId,
    /// The protocol version from the handshake; in the stateless revision each message has it.
    version: Option<String>,
}

impl Bridge {
    /// Sends a message to the server and returns the lines to write.
    async fn pass_on(&mut self, line: &[u8]) -> Vec<Value> {
        if line.is_empty() {
            return Vec::new();
        }
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return vec![error(&Value::Null, -32700, "this line is no JSON, or longer than is taken")];
        };
        let id = &message["id"];
        let answers = match self.post(&message, line).await {
            Ok(answers) => answers,
            Err(err) if id.is_null() => {
                crate::terminal::remark(&format!("{err:#}"));
                Vec::new()
            }
            Err(err) => vec![error(id, -32603, &format!("{err:#}"))],
        };
        if message["method"] == "initialize" {
            let agreed = answers.first().and_then(|answer| answer["result"]["protocolVersion"].as_str());
            self.version = agreed.map(str::to_owned);
        }
        answers
    }

    async fn post(&self, message: &Value, line: &[u8]) -> Result<Vec<Value>> {
        let params = &message["params"];
        let stated = params["_meta"][VERSION].as_str();
        let agreed = self.version.as_deref().filter(|_| message["method"] != "initialize");
        let mut request = Request::builder().method(Method::POST).uri(format!("/mcp?session={}", self.session));
        request = request.header(header::CONTENT_TYPE, "application/json");
        request = request.header(header::ACCEPT, "application/json, text/event-stream");
        let name = params["name"].as_str().or_else(|| params["uri"].as_str());
        let named = [
            ("mcp-protocol-version", stated.or(agreed)),
            ("mcp-method", stated.and(message["method"].as_str())),
            ("mcp-name", stated.and(name)),
        ];
        for (name, value) in named {
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                request = request.header(name, value);
            }
        }
        let (status, body) = self.client.send_raw(request.body(Full::new(Bytes::copy_from_slice(line)))?).await?;
        let answers = answers(&body);
        if answers.is_empty() && !status.is_success() {
            match serde_json::from_slice::<wire::ErrorBody>(&body) {
                Ok(body) => bail!("{} ({})", body.error.message, body.error.code),
                Err(_) => bail!("the server answered {status}"),
            }
        }
        Ok(answers)
    }
}

/// The messages of a response: one, or several as a stream of events.
fn answers(body: &[u8]) -> Vec<Value> {
    let is_message = |value: &Value| value["jsonrpc"] == "2.0";
    match serde_json::from_slice::<Value>(body) {
        Ok(message) => Some(message).filter(is_message).into_iter().collect(),
        Err(_) => {
            let events = body.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
            events.filter_map(|data| serde_json::from_slice(data).ok()).filter(is_message).collect()
        }
    }
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_does_not_spoil_the_next() {
        let long = "x".repeat(3 * usize::try_from(MAX_LINE_BYTES).unwrap() + 5);
        let text = format!("one\n\n{long}\ntwo\nthree");
        let mut input = BufReader::new(text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input).await.unwrap() {
            lines.push(String::from_utf8(line).unwrap());
        }
        assert_eq!((lines.len(), lines[2].len()), (5, usize::try_from(MAX_LINE_BYTES).unwrap()));
        lines.remove(2);
        assert_eq!(lines, ["one", "", "two", "three"]);
    }

    #[test]
    fn an_answer_is_a_message_or_a_stream_of_them() {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
        assert_eq!(answers(message.to_string().as_bytes()), std::slice::from_ref(&message));
        assert_eq!(answers(format!("id: 1\ndata: {message}\n\ndata:\n\n").as_bytes()), [message]);
        assert!(answers(b"").is_empty() && answers(b"{\"error\": {}}").is_empty());
    }
}
