//! The real program with a data folder of its own, for clients that use its mount (`/mcp`) from outside.
//!
//! Invariant: it listens on loopback, and no credential of it is written anywhere but into that folder.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::agents::drive::session::Session;
use crate::kills::http::{Http, Request};
use crate::kills::server::{Endpoint, Server};
use crate::run::{cargo, run as execute};
use crate::workspace::Metadata;

pub(crate) struct Mounted {
    server: Server,
    folder: PathBuf,
    data: PathBuf,
}

/// The given program, or one that is built now.
pub(crate) fn program(metadata: &Metadata, named: Option<&Path>) -> anyhow::Result<PathBuf> {
    match named {
        Some(path) => fs::canonicalize(path).with_context(|| format!("there is no {}", path.display())),
        None => {
            execute(&mut cargo(&["build", "--package", "throughline"]))?;
            Ok(metadata.binary())
        }
    }
}

impl Mounted {
    /// Empties the folder first; its contents stay afterwards for inspection.
    pub(crate) fn start(binary: &Path, folder: &Path) -> anyhow::Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("could not remove {}", folder.display()))?;
        }
        let data = folder.join("data");
        // The server refuses a folder that others can access.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&data);
        made.with_context(|| format!("could not make {}", data.display()))?;
        let server = Server::start(binary, &data, &folder.join("server.log"))?;
        Ok(Self { server, folder: folder.to_owned(), data })
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        self.server.endpoint()
    }

    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// Makes a directory that is a project, whatever is around it.
    pub(crate) fn project(&self, name: &str) -> anyhow::Result<PathBuf> {
        let project = self.folder.join(name);
        fs::create_dir_all(project.join(".git")).with_context(|| format!("could not make {}", project.display()))?;
        project.canonicalize().with_context(|| format!("could not find {}", project.display()))
    }

    /// Makes a session of the guide that is ready.
    pub(crate) fn session(&self, name: &str, project: &Path) -> anyhow::Result<Session> {
        let mut session = Session::create(self.endpoint(), "guide", project)?;
        session.wait_until_ready()?;
        session.change(&json!({ "name": name }))?;
        Ok(session)
    }

    /// A token that opens the mount for one session, as `throughline token new --session` makes it.
    pub(crate) fn token(&self, session: &Session) -> anyhow::Result<String> {
        let body = json!({ "name": "a client", "session": session.id() }).to_string();
        let request =
            Request { method: "POST", path: "/api/v1/tokens".to_owned(), body: Some(body), idempotency_key: None };
        let answer = Http::new(self.endpoint()).send(&request).context("no token was made")?;
        ensure!(answer.is_success(), "no token was made: {} {}", answer.status, answer.body);
        let issued: Value = serde_json::from_str(&answer.body).context("the token's answer is no JSON")?;
        Ok(issued["secret"].as_str().context("the token's answer has no secret")?.to_owned())
    }
}
