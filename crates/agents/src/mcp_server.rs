//! An MCP server of the person's own, which every agent gets when a session begins.
//!
//! Invariant: no `Debug` shows what may hold a secret (headers, variables, the query of an address).

use std::fmt;
use std::path::PathBuf;

use crate::name::{MAX_NAME_CHARS, is_name};

/// The name of the server with the session's own tools; no other may have it.
pub const OWN_MCP_SERVER: &str = "throughline";
/// The name of the server with which agents show the person something; no other may have it.
pub const OWN_SHOW_SERVER: &str = "throughline-show";

/// A tool of one of the session's own servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnTool {
    pub server: &'static str,
    pub name: String,
    /// The tool itself asks the person; a question of the agent about the call would be a second one.
    pub asks_itself: bool,
}

/// How an agent reaches the server. It is passed on unchanged: the agent connects to it or starts it.
#[derive(Clone, PartialEq, Eq)]
pub enum McpServer {
    /// The agent connects to it.
    Http {
        name: String,
        url: String,
        /// Sent with each request.
        headers: Vec<(String, String)>,
    },
    /// The agent starts it.
    Stdio {
        name: String,
        command: PathBuf,
        args: Vec<String>,
        /// Added to its environment.
        env: Vec<(String, String)>,
    },
}

/// Why an MCP server can not be passed to agents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpServerError {
    #[error("{0:?} is no name for an MCP server: use 1 to {MAX_NAME_CHARS} small letters, digits and hyphens")]
    Name(String),
    #[error("{0} is the name of this server's own tools: give the MCP server another name")]
    Reserved(String),
    #[error("the address of the MCP server {0} does not begin with http:// or https://, or has a space in it")]
    Url(String),
    #[error("the MCP server {0} has a header that can not be sent: a name has no spaces, a value has no line ends")]
    Header(String),
    #[error("the MCP server {0} has an empty command: name the program that is to be started")]
    Command(String),
}

impl McpServer {
    /// The server's name, as agents see it.
    pub fn name(&self) -> &str {
        match self {
            Self::Http { name, .. } | Self::Stdio { name, .. } => name,
        }
    }

    /// Checks a server of the person's own.
    pub fn check(&self) -> Result<(), McpServerError> {
        let name = self.name();
        if [OWN_MCP_SERVER, OWN_SHOW_SERVER].contains(&name) {
            return Err(McpServerError::Reserved(name.to_owned()));
        }
        if !is_name(name) {
            return Err(McpServerError::Name(name.to_owned()));
        }
        match self {
            Self::Http { url, .. } if !is_web_address(url) => Err(McpServerError::Url(name.to_owned())),
            Self::Http { headers, .. } if !headers.iter().all(|(header, value)| can_be_sent(header, value)) => {
                Err(McpServerError::Header(name.to_owned()))
            }
            Self::Stdio { command, .. } if command.as_os_str().is_empty() => {
                Err(McpServerError::Command(name.to_owned()))
            }
            Self::Http { .. } | Self::Stdio { .. } => Ok(()),
        }
    }
}

fn is_web_address(url: &str) -> bool {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty()) && !url.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn can_be_sent(header: &str, value: &str) -> bool {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !header.is_empty() && header.chars().all(is_token) && !value.contains(|c: char| c.is_control() && c != '\t')
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http { name, url, headers } => {
                let mut server = f.debug_struct("Http");
                server.field("name", name).field("url", &shown_url(url)).field("headers", &names(headers)).finish()
            }
            Self::Stdio { name, command, args, env } => {
                let mut server = f.debug_struct("Stdio");
                server.field("name", name).field("command", command).field("args", &args.len());
                server.field("env", &names(env)).finish()
            }
        }
    }
}

fn names(pairs: &[(String, String)]) -> Vec<&str> {
    pairs.iter().map(|(name, _)| name.as_str()).collect()
}

const HIDDEN: &str = "[secret]";
/// Addresses whose host is the name of a machine.
const WEB_SCHEMES: [&str; 4] = ["http", "https", "ws", "wss"];
/// Paths that many servers have, and that hold no secret.
const COMMON_PATHS: [&str; 4] = ["", "/", "/mcp", "/sse"];

/// An address without secrets: scheme, host and port of the web are shown, and a path that many servers have. A user, any other path and
/// a query may each open a door. Where it is not certain which part is which, nothing but the scheme is shown.
pub fn shown_url(url: &str) -> String {
    let is_scheme = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    let Some((scheme, rest)) = url.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        return HIDDEN.to_owned();
    };
    let (place, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, host) = place.rsplit_once('@').map_or(("", place), |(_, host)| ("[secret]@", host));
    // Elsewhere the host may be the secret itself, as the topic of `ntfy://topic` is.
    if !WEB_SCHEMES.contains(&scheme) || !is_host(host) || behind.contains('@') {
        return format!("{scheme}://{HIDDEN}");
    }
    let (path, query) = behind.split_at(behind.find(['?', '#']).unwrap_or(behind.len()));
    let behind = match (COMMON_PATHS.contains(&path), query.is_empty()) {
        (true, true) => path.to_owned(),
        (true, false) => format!("{path}?{HIDDEN}"),
        (false, _) => format!("/{HIDDEN}"),
    };
    format!("{scheme}://{user}{host}{behind}")
}

/// A name or an address of a machine, perhaps with a port.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, rest)) if name.chars().all(|c| c.is_ascii_hexdigit() || c == ':' || c == '.') => {
            (name, rest.strip_prefix(':').or(rest.is_empty().then_some("0")).unwrap_or("no port"))
        }
        Some(_) => return false,
        None => text.split_once(':').unwrap_or((text, "0")),
    };
    let is_name = |c: char| c.is_alphanumeric() || "-._:".contains(c);
    !name.is_empty() && name.chars().all(is_name) && port.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(url: &str, header: (&str, &str)) -> McpServer {
        let headers = vec![(header.0.to_owned(), header.1.to_owned())];
        McpServer::Http { name: "notes".to_owned(), url: url.to_owned(), headers }
    }

    fn stdio(name: &str, command: &str) -> McpServer {
        let env = vec![("KEY".to_owned(), "canary-4711".to_owned())];
        McpServer::Stdio { name: name.to_owned(), command: command.into(), args: vec!["canary-4711".to_owned()], env }
    }

    #[test]
    fn what_no_agent_could_use_is_refused() {
        let name = || "notes".to_owned();
        let cases = [
            (http("https://notes.example/mcp", ("Authorization", "Bearer x")), Ok(())),
            (http("http://127.0.0.1:1/mcp", ("X-A", "")), Ok(())),
            (http("ftp://notes.example", ("A", "b")), Err(McpServerError::Url(name()))),
            (http("https://", ("A", "b")), Err(McpServerError::Url(name()))),
            (http("https://notes.example/a b", ("A", "b")), Err(McpServerError::Url(name()))),
            (http("https://notes.example", ("A b", "c")), Err(McpServerError::Header(name()))),
            (http("https://notes.example", ("", "c")), Err(McpServerError::Header(name()))),
            (http("https://notes.example", ("A", "b\r\nHost: c")), Err(McpServerError::Header(name()))),
            (stdio("notes", "notes-mcp"), Ok(())),
            (stdio("throughline", "x"), Err(McpServerError::Reserved("throughline".to_owned()))),
            (stdio("notes", ""), Err(McpServerError::Command(name()))),
            (stdio("My Notes", "x"), Err(McpServerError::Name("My Notes".to_owned()))),
        ];
        for (server, expected) in cases {
            assert_eq!(server.check(), expected, "{server:?}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        for server in [
            http("https://ada:canary-4711@notes.example/mcp?key=canary-4711", ("Authorization", "canary-4711")),
            stdio("notes", "notes-mcp"),
        ] {
            let shown = format!("{server:?}");
            assert!(!shown.contains("canary"), "{shown}");
            assert!(shown.contains("notes"), "{shown}");
        }
    }

    #[test]
    fn an_address_is_shown_without_what_opens_doors() {
        let cases = [
            ("https://notes.example/mcp", "https://notes.example/mcp"),
            ("http://127.0.0.1:9878/mcp", "http://127.0.0.1:9878/mcp"),
            ("http://[::1]:80", "http://[::1]:80"),
            ("https://notes.example/sse?key=x", "https://notes.example/sse?[secret]"),
            ("https://notes.example#x", "https://notes.example?[secret]"),
            ("https://notes.example:8443/a/b?key=x#y", "https://notes.example:8443/[secret]"),
            ("https://notes.example/hooks/x", "https://notes.example/[secret]"),
            ("https://ada:x@notes.example", "https://[secret]@notes.example"),
            // Where the host ends is not certain.
            ("https://ada:x/y@notes.example", "https://[secret]"),
            ("https://x\\y@notes.example:z", "https://[secret]"),
            ("https://notes.example:key", "https://[secret]"),
            ("x y://notes.example", "[secret]"),
            ("notes", "[secret]"),
        ];
        for (url, shown) in cases {
            assert_eq!(shown_url(url), shown);
        }
    }
}
