//! The table of what works with which agent: on the terminal, and in `docs/agents.md`.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use super::catalog::NODE;
use super::drive::{AgentResult, CHECKS, Verdict};

const BEGIN: &str = "<!-- results: written by cargo xtask agents -->\n";
const END: &str = "<!-- end of results -->\n";
/// How much of a failure is in the page; all of it is on the terminal.
const MAX_REASON_CHARS: usize = 240;

/// The page's row of one agent.
struct Row {
    name: &'static str,
    versions: String,
    start: String,
    memory: String,
    /// `yes`, `own` or `no`, one for each check.
    cells: Vec<&'static str>,
    /// The check and the reason, for those that are not `yes`.
    reasons: Vec<(&'static str, String)>,
}

pub(super) fn print(results: &[AgentResult]) {
    println!();
    for row in results.iter().map(Row::of) {
        let yes = row.cells.iter().filter(|cell| **cell == "yes").count();
        println!("{:<10} {yes} of {}; {} s to start; {}", row.name, CHECKS.len(), row.start, row.versions);
        for (check, reason) in &row.reasons {
            println!("  {check}: {reason}");
        }
    }
}

/// Replaces the text between the marks; rows of agents that were not run stay as they are.
pub(super) fn write(results: &[AgentResult], page: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(page).with_context(|| format!("could not read {}", page.display()))?;
    let rows: Vec<_> = results.iter().map(Row::of).collect();
    let text = replaced(&text, &rows).with_context(|| format!("{} has lost its marks", page.display()))?;
    fs::write(page, text).with_context(|| format!("could not write {}", page.display()))
}

fn replaced(text: &str, rows: &[Row]) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (old, after) = rest.split_once(END)?;
    let kept = |begins: &str| {
        let is_kept = |line: &&str| {
            line.starts_with(begins) && !rows.iter().any(|row| line.starts_with(&format!("{begins}{} ", row.name)))
        };
        old.lines().filter(is_kept).map(str::to_owned).collect::<Vec<_>>()
    };
    let (mut table, mut reasons) = (kept("| "), kept("- "));
    table.retain(|line| !line.starts_with("| agent "));
    table.extend(rows.iter().map(Row::line));
    table.sort();
    reasons.extend(rows.iter().flat_map(Row::reason_lines));
    reasons.sort();
    let names: Vec<_> = CHECKS.iter().map(|check| check.name).collect();
    let head = format!("| agent | {} | seconds to start | memory after the kill | packages |", names.join(" | "));
    let line = "|---".repeat(names.len() + 4) + "|";
    let mut page = format!("{before}{BEGIN}\n{head}\n{line}\n{}\n\nWith `{}`.\n", table.join("\n"), NODE.spec());
    if !reasons.is_empty() {
        page += &format!("\n{}\n", reasons.join("\n"));
    }
    Some(format!("{page}\n{END}{after}"))
}

impl Row {
    fn of(results: &AgentResult) -> Self {
        let mut row = Self {
            name: results.agent.name,
            versions: results.agent.versions(),
            start: results.start.map_or_else(|| "-".to_owned(), |start| format!("{:.1}", start.as_secs_f64())),
            memory: results.memory.clone().unwrap_or_else(|| "-".to_owned()),
            cells: Vec::new(),
            reasons: Vec::new(),
        };
        for (check, verdict) in CHECKS.iter().zip(&results.verdicts) {
            row.cells.push(match verdict {
                Verdict::Yes => "yes",
                Verdict::OwnLimit(limit) => {
                    row.reasons.push((check.name, limit.reason.to_owned()));
                    "own"
                }
                Verdict::No(says) => {
                    row.reasons.push((check.name, shortened(says)));
                    "no"
                }
            });
        }
        row
    }

    fn line(&self) -> String {
        let cells = self.cells.join(" | ");
        format!("| {} | {cells} | {} | {} | {} |", self.name, self.start, self.memory, self.versions)
    }

    fn reason_lines(&self) -> impl Iterator<Item = String> + '_ {
        self.reasons.iter().map(|(check, reason)| format!("- {} · {check}: {reason}", self.name))
    }
}

/// On one line, without characters that Markdown would interpret.
fn shortened(says: &str) -> String {
    let says = says.replace(['\n', '|', '`'], " ");
    match says.char_indices().nth(MAX_REASON_CHARS) {
        Some((end, _)) => format!("`{}…`", &says[..end]),
        None => format!("`{says}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_driven_agents_get_new_lines() {
        let row = |name, cell, reasons: &[(&'static str, String)]| Row {
            name,
            versions: "x@1".to_owned(),
            start: "2.0".to_owned(),
            memory: "kept".to_owned(),
            cells: vec![cell],
            reasons: reasons.to_vec(),
        };
        let why = |reason: &str| [("usage", reason.to_owned())];
        let empty = format!("# Page\n\n{BEGIN}{END}\nThe end.\n");
        let both = replaced(&empty, &[row("b", "no", &why("late")), row("a", "own", &why("none"))]).unwrap();
        let again = replaced(&both, &[row("b", "yes", &[])]).unwrap();
        assert!(again.starts_with("# Page\n") && again.ends_with("\nThe end.\n"), "{again}");
        let lines: Vec<_> = again.lines().filter(|line| line.starts_with("| ") || line.starts_with("- ")).collect();
        assert_eq!(
            lines[1..],
            ["| a | own | 2.0 | kept | x@1 |", "| b | yes | 2.0 | kept | x@1 |", "- a · usage: none"]
        );
        assert!(lines[0].starts_with("| agent | catalog | prompt |"), "{again}");
        assert!(replaced("no marks", &[]).is_none());
    }
}
