//! Generates the committed files that come from the code: `openapi.json`, and the page's types from it.
//!
//! Invariant: both depend only on the program's own description of its API; `--check` fails where a committed file
//! differs, and says which command updates it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use crate::run::{self, cargo};
use crate::tools;
use crate::workspace::{self, Metadata};

const FIX: &str = "cargo xtask codegen";
const GENERATOR: &str = "node_modules/openapi-typescript/bin/cli.js";

#[derive(clap::Args, Clone, Copy)]
pub(crate) struct Options {
    /// Compare with what is committed instead of writing
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: Options) -> anyhow::Result<()> {
    build()?;
    tools::check_node()?;
    tools::install_npm_packages()?;
    let metadata = Metadata::read()?;
    let generated = generate(&metadata.binary(), &metadata.target_directory.join("codegen"))?;
    if options.check { check(&generated) } else { write(&generated) }
}

/// Like `codegen --check`, with a program that is built already.
pub(crate) fn check_with(metadata: &Metadata) -> anyhow::Result<()> {
    check(&generate(&metadata.binary(), &metadata.target_directory.join("codegen"))?)
}

struct Generated {
    committed_path: PathBuf,
    text: String,
}

fn build() -> anyhow::Result<()> {
    run::run(&mut cargo(&["build", "--package", "throughline"]))
}

/// The OpenAPI description that a program prints.
pub(crate) fn description(binary: &Path) -> anyhow::Result<String> {
    let output = Command::new(binary)
        .arg("openapi")
        .output()
        .with_context(|| format!("could not start {}", binary.display()))?;
    ensure!(
        output.status.success(),
        "{} openapi ended with {}: {}",
        binary.display(),
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let mut openapi = String::from_utf8(output.stdout).context("the API description is not UTF-8")?;
    openapi.truncate(openapi.trim_end().len());
    openapi.push('\n');
    Ok(openapi)
}

/// Both files, made in `scratch` so that a check does not change the work tree.
fn generate(binary: &Path, scratch: &Path) -> anyhow::Result<Vec<Generated>> {
    fs::create_dir_all(scratch).with_context(|| format!("could not make {}", scratch.display()))?;
    let openapi = description(binary)?;
    let scratch_openapi = scratch.join("openapi.json");
    let scratch_types = scratch.join("api.d.ts");
    fs::write(&scratch_openapi, &openapi).with_context(|| format!("could not write {}", scratch_openapi.display()))?;
    run::run(
        Command::new("node")
            .arg(workspace::web().join(GENERATOR))
            .arg(&scratch_openapi)
            .arg("--output")
            .arg(&scratch_types)
            .current_dir(workspace::web()),
    )?;
    let types =
        fs::read_to_string(&scratch_types).with_context(|| format!("could not read {}", scratch_types.display()))?;
    Ok(vec![
        Generated { committed_path: PathBuf::from("openapi.json"), text: openapi },
        Generated { committed_path: PathBuf::from("web/src/wire/api.d.ts"), text: types },
    ])
}

fn write(generated: &[Generated]) -> anyhow::Result<()> {
    for file in generated {
        let path = workspace::root().join(&file.committed_path);
        let word =
            if fs::read_to_string(&path).is_ok_and(|found| found == file.text) { "unchanged" } else { "written" };
        if word == "written" {
            let folder = path.parent().expect("the path is below the root");
            fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
            fs::write(&path, &file.text).with_context(|| format!("could not write {}", path.display()))?;
        }
        println!("{word} {}", file.committed_path.display());
    }
    Ok(())
}

fn check(generated: &[Generated]) -> anyhow::Result<()> {
    let stale = stale(workspace::root(), generated);
    if stale.is_empty() {
        return Ok(());
    }
    bail!("not what the code says: {}; `{FIX}` writes it anew", stale.join(", "));
}

fn stale(root: &Path, generated: &[Generated]) -> Vec<String> {
    generated
        .iter()
        .filter_map(|file| match fs::read_to_string(root.join(&file.committed_path)) {
            Ok(found) if found == file.text => None,
            Ok(_) => Some(format!("{} (stale)", file.committed_path.display())),
            Err(_) => Some(format!("{} (missing)", file.committed_path.display())),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_and_a_stale_file_are_named() {
        let generated = |path: &str, text: &str| Generated { committed_path: path.into(), text: text.to_owned() };
        let manifest = fs::read_to_string(workspace::root().join("Cargo.toml")).unwrap();
        let files = [
            generated("Cargo.toml", &manifest),
            generated("Cargo.toml", "something else"),
            generated("no/such/file", ""),
        ];
        assert_eq!(stale(workspace::root(), &files), ["Cargo.toml (stale)", "no/such/file (missing)"]);
    }
}
