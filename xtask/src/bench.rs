//! `cargo xtask bench`: builds the program and the benchmarks in release mode, and runs them.
//!
//! The benchmarks are a crate of their own, so that xtask stays light: every check builds it.

use crate::run::{cargo, run as execute};
use crate::tools;
use crate::workspace::{self, Metadata};

#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// What to measure and how; `--help` tells
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    args: Vec<String>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let target = Metadata::read()?.target_directory;
    let release = target.join("release");
    // The page is not built: no benchmark requests it, and it would only take time.
    execute(
        cargo(&["build", "--release", "--package", "throughline", "--package", "bench"])
            .env("THROUGHLINE_SKIP_WEB", "1"),
    )?;
    let mut bench = std::process::Command::new(release.join("bench"));
    bench.current_dir(workspace::root()).args(&options.args);
    bench.arg("--binary").arg(release.join("throughline"));
    if measures_search(&options.args)
        && let Some(program) = tools::find_or_install_ripgrep(&target)
    {
        bench.arg("--ripgrep").arg(program);
    }
    bench.arg("--folder").arg(release.with_file_name("bench"));
    execute(&mut bench)
}

/// Whether the search benchmark is named, or all are meant. The value of an option is no name.
fn measures_search(args: &[String]) -> bool {
    let takes_value = |arg: &str| matches!(arg, "--repeats" | "--pieces" | "--out" | "--draw");
    if args.iter().any(|arg| matches!(arg.as_str(), "--help" | "-h" | "--draw")) {
        return false;
    }
    let before = std::iter::once("").chain(args.iter().map(String::as_str));
    let names = args.iter().zip(before).filter(|(arg, before)| !arg.starts_with('-') && !takes_value(before));
    let names: Vec<&str> = names.map(|(arg, _)| arg.as_str()).collect();
    names.is_empty() || names.contains(&"search")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ripgrep_is_wanted_only_where_searches_are_measured() {
        for (typed, expected) in [
            ("", true),
            ("--quick", true),
            ("--repeats 9 --out search.json", true),
            ("append search", true),
            ("append --pieces 20000", false),
            ("--draw search", false),
            ("--help", false),
        ] {
            let args: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
            assert_eq!(measures_search(&args), expected, "{typed}");
        }
    }
}
