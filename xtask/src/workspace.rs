//! Paths of the workspace, and its packages from `cargo metadata`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde::Deserialize;

/// The folder that holds the workspace's manifest.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace's root")
}

/// The page's folder.
pub(crate) fn web() -> PathBuf {
    root().join("web")
}

/// The workspace's own packages, from `cargo metadata`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    #[serde(default)]
    pub(crate) target_directory: PathBuf,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `dev` or `build`; none for an ordinary dependency.
    pub(crate) kind: Option<String>,
    /// Set for the packages of this workspace.
    pub(crate) path: Option<PathBuf>,
}

impl Metadata {
    pub(crate) fn read() -> anyhow::Result<Self> {
        let output = Command::new("cargo")
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(root())
            .output()
            .context("could not start cargo metadata")?;
        ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
        serde_json::from_slice(&output.stdout).context("could not read cargo metadata's answer")
    }

    /// The program as the dev profile builds it, which tests, journeys and kills share.
    pub(crate) fn binary(&self) -> PathBuf {
        self.target_directory.join("debug").join("throughline")
    }
}
