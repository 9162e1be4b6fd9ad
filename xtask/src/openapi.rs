//! `cargo xtask openapi`: tools of others validate `openapi.json`, and one of them calls the real program as it is
//! described.
//!
//! Invariant: every run makes the same requests: versions, seed and number of tries are fixed in `xtask/openapi/` and
//! here. The server is the real program on loopback, with folders of its own.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::agents::client::Permission;
use crate::agents::drive::session::Session;
use crate::kills::server::{self, Endpoint, Server};
use crate::run::run as execute;
use crate::tools::{self, SystemPackages};
use crate::workspace::{self, Metadata};
use crate::{codegen, mounted};

const SEED: &str = "20261116";
/// How many requests are generated for each route in each of the two phases that generate any.
const TRIES: &str = "8";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Use this program instead of building one
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    tools::check_node()?;
    let python = tools::find_or_install_python(SystemPackages::Leave)?.context(tools::PYTHON_ADVICE)?;
    let metadata = Metadata::read()?;
    let binary = mounted::program(&metadata, options.binary.as_deref())?;
    drive(&metadata, &binary, &python)
}

pub(crate) fn run_in_ci(metadata: &Metadata, python: &Path) -> anyhow::Result<()> {
    drive(metadata, &metadata.binary(), python)
}

fn drive(metadata: &Metadata, binary: &Path, python: &Path) -> anyhow::Result<()> {
    let settings = workspace::root().join("xtask").join("openapi");
    let folder = metadata.target_directory.join("openapi");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("could not remove {}", folder.display()))?;
    }
    // The server refuses a folder that others can access.
    let (data, home) = (folder.join("data"), folder.join("home"));
    for made in [&data, &home] {
        let result = DirBuilder::new().recursive(true).mode(0o700).create(made);
        result.with_context(|| format!("could not make {}", made.display()))?;
    }
    // The program's current description, committed or not.
    let description = folder.join("openapi.json");
    fs::write(&description, codegen::description(binary)?)
        .with_context(|| format!("could not write {}", description.display()))?;

    let programs = tools::install_python_packages(
        python,
        &settings.join("requirements.txt"),
        &metadata.target_directory.join("tools").join("openapi"),
    )?;
    execute(Command::new(programs.join("openapi-spec-validator")).arg(&description))?;

    tools::install_locked(&settings)?;
    execute(
        Command::new("node")
            .arg(settings.join("node_modules/@redocly/cli/bin/cli.js"))
            .args(["lint", "--max-problems", "20", "--config", "redocly.yaml"])
            .arg(&description)
            .current_dir(&settings)
            .env("REDOCLY_TELEMETRY", "off")
            .env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true"),
    )?;

    let log = folder.join("server.log");
    let mut command = server::command(binary, &data);
    // Conversations of other tools are searched in the home directory, and this person's are not for a test.
    command.env("HOME", &home).current_dir(&home);
    let server = Server::launch(command, &data, &log)?;
    let endpoint = server.endpoint();
    let session = session_with_turns(&endpoint, &home)?;
    let called = execute(
        Command::new(programs.join("schemathesis"))
            .arg("--config-file")
            .arg(settings.join("schemathesis.toml"))
            .args(["run", "--url", &format!("http://{}", endpoint.address)])
            .args(["--seed", SEED, "--max-examples", TRIES])
            .arg(&description)
            .current_dir(&folder)
            // Not on the command line, which every user of the machine can read.
            .env("THROUGHLINE_TOKEN", &endpoint.token)
            .env("THROUGHLINE_SESSION", session),
    );
    called
        .with_context(|| format!("what the server answers is not what it describes; its log is {}", log.display()))?;
    let log = fs::read_to_string(&log).with_context(|| format!("could not read {}", log.display()))?;
    ensure!(!log.contains("panicked"), "a request made the server panic:\n{log}");
    Ok(())
}

/// Most routes are about a session: makes one with something to find in it.
fn session_with_turns(endpoint: &Endpoint, directory: &Path) -> anyhow::Result<String> {
    let project = directory.join("project");
    fs::create_dir_all(&project).with_context(|| format!("could not make {}", project.display()))?;
    let mut session = Session::create(endpoint.clone(), "guide", &project)?;
    session.wait_until_ready()?;
    for words in ["say The bell rings at noon.", "write bell.md # The bell", "say It is noon."] {
        session.send(words)?;
        let turn = session.end_of_turn(Permission::Allow)?;
        ensure!(turn.outcome == "completed", "{words:?} came to this: {turn:?}");
    }
    Ok(session.id().to_owned())
}
