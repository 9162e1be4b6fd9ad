//! Builds the page in `web/` and tells `web_assets.rs` where it is, as `THROUGHLINE_WEB_DIR`.
//!
//! Invariant: a build either embeds a working page or says in one sentence what is missing; it never embeds an old or
//! an empty one in silence. The source tree is left alone but for `web/node_modules`.
//!
//! - `THROUGHLINE_WEB_DIST=<dir>` embeds a page that was built elsewhere.
//! - `THROUGHLINE_SKIP_WEB=1` embeds a page that only says how to get the real one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const DIST_VARIABLE: &str = "THROUGHLINE_WEB_DIST";
const SKIP_VARIABLE: &str = "THROUGHLINE_SKIP_WEB";
const SOURCES: [&str; 9] = [
    "src",
    "public",
    "index.html",
    "package.json",
    "package-lock.json",
    "stamp.mjs",
    "vite.config.ts",
    "htmlSinks.ts",
    ".npmrc",
];
const VITE: &str = "node_modules/vite/bin/vite.js";
/// There only if the packages that tests need are.
const TEST_RUNNER: &str = "node_modules/vitest";
/// Written by `web/stamp.mjs` after every install: which lock file the packages belong to.
const STAMP: &str = "node_modules/.throughline-stamp";

const OLDEST_NODE: (u32, u32) = (20, 19);
const NEEDED: &str = "building the page needs Node 20.19 or newer with npm. Install it, or set \
                      THROUGHLINE_WEB_DIST=<dir> to embed a page built elsewhere, or THROUGHLINE_SKIP_WEB=1 to build \
                      without one";

const PLACEHOLDER: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<title>Throughline</title>
<h1>This build has no page</h1>
<p>It was made with THROUGHLINE_SKIP_WEB=1. To get the page, run <code>cargo build --release</code> without that variable,
with Node 20.19 or newer and npm at hand. Everything else works: see <code>throughline --help</code>.</p>
</html>
";

fn main() {
    println!("cargo::rerun-if-env-changed={DIST_VARIABLE}");
    println!("cargo::rerun-if-env-changed={SKIP_VARIABLE}");
    match page() {
        Ok(dir) => {
            println!("cargo::rustc-env=THROUGHLINE_WEB_DIR={}", dir.display());
            println!("cargo::rustc-env=THROUGHLINE_HAS_PAGE={}", !is_skipped());
        }
        Err(problem) => println!("cargo::error={problem}"),
    }
}

/// The folder to embed, with an `index.html` in it.
fn page() -> Result<PathBuf, String> {
    if let Some(dist) = variable(DIST_VARIABLE) {
        return prebuilt(Path::new(&dist));
    }
    let out = PathBuf::from(variable("OUT_DIR").ok_or("cargo did not say where to build: OUT_DIR is not set")?);
    if is_skipped() {
        return placeholder(&out.join("web-placeholder"));
    }
    let root = variable("CARGO_MANIFEST_DIR").ok_or("cargo did not say where the crate is")?;
    let web = Path::new(&root).join("../../web");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", web.join(source).display());
    }
    check_node()?;
    install_packages(&web)?;
    build(&web, &out.join("web"))
}

/// A page that was built elsewhere is embedded all the same.
fn is_skipped() -> bool {
    variable(DIST_VARIABLE).is_none() && variable(SKIP_VARIABLE).is_some_and(|value| value == "1")
}

fn prebuilt(dist: &Path) -> Result<PathBuf, String> {
    println!("cargo::rerun-if-changed={}", dist.display());
    let dir = dist.canonicalize().map_err(|err| format!("{DIST_VARIABLE} names {}: {err}", dist.display()))?;
    if dir.join("index.html").is_file() {
        Ok(dir)
    } else {
        Err(format!("{DIST_VARIABLE} names {}, which has no index.html", dir.display()))
    }
}

fn placeholder(dir: &Path) -> Result<PathBuf, String> {
    fs::create_dir_all(dir).map_err(|err| format!("could not make {}: {err}", dir.display()))?;
    let file = dir.join("index.html");
    fs::write(&file, PLACEHOLDER).map_err(|err| format!("could not write {}: {err}", file.display()))?;
    Ok(dir.to_owned())
}

/// An older Node fails somewhere inside the tool chain, with words that help nobody.
fn check_node() -> Result<(), String> {
    let said = run(Command::new("node").arg("--version"))?;
    let version = said.trim();
    let mut numbers = version.trim_start_matches('v').split('.').map_while(|number| number.parse::<u32>().ok());
    let found = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    if found >= OLDEST_NODE { Ok(()) } else { Err(format!("this Node is {version}; {NEEDED}")) }
}

/// Runs `npm ci`, unless the packages of this lock file are there already. Those that only tests need are installed
/// only where they were before: somebody works on the page there.
fn install_packages(web: &Path) -> Result<(), String> {
    let lock_path = web.join("package-lock.json");
    let shown = lock_path.display();
    // Two builds at once, as of an editor and a terminal, must not install over each other.
    let lock = fs::File::open(&lock_path).map_err(|err| format!("could not open {shown}: {err}"))?;
    lock.lock().map_err(|err| format!("could not lock {shown}: {err}"))?;
    let wanted = fnv1a64(&fs::read(&lock_path).map_err(|err| format!("could not read {shown}: {err}"))?);
    let stamp = web.join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) && web.join(VITE).is_file() {
        return Ok(());
    }
    let omitted: &[&str] = if web.join(TEST_RUNNER).is_dir() { &[] } else { &["--omit=dev"] };
    run(Command::new("npm").arg("ci").args(omitted).current_dir(web))?;
    // npm runs stamp.mjs itself, unless the person has told it to run no scripts.
    fs::write(&stamp, wanted).map_err(|err| format!("could not write {}: {err}", stamp.display()))
}

fn build(web: &Path, out: &Path) -> Result<PathBuf, String> {
    // Not `npx vite`, which would offer to fetch some other vite where this one is missing.
    run(Command::new("node").args([VITE, "build", "--logLevel", "warn", "--outDir"]).arg(out).current_dir(web))?;
    Ok(out.to_owned())
}

/// Runs a program of the page's tool chain and gives what it printed, which is shown only if it failed.
fn run(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let args = command.get_args().map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ");
    let output = command.output().map_err(|err| format!("{program} could not be run ({err}); {NEEDED}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = [output.stdout, output.stderr].concat();
    for line in String::from_utf8_lossy(&said).lines() {
        println!("cargo::warning={line}");
    }
    Err(format!("`{program} {args}` in web/ ended with {}; its words are above", output.status))
}

/// FNV-1a, 64 bits, in lower-case hex: the same few lines as in `web/stamp.mjs`.
fn fnv1a64(bytes: &[u8]) -> String {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

#[expect(clippy::disallowed_methods, reason = "cargo speaks to a build script through the environment")]
fn variable(name: &str) -> Option<std::ffi::OsString> {
    env::var_os(name)
}
