//! `cargo xtask conformance`: runs the official MCP conformance suite, in a pinned version, against the mount of the
//! real program.
//!
//! Invariant: expected failures are listed with their reasons in `xtask/conformance/expected-failures.txt`. A failure
//! that is not listed, and a listed one that does not fail any more, both end the run with an error.

mod credential_proxy;
mod expected;
mod results;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::mounted::{self, Mounted};
use crate::workspace::{self, Metadata};
use crate::{agents, tools};

use expected::Expected;
use results::Results;

/// The two revisions that are served differently: with a handshake, and without.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
/// For one scenario. The longest waits of the suite itself are shorter; a server that does not answer takes all of
/// it.
const TIMEOUT_MS: &str = "8000";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Use this program instead of building one
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Print each check that failed, with what the suite says of it
    #[arg(long)]
    verbose: bool,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let metadata = Metadata::read()?;
    let packages = workspace::root().join("xtask").join("conformance");
    tools::install_locked(&packages)?;
    let suite = Suite {
        node: agents::node(&metadata)?,
        script: packages.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"),
    };
    let expected_path = packages.join("expected-failures.txt");
    let expected = fs::read_to_string(&expected_path);
    let expected = expected.with_context(|| format!("could not read {}", expected_path.display()))?;
    let expected = Expected::parse(&expected)?;

    let binary = mounted::program(&metadata, options.binary.as_deref())?;
    let folder = metadata.target_directory.join("conformance");
    let mounted = Mounted::start(&binary, &folder)?;
    let session = mounted.session("conformance", &mounted.project("work")?)?;
    let address = credential_proxy::start(mounted.endpoint().address, mounted.token(&session)?)?;

    let mut surprises = Vec::new();
    for revision in REVISIONS {
        let results = suite.run(revision, &format!("http://{address}/mcp"), &folder)?;
        results.print(revision, options.verbose);
        surprises.extend(expected.surprises(revision, &results));
    }
    for surprise in &surprises {
        println!("{surprise}");
    }
    ensure!(
        surprises.is_empty(),
        "{} of the suite's answers are not as {} says; the whole of them is in {}",
        surprises.len(),
        expected_path.display(),
        folder.display()
    );
    Ok(())
}

struct Suite {
    node: PathBuf,
    script: PathBuf,
}

impl Suite {
    fn run(&self, revision: &str, url: &str, folder: &Path) -> anyhow::Result<Results> {
        let (out, log_path) = (folder.join(revision), folder.join(format!("{revision}.log")));
        let log = File::create(&log_path).with_context(|| format!("could not make {}", log_path.display()))?;
        let mut command = Command::new(&self.node);
        command.arg(&self.script).args(["server", "--url", url, "--requirements", revision, "--timeout", TIMEOUT_MS]);
        command
            .arg("-o")
            .arg(&out)
            .current_dir(folder)
            .stdout(log.try_clone().context("a log can not be shared")?)
            .stderr(log);
        // Its status says that something failed, which we judge ourselves.
        command.status().with_context(|| format!("could not start {}", self.node.display()))?;
        Results::read(&out).with_context(|| format!("the suite did not get through; see {}", log_path.display()))
    }
}
