//! Runs other programs visibly: the command line is printed, and its output is passed through.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::{environment, workspace};

/// Runs to the end; anything but success is an error that names the command.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let line = command_line(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("could not start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` ended with {status}");
    }
    Ok(())
}

/// `cargo` in the workspace's root.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(args).current_dir(workspace::root());
    command
}

/// `npm` in the page's folder.
pub(crate) fn npm(args: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(args).current_dir(workspace::web());
    command
}

/// The path of a program, if it is found.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    environment::search_path().into_iter().map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn command_line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|arg| arg.to_string_lossy().into_owned()));
    words.join(" ")
}
