//! What `throughline doctor` finds in the store once the server was killed for the last time: every payload is there as it was
//! stored, and nothing is left over but what a removal could not finish.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::ledger::Ledger;
use super::promises::{Promise, Violation};

pub(super) fn check(binary: &Path, data: &Path, ledger: &Ledger) -> anyhow::Result<Vec<Violation>> {
    let mut doctor = Command::new(binary);
    doctor.args(["doctor", "--all", "--json", "--data-dir"]).arg(data);
    let output = doctor.output().context("could not start doctor")?;
    let report = serde_json::from_slice(&output.stdout);
    let report: Value = report.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    ensure!(report["checkedPayloads"].is_u64(), "doctor says nothing of payloads: {report}");
    Ok(violations(&report, ledger))
}

fn violations(report: &Value, ledger: &Ledger) -> Vec<Violation> {
    let findings = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_expected = |finding: &Value| {
        let what = finding["what"].as_str().unwrap_or_default();
        finding["kind"] == "leftover" && ledger.cut_off_removals.iter().any(|output| what.contains(output.as_str()))
    };
    let found = findings.iter().filter(|finding| !is_expected(finding));
    found.map(|finding| Violation::new(Promise::PayloadsGoWithEntries, format!("doctor finds {finding}"))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_removal_that_was_cut_off_leaves_bytes() {
        let mut ledger = Ledger::default();
        ledger.cut_off_removals.insert("out_1".to_owned());
        let found = |kind: &str, what: &str| {
            let report = json!({ "findings": [{ "kind": kind, "stream": "session/s", "what": what }] });
            violations(&report, &ledger).len()
        };
        assert_eq!(violations(&json!({ "findings": [] }), &ledger), []);
        assert_eq!(found("leftover", "no entry names outputs/out_1.txt"), 0);
        assert_eq!(found("leftover", "no entry names outputs/out_2.txt"), 1);
        assert_eq!(found("payload", "outputs/out_1.txt is missing"), 1);
        assert_eq!(found("row", "a row is not what the log says"), 1);
    }
}
