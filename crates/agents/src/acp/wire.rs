//! Parses and writes the lines of JSON-RPC.
//!
//! Invariant: any line can be parsed without harm; a line that is no message is [`Incoming::Junk`].

use agent_client_protocol::{Error, JsonRpcMessage};
use serde_json::{Value, json};

use super::translate::{error_text, plain_line};

/// Longest error text of an agent, in characters.
const MAX_ERROR_CHARS: usize = 1_000;

/// A message of an agent.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A request; the answer carries this id, which is the agent's own.
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// The reply to our request with this id.
    Reply {
        id: i64,
        result: Result<Value, Refused>,
    },
    /// Not a message: some programs print to standard output.
    Junk,
}

/// The agent replied with an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    code: i64,
    /// The agent's own text, on one line.
    pub(crate) message: String,
}

impl Refused {
    pub(crate) fn new(message: &str) -> Self {
        Self { code: 0, message: message.to_owned() }
    }

    /// Whether the person has to sign in first.
    pub(crate) fn is_signed_out(&self) -> bool {
        self.code == -32000
    }

    fn read(error: &Value) -> Self {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let message = text(error.get("message")).unwrap_or_else(|| "an error without words".to_owned());
        let data = error.get("data");
        let members = ["details", "message", "error"];
        let more = text(data).or_else(|| members.iter().find_map(|name| text(data?.get(name))));
        let words = match more {
            Some(more) if more != message => format!("{message}: {more}"),
            Some(_) | None => message,
        };
        let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
        Self { code, message: plain_line(&error_text(&words), MAX_ERROR_CHARS) }
    }
}

pub(crate) fn read(line: &str) -> Incoming {
    let Ok(Value::Object(mut message)) = serde_json::from_str(line) else { return Incoming::Junk };
    let params = message.remove("params").unwrap_or_default();
    match (message.remove("method"), message.remove("id")) {
        (Some(Value::String(method)), Some(id)) => Incoming::Request { id, method, params },
        (Some(Value::String(method)), None) => Incoming::Notification { method, params },
        (None, Some(Value::Number(id))) => {
            let Some(id) = id.as_i64() else { return Incoming::Junk };
            match (message.remove("error"), message.remove("result")) {
                (Some(error), _) if !error.is_null() => Incoming::Reply { id, result: Err(Refused::read(&error)) },
                (_, Some(result)) => Incoming::Reply { id, result: Ok(result) },
                (_, None) => Incoming::Junk,
            }
        }
        _ => Incoming::Junk,
    }
}

/// The line of a request.
pub(crate) fn request(id: i64, message: &impl JsonRpcMessage) -> String {
    let (method, params) = parts(message);
    request_named(id, &method, &params)
}

/// The same for a method that the SDK does not know.
pub(crate) fn request_named(id: i64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

pub(crate) fn notification(message: &impl JsonRpcMessage) -> String {
    let (method, params) = parts(message);
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// The line of an answer to the agent's request with this id.
pub(crate) fn answer(id: &Value, result: Result<Value, Error>) -> String {
    match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string(),
        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string(),
    }
}

fn parts(message: &impl JsonRpcMessage) -> (String, Value) {
    match message.to_untyped_message() {
        Ok(untyped) => untyped.into_parts(),
        // The SDK's types can always be written as JSON; without params the agent would answer with an error.
        Err(_) => (message.method().to_owned(), Value::Null),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_message_or_junk() {
        let lines = [
            r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}}"#,
            r#"{"id":null,"method":"m"}"#,
            r#"{"method":"m","params":[1]}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            r#"{"id":1,"result":{},"error":null}"#,
            r#"{"id":1,"error":{"code":-32000,"message":"Internal error","data":{"details":"no \u001b[1mkey"}}}"#,
            r#"{"id":1,"error":"odd"}"#,
            r#"{"id":1}"#,
            r#"{"id":"1","result":{}}"#,
            r#"{"id":1.5,"result":{}}"#,
            r#"{"method":7}"#,
            "[]",
            "17",
            "npm WARN deprecated",
            "{",
        ];
        let read: String = lines.iter().map(|line| format!("{:?}\n", read(line))).collect();
        insta::assert_snapshot!(read, @r#"
    Request { id: String("a"), method: "m", params: Object {"x": Number(1)} }
    Request { id: Null, method: "m", params: Null }
    Notification { method: "m", params: Array [Number(1)] }
    Reply { id: 1, result: Ok(Null) }
    Reply { id: 1, result: Ok(Object {}) }
    Reply { id: 1, result: Err(Refused { code: -32000, message: "Internal error: no [1mkey" }) }
    Reply { id: 1, result: Err(Refused { code: 0, message: "an error without words" }) }
    Junk
    Junk
    Junk
    Junk
    Junk
    Junk
    Junk
    Junk
    "#);
    }
}
