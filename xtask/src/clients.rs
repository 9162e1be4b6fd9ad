//! `cargo xtask clients`: the official MCP client calls every tool of the mount and reads every resource and prompt,
//! over HTTP and on stdio, in both revisions of the protocol, against the real program.
//!
//! Invariant: the expectations are in `xtask/clients/tools.mjs`, a row for each tool, and in `skills.mjs` beside it;
//! this file only makes the sessions for them, through the HTTP API.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::agents::client::Permission;
use crate::mounted::{self, Mounted};
use crate::tools;
use crate::workspace::{self, Metadata};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Use this program instead of building one
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
}

/// Each has a session of its own, so that their marks do not mix.
const WAYS: [(&str, &str); 4] =
    [("http", "2025-11-25"), ("http", "2026-07-28"), ("stdio", "2025-11-25"), ("stdio", "2026-07-28")];
/// More than are returned at once.
const LONG_TURNS: usize = 24;

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    tools::check_node()?;
    let metadata = Metadata::read()?;
    let binary = mounted::program(&metadata, options.binary.as_deref())?;
    drive(&metadata, &binary)
}

pub(crate) fn run_in_ci(metadata: &Metadata) -> anyhow::Result<()> {
    drive(metadata, &metadata.binary())
}

fn drive(metadata: &Metadata, binary: &Path) -> anyhow::Result<()> {
    let scripts = workspace::root().join("xtask").join("clients");
    tools::install_locked(&scripts)?;
    let mounted = Mounted::start(binary, &metadata.target_directory.join("clients"))?;
    let world = make_sessions(&mounted, binary)?;
    let mut node = Command::new("node");
    node.args(["--test-reporter=spec", "drive.mjs"]).current_dir(&scripts).stdin(Stdio::piped());
    let mut node = node.spawn().context("could not start node")?;
    let mut input = node.stdin.take().expect("stdin is piped");
    // It holds credentials, so it is in no file and on no command line. If the reader has exited, its status says
    // why.
    drop(input.write_all(world.to_string().as_bytes()));
    drop(input);
    let status = node.wait().context("could not wait for node")?;
    let log = metadata.target_directory.join("clients").join("server.log");
    ensure!(status.success(), "the client and the mount do not agree; the server's log is {}", log.display());
    Ok(())
}

/// Makes sessions with known text, and what the client needs to reach them.
fn make_sessions(mounted: &Mounted, binary: &Path) -> anyhow::Result<Value> {
    let (here, elsewhere) = (mounted.project("orchard")?, mounted.project("elsewhere")?);
    let endpoint = mounted.endpoint();
    let mut ways = Vec::new();
    for (number, (transport, revision)) in (1..).zip(WAYS) {
        let words = [
            "say The bell rings at noon.".to_owned(),
            format!("write bell-{number}.md # The bell"),
            format!("say The quince{number} is ripe, and CamelCase words are found."),
            "fail on purpose".to_owned(),
        ];
        let session = make_session(mounted, &format!("Orchard {transport} {revision}"), &here, &words)?;
        ways.push(json!({ "transport": transport, "revision": revision, "quince": format!("quince{number}"), "session": session }));
    }
    let long: Vec<_> = (1..=LONG_TURNS).map(|turn| format!("say Row {turn} of the long orchard.")).collect();
    let long = make_session(mounted, "The long orchard", &here, &long)?;
    let stranger = make_session(mounted, "Another project", &elsewhere, &["say The medlar is bletted.".to_owned()])?;
    Ok(json!({
        "origin": format!("http://{}", endpoint.address),
        "token": endpoint.token,
        "binary": binary,
        "data": mounted.data(),
        "project": here,
        "ways": ways,
        "long": long,
        "stranger": stranger,
    }))
}

fn make_session(mounted: &Mounted, name: &str, project: &Path, words: &[String]) -> anyhow::Result<Value> {
    let mut session = mounted.session(name, project)?;
    let mut turns = Vec::new();
    for (number, words) in (1..).zip(words) {
        let interaction = session.send(words)?;
        let turn = session.end_of_turn(Permission::Allow)?;
        ensure!(turn.outcome == "completed", "{words:?} came to this: {turn:?}");
        turns.push(json!({ "turn": number, "interaction": interaction, "prompt": words, "answer": turn.text.trim() }));
    }
    Ok(json!({ "id": session.id(), "name": name, "token": mounted.token(&session)?, "turns": turns }))
}
