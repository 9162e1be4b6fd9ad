//! Reads the suite's results: a folder for each scenario, with its checks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde::Deserialize;

const PREFIX: &str = "server-";
/// `-2026-11-15T14-57-39-123Z`, the end of each folder's name.
const STAMP_LENGTH: usize = 25;

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Check {
    pub(super) id: String,
    status: Status,
    #[serde(rename = "errorMessage")]
    error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Status {
    Success,
    Failure,
    Warning,
    Skipped,
    Info,
}

/// The checks of each scenario.
#[derive(Debug, Default)]
pub(super) struct Results(pub(super) BTreeMap<String, Vec<Check>>);

impl Results {
    pub(super) fn read(out: &Path) -> anyhow::Result<Self> {
        let mut results = Self::default();
        for entry in fs::read_dir(out).with_context(|| format!("could not read {}", out.display()))? {
            let folder = entry.context("could not read a scenario's folder")?.path();
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let scenario = scenario(&name).with_context(|| format!("{name} is not named like a scenario"))?;
            let path = folder.join("checks.json");
            let text = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
            let checks = serde_json::from_str(&text).with_context(|| format!("could not read {}", path.display()))?;
            let before = results.0.insert(scenario.to_owned(), checks);
            ensure!(before.is_none(), "the scenario {scenario} was run twice");
        }
        ensure!(!results.0.is_empty(), "no scenario was run");
        Ok(results)
    }

    /// Scenario and id of each failed check; a repeated check has failed if it failed once.
    pub(super) fn failed(&self) -> BTreeSet<(&str, &str)> {
        self.checks()
            .filter(|(_, check)| check.status == Status::Failure)
            .map(|(scenario, check)| (scenario, check.id.as_str()))
            .collect()
    }

    pub(super) fn print(&self, revision: &str, verbose: bool) {
        println!("\n{revision:<52} {:>6} {:>6} {:>8} {:>7}", "passed", "failed", "warnings", "skipped");
        let mut totals = [0; 4];
        for (scenario, checks) in &self.0 {
            let count = |status| checks.iter().filter(|check| check.status == status).count();
            let counts = [Status::Success, Status::Failure, Status::Warning, Status::Skipped].map(count);
            print_line(scenario, counts);
            for (total, count) in totals.iter_mut().zip(counts) {
                *total += count;
            }
            for check in checks.iter().filter(|check| verbose && check.status == Status::Failure) {
                println!("    {}: {}", check.id, check.error.as_deref().unwrap_or("no word of why"));
            }
        }
        print_line(&format!("{} scenarios", self.0.len()), totals);
    }

    fn checks(&self) -> impl Iterator<Item = (&str, &Check)> {
        self.0.iter().flat_map(|(scenario, checks)| checks.iter().map(move |check| (scenario.as_str(), check)))
    }
}

fn print_line(what: &str, [passed, failed, warnings, skipped]: [usize; 4]) {
    println!("{what:<52} {passed:>6} {failed:>6} {warnings:>8} {skipped:>7}");
}

fn scenario(folder: &str) -> Option<&str> {
    let name = folder.strip_prefix(PREFIX)?;
    name.get(..name.len().checked_sub(STAMP_LENGTH)?)
}

#[cfg(test)]
pub(super) fn made_up(failed: &[(&str, &str)], passed: &[(&str, &str)]) -> Results {
    let mut results = Results::default();
    for (checks, status) in [(failed, Status::Failure), (passed, Status::Success)] {
        for (scenario, id) in checks {
            let check = Check { id: (*id).to_owned(), status, error: None };
            results.0.entry((*scenario).to_owned()).or_default().push(check);
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_names_its_scenario() {
        assert_eq!(scenario("server-tools-list-2026-11-15T14-57-39-123Z"), Some("tools-list"));
        assert_eq!(scenario("client-x-2026-11-15T14-57-39-123Z"), None);
        assert_eq!(scenario("server-x"), None);
    }

    #[test]
    fn a_check_that_failed_once_has_failed() {
        let results = made_up(&[("a", "1")], &[("a", "1"), ("a", "2"), ("b", "1")]);
        assert_eq!(results.failed().into_iter().collect::<Vec<_>>(), [("a", "1")]);
    }
}
