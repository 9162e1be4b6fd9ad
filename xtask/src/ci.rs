//! `cargo xtask ci`: runs every check of the project, in order, with its own set-up.
//!
//! Invariant: the first failing step ends the run, the table is printed all the same, and under `CI=true` a step that
//! lacks its tool is a failure, never an omission.

mod report;

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::bail;

use crate::run::{cargo, find_program, npm, run as execute};
use crate::tools::{self, SystemPackages};
use crate::workspace::Metadata;
use crate::{clients, codegen, environment, fuzz, kills, openapi, tidy, workspace};

use report::{Line, Outcome};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Install a browser and Python with apt-get, and build cargo-deny, where there is none, as CI=true does
    #[arg(long)]
    install: bool,
    /// Only these steps; the tools are always looked for
    #[arg(value_name = "STEP")]
    only: Vec<String>,
}

/// The result of a step that did not fail.
enum Verdict {
    Done,
    /// What was not run, and the command that installs what it needs.
    NotRun(String),
}

struct Step {
    name: &'static str,
    check: fn(&CiContext) -> anyhow::Result<Verdict>,
}

/// What the steps share: where things are built, and which tools were found.
struct CiContext {
    metadata: Metadata,
    browser: Option<PathBuf>,
    python: Option<PathBuf>,
    deny: Option<PathBuf>,
}

/// The search for tools comes first and is not in this list: it makes the [`CiContext`] of the others.
const STEPS: [Step; 15] = [
    Step { name: "fmt", check: fmt },
    Step { name: "clippy", check: clippy },
    Step { name: "tidy", check: check_tidy },
    // Builds everything that the later steps run, once: the same targets with the same profile keep cargo from
    // building anything twice.
    Step { name: "build", check: build },
    Step { name: "codegen", check: check_codegen },
    Step { name: "tests", check: tests },
    Step { name: "doc tests", check: doc_tests },
    Step { name: "doc", check: doc },
    Step { name: "web", check: web },
    Step { name: "clients", check: check_clients },
    Step { name: "openapi", check: check_openapi },
    Step { name: "journeys", check: journeys },
    Step { name: "kills", check: check_kills },
    Step { name: "fuzz", check: check_fuzz },
    Step { name: "deny", check: deny },
];

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    for name in &options.only {
        if !STEPS.iter().any(|step| step.name == name) {
            let known: Vec<_> = STEPS.iter().map(|step| step.name).collect();
            bail!("no step is called {name:?}; there are: {}", known.join(", "));
        }
    }
    let packages =
        if options.install || environment::is_ci() { SystemPackages::Install } else { SystemPackages::Leave };

    let mut lines = Vec::new();
    let mut context = None;
    timed(&mut lines, "tools", || {
        context = Some(find_tools(packages)?);
        Ok(Verdict::Done)
    });
    if let Some(context) = &context {
        for step in
            STEPS.iter().filter(|step| options.only.is_empty() || options.only.iter().any(|name| name == step.name))
        {
            if timed(&mut lines, step.name, || (step.check)(context)) == Next::Stop {
                break;
            }
        }
    }
    report::print(&lines)
}

#[derive(PartialEq, Eq)]
enum Next {
    GoOn,
    Stop,
}

fn timed(lines: &mut Vec<Line>, name: &'static str, check: impl FnOnce() -> anyhow::Result<Verdict>) -> Next {
    println!("\n== {name}");
    let started = Instant::now();
    let outcome = match check() {
        Ok(Verdict::Done) => Outcome::Passed,
        Ok(Verdict::NotRun(note)) => Outcome::NotRun(note),
        Err(err) => {
            eprintln!("{err:#}");
            Outcome::Failed
        }
    };
    let next = if outcome == Outcome::Failed { Next::Stop } else { Next::GoOn };
    lines.push(Line { name, took: started.elapsed(), outcome });
    next
}

fn find_tools(packages: SystemPackages) -> anyhow::Result<CiContext> {
    tools::check_node()?;
    tools::install_npm_packages()?;
    let browser = tools::find_or_install_browser(packages)?;
    match &browser {
        Some(path) => println!("browser {}", path.display()),
        None => println!("no browser"),
    }
    let python = tools::find_or_install_python(packages)?;
    let deny = tools::find_or_build_deny(packages)?;
    Ok(CiContext { metadata: Metadata::read()?, browser, python, deny })
}

fn fmt(_: &CiContext) -> anyhow::Result<Verdict> {
    done(execute(&mut cargo(&["fmt", "--all", "--check"])))
}

fn clippy(_: &CiContext) -> anyhow::Result<Verdict> {
    execute(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    // As people build it, without what only tests turn on.
    done(execute(&mut cargo(&["clippy", "--package", "throughline", "--", "-D", "warnings"])))
}

fn check_tidy(_: &CiContext) -> anyhow::Result<Verdict> {
    done(tidy::run())
}

fn build(_: &CiContext) -> anyhow::Result<Verdict> {
    done(execute(&mut cargo(&["build", "--workspace", "--all-targets"])))
}

fn check_codegen(context: &CiContext) -> anyhow::Result<Verdict> {
    done(codegen::check_with(&context.metadata))
}

fn tests(_: &CiContext) -> anyhow::Result<Verdict> {
    let args: &[&str] = if find_program("cargo-nextest").is_some() {
        &["nextest", "run", "--workspace", "--all-targets"]
    } else {
        &["test", "--workspace", "--all-targets"]
    };
    // A snapshot that differs is a failure here, not a file to be reviewed.
    done(execute(cargo(args).env("INSTA_UPDATE", "no")))
}

fn doc_tests(_: &CiContext) -> anyhow::Result<Verdict> {
    done(execute(&mut cargo(&["test", "--workspace", "--doc"])))
}

fn doc(_: &CiContext) -> anyhow::Result<Verdict> {
    done(execute(cargo(&["doc", "--no-deps", "--workspace"]).env("RUSTDOCFLAGS", "-D warnings")))
}

fn web(_: &CiContext) -> anyhow::Result<Verdict> {
    // The program's build may have replaced the packages with the fewer ones that it needs itself.
    tools::install_npm_packages()?;
    for script in [&["run", "lint"][..], &["run", "typecheck"], &["test"]] {
        execute(&mut npm(script))?;
    }
    Ok(Verdict::Done)
}

fn check_clients(context: &CiContext) -> anyhow::Result<Verdict> {
    done(clients::run_in_ci(&context.metadata))
}

fn check_openapi(context: &CiContext) -> anyhow::Result<Verdict> {
    match &context.python {
        Some(python) => done(openapi::run_in_ci(&context.metadata, python)),
        None => Ok(Verdict::NotRun(format!("calls by others ({})", tools::PYTHON_ADVICE))),
    }
}

fn journeys(context: &CiContext) -> anyhow::Result<Verdict> {
    let Some(browser) = &context.browser else {
        let note = "browser journeys (`cargo xtask ci --install` installs Chromium and runs them)";
        return Ok(Verdict::NotRun(note.to_owned()));
    };
    tools::install_npm_packages()?;
    done(execute(npm(&["run", "journeys"]).env("THROUGHLINE_BIN", context.metadata.binary()).env("CHROME", browser)))
}

fn check_kills(context: &CiContext) -> anyhow::Result<Verdict> {
    done(kills::run_in_ci(&context.metadata))
}

fn check_fuzz(context: &CiContext) -> anyhow::Result<Verdict> {
    done(fuzz::run_in_ci(&context.metadata))
}

/// Advisories are left out: their database comes over the network, which a build must not depend on.
fn deny(context: &CiContext) -> anyhow::Result<Verdict> {
    match &context.deny {
        Some(program) => {
            let check = ["--locked", "check", "bans", "licenses", "sources"];
            done(execute(Command::new(program).args(check).current_dir(workspace::root())))
        }
        None => Ok(Verdict::NotRun(format!("licences ({})", tools::DENY_ADVICE))),
    }
}

fn done(result: anyhow::Result<()>) -> anyhow::Result<Verdict> {
    result.map(|()| Verdict::Done)
}
