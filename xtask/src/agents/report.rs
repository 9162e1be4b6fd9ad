//! The table of what works with which agent: on the terminal, and in `docs/agents.md`.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use super::catalog::NODE;
use super::drive::{self, Driven};

const BEGIN: &str = "<!-- results: written by cargo xtask agents -->\n";
const END: &str = "<!-- end of results -->\n";

/// The line of one agent.
struct Row {
    name: &'static str,
    versions: String,
    start: String,
    steps: String,
    memory: String,
}

pub(super) fn print(driven: &[Driven]) {
    println!("\n{:<10} {:>7}  {:<22} {:<10} version", "agent", "start", "steps", "memory");
    for row in driven.iter().map(Row::of) {
        println!("{:<10} {:>7}  {:<22} {:<10} {}", row.name, row.start, row.steps, row.memory, row.versions);
    }
}

/// Replaces what stands between the marks; lines of agents that were not driven stay as they are.
pub(super) fn write(driven: &[Driven], page: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(page).with_context(|| format!("could not read {}", page.display()))?;
    let rows: Vec<_> = driven.iter().map(Row::of).collect();
    let text = replaced(&text, &rows).with_context(|| format!("{} has lost its marks", page.display()))?;
    fs::write(page, text).with_context(|| format!("could not write {}", page.display()))
}

fn replaced(text: &str, rows: &[Row]) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (old, after) = rest.split_once(END)?;
    let kept = old.lines().filter(|line| {
        line.starts_with("| ") && !line.starts_with("| agent") && !rows.iter().any(|row| line.starts_with(&row.head()))
    });
    let mut lines: Vec<_> = kept.map(str::to_owned).chain(rows.iter().map(Row::line)).collect();
    lines.sort();
    let head = "| agent | packages | seconds to start | steps | memory after the kill |\n|---|---|---|---|---|";
    let node = NODE.spec();
    Some(format!("{before}{BEGIN}\n{head}\n{}\n\nWith `{node}`.\n\n{END}{after}", lines.join("\n")))
}

impl Row {
    fn of(driven: &Driven) -> Self {
        let steps = match &driven.failed {
            None => format!("{} of {}", driven.passed.len(), drive::step_count()),
            Some((step, _)) => format!("{} of {}, not: {step}", driven.passed.len(), drive::step_count()),
        };
        Self {
            name: driven.agent.name,
            versions: driven.agent.versions(),
            start: driven.start.map_or_else(|| "-".to_owned(), |start| format!("{:.1}", start.as_secs_f64())),
            steps,
            memory: driven.memory.clone().unwrap_or_else(|| "-".to_owned()),
        }
    }

    fn head(&self) -> String {
        format!("| {} |", self.name)
    }

    fn line(&self) -> String {
        format!("{} {} | {} | {} | {} |", self.head(), self.versions, self.start, self.steps, self.memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_driven_agents_get_new_lines() {
        let row = |name, steps: &str| Row {
            name,
            versions: "x@1".to_owned(),
            start: "2.0".to_owned(),
            steps: steps.to_owned(),
            memory: "kept".to_owned(),
        };
        let empty = format!("# Page\n\n{BEGIN}{END}\nThe end.\n");
        let both = replaced(&empty, &[row("b", "1 of 2"), row("a", "2 of 2")]).unwrap();
        let again = replaced(&both, &[row("b", "2 of 2")]).unwrap();
        assert!(again.starts_with("# Page\n") && again.ends_with("\nThe end.\n"), "{again}");
        let lines: Vec<_> = again.lines().filter(|line| line.starts_with("| ")).collect();
        let head = "| agent | packages | seconds to start | steps | memory after the kill |";
        assert_eq!(lines, [head, "| a | x@1 | 2.0 | 2 of 2 | kept |", "| b | x@1 | 2.0 | 2 of 2 | kept |"]);
        assert!(replaced("no marks", &[]).is_none());
    }
}
