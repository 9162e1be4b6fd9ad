//! `cargo xtask bench`: builds the program and the measurements as people get them, and runs these on that.
//!
//! The measurements are a crate of their own, so that xtask stays as light as a tool that every check builds has to be.

use crate::run::{cargo, run as execute};
use crate::workspace::{self, Metadata};

#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// What to measure and how; `--help` tells
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    args: Vec<String>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let release = Metadata::read()?.target_directory.join("release");
    // The page is served from memory that files back and no measurement asks for it: building it would only take time.
    execute(
        cargo(&["build", "--release", "--package", "throughline", "--package", "bench"])
            .env("THROUGHLINE_SKIP_WEB", "1"),
    )?;
    let mut bench = std::process::Command::new(release.join("bench"));
    bench.current_dir(workspace::root()).args(&options.args);
    bench.arg("--binary").arg(release.join("throughline"));
    bench.arg("--folder").arg(release.with_file_name("bench"));
    execute(&mut bench)
}
