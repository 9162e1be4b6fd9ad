//! Finds what the checks need besides Rust: Node with the page's packages, a browser, Python; and optional tools.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use sha2::{Digest as _, Sha256};

use crate::run::{cargo, find_program, npm, run};
use crate::{environment, workspace};

/// The oldest Node that every package of the page runs on.
const NODE_FLOOR: (u32, u32) = (20, 19);
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const BROWSER_PACKAGES: [&str; 3] = ["chromium", "fonts-dejavu-core", "fonts-noto-color-emoji"];

/// Whether packages of the operating system may be installed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemPackages {
    Install,
    Leave,
}

/// Fails with advice if Node or npm is missing or too old.
pub(crate) fn check_node() -> anyhow::Result<()> {
    let (major, minor) = NODE_FLOOR;
    let advice = format!(
        "Node.js {major}.{minor} or newer, with npm, builds and tests the page: install it, then run this again"
    );
    let version = printed_version("node").with_context(|| advice.clone())?;
    ensure!(parse_version(&version) >= Some(NODE_FLOOR), "node says {version:?}. {advice}");
    let npm_version = printed_version("npm").with_context(|| advice)?;
    println!("node {version}, npm {npm_version}");
    Ok(())
}

/// Installs the page's packages, including those for tests.
pub(crate) fn install_npm_packages() -> anyhow::Result<()> {
    install_locked(&workspace::web())
}

/// Installs the packages of a folder's lock file, unless exactly these are installed.
///
/// The stamp is inside of `node_modules`, so whatever replaces that folder (the program's own build leaves the test
/// packages out) removes the stamp too.
pub(crate) fn install_locked(folder: &Path) -> anyhow::Result<()> {
    let lock_path = folder.join("package-lock.json");
    let lock = fs::read(&lock_path).with_context(|| format!("could not read {}", lock_path.display()))?;
    let wanted = format!("{:x}\n", Sha256::digest(&lock));
    let stamp_path = folder.join("node_modules/.complete-for-lock");
    match fs::read_to_string(&stamp_path) {
        Ok(found) if found == wanted => return Ok(()),
        Ok(_) => (),
        Err(err) if err.kind() == ErrorKind::NotFound => (),
        Err(err) => return Err(err).with_context(|| format!("could not read {}", stamp_path.display())),
    }
    run(npm(&["ci", "--no-audit", "--no-fund"]).current_dir(folder))?;
    fs::write(&stamp_path, wanted).with_context(|| format!("could not write {}", stamp_path.display()))
}

/// The browser for the journeys; `None` if there is none and none may be installed.
pub(crate) fn find_or_install_browser(packages: SystemPackages) -> anyhow::Result<Option<PathBuf>> {
    if let Some(named) = environment::chrome() {
        ensure!(named.is_file(), "CHROME names {}, which is no file", named.display());
        return Ok(Some(named));
    }
    let find = || BROWSERS.iter().find_map(|name| find_program(name));
    if let Some(found) = find() {
        return Ok(Some(found));
    }
    if packages == SystemPackages::Leave {
        return Ok(None);
    }
    run(&mut apt_get(&["update"])?)?;
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    install.extend(BROWSER_PACKAGES);
    run(&mut apt_get(&install)?)?;
    find().map(Some).context("apt-get installed chromium, yet no browser is found")
}

/// What to do if there is no Python.
pub(crate) const PYTHON_ADVICE: &str =
    "Python 3.10 or newer with venv runs what calls the API as others do: install it, then run this again";
const PYTHON_PACKAGES: [&str; 2] = ["python3", "python3-venv"];

/// A Python that can make virtual environments; `None` if there is none and none may be installed.
pub(crate) fn find_or_install_python(packages: SystemPackages) -> anyhow::Result<Option<PathBuf>> {
    if let Some(found) = find_python() {
        return Ok(Some(found));
    }
    if packages == SystemPackages::Leave {
        return Ok(None);
    }
    run(&mut apt_get(&["update"])?)?;
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    install.extend(PYTHON_PACKAGES);
    run(&mut apt_get(&install)?)?;
    find_python().map(Some).context("apt-get installed Python, yet it makes no environments")
}

fn find_python() -> Option<PathBuf> {
    let python = find_program("python3")?;
    let enough = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";
    let output = Command::new(&python).args(["-c", enough]).output().ok()?;
    output.status.success().then_some(python)
}

/// Installs exactly the packages of a list into an environment of their own, unless they are installed; returns the
/// folder of their programs.
pub(crate) fn install_python_packages(python: &Path, list: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let wanted = fs::read_to_string(list).with_context(|| format!("could not read {}", list.display()))?;
    let (stamp_path, programs) = (folder.join(".complete-for"), folder.join("bin"));
    if fs::read_to_string(&stamp_path).is_ok_and(|found| found == wanted) {
        return Ok(programs);
    }
    run(Command::new(python).args(["-m", "venv", "--clear"]).arg(folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check", "--requirement"];
    run(Command::new(programs.join("python")).args(pip).arg(list))?;
    fs::write(&stamp_path, wanted).with_context(|| format!("could not write {}", stamp_path.display()))?;
    Ok(programs)
}

/// The version of cargo-deny; exact, so that each run finds the same.
const DENY_VERSION: &str = "0.20.2";
/// What to do if cargo-deny is missing.
pub(crate) const DENY_ADVICE: &str =
    "`cargo xtask ci --install` builds cargo-deny once, which takes minutes, and keeps it";

/// cargo-deny: the person's own, or the one that was built before; `None` if there is none and none may be built. It
/// is kept outside of the clone, by version, so that it is built once per machine.
pub(crate) fn find_or_build_deny(packages: SystemPackages) -> anyhow::Result<Option<PathBuf>> {
    if let Some(own) = find_program("cargo-deny") {
        return Ok(Some(own));
    }
    let cache = environment::cache().context("neither XDG_CACHE_HOME nor HOME says where to keep cargo-deny")?;
    let folder = cache.join(format!("throughline-xtask/cargo-deny-{DENY_VERSION}"));
    let built = folder.join("bin/cargo-deny");
    if built.is_file() {
        return Ok(Some(built));
    }
    if packages == SystemPackages::Leave {
        return Ok(None);
    }
    // A debug build takes a fraction of the time, and there is little to check.
    let install = ["install", "--locked", "--debug", "--version", DENY_VERSION, "cargo-deny", "--root"];
    run(cargo(&install).arg(&folder))?;
    ensure!(built.is_file(), "cargo built cargo-deny, yet it is not at {}", built.display());
    Ok(Some(built))
}

/// ripgrep, installed into the target folder where there is none. It is never vital: whoever wants it goes on without it.
pub(crate) fn find_or_install_ripgrep(target: &Path) -> Option<PathBuf> {
    if let Some(found) = find_program("rg") {
        return Some(found);
    }
    let root = target.join("tools");
    let program = root.join("bin/rg");
    if !program.is_file() {
        println!("ripgrep is installed once, into {}", root.display());
        let mut install = cargo(&["install", "ripgrep", "--locked", "--root"]);
        if let Err(err) = run(install.arg(&root).arg("--target-dir").arg(root.join("build"))) {
            println!("without ripgrep: {err:#}");
        }
    }
    program.is_file().then_some(program)
}

fn apt_get(args: &[&str]) -> anyhow::Result<Command> {
    if find_program("apt-get").is_none() {
        bail!("there is no apt-get here: install Chromium and name it in CHROME, and Python with venv");
    }
    let root = printed("id", &["-u"])? == "0";
    let mut command = match find_program("sudo") {
        Some(sudo) if !root => {
            let mut command = Command::new(sudo);
            command.args(["--", "apt-get"]);
            command
        }
        Some(_) | None => Command::new("apt-get"),
    };
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    Ok(command)
}

fn printed_version(program: &str) -> anyhow::Result<String> {
    printed(program, &["--version"])
}

fn printed(program: &str, args: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(args).output().with_context(|| format!("could not start {program}"))?;
    ensure!(output.status.success(), "{program} {} ended with {}", args.join(" "), output.status);
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// `v20.19.4` → `(20, 19)`.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim_start_matches('v').split('.').map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Some((major, minor)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_versions_are_compared_as_numbers() {
        assert_eq!(parse_version("v20.20.2"), Some((20, 20)));
        assert!(parse_version("v20.9.0") < Some(NODE_FLOOR));
        assert!(parse_version("v20.19.0") >= Some(NODE_FLOOR));
        assert!(parse_version("v22.0.0") >= Some(NODE_FLOOR));
        assert!(parse_version("nonsense") < Some(NODE_FLOOR));
    }
}
