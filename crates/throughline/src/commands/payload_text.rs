//! Says in words what became of payloads: the bytes of what agents showed, and of what was too long for the log.

use indicatif::{HumanBytes, HumanCount};
use store::outside::PayloadReport;

use crate::terminal::counted;

/// How many are named.
const NAMED: usize = 10;

/// How many were carried over; `None` if there were none.
pub(super) fn carried(report: &PayloadReport) -> Option<String> {
    let files = counted(report.count, "file beside the log", "files beside the log")?;
    Some(format!("{files} ({})", HumanBytes(report.bytes)))
}

/// A line for what is missing and one for what was edited, with the first of each by name.
pub(super) fn troubles(report: &PayloadReport) -> Vec<String> {
    let named = |names: &[String], what: &str| {
        let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
        let more = names.len() - shown.len();
        let more = if more > 0 { format!(" and {} more", HumanCount(more as u64)) } else { String::new() };
        (!names.is_empty()).then(|| format!("{what}: {}{more}", shown.join(", ")))
    };
    let missing = named(&report.missing, "Missing, so shown as gone");
    let changed = named(&report.changed, "Edited since it was shown, and carried as it is now");
    let more = counted(report.more, "more is not named.", "more are not named.");
    missing.into_iter().chain(changed).chain(more).collect()
}
