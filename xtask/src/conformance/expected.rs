//! The expected failures, each with its reason, and how a run differs from them.
//!
//! Invariant: nothing is expected without a reason, and no entry stays that does not fail any more.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};

use super::results::Results;

/// Lines of `REVISION SCENARIO CHECK: why`, and for each revision one of `REVISION scenarios: how many`: a suite that
/// stops half-way must not look like one that found nothing.
#[derive(Debug, Default)]
pub(super) struct Expected<'a> {
    failures: BTreeMap<(&'a str, &'a str, &'a str), &'a str>,
    scenarios: BTreeMap<&'a str, usize>,
}

impl<'a> Expected<'a> {
    pub(super) fn parse(text: &'a str) -> anyhow::Result<Self> {
        let mut expected = Self::default();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let malformed = || format!("line {number} is not `REVISION SCENARIO CHECK: why`: {line}");
            let (what, why) = line.split_once(": ").with_context(malformed)?;
            ensure!(!why.trim().is_empty(), "line {number} says no reason: {line}");
            let again = match what.split(' ').collect::<Vec<_>>().as_slice() {
                [revision, "scenarios"] => {
                    let count = why.parse().with_context(|| format!("line {number} has no number: {line}"))?;
                    expected.scenarios.insert(revision, count).is_some()
                }
                [revision, scenario, check] => expected.failures.insert((revision, scenario, check), why).is_some(),
                _ => return Err(anyhow::anyhow!(malformed())),
            };
            ensure!(!again, "line {number} says again what was said: {line}");
        }
        Ok(expected)
    }

    /// The differences of a run, in words.
    pub(super) fn surprises(&self, revision: &str, results: &Results) -> Vec<String> {
        let failed = results.failed();
        let mut surprises = Vec::new();
        let (wanted, found) = (self.scenarios.get(revision).copied().unwrap_or_default(), results.0.len());
        if wanted != found {
            surprises.push(format!("{revision}: {found} scenarios were run, {wanted} are expected"));
        }
        for (scenario, check) in &failed {
            if !self.failures.contains_key(&(revision, scenario, check)) {
                surprises.push(format!("{revision} {scenario} {check}: fails, which is not expected"));
            }
        }
        for ((_, scenario, check), why) in self.failures.iter().filter(|((of, _, _), _)| *of == revision) {
            if !failed.contains(&(*scenario, *check)) {
                surprises
                    .push(format!("{revision} {scenario} {check}: does not fail any more ({why}); take its line out"));
            }
        }
        surprises
    }
}

#[cfg(test)]
mod tests {
    use super::super::results::made_up;
    use super::*;

    const TEXT: &str = "# why\n\n2025-11-25 scenarios: 2\n2025-11-25 a 1: no such tool\n2026-07-28 scenarios: 1\n";

    #[test]
    fn what_is_as_expected_is_no_surprise() {
        let expected = Expected::parse(TEXT).unwrap();
        let results = made_up(&[("a", "1")], &[("a", "2"), ("b", "1")]);
        assert_eq!(expected.surprises("2025-11-25", &results), Vec::<String>::new());
    }

    #[test]
    fn a_new_failure_a_pass_and_a_missing_scenario_are() {
        let expected = Expected::parse(TEXT).unwrap();
        let results = made_up(&[("a", "2")], &[("a", "1")]);
        assert_eq!(
            expected.surprises("2025-11-25", &results),
            [
                "2025-11-25: 1 scenarios were run, 2 are expected",
                "2025-11-25 a 2: fails, which is not expected",
                "2025-11-25 a 1: does not fail any more (no such tool); take its line out",
            ]
        );
        let results = made_up(&[("a", "1")], &[]);
        assert_eq!(expected.surprises("2026-07-28", &results), ["2026-07-28 a 1: fails, which is not expected"]);
    }

    #[test]
    fn a_line_without_a_reason_is_refused() {
        for text in ["2025-11-25 a 1", "2025-11-25 a 1: ", "2025-11-25 a: why", "x scenarios: many"] {
            assert!(Expected::parse(text).is_err(), "{text}");
        }
        assert!(Expected::parse("r a 1: why\nr a 1: again").is_err());
    }
}
