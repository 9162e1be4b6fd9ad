//! `cargo xtask resume-kit`: plays sessions with known facts to the real server, and measures how many of them a
//! resume packet holds for its size.
//!
//! Invariant: a fact counts only if the packet holds it word for word. The packet is the one that the public API
//! returns after the server was killed and restarted.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use clap::Parser;
use serde_json::json;

use crate::agents::client::Permission;
use crate::agents::drive::session::Session;
use crate::kills::server::Server;
use crate::run::{cargo, run as execute};
use crate::workspace::{self, Metadata};

#[derive(Parser)]
pub(crate) struct Options {
    /// Use this program instead of building one
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Print the packets too
    #[arg(long)]
    show: bool,
}

/// A session and its facts.
struct Script {
    name: &'static str,
    steps: &'static [Step],
    /// What an agent should know afterwards; `CWD` stands for the session's directory.
    facts: &'static [&'static str],
}

enum Step {
    Say(&'static str),
    Mark(&'static str, &'static [&'static str]),
    Hint(&'static str),
    Name(&'static str),
    /// Somebody else changes a file after the agent has ended.
    Change(&'static str),
    Remove(&'static str),
}

const SCRIPTS: [Script; 4] = [
    Script {
        name: "marks only",
        steps: &[
            Step::Say("say I will look at the bell"),
            Step::Mark("files", &["CWD/ring.rs", "CWD/bell.md", "CWD/never-made.md"]),
            Step::Mark("endpoints", &["http://localhost:8080/ring"]),
            Step::Mark("ports", &["8080"]),
            Step::Mark("decisions", &["keep the old clapper", "no new crate"]),
            Step::Hint("staging; use the read-only replica"),
            Step::Name("Fix the bell"),
        ],
        facts: &[
            "Title: Fix the bell",
            "Environment: staging; use the read-only replica",
            "(3 files not found)",
            "endpoints: http://localhost:8080/ring",
            "ports: 8080",
            "keep the old clapper",
            "no new crate",
            "Directory: CWD",
        ],
    },
    Script {
        name: "an agent that marks nothing",
        steps: &[
            Step::Say("write ring.rs fn ring() {}"),
            Step::Say("write ring.rs fn ring() { todo!() }"),
            Step::Say("write bell.md The bell."),
            Step::Say("read bell.md"),
            Step::Say("run printf 'Listening on http://127.0.0.1:3000/'"),
            Step::Say("run false"),
            Step::Say("fail on purpose"),
            Step::Change("bell.md"),
        ],
        facts: &[
            "Edited ring.rs (t2, unchanged since)",
            "Created bell.md (t3, changed since)",
            "http://127.0.0.1:3000/",
            "Ran printf",
            "t7 person: fail on purpose",
        ],
    },
    Script {
        name: "both, and things that went",
        steps: &[
            Step::Say("write a.md one"),
            Step::Say("write b.md two"),
            Step::Mark("files", &["CWD/a.md", "CWD/b.md"]),
            Step::Say("plan read; mend; test"),
            Step::Say("say the cause is the clapper"),
            Step::Remove("b.md"),
        ],
        facts: &[
            "- CWD/a.md",
            "(1 files not found)",
            "Created a.md (t1, unchanged since)",
            "Created b.md (t2, gone)",
            "t4 agent: the cause is the clapper",
        ],
    },
    Script {
        name: "long",
        steps: &[
            Step::Say("write first.md one"),
            Step::Say("long 400"),
            Step::Say("long 400"),
            Step::Say("long 400"),
            Step::Say("long 400"),
            Step::Say("long 400"),
            Step::Say("say the next step is to test"),
        ],
        facts: &["Created first.md (t1, unchanged since)", "t7 agent: the next step is to test", "(2 earlier turns"],
    },
];

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let metadata = Metadata::read()?;
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => {
            execute(&mut cargo(&["build", "--package", "throughline"]))?;
            metadata.binary()
        }
    };
    let folder = workspace::root().join("target/resume-kit");
    // What an earlier run left.
    drop(fs::remove_dir_all(&folder));
    let data = folder.join("data");
    DirBuilder::new().recursive(true).mode(0o700).create(&data).context("could not make the data folder")?;
    let log = folder.join("server.log");
    let server = Server::start(&binary, &data, &log)?;
    let mut played = Vec::new();
    for (number, script) in SCRIPTS.iter().enumerate() {
        let cwd = folder.join(format!("work-{number}"));
        fs::create_dir(&cwd).context("could not make a directory")?;
        let cwd = cwd.canonicalize().context("could not find the directory again")?;
        let mut session = Session::create(server.endpoint(), "guide", &cwd)?;
        session.wait_until_ready()?;
        play(&mut session, script, &cwd)?;
        played.push((script, cwd, session));
    }
    server.kill()?;
    let server = Server::start(&binary, &data, &log)?;
    let (mut told, mut known, mut tokens) = (0, 0, 0);
    println!("{:<30} {:>6} {:>7} {:>16}", "session", "facts", "tokens", "per 1,000 tokens");
    for (script, cwd, mut session) in played {
        session.take_up_at(server.endpoint())?;
        let packet = session.resume_packet()?;
        let text = packet["text"].as_str().context("the packet has no text")?;
        let cost = packet["tokens"].as_u64().context("the packet has no size")?;
        let missing = missing(script, &cwd, text);
        let recovered = script.facts.len() - missing.len();
        let counted = format!("{recovered}/{}", script.facts.len());
        println!("{:<30} {counted:>6} {cost:>7} {:>16.1}", script.name, per_thousand(recovered, cost));
        missing.iter().for_each(|fact| println!("    missing: {fact}"));
        if options.show {
            println!("{text}\n");
        }
        told += recovered;
        known += script.facts.len();
        tokens += cost;
    }
    println!("{:<30} {:>6} {tokens:>7} {:>16.1}", "all", format!("{told}/{known}"), per_thousand(told, tokens));
    ensure!(told == known, "{} of {known} facts are not in their packets", known - told);
    Ok(())
}

fn play(session: &mut Session, script: &Script, cwd: &Path) -> anyhow::Result<()> {
    for step in script.steps {
        match step {
            Step::Say(words) => drop(session.turn(words, Permission::Allow)?),
            Step::Mark(set, items) => {
                let items: Vec<String> = items.iter().map(|item| in_place(item, cwd)).collect();
                session.change(&json!({ "setContext": { "setName": set, "items": items } }))?;
            }
            Step::Hint(hint) => session.change(&json!({ "envHint": hint }))?,
            Step::Name(name) => session.change(&json!({ "name": name }))?,
            Step::Change(file) => fs::write(cwd.join(file), "changed").context("could not change a file")?,
            Step::Remove(file) => fs::remove_file(cwd.join(file)).context("could not remove a file")?,
        }
    }
    Ok(())
}

fn missing(script: &Script, cwd: &Path, text: &str) -> Vec<&'static str> {
    script.facts.iter().copied().filter(|fact| !text.contains(&in_place(fact, cwd))).collect()
}

fn in_place(text: &str, cwd: &Path) -> String {
    text.replace("CWD", &cwd.display().to_string())
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn per_thousand(facts: usize, tokens: u64) -> f64 {
    if tokens == 0 { 0.0 } else { facts as f64 * 1_000.0 / tokens as f64 }
}
